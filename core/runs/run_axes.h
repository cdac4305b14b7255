// Says over which axis a group of a run talks: by its description, by its ranks in the plan's mesh, or by its
// calls.
#pragma once

#include "core/comm/comm.h"
#include "core/mesh/mesh.h"
#include "core/runs/run_file.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::runs {

[[nodiscard]] RunPart part_of_kind(GroupKind kind);

// `mesh` is that of the run's plan, nullptr without a plan; it has to outlive what is returned.
[[nodiscard]] PartOfGroup parts_by(const Mesh* mesh);

// Returns the collective of the plan's operations that NCCL calls so; nullopt for all others.
[[nodiscard]] std::optional<Collective> collective_called(std::string_view name);

}  // namespace pentamesh::runs
