// Draws the order's chips: they are dragged, or moved by Alt and the arrow keys.
#include "app/ui/panels/plan_blocks.h"
#include "core/plan/changes.h"
#include "core/plan/factors.h"
#include "core/plan/names.h"
#include "core/plan/order_presets.h"

#include <cmath>

namespace pentamesh::ui {

namespace {

using Chips = std::array<Rect, kAxisCount>;
constexpr float kRowStep = 30, kChipHeight = 24;

// Chips flow over two or three rows. In a low window those that are off have no place
// next to those in use.
Chips lay_chips(Ui& ui, Rect room, const Plan& plan) {
    const AxisOrder& order = plan.layout.order;
    Chips chips{};
    const bool in_use = is_low(ui) && ranks_laid_out(plan) > 1;
    float x = room.x, y = room.y;
    for (std::size_t i = 0; i < order.size(); ++i) {
        chips[i] = {x, y, 0, kChipHeight};
        if (in_use && shown_factor(plan, order[i]) <= 1) continue;
        const float w = ui.canvas().text_width(name_of(order[i]), ui.style(12)) + 34;
        if (x + w > room.right() && x > room.x) x = room.x, y += kRowStep;
        chips[i] = {x, y, w, kChipHeight};
        x += w + 6;
    }
    return chips;
}

// The chip that is dragged takes the place under the mouse.
MaybeEdit drag_chip(Ui& ui, const Scene& scene, PlanPanelState& state, const Chips& chips, std::size_t i,
                    const Hit& hit) {
    const AxisOrder& order = scene.plan.layout.order;
    const int axis = static_cast<int>(order[i]);
    const bool begun = std::abs(hit.drag.x) + std::abs(hit.drag.y) > 4 || state.dragged_chip == axis;
    if (!hit.held || !begun) {
        if (state.dragged_chip == axis && !ui.frame().down[0]) state.dragged_chip = -1;
        return std::nullopt;
    }
    state.dragged_chip = axis;
    for (std::size_t j = 0; j < chips.size(); ++j)
        if (j != i && chips[j].contains(ui.frame().mouse))
            return PlanEdit{with_order(scene.plan, moved(order, i, j)), "order", "order-drag"};
    return std::nullopt;
}

MaybeEdit move_chip(Ui& ui, const Scene& scene, std::size_t i) {
    const bool ctrl = ui.frame().ctrl, alt = ui.frame().alt;
    if (!ctrl && !alt) return std::nullopt;
    const AxisOrder& order = scene.plan.layout.order;
    std::size_t to = i;
    if (pressed({.key = Key::right, .ctrl = ctrl, .alt = alt}) && i + 1 < order.size()) to = i + 1;
    if (pressed({.key = Key::left, .ctrl = ctrl, .alt = alt}) && i > 0) to = i - 1;
    if (to == i) return std::nullopt;
    return PlanEdit{with_order(scene.plan, moved(order, i, to)), "order", ""};
}

void draw_chip(Ui& ui, Rect r, const Plan& plan, Axis axis, const Hit& hit, bool dragged) {
    const bool on = shown_factor(plan, axis) > 1;
    if (dragged) r.y -= 2;
    Canvas& c = ui.canvas();
    c.rect(r, dragged || hit.hovered ? ui.theme().hairline : ui.theme().raised.alpha(on ? 1.0f : 0.45f), 6);
    c.frame(r, dragged ? ui.theme().text : ui.theme().hairline.alpha(on ? 1.0f : 0.6f), 1, 6);
    const Color swatch = color_of(ui.theme(), group_of(axis));
    ui.swatch({r.x + 8, r.center().y - 4}, on ? swatch : swatch.alpha(0.45f), 8);
    c.text_in({r.x + 22, r.y, r.w - 24, r.h}, name_of(axis), ui.style(12, on ? Tone::text : Tone::faint));
    if (hit.focused) ui.focus_ring(r, 6);
    if (hit.hovered && !hit.held)
        ui.tooltip(std::string(name_of(axis)) + "\ndrag to another place; Alt + arrows move it");
}

}  // namespace

MaybeEdit order_block(Ui& ui, Rect& room, const Scene& scene, PlanPanelState& state) {
    Rect head = room.cut_top(18);
    const AxisOrder& order = scene.plan.layout.order;
    constexpr float kWords = 140;  // of the heading
    const bool whole = head.w - ui.canvas().text_width(order_name(order), ui.style(11)) > kWords;
    ui.section(head, whole ? "ORDER, INNER TO OUTER" : "ORDER");
    const Rect preset = head.cut_right(124);
    const Hit pick = ui.area("order.preset", preset);
    ui.canvas().text_in(preset, order_name(order), ui.style(11, pick.hovered ? Tone::text : Tone::secondary),
                        Align::right);
    if (pick.focused) ui.focus_ring(preset, 3);
    if (pick.clicked) open_menu(state, "order", preset);
    room.cut_top(6);

    MaybeEdit edit;
    const Chips chips = lay_chips(ui, room, scene.plan);
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (chips[i].w <= 0) continue;
        const Hit hit = ui.area("order." + std::string(name_of(order[i])), chips[i]);
        if (auto e = drag_chip(ui, scene, state, chips, i, hit)) edit = std::move(e);
        if (hit.focused)
            if (auto e = move_chip(ui, scene, i)) edit = std::move(e);
        draw_chip(ui, chips[i], scene.plan, order[i], hit, state.dragged_chip == static_cast<int>(order[i]));
    }
    room.cut_top(chips.back().bottom() - room.y + (is_low(ui) ? 10 : 16));
    return edit;
}

}  // namespace pentamesh::ui
