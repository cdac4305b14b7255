// Draws the map's table: a row for each axis and modifier.
#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "app/ui/scene/axis_name.h"
#include "app/ui/views/map/view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr float kHead = 22, kAcross = 14;

enum Column : std::uint8_t { axis, cuts, says, step, crosses, verdict, reach, kColumns };
constexpr std::array<std::string_view, kColumns> kHeads{
    "AXIS", "CUTS", "SAYS", "PER GPU AND STEP", "CROSSES", "VERDICT", "REACH FOR IT WHEN"};

constexpr float kSwatch = 20, kModifier = 16;  // left of a name

// Returns the width of what the axes cut, written under their names.
float axis_width(Ui& ui, const std::vector<MapRow>& rows) {
    float wide = 0;
    for (const MapRow& r : rows)
        wide = std::max(wide, ui.canvas().text_width(words_of(r.id).cuts, ui.small()) + kSwatch
                                  + (r.modifier ? kModifier : 0) + 1);
    return wide;
}

// Returns the width of each column, 0 where it has no room. The words go first, the figures stay. With
// `one_line`, rows are low, so figures take less. What the axes cut takes `axis_wide` under their names.
std::array<float, kColumns> columns_for(float room, bool one_line, float axis_wide) {
    std::array<float, kColumns> width{142, 146, 182, one_line ? 76.0f : 122.0f, 92, 162, 158};
    const auto sum = [&] {
        float w = -kAcross;
        for (const float x : width) w += x > 0 ? x + kAcross : 0;
        return w;
    };
    for (const Column c : {cuts, says, reach}) {
        // If the room is a little too narrow, all columns give some; else "reach for it when" stands under
        // the verdict.
        if (sum() <= room || (c == reach && sum() <= room * 1.3f)) break;
        width[c] = 0;
        if (c == cuts && !one_line) width[axis] = 156;  // its cuts are written under its name then
    }
    // Words wrap, figures and badges do not.
    if (const float missing = sum() - room; missing > 0) {
        float words = 0;
        for (const Column c : {axis, cuts, says, verdict, reach}) words += width[c];
        const float kept = std::max(0.62f, 1 - missing / std::max(1.0f, words));
        for (const Column c : {axis, cuts, says, verdict, reach}) width[c] *= kept;
    }
    float spare = room - sum();
    if (spare < 0) {
        for (float& w : width) w = std::max(0.0f, w + spare * w / (room - spare));
        return width;
    }
    // Spare width goes to the words under a name where it holds them on their line, then to columns whose
    // words wrap.
    const float first = std::max(0.0f, axis_wide - width[axis]);
    const bool under = width[cuts] <= 0 && !one_line && first < spare;
    if (under) width[axis] += first, spare -= first;
    const auto wraps = one_line ? std::array{says, verdict, verdict, reach, cuts}
                       : under  ? std::array{says, says, verdict, verdict, reach}
                                : std::array{axis, cuts, says, verdict, reach};
    float share = 0;
    for (const Column c : wraps) share += width[c];
    const auto before = width;
    for (const Column c : wraps) width[c] += spare * before[c] / share;
    return width;
}

// Writes as many lines of small text as a cell has room for, cut where even that is too little.
void two_lines(Ui& ui, Rect cell, std::string_view text, const TextStyle& style) {
    constexpr float kLine = 16;
    Canvas& c = ui.canvas();
    const float h = c.paragraph_height(cell.w, text, style, kLine);
    if (h <= cell.h) {
        c.paragraph({cell.x, cell.y + (cell.h - h) / 2, cell.w, h}, text, style, kLine);
        return;
    }
    if (c.text_in(cell, text, style) && ui.hovers(cell)) ui.tooltip(std::string(text));
}

void pair_of_lines(Ui& ui, Rect cell, std::string_view first, const TextStyle& first_style,
                   std::string_view second, const TextStyle& second_style) {
    constexpr float kLine = 16;
    Canvas& c = ui.canvas();
    if (cell.h < 2 * kLine) {
        c.text_in(cell, first, first_style);
        return;
    }
    const float wrapped = c.paragraph_height(cell.w, first, first_style, kLine);
    const bool wraps = wrapped > kLine && wrapped + kLine <= cell.h;
    const float upper = wraps ? wrapped : kLine;
    cell.y += (cell.h - upper - kLine) / 2;
    bool cut = false;
    if (wraps)
        c.paragraph({cell.x, cell.y, cell.w, upper}, first, first_style, kLine);
    else
        cut = c.text_in({cell.x, cell.y, cell.w, kLine}, first, first_style);
    const bool cut_too = c.text_in({cell.x, cell.y + upper, cell.w, kLine}, second, second_style);
    if ((cut || cut_too) && ui.hovers(cell)) ui.tooltip(std::string(first) + "\n" + std::string(second));
}

