#include "app/ui/views/map/view.h"

#include "app/tables/map.h"
#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "app/ui/scene/view_head.h"
#include "core/mesh/layout_name.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace pentamesh::ui {

namespace {

void keep(const Scene& scene, MapViewState& s, std::uint64_t revision) {
    s.figures.update({revision, s.style}, [&](MapFigures& f) {
        const GroupSummaries& groups = scene.evaluation.groups;
        const bool shards =
            groups[GroupKind::dp_shard].degree > 1 && groups[GroupKind::dp_replicate].degree <= 1;
        f.data = shards ? GroupKind::dp_shard : GroupKind::dp_replicate;
        f.rows = map_rows(scene.plan, scene.evaluation, s.style);
        f.levels = map_levels(scene.plan, f.rows);
        f.comparison = pipeline_or_sharding(scene.plan, scene.evaluation);
        f.recipe = map_recipe(scene.plan, scene.evaluation);
        f.combinations = map_combinations(scene.plan, scene.evaluation);
    });
}

constexpr float kStyleWidth = 250;
constexpr std::array<std::string_view, 2> kStyles{"axes + modifiers", "FSDP, SP as rows"};

// Says whose figures the page shows: "figures of a step of a GPU of stage 3 of 16"; empty where every GPU has
// the same.
std::string whose_figures(const Scene& scene, MapPage page) {
    const Comm& comm = scene.evaluation.comm;
    if (comm.stages.devices <= 1
        || (page != MapPage::compact && page != MapPage::axes && page != MapPage::wires))
        return {};
    return "figures of a step of " + rows_device_text(comm) + " of " + thousands(comm.stages.devices);
}

// Draws the switches for the page and the style of the modifiers, in the head's row or, where that is short,
// in a row of their own.
void switches(Ui& ui, Rect row, Rect& room, const Scene& scene, MapViewState& state) {
    const int before = static_cast<int>(state.page);
    if (ui.state().for_picture) {  // a picture has no switches: they are a subtitle
        const auto style = static_cast<std::size_t>(state.style);
        std::string words(state.page == MapPage::axes ? kStyles[style]
                                                      : kMapPages[static_cast<std::size_t>(before)]);
        if (const std::string whose = whose_figures(scene, state.page); !whose.empty()) words += ", " + whose;
        ui.label(row, words, ui.style(13, Tone::secondary));
        return;
    }
    const Rect place = head_place(row, room, segments_width(ui, kMapPages, 296, before));
    const int page = ui.segments("map.page", place, kMapPages, before);
    if (page != before) state.page = static_cast<MapPage>(page), state.page_chosen = true, state.scroll = {};
    const auto style_in = [&](Rect& in) {
        choose(ui, "map.style", in.cut_left(kStyleWidth), kStyles, state.style);
        in.cut_left(std::min(in.w, 16.0f));
    };
    const bool styles = state.page == MapPage::axes;
    if (styles && row.w >= kStyleWidth) {
        style_in(row);
    } else if (styles && room.h > 360) {
        Rect own = room.cut_top(30);
        own.h = 24;
        style_in(own);
        row = own;
    }
    const std::string whose = whose_figures(scene, state.page);
    if (whose.empty()) return;
    const TextStyle words = ui.style(13, Tone::secondary);
    if (!write_whole(ui, row, whose, words) && room.h > 300) ui.label(room.cut_top(20), whose, words);
}

// Writes the name of the layout, and why.
void caption(Ui& ui, Rect& room, const Scene& scene) {
    const LayoutName name = layout_name(scene.plan, scene.evaluation.mesh);
    const std::string bold = name.name + ":";
    const TextStyle plain = ui.style(13, Tone::secondary);
    const float w = ui.canvas().text_width(bold, ui.title()) + 6;
    Rect row = room.cut_top(20);
    ui.canvas().text_in(row, bold, ui.title());
    if (w + ui.canvas().text_width(name.reason, plain) > row.w && room.h > 420) {  // the why under the name
        room.cut_top(ui.canvas().paragraph(room, name.reason, plain, 18) + 2);
        return;
    }
    row.cut_left(std::min(row.w, w));
    if (row.w > 40 && ui.canvas().text_in(row, name.reason, plain) && ui.hovers(row))
        ui.tooltip(bold + "\n" + name.reason);
}

void walk_rows(Scene& scene, MapViewState& state) {
    const ViewKeys& keys = scene.keys;
    const int by = keys.pressed({Key::right_bracket}) ? 1 : keys.pressed({Key::left_bracket}) ? -1 : 0;
    if (by == 0) return;
    const auto n = static_cast<int>(state.figures->rows.size());
    select_row(scene, state, (std::max(0, selected_row(scene, state)) + by + n) % n);
}

// Draws the whole as one sheet: the table, and under it the blocks that have room.
void draw_axes(Ui& ui, Rect room, Scene& scene, MapViewState& state) {
    const float low = map_least_row(room.w);
    constexpr float kCard = 150, kGap = 12;
    float loaves = map_loaves_width(room.w);
    const auto high = [&](float row) { return map_table_height(ui, state, room.w, row, loaves); };
    if (room.h < high(low) + kCard && room.h >= map_table_height(ui, state, room.w, low, 0) + kCard)
        loaves = 0;  // words that wrap next to them would take the card's place
    const float least = high(low), most = high(std::max(low, kMapRowHigh));
    if (room.h < least + kCard) {
        ui.state().hidden = std::max(ui.state().hidden, std::ceil(least + kCard - room.h));
        draw_map_table(ui, room, scene, state, loaves);
        return;
    }
    const bool beside = room.w >= 860;  // the wires are next to the card
    const float card_w = beside ? std::floor(room.w * 0.47f) : room.w;
    const float card_h = std::max(kCard, map_card_height(ui, card_w, scene, state));
    const float spare = std::max(0.0f, room.h - least - card_h - kGap);
    const float table = std::min(most, least + spare * 0.5f);
    draw_map_table(ui, room.cut_top(table), scene, state, loaves);
    room.cut_top(kGap);
    if (!beside) {
        draw_map_card(ui, room, scene, state);
        return;
    }
    Rect first = room.h > 470 ? room.cut_top(std::max(card_h, std::min(280.0f, room.h * 0.5f))) : room;
    const bool more = first.h < room.h + 1 && first.y < room.y;
    const Rect card = first.cut_left(card_w);
    first.cut_left(32);
    draw_map_card(ui, card, scene, state);
    draw_map_wires(ui, first, scene, state);
    if (!more) return;
    room.cut_top(24);
    Rect left = room.cut_left(std::floor(room.w * 0.47f));
    room.cut_left(32);
    draw_map_recipe(ui, left, scene, state);
    draw_map_comparison(ui, room, state);
}

void draw_choose(Ui& ui, Rect room, Scene& scene, MapViewState& state) {
    constexpr float kGap = 20;
    ScrollArea area(ui, "map.choose", room, state.scroll);
    room = area.room;
    room.cut_right(10);  // the scroll bar's
    const float top = room.y;
    float end = 0;
    if (room.w >= 900) {
        // The right side, whose lines wrap, gets the width that the left side, whose lines do not, cannot
        // use.
        Rect left = room.cut_left(
            std::floor(room.w < 1200 ? room.w * 0.42f : std::clamp(room.w * 0.38f, 524.0f, 620.0f)));
        room.cut_left(32);
        draw_map_recipe(ui, left, scene, state);
        left.cut_top(kGap);
        draw_map_combinations(ui, left, state);
        draw_map_comparison(ui, room, state);
        end = std::max(left.y, room.y);
    } else {
        draw_map_recipe(ui, room, scene, state);
        room.cut_top(kGap);
        draw_map_comparison(ui, room, state);
        room.cut_top(kGap);
        draw_map_combinations(ui, room, state);
        end = room.y;
    }
    area.room.cut_top(end - top);
}

}  // namespace

