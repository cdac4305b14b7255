#include "render/page.h"
#include "render/sink.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace pentamesh {

namespace {

// More groups or boxes would make the search for overlaps slow.
constexpr std::size_t kMostGroups = 48, kMostBoxes = 6000;

bool overlap(const Rect& a, const Rect& b) {
    constexpr float kTouch = 0.02f;  // edges that meet do not overlap
    return a.x + kTouch < b.right() && b.x + kTouch < a.right() && a.y + kTouch < b.bottom()
           && b.y + kTouch < a.bottom();
}

Rect box_of(std::span<const Vec2> points, float margin) {
    Vec2 low = points[0], high = points[0];
    for (const Vec2 p : points) {
        low = {std::min(low.x, p.x), std::min(low.y, p.y)};
        high = {std::max(high.x, p.x), std::max(high.y, p.y)};
    }
    return {low.x - margin, low.y - margin, high.x - low.x + 2 * margin, high.y - low.y + 2 * margin};
}

}  // namespace

std::int64_t svg_hundredths(float v) {
    return std::isfinite(v) ? std::lround(std::clamp(v, -1e7f, 1e7f) * 100) : 0;
}

void put_svg_hundredths(std::string& out, std::int64_t n) {
    if (n < 0) {
        out += '-';
        n = -n;
    }
    if (n >= 100 || n == 0) out += std::to_string(n / 100);
    const std::int64_t rest = n % 100;
    if (rest == 0) return;
    out += '.';
    out += static_cast<char>('0' + rest / 10);
    if (rest % 10 != 0) out += static_cast<char>('0' + rest % 10);
}

void SvgPath::put_two(std::int64_t a, std::int64_t b) {
    put_svg_hundredths(d_, a);
    if (b >= 0) d_ += ' ';
    put_svg_hundredths(d_, b);
}

void SvgPath::move(Vec2 to) {
    const std::int64_t x = svg_hundredths(to.x), y = svg_hundredths(to.y);
    const bool first = d_.empty();
    d_ += first ? 'M' : 'm';
    put_two(first ? x : x - x_, first ? y : y - y_);
    x_ = begun_x_ = x, y_ = begun_y_ = y;
}

void SvgPath::line(Vec2 to) {
    const std::int64_t x = svg_hundredths(to.x), y = svg_hundredths(to.y);
    if (y == y_) {
        d_ += 'h';
        put_svg_hundredths(d_, x - x_);
    } else if (x == x_) {
        d_ += 'v';
        put_svg_hundredths(d_, y - y_);
    } else {
        d_ += 'l';
        put_two(x - x_, y - y_);
    }
    x_ = x, y_ = y;
}

void SvgPath::close() {
    d_ += 'z';
    x_ = begun_x_, y_ = begun_y_;
}

// The search goes back through earlier shapes until something lies over the place.
SvgPath& SvgShapes::path_for(const std::string& attributes, Rect box, bool opaque) {
    make_room();
    ++boxes_;
    for (std::size_t i = groups_.size(); i-- > 0;) {
        Group& g = groups_[i];
        const bool same = g.attributes == attributes;
        if (same && opaque) {
            g.covers.push_back(box);
            return g.path;
        }
        const bool under =
            std::any_of(g.covers.begin(), g.covers.end(), [&](const Rect& r) { return overlap(r, box); });
        if (under) break;
        if (same) {
            g.covers.push_back(box);
            return g.path;
        }
    }
    groups_.push_back({attributes});
    groups_.back().covers.push_back(box);
    return groups_.back().path;
}

void SvgShapes::fill(std::span<const Vec2> outline, const std::string& attributes, bool opaque) {
    if (outline.empty()) return;
    SvgPath& path = path_for(attributes, box_of(outline, 0), opaque);
    path.move(outline[0]);
    for (const Vec2 p : outline.subspan(1)) path.line(p);
    path.close();
}

void SvgShapes::stroke(std::span<const Vec2> points, bool closed, const std::string& attributes, float width,
                       bool opaque) {
    if (points.empty()) return;
    SvgPath& path = path_for(attributes, box_of(points, width), opaque);
    path.move(points[0]);
    for (const Vec2 p : points.subspan(1)) path.line(p);
    if (closed) path.close();
}

void SvgShapes::stroke_pairs(std::span<const Vec2> points, const std::string& attributes, float width) {
    if (points.size() < 2) return;
    SvgPath& path = path_for(attributes, box_of(points, width), false);
    for (std::size_t i = 0; i + 1 < points.size(); i += 2) {
        path.move(points[i]);
        path.line(points[i + 1]);
    }
}

