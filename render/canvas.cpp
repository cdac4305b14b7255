#include "render/canvas.h"

#include "render/fonts.h"
#include "render/imgui_compat.h"
#include "render/page_sink.h"
#include "render/surface.h"
#include "render/surface_state.h"

#include <algorithm>
#include <cmath>
#include <imgui.h>
#include <string>

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

constexpr float kPatternStep = 4;
constexpr int kMostPatternLines = 600;

ImU32 packed(Color c) {
    return IM_COL32(c.r, c.g, c.b, c.a);
}

struct Pixels {  // logical to physical
    float k;
    [[nodiscard]] ImVec2 operator()(Vec2 p) const { return {p.x * k, p.y * k}; }
    [[nodiscard]] float snap(float v) const { return std::round(v * k); }
};

// Calls `piece(a, b)` for the dashes of a polyline.
template <typename Piece>
void dashes(std::span<const Vec2> points, bool closed, Dash dash, float width, Piece&& piece) {
    const float on = dash == Dash::dashed ? 4 + width : width;
    const float off = dash == Dash::dashed ? 3 + width : 1.5f + width;
    bool drawing = true;
    float left = on;  // of the dash or gap that we are in
    const std::size_t n = points.size() + (closed ? 1 : 0);
    for (std::size_t i = 1; i < n; ++i) {
        const Vec2 a = points[i - 1], b = points[i % points.size()];
        const float length = std::hypot(b.x - a.x, b.y - a.y);
        if (length <= 0) continue;
        const Vec2 step = (b - a) * (1 / length);
        float d = 0;
        while (length - d > left) {
            if (drawing) piece(a + step * d, a + step * (d + left));
            d += left;
            drawing = !drawing;
            left = drawing ? on : off;
        }
        if (drawing && length > d) piece(a + step * d, b);
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
        for (const Vec2 p : points) list->PathLineTo(px(p));
        list->PathStroke(packed(color), closed ? ImDrawFlags_Closed : ImDrawFlags_None, w);
        return;
    }
    dashes(points, closed, dash, width,
           [&](Vec2 a, Vec2 b) { list->AddLine(px(a), px(b), packed(color), w); });
}

// Cuts a 45 degree line x + y = c to a rectangle; false: outside.
bool cut_diagonal(Rect r, float c, bool rising, Vec2& a, Vec2& b) {
    // Falling lines mirror the rectangle.
    const float x0 = std::max(r.x, c - r.bottom()), x1 = std::min(r.right(), c - r.y);
    if (x1 <= x0) return false;
    a = {x0, c - x0};
    b = {x1, c - x1};
    if (!rising) {
        a.y = r.y + r.bottom() - a.y;
        b.y = r.y + r.bottom() - b.y;
    }
    return true;
}

}  // namespace

Canvas::Canvas(ImDrawList* list, float scale, Page* page) : list_(list), scale_(scale), page_(page) {}

namespace {
PageSink* sink(Page* page) {
    return page == nullptr ? nullptr : &sink_of(*page);
}
}  // namespace

