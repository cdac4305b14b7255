// Does the index arithmetic of cuts, for the files that list placements and those that find a rank's part.
#pragma once

#include "core/memory/memory_parts.h"
#include "core/sharding/sharding.h"

#include <cstdint>

namespace pentamesh {

[[nodiscard]] inline std::int64_t size_of(const EnumArray<Axis, Factor>& factors, Axis a) {
    return factors[a].size;
}

// Returns part i of n of a length: equal chunks rounded up, so that the last parts may be shorter or empty
// (as torch.chunk cuts).
[[nodiscard]] inline Range chunk_of(std::int64_t length, std::int64_t n, std::int64_t i) {
    const std::int64_t chunk = divide_up(length, n);
    const std::int64_t begin = std::min(saturating_product(chunk, i), length);
    return {begin, std::min(begin + chunk, length)};
}
// Returns the same in whole units.
[[nodiscard]] inline Range chunk_of(std::int64_t length, std::int64_t n, std::int64_t i, std::int64_t unit) {
    const Range r = chunk_of(divide_up(length, unit), n, i);
    return {std::min(r.begin * unit, length), std::min(r.end * unit, length)};
}
// Returns key and value heads of tp rank i of n: fewer heads than ranks are copied, n / heads ranks to a
// head.
[[nodiscard]] inline Range kv_heads_of(std::int64_t heads, std::int64_t n, std::int64_t i) {
    if (n <= heads) return chunk_of(heads, n, i);
    const std::int64_t head = i * heads / n;
    return {head, head + 1};
}

// Adds the activations' placements to list_placements.
void list_activation_placements(const Plan& plan, const Mesh& mesh, Moment moment,
                                std::vector<Placement>& out);

}  // namespace pentamesh