void SvgShapes::element(std::string text, Rect covers) {
    make_room();
    ++boxes_;
    groups_.push_back({"", {}, std::move(text), {covers}});
}

void SvgShapes::make_room() {
    if (boxes_ >= kMostBoxes) flush();
    if (groups_.size() < kMostGroups) return;
    // The first groups are the least likely to be added to.
    const auto half = static_cast<std::ptrdiff_t>(kMostGroups / 2);
    std::vector<Group> rest(std::make_move_iterator(groups_.begin() + half),
                            std::make_move_iterator(groups_.end()));
    groups_.resize(static_cast<std::size_t>(half));
    flush();
    groups_ = std::move(rest);
    for (const Group& g : groups_) boxes_ += g.covers.size();
}

void SvgShapes::flush() {
    for (const Group& g : groups_)
        body_ +=
            g.attributes.empty() ? g.element : "<path" + g.attributes + " d=\"" + g.path.text() + "\"/>\n";
    groups_.clear();
    boxes_ = 0;
}

// Text stays text in SVG: it is searched, copied, read aloud. Each text says how wide it is, so that a reader
// without our fonts sees the same layout.

namespace {

constexpr const char* kTextStyle =
    "<style>text{font-family:Inter,\"Helvetica Neue\",Arial,sans-serif;white-space:pre;"
    "font-variant-numeric:tabular-nums}"
    ".b{font-weight:600}.m{font-family:\"JetBrains Mono\",Menlo,Consolas,monospace}</style>\n";

std::int64_t hundredths(float v) {
    return svg_hundredths(v);
}

void put_hundredths(std::string& out, std::int64_t n) {
    put_svg_hundredths(out, n);
}

void put_number(std::string& out, float v) {
    put_hundredths(out, hundredths(v));
}

// Appends a number after another one in a path: "-" and a leading "." after a fraction already part them.
void put_next(std::string& out, std::int64_t n) {
    if (n >= 0) out += ' ';
    put_hundredths(out, n);
}

void put_attribute(std::string& out, std::string_view name, float v) {
    out += ' ';
    out += name;
    out += "=\"";
    put_number(out, v);
    out += '"';
}

void put_paint(std::string& out, std::string_view what, Color c) {
    constexpr std::string_view kHex = "0123456789abcdef";
    out += ' ';
    out += what;
    out += "=\"#";
    const auto byte = [&](unsigned v) {
        out += kHex[v >> 4U];
        out += kHex[v & 15U];
    };
    byte(c.r);
    byte(c.g);
    byte(c.b);
    out += '"';
    if (c.a != 255) put_attribute(out, std::string(what) + "-opacity", static_cast<float>(c.a) / 255);
}

struct SvgPage final : Page::Impl {
    PageSpec spec;
    std::string body;
    SvgShapes shapes{body};
    int clips = 0;

    explicit SvgPage(const PageSpec& s) : spec(s) {}

