#include "app/ui/views/zoom/view.h"

#include "app/tables/plan_tables.h"
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr double kFlight_s = 0.25, kTourFlight_s = 1.1, kTourRest_s = 0.7;

bool flying(const ZoomViewState& s) {
    return s.begun_s >= 0;
}

Fold fold_of(const Scene& scene) {
    return scene.selection.expert() && scene.evaluation.mesh.has_experts ? Fold::experts : Fold::dense;
}

std::int64_t followed_rank(const Scene& scene, const ZoomViewState& s) {
    const std::int64_t chosen = chosen_rank(scene);
    return std::clamp<std::int64_t>(chosen >= 0 ? chosen : s.rank, 0, scene.evaluation.mesh.world - 1);
}

bool has(const NestItem& item, int tensor) {
    return std::ranges::find(item.tensors, tensor) != item.tensors.end();
}

// Returns where the chosen layer stands among those of the GPU; the first layer where it has none like it.
std::size_t item_of(const std::vector<NestItem>& items, std::int64_t layer) {
    const auto is_layer = [](const NestItem& item) { return item.layer >= 0; };
    const auto first = static_cast<std::size_t>(std::ranges::find_if(items, is_layer) - items.begin());
    const auto layers = std::ranges::count_if(items, is_layer);
    if (layer == ZoomViewState::kEmbedding && items.front().layer < 0) return 0;
    if (layer == ZoomViewState::kHead && items.back().layer < 0) return items.size() - 1;
    if (layers == 0) return 0;
    return first + static_cast<std::size_t>(std::clamp<std::int64_t>(layer, 0, layers - 1));
}

std::int64_t layer_of(const std::vector<NestItem>& items, std::size_t item) {
    if (items[item].layer < 0) return item == 0 ? ZoomViewState::kEmbedding : ZoomViewState::kHead;
    const auto before = items.begin() + static_cast<std::ptrdiff_t>(item);
    return std::count_if(items.begin(), before, [](const NestItem& i) { return i.layer >= 0; });
}

// Returns the matrix that is shown first: the experts' first in their fold, the output of attention in the
// dense one.
int first_tensor(const Nest& nest, const NestItem& item) {
    const auto find = [&](auto&& wanted) {
        const auto it = std::ranges::find_if(item.tensors, [&](int i) { return wanted(nest.tensors[i]); });
        return it != item.tensors.end() ? *it : -1;
    };
    const bool experts = nest.fold == Fold::experts;
    int found =
        find([&](const Placement& p) { return experts ? p.expert : p.id == TensorId::attention_output; });
    if (found < 0) found = find([&](const Placement& p) { return p.expert == experts; });
    return found >= 0 ? found : item.tensors.front();
}

// Follows what is chosen, here or elsewhere: the GPU, its layer, the tensor. The fold decides between a
// tensor of the experts and one of the dense mesh.
void follow(const Scene& scene, ZoomViewState& s, std::uint64_t revision) {
    const NestOf of{revision, fold_of(scene)};
    if (s.nest.update(of, [&] { return nest_of(scene.plan, scene.evaluation.mesh, of.fold); })) {
        const auto columns = static_cast<int>(s.nest->levels.size() + kZoomInside);
        s.filled = std::min(s.filled, columns - 1), s.column = std::min(s.column, columns - 1);
        s.begun_s = -1;
    }
    const Nest& nest = *s.nest;
    s.rank = followed_rank(scene, s);
    s.layers.update({of, s.rank}, [&] { return children_of(nest, path_of_rank(nest, s.rank)); });
    const std::vector<NestItem>& items = s.layers->items;
    if (items.empty()) return;
    const Selection& sel = scene.selection;
    int wanted = sel.tensor >= 0 && sel.activation < 0 ? sel.tensor : s.tensor;
    const bool known = wanted >= 0 && wanted < static_cast<int>(nest.tensors.size());
    if (!known || nest.tensors[wanted].expert != (nest.fold == Fold::experts)) wanted = -1;
    s.item = item_of(items, s.layer);
    // A layer like the chosen one need not have the tensor: the first that has it is shown, if there is one.
    const auto fits = [&](const NestItem& item) {
        if (wanted >= 0) return has(item, wanted);
        return nest.fold == Fold::dense || nest.tensors[first_tensor(nest, item)].expert;
    };
    if (!fits(items[s.item])) {
        const auto other = std::ranges::find_if(items, fits);
        if (other != items.end()) s.item = static_cast<std::size_t>(other - items.begin());
    }
    s.tensor = wanted >= 0 && has(items[s.item], wanted) ? wanted : first_tensor(nest, items[s.item]);
    s.facts.update({of, s.rank, s.item, s.tensor},
                   [&] { return zoom_facts(scene, nest, *s.layers, s.rank, s.item, s.tensor); });
}

