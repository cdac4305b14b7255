#include "render/canvas.h"

#include "render/clip.h"
#include "render/imgui_compat.h"
#include "render/page_sink.h"
#include "render/screen_sink.h"
#include "render/surface.h"
#include "render/surface_state.h"

#include <algorithm>
#include <cmath>
#include <imgui.h>

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

}  // namespace pentamesh
