#include "app/ui/views/zoom/view.h"

#include "app/tables/plan_tables.h"
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "core/sharding/placement.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr double kFlight_s = 0.25, kTourFlight_s = 1.1, kTourRest_s = 0.5;
constexpr double kFills = 0.95;     // of the scale at which a box fits: then one is inside it
constexpr double kMostZoom = 4;     // beyond a box that fits, where there is nothing inside it
constexpr float kLeastPicked = 12;  // pixels of a box that a click means

bool flying(const ZoomViewState& s) {
    return s.begun_s >= 0;
}

Fold fold_of(const Scene& scene) {
    return scene.selection.expert() && scene.evaluation.mesh.has_experts ? Fold::experts : Fold::dense;
}

// The other fold is entered where this one was left: at the same GPU, or at the cluster.
void refold(const Scene& scene, ZoomViewState& s) {
    const std::size_t levels = s.nest->levels.size();
    if (s.path.size() < levels) {
        s.path.clear();
        return;
    }
    NestPath path = path_of_rank(nest_of(scene.plan, scene.evaluation.mesh, fold_of(scene)),
                                 first_rank_of(*s.nest, s.path));
    path.insert(path.end(), s.path.begin() + static_cast<std::ptrdiff_t>(levels), s.path.end());
    s.path = std::move(path);
}

void keep(const Scene& scene, Rect room, ZoomViewState& s, std::uint64_t revision) {
    const Fold fold = fold_of(scene);
    const NestOf* was = s.nest.key();
    if (was != nullptr && was->revision == revision && was->fold != fold) refold(scene, s);
    const bool made = s.nest.update({revision, fold, {room.w, room.h}}, [&] {
        return place_boxes(nest_of(scene.plan, scene.evaluation.mesh, fold), room.w / std::max(1.0f, room.h));
    });
    if (!made) return;
    s.path = legal_path(*s.nest, s.path);
    s.cursor = -1;
    s.camera = fitting(room, box_of(*s.nest, s.path));
    s.begun_s = -1;
}

// The way to what is shown is large, then the keyboard's child, the selected GPU's way, and what was large
// before.
void choose_lead(const Scene& scene, ZoomViewState& s) {
    const std::size_t levels = s.nest->levels.size();
    const auto goes_on = [&](const NestPath& deeper, const NestPath& path) {
        return path.size() < deeper.size() && leads_to(path, deeper);
    };
    NestPath lead = s.path;
    lead.resize(std::min(lead.size(), levels));
    if (s.path.size() < levels && s.cursor >= 0) lead.push_back(s.cursor);
    const NestPath way = selected_path(scene, s);
    while (lead.size() < levels) {
        const std::size_t k = lead.size();
        const std::int64_t last = s.nest->levels[k].count - 1;
        lead.push_back(goes_on(way, lead) ? way[k] : goes_on(s.lead, lead) ? std::min(s.lead[k], last) : 0);
    }
    s.lead = std::move(lead);
}

// Along a flight the scale grows evenly in its logarithm, and the fixed point stays where it is.
void fly_on(Ui& ui, Rect room, ZoomViewState& s) {
    if (!flying(s)) return;
    const double t = std::clamp((ui.frame().time_s - s.begun_s) / s.lasts_s, 0.0, 1.0);
    const double eased = 1 - (1 - t) * (1 - t) * (1 - t);
    const double scale = s.from.scale * std::pow(s.to.scale / s.from.scale, eased);
    const double a = 1 / s.from.scale, b = 1 / s.to.scale;
    const double way = std::abs(a - b) < 1e-9 * a ? eased : (1 / scale - a) / (b - a);
    const auto center = [&](const ZoomCamera& c, double extent, double from) {
        return from + extent / c.scale / 2;
    };
    const double x = center(s.from, room.w, s.from.x) * (1 - way) + center(s.to, room.w, s.to.x) * way;
    const double y = center(s.from, room.h, s.from.y) * (1 - way) + center(s.to, room.h, s.to.y) * way;
    s.camera = {x - room.w / scale / 2, y - room.h / scale / 2, scale};
    if (t >= 1)
        s.camera = s.to, s.begun_s = -1;
    else
        ui.state().wants_frame = true;
}

