// Text: measured in ems that no scale changes, drawn glyph by glyph a quarter of a pixel from where it
// belongs.
#include "render/canvas.h"
#include "render/imgui_compat.h"
#include "render/line_break.h"
#include "render/page_sink.h"
#include "render/surface_state.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <imgui.h>
#include <string>

namespace pentamesh {

namespace {

constexpr float kLargestRaster = 160;  // pixels; larger type is enlarged
constexpr std::size_t kBatch = 4096;   // glyphs that Dear ImGui is given at once: its indices have 16 bits
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

// The longest beginning that fits, at a character's end.
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

// Quads of one run, all on the page of the texture that is current.
class QuadBatch {
  public:
    QuadBatch(ImDrawList& list, ImU32 color) : list_(&list), color_(color) {}
    ~QuadBatch() { flush(); }
    QuadBatch(const QuadBatch&) = delete;
    QuadBatch& operator=(const QuadBatch&) = delete;
    void add(int page, ImVec2 a, ImVec2 b, ImVec2 uv_a, ImVec2 uv_b) {
        if (page != page_ || quads_.size() >= kBatch) flush();
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

// `pen` and `baseline` in physical pixels; the pen starts on a whole one.
void draw_run(ImDrawList& list, float pen, float baseline, float scale, std::string_view text,
              const TextStyle& style) {
    SurfaceState& state = surface_state();
    const float em = style.size * scale;
    // A quarter of a pixel of type size is not seen; it keeps a zoom from filling the cache.
    const float raster = std::clamp(std::round(em * 4) / 4, 1.0f, kLargestRaster);
    const float grow = em > kLargestRaster ? em / kLargestRaster : 1;
    const ImVec2 low = list.GetClipRectMin(), high = list.GetClipRectMax();
    if (baseline + em < low.y || baseline - 2 * em > high.y) return;
    QuadBatch batch(list, IM_COL32(style.color.r, style.color.g, style.color.b, style.color.a));
    const AtlasRegion start = atlas_region();
    while (!text.empty() && pen < high.x + em) {
        const GlyphRef glyph = state.faces.glyph(style.face, take_character(text));
        const float at = pen + glyph.shift * em;
        pen += glyph.advance * em + style.tracking * scale;
        if (pen + em < low.x) continue;
        const float quarter = std::floor(at * 4 + 0.5f);
        const float whole = std::floor(quarter / 4);
        const GlyphSlot slot = state.glyphs.get(glyph, raster, static_cast<int>(quarter - whole * 4));
        if (slot.page < 0) continue;
        AtlasRegion r{0, 0, 0, 0, 1.0f / GlyphCache::kOwnPage, 1.0f / GlyphCache::kOwnPage};
        if (slot.page == 0) r = start;
        const auto u = static_cast<float>(r.x + slot.x), v = static_cast<float>(r.y + slot.y);
        const auto w = static_cast<float>(slot.width), h = static_cast<float>(slot.height);
        const ImVec2 a{whole + static_cast<float>(slot.left) * grow,
                       baseline - static_cast<float>(slot.top) * grow};
        batch.add(slot.page, a, {a.x + w * grow, a.y + h * grow}, {u * r.u, v * r.v},
                  {(u + w) * r.u, (v + h) * r.v});
    }
}

// Keeps the run where a pixel of it is within the clip.
void record_run(const ImDrawList& list, Vec2 at, float advance, float scale, std::string_view text,
                const TextStyle& style) {
    SurfaceState& state = surface_state();
    const ImVec2 low = list.GetClipRectMin(), high = list.GetClipRectMax();
    const float height = line_height_of(style);
    if (at.x * scale >= high.x || at.y * scale >= high.y || (at.x + advance) * scale <= low.x
        || (at.y + height) * scale <= low.y)
        return;
    state.text_runs.push_back({at, std::string(text)});
}

void page_run(PageSink& page, Vec2 pen, std::string_view text, const TextStyle& style) {
    std::vector<PlacedGlyph> run;
    while (!text.empty()) {
        const char32_t c = take_character(text);
        const GlyphRef glyph = page.faces().glyph(style.face, c);
        run.push_back({glyph, {pen.x + glyph.shift * style.size, pen.y}, c});
        pen.x += glyph.advance * style.size + style.tracking;
    }
    page.text(run, style.size, style.color);
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
    const TypeFaces& faces = faces_of(page_);
    const float advance = width_of(faces, style, utf8);
    if (utf8.empty() || style.color.a == 0 || !(style.size > 0) || !std::isfinite(at.x + at.y))
        return advance;
    const float baseline = at.y + line_height_of(style) / 2 + faces.baseline_below_middle() * style.size;
    if (page_ != nullptr) page_run(sink_of(*page_), {at.x, baseline}, utf8, style);
    if (list_ != nullptr && surface_state().records_text)
        record_run(*list_, at, advance, scale_, utf8, style);
    if (list_ != nullptr)
        draw_run(*list_, std::round(at.x * scale_), std::round(baseline * scale_), scale_, utf8, style);
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
        text({x, y}, utf8, style);
        return false;
    }
    const float dots = width_of(faces, style, kEllipsis);
    text({box.x, y}, std::string(fitting(faces, style, utf8, box.w - dots)) + std::string(kEllipsis), style);
    return true;
}

float Canvas::paragraph(Rect box, std::string_view utf8, const TextStyle& style, float line_height) {
    const float h = line_height > 0 ? line_height : line_height_of(style);
    const float lead = (h - line_height_of(style)) / 2;
    float y = box.y;
    wrap(faces_of(page_), style, utf8, box.w, [&](std::string_view line) {
        text({box.x, y + lead}, line, style);
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

}  // namespace pentamesh