// Fills the view with a column; -1: all columns are shown.
void fly(Ui& ui, ZoomViewState& s, int column) {
    s.filled = column;
    if (column >= 0) s.column = column;
    s.from.clear();
    for (const ZoomColumn& c : s.columns) s.from.push_back(c.place);
    s.lasts_s = s.tours ? kTourFlight_s : kFlight_s;
    s.begun_s = ui.state().reduced_motion ? -1 : ui.frame().time_s;
    ui.state().wants_frame = true;
}

// Returns how far the flight has come; it ends there.
double flown(Ui& ui, ZoomViewState& s) {
    if (!flying(s)) return 1;
    const double t = std::clamp((ui.frame().time_s - s.begun_s) / s.lasts_s, 0.0, 1.0);
    if (t >= 1)
        s.begun_s = -1;
    else
        ui.state().wants_frame = true;
    return 1 - (1 - t) * (1 - t) * (1 - t);
}

std::size_t count_in(const ZoomViewState& s, std::size_t column) {
    const std::size_t levels = s.nest->levels.size();
    if (column < levels) return static_cast<std::size_t>(s.nest->levels[column].count);
    if (column == levels) return s.layers->items.size();
    return column == levels + 1 ? s.layers->items[s.item].tensors.size() : 1;
}

std::size_t taken_in(const ZoomViewState& s, std::size_t column) {
    const std::size_t levels = s.nest->levels.size();
    if (column < levels) return static_cast<std::size_t>(path_of_rank(*s.nest, s.rank)[column]);
    if (column == levels) return s.item;
    const std::vector<int>& tensors = s.layers->items[s.item].tensors;
    return column > levels + 1
               ? 0
               : static_cast<std::size_t>(std::ranges::find(tensors, s.tensor) - tensors.begin());
}

// Takes the i-th thing of a column, in every view: a GPU and its stage, a layer, a tensor.
void take(Scene& scene, ZoomViewState& s, std::size_t column, std::size_t i) {
    const Nest& nest = *s.nest;
    const std::size_t levels = nest.levels.size();
    Selection& sel = scene.selection;
    s.column = static_cast<int>(column);
    if (column <= levels && sel.rank != s.rank) sel.pick_rank(s.rank);
    if (column < levels) {
        const NestLevel& level = nest.levels[column];
        sel.pick_rank(rank_with(nest, s.rank, column, static_cast<std::int64_t>(i)));
        sel.show_mesh(nest.fold == Fold::experts);
        if (level.kind == NestKind::stage) sel.stage = static_cast<int>(i);
        sel.choose(level.group);
        return;
    }
    const std::vector<NestItem>& items = s.layers->items;
    if (column == levels) {
        s.layer = layer_of(items, i);
        const bool kept = has(items[i], s.tensor);
        s.tensor = kept ? s.tensor : first_tensor(nest, items[i]);
        if (sel.tensor >= 0) sel.tensor = s.tensor, sel.activation = -1;
    } else if (column == levels + 1) {
        s.layer = layer_of(items, s.item);
        s.tensor = sel.tensor = items[s.item].tensors[i];
        sel.activation = -1;
        sel.tensor_state = TensorState::parameters;
        sel.topic = Selection::Topic::tensor;
    }
    sel.show_mesh(scene.evaluation.mesh.has_experts && nest.tensors[s.tensor].expert);
}

