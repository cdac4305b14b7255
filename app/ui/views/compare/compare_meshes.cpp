// Draws the cells of two plans, coloured by the groups of the same axis.
#include "app/ui/scene/view_head.h"
#include "app/ui/views/compare/compare_parts.h"
#include "app/ui/views/mesh/mesh_cells.h"
#include "app/ui/views/mesh/mesh_layout.h"
#include "core/teach/captions.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

namespace {

constexpr std::array<GroupKind, 7> kOffered{GroupKind::tp,       GroupKind::cp,           GroupKind::pp,
                                            GroupKind::dp_shard, GroupKind::dp_replicate, GroupKind::ep,
                                            GroupKind::etp};

std::vector<GroupKind> kinds_of(const ComparedPair& pair) {
    std::vector<GroupKind> out;
    for (const GroupKind k : kOffered)
        if (pair.ea.groups[k].degree > 1 || pair.eb.groups[k].degree > 1) out.push_back(k);
    return out;
}

void draw_mesh_of(Ui& ui, Rect room, const Scene& from, std::string_view letter, const Plan& plan,
                  const Evaluation& e, GroupKind kind) {
    Selection plain;
    plain.choose(kind);
    const Hover none;
    Hover unused;
    const Scene scene{.plan = plan,
                      .evaluation = e,
                      .presets = from.presets,
                      .selection = plain,
                      .hover = none,
                      .next_hover = unused};
    const std::string words = caption_of(plan, e, kind).where;
    Rect head = room.cut_top(20);
    ui.canvas().text_in(head.cut_left(18), letter, ui.title());
    ui.label(head, words, ui.small());
    room.cut_top(2);
    if (room.h < 20 || room.w < 20 || e.mesh.world < 1) return;
    const Cluster& cluster = plan.cluster;
    const std::int64_t domain = cluster.tiers.empty() ? 8 : domain_of(cluster, 0);
    const MeshLayout layout =
        lay_out_mesh({room.w, room.h}, cluster.gpus, domain, 0, 1 / ui.canvas().scale());
    CellGrid grid = seen(layout, {}, room);
    grid.ground = ui.theme().window;
    color_by_groups(ui.theme(), scene, grid);
    merge_small_cells(layout, grid);
    const auto clip = ui.canvas().clip(room);
    ui.canvas().cells(grid);
}

}  // namespace

void draw_two_meshes(Ui& ui, Rect room, Scene& scene, const ComparedPair& pair) {
    const std::vector<GroupKind> kinds = kinds_of(pair);
    Rect head = room.cut_top(22);
    if (kinds.empty()) {
        ui.section(head, "MESH: ONE GPU EACH");
        return;
    }
    GroupKind kind = scene.selection.group;
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kind = kinds.front();
    std::vector<std::string> labels;
    std::vector<std::string_view> names;
    for (const GroupKind k : kinds) labels.push_back(axis_label(k));
    for (const std::string& l : labels) names.emplace_back(l);
    const float words = 118, width = segments_width(ui, names);
    if (ui.state().for_picture || words + width > head.w) {
        ui.section(head, "MESH, GROUPS OF " + axis_label(kind));
    } else {
        ui.section(head.cut_left(words), "MESH, GROUPS OF");
        const auto at = static_cast<int>(std::find(kinds.begin(), kinds.end(), kind) - kinds.begin());
        const int picked =
            ui.segments("compare.axis", head.cut_left(width), names, at, color_of(ui.theme(), kind));
        if (picked != at) scene.selection.choose(kinds[static_cast<std::size_t>(picked)]);
    }
    room.cut_top(4);
    const float gap = 18, half = std::floor((room.w - gap) / 2);
    draw_mesh_of(ui, room.cut_left(half), scene, "A", pair.a, pair.ea, kind);
    room.cut_left(gap);
    draw_mesh_of(ui, room, scene, "B", pair.b, pair.eb, kind);
}

}  // namespace pentamesh::ui
