// Draws the boxes of the zoom view: only those on the screen and large enough.
#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "app/ui/views/zoom/view.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pentamesh::ui {

namespace {

// Children smaller than this are not drawn one by one but as lines, and those not either when still smaller.
constexpr float kLeastBox = 10, kLeastGpu = 5, kLeastLine = 2.5f;
constexpr float kLeastHead = 12.5f;               // of a box, for its name: else a tag has it
constexpr float kGpuOpens = 200, kGpuOpen = 320;  // a GPU's fill fades while its layers come into sight,
constexpr float kGpuLayers = 240;                 // which they do from here
constexpr float kMapOpens = 120;                  // a box of a map is drawn with what is in it

struct Drawing {
    Ui& ui;
    Rect room;
    const Scene& scene;
    const ZoomViewState& state;
    const PlacedNest& nest;
    NestPath selected;  // of the selected rank; empty: none
    NestPath path;
    bool under_tag = false;  // the box around has its name over its first children

    void draw(const NestBox& box, bool matrix = false);
    void children(const NestBox& box, Rect r);
    void grid(const PlacedChildren& c, const NestBox& box, Rect r);
    void lines(const PlacedChildren& c, Rect r);
    void map_cell(const PlacedChildren& c, Rect r, std::int64_t i);
    void map_words(const PlacedChildren& c, Rect r);
    void fill(Rect r);
    void label(Rect r);
    void tag(Rect r);
    [[nodiscard]] bool holds_selected() const { return !selected.empty() && leads_to(path, selected); }
    void child(const PlacedChildren& c, const NestBox& box, std::int64_t i);
    [[nodiscard]] bool is_gpu() const { return path.size() == nest.levels.size(); }
};

bool outside(Rect r, Rect room) {
    return r.right() < room.x || r.x > room.right() || r.bottom() < room.y || r.y > room.bottom();
}

// Returns a rectangle whose edges are not far beyond the room: there they do not matter, and are too large
// for a pixel's arithmetic.
Rect tamed(Rect r, Rect room) {
    constexpr float kBeyond = 64;
    const float x0 = std::max(r.x, room.x - kBeyond), y0 = std::max(r.y, room.y - kBeyond);
    const float x1 = std::min(r.right(), room.right() + kBeyond),
                y1 = std::min(r.bottom(), room.bottom() + kBeyond);
    return {x0, y0, x1 - x0, y1 - y0};
}

// All GPUs have one colour: shades would look like values. A box seen from inside has a quiet ground.
Color gpu_ground(const Theme& t, Color axis, float width) {
    const float open = std::clamp((width - kGpuOpens) / (kGpuOpen - kGpuOpens), 0.0f, 1.0f);
    return mix(mix(t.window, axis, 0.42f), mix(t.window, axis, 0.1f), open);
}

Color level_color(const Drawing& d, std::size_t depth) {
    return depth == 0 ? d.ui.theme().hairline : color_of_level(d.ui.theme(), d.nest, depth - 1);
}

void Drawing::fill(Rect r) {
    const Theme& t = ui.theme();
    Canvas& c = ui.canvas();
    const Rect shown = tamed(r, room);
    const std::size_t depth = path.size();
    const float radius = std::clamp(std::min(r.w, r.h) * 0.04f, 0.0f, 6.0f);
    if (depth > nest.levels.size()) {  // inside a GPU
        c.rect(shown, depth % 2 == 0 ? t.raised : t.panel, radius);
        if (r.w > 16) c.frame(shown, t.hairline, 1, radius);
        return;
    }
    const Color axis = level_color(*this, depth);
    c.rect(shown,
           depth == 0 ? t.panel
           : is_gpu() ? gpu_ground(t, axis, r.w)
                      : mix(t.window, axis, 0.08f),
           radius);
    const bool lit = holds_selected() && depth > 0;
    if (r.w > 10) c.frame(shown, lit ? t.text : axis, lit ? 2.0f : 1.0f, radius);
}

// Writes the name of a box that is too low for a head row in its corner, on a ground of its own.
void Drawing::tag(Rect r) {
    constexpr float kHeight = 14;
    if (path.empty() || r.h < kHeight + 4 || r.x < room.x || r.y < room.y) return;
    // A block's name would stand under its layer's.
    if (path.size() > nest.levels.size() + 1 && r.h < 3 * kHeight) return;
    const TextStyle s = ui.style(11);
    std::string text = step_label(nest, path);
    const bool short_name = ui.canvas().text_width(text, s) + 10 > r.w;
    if (short_name && path.size() > nest.levels.size()) return;
    if (short_name) text = std::to_string(path.back());
    const float w = ui.canvas().text_width(text, s) + 6;
    if (w + 4 > r.w) return;
    // The tag avoids its parent's name: it is below, and a number is also on the right.
    const bool below = under_tag && path.size() <= nest.levels.size() && r.h >= kHeight + 8;
    write_plate(
        ui,
        {short_name ? r.right() - w - 2 : r.x + 2, below ? r.bottom() - kHeight - 2 : r.y + 2, w, kHeight},
        text, s, ui.theme().window.alpha(0.8f), 2);
}

void Drawing::label(Rect r) {
    const auto h = static_cast<float>(nest_head(r.w, r.h, path.empty() && !is_gpu()));
    Canvas& c = ui.canvas();
    const bool cell = is_gpu() && !path.empty() && r.w < kGpuOpen;
    if (cell) {  // a GPU that is a cell is named in its middle
        if (r.w < 26 || r.h < 15) return;
        if (r.w >= kGpuLayers) return tag(r);
        const Color axis = level_color(*this, path.size());
        const TextStyle s =
            ui.style(r.w > 80 && r.h > 24 ? 13.0f : 11.0f).in(ink_on(gpu_ground(ui.theme(), axis, r.w)));
        const std::string name = step_label(nest, path);
        const bool fits = c.text_width(name, s) < r.w - 4;
        if (r.h > 40 && c.text_width("rank 00000", s) < r.w - 4) {
            c.text_in({r.x, r.center().y - 17, r.w, 17}, name, s, Align::center);
            c.text_in({r.x, r.center().y, r.w, 17}, "rank " + thousands(first_rank_of(nest, path)), s,
                      Align::center);
        } else {
            c.text_in(r, fits ? name : std::to_string(path.back()), s, Align::center);
        }
        return;
    }
    // The breadcrumbs name the boxes around the view.
    if (path.size() < state.path.size() && leads_to(path, state.path)) return;
    if (h < kLeastHead) tag(r);
    if (h < kLeastHead || r.w < 30 || r.y + h * 0.75f < room.y) return;
    const float size = h >= 24 ? 14.0f : h >= 18 ? 13.0f : 11.0f;
    std::string text = path.empty() ? scene.plan.cluster.name : step_label(nest, path);
    const bool of_mesh = path.size() <= nest.levels.size();
    std::string more;
    if (is_gpu())
        more = "rank " + thousands(first_rank_of(nest, path));
    else if (of_mesh)
        more = plural(path.empty() ? nest.mesh.world : nest.levels[path.size() - 1].gpus, "GPU", "GPUs");
    // The name is kept in sight while its box is partly off the screen.
    const float x = std::max(r.x, room.x) + std::min(8.0f, r.w * 0.05f) + 1;
    const float right = std::min(r.right(), room.right()) - 4;
    const float y = r.y + (h - size * 1.35f) / 2;
    const Rect line{x, y, right - x, size * 1.35f};
    if (line.w < 20) return;
    const TextStyle bold = ui.style(size, Tone::text, Face::semibold);
    const float w = c.text_width(text, bold);
    if (w > line.w && of_mesh && !path.empty()) text = std::to_string(path.back());
    c.text_in(line, text, bold);
    const float left = line.w - w - 10;
    if (!more.empty() && left > c.text_width(more, ui.style(size)))
        c.text_in({x + w + 10, y, left, line.h}, more, ui.style(size, Tone::secondary));
}

void Drawing::lines(const PlacedChildren& c, Rect r) {
    const auto k = static_cast<float>(state.camera.scale);
    const auto px = static_cast<float>(c.grid.pitch_x) * k, py = static_cast<float>(c.grid.pitch_y) * k;
    const Color axis = color_of_level(ui.theme(), nest, path.size());
    const float x0 = r.x + static_cast<float>(c.grid.x) * k, y0 = r.y + static_cast<float>(c.grid.y) * k;
    const float x1 = x0 + px * static_cast<float>(c.grid.cols),
                y1 = y0 + py * static_cast<float>(c.grid.rows);
    ui.canvas().rect(tamed({x0, y0, x1 - x0, y1 - y0}, room), axis.alpha(0.4f));
    if (std::min(px, py) < kLeastLine) return;
    for (std::int64_t i = 1; i < c.grid.cols; ++i) {
        const float x = x0 + px * static_cast<float>(i);
        ui.canvas().line({x, y0}, {x, y1}, ui.theme().window, 1);
    }
    for (std::int64_t i = 1; i < c.grid.rows; ++i) {
        const float y = y0 + py * static_cast<float>(i);
        ui.canvas().line({x0, y}, {x1, y}, ui.theme().window, 1);
    }
}

// A box of the map: its number where there is room, the large one's in full colour.
void Drawing::map_cell(const PlacedChildren& c, Rect r, std::int64_t i) {
    const Theme& t = ui.theme();
    const Color axis = color_of_level(t, nest, path.size());
    const bool large = i == c.lead;
    const Color ground = large ? axis : mix(t.window, axis, 0.3f);
    ui.canvas().rect(r, ground, std::min(r.w, r.h) > 12 ? 2.0f : 0.0f);
    if (large && std::min(r.w, r.h) > 6) ui.canvas().frame(r, t.text, 1.25f, 2);
    const TextStyle s = ui.style(11).in(ink_on(ground));
    const std::string number = std::to_string(i);
    if (r.h >= 13 && ui.canvas().text_width(number, s) + 2 <= r.w)
        ui.canvas().text_in(r, number, s, Align::center);
}

// "128 in all", over the map, which has the large one too.
void Drawing::map_words(const PlacedChildren& c, Rect r) {
    const auto k = static_cast<float>(state.camera.scale);
    const NestBox& m = c.grid.more;
    const Rect words{r.x + static_cast<float>(m.x) * k, r.y + static_cast<float>(m.y) * k,
                     static_cast<float>(m.w) * k, static_cast<float>(m.h) * k};
    if (words.h < kLeastHead || words.w < 30 || outside(words, room)) return;
    const TextStyle s = ui.style(words.h >= 26   ? 14.0f
                                 : words.h >= 18 ? 13.0f
                                                 : 11.0f,
                                 Tone::text, Face::semibold);
    const std::string count = thousands(c.count), all = count + " in all";
    ui.canvas().text_in(words, ui.canvas().text_width(all, s) <= words.w ? all : count, s);
}

void Drawing::grid(const PlacedChildren& c, const NestBox& box, Rect r) {
    const double k = state.camera.scale;
    const bool gpus = path.size() + 1 == nest.levels.size();
    const bool map = c.grid.enlarged;
    const bool fine = std::min(c.grid.w, c.grid.h) * k < (gpus || map ? kLeastGpu : kLeastBox);
    if (fine && c.items.empty()) lines(c, r);
    // Only rows and columns that reach into the room are drawn.
    const auto range = [](double begin, double pitch, float low, float high, std::int64_t n) {
        const auto a = static_cast<std::int64_t>(std::floor((low - begin) / pitch)),
                   b = static_cast<std::int64_t>(std::ceil((high - begin) / pitch));
        return std::pair{std::clamp<std::int64_t>(a, 0, n), std::clamp<std::int64_t>(b, 0, n)};
    };
    const auto [col0, col1] =
        range(r.x + c.grid.x * k, c.grid.pitch_x * k, room.x, room.right(), c.grid.cols);
    const auto [row0, row1] =
        range(r.y + c.grid.y * k, c.grid.pitch_y * k, room.y, room.bottom(), c.grid.rows);
    for (std::int64_t row = row0; row < row1 && !fine; ++row)
        for (std::int64_t col = col0; col < col1; ++col) {
            const std::int64_t i = row * c.grid.cols + col;
            if (i >= c.count) break;
            const Rect cell = on_screen(state.camera, room, grid_box(c.grid, box, i));
            if (map && (i == c.lead || std::min(cell.w, cell.h) < kMapOpens))
                map_cell(c, cell, i);
            else
                child(c, box, i);
        }
    if (!map) return;
    child(c, box, c.lead);
    map_words(c, r);
}

void Drawing::children(const NestBox& box, Rect r) {
    if (is_gpu() && r.w < kGpuLayers) return;  // a cell until there is room in it
    const PlacedChildren c = placed_children(nest, path, box, lead_in(state, path));
    if (c.count == 0) return;
    if (!c.sliced) return grid(c, box, r);
    for (std::int64_t i = 0; i < c.count; ++i) child(c, box, i);
}

void Drawing::child(const PlacedChildren& c, const NestBox& box, std::int64_t i) {
    path.push_back(i);
    draw(child_box(c, box, i), is_matrix(c, i));
    path.pop_back();
}

void Drawing::draw(const NestBox& box, bool matrix) {
    const Rect r = on_screen(state.camera, room, box);
    if (outside(r, room) || std::min(r.w, r.h) < 3) return;
    fill(r);
    if (matrix) {
        if (r.w > 8 && r.h > 8)
            draw_tensor(ui, r, nest, tensors_at(nest, path), first_rank_of(nest, path),
                        step_label(nest, path));
        return;
    }
    const bool around = std::exchange(under_tag, !path.empty() && nest_head(r.w, r.h, false) < kLeastHead);
    children(box, r);
    under_tag = around;
    label(r);
}

}  // namespace

