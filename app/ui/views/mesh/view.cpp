// The view Mesh draws every GPU of the cluster in its boxes, coloured by the group of the chosen axis.
#include "app/ui/views/mesh/view.h"
#include "app/tables/groups.h"
#include "app/ui/kit/format.h"
#include "app/ui/panels/blame_panel.h"
#include "app/ui/views/mesh/mesh_activity.h"
#include "app/ui/views/mesh/mesh_boxes.h"
#include "app/ui/views/mesh/mesh_marks.h"
#include "core/mesh/mesh_factors.h"
#include "core/mesh/places.h"
#include "core/plan/order_presets.h"
#include "core/rules/first_error.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace pentamesh::ui {

namespace {

constexpr float kMaxZoom = 400;
constexpr float kRowWords = 22;  // height of the words below the cells

const MeshLayout& layout_for(MeshViewState& s, Vec2 room, const Cluster& cluster, const Mesh& mesh,
                             float scale) {
    const std::int64_t domain = cluster.tiers.empty() ? 1 : domain_of(cluster, 0);
    const std::int64_t pod = cluster.tiers.size() > 2 ? domain_of(cluster, 1) : 0;
    return s.layout.get({room, cluster.gpus, domain, pod, scale, mesh}, [&] {
        MeshLayout out =
            lay_out_mesh(room, cluster.gpus, domain, pod, 1 / scale, row_periods(mesh, domain, pod));
        out.words = row_words(mesh, domain, out.row_nodes);
        if (out.has_pods) out.words += std::string(out.words.empty() ? "" : ", ") + "a box is a pod";
        return out;
    });
}

// The wheel zooms about the cursor, a drag pans, Home and a double-click on nothing fit.
void move_camera(Ui& ui, Rect area, const MeshLayout& layout, MeshViewState& s, const Hit& hit,
                 bool over_cell, const ViewKeys& keys) {
    MeshCamera& cam = s.camera;
    if (const float by = ui.take_wheel(area); by != 0) {
        const float next = std::clamp(cam.zoom * std::pow(1.25f, by), 1.0f, kMaxZoom);
        const Vec2 at = ui.frame().mouse - area.min();
        cam.pan = at - (at - cam.pan) * (next / cam.zoom);
        cam.zoom = next;
    }
    if (hit.held) {
        if (!s.panning) s.pan_start = cam.pan;
        s.panning = true;
        cam.pan = s.pan_start + hit.drag;
    } else {
        s.panning = false;
    }
    if ((hit.double_clicked && !over_cell) || (layout.grid.count > 0 && keys.pressed({Key::home}))) cam = {};
    // The mesh is centred along a direction in which everything fits; else it is never panned off the area.
    const auto clamp_axis = [](float pan, float extent, float room) {
        return extent <= room ? std::floor((room - extent) / 2) : std::clamp(pan, room - extent, 0.0f);
    };
    cam.pan = {clamp_axis(cam.pan.x, layout.extent.x * cam.zoom, area.w),
               clamp_axis(cam.pan.y, layout.extent.y * cam.zoom, area.h)};
}

// Returns the kinds that can be chosen for the mesh of the chosen tab.
std::vector<GroupKind> kinds_to_offer(const Scene& scene) {
    static constexpr GroupKind kDense[] = {GroupKind::tp,           GroupKind::cp, GroupKind::dp_shard,
                                           GroupKind::dp_replicate, GroupKind::pp, GroupKind::dp,
                                           GroupKind::dp_cp,        GroupKind::mp};
    static constexpr GroupKind kExpert[] = {GroupKind::etp, GroupKind::ep, GroupKind::edp, GroupKind::pp,
                                            GroupKind::etp_ep};
    std::vector<GroupKind> out;
    const auto degree = [&](GroupKind k) { return scene.evaluation.groups[k].degree; };
    const auto offer = [&](GroupKind k) {
        if (degree(k) <= 1) return;
        // A combination that equals one of its parts says nothing new.
        if (k == GroupKind::dp
            && (degree(k) == degree(GroupKind::dp_shard) || degree(k) == degree(GroupKind::dp_replicate)))
            return;
        if (k == GroupKind::dp_cp
            && (degree(k) == degree(GroupKind::dp_shard) || degree(k) == degree(GroupKind::cp)
                || degree(k) == degree(GroupKind::dp_replicate) || degree(k) == degree(GroupKind::dp)))
            return;
        if (k == GroupKind::mp && (degree(k) == degree(GroupKind::tp) || degree(k) == degree(GroupKind::pp)))
            return;
        if (k == GroupKind::etp_ep
            && (degree(k) == degree(GroupKind::ep) || degree(k) == degree(GroupKind::etp)))
            return;
        out.push_back(k);
    };
    if (scene.selection.expert())
        for (const GroupKind k : kExpert) offer(k);
    else
        for (const GroupKind k : kDense) offer(k);
    return out;
}

constexpr float kMeshes = 132;  // of the switch between the dense and the expert mesh

float axis_width(Ui& ui, std::string_view label) {
    return ui.canvas().text_width(label, ui.small()) + 28;
}

// Returns the width of axis_switch.
float switch_width(Ui& ui, const Scene& scene) {
    float width = scene.evaluation.mesh.has_experts ? kMeshes : 0;
    for (const GroupKind k : kinds_to_offer(scene)) width += axis_width(ui, axis_label(k));
    return width;
}

void axis_switch(Ui& ui, Rect row, Scene& scene) {
    Selection& sel = scene.selection;
    if (!scene.evaluation.mesh.has_experts) sel.show_mesh(false);
    if (scene.evaluation.mesh.has_experts) {
        static constexpr std::string_view kNames[] = {"dense", "experts"};
        sel.show_mesh(ui.segments("mesh.which", row.cut_left(kMeshes - 8), kNames, sel.expert() ? 1 : 0)
                      == 1);
        row.cut_left(8);
    }
    std::vector<GroupKind> kinds = kinds_to_offer(scene);
    if (kinds.empty()) return;
    if (std::find(kinds.begin(), kinds.end(), sel.group) == kinds.end()) sel.choose(kinds.front());
    const auto width_of = [&](GroupKind k) { return axis_width(ui, axis_label(k)); };
    float width = 0;
    for (const GroupKind k : kinds) width += width_of(k);
    // If there is no room, combinations go first; the brackets still reach them.
    for (std::size_t i = kinds.size(); i-- > 1 && width > row.w;)
        if (kinds[i] != sel.group && kinds[i] > GroupKind::pp && !is_expert(kinds[i])) {
            width -= width_of(kinds[i]);
            kinds.erase(kinds.begin() + static_cast<std::ptrdiff_t>(i));
        }
    const auto at = std::find(kinds.begin(), kinds.end(), sel.group);
    std::vector<std::string> labels;
    std::vector<std::string_view> views;
    for (const GroupKind k : kinds) labels.push_back(axis_label(k));
    for (const auto& l : labels) views.emplace_back(l);
    if (width > row.w) width = row.w;
    const int picked = ui.segments("mesh.axis", {row.x, row.y, width, row.h}, views,
                                   static_cast<int>(at - kinds.begin()), color_of(ui.theme(), sel.group));
    sel.choose(kinds[picked]);
}

// Reads one rank, "1,024" too: three digits after each comma. A list of ranks is refused.
std::optional<std::int64_t> parse_rank(std::string text) {
    for (std::size_t at = text.find(','); at != std::string::npos; at = text.find(',', at + 1)) {
        const std::size_t end = std::min(text.find(',', at + 1), text.size());
        if (end - at != 4) return std::nullopt;
    }
    const std::size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
    if (first == std::string::npos || text.substr(first, last - first).find(' ') != std::string::npos)
        return std::nullopt;
    std::erase_if(text, [](char c) { return c == ',' || c == ' '; });
    std::int64_t rank = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
    if (error != std::errc() || end != text.data() + text.size() || rank < 0) return std::nullopt;
    return rank;
}

MeshCaption caption_of(const Scene& scene, const MeshViewState& state) {
    if (!scene.evaluation.valid)
        return {"No groups: the plan has errors.", first_error(scene.evaluation.problems)};
    if (!state.failure) return mesh_caption(scene);
    return state.lost_node >= 0 ? failure_caption(scene, state.lost_node)
                                : MeshCaption{"Click a GPU: its node is lost.", "Ctrl+F ends this."};
}

// Writes one line where it has room, else two or three: the mesh's sentence is not cut for a control next to
// it.
// `kept` is free at the right end of the first line.
void caption(Ui& ui, Rect& room, float kept, const Scene& scene, const MeshViewState& state) {
    Canvas& c = ui.canvas();
    constexpr float kLine = 18, kGap = 6;
    Rect line{room.x, room.y, room.w - kept, 20};
    if (scene.evaluation.valid && !state.failure && shows_activity(scene)) {
        activity_caption(ui, line, scene);
        room.cut_top(20);
        return;
    }
    const MeshCaption text = caption_of(scene, state);
    const TextStyle bold = ui.title(), plain = ui.style(13, Tone::secondary);
    const float w = c.text_width(text.bold, bold), more = c.text_width(text.plain, plain);
    if (w + kGap + more <= line.w || room.h < 180) {
        room.cut_top(20);
        c.text_in(line, text.bold, bold);
        line.cut_left(std::min(line.w, w + kGap));
        if (line.w > 40 && c.text_in(line, text.plain, plain) && ui.hovers(line))
            ui.tooltip(text.bold + "\n" + text.plain);
        return;
    }
    line.h = std::max(20.0f, c.paragraph_height(line.w, text.bold, bold, kLine));
    room.cut_top(line.h);
    if (line.h > 20)
        c.paragraph(line, text.bold, bold, kLine);
    else
        c.text_in(line, text.bold, bold);
    const float h = c.paragraph_height(room.w, text.plain, plain, kLine);
    const Rect below = room.cut_top(h <= 2 * kLine + 1 && room.h > 200 ? h : kLine);
    if (h <= below.h + 1)
        c.paragraph(below, text.plain, plain, kLine);
    else if (c.text_in(below, text.plain, plain) && ui.hovers(below))
        ui.tooltip(text.bold + "\n" + text.plain);
}

void walk_ranks(Ui& ui, const MeshLayout& layout, Scene& scene) {
    Selection& sel = scene.selection;
    if (sel.rank < 0 || ui.state().focus_visible) return;
    std::int64_t next = sel.rank;
    const ViewKeys& keys = scene.keys;
    if (keys.pressed({Key::right}, true)) next += 1;
    if (keys.pressed({Key::left}, true)) next -= 1;
    if (keys.pressed({Key::down}, true)) next += layout.grid.level[0].cols;
    if (keys.pressed({Key::up}, true)) next -= layout.grid.level[0].cols;
    if (next != sel.rank && next >= 0 && next < scene.evaluation.mesh.world) {
        sel.pick_rank(next);
    }
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
    scene.selection.choose(kinds[i]);
}

// Hides the groups: every cell is the same.
void color_plainly(const Theme& theme, CellGrid& grid) {
    grid.palette.fill(mix(theme.panel, theme.secondary, 0.45f));
    grid.lit_id = -1;
}

// Draws a lesson's marks: outlined ranks, and the one that its question is about with a ring in addition.
void draw_outlined(Ui& ui, const MeshViewState& state, const CellGrid& grid) {
    const auto frame = [&](std::int64_t rank, Color color, float grow) {
        if (rank < 0 || rank >= grid.count) return;
        const Vec2 at = cell_position(grid, rank);
        ui.canvas().frame(Rect{at.x, at.y, grid.cell.x, grid.cell.y}.inset(-grow), color, 2, 3);
    };
    for (const std::int64_t rank : state.outlined) frame(rank, ui.theme().text, 1);
    frame(state.asked, ui.theme().link, 1);
    // The second is inside the cell where it has room: outside it would cross the node's name.
    frame(state.asked, ui.theme().link, grid.cell.x >= 24 ? -3.0f : 4.0f);
}

// Draws cells, boxes, labels and marks of one order in one area.
void draw_cells(Ui& ui, Rect room, Scene& scene, MeshViewState& state, std::string_view name) {
    const Mesh& mesh = scene.evaluation.mesh;
    const Cluster& cluster = scene.plan.cluster;
    const MeshLayout& layout =
        layout_for(state, {room.w, room.h - kRowWords}, cluster, mesh, ui.canvas().scale());
    CellGrid grid = seen(layout, state.camera, room);
    const std::int64_t under = ui.hovers(room) ? cell_at(grid, ui.frame().mouse) : -1;
    const Hit hit = ui.area(name, room, 0, true, false);
    move_camera(ui, room, layout, state, hit, under >= 0, scene.keys);
    grid = seen(layout, state.camera, room);

    const Vec2 travel = ui.frame().mouse - ui.state().press;
    const bool moved = hit.released && std::abs(travel.x) + std::abs(travel.y) > 4;
    if (hit.clicked && !moved) {
        const std::int64_t rank = under < mesh.world ? under : -1;
        scene.selection.pick_rank(rank);
        if (state.failure && rank >= 0) state.lost_node = rank / layout.node.size;
    }
    if (hit.hovered && under >= 0 && under < mesh.world) scene.next_hover.rank = under;
    walk_ranks(ui, layout, scene);

    const bool valid = scene.evaluation.valid, plain = state.plain || !valid;
    Canvas& c = ui.canvas();
    {
        const Canvas::Clip clip = c.clip(room);
        if (mesh.world < cluster.gpus) {  // GPUs that the layout leaves idle
            CellGrid idle = grid;
            idle.palette[0] = mix(ui.theme().window, ui.theme().hairline, 0.7f);
            c.cells(idle);
        }
        if (valid && shows_activity(scene))
            color_by_activity(ui.theme(), scene, grid);
        else
            color_by_groups(ui.theme(), scene, grid);
        if (plain) color_plainly(ui.theme(), grid);
        CellGrid drawn = grid;
        merge_small_cells(layout, drawn);
        const bool quiet = !plain && lights_one_group(scene) && !(valid && shows_activity(scene));
        if (quiet)
            draw_lit_group(c, ui.theme(), scene, drawn);
        else
            c.cells(drawn);
        if (valid) veil_other_stages(c, ui.theme(), scene, drawn);
        if (valid && state.failure && state.lost_node >= 0)
            draw_failure(ui, scene, state.lost_node, layout.node.size, grid);
        draw_boxes(ui, room, layout, state.camera, grid, scene);
        draw_rank_numbers(ui, room, layout, grid);
        if (!plain) draw_marks(ui, room, scene, grid, state.show_links);
        draw_outlined(ui, state, grid);
        if (!plain) draw_ranks(c, ui.theme(), scene.selection, grid);
    }
    if (!plain && state.camera.zoom == 1) {
        const float below = room.y + state.camera.pan.y + layout.extent.y + 4;
        c.text_in({room.x, std::min(below, room.bottom() - kRowWords), room.w, kRowWords}, layout.words,
                  ui.small(), Align::center);
    }
    if (hit.hovered && under >= 0 && !hit.held) {
        const std::string now = valid && under < mesh.world ? activity_text(scene, under) : "";
        ui.tooltip(plain  // where it stands, not whom it talks to
                       ? "rank " + thousands(under) + "\n" + place_of(cluster, under)
                       : rank_tooltip(scene, under) + (now.empty() ? "" : "\n" + now));
    }
}

// Chooses the order that is set next to the plan's own: it is stepped through.
void second_switch(Ui& ui, Rect box, const Scene& scene, MeshViewState& state, std::uint64_t revision) {
    const auto presets = order_presets();
    const auto count = static_cast<int>(presets.size());
    const std::string label =
        state.second < 0 ? "compare: none" : "with " + std::string(presets[state.second].name);
    const Ui::Step step = ui.stepper("mesh.second", box, label, state.second >= 0, state.second + 1 < count,
                                     state.second >= 0, false);
    if (step.by != 0 || step.edit_requested)
        state.second = std::clamp(state.second + (step.by != 0 ? step.by : 1), -1, count - 1);
    if (state.second < 0) return;
    state.other.update({revision, state.second}, [&](OtherPlan& other) {
        other.plan = scene.plan;
        other.plan.layout.order = presets[state.second].order;
        evaluate(other.plan, other.evaluation, {.timeline = false, .messages = false});
    });
}

void go_to_rank(Ui& ui, Rect field, Scene& scene, MeshViewState& state) {
    if (field.w <= 0 || !ui.text_field("mesh.goto", field, state.go_to, "go to ranks")) return;
    const auto rank = parse_rank(state.go_to);
    if (!rank && scene.evaluation.valid) {  // a list of them: what do they share?
        const std::string wrong = select_ranks(scene, state.go_to);
        if (!wrong.empty()) scene.next_hover.message = wrong;
        return;
    }
    if (rank && *rank < scene.evaluation.mesh.world) {
        scene.selection.pick_rank(*rank);
    } else {
        scene.next_hover.message = "there is no rank " + state.go_to + ": ranks are 0 to "
                                   + thousands(scene.evaluation.mesh.world - 1);
    }
}

constexpr float kField = 96, kFieldGap = 16;

// Draws "go to rank" right of the words where both fit, else in the row above, else nowhere (a cell is
// clicked, and the arrows walk). Returns the width it keeps of the words' first line.
float place_field(Ui& ui, Rect room, Rect spare, const Scene& scene, MeshViewState& state) {
    if (ui.state().for_picture) return 0;
    const MeshCaption text = caption_of(scene, state);
    const float words = ui.canvas().text_width(text.bold, ui.title()),
                all = words + 6 + ui.canvas().text_width(text.plain, ui.style(13)),
                beside = room.w - kField - kFieldGap;
    const bool above = spare.w >= kField + kFieldGap && all > beside;
    if (!above && words > beside) return 0;
    state.field = above ? Rect{spare.right() - kField, spare.y + 1, kField, 22}
                        : Rect{room.right() - kField, room.y - 2, kField, 22};
    return above ? 0 : kField + kFieldGap;
}

// Returns the second order's own scene: the same selection and the same mouse over other groups.
Scene second_scene(const Scene& s, const MeshViewState& state) {
    return {.plan = state.other->plan,
            .evaluation = state.other->evaluation,
            .presets = s.presets,
            .selection = s.selection,
            .hover = s.hover,
            .next_hover = s.next_hover,
            .time_cursor_s = s.time_cursor_s,
            .shown_timeline = s.shown_timeline,
            .glossary = s.glossary};
}

}  // namespace

