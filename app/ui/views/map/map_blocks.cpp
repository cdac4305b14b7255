// Draws the blocks under the map's table: the card of the selected axis, the wires, and the tables of how one
// chooses.
#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "app/ui/panels/glossary_card.h"
#include "app/ui/views/map/view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

std::string_view glossary_id(MapRowId id) {
    return id == MapRowId::zero ? "fsdp" : words_of(id).key;
}

struct Fact {
    std::string_view label;
    std::string text;
};

constexpr float kFactLabel = 92, kFactLine = 17;

float fact_height(Ui& ui, float width, const Fact& fact) {
    return ui.canvas().paragraph_height(width - kFactLabel, fact.text, ui.small(Tone::text), kFactLine) + 3;
}

// Writes a label and its text, wrapped; cuts its height off `room`.
void draw_fact(Ui& ui, Rect& room, const Fact& fact) {
    Canvas& c = ui.canvas();
    const float h = fact_height(ui, room.w, fact);
    if (h > room.h + 3) return;
    Rect row = room.cut_top(h);
    c.text_in({row.x, row.y, kFactLabel - 8, kFactLine}, fact.label, ui.small());
    row.cut_left(kFactLabel);
    c.paragraph(row, fact.text, ui.small(Tone::text), kFactLine);
}

std::string here_text(const Scene& scene, const MapRow& r) {
    if (r.verdict == Verdict::off) return "off: " + r.reason;
    std::string t = r.reason;
    if (r.without > 0) {
        const bool fewer = r.id == MapRowId::tp || r.id == MapRowId::cp || r.id == MapRowId::pp;
        t += "; switched off" + (fewer ? ", on 1/" + thousands(r.degree) + " of the GPUs," : std::string())
             + " the fullest would hold " + memory_text(r.without) + ", not "
             + memory_text(scene.evaluation.memory.peak());
    }
    return t;
}

// ---- wires --------------------------------------------------------------------------------------------

struct Ruler {
    double low = 1e9, high = 1e13;  // bytes/s, whole decades
    float x = 0, w = 0;
    [[nodiscard]] float at(double v) const {
        return x + w * static_cast<float>(std::log10(v / low) / std::log10(high / low));
    }
};

Ruler ruler_for(const std::vector<MapLevel>& levels, float x, float w) {
    double low = 1e300, high = 0;
    for (const MapLevel& l : levels)
        if (l.bytes_per_s > 0) low = std::min(low, l.bytes_per_s), high = std::max(high, l.bytes_per_s);
    if (high <= 0) return {1e9, 1e13, x, w};
    // The scale has a little room below the slowest, so that its bar can be seen.
    const double from = std::pow(10, std::floor(std::log10(low * 0.7)));
    const double to = std::pow(10, std::ceil(std::log10(high * 1.05)));
    return {from, std::max(to, from * 10), x, w};
}

// Lists the axes that use a level, with the bytes they send where there is room.
void sitters(Ui& ui, Rect cell, const MapLevel& level, Scene& scene, MapViewState& state) {
    constexpr float kSwatch = 16, kAfter = 20;
    Canvas& c = ui.canvas();
    const auto name_of_row = [&](int k) { return words_of(state.figures->rows[k].id).key; };
    float all = -kAfter;
    for (const MapLevel::Sitter& s : level.sitters)
        all += kSwatch + c.text_width(name_of_row(s.row), ui.title()) + 6
               + c.text_width(traffic_text(s.sent_bytes), ui.small()) + kAfter;
    const bool with_bytes = all <= cell.w;
    for (const auto& [k, sent_bytes] : level.sitters) {
        const MapRow& r = state.figures->rows[k];
        const std::string name(name_of_row(k)), bytes = traffic_text(sent_bytes);
        const float name_w = c.text_width(name, ui.title()) + 1;
        const float bytes_w = with_bytes ? c.text_width(bytes, ui.small()) + 7 : 0;
        Rect chip = cell.cut_left(kSwatch + name_w + bytes_w);
        cell.cut_left(with_bytes ? kAfter : 10);
        const Hit hit = ui.area("map.sits", chip, static_cast<std::uint64_t>(r.id));
        name_row(ui, r, chip, "click to select it");
        if (selected_row(scene, state) == k || hit.hovered)
            c.rect({chip.x - 5, chip.center().y - 12, chip.w + 10, 24}, ui.theme().raised, 4);
        if (hit.focused) ui.focus_ring({chip.x - 3, chip.center().y - 10, chip.w + 6, 20}, 4);
        ui.swatch({chip.x, chip.center().y - 5}, color_of_row(ui.theme(), r.id, state));
        chip.cut_left(kSwatch);
        c.text_in(chip.cut_left(name_w + 1), name, ui.title());
        if (with_bytes) c.text_in({chip.x + 5, chip.y, chip.w, chip.h}, bytes, ui.small());
        if (hit.hovered)
            ui.tooltip(name + " on " + level.name + "\n" + bytes + " leave "
                       + rows_device_text(scene.evaluation.comm) + " in a step; of the whole axis "
                       + time_text(r.time_s) + " on the wire, " + time_text(r.exposed_s) + " exposed");
        if (hit.clicked) select_row(scene, state, k);
    }
}

