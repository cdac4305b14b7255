// Says which of the layouts that a search found cannot be distinguished by their estimated steps, and orders
// those by a second goal.
#pragma once

#include "core/decide/search.h"

#include <atomic>
#include <cstdint>
#include <optional>

namespace pentamesh {

// Decides between layouts that cannot be distinguished: the shortest step after all, the least memory, the
// shortest step when something fails to keep pace, the fewest changes of the open plan.
enum class Second : std::uint8_t { step, memory, robust, simple };
template <>
inline constexpr std::array<std::string_view, 4> kNames<Second>{"step", "memory", "robust", "simple"};
static_assert(kNames<Second>.size() == static_cast<std::size_t>(Second::simple) + 1);

inline constexpr double kSlowLink = 0.9;    // of the bandwidth of the slowest tier
inline constexpr double kSlowStage = 1.25;  // times as long on one stage

struct TieOptions {
    Second then = Second::step;
    std::optional<double> within{};  // share of the best time; nullopt: the estimate's range
    bool robust = false;             // the steps of robustness are worked out even if they decide nothing
};

// Moves the tied layouts to the front of the results, in the order of the second goal, and fills what the
// report says of ties. Layouts are tied whose step is within the range of the fastest one's. By the goal
// memory none are: bytes are no matter of the estimate of time. `plan` is the one that was searched. It stops
// early where `cancel` is set.
void find_ties(const Plan& plan, const TieOptions& options, SearchReport& report,
               const std::atomic<bool>* cancel = nullptr);
// Orders the results of a report with ties anew, by another second goal.
void order_ties(Second then, SearchReport& report);

// Returns the step of a plan whose slowest tier carries kSlowLink of its bytes per second; 0 where none comes
// out.
[[nodiscard]] double step_with_slow_link(const Plan& plan);
// Returns the step where the stage that works longest takes kSlowStage times as long; a plan without a
// pipeline is one stage. It is 0 where the pipeline is too long to replay.
[[nodiscard]] double step_with_slow_stage(const Plan& plan);

// Returns the layout that a plan has.
[[nodiscard]] LayoutChoice choice_of(const Plan& plan);
// Returns what of a layout has to be changed by hand to get from the plan to it: dp_shard takes what the
// others leave, etp that is left out follows tp, and without experts there is neither ep nor etp.
[[nodiscard]] std::vector<Varied> changed_choices(const Plan& plan, const LayoutChoice& to);

// Says it in a sentence: "12 layouts cannot be distinguished: their steps lie within 7.6 % of the fastest
// one's, as the estimate may be off." It is empty where there is one.
[[nodiscard]] std::string tie_words(const SearchReport& report);

}  // namespace pentamesh