// Sets the path to the deepest box around the room's middle that fills enough of it: the breadcrumbs show it
// after the wheel or a drag.
void follow_camera(Rect room, ZoomViewState& s) {
    NestPath path;
    NestBox box{0, 0, s.nest->aspect, 1};
    const double x = s.camera.x + room.w / s.camera.scale / 2, y = s.camera.y + room.h / s.camera.scale / 2;
    const NestPath at = path_at(s, room, room.center(), 8);
    for (const std::int64_t step : at) {
        const NestBox child = child_box(placed_children(*s.nest, path, box, lead_in(s, path)), box, step);
        if (!child.contains(x, y) || s.camera.scale < kFills * fitting(room, child).scale) break;
        path.push_back(step);
        box = child;
    }
    if (path == s.path) return;
    s.path = std::move(path);
    s.cursor = -1;
    // A box of the map that is entered becomes the large one: the camera goes with it.
    const NestBox large = box_of(*s.nest, s.path);
    s.camera.x = large.x + (s.camera.x - box.x) * large.w / box.w;
    s.camera.y = large.y + (s.camera.y - box.y) * large.h / box.h;
    s.camera.scale *= box.w / large.w;
}

void move_camera(Ui& ui, Rect room, ZoomViewState& s, const Hit& hit) {
    const ZoomCamera all = fitting(room, {0, 0, s.nest->aspect, 1});
    bool moved = false;
    if (const float by = ui.take_wheel(room); by != 0) {
        const NestPath at = path_at(s, room, ui.frame().mouse, 1);
        const double most = fitting(room, box_of(*s.nest, at)).scale * kMostZoom;
        const double next = held_between(s.camera.scale * std::pow(1.3, by), all.scale, most);
        const double mx = ui.frame().mouse.x - room.x, my = ui.frame().mouse.y - room.y;
        s.camera.x += mx / s.camera.scale - mx / next;
        s.camera.y += my / s.camera.scale - my / next;
        s.camera.scale = next;
        s.begun_s = -1;
        moved = true;
    }
    if (hit.held && (std::abs(hit.drag.x) + std::abs(hit.drag.y) > 4 || s.panning)) {
        if (!s.panning) s.pan_start = s.camera;
        s.panning = moved = true;
        s.begun_s = -1;
        s.camera.x = s.pan_start.x - hit.drag.x / s.camera.scale;
        s.camera.y = s.pan_start.y - hit.drag.y / s.camera.scale;
    } else if (!hit.held) {
        s.panning = false;
    }
    if (!moved) return;
    // The cluster stays in view: its middle is the room's at the widest, else the room's middle is in it.
    const double half_w = room.w / s.camera.scale / 2, half_h = room.h / s.camera.scale / 2;
    const auto held = [](double center, double half, double extent) {
        return half * 2 >= extent ? extent / 2 : std::clamp(center, 0.0, extent);
    };
    s.camera.x = held(s.camera.x + half_w, half_w, s.nest->aspect) - half_w;
    s.camera.y = held(s.camera.y + half_h, half_h, 1) - half_h;
    follow_camera(room, s);
}

// A click or the cursor on a box selects its first GPU, and its stage, in every view.
void select(Scene& scene, const ZoomViewState& s, const NestPath& path) {
    if (path.empty()) return;
    const std::size_t depth = std::min(path.size(), s.nest->levels.size());
    scene.selection.pick_rank(first_rank_of(*s.nest, path));
    scene.selection.show_mesh(s.nest->fold == Fold::experts);
    for (std::size_t i = 0; i < depth; ++i)
        if (s.nest->levels[i].kind == NestKind::stage) scene.selection.stage = static_cast<int>(path[i]);
    if (depth > 0) scene.selection.choose(s.nest->levels[depth - 1].group);
}

void enter(Ui& ui, Rect room, ZoomViewState& s, std::int64_t child) {
    NestPath to = s.path;
    to.push_back(child);
    fly(ui, room, s, std::move(to));
}

void leave(Ui& ui, Rect room, ZoomViewState& s) {
    NestPath to = s.path;
    const std::int64_t from = to.back();
    to.pop_back();
    fly(ui, room, s, std::move(to), from);
}

// Returns the child that is entered without a choice: on the way to the selected GPU, else the first.
std::int64_t child_on_the_way(const Scene& scene, const ZoomViewState& s, const NestChildren& inside) {
    const NestPath way = selected_path(scene, s);
    return s.path.size() < way.size() && leads_to(s.path, way) ? way[s.path.size()] : first_to_enter(inside);
}