Color color_of_level(const Theme& theme, const Nest& nest, std::size_t level) {
    return level < nest.levels.size() ? color_of(theme, nest.levels[level].group) : theme.secondary;
}

Rect on_screen(const ZoomCamera& camera, Rect room, const NestBox& box) {
    return {static_cast<float>(room.x + (box.x - camera.x) * camera.scale),
            static_cast<float>(room.y + (box.y - camera.y) * camera.scale),
            static_cast<float>(box.w * camera.scale), static_cast<float>(box.h * camera.scale)};
}

ZoomCamera fitting(Rect room, const NestBox& box) {
    constexpr double kAir = 0.97;
    const double scale = std::min(room.w / box.w, room.h / box.h) * kAir;
    return {box.x + box.w / 2 - room.w / scale / 2, box.y + box.h / 2 - room.h / scale / 2, scale};
}

void draw_boxes(Ui& ui, Rect room, const Scene& scene, const ZoomViewState& state) {
    Drawing d{ui, room, scene, state, *state.nest, selected_path(scene, state), {}, false};
    d.draw({0, 0, state.nest->aspect, 1});
}

bool leads_to(std::span<const std::int64_t> path, std::span<const std::int64_t> deeper) {
    return path.size() <= deeper.size() && std::equal(path.begin(), path.end(), deeper.begin());
}

