#include "app/ui/views/zoom/view.h"

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/views/zoom/view.h"
#include "core/plan/names.h"
#include "core/sharding/placement.h"
#include "core/teach/glossary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace pentamesh::ui {
namespace {

// A slice is never so thin that it cannot be seen or met.
constexpr double kLeastShare = 0.14;
// Shares of the parent or the child: room above children for the parent's name, and around and between them.
constexpr double kHead = 0.16, kClusterHead = 0.07, kPad = 0.02, kGap = 0.07;
constexpr double kBestAspect = 1.5;
// More children than this are one large box and a map; so many GPUs still stand side by side.
constexpr std::int64_t kMostEqual = 4, kMostGpus = 16;
constexpr double kLead = 0.76, kMore = 0.09;  // shares of the large box, and of the words over the map

// Fills a room of the parent with a grid.
void fill_grid(NestGrid& g, const NestBox& room, std::int64_t count) {
    double best = 1e300;
    // Columns about the square root of the best shape; the row that is not full costs its empty room.
    const double ideal = std::sqrt(static_cast<double>(count) * room.w / room.h / kBestAspect);
    const auto from = static_cast<std::int64_t>(std::max(1.0, std::floor(ideal / 2)));
    const auto to = std::min(count, static_cast<std::int64_t>(std::ceil(ideal * 2)) + 1);
    for (std::int64_t cols = std::min(from, count); cols <= to; ++cols) {
        const std::int64_t rows = (count + cols - 1) / cols;
        const double aspect =
            room.w / static_cast<double>(cols) / (room.h / static_cast<double>(rows)) / kBestAspect;
        const double empty = static_cast<double>(rows * cols) / static_cast<double>(count) - 1;
        const double cost = std::abs(std::log(aspect)) + 6 * empty + (empty > 0 ? 0.35 : 0);
        if (cost < best) best = cost, g.cols = cols, g.rows = rows;
    }
    g.pitch_x = room.w / static_cast<double>(g.cols);
    g.pitch_y = room.h / static_cast<double>(g.rows);
    const double gap = kGap * std::min(g.pitch_x, g.pitch_y);
    g.w = g.pitch_x - gap;
    g.h = g.pitch_y - gap;
    g.x = room.x + gap / 2;
    g.y = room.y + gap / 2;
}

NestBox room_in(double w, double h, bool cluster) {
    const double head = nest_head(w, h, cluster), pad = kPad * std::min(w, h);
    return {pad, head, w - 2 * pad, h - head - pad};
}

// Returns the same with one child large.
NestGrid lead_grid(double w, double h, std::int64_t count, bool cluster) {
    NestGrid g;
    g.enlarged = true;
    NestBox map = room_in(w, h, cluster);
    g.large = map;
    const double gap = 2 * kPad * std::min(w, h);
    if (map.w > map.h) {
        g.large.w = map.w * kLead;
        map.x += g.large.w + gap;
        map.w -= g.large.w + gap;
    } else {
        g.large.h = map.h * kLead;
        map.y += g.large.h + gap;
        map.h -= g.large.h + gap;
    }
    g.more = {map.x, map.y, map.w, kMore * h};
    map.y += g.more.h;
    map.h -= g.more.h;
    fill_grid(g, map, count);
    return g;
}

}  // namespace

double nest_head(double w, double h, bool cluster) {
    return std::min((cluster ? kClusterHead : kHead) * h, 0.25 * w);
}

NestGrid nest_grid(double w, double h, std::int64_t count, bool cluster) {
    NestGrid g;
    fill_grid(g, room_in(w, h, cluster), count);
    return g;
}

PlacedNest place_boxes(Nest nest, double aspect) {
    PlacedNest placed{std::move(nest), {}, std::clamp(aspect, 0.25, 8.0)};
    for (const NestLevel& level : placed.levels)
        placed.enlarged.push_back(level.count > (level.gpus == 1 ? kMostGpus : kMostEqual));
    return placed;
}

PlacedChildren placed_children(const PlacedNest& nest, std::span<const std::int64_t> path, const NestBox& box,
                               std::int64_t lead) {
    PlacedChildren out{children_of(nest, path), {}, path.size() > nest.levels.size(), lead};
    const std::int64_t count = std::max<std::int64_t>(1, out.count);
    const std::size_t depth = path.size();
    const bool one = depth < nest.enlarged.size() && nest.enlarged[depth];
    const bool cluster = depth == 0 && !nest.levels.empty();
    out.grid = one ? lead_grid(box.w, box.h, count, cluster) : nest_grid(box.w, box.h, count, cluster);
    return out;
}