// Flies on where a flight has ended: a level deeper, from the deepest back to the whole, and then it is over.
void tour(Ui& ui, Rect room, Scene& scene, ZoomViewState& s) {
    if (s.tour_asked) {
        s.tour_asked = false;
        s.tours = !ui.state().reduced_motion && !ui.state().for_picture;
        if (s.tours) fly(ui, room, s, {});
    }
    if (!s.tours) return;
    ui.state().wants_frame = true;
    const double now_s = ui.frame().time_s;
    if (flying(s)) {
        s.rests_until_s = now_s + kTourRest_s;
        return;
    }
    if (now_s < s.rests_until_s) return;
    const PlacedChildren inside = placed_children(*s.nest, s.path, box_of(*s.nest, s.path));
    if (inside.count > 0) return enter(ui, room, s, child_on_the_way(scene, s, inside));
    fly(ui, room, s, {});
    s.tours = false;
    scene.next_hover.message = "The wheel is yours: it zooms, a drag moves, a double click goes in.";
}

// Arrows walk the children of the current box, or its siblings where it has no children. Enter goes in,
// Escape and Backspace go out.
void answer_keys(Ui& ui, Rect room, Scene& scene, ZoomViewState& s) {
    ViewKeys& keys = scene.keys;
    if (text_field_active()) return;
    const Id focus = ui.state().focus;  // the switch or tab that opened the page may still have it
    bool mine = focus == ui.id("zoom.canvas") || focus == ui.id("view.mesh") || !ui.state().focus_visible;
    for (std::uint64_t i = 0; i < 5; ++i) mine = mine || focus == ui.id("mesh.which", i);
    if (!s.path.empty() && (keys.pressed({Key::escape}) || (mine && keys.pressed({Key::backspace})))) {
        keys.took_escape = true;
        leave(ui, room, s);
        return;
    }
    if (keys.pressed({Key::home})) fly(ui, room, s, {});
    if (!mine) return;
    const NestBox box = box_of(*s.nest, s.path);
    const PlacedChildren inside = placed_children(*s.nest, s.path, box);
    const bool leaf = inside.count == 0;
    const NestPath parent(s.path.begin(), s.path.end() - (leaf && !s.path.empty() ? 1 : 0));
    const PlacedChildren row = leaf ? placed_children(*s.nest, parent, box_of(*s.nest, parent)) : inside;
    if (row.count == 0) return;
    const std::int64_t at = leaf ? s.path.back() : s.cursor;
    const std::int64_t down = row.sliced ? 1 : row.grid.cols;
    std::int64_t to = at;
    if (keys.pressed({Key::right}, true)) to += 1;
    if (keys.pressed({Key::left}, true)) to -= 1;
    if (keys.pressed({Key::down}, true)) to += down;
    if (keys.pressed({Key::up}, true)) to -= down;
    if (to != at) {
        to = at < 0 ? 0 : std::clamp<std::int64_t>(to, 0, row.count - 1);
        NestPath path = parent;
        path.push_back(to);
        if (leaf && to != at)
            fly(ui, room, s, path);
        else
            s.cursor = leaf ? -1 : to;
        select(scene, s, path);
    }
    if (!leaf && keys.pressed({Key::enter}))
        enter(ui, room, s, s.cursor >= 0 ? s.cursor : child_on_the_way(scene, s, inside));
}

void mouse(Ui& ui, Rect room, Scene& scene, ZoomViewState& s, const Hit& hit) {
    if (!hit.hovered) return;
    const NestPath under = path_at(s, room, ui.frame().mouse, kLeastPicked);
    if (!under.empty() && under.size() >= s.nest->levels.size())
        scene.next_hover.rank = first_rank_of(*s.nest, under);
    const bool inside = under.size() > s.path.size() && leads_to(s.path, under);
    if (hit.double_clicked) {
        if (inside)
            enter(ui, room, s, under[s.path.size()]);
        else if (!s.path.empty())
            leave(ui, room, s);
        return;
    }
    const Vec2 travel = ui.frame().mouse - ui.state().press;
    if (hit.clicked && std::abs(travel.x) + std::abs(travel.y) < 5) {
        s.cursor = inside ? under[s.path.size()] : -1;
        if (under.empty())
            scene.selection = scene.selection.cleared();
        else
            select(scene, s, under);
    }
    if (under.empty() || hit.held) return;
    std::string text;
    for (std::size_t k = 1; k <= under.size(); ++k)
        text += (k > 1 ? " › " : "") + step_label(*s.nest, std::span(under).first(k));
    const std::int64_t rank = first_rank_of(*s.nest, under);
    if (under.size() >= s.nest->levels.size())
        text += "\nrank " + thousands(rank);
    else
        text += "\n" + plural(s.nest->levels[under.size() - 1].gpus, "GPU", "GPUs") + " from rank "
                + thousands(rank);
    for (const std::string& cut : cut_sentences(*s.nest, tensors_at(*s.nest, under), rank))
        text += "\n" + cut;
    ui.tooltip(text);
}

