// The mesh as tables: groups of each axis, ranks, a run that hangs.
#include "app/tables/comm.h"
#include "app/tables/measured.h"
#include "app/ui/views/mesh/mesh_parts.h"
#include "app/ui/views/mesh/mesh_run.h"
#include "app/ui/views/mesh/view.h"
#include "core/mesh/mesh_factors.h"

namespace pentamesh::ui {

namespace {

constexpr int kGroupRows = 1;  // the table with a row for each group

// Returns the kind of the groups that a row stands for; nullopt where each rank is for itself.
std::optional<GroupKind> kind_of(const Scene& scene, const Table::Row& row) {
    const auto kind = row.empty() ? std::nullopt : axis_named(row[0].words());
    return kind && scene.evaluation.groups[*kind].degree > 1 ? kind : std::nullopt;
}

std::int64_t first_rank_of_row(const Mesh& mesh, GroupKind kind, const Table::Row& row) {
    std::int64_t index = row[1].whole(), first = 0;
    const Factors rest = split_factors(mesh, kind).rest;
    for (const Factor& f : rest.span()) first += index % f.size * f.stride, index /= f.size;
    return first;
}

}  // namespace

void hover_mesh_row(Scene& scene, int part, const Table::Row& row) {
    const auto kind = kind_of(scene, row);
    if (!kind) return;
    scene.next_hover.group = kind;
    if (part == kGroupRows) scene.next_hover.rank = first_rank_of_row(scene.evaluation.mesh, *kind, row);
}

void pick_mesh_row(Scene& scene, int part, const Table::Row& row) {
    const auto kind = kind_of(scene, row);
    if (!kind) return;
    if (can_choose(scene, *kind)) scene.selection.choose(*kind);
    if (part == kGroupRows) scene.selection.pick_rank(first_rank_of_row(scene.evaluation.mesh, *kind, row));
}

bool marks_mesh_row(const Scene& scene, int part, const Table::Row& row) {
    const auto kind = kind_of(scene, row);
    if (!kind) return false;
    if (part != kGroupRows) return !scene.selection.all_axes && scene.selection.group == *kind;
    if (scene.hover.group) return false;  // the mouse is over another row
    const std::int64_t rank = scene.hover.rank >= 0 ? scene.hover.rank : scene.selection.rank;
    return rank >= 0 && rank < scene.evaluation.mesh.world
           && group_index(scene.evaluation.mesh, *kind, rank) == row[1].whole();
}

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
