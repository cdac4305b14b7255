#include "render/canvas.h"

#include "render/imgui_compat.h"
#include "render/sink.h"
#include "render/surface.h"
#include "render/surface_state.h"

#include <algorithm>
#include <array>
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

std::vector<Vec2> rounded_outline(Rect r, float radius) {
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
            const Vec2 c = centers[corner];
            out.push_back({c.x + std::cos(angle) * radius, c.y + std::sin(angle) * radius});
        }
    return out;
}

namespace {
bool drawable(Rect r) {
    return !r.empty() && std::isfinite(r.x) && std::isfinite(r.y) && std::isfinite(r.w) && std::isfinite(r.h);
}
}  // namespace

Canvas::Canvas(ImDrawList* list, float scale, Page* page) : list_(list), scale_(scale), page_(page) {}

template <typename Draw>
void Canvas::each(Draw&& draw) const {
    if (page_ != nullptr) draw(static_cast<Sink&>(sink_of(*page_)));
    if (list_ == nullptr) return;
    ScreenSink screen(*list_, scale_);
    draw(static_cast<Sink&>(screen));
}

void Canvas::rect(Rect r, Color fill, float radius) {
    if (drawable(r) && fill.a > 0) each([&](Sink& s) { s.rect(r, fill, radius); });
}

void Canvas::frame(Rect r, Color color, float width, float radius, Dash dash) {
    if (!drawable(r)) return;
    if (dash == Dash::solid)
        each([&](Sink& s) { s.frame(r, color, width, radius); });
    else
        stroke(rounded_outline(r.inset(width / 2), radius), color, width, true, dash);
}

void Canvas::pattern(Rect r, Pattern p, Color color, Color ground) {
    rect(r, ground);
    if (p == Pattern::solid)
        rect(r, color);
    else if (drawable(r))
        each([&](Sink& s) { s.pattern(r, p, color); });
}

void Canvas::stroke(std::span<const Vec2> points, Color color, float width, bool closed, Dash dash) {
    each([&](Sink& s) { s.stroke(points, color, width, closed, dash); });
}

void Canvas::line(Vec2 a, Vec2 b, Color color, float width, Dash dash) {
    stroke(std::array<Vec2, 2>{a, b}, color, width, false, dash);
}

void Canvas::polyline(std::span<const Vec2> points, Color color, float width, bool closed, Dash dash) {
    stroke(points, color, width, closed, dash);
}

void Canvas::curve(Vec2 a, Vec2 control_a, Vec2 control_b, Vec2 b, Color color, float width, Dash dash) {
    constexpr int kSteps = 24;
    std::array<Vec2, kSteps + 1> points{};
    for (int i = 0; i <= kSteps; ++i) {
        const float t = static_cast<float>(i) / kSteps, s = 1 - t;
        points[i] =
            a * (s * s * s) + control_a * (3 * s * s * t) + control_b * (3 * s * t * t) + b * (t * t * t);
    }
    stroke(points, color, width, false, dash);
}

void Canvas::polygon(std::span<const Vec2> convex, Color fill) {
    each([&](Sink& s) { s.polygon(convex, fill); });
}

void Canvas::circle(Vec2 center, float radius, Color fill) {
    each([&](Sink& s) { s.circle(center, radius, fill); });
}

void Canvas::ring(Vec2 center, float radius, Color color, float width) {
    const Rect box{center.x - radius, center.y - radius, 2 * radius, 2 * radius};
    stroke(rounded_outline(box, radius), color, width, true, Dash::solid);
}

void Canvas::draw_text(Vec2 pen, std::string_view utf8, const TextStyle& style) {
    each([&](Sink& s) { s.text(pen, utf8, style); });
}

void Canvas::cells(const CellGrid& grid) {
    if (grid.count > 0) each([&](Sink& s) { s.cells(grid); });
}

void Canvas::push_clip(Rect r) {
    each([&](Sink& s) { s.push_clip(r); });
}

void Canvas::pop_clip() {
    each([](Sink& s) { s.pop_clip(); });
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
    ImDrawList* list = front ? ImGui::GetForegroundDrawList() : ImGui::GetWindowDrawList();
    use_own_texture(*list);
    return {list, info.scale, page};
}

void fill_frame(const FrameInfo& info, Page* page, Color ground) {
    surface_state().ground = ground;
    if (page != nullptr) Canvas(nullptr, info.scale, page).rect({0, 0, info.size.x, info.size.y}, ground);
}

// Text is measured and wrapped in ems, which no scale changes.