// Draws "out", "all", the switch between the folds, and "fly", as far as the row has room.
void draw_controls(Ui& ui, Rect head_row, Rect room, Scene& scene, ZoomViewState& state) {
    if (head_row.w > 150) {
        const Rect out = head_row.cut_right(72);
        if (ui.button("zoom.out", out, "out", 0, !state.path.empty())) leave(ui, room, state);
        head_row.cut_right(8);
        if (ui.button("zoom.all", head_row.cut_right(72), "all", 0, !state.path.empty()))
            fly(ui, room, state, {});
        head_row.cut_right(8);
    }
    if (scene.evaluation.mesh.has_experts && head_row.w >= 140) {
        static constexpr std::array<std::string_view, 2> kFolds{"dense", "experts"};
        const auto now = static_cast<int>(state.nest->fold);
        const int wanted = ui.segments("zoom.fold", head_row.cut_right(140), kFolds, now);
        if (wanted != now) {
            scene.selection.show_mesh(wanted == 1);
            ui.state().focus = ui.id("zoom.canvas");  // where the keys go on
            ui.state().wants_frame = true;
        }
        head_row.cut_right(8);
    }
    if (!ui.state().reduced_motion && head_row.w >= 72
        && ui.button("zoom.fly", head_row.cut_right(72), state.tours ? "stop" : "fly"))
        state.tour_asked = !state.tours, state.tours = false;
}

}  // namespace

void fly(Ui& ui, Rect room, ZoomViewState& s, NestPath path, std::int64_t cursor) {
    s.path = std::move(path);
    s.cursor = cursor;
    s.from = s.camera;
    s.to = fitting(room, box_of(*s.nest, s.path));
    s.begun_s = ui.frame().time_s;
    s.lasts_s = s.tours ? kTourFlight_s : kFlight_s;
    if (ui.state().reduced_motion) s.camera = s.to, s.begun_s = -1;
    ui.state().wants_frame = true;
}

std::int64_t first_to_enter(const NestChildren& children) {
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(children.items.size()); ++i)
        if (!is_matrix(children, i)) return i;
    return 0;
}

void draw_zoom(Ui& ui, Rect head_row, Rect room, Scene& scene, ZoomViewState& state, std::uint64_t revision) {
    if (ui.state().for_picture) head_row = {};  // its controls serve a hand
    Canvas& c = ui.canvas();
    if (scene.evaluation.mesh.world <= 0) {
        c.text_in(room, "This layout has no mesh: see the problems.", ui.small(), Align::center);
        return;
    }
    // "dense | experts", "all" and "out" go into a row of their own where the tabs leave too little.
    const float controls = scene.evaluation.mesh.has_experts ? 308 : 152;
    if (!ui.state().for_picture && head_row.w < controls && room.h > 200) {
        head_row = room.cut_top(24);
        room.cut_top(4);
    }
    const Rect crumb_row = room.cut_top(22);
    const Rect caption_row = room.h > 150 ? room.cut_top(20) : Rect{};
    room.cut_top(4);
    Rect side;
    if (room.w >= 720 && room.h >= 190) {
        side = room.cut_right(212);
        room.cut_right(16);
    }
    keep(scene, room, state, revision);
    const auto touched = [&, path = state.path, cursor = state.cursor, begun_s = state.begun_s] {
        return state.path != path || state.cursor != cursor || state.begun_s != begun_s;
    };
    if (caption_row.h > 0) draw_caption(ui, caption_row, scene, state);
    draw_controls(ui, head_row, room, scene, state);
    const Hit hit = ui.area("zoom.canvas", room);
    choose_lead(scene, state);
    move_camera(ui, room, state, hit);
    answer_keys(ui, room, scene, state);
    mouse(ui, room, scene, state, hit);
    draw_crumbs(ui, crumb_row, room, state);
    if (side.w > 0) draw_ladder(ui, side, room, scene, state);
    if (touched() || hit.held) state.tours = false;  // a hand takes over
    tour(ui, room, scene, state);
    choose_lead(scene, state);
    fly_on(ui, room, state);

    {
        const Canvas::Clip clip = c.clip(room);
        draw_boxes(ui, room, scene, state);
        if (state.cursor >= 0) {
            NestPath path = state.path;
            path.push_back(state.cursor);
            const Rect r = on_screen(state.camera, room, box_of(*state.nest, path));
            c.frame(r.inset(-2), ui.theme().text, 3, 6);
        }
    }
    if (hit.focused) ui.focus_ring(room.inset(2), 2);
}

