// In which order does each framework lay its axes over the ranks? The same factors under two orders cross
// different wires.
#pragma once

#include "core/plan/plan.h"

#include <array>
#include <span>
#include <string_view>

namespace pentamesh {

struct OrderPreset {
    std::string_view name;                 // "Megatron"
    std::array<Axis, kAxisCount> order{};  // innermost first
    std::string_view stated;               // as the source states it, in its own direction
    std::string_view source;
    std::string_view note;  // what differs besides the order; empty: nothing
};
// Orders may be equal: frameworks agree on some. A framework without an axis leaves that at 1; where it then
// stands makes no difference.
[[nodiscard]] std::span<const OrderPreset> order_presets();
// The name of the first framework whose default this order is, "custom" where none.
[[nodiscard]] std::string_view order_name(const std::array<Axis, kAxisCount>& order);

}  // namespace pentamesh