std::string reach_text(const MapLevel& level, const Cluster& cluster, bool memory) {
    if (memory) return level.note;
    std::string t = plural(level.reach, "GPU", "GPUs");
    if (level.reach == cluster.gpus) t = "all " + t;
    return level.note.empty() ? t : t + ", " + level.note;
}

// The card of the selected axis. Its facts are in two columns where it is wide, about equally high.
struct Card {
    const MapRow* row = nullptr;
    std::vector<Fact> facts;
    Fact here;
    float head = 0, height = 0;  // of name and sentences; of all
};

constexpr float kTwoColumns = 520, kCardName = 26, kSentence = 19;

Card card_of(Ui& ui, float width, const Scene& scene, const MapViewState& state) {
    Card card;
    card.row = &state.figures->rows[static_cast<std::size_t>(std::max(0, selected_row(scene, state)))];
    const MapWords& w = words_of(card.row->id);
    card.here = {"in this plan", here_text(scene, *card.row)};
    card.facts = {{"sits", std::string(w.sits)},           {"works on", std::string(w.scope)},
                  {"saves", std::string(w.saves)},         {"must know", std::string(w.model)},
                  {"against it", std::string(w.drawback)}, {"at most", card.row->bound},
                  {"reach for it", std::string(w.reach)}};
    card.head = kCardName;
    for (const std::string_view text : {w.why, w.cost})
        card.head += ui.canvas().paragraph_height(width, text, ui.style(13), kSentence) + 4;
    const bool two = width >= kTwoColumns;
    std::array<float, 2> column{};
    for (const Fact& f : card.facts) {
        float& shorter = !two || column[0] <= column[1] ? column[0] : column[1];
        shorter += fact_height(ui, two ? std::floor(width / 2) - 8 : width, f);
    }
    card.height = card.head + 4 + fact_height(ui, width, card.here) + std::max(column[0], column[1]);
    return card;
}

}  // namespace

float map_card_height(Ui& ui, float width, const Scene& scene, const MapViewState& state) {
    return card_of(ui, width, scene, state).height;
}

void draw_map_card(Ui& ui, Rect window, Scene& scene, MapViewState& state) {
    constexpr float kThumb = 10;
    Canvas& c = ui.canvas();
    Card card = card_of(ui, window.w, scene, state);
    const bool scrolls = card.height > window.h && !ui.state().for_picture;
    if (scrolls) card = card_of(ui, window.w - kThumb, scene, state);
    ScrollArea area(ui, "map.card", window, state.card);
    Rect room = area.room;
    room.w -= scrolls ? kThumb : 0;
    area.room.cut_top(scrolls ? card.height : 0);
    const MapRow& r = *card.row;
    const MapWords& w = words_of(r.id);
    // Facts without room are missing: a picture that may grow becomes higher.
    ui.state().hidden = std::max(ui.state().hidden, std::ceil(card.height - window.h));
    room.h = scrolls ? card.height : window.h;
    Rect head = room.cut_top(22);
    ui.swatch({head.x, head.center().y - 6}, color_of_row(ui.theme(), r.id, state), 12);
    head.cut_left(20);
    std::string title(w.name);
    if (r.verdict != Verdict::off) title += ", " + r.setting;
    term(ui, head, glossary_id(r.id), title, ui.title());
    room.cut_top(kCardName - 22);
    for (const std::string_view text : {w.why, w.cost}) {
        const float h = c.paragraph_height(room.w, text, ui.style(13), kSentence);
        if (h > room.h) break;
        c.paragraph(room, text, ui.style(13), kSentence);
        room.cut_top(h + 4);
    }
    room.cut_top(4);
    draw_fact(ui, room, card.here);
    const bool two = room.w >= kTwoColumns;
    Rect left = room, right = room;
    if (two) {
        left.w = right.w = std::floor(room.w / 2) - 8;
        right.x = room.right() - right.w;
    }
    for (const Fact& f : card.facts) draw_fact(ui, !two || left.y <= right.y ? left : right, f);
}

