#include "app/ui/views/mesh/mesh_parts.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pentamesh::ui {

namespace {

// Returns the kinds that can be chosen for one of the meshes.
std::vector<GroupKind> kinds_to_offer(const Scene& scene, bool experts) {
    static constexpr GroupKind kDense[] = {GroupKind::tp,       GroupKind::gtp_remat,
                                           GroupKind::cp,       GroupKind::dp_without_gtp_remat,
                                           GroupKind::dp_shard, GroupKind::dp_replicate,
                                           GroupKind::pp,       GroupKind::dp,
                                           GroupKind::dp_cp,    GroupKind::mp};
    static constexpr GroupKind kExpert[] = {GroupKind::etp, GroupKind::ep, GroupKind::edp, GroupKind::pp,
                                            GroupKind::etp_ep};
    static constexpr std::pair<GroupKind, GroupKind> kParts[] = {
        {GroupKind::dp, GroupKind::dp_shard},    {GroupKind::dp, GroupKind::dp_replicate},
        {GroupKind::dp_cp, GroupKind::dp_shard}, {GroupKind::dp_cp, GroupKind::dp_replicate},
        {GroupKind::dp_cp, GroupKind::cp},       {GroupKind::dp_cp, GroupKind::dp},
        {GroupKind::mp, GroupKind::tp},          {GroupKind::mp, GroupKind::pp},
        {GroupKind::etp_ep, GroupKind::ep},      {GroupKind::etp_ep, GroupKind::etp}};
    std::vector<GroupKind> out;
    const auto degree = [&](GroupKind k) { return scene.evaluation.groups[k].degree; };
    const auto offer = [&](GroupKind k) {
        // A combination that equals one of its parts says nothing new.
        const auto same = [&](const auto& of) { return of.first == k && degree(of.second) == degree(k); };
        if (degree(k) > 1 && std::ranges::none_of(kParts, same)) out.push_back(k);
    };
    if (experts)
        for (const GroupKind k : kExpert) offer(k);
    else
        for (const GroupKind k : kDense) offer(k);
    return out;
}
std::vector<GroupKind> kinds_to_offer(const Scene& scene) {
    return kinds_to_offer(scene, scene.selection.expert());
}

constexpr std::array<std::string_view, 4> kMeshes{"dense", "experts", "both", "fold"};
constexpr std::array<std::string_view, 2> kOneMesh{"places", "fold"};

std::span<const std::string_view> meshes_of(const Scene& scene) {
    return scene.evaluation.mesh.has_experts ? std::span<const std::string_view>(kMeshes) : kOneMesh;
}

constexpr float meshes_width(const Scene& scene) {
    return scene.evaluation.mesh.has_experts ? 230 : 118;
}

// Draws the switch between the meshes, and the fold of the ranks; returns what is shown, in words.
std::string_view mesh_switch(Ui& ui, Rect& row, Scene& scene, MeshViewState& state) {
    const auto names = meshes_of(scene);
    const bool experts = scene.evaluation.mesh.has_experts;
    const int fold = static_cast<int>(names.size()) - 1;
    const int shown = state.folds ? fold : !experts ? 0 : state.both ? 2 : scene.selection.expert() ? 1 : 0;
    if (ui.state().for_picture) return names[static_cast<std::size_t>(shown)];
    const int picked = ui.segments("mesh.which", row.cut_left(meshes_width(scene) - 8), names, shown);
    row.cut_left(8);
    if (picked == shown) return {};
    state.folds = picked == fold;
    state.both = experts && picked == 2;
    if (experts && picked < 2) scene.selection.show_mesh(picked == 1);
    return {};
}

float axis_width(Ui& ui, std::string_view label) {
    return ui.canvas().text_width(label, ui.small()) + 28;
}

constexpr std::string_view kAll = "all";

}  // namespace

float switch_width(Ui& ui, const Scene& scene) {
    float width = meshes_width(scene) + axis_width(ui, kAll);
    for (const GroupKind k : kinds_to_offer(scene)) width += axis_width(ui, axis_label(k));
    return width;
}

bool can_choose(const Scene& scene, GroupKind kind) {
    const std::vector<GroupKind> kinds = kinds_to_offer(scene, is_expert(kind));
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

void axis_switch(Ui& ui, Rect row, Scene& scene, MeshViewState& state) {
    Selection& sel = scene.selection;
    if (!scene.evaluation.mesh.has_experts) sel.show_mesh(false);
    std::string mesh(mesh_switch(ui, row, scene, state));
    mesh =
        mesh == "places" || mesh.empty() ? "" : mesh + ", ";  // in a picture, which has words in their place
    std::vector<GroupKind> kinds = kinds_to_offer(scene);
    if (kinds.empty()) return;
    if (std::find(kinds.begin(), kinds.end(), sel.group) == kinds.end()) {
        const bool all = sel.all_axes;
        sel.choose(kinds.front());
        sel.all_axes = all;
    }
    const auto width_of = [&](GroupKind k) { return axis_width(ui, axis_label(k)); };
    float width = axis_width(ui, kAll);
    for (const GroupKind k : kinds) width += width_of(k);
    // If there is no room, combinations go first; the brackets still reach them.
    for (std::size_t i = kinds.size(); i-- > 1 && width > row.w;)
        if (kinds[i] != sel.group && kinds[i] > GroupKind::pp && !is_expert(kinds[i])) {
            width -= width_of(kinds[i]);
            kinds.erase(kinds.begin() + static_cast<std::ptrdiff_t>(i));
        }
    std::vector<std::string> labels{ui.state().for_picture ? "all axes" : std::string(kAll)};
    for (const GroupKind k : kinds) labels.push_back(axis_label(k));
    const std::vector<std::string_view> views(labels.begin(), labels.end());
    const auto at =
        sel.all_axes ? 0
                     : static_cast<int>(std::find(kinds.begin(), kinds.end(), sel.group) - kinds.begin()) + 1;
    if (ui.state().for_picture) {
        ui.canvas().text_in(row, mesh + labels[static_cast<std::size_t>(at)], ui.small());
        return;
    }
    std::optional<Color> ground;
    if (at > 0) ground = color_of(ui.theme(), sel.group);
    const int picked =
        ui.segments("mesh.axis", {row.x, row.y, std::min(width, row.w), row.h}, views, at, ground);
    if (picked == at) return;
    if (picked == 0)
        sel.all_axes = true;
    else
        sel.choose(kinds[static_cast<std::size_t>(picked) - 1]);
}

void next_axis(Scene& scene) {
    const ViewKeys& keys = scene.keys;
    const int by = keys.pressed({Key::right_bracket}) ? 1 : keys.pressed({Key::left_bracket}) ? -1 : 0;
    if (by == 0) return;
    const auto kinds = kinds_to_offer(scene);
    if (kinds.empty()) return;
    const auto at = std::find(kinds.begin(), kinds.end(), scene.selection.group);
    const auto n = static_cast<std::ptrdiff_t>(kinds.size());
    const auto i = at == kinds.end() ? 0 : ((at - kinds.begin()) + by + n) % n;
    scene.selection.choose(kinds[static_cast<std::size_t>(i)]);
}

}  // namespace pentamesh::ui
