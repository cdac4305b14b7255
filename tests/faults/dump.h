// Writes any value as text, member by member, so that a probe says all of an answer without a list of its
// members.
#pragma once

#include "core/io/plan_json.h"
#include "core/memory/memory.h"
#include "tests/members.h"

#include <concepts>
#include <cstdio>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>

namespace pentamesh::probe {

template <typename T>
void dump(std::string& out, const T& x);

// It is a struct with a base, whose members no binding names.
inline void dump_stage(std::string& out, const StageMemory& s) {
    dump(out, static_cast<const StageContents&>(s));
    for (const double v :
         {static_cast<double>(s.parameters_held), static_cast<double>(s.parameters_kept), s.parameters,
          s.gradients, s.optimizer, s.activations, s.buffers_low, s.buffers, s.buffers_high, s.in_flight,
          s.activations_per_layer, s.layer_activations, s.allocated, s.reserved, s.host})
        dump(out, v);
}

template <typename T>
void dump(std::string& out, const T& x) {
    if constexpr (std::is_same_v<T, StageMemory>) {
        dump_stage(out, x);
    } else if constexpr (std::is_same_v<T, Plan>) {
        out += write_plan(x);
    } else if constexpr (std::convertible_to<const T&, std::string_view>) {
        out += std::string_view(x);
    } else if constexpr (std::is_enum_v<T>) {
        out += std::to_string(static_cast<long long>(x));
    } else if constexpr (std::integral<T>) {
        out += std::to_string(x);
    } else if constexpr (std::floating_point<T>) {
        // So many digits that another order of the same sum is no change.
        char text[32];
        std::snprintf(text, sizeof text, "%.9g", static_cast<double>(x));
        out += text;
    } else if constexpr (requires {
                             x.has_value();
                             *x;
                         }) {
        if (x) dump(out, *x);
    } else if constexpr (std::ranges::range<const T&>) {
        for (const auto& element : x) dump(out, element);
    } else if constexpr (requires {
                             x.first;
                             x.second;
                         }) {
        dump(out, x.first), dump(out, x.second);
    } else if constexpr (std::is_aggregate_v<T>) {
        test::each_member(x, [&](const auto& member) { dump(out, member); });
    }
    out += '\n';
}

}  // namespace pentamesh::probe