// Flies on where a flight has ended: a column deeper, from the deepest back to all of them, and then it is
// over.
void tour(Ui& ui, Scene& scene, ZoomViewState& s) {
    if (s.tour_asked) {
        s.tour_asked = false;
        s.tours = !ui.state().reduced_motion && !ui.state().for_picture;
        s.rests_until_s = ui.frame().time_s + kTourFlight_s;
        if (s.tours) fly(ui, s, -1);
    }
    if (!s.tours) return;
    ui.state().wants_frame = true;
    const double now_s = ui.frame().time_s;
    if (flying(s)) {
        s.rests_until_s = now_s + kTourRest_s;
        return;
    }
    if (now_s < s.rests_until_s) return;
    if (s.filled + 1 < static_cast<int>(s.columns.size())) return fly(ui, s, s.filled + 1);
    fly(ui, s, -1);
    s.tours = false;
    scene.next_hover.message = "The columns are yours: a click takes a box, a double click goes in.";
}

// Returns by how much the arrows go on among the things of the keyboard's column: along its rows where it
// fills the view, else from one to the next.
std::int64_t steps_in_column(const ViewKeys& keys, const ZoomViewState& s) {
    const bool fills = s.filled >= 0;
    const ZoomColumn& c = s.columns[static_cast<std::size_t>(s.column)];
    const std::int64_t down = fills && c.grid.boxes > 0 ? c.grid.cols * c.grid.each : 1;
    std::int64_t by = 0;
    if (keys.pressed({Key::down}, true)) by += down;
    if (keys.pressed({Key::up}, true)) by -= down;
    if (fills && keys.pressed({Key::right}, true)) by += 1;
    if (fills && keys.pressed({Key::left}, true)) by -= 1;
    return by;
}

// Left and Right go from column to column, Up and Down through one. Enter fills the view with it, and then
// goes a column deeper, Backspace back; Escape shows all columns.
void answer_keys(Ui& ui, Scene& scene, ZoomViewState& s) {
    ViewKeys& keys = scene.keys;
    if (text_field_active()) return;
    const Id focus = ui.state().focus;  // the switch or tab that opened the page may still have it
    bool mine = focus == ui.id("zoom.canvas") || focus == ui.id("view.mesh") || !ui.state().focus_visible;
    for (std::uint64_t i = 0; i < 5; ++i) mine = mine || focus == ui.id("mesh.which", i);
    const auto last = static_cast<int>(s.columns.size()) - 1;
    if (s.filled >= 0 && keys.pressed({Key::escape})) {
        keys.took_escape = true;
        return fly(ui, s, -1);
    }
    if (s.filled >= 0 && keys.pressed({Key::home})) fly(ui, s, -1);
    if (!mine) return;
    if (s.filled >= 0 && keys.pressed({Key::backspace})) return fly(ui, s, s.filled - 1);
    const bool left = keys.pressed({Key::left}, true), right = keys.pressed({Key::right}, true);
    const bool arrow = left || right || keys.pressed({Key::up}, true) || keys.pressed({Key::down}, true);
    if (arrow && s.column < 0) return take(scene, s, 0, taken_in(s, 0));
    if (arrow && s.filled < 0 && (left || right)) {
        s.column = std::clamp(s.column + (right ? 1 : -1), 0, last);
    } else if (arrow) {
        const auto column = static_cast<std::size_t>(s.column);
        const auto most = static_cast<std::int64_t>(count_in(s, column)) - 1;
        const auto at = static_cast<std::int64_t>(taken_in(s, column));
        const std::int64_t to = std::clamp<std::int64_t>(at + steps_in_column(keys, s), 0, most);
        if (to != at) take(scene, s, column, static_cast<std::size_t>(to));
    }
    if (keys.pressed({Key::enter}) && s.filled < last)
        fly(ui, s, s.filled < 0 ? std::max(s.column, 0) : s.filled + 1);
}

// Returns what lies under the mouse.
ZoomUnder under_mouse(Ui& ui, const ZoomViewState& s) {
    const Vec2 mouse = ui.frame().mouse;
    for (std::size_t k = 0; k < s.columns.size(); ++k) {
        const ZoomColumn& c = s.columns[k];
        if (!c.shown || c.on_strip || !c.place.contains(mouse)) continue;
        ZoomUnder under{static_cast<int>(k), c.grid.boxes > 0 ? c.grid.at(mouse) : -1};
        for (std::size_t i = 0; i < c.matrices.size(); ++i)
            if (c.matrices[i].r.contains(mouse)) under.box = static_cast<std::int64_t>(i);
        return under;
    }
    return {};
}

