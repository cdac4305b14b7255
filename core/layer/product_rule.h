// Says which collective follows from how the two factors of a product are cut over one axis: the four cases
// of sharded products (Austin et al. 2025, How to Scale Your Model, "Sharded Matrices and How to Multiply
// Them").
#pragma once

#include <cstdint>

namespace pentamesh {

// Describes one factor over one axis: whole, cut along a dimension of the result, or along the one that is
// summed over.
enum class FactorCut : std::uint8_t { whole, outer, inner };

enum class ProductCase : std::uint8_t {
    local,         // 1: nothing that is summed over is cut: the result keeps the cuts
    gather_one,    // 2: the summed dimension is cut in only one factor: that one is gathered
    partial,       // 3: it is cut in both: each rank has a summand of the whole result
    gather_either  // 4: both results' sides are cut by the same axis: one factor has to be gathered
};

[[nodiscard]] constexpr ProductCase product_case(FactorCut left, FactorCut right) {
    if (left == FactorCut::inner && right == FactorCut::inner) return ProductCase::partial;
    if (left == FactorCut::inner || right == FactorCut::inner) return ProductCase::gather_one;
    if (left == FactorCut::outer && right == FactorCut::outer) return ProductCase::gather_either;
    return ProductCase::local;
}

}  // namespace pentamesh