std::string name_of_row(const MapRow& r, MapStyle style) {
    if (r.id == MapRowId::zero && style == MapStyle::own_rows) return "fsdp";
    return std::string(words_of(r.id).key);
}

void axis_cell(Ui& ui, Rect cell, const MapRow& r, const MapViewState& state, bool with_cuts) {
    Canvas& c = ui.canvas();
    name_row(ui, r, cell, "click to select it");
    const bool on = r.verdict != Verdict::off;
    const Color color = color_of_row(ui.theme(), r.id, state);
    if (r.modifier) cell.cut_left(kModifier);
    // The parts that the axis cuts are written under its name, on as many lines as the row has.
    const std::string_view what = with_cuts ? words_of(r.id).cuts : std::string_view();
    const float wrapped = with_cuts ? c.paragraph_height(cell.w - kSwatch, what, ui.small(), 16) : 0;
    const float more = wrapped > 16 && wrapped + 16 <= cell.h ? (wrapped - 16) / 2 : 0;
    const Vec2 at{cell.x, cell.center().y - (with_cuts ? 14.0f + more : 6.0f)};
    if (r.modifier)
        row_mark(ui, at + Vec2{1, 1}, 10, true, on, color);
    else
        row_mark(ui, at, 12, false, on, color);
    cell.cut_left(kSwatch);
    const std::string name = name_of_row(r, state.style);
    const TextStyle bold = on ? ui.title() : ui.style(13, Tone::secondary);
    Rect line = with_cuts ? Rect{cell.x, cell.center().y - 16 - more, cell.w, 16} : cell;
    write_left(ui, line, name, bold, 8);
    std::string setting = on ? r.setting : "";
    if (on && r.zero > 0 && state.style == MapStyle::modifiers)  // its name is next to it
        setting = sentence(r.zero, " over ", r.degree);
    const TextStyle plain = ui.style(13, on ? Tone::text : Tone::secondary);
    if (c.text_width(setting, plain) > line.w) setting = setting.substr(0, setting.find(' '));
    c.text_in(line, setting, plain);
    if (more > 0)
        c.paragraph({cell.x, cell.center().y - more, cell.w, wrapped}, what, ui.small(), 16);
    else if (with_cuts)
        c.text_in({cell.x, cell.center().y, cell.w, 16}, what, ui.small());
}

void step_cell(Ui& ui, Rect cell, const MapRow& r) {
    if (r.calls > 0) {
        pair_of_lines(ui, cell, traffic_text(r.sent_bytes), ui.style(13),
                      thousands(std::llround(r.calls)) + (r.calls == 1 ? " call, " : " calls, ")
                          + time_text(r.time_s),
                      ui.small());
    } else if (r.id == MapRowId::sp && r.verdict != Verdict::off) {
        two_lines(ui, cell, cell.w < 100 ? "none" : "no bytes of its own", ui.small());
    } else {
        ui.canvas().text_in(cell, "–", ui.small());
    }
}

void crosses_cell(Ui& ui, Rect cell, const MapRow& r, const Cluster& cluster) {
    const Rect badge{cell.x, cell.center().y - 10, std::min(cell.w, 88.0f), 20};
    if (r.tier < 0) {
        ui.canvas().text_in(cell, r.verdict == Verdict::off ? "off" : "with tp", ui.small());
        return;
    }
    const TierMark mark = mark_of_tier(ui.theme(), cluster, r.tier);
    ui.badge(badge, tier_label(cluster, r.tier), mark.color, mark.dash);
}

// With `with_reach`, it also says when to reach for it.
std::string verdict_text(const MapRow& r, bool with_reach) {
    const std::string when = with_reach ? ". Reach for it: " + std::string(words_of(r.id).reach) : "";
    return (r.verdict == Verdict::off ? "" : std::string(name_of(r.verdict)) + ": ") + r.reason + when;
}
void verdict_cell(Ui& ui, Rect cell, const MapRow& r, bool with_reach) {
    verdict_mark(ui, {cell.x + 6, cell.center().y}, r.verdict);
    cell.cut_left(20);
    two_lines(ui, cell, verdict_text(r, with_reach),
              ui.small(r.verdict == Verdict::off ? Tone::secondary : Tone::text));
}