NestBox grid_box(const NestGrid& g, const NestBox& parent, std::int64_t i) {
    const std::int64_t row = i / g.cols, column = i % g.cols;
    return {parent.x + g.x + static_cast<double>(column) * g.pitch_x,
            parent.y + g.y + static_cast<double>(row) * g.pitch_y, g.w, g.h};
}

NestBox child_box(const PlacedChildren& children, const NestBox& parent, std::int64_t i) {
    const NestGrid& g = children.grid;
    if (!children.sliced && g.enlarged && i == children.lead)
        return {parent.x + g.large.x, parent.y + g.large.y, g.large.w, g.large.h};
    if (!children.sliced) return grid_box(g, parent, i);
    double sum = 0, before = 0, own = 0, all = 0;
    for (const NestItem& item : children.items) sum += item.weight;
    for (std::size_t k = 0; k < children.items.size(); ++k) {
        const double share = std::max(kLeastShare, sum > 0 ? children.items[k].weight / sum : 0);
        if (static_cast<std::int64_t>(k) < i) before += share;
        if (static_cast<std::int64_t>(k) == i) own = share;
        all += share;
    }
    const double pad = kPad * std::min(parent.w, parent.h), head = nest_head(parent.w, parent.h);
    NestBox room{parent.x + pad, parent.y + head, parent.w - 2 * pad, parent.h - head - pad};
    const double gap = pad;
    if (room.w >= room.h) return {room.x + room.w * before / all, room.y, room.w * own / all - gap, room.h};
    return {room.x, room.y + room.h * before / all, room.w, room.h * own / all - gap};
}

NestBox box_of(const PlacedNest& nest, std::span<const std::int64_t> path) {
    NestBox box{0, 0, nest.aspect, 1};
    for (std::size_t k = 0; k < path.size(); ++k)
        box = child_box(placed_children(nest, path.first(k), box, path[k]), box, path[k]);
    return box;
}

// Shows the place in the zoom: breadcrumbs, a sentence, and the ladder of its levels.

void draw_crumbs(Ui& ui, Rect row, Rect room, ZoomViewState& s) {
    Canvas& c = ui.canvas();
    const std::size_t n = s.path.size();
    std::vector<std::string> labels;
    float all = 0;
    for (std::size_t k = 0; k <= n; ++k) {
        labels.push_back(step_label(*s.nest, std::span(s.path).first(k)));
        all += c.text_width(labels.back(), ui.title()) + 18;
    }
    std::size_t from = 0;  // names without room are left out from the left, after the cluster
    while (all > row.w && from + 2 < n) all -= c.text_width(labels[++from], ui.title()) + 18;
    std::optional<NestPath> to;
    for (std::size_t k = 0; k <= n; ++k) {
        if (k > 0 && k <= from) continue;
        const bool last = k == n;
        TextStyle style = last ? ui.title() : ui.style(13, Tone::secondary);
        const float w = c.text_width(labels[k], style) + 1;
        const Rect box = row.cut_left(std::min(w, std::max(0.0f, row.w)));
        const Hit hit = ui.area("zoom.crumb", box, k);
        if (hit.hovered) style.color = ui.theme().text;
        c.text_in(box, labels[k], style);
        if (hit.focused) ui.focus_ring(box, 3);
        if (hit.clicked && !last)
            to = NestPath(s.path.begin(), s.path.begin() + static_cast<std::ptrdiff_t>(k));
        if (!last && row.w > 16)
            c.text_in(row.cut_left(17), k == 0 && from > 0 ? "…" : "›", ui.style(13, Tone::secondary),
                      Align::center);
    }
    if (to) fly(ui, room, s, *to);
}

