// Says in what plans differ, what that changes, and why. Every figure is evaluate's own.
#pragma once

#include "core/evaluate.h"
#include "core/step/constants.h"

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

// This is a field that is not the same in all plans. Values are JSON texts: `8`, `"ring"`, `null` where a
// plan leaves the field out.
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
    // For Unit::money, this has cluster.currency of each plan, empty where it names none. Else it is empty.
    std::vector<std::string> currency{};
    // Returns the currency of all costs that there are; empty where they name none, or several.
    [[nodiscard]] std::string one_currency() const;
    // Returns the index of the best plan; nullopt where all are equal, one has no figure, or their currencies
    // differ.
    [[nodiscard]] std::optional<std::size_t> better() const;
};

// This is a part of the step. `delta_s` is against the first plan; for each plan they sum exactly to the
// difference of the steps, added in this order. Time outside the parts of a step (there is no such time
// today) would be in the largest.
struct PartRow {
    std::string part;  // "compute", "tp exposed"
    std::vector<double> values_s, delta_s;
    std::string because;
    StepPart kind = StepPart::compute;
    GroupKind group = GroupKind::tp;  // of `exposed`
    // Says of two plans what changed, in figures and few words: "301 GB -> 129 GB"; empty where nothing did.
    std::string brief{};
    std::string name{};  // "compute", "tp": where "exposed" goes without saying
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

// Takes between 2 and kMostCompared plans, of which the first is the base; `evaluations` are theirs, with the
// timeline.
[[nodiscard]] PlanComparison compare(std::span<const Plan> plans, std::span<const Evaluation> evaluations);
// Return only the parts, for a window that shows them after each edit.
[[nodiscard]] std::vector<FieldDifference> differing_fields(std::span<const Plan> plans);
[[nodiscard]] std::vector<PartRow> why_steps_differ(std::span<const Plan> plans,
                                                    std::span<const Evaluation> evaluations);
// Returns the parts that make most of the difference between two steps, the largest first, and after them the
// part that goes most against it: "5.53 s less in tp exposed, 5.06 s less in uneven stages, 1.2 s more in
// data parallel exposed". It is empty where no part differs.
[[nodiscard]] std::string main_parts_text(const Step& from, const Step& to);
// Returns the tokens/s of one GPU of those that the plan uses. Precondition: it has a step.
[[nodiscard]] double tokens_per_gpu_s(const Evaluation& evaluation);
// Plans of different numbers of GPUs also have the tokens and the GPU-hours of one GPU, and neither step nor
// tokens/s are better or worse.
[[nodiscard]] std::vector<FigureRow> compared_figures(std::span<const Plan> plans,
                                                      std::span<const Evaluation> evaluations);

// Goes from `a` to `b`: the fields that differ are changed one after another, at each turn by the edit that
// gains most tokens/s among those that leave a plan without errors. Fields that are impossible one by one (tp
// and dp_shard, which fill the cluster together) change together. The last entry is `b`. It is empty where
// `b` has no step, and where `cancel` was set meanwhile.
[[nodiscard]] std::vector<PathEdit> path_between(const Plan& a, const Plan& b,
                                                 const std::atomic<bool>* cancel = nullptr);

}  // namespace pentamesh