void draw_mesh_words(Ui& ui, Rect head_row, Rect room, Scene& scene, MeshViewState& state,
                     std::uint64_t revision) {
    state.field = state.cells = state.second_cells = {};
    constexpr float kSecond = 222;
    const bool second = !ui.state().for_picture && room.w > 640 && room.h > 200;
    const float switches = switch_width(ui, scene);
    Rect spare;  // where the field may stand, so that the words below have their line for themselves
    if (switches + (second ? kSecond : 0) > head_row.w && room.h > 120) {
        spare = head_row;
        head_row = room.cut_top(24);  // a row of its own where the head has no place
        room.cut_top(4);
    }
    if (second) {
        second_switch(ui, head_row.cut_right(kSecond - 12), scene, state, revision);
        head_row.cut_right(12);
    }
    if (head_row.w - switches >= kField + kFieldGap) {
        spare = head_row;
        spare.cut_left(switches);
    }
    axis_switch(ui, head_row, scene);
    next_axis(scene);
    const float kept = place_field(ui, room, spare, scene, state);
    if (scene.evaluation.mesh.world <= 0 || scene.plan.cluster.gpus <= 0) {
        ui.canvas().text(room.min() + Vec2{0, 8}, "No mesh: the problems on the right say why.", ui.small());
        return;
    }
    const bool both = state.second >= 0 && room.w > 640 && state.other->evaluation.mesh.world > 0;
    if (!both) {
        caption(ui, room, kept, scene, state);
        room.cut_top(4);
        state.cells = room;
        return;
    }
    if (kept > 0) room.cut_top(24);
    Rect left = room, right = left.cut_right(room.w / 2 - 12);
    left.cut_right(24);
    const auto half = [&](Rect area, const Scene& s, std::string_view title) {
        ui.canvas().text_in(area.cut_top(18), std::string(title) + ":", ui.style(12, Tone::secondary));
        caption(ui, area, 0, s, state);
        area.cut_top(4);
        return area;
    };
    state.cells = half(left, scene, order_name(scene.plan.layout.order));
    state.second_cells = half(right, second_scene(scene, state), order_presets()[state.second].name);
}

void draw_mesh_cells(Ui& ui, Scene& scene, MeshViewState& state) {
    go_to_rank(ui, state.field, scene, state);
    if (state.cells.w > 0) draw_cells(ui, state.cells, scene, state, "mesh.cells");
    if (state.second_cells.w <= 0) return;
    Scene second = second_scene(scene, state);
    draw_cells(ui, state.second_cells, second, state, "mesh.cells.second");
}

Rect moving_in_mesh(const MeshViewState& state) {
    const Rect &a = state.cells, &b = state.second_cells;
    if (b.w <= 0) return a;
    const float top = std::max(a.y, b.y);
    return {a.x, top, b.right() - a.x, a.bottom() - top};
}

Table mesh_data(const Scene& scene, int part) {
    static constexpr std::size_t kMost = 200000;
    const std::vector<GroupKind> kinds = kinds_of(scene.evaluation);
    return part == 1
               ? ranks_table(scene.evaluation, kinds, kMost, scene.hosts != nullptr ? *scene.hosts : Hosts())
               : groups_table(scene.plan, scene.evaluation, kinds, true);
}

}  // namespace pentamesh::ui