// Says what is nested here, and what its parts send each other.
void draw_caption(Ui& ui, Rect row, const Scene& scene, const ZoomViewState& s) {
    Canvas& c = ui.canvas();
    std::string bold = product_text(*s.nest), plain;
    const std::size_t depth = s.path.size();
    if (depth < s.nest->levels.size()) {
        const NestLevel& l = s.nest->levels[depth];
        const GroupKind listed = group_listed_under(scene.evaluation, l.group);
        plain = axis_label(listed) + ": " + caption_of(scene.plan, scene.evaluation, listed).text();
    } else if (s.nest->mesh.world > 0) {
        const std::int64_t rank = first_rank_of(*s.nest, s.path);
        bold = "rank " + thousands(rank);
        const NestChildren inside = children_of(*s.nest, s.path);
        const std::vector<std::string> cuts = cut_sentences(*s.nest, tensors_at(*s.nest, s.path), rank);
        for (const std::string& cut : cuts) plain += (plain.empty() ? "" : "; ") + cut;
        if (cuts.empty() && inside.kind == NestKind::layer)
            plain = "holds " + plural(inside.count, "part", "parts") + " of the model, one after the other";
        if (cuts.empty() && inside.kind != NestKind::layer)
            plain = "what it holds of " + step_label(*s.nest, s.path) + ", in proportion";
    }
    bold += ".";
    write_left(ui, row, bold, ui.title(), 8);
    if (row.w > 40 && c.text_in(row, plain, ui.style(13, Tone::secondary)) && ui.hovers(row))
        ui.tooltip(bold + "\n" + plain);
}

namespace {

constexpr std::array<std::string_view, 3> kInside{"layers", "blocks of a layer", "its tensors"};

// Returns the name of a level of the ladder and what it is made of; 0 is the cluster.
std::pair<std::string, std::string> level_words(const Scene& scene, const Nest& nest, std::size_t k) {
    if (k == 0) return {"cluster", plural(scene.evaluation.mesh.world, "GPU", "GPUs")};
    if (k > nest.levels.size()) return {std::string(kInside[k - nest.levels.size() - 1]), ""};
    const NestLevel& l = nest.levels[k - 1];
    const bool by_axis = l.kind == NestKind::cp || l.kind == NestKind::tp || l.kind == NestKind::edp
                         || l.kind == NestKind::ep || l.kind == NestKind::etp;
    return {thousands(l.count) + " " + (by_axis ? axis_label(l.group) : std::string(name_of(l.kind)) + "s"),
            l.gpus > 1 ? "of " + plural(l.gpus, "GPU", "GPUs") : "one GPU each"};
}

// Returns the way to a level: deeper along the selected GPU, else through the first of everything.
NestPath path_to_level(const Nest& nest, NestPath path, std::size_t level, std::size_t place,
                       const NestPath& way) {
    const std::size_t levels = nest.levels.size();
    path.resize(std::min({path.size(), level, level > place ? levels : level}));
    while (path.size() < level) {
        const bool on_way = path.size() < way.size() && std::equal(path.begin(), path.end(), way.begin());
        path.push_back(on_way                  ? way[path.size()]
                       : path.size() == levels ? first_to_enter(children_of(nest, path))
                                               : 0);
    }
    return legal_path(nest, path);
}

void draw_level(Ui& ui, Rect row, const Scene& scene, const Nest& nest, std::size_t k, bool here) {
    constexpr float kTwoLines = 38;
    Canvas& c = ui.canvas();
    const bool mesh = k > 0 && k <= nest.levels.size(), high = row.h >= kTwoLines;
    if (mesh) ui.swatch({row.x, row.center().y - 6}, color_of_level(ui.theme(), nest, k - 1), 12);
    row.cut_left(20);
    if (mesh && high) {
        const GroupSummary& g = scene.evaluation.groups[nest.levels[k - 1].group];
        const TierMark mark = mark_of_tier(ui.theme(), scene.plan.cluster, g.slowest_tier);
        const Rect right = row.cut_right(78);
        ui.badge({right.x, right.center().y - 10, right.w, 20},
                 tier_label(scene.plan.cluster, g.slowest_tier), mark.color, mark.dash);
    }
    const auto [text, more] = level_words(scene, nest, k);
    const TextStyle style =
        here ? ui.title() : ui.style(13, k > nest.levels.size() ? Tone::secondary : Tone::text);
    if (high && !more.empty()) {
        c.text_in({row.x, row.center().y - 17, row.w, 17}, text, style);
        c.text_in({row.x, row.center().y, row.w, 17}, more, ui.small());
    } else {
        c.text_in(row, text, style);
    }
}

}  // namespace