NestPath selected_path(const Scene& scene, const ZoomViewState& state) {
    return scene.selection.rank >= 0 ? path_of_rank(*state.nest, scene.selection.rank) : NestPath{};
}

std::int64_t lead_in(const ZoomViewState& state, std::span<const std::int64_t> path) {
    return path.size() < state.lead.size() && leads_to(path, state.lead) ? state.lead[path.size()] : 0;
}

NestPath path_at(const ZoomViewState& state, Rect room, Vec2 point, float least_px) {
    const double x = state.camera.x + (point.x - room.x) / state.camera.scale,
                 y = state.camera.y + (point.y - room.y) / state.camera.scale;
    NestPath path;
    NestBox box{0, 0, state.nest->aspect, 1};
    for (int depth = 0; depth < 9; ++depth) {
        const PlacedChildren c = placed_children(*state.nest, path, box, lead_in(state, path));
        std::int64_t hit = -1;
        if (c.grid.enlarged && !c.sliced && child_box(c, box, c.lead).contains(x, y)) {
            hit = c.lead;
        } else if (c.count > 0 && !c.sliced) {
            const double col = std::floor((x - box.x - c.grid.x) / c.grid.pitch_x),
                         row = std::floor((y - box.y - c.grid.y) / c.grid.pitch_y);
            if (col >= 0 && row >= 0 && col < static_cast<double>(c.grid.cols)
                && row < static_cast<double>(c.grid.rows))
                hit = static_cast<std::int64_t>(row) * c.grid.cols + static_cast<std::int64_t>(col);
        }
        for (std::int64_t i = 0; c.sliced && i < c.count; ++i)
            if (child_box(c, box, i).contains(x, y)) hit = i;
        if (hit < 0 || hit >= c.count) break;
        NestBox child = child_box(c, box, hit);
        // The map has the large one too. Its cells are small, and meant to be met.
        const bool small = c.grid.enlarged && !c.sliced && !(hit == c.lead && child.contains(x, y));
        if (small) child = grid_box(c.grid, box, hit);
        const double least = small ? least_px / 2.0 : least_px;
        if (!child.contains(x, y) || std::min(child.w, child.h) * state.camera.scale < least) break;
        path.push_back(hit);
        box = child;
        if (small && hit == c.lead) break;
    }
    return path;
}

}  // namespace pentamesh::ui
