// Holds what the last edit of the plan changed. Views, and the card next to the pressed control, show it for
// a moment.
#pragma once

#include "core/evaluate.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pentamesh::ui {

// Holds the figures of a plan that can change.
struct ChangeFigures {
    bool any = false;  // the plan has figures
    double step_s = 0, memory = 0;
    std::vector<std::pair<std::string, double>> wires;  // bytes that a GPU sends in a step, by tier
    EnumArray<Axis, std::int64_t> factor{};
    std::string layout;              // its name: "HSDP"
    std::string shares_for_nothing;  // "ZeRO 3 shares nothing: dp_shard is 1"; empty: it shares
    bool operator==(const ChangeFigures&) const = default;
};
[[nodiscard]] ChangeFigures change_figures(const Plan& plan, const Evaluation& evaluation);

struct PlanChange {
    std::string what;             // "tp 4"
    std::optional<Axis> touched;  // the axis whose factor was pressed
    ChangeFigures before, now;

    [[nodiscard]] bool changed(Axis axis) const { return before.factor[axis] != now.factor[axis]; }
    // Returns the axis that gave or took what the touched one needed; nullopt where none did.
    [[nodiscard]] std::optional<Axis> paid() const;
};

}  // namespace pentamesh::ui
