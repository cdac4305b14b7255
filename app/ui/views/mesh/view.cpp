// The view Mesh draws every GPU of the cluster in its boxes, coloured by the group of the chosen axis.
#include "app/ui/views/mesh/view.h"

#include "app/tables/plan_tables.h"
#include "app/tables/review.h"
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/mesh_cells.h"
#include "app/ui/views/mesh/mesh_draw.h"
#include "app/ui/views/mesh/mesh_experts.h"
#include "app/ui/views/mesh/mesh_figure.h"
#include "app/ui/views/mesh/mesh_large.h"
#include "app/ui/views/mesh/mesh_layout.h"
#include "app/ui/views/mesh/mesh_menu.h"
#include "app/ui/views/mesh/mesh_run.h"
#include "core/mesh/mesh.h"
#include "core/mesh/places.h"
#include "core/plan/edits.h"
#include "core/plan/problem.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace pentamesh::ui {

namespace {

MeshCaption caption_of(const Scene& scene, const MeshViewState& state) {
    if (shows_hang(scene, state)) return hang_caption(scene);
    if (!scene.evaluation.valid)
        return {shows_groups(scene) ? mesh_caption(scene).bold : "No groups: the plan has errors.",
                first_error(scene.evaluation.problems)};
    if (state.both && !state.failure) {
        const ExpertFold fold = fold_of(scene, std::max<std::int64_t>(0, scene.selection.rank));
        if (fold.line > 0) return {fold_words(fold), ""};
    }
    if (!state.failure && shows_figure(scene, state)) {
        const Vec2 cell = state.layout->grid.cell;
        return figure_caption(scene, *state.shown_figure.values,
                              state.layout->merged && std::min(cell.x, cell.y) < kLeastGpuCell);
    }
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
    if (scene.evaluation.valid && !state.failure && !shows_hang(scene, state) && !shows_figure(scene, state)
        && shows_activity(scene)) {
        activity_caption(ui, line, scene);
        room.cut_top(20);
        return;
    }
    const MeshCaption text = caption_of(scene, state);
    const TextStyle bold = ui.title(), plain = ui.style(13, Tone::secondary);
    const float w = c.text_width(text.bold, bold), more = c.text_width(text.plain, plain);
    // Whole parts of a sentence are left out, no word is cut.
    const auto shortened = [&](std::string_view words, float width, int lines) {
        while (c.paragraph_height(width, words, plain, kLine) > static_cast<float>(lines) * kLine + 1)
            if (const std::size_t comma = words.rfind(", "); comma != std::string_view::npos)
                words = words.substr(0, comma);
            else
                break;
        return words;
    };
    const bool low = room.h < 180;
    if (low && w > line.w && room.h > 70) {  // only the first sentence, on as many lines as it needs
        const Rect all = room.cut_top(c.paragraph(line, text.bold, bold, kLine) + 2);
        if (ui.hovers(all)) ui.tooltip(text.bold + "\n" + text.plain);
        return;
    }
    if (w + kGap + more <= line.w || low) {
        room.cut_top(20);
        write_left(ui, line, text.bold, bold, kGap);
        const std::string_view rest = shortened(text.plain, line.w, 1);
        if (c.text_width(rest, plain) <= line.w) c.text_in(line, rest, plain);
        if (rest.size() < text.plain.size() && ui.hovers(line)) ui.tooltip(text.bold + "\n" + text.plain);
        return;
    }
    line.h = std::max(20.0f, c.paragraph_height(line.w, text.bold, bold, kLine));
    room.cut_top(line.h);
    if (line.h > 20)
        c.paragraph(line, text.bold, bold, kLine);
    else
        c.text_in(line, text.bold, bold);
    const std::string_view rest = shortened(text.plain, room.w, room.h > 200 ? 2 : 1);
    const Rect below = room.cut_top(c.paragraph(room, rest, plain, kLine));
    if (rest.size() < text.plain.size() && ui.hovers(below)) ui.tooltip(text.bold + "\n" + text.plain);
}

void walk_ranks(Ui& ui, const MeshLayout& layout, Scene& scene) {
    Selection& sel = scene.selection;
    if (sel.rank < 0 || ui.state().focus_visible) return;
    std::int64_t next = sel.rank;
    const ViewKeys& keys = scene.keys;
    if (keys.pressed({Key::right}, true)) next += 1;
    if (keys.pressed({Key::left}, true)) next -= 1;
    if (keys.pressed({Key::down}, true)) next += rank_step_down(layout.grid);
    if (keys.pressed({Key::up}, true)) next -= rank_step_down(layout.grid);
    if (next != sel.rank && next >= 0 && next < scene.evaluation.mesh.world) sel.pick_rank(next);
}

// Draws a lesson's marks: outlined ranks, and the one that its question is about with a ring in addition.
void draw_outlined(Ui& ui, const MeshViewState& state, const CellGrid& grid) {
    const auto frame = [&](std::int64_t rank, Color color, float grow) {
        if (rank < 0 || rank >= grid.count) return;
        ui.canvas().frame(cell_rect(grid, rank).inset(-grow), color, 2, 3);
    };
    for (const std::int64_t rank : state.outlined) frame(rank, ui.theme().text, 1);
    frame(state.asked, ui.theme().text, 1);
    // The second is inside the cell where it has room: outside it would cross the node's name.
    frame(state.asked, ui.theme().text, grid.cell.x >= 24 ? -3.0f : 4.0f);
}

// Says which parts of the mesh a frame draws.
struct Drawn {
    bool plain = false;     // without anything that tells groups
    bool run = false;       // cells say what their ranks do in a run that hangs
    bool figure = false;    // cells show a figure of their GPU
    bool activity = false;  // cells say who works, instead of who talks to whom
    bool all = false;       // cells are cards, and every group of every axis is drawn about them
    HighlightedGroups highlighted{};
    // Cells do not change while the mouse moves over them.
    [[nodiscard]] bool still() const { return !plain && !activity && (all || figure || highlighted.shown); }
};

Drawn drawn_of(const Theme& theme, const Scene& scene, const MeshViewState& state) {
    Drawn d{.plain = state.plain || !shows_groups(scene), .run = shows_hang(scene, state)};
    d.plain = d.plain || d.run;
    d.figure = !d.plain && shows_figure(scene, state);
    d.activity = scene.evaluation.valid && !d.plain && !d.figure && shows_activity(scene);
    d.highlighted = highlighted_groups(theme, scene);
    d.all = scene.selection.all_axes && !d.highlighted.shown;
    if (d.plain || d.activity || d.figure) d.highlighted.shown = false;
    return d;
}

CellGrid colored(const Theme& theme, const MeshPlace& m, const Scene& scene, const Drawn& drawn) {
    CellGrid grid = m.grid;
    if (drawn.still()) {
        grid.count =
            static_cast<std::int32_t>(std::min<std::int64_t>(scene.evaluation.mesh.world, grid.count));
        color_plainly(
            drawn.highlighted.shown ? drawn.highlighted.quiet : mix(theme.raised, theme.panel, 0.5f), grid);
        return grid;
    }
    if (drawn.activity)
        color_by_activity(theme, scene, grid);
    else
        color_by_groups(theme, scene, grid);
    if (drawn.plain) color_plainly(mix(theme.panel, theme.secondary, 0.45f), grid);
    return grid;
}

// Draws what stays while the mouse moves over the mesh.
void draw_ground(Ui& ui, const MeshPlace& m, const Scene& scene, MeshViewState& state, const Drawn& drawn) {
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    draw_boxes(c, theme, m, drawn.highlighted.shown || drawn.plain);
    draw_idle_cells(c, theme, m, scene);
    draw_pods(c, theme, m, in_boxes(scene).gpus, 11);
    name_boxes(ui, m, scene);
    name_rows(ui, m, scene);
    if (drawn.figure) return draw_figure_cells(ui, m, scene, state);
    if (!drawn.still()) return;
    const CellGrid grid = colored(theme, m, scene, drawn);
    CellGrid cells = grid;
    merge_small_cells(m.layout, cells, ui.canvas().scale());
    if (drawn.highlighted.shown)
        draw_quiet_cells(c, theme, drawn.highlighted, cells);
    else
        c.cells(cells);
    draw_missing_cells(c, theme, m, scene);
    for (const MeshAxis& axis : m.axes.span())
        if (state.show_links) draw_links(ui, m, scene, axis, drawn.highlighted.shown);
    draw_cards(ui, m, scene, grid, Cards::all);
    // Shares are those of the chosen rank: they stay while the mouse moves.
    HighlightedGroups chosen = drawn.highlighted;
    const std::int64_t rank = scene.selection.rank;
    chosen.rank = rank >= 0 && rank < scene.evaluation.mesh.world ? rank : 0;
    draw_shares(c, theme, m, chosen, in_boxes(scene).gpus, 11);
    if (m.zoom == 1) name_bracket(ui, m, chosen);
}

// Draws the rest over it: what is highlighted, picked, lost.
void draw_over(Ui& ui, const MeshPlace& m, const Scene& scene, const MeshViewState& state,
               const Drawn& drawn) {
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    const CellGrid grid = colored(theme, m, scene, drawn);
    CellGrid cells = grid;
    merge_small_cells(m.layout, cells, c.scale());
    if (!drawn.still()) {
        c.cells(cells);
        if (!drawn.plain) draw_missing_cells(c, theme, m, scene);
    }
    if (drawn.highlighted.shown) {
        draw_highlighted_tile(c, m, drawn.highlighted);
        draw_highlighted_cells(c, scene.evaluation.mesh, drawn.highlighted, cells);
    }
    if (!drawn.plain && !drawn.activity && !drawn.figure && state.second_cells.w <= 0)
        draw_gliding_tile(ui, m,
                          drawn.highlighted.shown ? drawn.highlighted.rank
                                                  : std::max<std::int64_t>(0, scene.selection.rank));
    if (scene.evaluation.valid) dim_other_stages(c, theme, scene, cells);
    if (state.failure && state.lost_node >= 0)
        draw_failure(ui, scene, state.lost_node, m.layout.node.size, cells);
    if (state.show_links && !drawn.plain && !drawn.activity && !drawn.figure)
        for (const MeshAxis& axis : drawn.highlighted.axes.span()) {
            if (drawn.highlighted.shown) draw_highlighted_links(c, theme, m, axis, drawn.highlighted.rank);
            if (!drawn.still()) draw_links(ui, m, scene, axis, false);
        }
    if (state.camera.zoom == 1) c.frame(state.enlarged.inset(-2), theme.text, 1, 1);
    if (drawn.run)
        draw_hang(ui, m, scene, *state.hang);
    else if (!drawn.figure && (!drawn.still() || drawn.highlighted.shown))
        draw_cards(ui, m, scene, grid,
                   drawn.plain               ? Cards::ranks
                   : drawn.highlighted.shown ? Cards::highlighted
                                             : Cards::all);
    if (!drawn.plain || drawn.run) draw_selected(c, theme, scene, cells);
}

// The ground is drawn with the words, which stay while the mouse moves; what a camera moves is drawn anew.
bool ground_is_kept(const MeshViewState& state) {
    return state.camera.zoom == 1 && state.second_cells.w <= 0;
}

// Calls draw(place) for the mesh in an area, as the camera sees it.
template <typename Draw>
void in_place(Ui& ui, Rect area, const MeshLayout& layout, const MeshCamera& camera, const Scene& scene,
              const Drawn& drawn, Draw&& draw) {
    const CellGrid grid = seen(layout, camera, area);
    MeshPlace place{.layout = layout,
                    .grid = grid,
                    .zoom = camera.zoom,
                    .area = area,
                    .ranks = scene.evaluation.mesh.world};
    if (!drawn.plain) place.axes = axes_of(ui.theme(), scene);
    if (!drawn.figure) place.tile = tile_axis(place.axes, layout.tile.size);
    const Canvas::Clip clip = ui.canvas().clip(area);
    draw(place);
}

// Draws cells, boxes, labels and marks of one order in one area.
void draw_cells(Ui& ui, Rect room, Scene& scene, MeshViewState& state, std::string_view name) {
    const Mesh& mesh = scene.evaluation.mesh;
    const MeshLayout& layout = layout_for(state, room, scene, ui.canvas().scale());
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

    const bool valid = scene.evaluation.valid;
    const Drawn drawn = drawn_of(ui.theme(), scene, state);
    Canvas& c = ui.canvas();
    in_place(ui, room, layout, state.camera, scene, drawn, [&](const MeshPlace& place) {
        if (state.camera.zoom != 1) c.rect(room, ui.theme().window);
        if (!ground_is_kept(state)) draw_ground(ui, place, scene, state, drawn);
        draw_over(ui, place, scene, state, drawn);
        draw_outlined(ui, state, grid);
        if (!drawn.plain || drawn.run) draw_ranks(c, ui.theme(), scene.selection, grid);
    });
    if (!drawn.plain && state.camera.zoom == 1) {
        const float below =
            room.y + state.camera.pan.y + layout.extent.y + (layout.has_pods ? under_pods(room.h) : 0) + 4;
        const Rect row{room.x, std::min(below, room.bottom() - kRowWords), room.w, kRowWords};
        if (drawn.figure)
            c.text_in(row, layout.words, ui.small(), Align::center);
        else
            write_cell_words(ui, row, scene, grid, layout.words);
    }
    if (hit.hovered && under >= 0 && !hit.held) {
        std::string now = valid && under < mesh.world ? activity_text(scene, under) : "";
        if (drawn.figure && under < mesh.world) {
            const bool nodes = layout.node.size > 1 && std::min(grid.cell.x, grid.cell.y) < kLeastGpuCell;
            now = figure_tooltip(scene, *state.shown_figure.values, under, nodes)
                  + (now.empty() ? "" : "\n" + now);
        }
        ui.tooltip(drawn.run ? hang_tooltip(scene, hang_shown(scene, state), under)
                   : drawn.plain  // where it stands, not whom it talks to
                       ? "rank " + thousands(under) + "\n" + place_of(scene.plan.cluster, under)
                       : rank_tooltip(scene, under) + (now.empty() ? "" : "\n" + now));
    }
}

constexpr float kField = 170;        // width of the field for ranks and its name
constexpr float kMenuButton = 36;    // width of the button of the menu
constexpr float kLeastForTwo = 640;  // width in which two orders stand side by side

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

// Draws one mesh and what stands around it. `kept` is the width of the field in the caption's row.
void draw_one(Ui& ui, Rect room, float kept, bool run, Scene& scene, MeshViewState& state, ExpertLoads& loads,
              std::optional<PlanEdit>& edit) {
    caption(ui, room, kept, scene, state);
    room.cut_top(4);
    state.still = room;
    state.cells = run                                   ? draw_hang_list(ui, room, scene, state)
                  : state.plain || !shows_groups(scene) ? room
                                                        : draw_around(ui, room, scene, state, loads, edit);
    if (run) state.still = state.cells;  // the list stands still
    if (!ground_is_kept(state)) return;
    const Drawn drawn = drawn_of(ui.theme(), scene, state);
    const MeshLayout& layout = layout_for(state, state.cells, scene, ui.canvas().scale());
    in_place(ui, state.cells, layout, held(state.camera, state.cells, layout), scene, drawn,
             [&](const MeshPlace& place) { draw_ground(ui, place, scene, state, drawn); });
}

// Places the mesh and the same plan in another order side by side.
void place_both(Ui& ui, Rect room, const Scene& scene, MeshViewState& state) {
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

}  // namespace

std::optional<PlanEdit> draw_mesh_words(Ui& ui, Rect head_row, Rect room, Scene& scene, MeshViewState& state,
                                        ExpertLoads& loads, const KeptPlan* pinned, std::uint64_t revision) {
    std::optional<PlanEdit> edit;
    state.field = state.cells = state.second_cells = state.enlarged = state.still = {};
    state.ladder = {};
    if (has_hang(scene)) run_switch(ui, head_row, state);
    const bool run = shows_hang(scene, state);
    const float switches = run ? 0 : switch_width(ui, scene);
    if (switches + kMenuButton > head_row.w && room.h > 120) {
        head_row = room.cut_top(24);  // a row of its own where the head has no place
        room.cut_top(4);
    }
    Rect axes;  // a row of their own where the meshes leave them too little
    if (!run && least_switch_width(ui, scene) + kMenuButton > head_row.w && room.h > 160
        && !ui.state().for_picture) {
        axes = room.cut_top(24);
        room.cut_top(4);
    }
    if (!state.plain) mesh_menu_button(ui, head_row, state);
    if (!run) axis_switch(ui, head_row, axes, scene, state);
    next_axis(scene, state);
    update_second_order(scene, state, revision);
    if (shows_figure(scene, state)) update_figure(scene, state, revision);
    const ShownAxis shown(scene);
    const float kept = state.goes_to && !state.folds ? kField + 16 : 0;
    if (kept > 0) state.field = {room.right() - kField, room.y - 2, kField, 22};
    if (scene.evaluation.mesh.world <= 0 || scene.plan.cluster.gpus <= 0) {
        ui.canvas().text(room.min() + Vec2{0, 8}, "No mesh: the problems on the right say why.", ui.small());
        return edit;
    }
    if (state.folds && !state.plain && !run) {
        draw_ribbon(ui, room, scene, pinned);
        return edit;
    }
    const bool both = !run && state.second >= 0 && room.w > kLeastForTwo && room.h > 200
                      && state.other->evaluation.mesh.world > 0;
    if (!both) {
        draw_one(ui, room, kept, run, scene, state, loads, edit);
        return edit;
    }
    if (kept > 0) room.cut_top(24);
    place_both(ui, room, scene, state);
    return edit;
}

void draw_mesh_cells(Ui& ui, Scene& scene, MeshViewState& state) {
    draw_rank_field(ui, state.field, scene, state);
    press_ladder(ui, scene, state);
    const ShownAxis shown(scene);
    if (state.cells.w > 0) draw_cells(ui, state.cells, scene, state, "mesh.cells");
    if (state.second_cells.w <= 0) return;
    Scene second = second_scene(scene, state);
    draw_cells(ui, state.second_cells, second, state, "mesh.cells.second");
}

Rect moving_in_mesh(const MeshViewState& state) {
    const Rect &a = state.cells, &b = state.second_cells;
    if (b.w <= 0) return state.still;
    const float top = std::max(a.y, b.y);
    return {a.x, top, b.right() - a.x, a.bottom() - top};
}

// The mesh as tables: groups of each axis, ranks, a run that hangs.

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
    if (part == 5)
        return has_hang(scene) ? hang_table(*scene.run->hang, named_hosts(scene), &scene.plan.cluster)
                               : Table{};
    const std::vector<GroupKind> kinds = kinds_of(scene.evaluation);
    if (part == 0)  // five rows, and experts'
        return without(groups_table(scene.plan, scene.evaluation,
                                    std::span(kAxes).first(scene.evaluation.mesh.has_experts ? 6 : 5), true),
                       {"per_fast_domain", "sharing_node"});
    return part == 1
               ? ranks_table(scene.evaluation, kinds, kMost, scene.hosts != nullptr ? *scene.hosts : Hosts())
               : groups_table(scene.plan, scene.evaluation, kinds, true);
}

