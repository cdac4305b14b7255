// What is each choice and each constant worth? One step down and up, all else equal.
#pragma once

#include "core/evaluate.h"
#include "core/io/presets.h"

#include <atomic>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh {

// The plan with one thing changed, and what becomes of it.
struct Nudge {
    std::string value;  // what it is changed to: "4", "zb-h1", "0.576"
    Plan plan;
    std::string refused;  // why that plan is impossible; empty: it is not
    double step_s = 0, tokens_per_s = 0, memory_bytes = 0;
    // For as many tokens as a step of the plan has: step_s, but where the sequence or the batch is another.
    double same_tokens_s = 0;
    MemoryFit fit = MemoryFit::no;
    [[nodiscard]] bool valid() const { return refused.empty(); }
};

struct SensitivityRow {
    // factor: of an axis, the GPUs stay. setting: another field of layout or training. constant: a figure of
    // the hardware or of the model of time, 20 % down and up.
    enum class Kind : std::uint8_t { factor, setting, constant };
    Kind kind = Kind::setting;
    std::string id;     // a pointer "/layout/tp", or a constant's id "efficiency.gemm"
    std::string name;   // "tp", "16-bit products"
    std::string value;  // in the plan
    // The next value either way. Choices without an order (schedules, number formats) have a row for each
    // other choice, under `up`. Neither is there where there is no next value.
    std::optional<Nudge> down, up;
    // The longest of base and nudges less the shortest, for the plan's tokens: how far the bar reaches,
    // seconds.
    double reach_s = 0;
};

struct Sensitivity {
    double step_s = 0, tokens_per_s = 0, memory_bytes = 0;  // of the plan itself
    std::vector<SensitivityRow> rows;                       // in the order of the plan file, constants last
    // Indices of the rows that change time or memory, the widest reach first.
    [[nodiscard]] std::vector<std::size_t> by_reach() const;
};

// `plan` must have a step; otherwise there are no rows. Some are missing where `cancel` was set meanwhile.
[[nodiscard]] Sensitivity sensitivity_of(const Plan& plan, const Presets& presets,
                                         const std::atomic<bool>* cancel = nullptr);
[[nodiscard]] std::string_view name_of(SensitivityRow::Kind kind);

}  // namespace pentamesh