void draw_map_wires(Ui& ui, Rect room, Scene& scene, MapViewState& state) {
    Canvas& c = ui.canvas();
    put_head(ui, room, 6, "WIRES, AND WHO SITS ON THEM", room.w < 430 ? "" : "per GPU, one direction");
    const Rect foot = room.cut_bottom(18);
    const auto n = static_cast<float>(state.figures->levels.size());
    const float h = std::min(64.0f, room.h / n);
    const float label_w = std::clamp(room.w * 0.24f, 84.0f, 220.0f);
    const float value_w = 76, sits_w = std::clamp(room.w * 0.3f, 80.0f, 420.0f);
    const Ruler ruler = ruler_for(state.figures->levels, room.x + label_w,
                                  std::max(32.0f, room.w - label_w - value_w - sits_w - 14));
    const float bottom = room.y + h * n;
    float free_from = 0;
    for (double v = ruler.low; v <= ruler.high * 1.001; v *= 10) {
        const float x = ruler.at(v);
        c.line({x, room.y}, {x, bottom}, ui.theme().hairline);
        if (x < free_from) continue;  // a decade's name where the one before leaves it room
        free_from = x + 76;
        c.text_in({x - 40, bottom + 2, 80, foot.h - 2}, bandwidth_text(v), ui.style(11, Tone::secondary),
                  Align::center);
    }
    double above = 0;
    for (std::size_t i = 0; i < state.figures->levels.size(); ++i) {
        const MapLevel& level = state.figures->levels[i];
        Rect row{room.x, room.y + h * static_cast<float>(i), room.w, h};
        const bool memory = i == 0, storage = i + 1 == state.figures->levels.size();
        const Rect label = row.cut_left(label_w - 10);
        const bool tall = h >= 34;
        const float y = label.center().y;
        c.text_in({label.x, tall ? y - 17 : y - 9, label.w, 18}, level.name, ui.title());
        const std::string reach =
            storage ? "data, checkpoints" : reach_text(level, scene.plan.cluster, memory);
        if (tall && c.text_in({label.x, y, label.w, 17}, reach, ui.small()) && ui.hovers(label))
            ui.tooltip(level.name + "\n" + reach);
        if (level.bytes_per_s <= 0) {
            c.text_in({ruler.x + 6, row.y, row.right() - ruler.x - 6, row.h}, level.note, ui.small());
            continue;
        }
        const TierMark mark = memory ? TierMark{ui.theme().secondary, Dash::solid}
                                     : mark_of_tier(ui.theme(), scene.plan.cluster, static_cast<int>(i) - 1);
        const float x = ruler.at(level.bytes_per_s);
        c.line({ruler.x, y}, {x, y}, mark.color, 3, mark.dash);
        c.circle({x, y}, 5, mark.color);
        const float value_x = x + 10;
        c.text_in({value_x, y - (tall ? 17.0f : 9.0f), value_w, 18}, bandwidth_text(level.bytes_per_s),
                  ui.style(12));
        if (tall && above > 0)
            c.text_in({value_x, y, value_w, 17}, significant(above / level.bytes_per_s, 2) + " × slower",
                      ui.small());
        above = level.bytes_per_s;
        sitters(ui, {room.right() - sits_w, row.y, sits_w, row.h}, level, scene, state);
        const Rect line{ruler.x, row.y, ruler.w + value_w, row.h};
        if (ui.hovers(line))
            ui.tooltip(level.name + "\n" + bandwidth_text(level.bytes_per_s) + ", " + reach + "\n1 GB takes "
                       + time_text(1e9 / level.bytes_per_s));
    }
}

void draw_map_recipe(Ui& ui, Rect& room, Scene& scene, MapViewState& state) {
    Canvas& c = ui.canvas();
    put_head(ui, room, 4, "THE USUAL WAY", "this plan");
    for (std::size_t i = 0; i < state.figures->recipe.size(); ++i) {
        const RecipeStep& s = state.figures->recipe[i];
        Rect row = room.cut_top(room.w < 520 ? 42.0f : 30.0f);
        const Hit hit = ui.area("map.recipe", row, i);
        row_ground(ui, row, hit);
        if (hit.clicked) select_row(scene, state, s.row);
        c.line({row.x, row.y}, {row.right(), row.y}, ui.theme().hairline);
        row = row.inset(4, 0);
        c.text_in(row.cut_left(18), std::to_string(i + 1), ui.small());
        verdict_mark(ui, {row.x + 6, row.center().y}, s.verdict);
        row.cut_left(22);
        const TextStyle here = s.verdict == Verdict::off ? ui.small() : ui.small(Tone::text);
        if (room.w < 520) {
            c.text_in(row.cut_top(21), s.rule, ui.style(12));
            c.text_in(row, s.here, ui.small());
            continue;
        }
        const float here_w = std::min(c.text_width(s.here, here) + 2, row.w * 0.48f);
        text_row(ui, row,
                 {{std::string(s.rule), share(), ui.style(12)}, {s.here, px(here_w), here, Align::right}},
                 12);
    }
}

