// Text is measured and wrapped in ems, which no scale changes.
#include "render/canvas.h"
#include "render/line_break.h"
#include "render/page_sink.h"
#include "render/reworded.h"
#include "render/surface_state.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <imgui.h>
#include <string>

namespace pentamesh {

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

thread_local const Rewording* current_rewording = nullptr;

// Holds a text as it is to be drawn, and the memory of what was made of it.
class Shown {
  public:
    explicit Shown(std::string_view text) : text_(text) {
        const Rewording* words = rewording();
        if (words == nullptr || text.empty()) return;
        kept_ = (*words)(text);
        text_ = kept_;
    }
    operator std::string_view() const { return text_; }  // NOLINT: it stands where a text stands

  private:
    std::string kept_;
    std::string_view text_;
};

}  // namespace

Reworded::Reworded(const Rewording& words) : before_(current_rewording) {
    current_rewording = &words;
}
Reworded::~Reworded() {
    current_rewording = before_;
}
const Rewording* rewording() {
    return current_rewording != nullptr && *current_rewording ? current_rewording : nullptr;
}

bool is_reworded(std::string_view text) {
    const Rewording* words = rewording();
    return words != nullptr && (*words)(text) != text;
}

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

float Canvas::text(Vec2 at, std::string_view given, const TextStyle& style) {
    const Shown shown(given);
    return put(at, shown, style);
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

bool Canvas::text_in(Rect box, std::string_view given, const TextStyle& style, Align align) {
    const Shown shown(given);
    const std::string_view utf8 = shown;
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

float Canvas::paragraph(Rect box, std::string_view given, const TextStyle& style, float line_height) {
    const Shown shown(given);
    const std::string_view utf8 = shown;
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
    const Shown shown(utf8);
    wrap(faces_of(page_), style, shown, width, [&](std::string_view) { ++lines; });
    return h * static_cast<float>(lines);
}

std::vector<std::string_view> Canvas::wrapped(float width, std::string_view utf8,
                                              const TextStyle& style) const {
    std::vector<std::string_view> lines;
    wrap(faces_of(page_), style, utf8, width, [&](std::string_view line) { lines.push_back(line); });
    return lines;
}

}  // namespace pentamesh