// A slender row has name, bytes and link on one line, the verdict under them over the whole width.
constexpr float kSlender = 430, kSlenderRow = 82;
void slender_row(Ui& ui, Rect row, const MapRow& r, const MapViewState& state, const Cluster& cluster) {
    row = row.inset(8, 4);
    Rect line = row.cut_top(22);
    if (r.tier >= 0) crosses_cell(ui, line.cut_right(88), r, cluster);
    line.cut_right(8);
    if (r.calls > 0)
        ui.canvas().text_in(line.cut_right(62), traffic_text(r.sent_bytes), ui.style(13), Align::right);
    axis_cell(ui, line, r, state, false);
    if (r.modifier) row.cut_left(16);
    verdict_cell(ui, row, r, true);
}

std::string says_text(const MapRow& r) {
    return r.collectives.empty() ? std::string(words_of(r.id).says) : collectives_text(r);
}

// Rows of several lines are as high as their longest words.
float row_height(Ui& ui, const MapRow& r, const std::array<float, kColumns>& width, float room, float least) {
    const auto high = [&](std::string_view text, float w) {
        return ui.canvas().paragraph_height(w, text, ui.small(), 16) + 5;
    };
    if (room < kSlender) return std::max(least, 22 + high(verdict_text(r, true), room - 36));
    float h = std::max(least, high(verdict_text(r, width[reach] <= 0), width[verdict] - 20));
    if (width[reach] > 0) h = std::max(h, high(words_of(r.id).reach, width[reach]));
    if (width[cuts] > 0) h = std::max(h, high(words_of(r.id).cuts, width[cuts]));
    // Words that are cut short under a name can be hovered in the window; on paper nobody can.
    if (width[cuts] <= 0 && ui.state().for_picture)
        h = std::max(h, high(words_of(r.id).cuts, width[axis] - kSwatch - (r.modifier ? kModifier : 0)) + 16);
    if (width[says] > 0) h = std::max(h, high(says_text(r), width[says]) + 16);
    return h;
}

std::string row_tooltip(const MapRow& r, const MapViewState& state) {
    const MapWords& w = words_of(r.id);
    std::string t = name_of_row(r, state.style) + ", " + std::string(w.name) + "\n" + std::string(w.why)
                    + "\n" + std::string(w.cost);
    if (r.calls > 0)
        t += "\n" + collectives_text(r) + ": " + r.often + "\n" + time_text(r.time_s) + " on the wire, "
             + time_text(r.exposed_s) + " exposed";
    return t + "\nat most: " + r.bound + "\nreach for it when: " + std::string(w.reach);
}

// Draws the cells that do not depend on the other columns.
void plain_cell(Ui& ui, Column k, Rect cell, const MapRow& r, const Cluster& cluster) {
    const TextStyle words = ui.small(r.verdict != Verdict::off ? Tone::text : Tone::secondary);
    switch (k) {
    case cuts: two_lines(ui, cell, words_of(r.id).cuts, words); break;
    case says: pair_of_lines(ui, cell, says_text(r), words, r.often, ui.small()); break;
    case step: step_cell(ui, cell, r); break;
    case crosses: crosses_cell(ui, cell, r, cluster); break;
    case reach: two_lines(ui, cell, words_of(r.id).reach, ui.small()); break;
    case axis:
    case verdict:
    case kColumns: break;
    }
}

}  // namespace

float map_least_row(float width) {
    return width < kSlender ? kSlenderRow : width < 640 ? kMapRowHigh + 20 : kMapRowLow;
}

float map_loaves_width(float width) {
    return width < 720 ? 0 : std::clamp(width * 0.055f, 54.0f, 84.0f) + kAcross;
}

float map_table_height(Ui& ui, const MapViewState& state, float width, float row, float loaves) {
    const std::array<float, kColumns> columns =
        columns_for(width - 16 - loaves, false, axis_width(ui, state.figures->rows));
    float h = kHead;
    for (const MapRow& r : state.figures->rows) h += row_height(ui, r, columns, width, row);
    return h;
}

void name_row(Ui& ui, const MapRow& row, Rect name, std::string action) {
    if (!row.modifier)
        names_axis(ui, row.kind, name, std::move(action),
                   ui.id("map.row", static_cast<std::uint64_t>(row.id)));
}

