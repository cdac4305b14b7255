// Draws the map's table: a row for each axis and modifier.
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/panels/inspector.h"
#include "app/ui/scene/colors.h"
#include "app/ui/views/map/view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

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
    // In low rows nothing stands under a name: what an axis cuts keeps its column.
    for (const Column c : one_line ? std::array{says, reach, cuts} : std::array{cuts, says, reach}) {
        // If the room is a little too narrow, all columns give some; else "reach for it when" stands under
        // the verdict.
        if (sum() <= room || (c == reach && !one_line && sum() <= room * 1.3f)) break;
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

// In a low cell lines stand closer, clear of the lines between rows.
constexpr float kCellLine = 16, kCloseLine = 14, kCellEdges = 4;

// Writes as many lines of small text as a cell has room for, cut where even that is too little.
void two_lines(Ui& ui, Rect cell, std::string_view text, const TextStyle& style) {
    Canvas& c = ui.canvas();
    for (const float line : {kCellLine, kCloseLine}) {
        const float h = c.paragraph_height(cell.w, text, style, line);
        if (h + (h > line ? kCellEdges : 0) > cell.h) continue;
        c.paragraph({cell.x, cell.y + (cell.h - h) / 2, cell.w, h}, text, style, line);
        return;
    }
    if (c.text_in(cell, text, style) && ui.hovers(cell)) ui.tooltip(std::string(text));
}

void pair_of_lines(Ui& ui, Rect cell, std::string_view first, const TextStyle& first_style,
                   std::string_view second, const TextStyle& second_style) {
    Canvas& c = ui.canvas();
    if (cell.h < 2 * kCellLine) {
        c.text_in(cell, first, first_style);
        return;
    }
    const float line = cell.h < 2 * kCellLine + kCellEdges ? kCloseLine : kCellLine;
    const float wrapped = c.paragraph_height(cell.w, first, first_style, line);
    const bool wraps = wrapped > line && wrapped + line <= cell.h;
    const float upper = wraps ? wrapped : line;
    cell.y += (cell.h - upper - line) / 2;
    bool cut = false;
    if (wraps)
        c.paragraph({cell.x, cell.y, cell.w, upper}, first, first_style, line);
    else
        cut = c.text_in({cell.x, cell.y, cell.w, line}, first, first_style);
    const bool cut_too = c.text_in({cell.x, cell.y + upper, cell.w, line}, second, second_style);
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
        const std::string calls = pentamesh::count_text(std::llround(r.calls), "call");
        const std::array<std::string, 3> wordings{calls + ", " + time_text(r.time_s), calls,
                                                  thousands(std::llround(r.calls)) + " ×"};
        pair_of_lines(ui, cell, traffic_text(r.sent_bytes), ui.style(13),
                      wording(ui, cell.w, wordings, ui.small()), ui.small());
    } else if (r.id == MapRowId::sp && r.verdict != Verdict::off) {
        two_lines(ui, cell, cell.w < 100 ? "none" : "no bytes of its own", ui.small());
    } else {
        ui.canvas().text_in(cell, "–", ui.small());
    }
}

void crosses_cell(Ui& ui, Rect cell, const MapRow& r, const Cluster& cluster) {
    // The bytes that cross the slowest wire stand under its name where most stays on faster ones.
    const std::string part = bytes_that_cross(r);
    const bool under = !part.empty() && cell.h >= 32;
    const float w = std::min(cell.w, 88.0f), y = cell.center().y, h = std::min(18.0f, cell.h / 2 - 2);
    const Rect badge = under ? Rect{cell.x, y - h, w, h} : Rect{cell.x, y - 10, w, 20};
    if (under) ui.canvas().text_in({cell.x, y + 1, w, 15}, part, ui.small(), Align::center);
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
    return r.talk.empty() ? std::string(words_of(r.id).says) : r.talk;
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
    // The words say what is carried where the other columns leave room for it.
    if (width[says] > 0) {
        const std::string least_words = r.collectives.empty() ? says_text(r) : collectives_text(r);
        h = std::max(h, high(least_words, width[says]) + 16);
    }
    return h;
}

