// Writes any value as text, member by member, so that a probe says all of an answer without a list of its
// members.
#pragma once

#include "core/io/plan_json.h"
#include "core/memory/memory.h"

#include <concepts>
#include <cstdio>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace pentamesh::probe {

struct AnyMember {
    template <typename T>
    operator T() const;  // NOLINT(google-explicit-constructor): it stands for a member of any type
};
template <typename T, std::size_t... I>
[[nodiscard]] constexpr bool takes(std::index_sequence<I...> /*unused*/) {
    return requires {
        T{(static_cast<void>(I), AnyMember{})...};
    };
}
inline constexpr std::size_t kMostMembers = 32;
template <typename T, std::size_t N = kMostMembers>
[[nodiscard]] constexpr std::size_t count_members() {
    if constexpr (takes<T>(std::make_index_sequence<N>{}))
        return N;
    else
        return count_members<T, N - 1>();
}

// Calls `use` with each member of an aggregate.
template <typename T, typename Use>
void each_member(const T& x, const Use& use) {
    constexpr std::size_t n = count_members<T>();
    const auto all = [&](const auto&... member) { (use(member), ...); };
// A structured binding names all members of a struct: there is a line a number of them.
#define PENTAMESH_FOUR(x) x##1, x##2, x##3, x##4
#define PENTAMESH_BIND(count, ...)                                                                           \
    if constexpr (n == (count)) {                                                                            \
        const auto& [__VA_ARGS__] = x;                                                                       \
        all(__VA_ARGS__);                                                                                    \
    }
#define PENTAMESH_BIND_FOUR(base, ...)                                                                       \
    PENTAMESH_BIND((base) + 1, __VA_ARGS__ z1)                                                               \
    PENTAMESH_BIND((base) + 2, __VA_ARGS__ z1, z2)                                                           \
    PENTAMESH_BIND((base) + 3, __VA_ARGS__ z1, z2, z3)                                                       \
    PENTAMESH_BIND((base) + 4, __VA_ARGS__ PENTAMESH_FOUR(z))
    PENTAMESH_BIND_FOUR(0, )
    PENTAMESH_BIND_FOUR(4, PENTAMESH_FOUR(a), )
    PENTAMESH_BIND_FOUR(8, PENTAMESH_FOUR(a), PENTAMESH_FOUR(b), )
    PENTAMESH_BIND_FOUR(12, PENTAMESH_FOUR(a), PENTAMESH_FOUR(b), PENTAMESH_FOUR(c), )
    PENTAMESH_BIND_FOUR(16, PENTAMESH_FOUR(a), PENTAMESH_FOUR(b), PENTAMESH_FOUR(c), PENTAMESH_FOUR(d), )
    PENTAMESH_BIND_FOUR(20, PENTAMESH_FOUR(a), PENTAMESH_FOUR(b), PENTAMESH_FOUR(c), PENTAMESH_FOUR(d),
                        PENTAMESH_FOUR(e), )
    PENTAMESH_BIND_FOUR(24, PENTAMESH_FOUR(a), PENTAMESH_FOUR(b), PENTAMESH_FOUR(c), PENTAMESH_FOUR(d),
                        PENTAMESH_FOUR(e), PENTAMESH_FOUR(f), )
    PENTAMESH_BIND_FOUR(28, PENTAMESH_FOUR(a), PENTAMESH_FOUR(b), PENTAMESH_FOUR(c), PENTAMESH_FOUR(d),
                        PENTAMESH_FOUR(e), PENTAMESH_FOUR(f), PENTAMESH_FOUR(g), )
#undef PENTAMESH_BIND_FOUR
#undef PENTAMESH_BIND
#undef PENTAMESH_FOUR
}

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
        each_member(x, [&](const auto& member) { dump(out, member); });
    }
    out += '\n';
}

}  // namespace pentamesh::probe