namespace {

constexpr float kColumnGap = 16;
struct ComparisonColumns {
    float aspect, pipeline, sharded;
};
// Makes the aspects as wide as their words; the rest is shared so that the table is as low as possible, in
// halves where that makes no difference.
ComparisonColumns comparison_columns(Ui& ui, float room, const MapViewState& state) {
    Canvas& c = ui.canvas();
    const TextStyle s = ui.small(Tone::text);
    float aspect = 72;
    for (const Comparison& x : state.figures->comparison)
        aspect = std::max(aspect, c.text_width(x.aspect, ui.small()) + 14);
    aspect = std::min(aspect, room * 0.24f);
    ComparisonColumns best{};
    float lowest = 1e9f;
    for (const float share : {0.5f, 0.45f, 0.55f, 0.4f, 0.6f}) {
        const float left = std::floor((room - aspect) * share), right = room - aspect - left;
        float h = 0;
        for (const Comparison& x : state.figures->comparison)
            h += std::max(c.paragraph_height(left - kColumnGap, x.pipeline, s, 17),
                          c.paragraph_height(right, x.sharded, s, 17));
        if (h < lowest) lowest = h, best = {aspect, left, right};
    }
    return best;
}

}  // namespace

void draw_map_comparison(Ui& ui, Rect& room, const MapViewState& state) {
    Canvas& c = ui.canvas();
    const auto [first, w, w_right] = comparison_columns(ui, room.w, state);
    Rect head = room.cut_top(18);
    ui.section(head.cut_left(first), "TWO WAYS");
    ui.swatch({head.x, head.center().y - 5}, color_of_row(ui.theme(), MapRowId::pp, state));
    term(ui, {head.x + 16, head.y, w - 24, head.h}, "pp", "pipeline stages",
         ui.style(12, Tone::text, Face::semibold), 1);
    ui.swatch({head.x + w, head.center().y - 5}, color_of_row(ui.theme(), MapRowId::zero, state));
    term(ui, {head.x + w + 16, head.y, w_right - 24, head.h}, "fsdp", "ZeRO-3 (FSDP)",
         ui.style(12, Tone::text, Face::semibold), 1);
    room.cut_top(4);
    for (const Comparison& x : state.figures->comparison) {
        const TextStyle s = ui.small(Tone::text);
        const float h = 10
                        + std::max(c.paragraph_height(w - kColumnGap, x.pipeline, s, 17),
                                   c.paragraph_height(w_right, x.sharded, s, 17));
        Rect row = room.cut_top(h);
        c.line({row.x, row.y}, {row.right(), row.y}, ui.theme().hairline);
        row = row.inset(0, 5);
        c.paragraph(row.cut_left(first), x.aspect, ui.small(), 17);
        c.paragraph({row.x, row.y, w - kColumnGap, row.h}, x.pipeline, s, 17);
        c.paragraph({row.x + w, row.y, w_right, row.h}, x.sharded, s, 17);
    }
}

void draw_map_combinations(Ui& ui, Rect& room, const MapViewState& state) {
    Canvas& c = ui.canvas();
    put_head(ui, room, 4, "WHAT IS COMBINED, AND WHEN");
    for (const Combination& x : state.figures->combinations) {
        Rect row = room.cut_top(24);
        c.line({row.x, row.y}, {row.right(), row.y}, ui.theme().hairline);
        if (x.here) c.rect(row.inset(0, 1), ui.theme().raised, 3);
        row = row.inset(4, 0);
        TextStyle s = ui.style(12, Tone::text, x.here ? Face::semibold : Face::regular);
        text_row(ui, row,
                 {{std::string(x.what), px(std::min(160.0f, row.w * 0.34f)), s},
                  {std::string(x.when), share(), ui.small(x.here ? Tone::text : Tone::secondary)},
                  {x.here ? "this plan" : "", px(x.here ? 62 : 0), s, Align::right}});
    }
}

}  // namespace pentamesh::ui
