// The mesh as tables: groups of each axis, ranks, a run that hangs.
#include "app/tables/comm.h"
#include "app/tables/measured.h"
#include "app/ui/views/mesh/mesh_run.h"
#include "app/ui/views/mesh/view.h"

namespace pentamesh::ui {

Table mesh_data(const Scene& scene, int part) {
    static constexpr std::size_t kMost = 200000;
    static constexpr auto kAxes =
        std::to_array<GroupKind>({GroupKind::tp, GroupKind::cp, GroupKind::dp_shard, GroupKind::dp_replicate,
                                  GroupKind::pp, GroupKind::ep});
    if (part == 3) return has_hang(scene) ? hang_table(*scene.run->hang) : Table{};
    const std::vector<GroupKind> kinds = kinds_of(scene.evaluation);
    if (part == 0)  // five rows, and experts'
        return without(groups_table(scene.plan, scene.evaluation,
                                    std::span(kAxes).first(scene.evaluation.mesh.has_experts ? 6 : 5), true),
                       {"per_fast_domain", "sharing_node"});
    return part == 1
               ? ranks_table(scene.evaluation, kinds, kMost, scene.hosts != nullptr ? *scene.hosts : Hosts())
               : groups_table(scene.plan, scene.evaluation, kinds, true);
}

}  // namespace pentamesh::ui