Color color_of_row(const Theme& theme, MapRowId id, const MapViewState& state) {
    switch (id) {
    case MapRowId::dp: return color_of(theme, state.figures->data);
    case MapRowId::zero: return color_of(theme, GroupKind::dp_shard);
    case MapRowId::tp:
    case MapRowId::sp: return color_of(theme, GroupKind::tp);
    case MapRowId::etp: return color_of(theme, GroupKind::etp);
    case MapRowId::pp: return color_of(theme, GroupKind::pp);
    case MapRowId::cp: return color_of(theme, GroupKind::cp);
    case MapRowId::ep: return color_of(theme, GroupKind::ep);
    }
    return theme.text;
}

void verdict_mark(Ui& ui, Vec2 at, Verdict verdict) {
    Canvas& c = ui.canvas();
    if (verdict == Verdict::fine) {
        c.circle(at, 5, ui.theme().good);
    } else if (verdict == Verdict::costly) {
        c.polygon({{at.x, at.y - 6}, {at.x + 6, at.y + 5}, {at.x - 6, at.y + 5}}, ui.theme().amber);
    } else {
        c.frame({at.x - 5, at.y - 5, 10, 10}, ui.theme().secondary, 1, 5);
    }
}

int selected_row(const Scene& scene, const MapViewState& state) {
    for (std::size_t i = 0; i < state.figures->rows.size(); ++i)
        if (static_cast<int>(state.figures->rows[i].id) == state.picked
            && state.figures->rows[i].kind == scene.selection.group)
            return static_cast<int>(i);
    return row_of(state.figures->rows, scene.selection.group);
}

void draw_map_loaf(Ui& ui, Rect room, const Scene& scene, MapViewState& state, const MapRow& row) {
    if (!state.mini) state.mini = mini_loaves(scene.presets);
    const float high = std::min(room.h, room.w * 0.5f);  // the form of two slices side by side
    draw_mini(ui.canvas(), ui.theme(), {room.x, room.center().y - high / 2, room.w, high},
              (*state.mini)[static_cast<std::size_t>(row.id)], color_of_row(ui.theme(), row.id, state),
              row.verdict != Verdict::off);
}

const MapRow* find_row(const MapViewState& state, MapRowId id) {
    const auto at = std::ranges::find(state.figures->rows, id, &MapRow::id);
    return at == state.figures->rows.end() ? nullptr : &*at;
}

bool is_selected(const Scene& scene, const MapViewState& state, MapRowId id) {
    const int row = selected_row(scene, state);
    return row >= 0 && state.figures->rows[static_cast<std::size_t>(row)].id == id;
}

void select_row(Scene& scene, MapViewState& state, MapRowId id) {
    if (const MapRow* row = find_row(state, id))
        select_row(scene, state, static_cast<int>(row - state.figures->rows.data()));
}

void row_mark(Ui& ui, Vec2 at, float size, bool modifier, bool on, Color color) {
    if (modifier)
        ui.canvas().frame({at.x, at.y, size, size}, on ? color : color.alpha(0.6f), 2, 3);
    else
        ui.swatch(at, on ? color : color.alpha(0.45f), size);
}

void select_row(Scene& scene, MapViewState& state, int row) {
    const MapRow& r = state.figures->rows[row];
    state.picked = static_cast<int>(r.id);
    scene.selection.choose(r.kind);
}

namespace {

// Holds how the map's table stands: its columns, how high its rows are, and the room of the loaves.
struct TableLook {
    std::array<float, kColumns> width{};
    float row = 0, loaves = 0;
    bool one_line = false, slender = false;

