// How far is each part of the model cut? The mesh's sizes by their use.
#pragma once

#include "core/mesh/mesh.h"
#include "core/model/local_shard.h"

namespace pentamesh {

[[nodiscard]] Degrees degrees_of(const Plan& plan, const Mesh& mesh);

}  // namespace pentamesh
