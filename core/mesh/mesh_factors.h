// Says how a group kind splits a mesh's factors, for the files that count groups and those that list them.
#pragma once

#include "core/mesh/mesh.h"

#include <cstddef>
#include <cstdint>

namespace pentamesh {

// Holds factors with size > 1, in ascending stride. Their digit sums ascend with the digits read as a number:
// each stride is a multiple of the extent (size * stride) of every factor below it.
struct Factors {
    std::array<Factor, kAxisCount> factor{};
    std::size_t count = 0;
    void push(Factor f) { factor[count++] = f; }
    [[nodiscard]] std::span<const Factor> span() const& { return {factor.data(), count}; }
    void span() const&& = delete;  // the span would outlive its factors
};

// Splits a mesh's factors in two: those of the group, and the rest, whose digit sums are the groups' first
// ranks.
struct Split {
    Factors group, rest;
    std::int64_t degree = 1;
};
[[nodiscard]] Split split_factors(const Mesh& mesh, GroupKind kind);
// Returns for each kind of group the axes of more than one rank that it spans, one bit an axis and one a part
// of it that cuts weights. Kinds of one mesh with the same bits have the same groups.
[[nodiscard]] EnumArray<GroupKind, unsigned> axes_in_force(const Mesh& mesh);

// Returns how many digit sums of the factors are below x.
[[nodiscard]] inline std::int64_t count_below(std::span<const Factor> factors, std::int64_t x) {
    std::int64_t total = 1;
    for (const Factor& f : factors) total *= f.size;
    if (x <= 0) return 0;
    std::int64_t below = 0;
    for (std::size_t i = factors.size(); i-- > 0;) {
        const Factor& f = factors[i];
        total /= f.size;
        const std::int64_t digit = x / f.stride;
        if (digit >= f.size) return below + total * f.size;
        below += digit * total;
        x -= digit * f.stride;
    }
    return below + (x > 0 ? 1 : 0);
}

// Calls f with every digit sum, ascending.
template <typename F>
void for_each_sum(std::span<const Factor> factors, F&& f) {
    std::array<std::int64_t, kAxisCount> digit{};
    std::int64_t sum = 0;
    for (;;) {
        f(sum);
        std::size_t i = 0;
        for (; i < factors.size(); ++i) {
            sum += factors[i].stride;
            if (++digit[i] < factors[i].size) break;
            sum -= factors[i].stride * factors[i].size;
            digit[i] = 0;
        }
        if (i == factors.size()) return;
    }
}

}  // namespace pentamesh