MeshInBoxes in_boxes(const Scene& scene) {
    const Cluster& c = scene.plan.cluster;
    return {.gpus = shows_groups(scene) ? std::max(c.gpus, scene.evaluation.mesh.world) : c.gpus,
            .domain = c.tiers.empty() ? 1 : domain_of(c, 0),
            .pod = c.tiers.size() > 2 ? domain_of(c, 1) : 0,
            .tile = tile_of(scene.plan, scene.evaluation, scene.selection.expert())};
}

MeshLayout lay_out_mesh(const Scene& scene, Vec2 room, float pixel, float zoom) {
    const Mesh& mesh = scene.evaluation.mesh;
    const MeshInBoxes b = in_boxes(scene);
    MeshLayout out = lay_out_mesh(room * (1 / zoom), b.gpus, b.domain, b.pod, pixel,
                                  row_periods(mesh, b.domain, b.pod), b.tile);
    const auto add = [&](const std::string& words) {
        if (!words.empty()) out.words += (out.words.empty() ? "" : ", ") + words;
    };
    if (out.merged && std::min(out.grid.cell.x, out.grid.cell.y) * zoom < kLeastGpuCell)
        add("a cell is a " + std::string(domain_name(scene.plan.cluster)));
    add(row_words(mesh, b.domain, out.row_nodes, scene.plan.layout.zero == 3));
    if (out.merged && out.node.full.x * zoom < kLeastNodeCell.x)
        add("rows and columns stand joined");
    else if (out.merged && out.node.full.y * zoom < kLeastNodeCell.y)
        add("rows stand joined");
    if (shows_groups(scene) && mesh.world != scene.plan.cluster.gpus)
        add(mesh.world > scene.plan.cluster.gpus ? "red: ranks without a GPU" : "grey: GPUs without a rank");
    if (out.has_pods) add("a box is a pod of " + thousands(b.pod));
    return out;
}

