// In what do plans differ, what does that change, and why? Every figure is evaluate's own.
#pragma once

#include "core/evaluate.h"
#include "core/step/cost.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

inline constexpr std::size_t kMostCompared = 8;

// A field that is not the same in all plans. Values are JSON texts: `8`, `"ring"`, `null` where a plan leaves
// the field out.
struct FieldDifference {
    std::string pointer;  // "/layout/tp"
    std::vector<std::string> values;
};

struct FigureRow {
    enum class Unit : std::uint8_t { seconds, tokens_per_s, share, bytes, days, gpu_hours, money, kwh };
    std::string_view key, name;  // static: "step.time_s", "step"
    Unit unit = Unit::seconds;
    enum class Better : std::uint8_t { more, less, neither } which = Better::more;
    std::vector<std::optional<double>> values{};  // none: the plan has no such figure
    // Of Unit::money, by plan: cluster.currency, empty where it names none. Else empty.
    std::vector<std::string> currency{};
    // That of all costs that there are; empty: they name none, or several.
    [[nodiscard]] std::string one_currency() const;
    // The index of the best plan; nullopt: all are equal, one has no figure, or their money is not the same.
    [[nodiscard]] std::optional<std::size_t> better() const;
};

// A part of the step. `delta_s`: against the first plan; of each plan they add up to the difference of the
// steps, exactly, added in this order. What lies outside the parts of a step (it has none today) would stand
// in the largest.
struct PartRow {
    std::string part;  // "compute", "tp exposed"
    std::vector<double> values_s, delta_s;
    std::string because;
};

struct PathEdit {
    std::string edit;                   // "tp 8 -> 4, dp_shard 16 -> 32"
    std::vector<std::string> pointers;  // of the fields that it changes
    double step_s = 0, tokens_per_s = 0, memory_bytes = 0;
    MemoryFit fit = MemoryFit::yes;  // of the plan after it
};

struct PlanComparison {
    std::vector<std::string> plans;             // their titles
    std::vector<std::optional<MemoryFit>> fit;  // none: an impossible plan has no memory figures
    std::vector<FieldDifference> fields;
    std::vector<FigureRow> figures;
    std::vector<PartRow> why;    // empty where a plan has no step
    std::vector<PathEdit> path;  // two plans only
};

// Between 2 and kMostCompared plans, the first is the base; `evaluations` are theirs, with the timeline.
[[nodiscard]] PlanComparison compare(std::span<const Plan> plans, std::span<const Evaluation> evaluations);
// The parts alone, for a window that shows them after each edit.
[[nodiscard]] std::vector<FieldDifference> differing_fields(std::span<const Plan> plans);
[[nodiscard]] std::vector<PartRow> why_steps_differ(std::span<const Plan> plans,
                                                    std::span<const Evaluation> evaluations);
// The parts that make most of the difference between two steps, the largest first, and behind them what goes
// most against it: "5.53 s less in tp exposed, 5.06 s less in uneven stages, 1.2 s more in data parallel
// exposed". Empty where no part differs.
[[nodiscard]] std::string main_parts_text(const Step& from, const Step& to);
[[nodiscard]] std::vector<FigureRow> compared_figures(std::span<const Plan> plans,
                                                      std::span<const Evaluation> evaluations);

// From `a` to `b`: the fields that differ, changed one after another, at each turn the edit that gains most
// tokens/s among those that leave a plan without errors. Fields that are impossible one by one (tp and
// dp_shard, which fill the cluster together) change together. The last entry is `b`. Empty where `b` has no
// step, and where `cancel` was set meanwhile.
[[nodiscard]] std::vector<PathEdit> path_between(const Plan& a, const Plan& b,
                                                 const std::atomic<bool>* cancel = nullptr);

}  // namespace pentamesh
