#include "app/ui/views/mesh/mesh_menu.h"

#include "app/ui/kit/format.h"
#include "app/ui/kit/menu.h"
#include "app/ui/panels/inspector.h"
#include "app/ui/views/mesh/mesh_figure.h"
#include "core/base/number.h"
#include "core/plan/edits.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pentamesh::ui {

namespace {

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
    const auto rank = parse_whole(text);
    return rank && *rank >= 0 ? rank : std::nullopt;
}

void go_to_ranks(Scene& scene, const std::string& text) {
    const auto rank = parse_rank(text);
    if (!rank && scene.evaluation.valid) {  // a list of them: what do they share?
        const std::string wrong = select_ranks(scene, text);
        if (!wrong.empty()) scene.next_hover.message = wrong;
        return;
    }
    if (rank && *rank < scene.evaluation.mesh.world) {
        scene.selection.pick_rank(*rank);
    } else {
        scene.next_hover.message =
            "there is no rank " + text + ": ranks are 0 to " + thousands(scene.evaluation.mesh.world - 1);
    }
}

// Draws a menu; returns the index of the item that was picked, -1 for none, and closes it then.
int pick_item(Ui& ui, const std::vector<MenuItem>& items, MeshViewState& state) {
    const MenuResult r =
        draw_menu(ui, "mesh.menu", state.menu_anchor, items, state.menu_state, false, state.menu_anchor.w);
    if (r.picked >= 0 || r.closed) state.menu = MeshMenu::none;
    return r.picked;
}

std::string second_name(const MeshViewState& state) {
    return state.second < 0 ? "none"
                            : std::string(order_presets()[static_cast<std::size_t>(state.second)].name);
}

void draw_more(Ui& ui, MeshViewState& state) {
    const Rect anchor = state.menu_anchor;
    const std::string figure(mesh_figures()[static_cast<std::size_t>(state.figure)].title);
    const std::vector<MenuItem> items{{.label = "Colour of the cells…", .right = figure},
                                      {.label = "Go to ranks…"},
                                      {.label = "Compare with another order…", .right = second_name(state)}};
    switch (pick_item(ui, items, state)) {
    case 0: open_mesh_menu(state, MeshMenu::figures, anchor); break;
    case 1: begin_going_to_ranks(state); break;
    case 2: open_mesh_menu(state, MeshMenu::orders, anchor); break;
    default: break;
    }
}

void draw_figures(Ui& ui, const Scene& scene, MeshViewState& state) {
    const auto figures = mesh_figures();
    std::vector<MenuItem> items;
    std::vector<int> figure;
    for (std::size_t i = 0; i < figures.size(); ++i) {
        if (!offers_figure(scene, figures[i])) continue;
        const bool other =
            !figure.empty() && figures[static_cast<std::size_t>(figure.back())].of != figures[i].of;
        items.push_back({.label = std::string(figures[i].title),
                         .checked = state.figure == static_cast<int>(i),
                         .separator = other});
        figure.push_back(static_cast<int>(i));
    }
    if (const int picked = pick_item(ui, items, state); picked >= 0)
        choose_figure(state, figure[static_cast<std::size_t>(picked)]);
}

void draw_orders(Ui& ui, MeshViewState& state) {
    std::vector<MenuItem> items{{.label = "no other order", .checked = state.second < 0}};
    for (const OrderPreset& o : order_presets())
        items.push_back({.label = std::string(o.name), .separator = items.size() == 1});
    if (state.second >= 0) items[static_cast<std::size_t>(state.second) + 1].checked = true;
    if (const int picked = pick_item(ui, items, state); picked >= 0) choose_second_order(state, picked - 1);
}

}  // namespace

void mesh_menu_button(Ui& ui, Rect& row, MeshViewState& state) {
    if (ui.state().for_picture) return;
    const Rect box = row.cut_right(26);
    row.cut_right(10);
    if (ui.hovers(box))
        ui.tooltip("More of the mesh\nColour of the cells, go to ranks, compare with another order.");
    if (ui.button("mesh.more", box, "…")) open_mesh_menu(state, MeshMenu::more, box);
}

void open_mesh_menu(MeshViewState& state, MeshMenu menu, Rect anchor) {
    state.menu = menu;
    state.menu_anchor = anchor;
    state.menu_state = {};
}

void draw_mesh_menu(Ui& ui, const Scene& scene, MeshViewState& state) {
    switch (state.menu) {
    case MeshMenu::none: break;
    case MeshMenu::more: draw_more(ui, state); break;
    case MeshMenu::figures: draw_figures(ui, scene, state); break;
    case MeshMenu::orders: draw_orders(ui, state); break;
    }
}

void choose_second_order(MeshViewState& state, int order) {
    state.second = order;
    if (order < 0) return;
    state.folds = state.zooms = state.token.shown = false;
    state.figure = 0;
}

void update_second_order(const Scene& scene, MeshViewState& state, std::uint64_t revision) {
    if (state.second < 0) return;
    state.other.update({revision, state.second}, [&](OtherPlan& other) {
        other.plan = scene.plan;
        other.plan.layout.order = order_presets()[static_cast<std::size_t>(state.second)].order;
        evaluate(other.plan, other.evaluation, {.timeline = false, .messages = false});
    });
}

void begin_going_to_ranks(MeshViewState& state) {
    state.folds = state.zooms = state.token.shown = false;
    state.goes_to = state.goes_to_fresh = true;
    state.go_to.clear();
}

void draw_rank_field(Ui& ui, Rect field, Scene& scene, MeshViewState& state) {
    if (!state.goes_to || field.w <= 0) return;
    const Rect name = field.cut_left(field.w * 0.4f);
    ui.canvas().text_in(name, "ranks", ui.small(), Align::right);
    field.cut_left(8);
    const Ui::Typing typing = ui.typed_value("mesh.goto", field, state.go_to, state.goes_to_fresh);
    if (ui.state().edit == ui.id("mesh.goto"))
        state.goes_to_fresh = false;  // a menu may keep the keyboard for a frame
    if (typing == Ui::Typing::goes_on) return;
    state.goes_to = false;
    scene.keys.took_escape = scene.keys.took_escape || typing == Ui::Typing::dropped;
    if (typing == Ui::Typing::taken && !state.go_to.empty()) go_to_ranks(scene, state.go_to);
}

}  // namespace pentamesh::ui