void Canvas::rect(Rect r, Color fill, float radius) {
    if (r.empty() || fill.a == 0) return;
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
    if (r.empty()) return;
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
    if (r.empty()) return;
    if (ground.a > 0) rect(r, ground);
    if (p == Pattern::solid) {
        rect(r, color);
        return;
    }
    if (r.w < 2 || r.h < 2) {
        rect(r, color.alpha(0.5f));
        return;
    }
    PageSink* page = sink(page_);
    const Pixels px{scale_};
    if (p == Pattern::dotted) {
        const float step = std::max(kPatternStep, std::sqrt(r.w * r.h / 2000));
        for (float y = r.y + step / 2; y < r.bottom(); y += step)
            for (float x = r.x + step / 2; x < r.right(); x += step) rect({x - 0.5f, y - 0.5f, 1, 1}, color);
        return;
    }
    const float step = std::max(kPatternStep, (r.w + r.h) / static_cast<float>(kMostPatternLines));
    for (const bool rising : {true, false}) {
        if (!rising && p != Pattern::cross_hatched) break;
        // Lines lie on a lattice of the whole page, so that neighbouring rectangles continue each other.
        const float start = std::ceil((r.x + r.y) / step) * step;
        for (float c = start; c < r.right() + r.bottom(); c += step) {
            Vec2 a, b;
            if (!cut_diagonal(r, c, rising, a, b)) continue;
            const std::array<Vec2, 2> line{a, b};
            if (page != nullptr) page->stroke(line, color, 1, false, Dash::solid);
            if (list_ != nullptr) list_->AddLine(px(a), px(b), packed(color), std::max(1.0f, scale_));
        }
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

void Canvas::curve(Vec2 a, Vec2 ca, Vec2 cb, Vec2 b, Color color, float width, Dash dash) {
    constexpr int kSteps = 24;
    std::array<Vec2, kSteps + 1> points{};
    for (int i = 0; i <= kSteps; ++i) {
        const float t = static_cast<float>(i) / kSteps, s = 1 - t;
        points[static_cast<std::size_t>(i)] =
            a * (s * s * s) + ca * (3 * s * s * t) + cb * (3 * s * t * t) + b * (t * t * t);
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

// ---- text ---------------------------------------------------------------------------------------------

namespace {

std::size_t letter_bytes(char first) {
    const auto c = static_cast<unsigned char>(first);
    return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

float width_px(const FontAtSize& font, std::string_view s) {
    if (s.empty()) return 0;
    return font.font->CalcTextSizeA(font.pixels, 1e9f, 0, s.data(), s.data() + s.size()).x;
}

std::size_t letters(std::string_view s) {
    return static_cast<std::size_t>(std::count_if(
        s.begin(), s.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

float line_height_of(const TextStyle& s) {
    return std::round(s.size * 1.25f);
}

// The longest beginning that fits, at a letter's end.
std::string_view fitting(const FontAtSize& font, std::string_view s, float room_px) {
    std::size_t end = 0;
    float x = 0;
    while (end < s.size()) {
        const std::size_t n = std::min(letter_bytes(s[end]), s.size() - end);
        const float w = width_px(font, s.substr(end, n));
        if (x + w > room_px) break;
        x += w;
        end += n;
    }
    return s.substr(0, end);
}

template <typename Line>
void wrap(const FontAtSize& font, std::string_view text, float room_px, Line&& line) {
    while (!text.empty()) {
        const std::size_t newline = std::min(text.find('\n'), text.size());
        std::string_view rest = text.substr(0, newline);
        text.remove_prefix(std::min(newline + 1, text.size()));
        if (rest.empty()) line(rest);
        while (!rest.empty()) {
            std::string_view part = fitting(font, rest, room_px);
            if (part.size() < rest.size()) {
                const std::size_t space = rest[part.size()] == ' ' ? part.size() : part.rfind(' ');
                if (space != std::string_view::npos && space > 0) part = rest.substr(0, space);
                if (part.empty()) part = rest.substr(0, std::min(letter_bytes(rest[0]), rest.size()));
            }
            line(part);
            rest.remove_prefix(part.size());
            while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
        }
    }
}

}  // namespace

float Canvas::text_width(std::string_view utf8, const TextStyle& style) const {
    const FontAtSize font = font_at(style.face, style.size);
    return width_px(font, utf8) / scale_ + style.tracking * static_cast<float>(letters(utf8));
}

float Canvas::text(Vec2 at, std::string_view utf8, const TextStyle& style) {
    const FontAtSize font = font_at(style.face, style.size);
    const float advance = text_width(utf8, style);
    if (utf8.empty() || style.color.a == 0) return advance;
    const float top = at.y + (line_height_of(style) - font.pixels / scale_) / 2;
    if (page_ != nullptr) {
        const float ascent = font_ascent(*font.font, font.pixels) / scale_;
        sink(page_)->text({at.x, top + ascent}, utf8, style);
    }
    if (list_ == nullptr) return advance;
    const Pixels px{scale_};
    float x = at.x;
    const auto put = [&](std::string_view part) {
        list_->AddText(font.font, font.pixels, {px.snap(x), px.snap(top)}, packed(style.color), part.data(),
                       part.data() + part.size());
    };
    if (style.tracking == 0) {
        put(utf8);
        return advance;
    }
    while (!utf8.empty()) {
        const std::size_t n = std::min(letter_bytes(utf8[0]), utf8.size());
        put(utf8.substr(0, n));
        x += width_px(font, utf8.substr(0, n)) / scale_ + style.tracking;
        utf8.remove_prefix(n);
    }
    return advance;
}

bool Canvas::text_in(Rect box, std::string_view utf8, const TextStyle& style, Align align) {
    if (box.w <= 0) return !utf8.empty();
    const float y = box.y + (box.h - line_height_of(style)) / 2;
    const float w = text_width(utf8, style);
    if (w <= box.w + 0.5f) {
        const float x = align == Align::left    ? box.x
                        : align == Align::right ? box.right() - w
                                                : box.x + (box.w - w) / 2;
        text({x, y}, utf8, style);
        return false;
    }
    const FontAtSize font = font_at(style.face, style.size);
    const float dots = width_px(font, "…");
    const std::string_view part =
        fitting(font, utf8, (box.w - style.tracking * static_cast<float>(letters(utf8))) * scale_ - dots);
    text({box.x, y}, std::string(part) + "…", style);
    return true;
}

float Canvas::paragraph(Rect box, std::string_view utf8, const TextStyle& style, float line_height) {
    const float h = line_height > 0 ? line_height : line_height_of(style);
    const float lead = (h - line_height_of(style)) / 2;
    float y = box.y;
    wrap(font_at(style.face, style.size), utf8, box.w * scale_, [&](std::string_view line) {
        text({box.x, y + lead}, line, style);
        y += h;
    });
    return y - box.y;
}

float Canvas::paragraph_height(float width, std::string_view utf8, const TextStyle& style,
                               float line_height) const {
    const float h = line_height > 0 ? line_height : line_height_of(style);
    int lines = 0;
    wrap(font_at(style.face, style.size), utf8, width * scale_, [&](std::string_view) { ++lines; });
    return h * static_cast<float>(lines);
}

// ---- cells and clip -----------------------------------------------------------------------------------

void Canvas::cells(const CellGrid& grid) {
    if (grid.count <= 0) return;
    if (list_ != nullptr) queue_cells(*list_, grid);
    if (page_ == nullptr) return;
    for (std::int32_t k = 0; k < grid.count; ++k) {
        const std::int64_t rank = grid.first + static_cast<std::int64_t>(k) * grid.step;
        const std::int64_t id = cell_id(grid, rank);
        Color c = grid.palette[static_cast<std::size_t>(id % grid.palette_size)];
        if (grid.lit_id >= 0 && id != grid.lit_id) c = mix(c, grid.ground, grid.dim);
        const Vec2 at = cell_position(grid, rank);
        sink(page_)->fill_rect({at.x, at.y, grid.cell.x, grid.cell.y}, c, 0);
    }
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

Canvas frame_canvas(const FrameInfo& info, Page* page, bool front) {
    return {front ? ImGui::GetForegroundDrawList() : ImGui::GetWindowDrawList(), info.scale, page};
}

}  // namespace pentamesh