namespace {

constexpr std::string_view kEllipsis = "…";

const TypeFaces& faces_of(Page* page) {
    return page != nullptr ? sink_of(*page).faces() : surface_state().faces;
}

float line_height_of(const TextStyle& s) {
    return std::round(s.size * 1.25f);
}

float advance_of(const TypeFaces& faces, const TextStyle& style, char32_t c) {
    return faces.glyph(style.face, c).advance * style.size + style.tracking;
}

float width_of(const TypeFaces& faces, const TextStyle& style, std::string_view s) {
    float w = 0;
    while (!s.empty()) w += advance_of(faces, style, take_character(s));
    return w;
}

// Returns the longest beginning that fits. It ends where a character ends.
std::string_view fitting(const TypeFaces& faces, const TextStyle& style, std::string_view s, float room) {
    std::string_view rest = s;
    float x = 0;
    while (!rest.empty()) {
        std::string_view after = rest;
        x += advance_of(faces, style, take_character(after));
        if (x > room) break;
        rest = after;
    }
    return s.substr(0, s.size() - rest.size());
}

// Calls `line` for each line of a text wrapped at spaces, or within a word that is wider than the room.
template <typename Line>
void wrap(const TypeFaces& faces, const TextStyle& style, std::string_view text, float room, Line&& line) {
    while (!text.empty()) {
        const std::size_t newline = std::min(text.find('\n'), text.size());
        std::string_view rest = text.substr(0, newline);
        text.remove_prefix(std::min(newline + 1, text.size()));
        if (rest.empty()) line(rest);
        while (!rest.empty()) {
            std::string_view part = fitting(faces, style, rest, room + 0.01f);
            if (part.size() < rest.size()) {
                std::size_t space = rest[part.size()] == ' ' ? part.size() : part.rfind(' ');
                if (space != std::string_view::npos && space > 0 && before_unit(rest, space)) {
                    const std::size_t earlier = rest.substr(0, space).rfind(' ');
                    if (earlier != std::string_view::npos) space = earlier;
                }
                if (space != std::string_view::npos && space > 0) part = rest.substr(0, space);
                if (part.empty()) {
                    std::string_view after = rest;
                    static_cast<void>(take_character(after));
                    part = rest.substr(0, rest.size() - after.size());
                }
            }
            line(part);
            rest.remove_prefix(part.size());
            while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
        }
    }
}

// Records the run where a pixel of it is within the clip.
void record_run(const ImDrawList& list, Vec2 at, float advance, float scale, std::string_view text,
                const TextStyle& style) {
    const ImVec2 low = list.GetClipRectMin(), high = list.GetClipRectMax();
    const float height = line_height_of(style);
    if (at.x * scale >= high.x || at.y * scale >= high.y || (at.x + advance) * scale <= low.x
        || (at.y + height) * scale <= low.y)
        return;
    surface_state().text_runs.push_back({at, std::string(text)});
}

}  // namespace

bool before_unit(std::string_view text, std::size_t blank) {
    static constexpr std::array<std::string_view, 24> kUnits{
        "%",   "s",   "ms",  "µs",  "ns",   "B",    "KB",    "kB",      "MB",      "GB", "TB", "PB",
        "KiB", "MiB", "GiB", "TiB", "GB/s", "TB/s", "TFLOP", "TFLOP/s", "PFLOP/s", "K",  "M",  "T"};
    if (blank == 0 || blank + 1 >= text.size()) return false;
    const char before = text[blank - 1];
    if (before < '0' || before > '9') return false;
    const std::string_view after = text.substr(blank + 1);
    const std::string_view word = after.substr(0, after.find_first_of(" \n,.;:)*`?!"));
    return std::find(kUnits.begin(), kUnits.end(), word) != kUnits.end();
}

float Canvas::text_width(std::string_view utf8, const TextStyle& style) const {
    return width_of(faces_of(page_), style, utf8);
}

float Canvas::text(Vec2 at, std::string_view utf8, const TextStyle& style) {
    return put(at, utf8, style);
}

float Canvas::put(Vec2 at, std::string_view utf8, const TextStyle& style) {
    const TypeFaces& faces = faces_of(page_);
    const float advance = width_of(faces, style, utf8);
    if (utf8.empty() || style.color.a == 0 || !(style.size > 0) || !std::isfinite(at.x + at.y))
        return advance;
    const float baseline = at.y + line_height_of(style) / 2 + faces.baseline_below_middle() * style.size;
    if (list_ != nullptr && surface_state().records_text)
        record_run(*list_, at, advance, scale_, utf8, style);
    draw_text({at.x, baseline}, utf8, style);
    return advance;
}