// Draws the ladder from the cluster to a tensor, a level for each axis, with the current place.
void draw_ladder(Ui& ui, Rect side, Rect canvas, Scene& scene, ZoomViewState& s) {
    const std::size_t n = s.nest->levels.size() + 1 + kInside.size();
    ui.section(side.cut_top(20), "LEVELS");
    const float h = std::clamp(side.h / static_cast<float>(n + (scene.evaluation.mesh.has_experts ? 1 : 0)),
                               24.0f, 44.0f);
    std::optional<NestPath> to;
    const NestPath way = selected_path(scene, s);
    const std::size_t place = tensors_at(*s.nest, s.path).empty() ? s.path.size() : n - 1;
    for (std::size_t k = 0; k < n; ++k) {
        const Rect row = side.cut_top(h);
        if (side.h < -1) break;
        const Hit hit = ui.area("zoom.level", row, k);
        row_ground(ui, row.inset(0, 1), hit, k == place);
        draw_level(ui, row.inset(8, 0), scene, *s.nest, k, k == place);
        if (hit.clicked) to = path_to_level(*s.nest, s.path, k, place, way);
    }
    if (scene.evaluation.mesh.has_experts && side.h >= 34) {
        const std::int64_t ep = scene.evaluation.groups[GroupKind::ep].degree;
        ui.swatch({side.x + 8, side.y + 8}, color_of(ui.theme(), GroupKind::ep), 12);
        const std::string text =
            s.nest->fold == Fold::experts
                ? "The same GPUs, as the experts have them; attention has the dense fold."
                : "ep " + thousands(ep) + " folds the same GPUs anew for the experts.";
        ui.canvas().paragraph({side.x + 28, side.y + 4, side.w - 32, side.h}, text, ui.small(), 17);
    }
    if (to) fly(ui, canvas, s, *to);
}

// Draws one projection with its cut: the part of this GPU, the parts of its peers.

namespace {

GroupKind group_of_cut(const Placement& p, Axis a) {
    if (a == Axis::ep) return GroupKind::ep;
    return p.expert ? GroupKind::etp : GroupKind::tp;
}

// Draws the whole matrix in `r`, and in it the part that the rank holds.
void matrix(Ui& ui, Rect r, const Placement& p, const Part& part) {
    Canvas& c = ui.canvas();
    const Theme& t = ui.theme();
    const AxisPlacement& tp = p.on(Axis::tp);
    const Color axis = color_of(t, group_of_cut(p, Axis::tp));
    if (tp.size > 1 && tp.spread != Spread::cut) {  // the same on each of tp's ranks
        c.pattern(r, Pattern::hatched, axis, mix(t.window, axis, 0.12f));
        c.frame(r, axis, 1);
        return;
    }
    if (tp.size <= 1) {  // whole, here
        c.rect(r, mix(t.window, t.secondary, 0.45f));
        c.frame(r, t.secondary, 1);
        return;
    }
    c.rect(r, mix(t.window, axis, 0.16f));
    const bool rows = tp.dim == Dim::rows;
    const std::size_t dim = rows ? 1 : 2;
    const auto whole = static_cast<double>(p.shape[dim]);
    const auto at = [&](std::int64_t i) { return static_cast<float>(static_cast<double>(i) / whole); };
    const float a = at(part.box[dim].begin), b = at(part.box[dim].end);
    const Rect held = rows ? Rect{r.x, r.y + r.h * a, r.w, std::max(1.0f, r.h * (b - a))}
                           : Rect{r.x + r.w * a, r.y, std::max(1.0f, r.w * (b - a)), r.h};
    c.rect(held, axis);
    const float pitch = (rows ? r.h : r.w) / static_cast<float>(tp.parts);
    if (pitch >= 4)
        for (std::int64_t i = 1; i < tp.parts; ++i) {
            const float d = pitch * static_cast<float>(i);
            if (rows)
                c.line({r.x, r.y + d}, {r.right(), r.y + d}, t.window, 1);
            else
                c.line({r.x + d, r.y}, {r.x + d, r.bottom()}, t.window, 1);
        }
    c.frame(r, axis, 1);
    const TextStyle s = ui.style(11).in(ink_on(axis));
    const std::string text = short_range(part.box[dim]);
    if (held.h >= 15 && c.text_width(text, s) < held.w - 4) c.text_in(held, text, s, Align::center);
}

// Draws every expert of the layer as a cell; those of this rank are solid.
void experts(Ui& ui, Rect r, const Placement& p, const Part& part) {
    Canvas& c = ui.canvas();
    const Theme& t = ui.theme();
    const Color axis = color_of(t, GroupKind::ep);
    const NestGrid g = nest_grid(r.w, r.h, p.shape[0]);
    const float w = r.w / static_cast<float>(g.cols), h = r.h / static_cast<float>(g.rows);
    const float gap = std::min(w, h) > 8 ? 2.0f : std::min(w, h) > 3 ? 1.0f : 0.0f;
    for (std::int64_t i = 0; i < p.shape[0]; ++i) {
        const std::int64_t row = i / g.cols, column = i % g.cols;
        const Rect cell{r.x + w * static_cast<float>(column), r.y + h * static_cast<float>(row), w - gap,
                        h - gap};
        const bool held = i >= part.box[0].begin && i < part.box[0].end;
        c.rect(cell, held ? axis : mix(t.window, axis, 0.16f), gap > 1 ? 2.0f : 0.0f);
        if (w < 26 || h < 15) continue;
        TextStyle s = ui.style(11, Tone::secondary);
        if (held) s.color = ink_on(axis);
        c.text_in(cell, std::to_string(i), s, Align::center);
    }
}

// Returns the largest rectangle of that shape in the room; very long ones are shortened so that both sides
// show.
Rect shaped(Rect room, double aspect) {
    aspect = std::clamp(aspect, 0.35, 3.0);
    float w = room.w, h = static_cast<float>(w / aspect);
    if (h > room.h) h = room.h, w = static_cast<float>(h * aspect);
    return {room.x + (room.w - w) / 2, room.y + (room.h - h) / 2, w, h};
}

}  // namespace

