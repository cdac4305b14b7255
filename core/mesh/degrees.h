// Says how far each part of the model is cut: the mesh's sizes by their use.
#pragma once

#include "core/mesh/mesh.h"
#include "core/model/local_shard.h"

#include <algorithm>
#include <cstdint>

namespace pentamesh {

[[nodiscard]] Degrees degrees_of(const Plan& plan, const Mesh& mesh);

// Returns the number of ranks over which Ulysses hands out heads: all of cp, the inner groups of it, or 1
// where heads stay.
[[nodiscard]] inline std::int64_t head_ranks_of(const Layout& l, std::int64_t cp) {
    if (cp <= 1) return 1;
    if (l.cp_comm == CpComm::ulysses_ring) return std::clamp<std::int64_t>(l.cp_inner.value_or(1), 1, cp);
    return l.cp_comm == CpComm::ulysses ? cp : 1;
}

}  // namespace pentamesh