// Returns which thing of a column a box stands for: the taken one where the box has it, else the box' first.
std::size_t thing_in(const ZoomViewState& s, ZoomUnder under) {
    const auto column = static_cast<std::size_t>(under.column);
    const ZoomColumn& c = s.columns[column];
    if (c.grid.boxes == 0) {
        const std::vector<int>& tensors = s.layers->items[s.item].tensors;
        const int tensor = c.matrices[static_cast<std::size_t>(under.box)].tensor;
        return static_cast<std::size_t>(std::ranges::find(tensors, tensor) - tensors.begin());
    }
    const std::size_t taken = taken_in(s, column);
    const auto each = static_cast<std::size_t>(c.grid.each), box = static_cast<std::size_t>(under.box);
    return taken / each == box ? taken : box * each;
}

std::string card_of(const Scene& scene, const ZoomViewState& s, ZoomUnder under) {
    const Nest& nest = *s.nest;
    const std::size_t levels = nest.levels.size(), column = static_cast<std::size_t>(under.column);
    const std::size_t i = thing_in(s, under);
    const std::string click = "\nA click takes it, a double click goes on from it.";
    if (column > levels) return cut_sentence(nest, s.layers->items[s.item].tensors[i], s.rank) + click;
    if (column == levels)
        return s.layers->items[i].label + "\n" + memory_text(s.layers->items[i].bytes)
               + " of parameters on rank " + thousands(s.rank) + click;
    const NestLevel& level = nest.levels[column];
    const std::int64_t each = s.columns[column].grid.each, first = under.box * each;
    const std::int64_t rank = rank_with(nest, s.rank, column, static_cast<std::int64_t>(i));
    std::string text(name_of(level.kind));
    if (each > 1)
        text += "s " + thousands(first) + " to " + thousands(std::min(first + each, level.count) - 1);
    else
        text += " " + thousands(first);
    text += "\n" + plural(level.gpus, "GPU", "GPUs") + (level.gpus > 1 ? ", rank " : ": rank ")
            + thousands(rank) + (level.gpus > 1 ? " among them" : "");
    if (const std::string host = host_of(scene, rank); !host.empty()) text += " on " + host;
    return text + click;
}

void answer_mouse(Ui& ui, Scene& scene, ZoomViewState& s, const Hit& hit, ZoomUnder under) {
    if (!hit.hovered || under.column < 0) return;
    const auto column = static_cast<std::size_t>(under.column);
    const auto last = static_cast<int>(s.columns.size()) - 1;
    if (const float by = ui.take_wheel(s.columns[column].place); by > 0 && s.filled != under.column)
        return fly(ui, s, under.column);
    else if (by < 0 && s.filled >= 0)
        return fly(ui, s, -1);
    if (under.box < 0) return;
    const std::size_t i = thing_in(s, under);
    if (column < s.nest->levels.size()) {
        scene.next_hover.rank = rank_with(*s.nest, s.rank, column, static_cast<std::int64_t>(i));
        if (s.nest->levels[column].kind == NestKind::stage)
            scene.next_hover.stage = static_cast<int>(under.box * s.columns[column].grid.each);
    }
    if (hit.double_clicked) {
        take(scene, s, column, i);
        return fly(ui, s, std::min(under.column + 1, last));
    }
    if (hit.clicked && hit.released) take(scene, s, column, i);
    if (!hit.held) ui.tooltip(card_of(scene, s, under));
}