void show_rank(ZoomViewState& state, const Plan& plan, const Mesh& mesh, std::int64_t rank) {
    state.path = path_of_rank(nest_of(plan, mesh), rank);
    state.nest.forget();
}

Table zoom_data(const Scene& scene, const ZoomViewState& state) {
    return nest_table(scene.plan, scene.evaluation, fold_of(scene), state.path);
}

// Draws the boxes of the zoom view: only those on the screen and large enough.

namespace {

// Children smaller than this are not drawn one by one but as lines, and those not either when still smaller.
constexpr float kLeastBox = 10, kLeastGpu = 5, kLeastLine = 2.5f;
constexpr float kLeastHead = 12.5f;               // of a box, for its name: else a tag has it
constexpr float kGpuOpens = 200, kGpuOpen = 320;  // a GPU's fill fades while its layers come into sight,
constexpr float kGpuLayers = 240;                 // which they do from here
constexpr float kMapOpens = 120;                  // a box of a map is drawn with what is in it

struct Drawing {
    Ui& ui;
    Rect room;
    const Scene& scene;
    const ZoomViewState& state;
    const PlacedNest& nest;
    NestPath selected;  // of the selected rank; empty: none
    NestPath path;
    bool under_tag = false;  // the box around has its name over its first children

    void draw(const NestBox& box, bool matrix = false);
    void children(const NestBox& box, Rect r);
    void grid(const PlacedChildren& c, const NestBox& box, Rect r);
    void lines(const PlacedChildren& c, Rect r);
    void map_cell(const PlacedChildren& c, Rect r, std::int64_t i);
    void map_words(const PlacedChildren& c, Rect r);
    void fill(Rect r);
    void label(Rect r);
    void tag(Rect r);
    [[nodiscard]] bool holds_selected() const { return !selected.empty() && leads_to(path, selected); }
    void child(const PlacedChildren& c, const NestBox& box, std::int64_t i);
    [[nodiscard]] bool is_gpu() const { return path.size() == nest.levels.size(); }
};

bool outside(Rect r, Rect room) {
    return r.right() < room.x || r.x > room.right() || r.bottom() < room.y || r.y > room.bottom();
}

// Returns a rectangle whose edges are not far beyond the room: there they do not matter, and are too large
// for a pixel's arithmetic.
Rect tamed(Rect r, Rect room) {
    constexpr float kBeyond = 64;
    const float x0 = std::max(r.x, room.x - kBeyond), y0 = std::max(r.y, room.y - kBeyond);
    const float x1 = std::min(r.right(), room.right() + kBeyond),
                y1 = std::min(r.bottom(), room.bottom() + kBeyond);
    return {x0, y0, x1 - x0, y1 - y0};
}

// All GPUs have one colour: shades would look like values. A box seen from inside has a quiet ground.
Color gpu_ground(const Theme& t, Color axis, float width) {
    const float open = std::clamp((width - kGpuOpens) / (kGpuOpen - kGpuOpens), 0.0f, 1.0f);
    return mix(mix(t.window, axis, 0.42f), mix(t.window, axis, 0.1f), open);
}

Color level_color(const Drawing& d, std::size_t depth) {
    return depth == 0 ? d.ui.theme().hairline : color_of_level(d.ui.theme(), d.nest, depth - 1);
}

void Drawing::fill(Rect r) {
    const Theme& t = ui.theme();
    Canvas& c = ui.canvas();
    const Rect shown = tamed(r, room);
    const std::size_t depth = path.size();
    const float radius = std::clamp(std::min(r.w, r.h) * 0.04f, 0.0f, 6.0f);
    if (depth > nest.levels.size()) {  // inside a GPU
        c.rect(shown, depth % 2 == 0 ? t.raised : t.panel, radius);
        if (r.w > 16) c.frame(shown, t.hairline, 1, radius);
        return;
    }
    const Color axis = level_color(*this, depth);
    c.rect(shown,
           depth == 0 ? t.panel
           : is_gpu() ? gpu_ground(t, axis, r.w)
                      : mix(t.window, axis, 0.08f),
           radius);
    const bool highlighted = holds_selected() && depth > 0;
    if (r.w > 10) c.frame(shown, highlighted ? t.text : axis, highlighted ? 2.0f : 1.0f, radius);
}

// Writes the name of a box that is too low for a head row in its corner, on a ground of its own.
void Drawing::tag(Rect r) {
    constexpr float kHeight = 14;
    if (path.empty() || r.h < kHeight + 4 || r.x < room.x || r.y < room.y) return;
    // A block's name would stand under its layer's.
    if (path.size() > nest.levels.size() + 1 && r.h < 3 * kHeight) return;
    const TextStyle s = ui.style(11);
    std::string text = step_label(nest, path);
    const bool short_name = ui.canvas().text_width(text, s) + 10 > r.w;
    if (short_name && path.size() > nest.levels.size()) return;
    if (short_name) text = std::to_string(path.back());
    const float w = ui.canvas().text_width(text, s) + 6;
    if (w + 4 > r.w) return;
    // The tag avoids its parent's name: it is below, and a number is also on the right.
    const bool below = under_tag && path.size() <= nest.levels.size() && r.h >= kHeight + 8;
    write_plate(
        ui,
        {short_name ? r.right() - w - 2 : r.x + 2, below ? r.bottom() - kHeight - 2 : r.y + 2, w, kHeight},
        text, s, ui.theme().window.alpha(0.8f), 2);
}

void Drawing::label(Rect r) {
    const auto h = static_cast<float>(nest_head(r.w, r.h, path.empty() && !is_gpu()));
    Canvas& c = ui.canvas();
    const bool cell = is_gpu() && !path.empty() && r.w < kGpuOpen;
    if (cell) {  // a GPU that is a cell is named in its middle
        if (r.w < 26 || r.h < 15) return;
        if (r.w >= kGpuLayers) return tag(r);
        const Color axis = level_color(*this, path.size());
        const TextStyle s =
            ui.style(r.w > 80 && r.h > 24 ? 13.0f : 11.0f).in(ink_on(gpu_ground(ui.theme(), axis, r.w)));
        const std::string name = step_label(nest, path);
        const bool fits = c.text_width(name, s) < r.w - 4;
        if (r.h > 40 && c.text_width("rank 00000", s) < r.w - 4) {
            c.text_in({r.x, r.center().y - 17, r.w, 17}, name, s, Align::center);
            c.text_in({r.x, r.center().y, r.w, 17}, "rank " + thousands(first_rank_of(nest, path)), s,
                      Align::center);
        } else {
            c.text_in(r, fits ? name : std::to_string(path.back()), s, Align::center);
        }
        return;
    }
    // The breadcrumbs name the boxes around the view.
    if (path.size() < state.path.size() && leads_to(path, state.path)) return;
    if (h < kLeastHead) tag(r);
    if (h < kLeastHead || r.w < 30 || r.y + h * 0.75f < room.y) return;
    const float size = h >= 24 ? 14.0f : h >= 18 ? 13.0f : 11.0f;
    std::string text = path.empty() ? scene.plan.cluster.name : step_label(nest, path);
    const bool of_mesh = path.size() <= nest.levels.size();
    std::string more;
    if (is_gpu())
        more = "rank " + thousands(first_rank_of(nest, path));
    else if (of_mesh)
        more = plural(path.empty() ? nest.mesh.world : nest.levels[path.size() - 1].gpus, "GPU", "GPUs");
    // The name is kept in sight while its box is partly off the screen.
    const float x = std::max(r.x, room.x) + std::min(8.0f, r.w * 0.05f) + 1;
    const float right = std::min(r.right(), room.right()) - 4;
    const float y = r.y + (h - size * 1.35f) / 2;
    const Rect line{x, y, right - x, size * 1.35f};
    if (line.w < 20) return;
    const TextStyle bold = ui.style(size, Tone::text, Face::semibold);
    const float w = c.text_width(text, bold);
    if (w > line.w && of_mesh && !path.empty()) text = std::to_string(path.back());
    c.text_in(line, text, bold);
    const float left = line.w - w - 10;
    if (!more.empty() && left > c.text_width(more, ui.style(size)))
        c.text_in({x + w + 10, y, left, line.h}, more, ui.style(size, Tone::secondary));
}

void Drawing::lines(const PlacedChildren& c, Rect r) {
    const auto k = static_cast<float>(state.camera.scale);
    const auto px = static_cast<float>(c.grid.pitch_x) * k, py = static_cast<float>(c.grid.pitch_y) * k;
    const Color axis = color_of_level(ui.theme(), nest, path.size());
    const float x0 = r.x + static_cast<float>(c.grid.x) * k, y0 = r.y + static_cast<float>(c.grid.y) * k;
    const float x1 = x0 + px * static_cast<float>(c.grid.cols),
                y1 = y0 + py * static_cast<float>(c.grid.rows);
    ui.canvas().rect(tamed({x0, y0, x1 - x0, y1 - y0}, room), axis.alpha(0.4f));
    if (std::min(px, py) < kLeastLine) return;
    for (std::int64_t i = 1; i < c.grid.cols; ++i) {
        const float x = x0 + px * static_cast<float>(i);
        ui.canvas().line({x, y0}, {x, y1}, ui.theme().window, 1);
    }
    for (std::int64_t i = 1; i < c.grid.rows; ++i) {
        const float y = y0 + py * static_cast<float>(i);
        ui.canvas().line({x0, y}, {x1, y}, ui.theme().window, 1);
    }
}

// A box of the map: its number where there is room, the large one's in full colour.
void Drawing::map_cell(const PlacedChildren& c, Rect r, std::int64_t i) {
    const Theme& t = ui.theme();
    const Color axis = color_of_level(t, nest, path.size());
    const bool large = i == c.lead;
    const Color ground = large ? axis : mix(t.window, axis, 0.3f);
    ui.canvas().rect(r, ground, std::min(r.w, r.h) > 12 ? 2.0f : 0.0f);
    if (large && std::min(r.w, r.h) > 6) ui.canvas().frame(r, t.text, 1.25f, 2);
    const TextStyle s = ui.style(11).in(ink_on(ground));
    const std::string number = std::to_string(i);
    if (r.h >= 13 && ui.canvas().text_width(number, s) + 2 <= r.w)
        ui.canvas().text_in(r, number, s, Align::center);
}

// "128 in all", over the map, which has the large one too.
void Drawing::map_words(const PlacedChildren& c, Rect r) {
    const auto k = static_cast<float>(state.camera.scale);
    const NestBox& m = c.grid.more;
    const Rect words{r.x + static_cast<float>(m.x) * k, r.y + static_cast<float>(m.y) * k,
                     static_cast<float>(m.w) * k, static_cast<float>(m.h) * k};
    if (words.h < kLeastHead || words.w < 30 || outside(words, room)) return;
    const TextStyle s = ui.style(words.h >= 26   ? 14.0f
                                 : words.h >= 18 ? 13.0f
                                                 : 11.0f,
                                 Tone::text, Face::semibold);
    const std::string count = thousands(c.count), all = count + " in all";
    ui.canvas().text_in(words, ui.canvas().text_width(all, s) <= words.w ? all : count, s);
}

void Drawing::grid(const PlacedChildren& c, const NestBox& box, Rect r) {
    const double k = state.camera.scale;
    const bool gpus = path.size() + 1 == nest.levels.size();
    const bool map = c.grid.enlarged;
    const bool fine = std::min(c.grid.w, c.grid.h) * k < (gpus || map ? kLeastGpu : kLeastBox);
    if (fine && c.items.empty()) lines(c, r);
    // Only rows and columns that reach into the room are drawn.
    const auto range = [](double begin, double pitch, float low, float high, std::int64_t n) {
        const auto a = static_cast<std::int64_t>(std::floor((low - begin) / pitch)),
                   b = static_cast<std::int64_t>(std::ceil((high - begin) / pitch));
        return std::pair{std::clamp<std::int64_t>(a, 0, n), std::clamp<std::int64_t>(b, 0, n)};
    };
    const auto [col0, col1] =
        range(r.x + c.grid.x * k, c.grid.pitch_x * k, room.x, room.right(), c.grid.cols);
    const auto [row0, row1] =
        range(r.y + c.grid.y * k, c.grid.pitch_y * k, room.y, room.bottom(), c.grid.rows);
    for (std::int64_t row = row0; row < row1 && !fine; ++row)
        for (std::int64_t col = col0; col < col1; ++col) {
            const std::int64_t i = row * c.grid.cols + col;
            if (i >= c.count) break;
            const Rect cell = on_screen(state.camera, room, grid_box(c.grid, box, i));
            if (map && (i == c.lead || std::min(cell.w, cell.h) < kMapOpens))
                map_cell(c, cell, i);
            else
                child(c, box, i);
        }
    if (!map) return;
    child(c, box, c.lead);
    map_words(c, r);
}

void Drawing::children(const NestBox& box, Rect r) {
    if (is_gpu() && r.w < kGpuLayers) return;  // a cell until there is room in it
    const PlacedChildren c = placed_children(nest, path, box, lead_in(state, path));
    if (c.count == 0) return;
    if (!c.sliced) return grid(c, box, r);
    for (std::int64_t i = 0; i < c.count; ++i) child(c, box, i);
}

void Drawing::child(const PlacedChildren& c, const NestBox& box, std::int64_t i) {
    path.push_back(i);
    draw(child_box(c, box, i), is_matrix(c, i));
    path.pop_back();
}

void Drawing::draw(const NestBox& box, bool matrix) {
    const Rect r = on_screen(state.camera, room, box);
    if (outside(r, room) || std::min(r.w, r.h) < 3) return;
    fill(r);
    if (matrix) {
        if (r.w > 8 && r.h > 8)
            draw_tensor(ui, r, nest, tensors_at(nest, path), first_rank_of(nest, path),
                        step_label(nest, path));
        return;
    }
    const bool around = std::exchange(under_tag, !path.empty() && nest_head(r.w, r.h, false) < kLeastHead);
    children(box, r);
    under_tag = around;
    label(r);
}

}  // namespace

