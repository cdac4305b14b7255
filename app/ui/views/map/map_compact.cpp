// Draws the page `compact`: the axes on one screen, in two groups. One cuts the data, the other the model.
#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "app/ui/views/map/view.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pentamesh::ui {

namespace {

constexpr std::array kOfData{MapRowId::dp, MapRowId::zero, MapRowId::cp};
constexpr std::array kOfModel{MapRowId::tp, MapRowId::sp, MapRowId::etp, MapRowId::pp, MapRowId::ep};
constexpr float kCompactHead = 22, kMostCompactRow = 80, kLeastCompactRow = 44, kGroupHead = 24;

// Returns the places of a row's parts: loaf, name, words, wire, bar, mark. One without room has no width.
std::array<Rect, 6> place_compact(Rect row) {
    return columns(row,
                   {px(row.w >= 520 ? 92 : 0), px(118), share(1.1f), px(row.w >= 460 ? 150 : 0),
                    row.w >= 620 ? share(0.9f) : px(0), px(20)},
                   10);
}

void two_rows(Ui& ui, Rect cell, std::string_view first, const TextStyle& style, std::string_view second) {
    const float y = cell.center().y;
    const bool two = cell.h >= 38;
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

CompactText compact_text(Ui& ui, float width, const MapRow& r) {
    CompactText out{compact_words(r), ui.style(13, r.verdict != Verdict::off ? Tone::text : Tone::secondary)};
    out.cuts_h = ui.canvas().paragraph_height(width, out.words.cuts, out.style, kCompactLine);
    out.talks_h = ui.canvas().paragraph_height(width, out.words.talks, ui.small(), kCompactLine);
    return out;
}

void draw_compact_text(Ui& ui, Rect cell, const MapRow& r) {
    const CompactText t = compact_text(ui, cell.w, r);
    if (cell.h < t.height()) return two_rows(ui, cell, t.words.cuts, t.style, t.words.talks);
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
    // A wire is thick by the logarithm of its bytes: 1 GB and more stand out.
    const auto thick =
        std::clamp(1.5f + 2.4f * static_cast<float>(std::log10(r.sent_bytes / 1e9)), 1.5f, 8.0f);
    const float y = cell.center().y;
    ui.canvas().line({cell.x, y - 9}, {cell.right(), y - 9}, color, thick,
                     mark_of_tier(ui.theme(), cluster, r.tier).dash);
    Rect words{cell.x, y, cell.w, 17};
    ui.canvas().text_in(words.cut_right(66), traffic_text(r.sent_bytes),
                        ui.style(12, Tone::text, Face::semibold), Align::right);
    ui.label(words, tier_label(cluster, r.tier), ui.small());
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
    std::string parts;
    const auto part = [&](double seconds, std::string_view name, auto&& paint) {
        if (seconds <= 0 || most <= 0) return;
        const Rect box{x, y - 17, std::max(1.0f, w * static_cast<float>(seconds / most)), 15};
        paint(box);
        x = box.right();
        parts +=
            (parts.empty() ? "" : ", ") + std::string(name) + " " + percent(share_of_step(scene, seconds));
    };
    part(r.bubble_s, "bubble", [&](Rect box) {
        c.pattern(box, Pattern::hatched, theme.bad, mix(theme.window, theme.bad, 0.2f));
        c.frame(box, theme.bad, 1);
    });
    part(r.uneven_s, "uneven", [&](Rect box) { c.rect(box, theme.bad); });
    part(r.waits_s, r.id == MapRowId::pp ? "sending" : "waited for", [&](Rect box) { c.rect(box, color); });
    const double all = r.bubble_s + r.uneven_s + r.waits_s;
    c.text_in({x + 8, y - 19, kFigure, 18},
              all > 0 ? percent(share_of_step(scene, all)) : std::string("hidden"),
              ui.style(13, Tone::text, Face::semibold));
    if (r.bubble_s > 0) ui.label({cell.x, y + 1, cell.w, 17}, parts, ui.small());
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
    const float from = loaf.w > 0 ? loaf.x : name.x;
    name_row(ui, r, {from, row.y, name.right() - from, row.h}, "click for why, cost and limits");
    const float y = name.center().y - (name.h >= 38 ? 15.0f : 6.0f);
    if (r.modifier)
        row_mark(ui, {name.x + 1, y + 1}, 10, true, on, color);
    else
        row_mark(ui, {name.x, y}, 12, false, on, color);
    name.cut_left(20);
    const TextStyle bold = ui.style(14, on ? Tone::text : Tone::secondary, Face::semibold);
    two_rows(ui, name, std::string(words_of(r.id).key) + " " + short_setting(r), bold,
             words_of(r.id).short_name);
    draw_compact_text(ui, words, r);
    draw_wire_cell(ui, wire, r, scene.plan.cluster, color);
    draw_wait_cell(ui, bar, scene, r, most, color);
    verdict_mark(ui, mark.center(), r.verdict);
}

// Draws a group of rows under its name.
void draw_compact_group(Ui& ui, Rect& room, float high, std::string_view name, std::span<const MapRowId> ids,
                        Scene& scene, MapViewState& state, double most) {
    Rect head = room.cut_top(kGroupHead);
    const float w = ui.canvas().text_width(name, ui.title());
    ui.label(head, name, ui.title());
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
    float whole = kLeastCompactRow;  // a row's height at which no sentence is cut; a card changes none
    for (const MapRow& r : rows)
        whole = std::max(whole, compact_text(ui, place_compact(room.inset(8, 0))[2].w, r).height() + 10);
    if (state.opened && room.w >= 900) {  // the card of the row that was clicked
        Rect card = room.cut_right(std::floor(room.w * 0.36f));
        room.cut_right(20);
        draw_map_card(ui, card, scene, state);
    }
    constexpr std::array<std::string_view, 5> kHeads{"CUT", "AXIS", "CUTS, AND SAYS", "WIRE, BYTES A STEP",
                                                     "SHARE OF THE STEP"};
    const std::array<Rect, 6> at = place_compact(room.cut_top(kCompactHead).inset(8, 0));
    for (std::size_t i = 0; i < kHeads.size(); ++i)
        if (at[i].w > 0) ui.section({at[i].x, at[i].y, at[i].w, 16}, kHeads[i]);
    double most = 0;
    for (const MapRow& r : rows)
        if (!r.modifier) most = std::max(most, r.bubble_s + r.uneven_s + r.waits_s);
    const auto n = static_cast<float>(rows.size());
    // All axes stand on one screen: sentences are wrapped where rows have that room.
    const float high =
        std::clamp((room.h - 2 * kGroupHead) / n, kLeastCompactRow, std::max(whole, kMostCompactRow));
    ScrollArea area(ui, "map.compact", room, state.scroll);
    Rect& inside = area.room;
    draw_compact_group(ui, inside, high, "cuts the data: weights are copied", kOfData, scene, state, most);
    draw_compact_group(ui, inside, high, "cuts the model, and the weights with it", kOfModel, scene, state,
                       most);
}

}  // namespace pentamesh::ui