// Draws "back", the switch between the folds, and "fly", as far as the row has room.
void draw_controls(Ui& ui, Rect head_row, Scene& scene, ZoomViewState& state) {
    if (head_row.w >= 72) {
        if (ui.button("zoom.out", head_row.cut_right(72), "back", 0, state.filled >= 0)) fly(ui, state, -1);
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

// Writes the sentence over the columns, in two lines where one has no room.
void draw_sentence(Ui& ui, Rect& room, const std::string& sentence) {
    Canvas& c = ui.canvas();
    constexpr float kLarge = 16, kSmall = 13;
    const bool large =
        room.h > 220 && c.text_width(sentence, ui.style(kLarge, Tone::text, Face::semibold)) <= room.w;
    const TextStyle style = ui.style(large ? kLarge : kSmall, Tone::text, Face::semibold);
    room.cut_top(c.paragraph(room, sentence, style, large ? 24 : 18) + 8);
}

// Answers the heads of columns and the boxes of the strip: a click fills the view with the column.
void answer_heads(Ui& ui, Scene& scene, ZoomViewState& s) {
    for (std::size_t k = 0; k < s.columns.size(); ++k) {
        const ZoomColumn& c = s.columns[k];
        if (!c.shown) continue;
        Rect head = c.place;
        if (!c.on_strip) head.h = std::max(0.0f, c.body.y - c.place.y);
        // Enter belongs to the columns themselves: no head takes the keyboard.
        const Hit hit = ui.area(c.on_strip ? "zoom.way" : "zoom.head", head, k, true, false);
        const bool fills = s.filled == static_cast<int>(k);
        if (hit.clicked) fly(ui, s, fills ? -1 : static_cast<int>(k));
        if (!hit.hovered) continue;
        const std::string action =
            fills ? "A click shows all columns." : "A click fills the view with this column.";
        if (k < s.nest->levels.size()) {
            const GroupKind group = s.nest->levels[k].group;
            scene.next_hover.group = group;
            names_axis(ui, group, head, action);
            if (group != GroupKind::edp && group != GroupKind::etp && !is_part_of_edp(group))
                continue;  // its card says the rest
        }
        ui.tooltip(taken_name(s, k) + "\n" + action);
    }
}

}  // namespace

void draw_zoom(Ui& ui, Rect head_row, Rect room, Scene& scene, ZoomViewState& state, std::uint64_t revision) {
    if (ui.state().for_picture) head_row = {};  // its controls serve a hand
    Canvas& c = ui.canvas();
    if (scene.evaluation.mesh.world <= 0) {
        c.text_in(room, "This layout has no mesh: see the problems.", ui.small(), Align::center);
        return;
    }
    // "dense | experts" and "back" go into a row of their own where the tabs leave too little.
    const float controls = scene.evaluation.mesh.has_experts ? 228 : 72;
    if (!ui.state().for_picture && head_row.w < controls && room.h > 200) {
        head_row = room.cut_top(24);
        room.cut_top(4);
    }
    follow(scene, state, revision);
    if (state.layers->items.empty()) return;
    draw_controls(ui, head_row, scene, state);
    draw_sentence(ui, room, state.facts->sentence);
    const auto touched = [&, rank = state.rank, tensor = state.tensor, layer = state.layer,
                          filled = state.filled, column = state.column] {
        return state.rank != rank || state.tensor != tensor || state.layer != layer || state.filled != filled
               || state.column != column;
    };
    lay_columns(ui, room, state, flown(ui, state));
    answer_heads(ui, scene, state);
    const Hit hit = ui.area("zoom.canvas", room);
    const ZoomUnder under = under_mouse(ui, state);
    answer_keys(ui, scene, state);
    answer_mouse(ui, scene, state, hit, under);
    if (touched() || hit.held) state.tours = false;  // a hand takes over
    tour(ui, scene, state);
    follow(scene, state, revision);
    const bool other = touched();
    if (other) lay_columns(ui, room, state, flown(ui, state));
    {
        const Canvas::Clip clip = c.clip(room.inset(-4, -2));
        draw_columns(ui, scene, state, hit.hovered && !other ? under : ZoomUnder{});
    }
    if (hit.focused) ui.focus_ring(room.inset(-2), 2);
}

Table zoom_data(const Scene& scene, const ZoomViewState& state) {
    const Fold fold = fold_of(scene);
    NestPath path;
    if (scene.evaluation.mesh.world > 0) {
        const Nest nest = nest_of(scene.plan, scene.evaluation.mesh, fold);
        path = path_of_rank(nest, followed_rank(scene, state));
        path.push_back(static_cast<std::int64_t>(state.item));
        const NestChildren tensors = children_of(nest, path);
        for (std::int64_t i = 0; i < tensors.count; ++i)
            if (tensors.items[static_cast<std::size_t>(i)].tensors.front() == state.tensor) path.push_back(i);
    }
    return nest_table(scene.plan, scene.evaluation, fold, path);
}

}  // namespace pentamesh::ui