bool shows_groups(const Scene& scene) {
    constexpr std::int64_t kMostTimes = 4;
    const std::int64_t world = scene.evaluation.mesh.world;
    return scene.evaluation.valid || (world > 0 && world / kMostTimes <= scene.plan.cluster.gpus);
}

void draw_missing_cells(Canvas& c, const Theme& theme, const MeshPlace& m, const Scene& scene) {
    const std::int64_t gpus = scene.plan.cluster.gpus, world = scene.evaluation.mesh.world;
    if (world <= gpus || !shows_groups(scene)) return;
    CellGrid missing = m.grid;
    missing.count = static_cast<std::int32_t>(world - gpus);
    merge_small_cells(m.layout, missing, c.scale());
    missing.first = static_cast<std::int32_t>(gpus / missing.step * missing.step);
    color_plainly(mix(theme.window, theme.bad, 0.3f), missing);
    c.cells(missing);
}

void draw_idle_cells(Canvas& c, const Theme& theme, const MeshPlace& m, const Scene& scene) {
    if (scene.evaluation.mesh.world >= scene.plan.cluster.gpus) return;
    CellGrid idle = m.grid;
    merge_small_cells(m.layout, idle, c.scale());
    color_plainly(mix(theme.window, theme.hairline, 0.7f), idle);
    c.cells(idle);
}