    // Calls `draw(column, cell)` for each column that is shown.
    template <typename Draw>
    void cells(Rect row_of, Draw draw) const {
        row_of = row_of.inset(8, 0);
        row_of.cut_left(loaves);
        for (int k = 0; k < kColumns; ++k) {
            if (width[k] <= 0) continue;
            draw(static_cast<Column>(k), row_of.cut_left(width[k]));
            row_of.cut_left(kAcross);
        }
    }
};

// A row has two lines; where that does not fit, one; where that does not fit either, rows scroll.
TableLook look_of(Ui& ui, Rect room, const MapViewState& state, float loaves) {
    const auto n = static_cast<float>(state.figures->rows.size());
    TableLook out;
    out.slender = room.w < kSlender;
    const float least = map_least_row(room.w), needed = map_table_height(ui, state, room.w, least, loaves);
    out.one_line = !out.slender && room.h + 1 < needed;
    const float most = room.w < 640 ? kMapRowHigh + 20 : kMapRowHigh;
    out.row = out.one_line ? std::clamp((room.h - kHead) / n, 22.0f, kMapRowLow)
                           : std::clamp(least + (room.h - needed) / n, least, std::max(least, most));
    out.loaves = out.one_line ? 0 : loaves;
    out.width = columns_for(room.w - 16 - out.loaves, out.one_line, axis_width(ui, state.figures->rows));
    return out;
}

void draw_heads(Ui& ui, Rect row, const TableLook& look, const Comm& comm) {
    if (look.slender) return ui.section(row.inset(8, 0), "AXIS AND VERDICT", "SENDS, CROSSES");
    look.cells(row, [&](Column k, Rect cell) {
        std::string head(kHeads[k]);
        if (k == axis && look.width[cuts] <= 0 && !look.one_line) head = "AXIS, WHAT IT CUTS";
        if (k == step && look.one_line) head = "SENDS";
        if (k == step && !look.one_line && comm.stages.devices > 1)
            head = "GPU OF STAGE " + std::to_string(comm.busiest_device);
        ui.section({cell.x, cell.y, cell.w, 16}, head);
    });
}

// Draws the row, which the mouse and the keyboard select. Returns the row that gets the keyboard, or 0.
Id draw_row(Ui& ui, Rect row, std::size_t place, const TableLook& look, bool picked, Scene& scene,
            MapViewState& state) {
    Canvas& c = ui.canvas();
    const std::vector<MapRow>& rows = state.figures->rows;
    const MapRow& r = rows[place];
    if (!r.modifier) c.line({row.x, row.y}, {row.right(), row.y}, ui.theme().hairline);
    const Hit hit = ui.area("map.row", row, static_cast<std::uint64_t>(r.id));
    row_ground(ui, row.inset(0, 2), hit, picked);
    if (picked) c.rect({row.x, row.y + 6, 3, row.h - 12}, color_of_row(ui.theme(), r.id, state), 1);
    if (hit.hovered) scene.next_hover.group = r.kind, ui.tooltip(row_tooltip(r, state));
    if (hit.clicked) select_row(scene, state, static_cast<int>(place));
    Id focus_to = 0;
    if (hit.focused) {
        const int by = pressed({Key::down}, true) ? 1 : pressed({Key::up}, true) ? -1 : 0;
        const auto to = static_cast<std::size_t>(static_cast<int>(place) + by);
        if (by != 0 && to < rows.size()) focus_to = ui.id("map.row", static_cast<std::uint64_t>(rows[to].id));
    }
    if (look.slender) {
        slender_row(ui, row, r, state, scene.plan.cluster);
        return focus_to;
    }
    if (look.loaves > 0)
        draw_map_loaf(ui, {row.x + 8, row.y + 3, look.loaves - kAcross, row.h - 6}, scene, state, r);
    look.cells(row, [&](Column k, Rect cell) {
        if (k == axis)
            axis_cell(ui, cell, r, state, look.width[cuts] <= 0 && !look.one_line);
        else if (k == verdict)
            verdict_cell(ui, cell, r, look.width[reach] <= 0);
        else
            plain_cell(ui, k, cell, r, scene.plan.cluster);
    });
    return focus_to;
}

}  // namespace

void draw_map_table(Ui& ui, Rect room, Scene& scene, MapViewState& state, float loaves) {
    const TableLook look = look_of(ui, room, state, loaves);
    draw_heads(ui, room.cut_top(kHead), look, scene.evaluation.comm);
    const int selected = selected_row(scene, state);
    Id focus_to = 0;  // after the loop, or the next row would take the same key
    ScrollArea area(ui, "map.table", {room.x, room.y - 1, room.w, room.h + 1}, state.scroll);
    float top = area.room.cut_top(1).y + 1;
    for (std::size_t i = 0; i < state.figures->rows.size(); ++i) {
        const MapRow& r = state.figures->rows[i];
        const float high = look.one_line ? look.row : row_height(ui, r, look.width, room.w, look.row);
        area.room.cut_top(high);
        const Rect row{room.x, top, room.w, high};
        top += high;
        if (const Id to = draw_row(ui, row, i, look, static_cast<int>(i) == selected, scene, state); to != 0)
            focus_to = to;
    }
    if (focus_to != 0) ui.state().focus = focus_to, ui.state().focus_visible = true;
}

}  // namespace pentamesh::ui