std::string row_tooltip(const MapRow& r, const MapViewState& state) {
    const MapWords& w = words_of(r.id);
    std::string t = name_of_row(r, state.style) + ", " + std::string(w.name) + "\n" + std::string(w.why)
                    + "\n" + std::string(w.cost);
    if (r.calls > 0)
        t += "\n" + r.talk + ": " + r.often + "\n" + time_text(r.time_s) + " on the wire, "
             + time_text(r.exposed_s) + " exposed";
    return t + "\nat most: " + r.bound + "\nreach for it when: " + std::string(w.reach);
}

// Draws the cells that do not depend on the other columns.
void plain_cell(Ui& ui, Column k, Rect cell, const MapRow& r, const Cluster& cluster) {
    const TextStyle words = ui.small(r.verdict != Verdict::off ? Tone::text : Tone::secondary);
    switch (k) {
    case cuts: two_lines(ui, cell, words_of(r.id).cuts, words); break;
    case says: {
        // Without room for all of it a row says how, and no longer what.
        const std::string text = says_text(r);
        const bool has_room = ui.canvas().paragraph_height(cell.w, text, words, 16) + 16 <= cell.h;
        pair_of_lines(ui, cell, has_room || r.talk.empty() ? text : collectives_text(r), words, r.often,
                      ui.small());
        break;
    }
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

std::string bytes_that_cross(const MapRow& row) {
    constexpr double kMost = 0.5;
    if (row.tier < 0 || row.sent_bytes <= 0) return {};
    const double part = row.sent_by_tier[static_cast<std::size_t>(row.tier)];
    return part < kMost * row.sent_bytes ? traffic_text(part) + " of it" : std::string();
}

int selected_row(const Scene& scene, const MapViewState& state) {
    for (std::size_t i = 0; i < state.figures->rows.size(); ++i)
        if (static_cast<int>(state.figures->rows[i].id) == state.picked
            && state.figures->rows[i].kind == scene.selection.group)
            return static_cast<int>(i);
    const std::vector<MapRow>& rows = state.figures->rows;
    if (!scene.selection.all_axes) return row_of(rows, scene.selection.group);
    return static_cast<int>(costliest_row(rows));  // nobody chose an axis
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
                           : held_between(least + (room.h - needed) / n, least, most);
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
            verdict_cell(ui, cell, r, look.width[reach] <= 0 && !look.one_line);
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

// Draws the blocks under the map's table: the card of the selected axis, the wires, and the tables of how one
// chooses.

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
    constexpr float kChipSwatch = 16, kAfter = 20;
    Canvas& c = ui.canvas();
    const auto name_of_row = [&](int k) { return words_of(state.figures->rows[k].id).key; };
    float all = -kAfter;
    for (const MapLevel::Sitter& s : level.sitters)
        all += kChipSwatch + c.text_width(name_of_row(s.row), ui.title()) + 6
               + c.text_width(traffic_text(s.sent_bytes), ui.small()) + kAfter;
    const bool with_bytes = all <= cell.w;
    for (const auto& [k, sent_bytes] : level.sitters) {
        const MapRow& r = state.figures->rows[k];
        const std::string name(name_of_row(k)), bytes = traffic_text(sent_bytes);
        const float name_w = c.text_width(name, ui.title()) + 1;
        const float bytes_w = with_bytes ? c.text_width(bytes, ui.small()) + 7 : 0;
        Rect chip = cell.cut_left(kChipSwatch + name_w + bytes_w);
        cell.cut_left(with_bytes ? kAfter : 10);
        const Hit hit = ui.area("map.sits", chip, static_cast<std::uint64_t>(r.id));
        name_row(ui, r, chip, "click to select it");
        if (selected_row(scene, state) == k || hit.hovered)
            c.rect({chip.x - 5, chip.center().y - 12, chip.w + 10, 24}, ui.theme().raised, 4);
        if (hit.focused) ui.focus_ring({chip.x - 3, chip.center().y - 10, chip.w + 6, 20}, 4);
        ui.swatch({chip.x, chip.center().y - 5}, color_of_row(ui.theme(), r.id, state));
        chip.cut_left(kChipSwatch);
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
    // The names have a quarter of the width, or a bit more where a wider font wants it.
    const float wish = c.text_width(state.figures->levels.front().note, ui.small()) + 10;
    const float label_w = std::clamp(std::max(room.w * 0.24f, std::min(wish, room.w * 0.3f)), 84.0f, 220.0f);
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
