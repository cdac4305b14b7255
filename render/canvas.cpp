#include "render/canvas.h"

#include "render/clip.h"
#include "render/fonts.h"
#include "render/imgui_compat.h"
#include "render/page_sink.h"
#include "render/patterns.h"
#include "render/surface.h"
#include "render/surface_state.h"

#include <algorithm>
#include <cmath>
#include <imgui.h>
#include <map>
#include <utility>

namespace pentamesh {

Color mix(Color a, Color b, float k) {
    const auto blend = [k](std::uint8_t x, std::uint8_t y) {
        return static_cast<std::uint8_t>(
            std::lround(static_cast<float>(x) * (1 - k) + static_cast<float>(y) * k));
    };
    return {blend(a.r, b.r), blend(a.g, b.g), blend(a.b, b.b), blend(a.a, b.a)};
}

double contrast(Color a, Color b) {
    const auto luminance = [](Color c) {
        const auto linear = [](std::uint8_t v) {
            const double x = v / 255.0;
            return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
        };
        return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
    };
    const double la = luminance(a), lb = luminance(b);
    return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

namespace {

constexpr float kMostPageDots = 20000;  // of one dotted rectangle on a page; coarser beyond
constexpr std::size_t kMostPoints =
    4096;  // of one polyline that Dear ImGui is given: its indices have 16 bits

ImU32 packed(Color c) {
    return IM_COL32(c.r, c.g, c.b, c.a);
}

struct Pixels {  // logical to physical
    float k;
    [[nodiscard]] ImVec2 operator()(Vec2 p) const { return {p.x * k, p.y * k}; }
    [[nodiscard]] float snap(float v) const { return std::round(v * k); }
};

bool finite(Rect r) {
    return std::isfinite(r.x) && std::isfinite(r.y) && std::isfinite(r.w) && std::isfinite(r.h);
}

// The part of the segment a + t (b - a) inside a rectangle, as a range of t in [0, 1]; empty: low > high.
// Liang and Barsky 1984.
std::pair<float, float> inside(Vec2 a, Vec2 b, Rect r) {
    float low = 0, high = 1;
    const auto cut = [&](float from, float delta, float least, float most) {
        if (delta == 0) {
            if (from < least || from > most) low = 2;
            return;
        }
        const float t0 = (least - from) / delta, t1 = (most - from) / delta;
        low = std::max(low, std::min(t0, t1));
        high = std::min(high, std::max(t0, t1));
    };
    cut(a.x, b.x - a.x, r.x, r.right());
    cut(a.y, b.y - a.y, r.y, r.bottom());
    return {low, high};
}

// Calls `piece(a, b)` for the dashes of a polyline that touch `visible`: a line that a zoom made very long
// costs what is seen of it.
template <typename Piece>
void dashes(std::span<const Vec2> points, bool closed, Dash dash, float width, Rect visible, Piece&& piece) {
    const float on = dash == Dash::dashed ? 4 + width : width;
    const float off = dash == Dash::dashed ? 3 + width : 1.5f + width;
    bool drawing = true;
    float left = on;  // of the dash or gap that we are in
    const std::size_t n = points.size() + (closed ? 1 : 0);
    for (std::size_t i = 1; i < n; ++i) {
        const Vec2 a = points[i - 1], b = points[i % points.size()];
        const float length = std::hypot(b.x - a.x, b.y - a.y);
        if (!(length > 0) || !std::isfinite(length)) continue;
        const Vec2 step = (b - a) * (1 / length);
        const auto [first, last] = inside(a, b, visible);
        float d = 0;
        if (first > last) {  // out of sight: only the phase moves on
            d = length - std::fmod(length, on + off);
        } else {
            d = std::floor(first * length / (on + off)) * (on + off);
        }
        const float end = first > last ? length : std::min(length, last * length + on + off);
        while (end - d > left) {
            if (drawing) piece(a + step * d, a + step * (d + left));
            d += left;
            drawing = !drawing;
            left = drawing ? on : off;
        }
        if (end < length) {
            const float skipped = length - d - std::fmod(length - d, on + off);
            d += skipped;
            while (length - d > left) {
                d += left;
                drawing = !drawing;
                left = drawing ? on : off;
            }
        } else if (drawing && length > d) {
            piece(a + step * d, b);
        }
        left -= length - d;
    }
}

std::vector<Vec2> rounded(Rect r, float radius) {
    radius = std::min({radius, r.w / 2, r.h / 2});
    if (radius <= 0) return {{r.x, r.y}, {r.right(), r.y}, {r.right(), r.bottom()}, {r.x, r.bottom()}};
    std::vector<Vec2> out;
    const std::array<Vec2, 4> centers{
        Vec2{r.right() - radius, r.y + radius}, Vec2{r.right() - radius, r.bottom() - radius},
        Vec2{r.x + radius, r.bottom() - radius}, Vec2{r.x + radius, r.y + radius}};
    const int steps = std::max(3, static_cast<int>(radius));
    for (int corner = 0; corner < 4; ++corner)
        for (int i = 0; i <= steps; ++i) {
            const float angle =
                (static_cast<float>(corner) - 1 + static_cast<float>(i) / static_cast<float>(steps))
                * 1.5707963f;
            const Vec2 c = centers[static_cast<std::size_t>(corner)];
            out.push_back({c.x + std::cos(angle) * radius, c.y + std::sin(angle) * radius});
        }
    return out;
}

void stroke(ImDrawList* list, PageSink* page, Pixels px, std::span<const Vec2> points, Color color,
            float width, bool closed, Dash dash) {
    if (page != nullptr) page->stroke(points, color, width, closed, dash);
    if (list == nullptr || points.size() < 2) return;
    const float w = std::max(1.0f, width * px.k);
    if (dash == Dash::solid) {
        const bool whole = points.size() <= kMostPoints;
        for (std::size_t from = 0; from + 1 < points.size(); from += kMostPoints - 1) {
            for (const Vec2 p : points.subspan(from, std::min(kMostPoints, points.size() - from)))
                list->PathLineTo(px(p));
            list->PathStroke(packed(color), closed && whole ? ImDrawFlags_Closed : ImDrawFlags_None, w);
        }
        if (closed && !whole) list->AddLine(px(points.back()), px(points.front()), packed(color), w);
        return;
    }
    const ImVec2 low = list->GetClipRectMin(), high = list->GetClipRectMax();
    const Rect visible =
        Rect{low.x / px.k, low.y / px.k, (high.x - low.x) / px.k, (high.y - low.y) / px.k}.inset(-width);
    dashes(points, closed, dash, width, visible,
           [&](Vec2 a, Vec2 b) { list->AddLine(px(a), px(b), packed(color), w); });
}

// The pieces inside a rectangle of the lines x + y = k step (sign 1) or x - y = k step (sign -1): a lattice
// of the whole page, so that neighbouring rectangles continue each other.
void diagonals(Rect r, float sign, float step, std::vector<Vec2>& pairs) {
    const float y0 = sign > 0 ? r.y : -r.bottom(), y1 = y0 + r.h;  // of sign * y
    for (float c = std::ceil((r.x + y0) / step) * step; c < r.right() + y1; c += step) {
        const float x0 = std::max(r.x, c - y1), x1 = std::min(r.right(), c - y0);
        if (x1 <= x0) continue;
        pairs.push_back({x0, (c - x0) * sign});
        pairs.push_back({x1, (c - x1) * sign});
    }
}

void pattern_on_page(PageSink& page, Rect r, Pattern p, Color color) {
    if (p == Pattern::dotted) {
        const float d = kPatternDotRadius * 1.7724539f;  // a square of the dot's area
        const float step = kPatternStep * std::ceil(std::sqrt(r.w * r.h / kMostPageDots) / kPatternStep);
        std::vector<Rect> dots;
        for (float y = (std::floor(r.y / step) + 0.5f) * step; y + d / 2 <= r.bottom(); y += step)
            for (float x = (std::floor(r.x / step) + 0.5f) * step; x + d / 2 <= r.right(); x += step)
                if (x - d / 2 >= r.x && y - d / 2 >= r.y) dots.push_back({x - d / 2, y - d / 2, d, d});
        page.fill_rects(dots, color);
        return;
    }
    std::vector<Vec2> pairs;
    diagonals(r, 1, kPatternStep, pairs);
    if (p == Pattern::cross_hatched) diagonals(r, -1, kPatternStep, pairs);
    page.stroke_pairs(pairs, color, 1);
}

}  // namespace

Canvas::Canvas(ImDrawList* list, float scale, Page* page) : list_(list), scale_(scale), page_(page) {}

namespace {
PageSink* sink(Page* page) {
    return page == nullptr ? nullptr : &sink_of(*page);
}
}  // namespace

void Canvas::rect(Rect r, Color fill, float radius) {
    if (r.empty() || fill.a == 0 || !finite(r)) return;
    if (page_ != nullptr) sink(page_)->fill_rect(r, fill, radius);
    if (list_ == nullptr) return;
    const Pixels px{scale_};
    if (radius <= 0) {  // edges on whole pixels, never thinner than one
        const float x0 = px.snap(r.x), y0 = px.snap(r.y);
        const float x1 = std::max(px.snap(r.right()), x0 + 1), y1 = std::max(px.snap(r.bottom()), y0 + 1);
        list_->AddRectFilled({x0, y0}, {x1, y1}, packed(fill));
        return;
    }
    list_->AddRectFilled(px(r.min()), px(r.max()), packed(fill), radius * scale_);
}

void Canvas::frame(Rect r, Color color, float width, float radius, Dash dash) {
    if (r.empty() || !finite(r)) return;
    const Rect inner = r.inset(width / 2);
    if (page_ == nullptr && dash == Dash::solid && list_ != nullptr) {
        const Pixels px{scale_};
        const float w = std::max(1.0f, std::round(width * scale_));
        const float x0 = px.snap(r.x) + w / 2, y0 = px.snap(r.y) + w / 2;
        const float x1 = px.snap(r.right()) - w / 2, y1 = px.snap(r.bottom()) - w / 2;
        list_->PathRect({x0, y0}, {std::max(x0 + 1, x1), std::max(y0 + 1, y1)}, radius * scale_);
        list_->PathStroke(packed(color), ImDrawFlags_Closed, w);
        return;
    }
    const auto points = rounded(inner, radius);
    stroke(list_, sink(page_), {scale_}, points, color, width, true, dash);
}

void Canvas::pattern(Rect r, Pattern p, Color color, Color ground) {
    if (r.empty() || !finite(r)) return;
    if (ground.a > 0) rect(r, ground);
    if (p == Pattern::solid) {
        rect(r, color);
        return;
    }
    if (page_ != nullptr) pattern_on_page(*sink(page_), r, p, color);
    if (list_ == nullptr) return;
    const Pixels px{scale_};
    const float x0 = px.snap(r.x), y0 = px.snap(r.y);
    const float x1 = std::max(px.snap(r.right()), x0 + 1), y1 = std::max(px.snap(r.bottom()), y0 + 1);
    const GlyphSlot picture = surface_state().glyphs.pattern(p, scale_);
    if (picture.page != 0) return;
    const AtlasRegion region = atlas_region();
    const auto side = static_cast<float>(pattern_side(scale_)),
               span = static_cast<float>(pattern_span(scale_));
    // Only what is seen, in pieces of one picture; the lattice is that of the whole window.
    const ImVec2 low = list_->GetClipRectMin(), high = list_->GetClipRectMax();
    const auto on_lattice = [&](float v) { return std::floor(v / span) * span; };
    const float left = std::max(x0, on_lattice(low.x)), top = std::max(y0, on_lattice(low.y));
    const auto phase = [&](float v) { return v - std::floor(v / side) * side; };
    for (float y = top; y < std::min(y1, high.y); y += span)
        for (float x = left; x < std::min(x1, high.x); x += span) {
            const Vec2 to{std::min(x + span, x1), std::min(y + span, y1)};
            const float u = static_cast<float>(region.x + picture.x) + phase(x);
            const float v = static_cast<float>(region.y + picture.y) + phase(y);
            list_->PrimReserve(6, 4);
            list_->PrimRectUV({x, y}, {to.x, to.y}, {u * region.u, v * region.v},
                              {(u + to.x - x) * region.u, (v + to.y - y) * region.v}, packed(color));
        }
}

void Canvas::line(Vec2 a, Vec2 b, Color color, float width, Dash dash) {
    const bool straight = a.x == b.x || a.y == b.y;
    if (straight && dash == Dash::solid && page_ == nullptr && list_ != nullptr) {
        // A hairline fills whole pixels.
        const Pixels px{scale_};
        const float w = std::max(1.0f, std::round(width * scale_));
        const float x0 = px.snap(std::min(a.x, b.x)), y0 = px.snap(std::min(a.y, b.y));
        const float x1 = a.x == b.x ? x0 + w : px.snap(std::max(a.x, b.x));
        const float y1 = a.y == b.y ? y0 + w : px.snap(std::max(a.y, b.y));
        list_->AddRectFilled({x0, y0}, {x1, y1}, packed(color));
        return;
    }
    const std::array<Vec2, 2> points{a, b};
    stroke(list_, sink(page_), {scale_}, points, color, width, false, dash);
}

void Canvas::polyline(std::span<const Vec2> points, Color color, float width, bool closed) {
    stroke(list_, sink(page_), {scale_}, points, color, width, closed, Dash::solid);
}

void Canvas::curve(Vec2 a, Vec2 control_a, Vec2 control_b, Vec2 b, Color color, float width, Dash dash) {
    constexpr int kSteps = 24;
    std::array<Vec2, kSteps + 1> points{};
    for (int i = 0; i <= kSteps; ++i) {
        const float t = static_cast<float>(i) / kSteps, s = 1 - t;
        points[static_cast<std::size_t>(i)] =
            a * (s * s * s) + control_a * (3 * s * s * t) + control_b * (3 * s * t * t) + b * (t * t * t);
    }
    stroke(list_, sink(page_), {scale_}, points, color, width, false, dash);
}

void Canvas::polygon(std::span<const Vec2> convex, Color fill) {
    if (page_ != nullptr) sink(page_)->fill(convex, fill);
    if (list_ == nullptr) return;
    for (const Vec2 p : convex) list_->PathLineTo(Pixels{scale_}(p));
    list_->PathFillConvex(packed(fill));
}

void Canvas::circle(Vec2 center, float radius, Color fill) {
    if (page_ != nullptr) {
        const Rect box{center.x - radius, center.y - radius, 2 * radius, 2 * radius};
        sink(page_)->fill_rect(box, fill, radius);
    }
    if (list_ != nullptr) list_->AddCircleFilled(Pixels{scale_}(center), radius * scale_, packed(fill));
}

void Canvas::ring(Vec2 center, float radius, Color color, float width) {
    const auto points = rounded({center.x - radius, center.y - radius, 2 * radius, 2 * radius}, radius);
    stroke(list_, sink(page_), {scale_}, points, color, width, true, Dash::solid);
}

// ---- cells and clip -----------------------------------------------------------------------------------

void Canvas::cells(const CellGrid& grid) {
    if (grid.count <= 0) return;
    if (list_ != nullptr) queue_cells(*list_, grid);
    if (page_ == nullptr) return;
    // By colour, so that a hundred thousand cells are a few shapes.
    std::map<std::uint32_t, std::vector<Rect>> by_color;
    for (std::int32_t k = 0; k < grid.count; ++k) {
        const std::int64_t rank = grid.first + static_cast<std::int64_t>(k) * grid.step;
        const std::int64_t id = cell_id(grid, rank);
        Color c = grid.palette[static_cast<std::size_t>(id % grid.palette_size)];
        if (grid.lit_id >= 0 && id != grid.lit_id) c = mix(c, grid.ground, grid.dim);
        const Vec2 at = cell_position(grid, rank);
        by_color[packed(c)].push_back({at.x, at.y, grid.cell.x, grid.cell.y});
    }
    for (const auto& [color, rects] : by_color)
        sink(page_)->fill_rects(rects, {static_cast<std::uint8_t>(color >> IM_COL32_R_SHIFT),
                                        static_cast<std::uint8_t>(color >> IM_COL32_G_SHIFT),
                                        static_cast<std::uint8_t>(color >> IM_COL32_B_SHIFT),
                                        static_cast<std::uint8_t>(color >> IM_COL32_A_SHIFT)});
}

void Canvas::push_clip(Rect r) {
    if (page_ != nullptr) sink(page_)->push_clip(r);
    if (list_ == nullptr) return;
    const Pixels px{scale_};
    list_->PushClipRect({px.snap(r.x), px.snap(r.y)}, {px.snap(r.right()), px.snap(r.bottom())}, true);
}

void Canvas::pop_clip() {
    if (page_ != nullptr) sink(page_)->pop_clip();
    if (list_ != nullptr) list_->PopClipRect();
}

bool inside_clip(const Canvas& canvas, Vec2 at) {
    if (canvas.list() == nullptr) return true;
    const ImVec2 low = canvas.list()->GetClipRectMin(), high = canvas.list()->GetClipRectMax();
    const Vec2 px = at * canvas.scale();
    return px.x >= low.x && px.y >= low.y && px.x < high.x && px.y < high.y;
}

int clip_depth(const Canvas& canvas) {
    return canvas.list() == nullptr ? 0 : canvas.list()->_ClipRectStack.Size;
}

Canvas frame_canvas(const FrameInfo& info, Page* page, bool front) {
    return {front ? ImGui::GetForegroundDrawList() : ImGui::GetWindowDrawList(), info.scale, page};
}

void fill_frame(const FrameInfo& info, Page* page, Color ground) {
    surface_state().ground = ground;
    if (page != nullptr) Canvas(nullptr, info.scale, page).rect({0, 0, info.size.x, info.size.y}, ground);
}

}  // namespace pentamesh
