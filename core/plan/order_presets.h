// Holds the order in which each framework lays its axes over the ranks. The same factors under two orders
// cross different wires.
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
    std::string_view note;  // other differences than the order; may be empty
};
// Orders may be equal: frameworks agree on some. A framework without an axis leaves that at 1; its place
// makes no difference then.
[[nodiscard]] std::span<const OrderPreset> order_presets();
// Returns the name of the first framework whose default this order is, or "custom".
[[nodiscard]] std::string_view order_name(const std::array<Axis, kAxisCount>& order);

}  // namespace pentamesh
