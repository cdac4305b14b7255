#include "render/svg_shapes.h"

#include <algorithm>
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

}  // namespace pentamesh
