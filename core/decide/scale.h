// Evaluates a plan over a growing number of GPUs, batch, sequence or factor of the layout: how far does it
// scale, and what sets the limit?
#pragma once

#include "core/evaluate.h"
#include "core/io/presets.h"
#include "core/step/constants.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

enum class ScaleOver : std::uint8_t { gpus, batch, sequence, tp, cp, ep, pp };
template <>
inline constexpr std::array<std::string_view, 7> kNames<ScaleOver>{"gpus", "batch", "sequence", "tp",
                                                                   "cp",   "ep",    "pp"};
static_assert(kNames<ScaleOver>.size() == static_cast<std::size_t>(ScaleOver::pp) + 1);
// Returns the axis of the last four; nullopt for the others.
[[nodiscard]] std::optional<Axis> axis_of(ScaleOver over);

struct ScaleRequest {
    ScaleOver over = ScaleOver::gpus;
    bool weak = false;  // the batch grows with the GPUs; else it stays (strong scaling)
    std::int64_t least = 0,
                 most = 0;        // 0: 8 and 131,072 GPUs; a sixty-fourth and 64 times of the plan's own else
    std::size_t most_values = 0;  // so many around the plan's own; 0: all
    bool operator==(const ScaleRequest&) const = default;
};

// Holds the figures of the plan at one value. They are 0 where it is impossible.
struct ScalePoint {
    std::int64_t at = 0;
    std::string reason{};               // why it is impossible; empty: it is not
    std::optional<ProblemCode> code{};  // the rule that it breaks
    double step_s = 0, tokens_per_s = 0, mfu = 0, memory_bytes = 0;
    double compute_s = 0, bubble_s = 0;  // compute with recomputation; bubble with the wait for uneven stages
    double slowed_s = 0;                 // compute next to traffic takes so much longer
    double optimizer_s = 0, straggler_s = 0;
    double offload_s = 0;  // the GPU waits for the link to host memory
    double of_best = 0;    // tokens per second and GPU, of the best point's
    MemoryFit fit = MemoryFit::no;
    EnumArray<GroupKind, double> time_s{}, waits_s{};  // on the wire; what the step waits of it
    EnumArray<GroupKind, int> tier{};  // the slowest that it crosses; -1: the axis is not in use
    [[nodiscard]] bool possible() const { return reason.empty(); }
};

// Says where something turns. `at` lies between two points that were evaluated, on a straight line over the
// logarithm of the value, rounded to two digits; a tier and a refusal turn at a point.
// `groups`: where FSDP in groups, with copies across them (HSDP), becomes faster, or no longer is.
enum class ScaleTurn : std::uint8_t { waits, leaves_tier, passes_compute, bubble, memory, refused, groups };
template <>
inline constexpr std::array<std::string_view, 7> kNames<ScaleTurn>{
    "waits", "leaves-tier", "passes-compute", "bubble", "memory", "refused", "groups"};
static_assert(kNames<ScaleTurn>.size() == static_cast<std::size_t>(ScaleTurn::groups) + 1);
struct ScaleCrossing {
    ScaleTurn turn = ScaleTurn::waits;
    GroupKind axis = GroupKind::tp;  // of the first four; the bubble passes this one
    double at = 0;
    std::string what{}, place{}, why{};  // "waits for dp_shard pass 0.5 %", "at about 3,100 GPUs"
    [[nodiscard]] std::string words() const { return what + " " + place + (why.empty() ? "" : ": " + why); }
    [[nodiscard]] bool of_axis() const { return turn <= ScaleTurn::bubble; }
};

struct Scale {
    ScaleRequest request;
    std::vector<ScalePoint> points;  // ascending; the plan's own value is among them
    std::vector<ScaleCrossing> crossings;
    std::int64_t own = 0;  // the plan's own value
    // Returns the point of that value, or null.
    [[nodiscard]] const ScalePoint* at(std::int64_t value) const;
    // Returns the possible point of most tokens per second and GPU, or null.
    [[nodiscard]] const ScalePoint* best() const;
};

// The values are powers of two times the least that the layout can have, the plan's own, and the sizes of the
// cluster's tiers; of a factor those that divide. Of a number of GPUs data parallelism takes what tp, cp and
// pp leave; a plan that copies shards keeps their size and makes more copies. A factor takes its ranks from
// data parallelism. The waits for an axis turn where they pass half a per cent of the step. It stops early
// where `cancelled` becomes true.
[[nodiscard]] Scale scale_of(const Plan& plan, const ScaleRequest& request = {},
                             const std::atomic<bool>* cancelled = nullptr);
// Returns the plan of a point.
[[nodiscard]] Plan scaled_plan(const Plan& plan, const ScaleRequest& request, std::int64_t value);

// Returns the parts of the step at a point, which sum to it.
struct ScalePart {
    StepPart part = StepPart::compute;
    GroupKind axis = GroupKind::tp;  // of a wait (StepPart::exposed)
    std::string_view name;           // as it stands in a sentence
    double time_s = 0;
};
[[nodiscard]] std::vector<ScalePart> parts_of(const ScalePoint& point);

// Says how far the plan scales: a sentence, and what is held while the number changes.
struct ScaleWords {
    std::string verdict, held;
};
[[nodiscard]] ScaleWords words_of(const Plan& plan, const Scale& scale);
// Returns "16,384 GPUs", "a batch of 2,048", "8,192 tokens", "tp 8".
[[nodiscard]] std::string value_words(ScaleOver over, double value);

// Says how much each choice and each constant matters: one step down and up, all else equal.

// This is the plan with one thing changed, and the result.
struct Nudge {
    std::string value;  // the new value: "4", "zb-h1", "0.576"
    Plan plan;
    std::string refused;  // why that plan is impossible; empty: it is not
    double step_s = 0, tokens_per_s = 0, memory_bytes = 0;
    // This is the time for as many tokens as a step of the plan has: step_s, except where the sequence or the
    // batch differs.
    double same_tokens_s = 0;
    MemoryFit fit = MemoryFit::no;
    [[nodiscard]] bool valid() const { return refused.empty(); }
};

struct SensitivityRow {
    // A factor is that of an axis, and the GPUs stay. A setting is another field of layout or training. A
    // constant is a figure of the hardware or of the model of time, 20 % down and up.
    enum class Kind : std::uint8_t { factor, setting, constant };
    Kind kind = Kind::setting;
    std::string id;                        // a pointer "/layout/tp", or a constant's id "efficiency.gemm"
    std::string name;                      // "tp", "16-bit products"
    std::string value;                     // in the plan
    std::optional<Constant::Unit> unit{};  // of a constant
    // Holds the next value either way. Choices without an order (schedules, number formats) have a row for
    // each other choice, under `up`. Each is empty where there is no next value.
    std::optional<Nudge> down, up;
    // This is the longest of base and nudges less the shortest, for the plan's tokens, in seconds: how far
    // the bar reaches.
    double reach_s = 0;
};

struct Sensitivity {
    double step_s = 0, tokens_per_s = 0, memory_bytes = 0;  // of the plan itself
    std::vector<SensitivityRow> rows;                       // in the order of the plan file, constants last
    // Returns indices of the rows that change time or memory, the widest reach first.
    [[nodiscard]] std::vector<std::size_t> by_reach() const;
};

// `plan` must have a step; otherwise there are no rows. Some are missing where `cancel` was set meanwhile.
[[nodiscard]] Sensitivity sensitivity_of(const Plan& plan, const Presets& presets,
                                         const std::atomic<bool>* cancel = nullptr);
[[nodiscard]] std::string_view name_of(SensitivityRow::Kind kind);

}  // namespace pentamesh
