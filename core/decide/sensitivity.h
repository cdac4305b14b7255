// Says how much each choice and each constant matters: one step down and up, all else equal.
#pragma once

#include "core/evaluate.h"
#include "core/io/presets.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh {

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
    std::string id;     // a pointer "/layout/tp", or a constant's id "efficiency.gemm"
    std::string name;   // "tp", "16-bit products"
    std::string value;  // in the plan
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