    void flush() { shapes.flush(); }
    void rect(Rect r, Color fill, float radius) override {
        std::string paint;
        put_paint(paint, "fill", fill);
        if (radius <= 0) {
            const std::array<Vec2, 4> corners{
                {{r.x, r.y}, {r.right(), r.y}, {r.right(), r.bottom()}, {r.x, r.bottom()}}};
            shapes.fill(corners, paint, fill.a == 255);
            return;
        }
        std::string out = "<rect";
        put_attribute(out, "x", r.x);
        put_attribute(out, "y", r.y);
        put_attribute(out, "width", r.w);
        put_attribute(out, "height", r.h);
        put_attribute(out, "rx", std::min({radius, r.w / 2, r.h / 2}));
        shapes.element(out + paint + "/>\n", r);
    }
    // The rectangles have one size: strokes are as wide as they are, each as far from the last as it stands.
    void fill_rects(std::span<const Rect> rects, Color color) override {
        flush();
        if (rects.empty()) return;
        const Rect first = rects[0];
        const bool alike = std::all_of(rects.begin(), rects.end(), [&](const Rect& r) {
            return std::abs(r.w - first.w) < 0.005f && std::abs(r.h - first.h) < 0.005f;
        });
        if (!alike || rects.size() < 4) {
            for (const Rect& r : rects) rect(r, color, 0);
            return;
        }
        const std::int64_t high = std::max<std::int64_t>(1, hundredths(first.h));
        body += "<path fill=\"none\"";
        put_paint(body, "stroke", color);
        put_attribute(body, "stroke-width", first.w);
        body += " d=\"";
        std::int64_t x = 0, y = 0;
        for (std::size_t i = 0; i < rects.size(); ++i) {
            const std::int64_t nx = hundredths(rects[i].x + first.w / 2), ny = hundredths(rects[i].y);
            body += i == 0 ? 'M' : 'm';
            put_hundredths(body, nx - x);
            put_next(body, ny - y);
            body += 'v';
            put_hundredths(body, high);
            x = nx;
            y = ny + high;
        }
        body += "\"/>\n";
    }
    // Polygons are not joined in one path: where two turn against each other, they would leave a hole.
    void polygon(std::span<const Vec2> convex, Color color) override {
        flush();
        if (convex.empty()) return;
        std::string paint;
        put_paint(paint, "fill", color);
        shapes.fill(convex, paint, false);
        flush();
    }
    void stroke(std::span<const Vec2> points, Color color, float width, bool closed, Dash dash) override {
        std::string paint = stroke_paint(color, width);
        if (dash != Dash::solid) {
            const auto [on, off] = lengths_of(dash, width);
            paint += " stroke-dasharray=\"";
            put_number(paint, on);
            put_next(paint, hundredths(off));
            paint += dash == Dash::dotted ? "\" stroke-linecap=\"round\"" : "\"";
        }
        shapes.stroke(points, closed, paint, width, color.a == 255);
    }
    void stroke_pairs(std::span<const Vec2> points, Color color, float width) override {
        shapes.stroke_pairs(points, stroke_paint(color, width), width);
    }
    static std::string stroke_paint(Color color, float width) {
        std::string paint = " fill=\"none\"";
        put_paint(paint, "stroke", color);
        put_attribute(paint, "stroke-width", width);
        return paint;
    }
    void text(Vec2 pen, std::string_view utf8, const TextStyle& style) override {
        float advance = 0;
        int letters = 0;
        for (std::string_view rest = utf8; !rest.empty(); ++letters)
            advance += faces().glyph(style.face, take_character(rest)).advance * style.size + style.tracking;
        if (letters == 0) return;
        std::string out = "<text";
        put_attribute(out, "x", pen.x);
        put_attribute(out, "y", pen.y);
        put_attribute(out, "font-size", style.size);
        if (style.face == Face::semibold) out += " class=\"b\"";
        if (style.face == Face::mono) out += " class=\"m\"";
        if (letters > 1) put_attribute(out, "textLength", advance - style.tracking);
        put_paint(out, "fill", style.color);
        out += '>' + xml_text(utf8) + "</text>\n";
        shapes.element(std::move(out), {pen.x - 1, pen.y - style.size, advance + 2, style.size * 1.4f});
    }
    void glyphs(std::span<const PlacedGlyph>, float, Color) override {}  // never asked: text() is ours
    [[nodiscard]] const TypeFaces& faces() const override { return *spec.faces; }
    // A nested picture shows nothing beyond its edge, and needs no name in the file.
    void push_clip(Rect r) override {
        flush();
        r.w = std::max(0.0f, r.w), r.h = std::max(0.0f, r.h);
        body += "<svg";
        put_attribute(body, "x", r.x);
        put_attribute(body, "y", r.y);
        put_attribute(body, "width", r.w);
        put_attribute(body, "height", r.h);
        body += " viewBox=\"";
        put_number(body, r.x);
        put_next(body, hundredths(r.y));
        put_next(body, hundredths(r.w));
        put_next(body, hundredths(r.h));
        body += "\">\n";
        ++clips;
    }
    void begin_inset(Vec2 corner, float by) override {
        flush();
        body += "<g transform=\"translate(";
        put_number(body, corner.x);
        body += ' ';
        put_number(body, corner.y);
        const long millionths = std::lround(by * 1e6f);
        body += ") scale(" + std::to_string(millionths / 1'000'000) + '.'
                + std::to_string(1'000'000 + millionths % 1'000'000).substr(1) + ")\">\n";
    }
    void end_inset() override {
        flush();
        body += "</g>\n";
    }
    void pop_clip() override {
        flush();
        if (clips-- > 0) body += "</svg>\n";
    }
    std::string finish() override {
        flush();
        while (clips-- > 0) body += "</svg>\n";
        std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\"";
        put_attribute(out, "width", spec.size.x);
        put_attribute(out, "height", spec.size.y);
        out += " viewBox=\"0 0";
        put_next(out, hundredths(spec.size.x));
        put_next(out, hundredths(spec.size.y));
        out += "\">\n";
        out += kTextStyle + body + "</svg>\n";
        embed_in_svg(out, spec.title, spec.embedded);
        return out;
    }
};

}  // namespace

std::unique_ptr<Page::Impl> make_svg_page(const PageSpec& spec) {
    return std::make_unique<SvgPage>(spec);
}

}  // namespace pentamesh