Color color_of_level(const Theme& theme, const Nest& nest, std::size_t level) {
    return level < nest.levels.size() ? color_of(theme, nest.levels[level].group) : theme.secondary;
}

Rect on_screen(const ZoomCamera& camera, Rect room, const NestBox& box) {
    return {static_cast<float>(room.x + (box.x - camera.x) * camera.scale),
            static_cast<float>(room.y + (box.y - camera.y) * camera.scale),
            static_cast<float>(box.w * camera.scale), static_cast<float>(box.h * camera.scale)};
}

ZoomCamera fitting(Rect room, const NestBox& box) {
    constexpr double kAir = 0.97;
    const double scale = std::min(room.w / box.w, room.h / box.h) * kAir;
    return {box.x + box.w / 2 - room.w / scale / 2, box.y + box.h / 2 - room.h / scale / 2, scale};
}

void draw_boxes(Ui& ui, Rect room, const Scene& scene, const ZoomViewState& state) {
    Drawing d{ui, room, scene, state, *state.nest, selected_path(scene, state), {}, false};
    d.draw({0, 0, state.nest->aspect, 1});
}

bool leads_to(std::span<const std::int64_t> path, std::span<const std::int64_t> deeper) {
    return path.size() <= deeper.size() && std::equal(path.begin(), path.end(), deeper.begin());
}

