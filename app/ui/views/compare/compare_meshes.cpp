// Draws the cells of two plans, coloured by the groups of the same axis.
#include "app/ui/scene/view_head.h"
#include "app/ui/views/compare/compare_parts.h"
#include "app/ui/views/mesh/mesh_draw.h"
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
    constexpr float kLine = 16;
    if (in_boxes(scene).pod > 0) room = room.inset(4, 0);  // its frame stands outside its cells
    Rect foot;
    if (room.h > 4 * kLine) foot = room.cut_bottom(kLine);
    const MeshLayout layout = draw_mesh_in(ui.canvas(), ui.theme(), room, scene, 11);
    const TextStyle small = ui.style(11, Tone::secondary);
    if (ui.canvas().text_width(layout.words, small) > foot.w) return;
    foot.y = std::min(foot.y, room.y + layout.extent.y + 2);
    ui.canvas().text_in(foot, layout.words, small);
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
    if (scene.selection.all_axes || std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
        // The axis that tells most: one that differs, else the first.
        const auto differs = std::find_if(kinds.begin(), kinds.end(), [&](GroupKind k) {
            return pair.ea.groups[k].degree != pair.eb.groups[k].degree;
        });
        kind = differs != kinds.end() ? *differs : kinds.front();
    }
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