void draw_still_mesh(Ui& ui, Rect room, const Scene& scene) {
    constexpr float kLine = 16, kLeast = 20;
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    const Mesh& mesh = scene.evaluation.mesh;
    if (mesh.world < 1 || room.w < kLeast || room.h < kLeast) return;
    const std::int64_t gpus = in_boxes(scene).gpus;
    if (in_boxes(scene).pod > 0) room = room.inset(kAroundPods, 0);
    // The words have room below the cells, where they leave most of it to them.
    const float pixel = 1 / c.scale();
    MeshLayout layout = lay_out_mesh(scene, {room.w, room.h}, pixel);
    // Between pods and their words a line joins the pods of one group.
    const float above = in_boxes(scene).pod > 0 ? 10 : 2;
    const auto words_height = [&] {
        return layout.words.empty() ? 0 : c.paragraph_height(room.w, layout.words, ui.small(), kLine) + above;
    };
    const float words = words_height() * 3 < room.h ? words_height() : 0;
    if (words > 0) layout = lay_out_mesh(scene, {room.w, room.h - words}, pixel);
    const CellGrid grid = seen(layout, {}, room);
    MeshPlace m{
        .layout = layout, .grid = grid, .area = room, .ranks = mesh.world, .axes = axes_of(theme, scene)};
    m.tile = tile_axis(m.axes, layout.tile.size);
    const HighlightedGroups highlighted = highlighted_groups(theme, scene);
    draw_boxes(c, theme, m, highlighted.shown);
    draw_idle_cells(c, theme, m, scene);
    draw_pods(c, theme, m, gpus, ui.small().size);
    CellGrid cells = grid;
    color_by_groups(theme, scene, cells);
    // An axis of one rank has no groups to tell apart.
    if (scene.evaluation.groups[scene.selection.group].degree <= 1)
        color_plainly(mix(theme.window, theme.secondary, 0.3f), cells);
    if (highlighted.shown) color_plainly(highlighted.quiet, cells);
    const CellGrid colored = cells;
    merge_small_cells(layout, cells, c.scale());
    if (highlighted.shown)
        draw_quiet_cells(c, theme, highlighted, cells);
    else
        c.cells(cells);
    draw_missing_cells(c, theme, m, scene);
    if (highlighted.shown) {
        draw_highlighted_tile(c, m, highlighted);
        draw_highlighted_cells(c, mesh, highlighted, cells);
        for (const MeshAxis& axis : highlighted.axes.span())
            draw_highlighted_links(c, theme, m, axis, highlighted.rank);
        draw_shares(c, theme, m, highlighted, gpus, ui.small().size);
    } else {
        draw_cards(ui, m, scene, colored, Cards::ranks);
    }
    name_boxes(ui, m, scene);
    room.cut_top(layout.extent.y + above);
    if (words > 0) c.paragraph(room, layout.words, ui.small(), kLine);
}

}  // namespace pentamesh::ui
