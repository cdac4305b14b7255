// Lists the names that people use, each under the axis that it belongs to.
#include "app/ui/panels/glossary_card.h"
#include "app/ui/views/map/view.h"

#include <algorithm>
#include <array>

namespace pentamesh::ui {

namespace {

constexpr std::array<MapRowId, 5> kAxes{MapRowId::dp, MapRowId::tp, MapRowId::pp, MapRowId::cp, MapRowId::ep};

void pick(Scene& scene, MapViewState& state, const GlossaryEntry& e, MapRowId axis) {
    state.name = e.id;
    select_row(scene, state, axis);
}

// Draws one name; used ones carry their axis' colour and a filled mark.
void chip(Ui& ui, Rect r, const GlossaryEntry& e, MapRowId axis, Scene& scene, MapViewState& state) {
    Canvas& c = ui.canvas();
    const bool used = used_in(e.id, scene.plan, scene.evaluation).value_or(false);
    const bool picked = state.name == e.id;
    const Hit hit = ui.area("map.name." + e.id, r);
    c.rect(r, ui.theme().raised, 6);
    const Color edge = picked || hit.hovered ? ui.theme().text
                       : used                ? color_of_row(ui.theme(), axis, state)
                                             : ui.theme().hairline;
    c.frame(r, edge, used || picked ? 1.5f : 1.0f, 6);
    Rect text = r.inset(10, 0);
    if (used) {
        c.circle({text.x + 3, text.center().y}, 3.5f, color_of_row(ui.theme(), axis, state));
        text.cut_left(13);
    }
    text.w += 4;
    c.text_in(text, e.term,
              ui.style(12, used || hit.hovered || picked ? Tone::text : Tone::secondary,
                       used ? Face::semibold : Face::regular));
    if (hit.focused) ui.focus_ring(r, 6);
    if (hit.clicked) pick(scene, state, e, axis);
}

float chip_width(Ui& ui, const GlossaryEntry& e, const Scene& scene) {
    const bool used = used_in(e.id, scene.plan, scene.evaluation).value_or(false);
    return ui.canvas().text_width(e.term, ui.style(12, Tone::text, used ? Face::semibold : Face::regular))
           + 22 + (used ? 13.0f : 0.0f);
}

// Draws the names of one axis, flowing; returns their height.
float flow(Ui& ui, Rect room, MapRowId axis, Scene& scene, MapViewState& state) {
    constexpr float kChip = 26, kGap = 8;
    float x = room.x, y = room.y;
    for (const GlossaryEntry& e : scene.glossary->entries) {
        if (!e.name || e.axis != words_of(axis).key || glossary_match(e, state.search) < 0) continue;
        const float w = std::min(room.w, chip_width(ui, e, scene));
        if (x + w > room.right() && x > room.x) x = room.x, y += kChip + kGap;
        chip(ui, {x, y, w, kChip}, e, axis, scene, state);
        x += w + kGap;
    }
    return x > room.x || y > room.y ? y - room.y + kChip : 0;
}

// Picks the name that fits best what was typed.
void pick_best(Scene& scene, MapViewState& state) {
    const GlossaryEntry* best = nullptr;
    for (const GlossaryEntry& e : scene.glossary->entries)
        if (e.name && glossary_match(e, state.search) >= 0
            && (best == nullptr || glossary_match(e, state.search) > glossary_match(*best, state.search)))
            best = &e;
    if (best == nullptr) return;
    for (const MapRowId axis : kAxes)
        if (best->axis == words_of(axis).key) pick(scene, state, *best, axis);
}

}  // namespace

void draw_map_names(Ui& ui, Rect room, Scene& scene, MapViewState& state) {
    Canvas& c = ui.canvas();
    if (scene.glossary == nullptr) {
        c.text_in(room, "The glossary could not be read.", ui.small(), Align::center);
        return;
    }
    const GlossaryEntry* shown = scene.glossary->find(state.name);
    Rect top = room.cut_top(28);
    bool changed = false;
    const bool entered = ui.text_field("map.search", top.cut_left(std::min(280.0f, top.w)), state.search,
                                       "find a name: FSDP, 1F1B, DeepEP", false, &changed);
    if (changed) state.scroll = {};
    top.cut_left(16);
    if (top.w > 180) {
        c.circle({top.x + 4, top.center().y}, 3.5f, ui.theme().text);
        top.cut_left(14);
        c.text_in(top, "filled: this plan uses it", ui.small());
    }
    room.cut_top(10);
    // The card of the picked name is right of the list or under it.
    if (shown != nullptr) {
        if (room.w >= 760) {
            const Rect card = room.cut_right(300);
            room.cut_right(24);
            glossary_text(ui, card, scene, *shown, false);
        } else {
            const float h = glossary_text(ui, room, scene, *shown, true);
            const Rect card = room.cut_bottom(std::min(h, room.h * 0.6f));
            room.cut_bottom(8);
            const Canvas::Clip clip = c.clip(card);
            glossary_text(ui, card, scene, *shown, false);
        }
    }
    ScrollArea area(ui, "map.names", room.inset(-3), state.scroll, {.pad = {3, 3}});
    const float label = room.w > 520 ? 170.0f : 44.0f;
    float y = area.room.y;
    const float begin = y;
    for (const MapRowId axis : kAxes) {
        const float h = flow(ui, {room.x + label, y + 8, room.w - label, room.h}, axis, scene, state);
        if (h <= 0) continue;  // nothing of that axis was found
        c.line({room.x, y}, {room.right(), y}, ui.theme().hairline);
        ui.swatch({room.x, y + 15}, color_of_row(ui.theme(), axis, state), 12);
        const TextStyle s =
            ui.style(13, Tone::text, is_selected(scene, state, axis) ? Face::semibold : Face::regular);
        if (const MapRow* r = find_row(state, axis)) name_row(ui, *r, {room.x, y + 8, label - 8, 26}, "");
        c.text_in({room.x + 20, y + 8, label - 28, 26},
                  label > 100 ? words_of(axis).name : words_of(axis).key, s);
        y += h + 16;
    }
    if (y == begin) c.text_in({room.x, room.y, room.w, 26}, "nothing is called that", ui.small());
    area.room.cut_top(y - begin);
    if (entered) pick_best(scene, state);
}

}  // namespace pentamesh::ui
