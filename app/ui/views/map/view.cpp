#include "app/ui/views/map/view.h"

#include "app/tables/plan_tables.h"
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/panels/inspector.h"
#include "app/ui/scene/scene.h"
#include "core/mesh/places.h"

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
    if (!write_whole(ui, row, whose, words) && room.h > 300)
        room.cut_top(2 + ui.canvas().paragraph(room, whose, words, 18));
}

// Says which axis costs most here, and what of it.
std::string cost_sentence(const Scene& scene, const std::vector<MapRow>& rows) {
    const MapRow& most = rows[costliest_row(rows)];
    const std::string name(words_of(most.id).key);
    if (scene.evaluation.mesh.world <= 1) return "One GPU: no axis is on, nothing is sent.";
    if (most.verdict == Verdict::costly) return "Of the axes " + name + " costs most: " + most.reason + ".";
    if (most.cost_s() <= 0 || !scene.evaluation.step) return "No axis costs the step anything here.";
    return "No axis is costly here; " + name + " costs most of them, "
           + percent(most.cost_s() / scene.evaluation.step->time_s) + " of the step.";
}

// Writes what costs most, then the name of the layout, and why. The page of wires is about one message, not
// about what a step pays.
void caption(Ui& ui, Rect& room, const Scene& scene, const MapViewState& state) {
    const std::vector<MapRow>& rows = state.figures->rows;
    if (scene.evaluation.valid && state.page != MapPage::wires)
        room.cut_top(ui.canvas().paragraph(room, cost_sentence(scene, rows),
                                           ui.style(15, Tone::text, Face::semibold), 20));
    const LayoutName name = layout_name(scene.plan, scene.evaluation.mesh);
    const std::string bold = name.name + ":";
    const TextStyle plain = ui.style(13, Tone::secondary);
    const float w = ui.canvas().text_width(bold, ui.title()) + 6;
    Rect row = room.cut_top(20);
    const bool beside = w + ui.canvas().text_width(name.reason, plain) <= row.w;
    const float least = ui.state().for_picture ? 240 : 420;  // nobody hovers a picture
    const bool under = !beside && room.h > least;
    ui.canvas().text_in(row, beside || under ? bold : name.name, ui.title());
    if (under) {
        room.cut_top(ui.canvas().paragraph(room, name.reason, plain, 18) + 2);
        return;
    }
    if (beside) {
        row.cut_left(std::min(row.w, w));
        ui.canvas().text_in(row, name.reason, plain);
    } else if (ui.hovers(row)) {
        ui.tooltip(bold + "\n" + name.reason);
    }
}

void walk_rows(Scene& scene, MapViewState& state) {
    const ViewKeys& keys = scene.keys;
    const int by = keys.pressed({Key::right_bracket}) ? 1 : keys.pressed({Key::left_bracket}) ? -1 : 0;
    if (by == 0) return;
    const auto n = static_cast<int>(state.figures->rows.size());
    select_row(scene, state, (std::max(0, selected_row(scene, state)) + by + n) % n);
}

constexpr float kCompactHead = 22, kMostCompactRow = 80, kGroupHead = 24;
constexpr float kNarrowCompact = 620, kCaption = 64;  // narrower rows have no bar, and their wire is words

// In the narrowest rows words stand below the name, over all of the width, and no sentence is cut.
constexpr float kStackedCompact = 330, kStackedName = 20;

