#include "render/page_sink.h"

#include "render/patterns.h"

#include <cmath>
#include <map>

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
    const float step = kPatternStep * std::ceil(std::sqrt(r.w * r.h / kMostDots) / kPatternStep);
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
    diagonals(r, 1, kPatternStep, pairs);
    if (pattern == Pattern::cross_hatched) diagonals(r, -1, kPatternStep, pairs);
    stroke_pairs(pairs, color, 1);
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
        if (grid.lit_id >= 0 && id != grid.lit_id) c = mix(c, grid.ground, grid.dim);
        const Vec2 at = cell_position(grid, rank);
        by_color[key(c)].push_back({at.x, at.y, grid.cell.x, grid.cell.y});
    }
    for (const auto& [c, rects] : by_color) fill_rects(rects, {c[3], c[2], c[1], c[0]});
}

}  // namespace pentamesh