std::optional<PlanEdit> draw_map(Ui& ui, Rect head_row, Rect room, Scene& scene, MapViewState& state,
                                 std::uint64_t revision) {
    const Rect whole{room.x, head_row.y, room.w, room.bottom() - head_row.y};  // with its tabs and switches
    constexpr float kWideWindow = 1400;
    if (!state.page_chosen && !ui.state().for_picture)
        state.page = ui.frame().size.x < kWideWindow ? MapPage::compact : MapPage::axes;
    const bool space = state.page == MapPage::wires && takes_space(ui, whole, scene);
    keep(scene, state, revision);
    switches(ui, head_row, room, scene, state);
    keep(scene, state, revision);
    walk_rows(scene, state);
    if (room.h > 230) caption(ui, room, scene);
    room.cut_top(4);
    switch (state.page) {
    case MapPage::compact: draw_map_compact(ui, room, scene, state); break;
    case MapPage::axes: draw_axes(ui, room, scene, state); break;
    case MapPage::wires: return draw_map_race(ui, room, scene, state, revision, space);
    case MapPage::names: draw_map_names(ui, room, scene, state); break;
    case MapPage::choose: draw_choose(ui, room, scene, state); break;
    case MapPage::tables: draw_map_tables(ui, room, scene, state); break;
    }
    return std::nullopt;
}

Table map_data(const Scene& scene, const MapViewState& state) {
    if (state.page == MapPage::tables) return map_reference_table();
    if (state.page == MapPage::wires) return wires_table(wire_race(scene.plan, scene.evaluation));
    return map_table(scene.plan, map_rows(scene.plan, scene.evaluation, state.style));
}

}  // namespace pentamesh::ui