bool Canvas::text_in(Rect box, std::string_view utf8, const TextStyle& style, Align align) {
    if (box.w <= 0) return !utf8.empty();
    const TypeFaces& faces = faces_of(page_);
    const float y = box.y + (box.h - line_height_of(style)) / 2;
    const float w = width_of(faces, style, utf8);
    if (w <= box.w + 0.5f) {
        const float x = align == Align::left    ? box.x
                        : align == Align::right ? box.right() - w
                                                : box.x + (box.w - w) / 2;
        put({x, y}, utf8, style);
        return false;
    }
    const float dots = width_of(faces, style, kEllipsis);
    put({box.x, y}, std::string(fitting(faces, style, utf8, box.w - dots)) + std::string(kEllipsis), style);
    return true;
}

float Canvas::paragraph(Rect box, std::string_view utf8, const TextStyle& style, float line_height) {
    const float h = line_height > 0 ? line_height : line_height_of(style);
    const float lead = (h - line_height_of(style)) / 2;
    float y = box.y;
    wrap(faces_of(page_), style, utf8, box.w, [&](std::string_view line) {
        put({box.x, y + lead}, line, style);
        y += h;
    });
    return y - box.y;
}

float Canvas::paragraph_height(float width, std::string_view utf8, const TextStyle& style,
                               float line_height) const {
    const float h = line_height > 0 ? line_height : line_height_of(style);
    int lines = 0;
    wrap(faces_of(page_), style, utf8, width, [&](std::string_view) { ++lines; });
    return h * static_cast<float>(lines);
}

std::vector<std::string_view> Canvas::wrapped(float width, std::string_view utf8,
                                              const TextStyle& style) const {
    std::vector<std::string_view> lines;
    wrap(faces_of(page_), style, utf8, width, [&](std::string_view line) { lines.push_back(line); });
    return lines;
}

namespace {

// Returns the share of a pixel that lies within `half` of a line `distance` from its centre.
float coverage(float distance, float half) {
    return std::clamp(half + 0.5f - distance, 0.0f, 1.0f);
}

// Returns the same share for a line at 45 degrees, exact in area: the share of a pixel's diagonal square on
// one side of a line that passes its centre at `distance`, at both edges of the line.
float diagonal_coverage(float distance, float half) {
    const auto below = [](float at) {
        const float reach = std::max(0.0f, std::sqrt(0.5f) - std::abs(at));
        return at < 0 ? reach * reach : 1 - reach * reach;
    };
    return below(distance + half) - below(distance - half);
}

// Returns how much of pixel (x, y) of a tile the pattern covers. Its lines are x + y = 0 and, crossed, x - y
// = 0, modulo the side.
float covered(Pattern pattern, float x, float y, float side, float scale) {
    const auto to_line = [&](float c) {
        const float m = c - std::floor(c / side) * side;
        return std::min(m, side - m) / std::sqrt(2.0f);
    };
    switch (pattern) {
    case Pattern::hatched:
    case Pattern::sparse: return diagonal_coverage(to_line(x + y), pattern_line(pattern) * scale / 2);
    case Pattern::cross_hatched:
        return std::max(diagonal_coverage(to_line(x + y), scale / 2),
                        diagonal_coverage(to_line(x - y), scale / 2));
    case Pattern::dotted: return coverage(std::hypot(x - side / 2, y - side / 2), kPatternDotRadius * scale);
    case Pattern::solid: break;
    }
    return 1;
}

}  // namespace

int pattern_side(Pattern pattern, float scale) {
    return std::max(2, static_cast<int>(std::lround(pattern_step(pattern) * scale)));
}

int pattern_span(Pattern pattern, float scale) {
    constexpr int kAbout = 256;  // most rectangles need one picture then
    const int side = pattern_side(pattern, scale);
    return std::max(1, kAbout / side) * side;
}

std::vector<std::uint8_t> pattern_picture(Pattern pattern, float scale) {
    const int side = pattern_side(pattern, scale), n = pattern_span(pattern, scale) + side;
    std::vector<std::uint8_t> alpha;
    alpha.reserve(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
    for (int y = 0; y < n; ++y)
        for (int x = 0; x < n; ++x) {
            const auto px = static_cast<float>(x % side) + 0.5f, py = static_cast<float>(y % side) + 0.5f;
            const float share = covered(pattern, px, py, static_cast<float>(side), scale);
            alpha.push_back(static_cast<std::uint8_t>(std::lround(255 * share)));
        }
    return alpha;
}

}  // namespace pentamesh
