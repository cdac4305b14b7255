// Finds the part of a weight, gradient or optimizer state that a place on the mesh has, whichever layers its
// stage holds.
#pragma once

#include "core/mesh/mesh.h"
#include "core/sharding/sharding.h"

#include <cstdint>

namespace pentamesh {

// `coordinates` are those of the mesh that the placement lies on: the experts' for an expert tensor, else the
// dense one's. Part::held is true; Part::bytes is 0. An axis that the placement has as copied cuts nothing.
[[nodiscard]] Part weight_part(const Mesh& mesh, const Placement& placement, const Coordinates& coordinates);

}  // namespace pentamesh
