#include "render/sink.h"

#include "render/canvas.h"
#include "render/imgui_compat.h"
#include "render/surface_state.h"

#include <algorithm>
#include <cmath>
#include <imgui.h>
#include <map>
#include <utility>

namespace pentamesh {

namespace {

constexpr float kMostDots = 20000;  // of one dotted rectangle; coarser beyond

// Appends the pieces inside a rectangle of the lines x + y = k step (sign 1) or x - y = k step (sign -1). The
// lattice is the page's, so that neighbouring rectangles continue each other.
void diagonals(Rect r, float sign, float step, std::vector<Vec2>& pairs) {
    const float y0 = sign > 0 ? r.y : -r.bottom(), y1 = y0 + r.h;  // of sign * y
    for (float c = std::ceil((r.x + y0) / step) * step; c < r.right() + y1; c += step) {
        const float x0 = std::max(r.x, c - y1), x1 = std::min(r.right(), c - y0);
        if (x1 <= x0) continue;
        pairs.push_back({x0, (c - x0) * sign});
        pairs.push_back({x1, (c - x1) * sign});
    }
}

// Returns squares that have the dots' area.
std::vector<Rect> dots(Rect r) {
    const float d = kPatternDotRadius * 1.7724539f;
    constexpr float kStep = pattern_step(Pattern::dotted);
    const float step = kStep * std::ceil(std::sqrt(r.w * r.h / kMostDots) / kStep);
    std::vector<Rect> out;
    for (float y = (std::floor(r.y / step) + 0.5f) * step; y + d / 2 <= r.bottom(); y += step)
        for (float x = (std::floor(r.x / step) + 0.5f) * step; x + d / 2 <= r.right(); x += step)
            if (x - d / 2 >= r.x && y - d / 2 >= r.y) out.push_back({x - d / 2, y - d / 2, d, d});
    return out;
}

}  // namespace

void PageSink::frame(Rect r, Color color, float width, float radius) {
    stroke(rounded_outline(r.inset(width / 2), radius), color, width, true, Dash::solid);
}

void PageSink::pattern(Rect r, Pattern pattern, Color color) {
    if (pattern == Pattern::dotted) {
        fill_rects(dots(r), color);
        return;
    }
    std::vector<Vec2> pairs;
    diagonals(r, 1, pattern_step(pattern), pairs);
    if (pattern == Pattern::cross_hatched) diagonals(r, -1, pattern_step(pattern), pairs);
    stroke_pairs(pairs, color, pattern_line(pattern));
}

void PageSink::circle(Vec2 center, float radius, Color fill) {
    rect({center.x - radius, center.y - radius, 2 * radius, 2 * radius}, fill, radius);
}

void PageSink::text(Vec2 pen, std::string_view utf8, const TextStyle& style) {
    std::vector<PlacedGlyph> run;
    while (!utf8.empty()) {
        const char32_t c = take_character(utf8);
        const GlyphRef glyph = faces().glyph(style.face, c);
        run.push_back({glyph, pen, c});
        pen.x += glyph.advance * style.size + style.tracking;
    }
    glyphs(run, style.size, style.color);
}

// Each colour is one shape, so that a hundred thousand cells are a few shapes.
void PageSink::cells(const CellGrid& grid) {
    const auto key = [](Color c) { return std::array<std::uint8_t, 4>{c.a, c.b, c.g, c.r}; };
    std::map<std::array<std::uint8_t, 4>, std::vector<Rect>> by_color;
    for (std::int32_t k = 0; k < grid.count; ++k) {
        const std::int64_t rank = grid.first + static_cast<std::int64_t>(k) * grid.step;
        const std::int64_t id = cell_id(grid, rank);
        Color c = grid.palette[id % grid.palette_size];
        if (grid.highlighted_id >= 0 && id != grid.highlighted_id) c = mix(c, grid.ground, grid.dim);
        const Vec2 at = cell_position(grid, rank);
        by_color[key(c)].push_back({at.x, at.y, grid.cell.x, grid.cell.y});
    }
    for (const auto& [c, rects] : by_color) fill_rects(rects, {c[3], c[2], c[1], c[0]});
}

namespace {

constexpr float kLargestRaster = 160;      // pixels; larger type is enlarged
constexpr std::size_t kMostAtOnce = 4096;  // points or glyphs: Dear ImGui's indices have 16 bits

ImU32 packed(Color c) {
    return IM_COL32(c.r, c.g, c.b, c.a);
}

ImVec2 scaled(Vec2 p, float k) {
    return {p.x * k, p.y * k};
}

// Returns the part of the segment a + t (b - a) inside a rectangle, as a range of t in [0, 1]; it is empty
// where low > high. The method is that of Liang and Barsky 1984.
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
// costs no more than its visible part.
template <typename Piece>
void dashes(std::span<const Vec2> points, bool closed, Dash dash, float width, Rect visible, Piece&& piece) {
    const auto [on, off] = lengths_of(dash, width);
    bool drawing = true;
    float left = on;  // of the current dash or gap
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

// Collects the quads of one run, all on one page of the glyph cache.
class QuadBatch {
  public:
    QuadBatch(ImDrawList& list, ImU32 color) : list_(&list), color_(color) {}
    ~QuadBatch() { flush(); }
    QuadBatch(const QuadBatch&) = delete;
    QuadBatch& operator=(const QuadBatch&) = delete;
    void add(int page, ImVec2 a, ImVec2 b, ImVec2 uv_a, ImVec2 uv_b) {
        if (page != page_ || quads_.size() >= kMostAtOnce) flush();
        page_ = page;
        quads_.push_back({a, b, uv_a, uv_b});
    }

  private:
    struct Quad {
        ImVec2 a, b, uv_a, uv_b;
    };
    void flush() {
        if (quads_.empty()) return;
        if (page_ > 0) push_texture(*list_, surface_state().glyphs.texture(page_));
        const int n = static_cast<int>(quads_.size());
        list_->PrimReserve(6 * n, 4 * n);
        for (const Quad& q : quads_) list_->PrimRectUV(q.a, q.b, q.uv_a, q.uv_b, color_);
        if (page_ > 0) pop_texture(*list_);
        quads_.clear();
    }
    ImDrawList* list_;
    ImU32 color_;
    int page_ = 0;
    std::vector<Quad> quads_;
};

}  // namespace

float ScreenSink::snap(float logical) const {
    return std::round(logical * scale_);
}

Rect ScreenSink::pixels(Rect r) const {
    const float x = snap(r.x), y = snap(r.y);
    return {x, y, std::max(1.0f, snap(r.right()) - x), std::max(1.0f, snap(r.bottom()) - y)};
}

void ScreenSink::rect(Rect r, Color fill, float radius) {
    if (radius > 0) {
        list_.AddRectFilled(scaled(r.min(), scale_), scaled(r.max(), scale_), packed(fill), radius * scale_);
        return;
    }
    const Rect p = pixels(r);
    list_.AddRectFilled({p.x, p.y}, {p.right(), p.bottom()}, packed(fill));
}

void ScreenSink::frame(Rect r, Color color, float width, float radius) {
    const float w = std::max(1.0f, std::round(width * scale_));
    const float x0 = snap(r.x) + w / 2, y0 = snap(r.y) + w / 2;
    const float x1 = snap(r.right()) - w / 2, y1 = snap(r.bottom()) - w / 2;
    list_.PathRect({x0, y0}, {std::max(x0 + 1, x1), std::max(y0 + 1, y1)}, radius * scale_);
    list_.PathStroke(packed(color), ImDrawFlags_Closed, w);
}

void ScreenSink::pattern(Rect r, Pattern pattern, Color color) {
    const GlyphSlot picture = surface_state().glyphs.pattern(pattern);
    const Rect p = pixels(r);
    const auto side = static_cast<float>(pattern_side(pattern, scale_)),
               span = static_cast<float>(pattern_span(pattern, scale_));
    // Only the visible part is drawn, in pieces of one picture. The lattice is that of the whole window.
    const ImVec2 low = list_.GetClipRectMin(), high = list_.GetClipRectMax();
    const auto on_lattice = [&](float v) { return std::floor(v / span) * span; };
    const auto phase = [&](float v) { return v - std::floor(v / side) * side; };
    constexpr float kTexel = 1.0f / GlyphCache::kPageSide;
    const float left = std::max(p.x, on_lattice(low.x)), top = std::max(p.y, on_lattice(low.y));
    for (float y = top; y < std::min(p.bottom(), high.y); y += span)
        for (float x = left; x < std::min(p.right(), high.x); x += span) {
            const Vec2 to{std::min(x + span, p.right()), std::min(y + span, p.bottom())};
            const float u = static_cast<float>(picture.x) + phase(x),
                        v = static_cast<float>(picture.y) + phase(y);
            list_.PrimReserve(6, 4);
            list_.PrimRectUV({x, y}, {to.x, to.y}, {u * kTexel, v * kTexel},
                             {(u + to.x - x) * kTexel, (v + to.y - y) * kTexel}, packed(color));
        }
}

void ScreenSink::stroke(std::span<const Vec2> points, Color color, float width, bool closed, Dash dash) {
    const std::size_t n = points.size();
    if (n < 2) return;
    const float w = std::max(1.0f, width * scale_);
    if (dash != Dash::solid) {
        const ImVec2 low = list_.GetClipRectMin(), high = list_.GetClipRectMax();
        const Rect visible{low.x / scale_, low.y / scale_, (high.x - low.x) / scale_,
                           (high.y - low.y) / scale_};
        dashes(points, closed, dash, width, visible.inset(-width), [&](Vec2 a, Vec2 b) {
            if (dash == Dash::dotted)
                list_.AddCircleFilled(scaled(a, scale_), w / 2, packed(color), w < 3 ? 6 : 0);
            else
                list_.AddLine(scaled(a, scale_), scaled(b, scale_), packed(color), w);
        });
        return;
    }
    const Vec2 a = points[0], b = points[1];
    if (n == 2 && !closed && (a.x == b.x || a.y == b.y)) {  // a straight line fills whole pixels
        const float thick = std::max(1.0f, std::round(width * scale_));
        const float x0 = snap(std::min(a.x, b.x)), y0 = snap(std::min(a.y, b.y));
        const float x1 = a.x == b.x ? x0 + thick : snap(std::max(a.x, b.x));
        const float y1 = a.y == b.y ? y0 + thick : snap(std::max(a.y, b.y));
        list_.AddRectFilled({x0, y0}, {x1, y1}, packed(color));
        return;
    }
    const bool whole = n <= kMostAtOnce;
    for (std::size_t from = 0; from + 1 < n; from += kMostAtOnce - 1) {
        for (const Vec2 p : points.subspan(from, std::min(kMostAtOnce, n - from)))
            list_.PathLineTo(scaled(p, scale_));
        list_.PathStroke(packed(color), closed && whole ? ImDrawFlags_Closed : ImDrawFlags_None, w);
    }
    if (closed && !whole)
        list_.AddLine(scaled(points.back(), scale_), scaled(points.front(), scale_), packed(color), w);
}

void ScreenSink::polygon(std::span<const Vec2> convex, Color fill) {
    for (const Vec2 p : convex) list_.PathLineTo(scaled(p, scale_));
    list_.PathFillConvex(packed(fill));
}

void ScreenSink::circle(Vec2 center, float radius, Color fill) {
    list_.AddCircleFilled(scaled(center, scale_), radius * scale_, packed(fill));
}

// Text is drawn glyph by glyph, each a quarter of a pixel from its exact place.
void ScreenSink::text(Vec2 pen, std::string_view utf8, const TextStyle& style) {
    SurfaceState& state = surface_state();
    const float em = style.size * scale_, baseline = snap(pen.y);
    float x = snap(pen.x);
    // A quarter of a pixel of type size is not seen; it keeps a zoom from filling the cache.
    const float raster = std::clamp(std::round(em * 4) / 4, 1.0f, kLargestRaster);
    const float grow = em > kLargestRaster ? em / kLargestRaster : 1;
    const ImVec2 low = list_.GetClipRectMin(), high = list_.GetClipRectMax();
    if (baseline + em < low.y || baseline - 2 * em > high.y) return;
    constexpr float kTexel = 1.0f / GlyphCache::kPageSide;
    QuadBatch batch(list_, packed(style.color));
    while (!utf8.empty() && x < high.x + em) {
        const GlyphRef glyph = state.faces.glyph(style.face, take_character(utf8));
        const float at = x;
        x += glyph.advance * em + style.tracking * scale_;
        if (x + em < low.x) continue;
        const float quarter = std::floor(at * 4 + 0.5f);
        const float whole = std::floor(quarter / 4);
        const GlyphSlot slot = state.glyphs.get(glyph, raster, static_cast<int>(quarter - whole * 4));
        if (slot.page < 0) continue;
        const auto u = static_cast<float>(slot.x), v = static_cast<float>(slot.y);
        const auto w = static_cast<float>(slot.width), h = static_cast<float>(slot.height);
        const ImVec2 a{whole + static_cast<float>(slot.left) * grow,
                       baseline - static_cast<float>(slot.top) * grow};
        batch.add(slot.page, a, {a.x + w * grow, a.y + h * grow}, {u * kTexel, v * kTexel},
                  {(u + w) * kTexel, (v + h) * kTexel});
    }
}

void ScreenSink::cells(const CellGrid& grid) {
    // The shader knows the window's scale; a canvas may have another.
    const float k = scale_ / surface_state().scale;
    CellGrid scaled = grid;
    if (k != 1) {
        scaled.origin = scaled.origin * k, scaled.cell = scaled.cell * k;
        for (CellGrid::Level& l : scaled.level) l.pitch_x *= k, l.pitch_y *= k;
    }
    queue_cells(list_, scaled);
}

void ScreenSink::push_clip(Rect r) {
    list_.PushClipRect({snap(r.x), snap(r.y)}, {snap(r.right()), snap(r.bottom())}, true);
}

void ScreenSink::pop_clip() {
    list_.PopClipRect();
}

}  // namespace pentamesh