NestPath selected_path(const Scene& scene, const ZoomViewState& state) {
    return scene.selection.rank >= 0 ? path_of_rank(*state.nest, scene.selection.rank) : NestPath{};
}

std::int64_t lead_in(const ZoomViewState& state, std::span<const std::int64_t> path) {
    return path.size() < state.lead.size() && leads_to(path, state.lead) ? state.lead[path.size()] : 0;
}

NestPath path_at(const ZoomViewState& state, Rect room, Vec2 point, float least_px) {
    const double x = state.camera.x + (point.x - room.x) / state.camera.scale,
                 y = state.camera.y + (point.y - room.y) / state.camera.scale;
    NestPath path;
    NestBox box{0, 0, state.nest->aspect, 1};
    for (int depth = 0; depth < 9; ++depth) {
        const PlacedChildren c = placed_children(*state.nest, path, box, lead_in(state, path));
        std::int64_t hit = -1;
        if (c.grid.enlarged && !c.sliced && child_box(c, box, c.lead).contains(x, y)) {
            hit = c.lead;
        } else if (c.count > 0 && !c.sliced) {
            const double col = std::floor((x - box.x - c.grid.x) / c.grid.pitch_x),
                         row = std::floor((y - box.y - c.grid.y) / c.grid.pitch_y);
            if (col >= 0 && row >= 0 && col < static_cast<double>(c.grid.cols)
                && row < static_cast<double>(c.grid.rows))
                hit = static_cast<std::int64_t>(row) * c.grid.cols + static_cast<std::int64_t>(col);
        }
        for (std::int64_t i = 0; c.sliced && i < c.count; ++i)
            if (child_box(c, box, i).contains(x, y)) hit = i;
        if (hit < 0 || hit >= c.count) break;
        NestBox child = child_box(c, box, hit);
        // The map has the large one too. Its cells are small, and meant to be met.
        const bool small = c.grid.enlarged && !c.sliced && !(hit == c.lead && child.contains(x, y));
        if (small) child = grid_box(c.grid, box, hit);
        const double least = small ? least_px / 2.0 : least_px;
        if (!child.contains(x, y) || std::min(child.w, child.h) * state.camera.scale < least) break;
        path.push_back(hit);
        box = child;
        if (small && hit == c.lead) break;
    }
    return path;
}

}  // namespace pentamesh::ui