void draw_tensor(Ui& ui, Rect room, const Nest& nest, std::span<const int> tensors, std::int64_t rank,
                 std::string_view label) {
    Canvas& c = ui.canvas();
    const bool named = room.h > 44 && room.w > 40;
    Rect inner = room.inset(std::min(12.0f, room.w * 0.06f), std::min(10.0f, room.h * 0.08f));
    if (named) {
        const bool large = room.h > 200 && room.w > 160;
        const Rect line = inner.cut_top(large ? 26.0f : 17.0f);
        c.text_in(line, label, ui.style(large ? 14.0f : 11.0f, Tone::text, Face::semibold));
    }
    const std::vector<std::string> sentences = cut_sentences(nest, tensors, rank);
    // Words are under the picture, if there is room for both.
    const float words = static_cast<float>(sentences.size()) * 18 + 6;
    if (room.h > 180 + words && room.w > 320) {
        Rect text = inner.cut_bottom(words);
        text.cut_top(6);
        for (const std::string& s : sentences)
            c.text_in(text.cut_top(18), s, ui.small(Tone::text), Align::center);
    }
    double rows = 0;
    for (const int i : tensors) rows += static_cast<double>(nest.tensors[i].shape[1]);
    if (tensors.empty() || inner.w < 4 || inner.h < 4) return;
    const Placement& first = nest.tensors[tensors[0]];
    if (first.dims[0] == Dim::experts && first.shape[0] > 1) {
        experts(ui, inner, first, part_of(nest.plan, nest.mesh, first, rank));
        return;
    }
    const Rect whole = shaped(inner, static_cast<double>(first.shape[2]) / rows);
    float y = whole.y;
    for (const int i : tensors) {
        const Placement& p = nest.tensors[i];
        const auto h = whole.h * static_cast<float>(static_cast<double>(p.shape[1]) / rows);
        const Rect section{whole.x, y, whole.w,
                           std::max(1.0f, h - (tensors.size() > 1 && h > 6 ? 2.0f : 0.0f))};
        matrix(ui, section, p, part_of(nest.plan, nest.mesh, p, rank));
        if (tensors.size() > 1 && h >= 14 && whole.x - inner.x > 18)
            c.text_in({whole.x - 22, section.y, 16, std::min(section.h, 18.0f)}, short_name_of(p.id),
                      ui.small(), Align::right);
        y += h;
    }
}

}  // namespace pentamesh::ui
