// Says and draws how one group spreads over the pods: the share of each, and the line that joins them.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/mesh_cells.h"
#include "app/ui/views/mesh/mesh_tiles.h"

#include <cstdint>
#include <string>

namespace pentamesh::ui {

// Returns how many members of the group that holds `rank` are below rank `end`. It takes constant time.
[[nodiscard]] std::int64_t members_below(const MeshAxis& axis, std::int64_t rank, std::int64_t end);
// Returns how many of them are in [begin, end).
[[nodiscard]] inline std::int64_t members_in(const MeshAxis& axis, std::int64_t rank, std::int64_t begin,
                                             std::int64_t end) {
    return members_below(axis, rank, end) - members_below(axis, rank, begin);
}
// Returns the outermost axis whose groups cross pods; null where none does.
[[nodiscard]] const MeshAxis* crossing_pods(const MeshAxes& axes);

// "dp_shard group of rank 35, 1,024 GPUs: 24 in each of 42 pods and 16 in one"; empty where the shares are of
// more than three sizes.
[[nodiscard]] std::string spread_over_pods(const MeshAxis& axis, std::int64_t rank, std::int64_t pod,
                                           std::int64_t pods);
// Writes at each pod how many GPUs of the highlighted group it has, and joins the pods in the dots of their
// tier.
void draw_shares(Canvas& canvas, const Theme& theme, const MeshPlace& m, const LitGroups& lit,
                 std::int64_t gpus, float type);

}  // namespace pentamesh::ui