constexpr float least_compact_row(float width) {
    return width < kNarrowCompact ? 34.0f : 44.0f;
}
constexpr float group_head(float width) {
    return width < kNarrowCompact ? 20.0f : kGroupHead;
}
float least_compact_height(float width, std::size_t rows) {
    return kCompactHead + 2 * group_head(width) + static_cast<float>(rows) * least_compact_row(width);
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
    // Every row of the compact page comes before the words over them.
    const bool rows_first = state.page == MapPage::compact
                            && room.h < least_compact_height(room.w, state.figures->rows.size()) + kCaption;
    // The caption gives reasons; while a question is open, the page of wires leaves out which one an axis
    // crosses.
    const bool says_why = !rows_first && !(scene.asked && state.page == MapPage::wires);
    if (room.h > 230 && says_why) caption(ui, room, scene, state);
    room.cut_top(4);
    switch (state.page) {
    case MapPage::compact: draw_map_compact(ui, room, scene, state); break;
    case MapPage::axes:  // its columns need some width
        if (room.w < kStackedCompact)
            draw_map_compact(ui, room, scene, state);
        else
            draw_axes(ui, room, scene, state);
        break;
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

// Lists the names that people use, each under the axis that it belongs to.

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

// Draws the map's reference tables: what each axis works on and needs of the model, what it saves and costs.
// They are the same in any plan; the axes that this one uses stand out.

namespace {

constexpr float kLine = 17, kCellGap = 16, kPadY = 5, kName = 84;

// The first column is the axis.
constexpr std::array kScopeSizes{px(kName), share(1.0f), share(1.3f), share(1.1f), share(1.2f)};
constexpr std::array kMasterSizes{px(kName), share(1.1f), share(1.2f), share(1.3f), share(1.3f), share(1.2f)};

// Draws at the top of `room` and takes its height off it. `first` is the index of its rows' names.
template <std::size_t N>
void reference_table(Ui& ui, Rect& room, std::string_view title, const std::array<MapWordsColumn, N>& words,
                     const std::array<Size, N + 1>& sizes, Scene& scene, MapViewState& state,
                     std::uint64_t first) {
    Canvas& c = ui.canvas();
    ui.section(room.cut_top(20), title);
    const std::array<Rect, N + 1> head = columns(room.cut_top(20), sizes, kCellGap);
    for (std::size_t k = 0; k < N; ++k) ui.section(head[k + 1], in_capitals(words[k].title));
    for (int i = 0; i < kMapRowCount; ++i) {
        const auto id = static_cast<MapRowId>(i);
        const MapWords& w = words_of(id);
        const MapRow* const in_plan = find_row(state, id);
        const bool on = in_plan != nullptr && in_plan->verdict != Verdict::off;
        const TextStyle style = ui.small(on ? Tone::text : Tone::secondary);
        float h = kLine;
        for (std::size_t k = 0; k < N; ++k)
            h = std::max(h, c.paragraph_height(head[k + 1].w, w.*words[k].words, style, kLine));
        const Rect row = room.cut_top(h + 2 * kPadY);
        const Hit hit = ui.area("map.reference", row, first + static_cast<std::uint64_t>(i));
        c.line({row.x, row.y}, {row.right(), row.y}, ui.theme().hairline);
        row_ground(ui, row.inset(0, 1), hit, is_selected(scene, state, id));
        if (hit.clicked) select_row(scene, state, id);
        const std::array<Rect, N + 1> cells = columns(row.inset(0, kPadY), sizes, kCellGap);
        Rect name = cells[0];
        const bool modifier = id == MapRowId::zero || id == MapRowId::sp || id == MapRowId::etp;
        if (modifier) name.cut_left(12);
        row_mark(ui, {name.x + 6, name.y + (kLine - 11) / 2}, 11, modifier, on,
                 color_of_row(ui.theme(), id, state));
        name.cut_left(24);
        name.h = kLine;
        c.text_in(name, w.key, on ? ui.title() : ui.style(13, Tone::secondary));
        for (std::size_t k = 0; k < N; ++k) c.paragraph(cells[k + 1], w.*words[k].words, style, kLine);
    }
}

}  // namespace

void draw_map_tables(Ui& ui, Rect room, Scene& scene, MapViewState& state) {
    ScrollArea area(ui, "map.tables", room, state.scroll);
    room = area.room;
    room.cut_right(10);  // the scroll bar's
    const float top = room.y;
    reference_table(ui, room, "SCOPE: WHERE EACH WORKS, AND WHAT IT MUST KNOW", kMapScope, kScopeSizes, scene,
                    state, 0);
    room.cut_top(20);
    reference_table(ui, room, "MASTER TABLE: WHAT EACH CUTS, SAVES AND COSTS", kMapMaster, kMasterSizes,
                    scene, state, 100);
    area.room.cut_top(room.y - top);
}

// Draws the page `compact`: the axes on one screen, in two groups. One cuts the data, the other the model.

namespace {

constexpr std::array kOfData{MapRowId::dp, MapRowId::zero, MapRowId::cp};
constexpr std::array kOfModel{MapRowId::tp, MapRowId::sp, MapRowId::etp, MapRowId::pp, MapRowId::ep};

// Returns the places of a row's parts: loaf, name, words, wire, bar, mark. One without room has no width. The
// words of a narrow row have the width of the wire's drawing.
std::array<Rect, 6> place_compact(Rect row) {
    if (row.w < kStackedCompact) {
        Rect name = row.cut_top(kStackedName);
        const Rect mark = name.cut_right(14);
        row.cut_left(20);
        return {Rect{}, name, row, Rect{}, Rect{}, mark};
    }
    if (row.w < kNarrowCompact - 16)
        return columns(row, {px(0), px(80), share(), px(row.w >= 400 ? 62 : 0), px(0), px(14)}, 8);
    return columns(row, {px(92), px(118), share(1.1f), px(150), share(0.9f), px(20)}, 10);
}

void two_rows(Ui& ui, Rect cell, std::string_view first, const TextStyle& style, std::string_view second) {
    const float y = cell.center().y;
    const bool two = cell.h >= 28 && !second.empty();
    ui.label({cell.x, two ? y - 18 : y - 9, cell.w, 18}, first, style);
    if (two) ui.label({cell.x, y + 1, cell.w, 17}, second, ui.small());
}

// Holds what a row cuts and says, as it stands in its column: a sentence that is too long is wrapped.
struct CompactText {
    CompactWords words;
    TextStyle style;
    float cuts_h = 0, talks_h = 0;
    [[nodiscard]] float height() const { return cuts_h + talks_h; }
};

constexpr float kCompactLine = 15;

CompactText compact_text(Ui& ui, float width, const MapRow& r, float smaller = 0) {
    const float size = (width < 330 ? 12.0f : 13.0f) - smaller;
    CompactText out{compact_words(r),
                    ui.style(size, r.verdict != Verdict::off ? Tone::text : Tone::secondary)};
    out.cuts_h = ui.canvas().paragraph_height(width, out.words.cuts, out.style, kCompactLine);
    out.talks_h = ui.canvas().paragraph_height(width, out.words.talks, ui.small(), kCompactLine);
    return out;
}

void draw_compact_text(Ui& ui, Rect cell, const MapRow& r) {
    // A sentence loses no word as long as smaller type has room for it.
    constexpr float kLeastSize = 11;
    CompactText t = compact_text(ui, cell.w, r);
    for (float by = 0.5f; cell.h < t.height() && t.style.size - 0.5f >= kLeastSize; by += 0.5f)
        t = compact_text(ui, cell.w, r, by);
    if (cell.h < t.height()) {  // a line each, the first as large as its width lets it be
        t.style = compact_text(ui, cell.w, r).style;
        while (t.style.size - 0.5f >= kLeastSize && ui.canvas().text_width(t.words.cuts, t.style) > cell.w)
            t.style.size -= 0.5f;
        return two_rows(ui, cell, t.words.cuts, t.style, t.words.talks);
    }
    cell.cut_top((cell.h - t.height()) / 2);
    ui.canvas().paragraph(cell.cut_top(t.cuts_h), t.words.cuts, t.style, kCompactLine);
    ui.canvas().paragraph(cell, t.words.talks, ui.small(), kCompactLine);
}

double share_of_step(const Scene& scene, double seconds) {
    return scene.evaluation.step ? seconds / scene.evaluation.step->time_s : 0;
}

void draw_wire_cell(Ui& ui, Rect cell, const MapRow& r, const Cluster& cluster, Color color) {
    if (cell.w <= 0) return;
    if (r.modifier && r.verdict != Verdict::off) {
        ui.label(cell, std::string("with ") + (r.id == MapRowId::zero ? "dp" : "tp"), ui.small());
        return;
    }
    if (r.tier < 0 || r.sent_bytes <= 0) {
        ui.label(cell, r.verdict == Verdict::off ? "off" : "sends nothing", ui.small());
        return;
    }
    if (cell.w < 100) {  // no room for the line: its name and its bytes
        ui.label({cell.x, cell.center().y - 17, cell.w, 17}, tier_label(cluster, r.tier), ui.small());
        return ui.label({cell.x, cell.center().y, cell.w, 17}, traffic_text(r.sent_bytes),
                        ui.style(12, Tone::text, Face::semibold));
    }
    // A wire is thick by the logarithm of its bytes: 1 GB and more stand out.
    const auto thick =
        std::clamp(1.5f + 2.4f * static_cast<float>(std::log10(r.sent_bytes / 1e9)), 1.5f, 8.0f);
    const float y = cell.center().y;
    ui.canvas().line({cell.x, y - 9}, {cell.right(), y - 9}, color, thick,
                     mark_of_tier(ui.theme(), cluster, r.tier).dash);
    Rect words{cell.x, y, cell.w, 17};
    ui.canvas().text_in(words.cut_right(66), traffic_text(r.sent_bytes),
                        ui.style(12, Tone::text, Face::semibold), Align::right);
    const std::string part = bytes_that_cross(r);
    const std::array<std::string, 2> wordings{tier_label(cluster, r.tier) + (part.empty() ? "" : ": " + part),
                                              tier_label(cluster, r.tier)};
    ui.label(words, wording(ui, words.w, wordings, ui.small()), ui.small());
}

// Draws the share of the step that waits for the row, on the scale of the largest.
void draw_wait_cell(Ui& ui, Rect cell, const Scene& scene, const MapRow& r, double most, Color color) {
    if (cell.w <= 0) return;
    const Theme& theme = ui.theme();
    Canvas& c = ui.canvas();
    if (r.modifier || r.verdict == Verdict::off) {
        const double saves = r.without - scene.evaluation.memory.peak();
        const bool known = r.modifier && r.verdict != Verdict::off && r.without > 0;
        const std::string words = !known      ? r.reason
                                  : saves > 0 ? "saves " + memory_text(saves) + " a GPU"
                                              : std::string("saves nothing here");
        const float high = c.paragraph_height(cell.w, words, ui.small(), kCompactLine);
        if (high > cell.h) return ui.label(cell, words, ui.small());
        cell.cut_top((cell.h - high) / 2);
        c.paragraph(cell, words, ui.small(), kCompactLine);
        return;
    }
    constexpr float kFigure = 58;
    const float y = cell.center().y, w = cell.w - kFigure;
    float x = cell.x;
    std::array<std::string, 3> parts;  // with all of them, without the last, only the first
    std::size_t said = 0;
    const auto part = [&](double seconds, std::string_view name, auto&& paint) {
        if (seconds <= 0 || most <= 0) return;
        const Rect box{x, y - 17, std::max(1.0f, w * static_cast<float>(seconds / most)), 15};
        paint(box);
        x = box.right();
        const std::string words = std::string(name) + " " + percent(share_of_step(scene, seconds));
        ++said;
        for (std::size_t k = 0; k + said <= parts.size(); ++k)
            parts[k] += (parts[k].empty() ? "" : ", ") + words;
    };
    part(r.bubble_s, "bubble", [&](Rect box) {
        c.pattern(box, Pattern::hatched, theme.bad, mix(theme.window, theme.bad, 0.2f));
        c.frame(box, theme.bad, 1);
    });
    part(r.uneven_s, "uneven", [&](Rect box) { c.rect(box, theme.bad); });
    part(r.waits_s, r.id == MapRowId::pp ? "sending" : "waited for", [&](Rect box) { c.rect(box, color); });
    const double all = r.cost_s();
    c.text_in({x + 8, y - 19, kFigure, 18},
              all > 0 ? percent(share_of_step(scene, all)) : std::string("hidden"),
              ui.style(13, Tone::text, Face::semibold));
    const Rect below{cell.x, y + 1, cell.w, 17};
    if (r.bubble_s > 0) ui.label(below, wording(ui, below.w, parts, ui.small()), ui.small());
}

void draw_compact_row(Ui& ui, Rect row, Scene& scene, MapViewState& state, const MapRow& r, double most) {
    const Hit hit = ui.area("map.row", row, static_cast<std::uint64_t>(r.id));
    const bool picked = is_selected(scene, state, r.id), on = r.verdict != Verdict::off;
    const Color color = color_of_row(ui.theme(), r.id, state);
    row_ground(ui, row.inset(0, 1), hit, picked);
    if (picked) ui.canvas().rect({row.x, row.y + 6, 3, row.h - 12}, color, 1);
    if (hit.hovered) scene.next_hover.group = r.kind;
    if (hit.clicked) {
        state.opened = !(state.opened && picked);
        select_row(scene, state, r.id);
    }
    auto [loaf, name, words, wire, bar, mark] = place_compact(row.inset(8, 3));
    if (loaf.w > 0) draw_map_loaf(ui, {loaf.x, loaf.y, 84, loaf.h}, scene, state, r);
    // A modifier has no wire of its own: in a narrow row its sentence has that room too.
    const bool takes_wire = loaf.w <= 0 && wire.x > 0 && r.modifier && on;
    if (takes_wire) words.w = wire.right() - words.x;
    const float from = loaf.w > 0 ? loaf.x : name.x;
    name_row(ui, r, {from, row.y, name.right() - from, row.h}, "click for why, cost and limits");
    const bool narrow = loaf.w <= 0;
    const float y = name.center().y - (name.h >= 30 && !narrow ? 15.0f : 6.0f);
    if (r.modifier)
        row_mark(ui, {name.x + 1, y + 1}, 10, true, on, color);
    else
        row_mark(ui, {name.x, y}, 12, false, on, color);
    name.cut_left(20);
    const TextStyle bold = ui.style(14, on ? Tone::text : Tone::secondary, Face::semibold);
    two_rows(ui, name, std::string(words_of(r.id).key) + " " + short_setting(r), bold,
             narrow ? std::string_view() : words_of(r.id).short_name);
    draw_compact_text(ui, words, r);
    if (!takes_wire) draw_wire_cell(ui, wire, r, scene.plan.cluster, color);
    draw_wait_cell(ui, bar, scene, r, most, color);
    verdict_mark(ui, mark.center(), r.verdict);
}

// Draws a group of rows under its name.
void draw_compact_group(Ui& ui, Rect& room, float high, std::string_view name, std::span<const MapRowId> ids,
                        Scene& scene, MapViewState& state, double most) {
    Rect head = room.cut_top(group_head(room.w));
    if (const std::size_t first = name.find_first_of(":,");  // "cuts the data: weights are copied"
        ui.canvas().text_width(name, ui.title()) > head.w && first != std::string_view::npos)
        name = name.substr(0, first);
    const float w = ui.canvas().text_width(name, ui.title());
    ui.label(head, name, ui.title());
    if (head.w > w + 20)
        ui.canvas().line({head.x + w + 10, head.center().y}, {head.right(), head.center().y},
                         ui.theme().secondary);
    bool first = true;
    for (const MapRowId id : ids) {
        const MapRow* const r = find_row(state, id);
        if (r == nullptr) continue;
        const Rect row = room.cut_top(high);
        if (!first)
            ui.canvas().line({row.x, row.y}, {row.right(), row.y}, ui.theme().hairline, 1,
                             r->modifier ? Dash::dotted : Dash::solid);
        first = false;
        draw_compact_row(ui, row, scene, state, *r, most);
    }
}

}  // namespace

void draw_map_compact(Ui& ui, Rect room, Scene& scene, MapViewState& state) {
    const std::vector<MapRow>& rows = state.figures->rows;
    const bool stacked = room.w - 16 < kStackedCompact;
    float least = least_compact_row(room.w);
    float whole = least;  // a row's height at which no sentence is cut; a card changes none
    for (const MapRow& r : rows)
        whole = std::max(whole, compact_text(ui, place_compact(room.inset(8, 0))[2].w, r).height() + 10);
    if (stacked) least = whole = whole + kStackedName;
    if (state.opened && room.w >= 900) {  // the card of the row that was clicked
        Rect card = room.cut_right(std::floor(room.w * 0.36f));
        room.cut_right(20);
        draw_map_card(ui, card, scene, state);
    }
    constexpr std::array<std::string_view, 5> kCompactHeads{"CUT", "AXIS", "CUTS, AND SAYS",
                                                            "WIRE, BYTES A STEP", "SHARE OF THE STEP"};
    const std::array<Rect, 6> at = place_compact(room.cut_top(kCompactHead).inset(8, 0));
    const bool narrow = at[0].w <= 0;
    for (std::size_t i = 0; i < kCompactHeads.size(); ++i)
        if (at[i].w > 0 && !(stacked && i == 2))
            ui.section({at[i].x, at[i].y, at[i].w, 16}, narrow && i == 3 ? "SENDS" : kCompactHeads[i]);
    double most = 0;
    for (const MapRow& r : rows)
        if (!r.modifier) most = std::max(most, r.cost_s());
    const auto n = static_cast<float>(rows.size());
    // All axes stand on one screen: sentences are wrapped where rows have that room.
    const float high =
        std::clamp((room.h - 2 * group_head(room.w)) / n, least, std::max(whole, kMostCompactRow));
    ScrollArea area(ui, "map.compact", room, state.scroll);
    Rect& inside = area.room;
    draw_compact_group(ui, inside, high, "cuts the data: weights are copied", kOfData, scene, state, most);
    draw_compact_group(ui, inside, high, "cuts the model, and the weights with it", kOfModel, scene, state,
                       most);
}

}  // namespace pentamesh::ui
