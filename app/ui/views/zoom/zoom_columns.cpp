#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/views/zoom/view.h"
#include "core/mesh/places.h"
#include "core/plan/names.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <utility>

namespace pentamesh::ui {
namespace {

// Lengths are logical pixels.
constexpr float kHead = 42, kLowHead = 22, kCoarse = 17, kHint = 24, kFoot = 6;
constexpr float kStrip = 64, kStripCell = 38;
constexpr float kLeastColumnGap = 24, kColumnGap = 48, kMostColumnGap = 64;
constexpr std::int64_t kMostInList = 32;  // more stages or layers than these are no list
constexpr float kLeastInList = 14;

struct ColumnNeed {
    float least = 0, most = 0;
};

ColumnNeed need_of(const ZoomViewState& s, std::size_t column, float height) {
    const std::size_t levels = s.nest->levels.size();
    if (column == levels) return {124, 280};
    if (column == levels + 1) return {148, std::max(420.0f, height)};
    if (column == levels + 2) return {168, std::max(300.0f, height * 0.8f)};
    const std::int64_t count = s.nest->levels[column].count;
    if (count <= 4) return {104, 160};
    if (count <= kMostInList) return {104, 210};
    return {104, std::clamp(26 * std::sqrt(static_cast<float>(count)), 210.0f, 420.0f)};
}

// Gives each column what it needs, and what is left to those that can use more.
std::vector<float> widths_of(std::span<const ColumnNeed> needs, float room) {
    std::vector<float> w;
    for (const ColumnNeed& n : needs) w.push_back(n.least), room -= n.least;
    for (int round = 0; round < 8 && room > 1; ++round) {
        const auto open = [&](std::size_t k) { return w[k] < needs[k].most - 0.5f; };
        float wants = 0;
        for (std::size_t k = 0; k < w.size(); ++k) wants += open(k) ? 1.0f : 0.0f;
        if (wants <= 0) break;
        const float share = room / wants;
        for (std::size_t k = 0; k < w.size(); ++k) {
            const float more = open(k) ? std::min(share, needs[k].most - w[k]) : 0;
            w[k] += more, room -= more;
        }
    }
    return w;
}

// Returns where the columns go, and sets how many of them stand on the strip at the left: those before the
// one that fills the view, and those without room. The last columns have room first.
std::vector<Rect> places_of(const ZoomViewState& s, Rect room, std::size_t& on_strip) {
    const std::size_t n = s.nest->levels.size() + kZoomInside;
    std::vector<ColumnNeed> needs;
    for (std::size_t k = 0; k < n; ++k) needs.push_back(need_of(s, k, room.h));
    const bool fills = s.filled >= 0;
    const auto strip = [](std::size_t first) { return first > 0 ? kStrip + kLeastColumnGap : 0.0f; };
    std::size_t first = fills ? static_cast<std::size_t>(s.filled) : 0;
    for (; !fills && first + 1 < n; ++first) {
        float least = strip(first) + kLeastColumnGap * static_cast<float>(n - 1 - first);
        for (std::size_t k = first; k < n; ++k) least += needs[k].least;
        if (least <= room.w) break;
    }
    on_strip = first;
    std::vector<Rect> places(n, Rect{room.right(), room.y, 0, room.h});
    const float cell = std::min(kStripCell, room.h / static_cast<float>(std::max<std::size_t>(1, first)));
    for (std::size_t k = 0; k < first; ++k)
        places[k] = {room.x, room.y + cell * static_cast<float>(k), kStrip, cell - 4};
    Rect rest = room;
    rest.cut_left(strip(first));
    if (fills) {
        places[first] = rest;
        return places;
    }
    const auto gaps = static_cast<float>(n - 1 - first);
    const std::span<const ColumnNeed> shown = std::span(needs).subspan(first);
    float spare = rest.w - kLeastColumnGap * gaps;
    for (const ColumnNeed& need : shown) spare -= need.least;
    // A beam is seen best where the gap that it crosses is wide: gaps get a part of what is left.
    constexpr float kPartOfGaps = 0.25f;
    float gap =
        gaps > 0 ? std::clamp(kLeastColumnGap + spare * kPartOfGaps / gaps, kLeastColumnGap, kColumnGap) : 0;
    const std::vector<float> w = widths_of(shown, rest.w - gap * gaps);
    float used = 0;
    for (const float each : w) used += each;
    if (gaps > 0) gap = std::clamp((rest.w - used) / gaps, kLeastColumnGap, kMostColumnGap);
    for (std::size_t k = first; k < n; ++k) {
        places[k] = rest.cut_left(w[k - first]);
        rest.cut_left(gap);
    }
    return places;
}

bool is_last_level(const Nest& nest, std::size_t column) {
    return column + 1 == nest.levels.size();
}

ExactGrid grid_of(const ZoomViewState& s, std::size_t column, Rect body, float scale) {
    const Nest& nest = *s.nest;
    const bool layers = column == nest.levels.size();
    const auto count = layers ? static_cast<std::int64_t>(s.layers->items.size()) : nest.levels[column].count;
    BoxShape shape;
    const bool list = layers || nest.levels[column].kind == NestKind::stage;
    if (list && count <= kMostInList && body.h >= kLeastInList * static_cast<float>(count)
        && body.w < 4 * body.h)
        shape.rows = BoxShape::Rows::one_column, shape.least_h = kLeastInList - 3;
    if (layers) shape.aspect = 3;
    return exact_grid(body, scale, count, shape);
}

// Lays out what a column shows below its head.
void lay_body(const ZoomViewState& s, ZoomColumn& c, std::size_t column, float scale, bool hint) {
    const std::size_t levels = s.nest->levels.size();
    c.body = c.place;
    c.body.cut_top(c.place.h > 170 ? kHead : kLowHead);
    c.body.cut_bottom(hint ? kHint : kFoot);  // the frame of a node needs its room
    c.taken = c.body;
    if (column == levels + 1) {
        lay_matrices(*s.nest, s.layers->items[s.item].tensors, s.rank, c.body, scale, c);
        for (const MatrixBox& m : c.matrices)
            if (m.tensor == s.tensor) c.taken = m.r;
    }
    if (column > levels) return;
    c.grid = grid_of(s, column, c.body, scale);
    if (c.grid.each > 1) {
        c.body.cut_top(kCoarse);
        c.grid = grid_of(s, column, c.body, scale);
    }
    if (c.grid.boxes == 0) return;
    const std::int64_t taken =
        column == levels ? static_cast<std::int64_t>(s.item) : path_of_rank(*s.nest, s.rank)[column];
    c.taken = c.grid.box_of(taken);
}

}  // namespace

void lay_columns(Ui& ui, Rect room, ZoomViewState& s, double amount) {
    const float scale = ui.canvas().scale();
    const bool hint = !ui.state().for_picture && room.h > 300;
    std::size_t on_strip = 0;
    const std::vector<Rect> to = places_of(s, room, on_strip);
    s.columns.assign(to.size(), {});
    const bool flies = amount < 1 && s.from.size() == to.size();
    for (std::size_t k = 0; k < to.size(); ++k) {
        ZoomColumn& c = s.columns[k];
        c.place = to[k];
        if (flies) {
            const auto t = static_cast<float>(amount);
            const auto between = [t](float a, float b) { return a + (b - a) * t; };
            const Rect &a = s.from[k], &b = to[k];
            c.place = {between(a.x, b.x), between(a.y, b.y), between(a.w, b.w), between(a.h, b.h)};
        }
        c.on_strip = k < on_strip;
        c.shown = c.place.w >= kStrip / 2 && c.place.h >= 10;
        if (c.on_strip || !c.shown)
            c.body = c.taken = c.place;
        else
            lay_body(s, c, k, scale, hint);
    }
}

std::int64_t rank_with(const Nest& nest, std::int64_t rank, std::size_t level, std::int64_t index) {
    NestPath path = path_of_rank(nest, rank);
    path[level] = index;
    return first_rank_of(nest, path);
}

Color color_of_level(const Theme& theme, const Nest& nest, std::size_t level) {
    return level < nest.levels.size() ? color_of(theme, nest.levels[level].group) : theme.secondary;
}

std::string taken_name(const ZoomViewState& s, std::size_t column) {
    const Nest& nest = *s.nest;
    const std::size_t levels = nest.levels.size();
    if (column < levels) {
        const NestPath path = path_of_rank(nest, s.rank);
        return step_label(nest, std::span(path).first(column + 1));
    }
    if (column == levels) return "rank " + thousands(s.rank);
    if (column == levels + 1) return s.layers->items[s.item].label;
    return std::string(name_of(nest.tensors[s.tensor].id));
}

namespace {

// Says what stands over a column, the longer wordings first.
struct HeadWords {
    std::vector<std::string> name, under;
};

std::string parts_of_rank(const ZoomViewState& s) {
    const RankContents contents = contents_of(s.nest->plan, s.nest->mesh, s.rank);
    const auto layers =
        std::ranges::count_if(s.layers->items, [](const NestItem& i) { return i.layer >= 0; });
    std::string text = contents.embedding ? "embedding, " : "";
    text += plural(layers, "layer", "layers");
    const auto chunks = static_cast<std::int64_t>(contents.chunks.size());
    if (chunks > 1) text += " in " + thousands(chunks) + " chunks";
    const bool has_head = contents.head && s.layers->items.back().layer < 0;  // a tied one is the embedding
    if (has_head) text += ", head";
    // A layer that predicts further tokens is no box of its own.
    if (contents.mtp_layers > 0) text += " (and " + thousands(contents.mtp_layers) + " MTP)";
    return text;
}

HeadWords head_of(const Scene& scene, const ZoomViewState& s, std::size_t column) {
    const Nest& nest = *s.nest;
    const std::size_t levels = nest.levels.size();
    const Cluster& cluster = scene.plan.cluster;
    if (column < levels) {
        const NestLevel& level = nest.levels[column];
        const int tier = scene.evaluation.groups[level.group].slowest_tier;
        const std::string axis = axis_label(level.group), name = tier_label(cluster, tier);
        const std::string line(words_of(mark_of_tier({}, cluster, tier).dash));
        const std::string where = tier == 0 ? "one " + std::string(domain_name(cluster)) : line;
        return {{level_text(level), thousands(level.count)},
                {axis + ", " + name + ", " + where, axis + ", " + name, axis}};
    }
    if (column == levels)
        return {{taken_name(s, column)}, {parts_of_rank(s), plural(s.layers->count, "part", "parts")}};
    if (column == levels + 1) {
        std::string names;
        for (const MatrixBox& m : s.columns[column].matrices)
            names += (names.empty() ? "" : ", ") + matrix_name(nest.tensors[m.tensor]);
        return {{taken_name(s, column)}, {"area is bytes: " + names, "area is bytes"}};
    }
    const Placement& p = nest.tensors[s.tensor];
    const Part& part = s.facts->piece.part;
    std::string cut = thousands(part.box[1].size()) + " × " + thousands(part.box[2].size());
    const bool whole = part.box[1].size() == p.shape[1] && part.box[2].size() == p.shape[2];
    cut = (whole ? "whole: " : "cut to ") + cut;
    if (p.dims[0] != Dim::experts || p.shape[0] <= 1)
        return {{taken_name(s, column), std::string(short_name_of(p.id))}, {cut}};
    const std::string held = thousands(part.box[0].size()) + " of " + thousands(p.shape[0]) + " experts";
    return {{taken_name(s, column), std::string(short_name_of(p.id))}, {held + ", each " + cut, held}};
}

void draw_head(Ui& ui, const Scene& scene, const ZoomViewState& s, std::size_t column) {
    Canvas& c = ui.canvas();
    const ZoomColumn& shown = s.columns[column];
    const Nest& nest = *s.nest;
    Rect head = shown.place;
    head.h = shown.body.y - head.y - (shown.grid.each > 1 ? kCoarse : 0);
    const HeadWords words = head_of(scene, s, column);
    const bool level = column < nest.levels.size();
    Rect name = head.cut_top(19);
    if (level) {
        ui.swatch({name.x, name.y + 4}, color_of_level(ui.theme(), nest, column), 11);
        name.cut_left(17), head.cut_left(17);
    }
    const TextStyle bold = ui.style(14, Tone::text, Face::semibold);
    const std::string title(wording(ui, name.w, words.name, bold));
    write_whole(ui, name, title, bold);
    const float end = c.text_width(title, bold) + 10;
    constexpr float kLine = 30;
    if (level && name.w - end >= kLine) {
        const TierMark mark = mark_of_tier(ui.theme(), scene.plan.cluster,
                                           scene.evaluation.groups[nest.levels[column].group].slowest_tier);
        const float y = name.center().y;
        c.line({name.x + end, y}, {name.x + end + kLine, y}, mark.color, 1.75f, mark.dash);
    }
    if (head.h >= 15)
        write_whole(ui, head.cut_top(17), wording(ui, head.w, words.under, ui.small()), ui.small());
    if (shown.grid.each <= 1) return;
    const std::string each = "each box is " + thousands(shown.grid.each);
    const std::string what =
        column < nest.levels.size() ? std::string(name_of(nest.levels[column].kind)) : "layer";
    const std::vector<std::string> said{each + " " + what + "s", each, "1 : " + thousands(shown.grid.each)};
    const Rect row{shown.place.x, shown.body.y - kCoarse, shown.place.w, kCoarse};
    const TextStyle plain = ui.small(Tone::text);
    write_whole(ui, row, wording(ui, row.w, said, plain), plain);
}

// Says how the boxes of one column look.
struct GridLook {
    Color dim, full, line{0, 0, 0, 0};
    std::int64_t taken = 0, highlighted = -1;                     // boxes
    bool solid = true;                                            // the taken one is filled, else framed
    std::function<std::vector<std::string>(std::int64_t)> words;  // of a box, the longest first
    std::string right;                                            // of the taken one
};

void draw_label(Ui& ui, const ExactGrid& g, Rect r, std::int64_t i, const GridLook& look) {
    const bool taken = i == look.taken;
    TextStyle style = ui.style(r.h >= 17 ? 12.0f : 11.0f, Tone::secondary);
    if (taken) style = ui.style(style.size, Tone::text, Face::semibold);
    if (taken && look.solid) style.color = ink_on(look.full);
    const bool list = g.cols == 1, large = r.h >= 44 && r.w >= 44;
    Rect inner = r.inset(list || large ? 9.0f : 2.0f, 0);
    if (large && !list) inner = {inner.x, r.y + 7, inner.w, 18};
    if (list && r.h > 60) inner = {inner.x, r.y + 8, inner.w, 18};
    const std::vector<std::string> words = look.words(i);
    const std::string_view text = wording(ui, inner.w, words, style);
    ui.canvas().text_in(inner, text, style, list || large ? Align::left : Align::center);
    inner.cut_left(ui.canvas().text_width(text, style) + 12);
    if (taken && !look.right.empty()) write_whole(ui, inner, look.right, ui.small(), Align::right);
}

// Returns true if every box has room for its shortest words: a row of numbers does not end in the middle.
bool has_labels(Ui& ui, const ExactGrid& g, const GridLook& look) {
    constexpr float kLeastHeight = 12.5f;
    const Rect r = g.box(0);
    const float room = r.w - (g.cols == 1 || (r.h >= 44 && r.w >= 44) ? 18.0f : 4.0f);
    if (r.h < kLeastHeight) return false;
    for (const std::int64_t i : {std::int64_t{0}, g.boxes / 2, g.boxes - 1}) {
        const std::vector<std::string> words = look.words(i);
        if (ui.canvas().text_width(words.back(), ui.style(r.h >= 17 ? 12.0f : 11.0f)) > room) return false;
    }
    return true;
}

void draw_grid(Ui& ui, const ExactGrid& g, const GridLook& look) {
    Canvas& c = ui.canvas();
    const bool labels = has_labels(ui, g, look);
    for (std::int64_t i = 0; i < g.boxes; ++i) {
        const Rect r = g.box(i);
        const bool taken = i == look.taken;
        const float radius = std::min(r.w, r.h) >= 16 ? 2.5f : 0.0f;
        c.rect(r, taken && look.solid ? look.full : look.dim, radius);
        if (look.line.a > 0) c.frame(r, look.line, 1, radius);
        if (taken && !look.solid) c.frame(r, ui.theme().text, 2, radius);
        if (i == look.highlighted) c.frame(r, ui.theme().text, 1.5f, radius);
        if (labels) draw_label(ui, g, r, i, look);
    }
}

// Returns the box of a level that the mouse is over, here or in another view; -1: none.
std::int64_t highlighted_box(const Scene& scene, const ZoomViewState& s, std::size_t column,
                             ZoomUnder under) {
    if (under.column == static_cast<int>(column)) return under.box;
    const Nest& nest = *s.nest;
    if (under.column >= 0 || column >= nest.levels.size()) return -1;
    const std::int64_t each = s.columns[column].grid.each;
    if (scene.hover.rank >= 0 && scene.hover.rank < nest.mesh.world) {
        const NestPath there = path_of_rank(nest, scene.hover.rank), here = path_of_rank(nest, s.rank);
        const auto end = here.begin() + static_cast<std::ptrdiff_t>(column);
        return std::equal(here.begin(), end, there.begin()) ? there[column] / each : -1;
    }
    const bool stages = nest.levels[column].kind == NestKind::stage;
    return stages && scene.hover.stage >= 0 ? scene.hover.stage / each : -1;
}

std::string numbers_of_box(const ExactGrid& g, std::int64_t i) {
    const std::int64_t first = i * g.each, last = std::min(first + g.each, g.count) - 1;
    return first == last ? thousands(first) : thousands(first) + "–" + thousands(last);
}

void draw_level(Ui& ui, const Scene& scene, const ZoomViewState& s, std::size_t column, ZoomUnder under) {
    const Theme& t = ui.theme();
    const Nest& nest = *s.nest;
    const ExactGrid& g = s.columns[column].grid;
    if (g.boxes == 0) return;
    GridLook look;
    look.highlighted = highlighted_box(scene, s, column, under);
    if (column == nest.levels.size()) {
        const std::vector<NestItem>& items = s.layers->items;
        look.dim = t.panel, look.line = t.hairline, look.solid = false;
        look.taken = static_cast<std::int64_t>(s.item) / g.each;
        look.right = memory_text(items[s.item].bytes);
        look.words = [&](std::int64_t i) -> std::vector<std::string> {
            const NestItem& item = items[static_cast<std::size_t>(i * g.each)];
            if (item.layer < 0) return {item.label, item.label.substr(0, 3)};
            if (g.each > 1) return {item.label + " on", thousands(item.layer)};
            if (i == look.taken || i == 0 || items[static_cast<std::size_t>(i - 1)].layer < 0)
                return {item.label, thousands(item.layer)};
            return {thousands(item.layer)};
        };
        return draw_grid(ui, g, look);
    }
    const NestLevel& level = nest.levels[column];
    look.full = color_of(t, level.group);
    look.dim = mix(t.window, look.full, 0.28f);
    const std::int64_t taken = path_of_rank(nest, s.rank)[column];
    look.taken = taken / g.each;
    const std::string kind(name_of(level.kind));
    look.words = [&](std::int64_t i) -> std::vector<std::string> {
        if (g.each > 1) return {numbers_of_box(g, i)};
        if (is_last_level(nest, column)) {
            const std::string rank = thousands(rank_with(nest, s.rank, column, i));
            return {"rank " + rank, rank};
        }
        if (g.cols == 1 && i > 0 && i + 1 < g.boxes) return {thousands(i)};
        return {kind + " " + thousands(i), thousands(i)};
    };
    draw_grid(ui, g, look);
    // The frame is the node: its GPUs have the fast links.
    if (scene.evaluation.groups[level.group].slowest_tier == 0)
        ui.canvas().frame(g.outline().inset(-5), look.full, 1.75f, 6);
}

// Draws a column of which only the taken box has room, at the left.
void draw_way(Ui& ui, const ZoomViewState& s, std::size_t column) {
    const Theme& t = ui.theme();
    const Rect r = s.columns[column].place;
    const bool level = column < s.nest->levels.size();
    const Color ground = level ? color_of_level(t, *s.nest, column) : t.raised;
    ui.canvas().rect(r, ground, 3);
    if (!level) ui.canvas().frame(r, t.hairline, 1, 3);
    const std::string name = taken_name(s, column);
    const std::size_t blank = name.find(' ');
    const TextStyle style = ui.style(11).in(level ? ink_on(ground) : t.text);
    const Rect inner = r.inset(5, 0);
    if (r.h >= 30 && blank != std::string::npos) {
        Rect lines = inner.inset(0, (r.h - 28) / 2);
        write_whole(ui, lines.cut_top(14), name.substr(0, blank), style);
        write_whole(ui, lines.cut_top(14), name.substr(blank + 1),
                    ui.style(11, Tone::text, Face::semibold).in(style.color));
        return;
    }
    const std::vector<std::string> words{name, blank == std::string::npos ? "" : name.substr(blank + 1)};
    if (r.h >= 13) ui.canvas().text_in(inner, wording(ui, inner.w, words, style), style);
}

// Draws a beam from the taken box of each column to the next column.
void draw_beams(Ui& ui, const ZoomViewState& s) {
    for (std::size_t k = 0; k + 1 < s.columns.size(); ++k) {
        const ZoomColumn &from = s.columns[k], &to = s.columns[k + 1];
        if (!from.shown || !to.shown || to.on_strip) continue;
        const Rect a = from.taken, b = to.grid.boxes > 0 ? to.grid.outline() : to.body;
        ui.canvas().polygon({{a.right(), a.y}, {b.x, b.y}, {b.x, b.bottom()}, {a.right(), a.bottom()}},
                            ui.theme().beam);
    }
}

// Names the matrices of the layer that are too small to be seen.
void draw_too_small(Ui& ui, const ZoomViewState& s, const ZoomColumn& column) {
    if (column.too_small.empty()) return;
    std::string names;
    double bytes = 0;
    for (const int i : column.too_small) {
        names += (names.empty() ? "" : ", ") + std::string(short_name_of(s.nest->tensors[i].id));
        bytes += part_of(s.nest->plan, s.nest->mesh, s.nest->tensors[i], s.rank).bytes;
    }
    const std::vector<std::string> words{
        "too small to draw: " + names + ", " + memory_text(bytes), "not drawn: " + names,
        "not drawn: " + thousands(static_cast<std::int64_t>(column.too_small.size()))};
    const Rect row{column.body.x, column.body.bottom() - 15, column.body.w, 15};
    const TextStyle style = ui.style(11, Tone::secondary);
    write_whole(ui, row, wording(ui, row.w, words, style), style);
}

void draw_hint(Ui& ui, const ZoomViewState& s) {
    const ZoomColumn& last = s.filled >= 0 ? s.columns[static_cast<std::size_t>(s.filled)] : s.columns.back();
    const float left = s.columns.front().place.x, y = last.place.bottom() - kHint + 5;
    const std::vector<std::string> words =
        s.filled >= 0
            ? std::vector<
                std::string>{"Enter: the next column; Escape: all columns; the way down is at the left",
                             "Escape: all columns"}
            : std::vector<std::string>{
                "click a column's name to fill the window with it; the way down stays as a strip at the left",
                "click a column's name to fill the window with it"};
    const Rect row{left, y, last.place.right() - left, 18};
    write_whole(ui, row, wording(ui, row.w, words, ui.small()), ui.small(Tone::secondary));
}

}  // namespace

void draw_columns(Ui& ui, const Scene& scene, const ZoomViewState& s, ZoomUnder under) {
    const std::size_t levels = s.nest->levels.size();
    draw_beams(ui, s);
    for (std::size_t k = 0; k < s.columns.size(); ++k) {
        const ZoomColumn& column = s.columns[k];
        if (!column.shown) continue;
        if (column.on_strip) {
            draw_way(ui, s, k);
            continue;
        }
        const Canvas::Clip clip = ui.canvas().clip(column.place.inset(-7, -2));
        draw_head(ui, scene, s, k);
        if (k <= levels) draw_level(ui, scene, s, k, under);
        if (k == levels + 1) {
            draw_matrices(ui, *s.nest, s.rank, column.matrices);
            draw_too_small(ui, s, column);
            if (under.column == static_cast<int>(k) && under.box >= 0)
                ui.canvas().frame(column.matrices[static_cast<std::size_t>(under.box)].r, ui.theme().text,
                                  1.5f);
            ui.canvas().frame(column.taken.inset(-3), ui.theme().text, 2);
        }
        if (k == levels + 2) draw_tensor(ui, column.body, *s.nest, s.tensor, s.rank, s.facts->tensor);
        // The keyboard is on this column.
        if (s.column == static_cast<int>(k) && k <= levels)
            ui.canvas().frame(column.taken.inset(-2), ui.theme().text, 2, 3);
    }
    if (!ui.state().for_picture && s.columns.back().place.h > 300) draw_hint(ui, s);
}

}  // namespace pentamesh::ui
