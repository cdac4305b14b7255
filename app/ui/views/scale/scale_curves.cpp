#include "app/ui/views/scale/view.h"

#include "app/ui/scene/colors.h"
#include "app/ui/scene/scene.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace pentamesh::ui {

namespace {

constexpr double kSeen = 0.002;  // of the step, at any point: what is less has no curve
constexpr double kSame = 0.98;   // of its time: what waits so much waits whole

std::vector<double> seconds_of(const Scale& scale, const std::function<double(const ScalePoint&)>& of) {
    std::vector<double> out;
    for (const ScalePoint& p : scale.points) out.push_back(p.possible() ? of(p) : -1);
    return out;
}

// Returns the largest share of the step.
double most_share(const Scale& scale, const std::vector<double>& s) {
    double out = 0;
    for (std::size_t i = 0; i < s.size(); ++i)
        if (s[i] > 0) out = std::max(out, s[i] / scale.points[i].step_s);
    return out;
}

void add_axis(std::vector<ScaleCurve>& out, const Theme& theme, const Scale& scale, GroupKind k) {
    const Color color = color_of(theme, k);
    std::vector<double> waits = seconds_of(scale, [&](const ScalePoint& p) { return p.waits_s[k]; });
    std::vector<double> time = seconds_of(scale, [&](const ScalePoint& p) { return p.time_s[k]; });
    bool whole = true;
    for (std::size_t i = 0; i < waits.size(); ++i)
        whole = whole && (time[i] <= 0 || waits[i] >= kSame * time[i]);
    const bool waited = most_share(scale, waits) > kSeen;
    const std::string name = axis_label(k);
    if (!whole && most_share(scale, time) > kSeen)
        out.push_back({name + ", all of it", "", color, 1.2f, Dash::dashed, std::move(time)});
    if (waited)
        out.push_back(
            {name, whole ? "all of it waits" : "waits", color, 2.4f, Dash::solid, std::move(waits)});
}

bool overlaps(Rect a, Rect b) {
    return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

// Returns true if the line from a to b passes through the box.
bool passes(Vec2 a, Vec2 b, Rect box) {
    float from = 0, to = 1;
    const auto cut = [&](float start, float by, float low, float high) {
        if (std::abs(by) < 1e-6f) return start >= low && start <= high;
        float t0 = (low - start) / by, t1 = (high - start) / by;
        if (t0 > t1) std::swap(t0, t1);
        from = std::max(from, t0), to = std::min(to, t1);
        return from <= to;
    };
    return cut(a.x, b.x - a.x, box.x, box.right()) && cut(a.y, b.y - a.y, box.y, box.bottom());
}

// Returns the step that perfect scaling from the best point would take; < 0 where the point is impossible.
double perfect_s(const ScalePoint& p) {
    return p.possible() ? p.step_s * p.of_best : -1;
}

}  // namespace

std::vector<ScaleCurve> curves_of(const Theme& theme, const Scale& scale) {
    std::vector<ScaleCurve> out;
    for (const GroupKind k : all_of<GroupKind>()) add_axis(out, theme, scale, k);
    std::vector<double> bubble = seconds_of(scale, [](const ScalePoint& p) { return p.bubble_s; });
    if (most_share(scale, bubble) > kSeen)
        out.push_back({"bubble", "idle", theme.bad, 2.4f, Dash::solid, std::move(bubble)});
    out.push_back({"compute", "", theme.forward, 2.2f, Dash::solid,
                   seconds_of(scale, [](const ScalePoint& p) { return p.compute_s; })});
    out.push_back({"perfect", "", theme.text, 1.2f, Dash::dotted, seconds_of(scale, perfect_s)});
    out.push_back({"step", "", theme.text, 3.4f, Dash::solid,
                   seconds_of(scale, [](const ScalePoint& p) { return p.step_s; })});
    return out;
}

bool NamePlaces::is_free(Rect box) const {
    if (box.x < area_.x || box.right() > area_.right() || box.y < area_.y || box.bottom() > area_.bottom())
        return false;
    for (const Rect& b : boxes_)
        if (overlaps(b, box)) return false;
    return std::none_of(lines_.begin(), lines_.end(), [&](const Line& l) { return passes(l.a, l.b, box); });
}

Rect NamePlaces::beside(const std::vector<Vec2>& curve, Vec2 size) {
    constexpr int kTries = 10;  // places between two points
    for (const float lift : {gap_, 2.5f * gap_})
        for (std::size_t i = 1; i < curve.size(); ++i)
            for (int k = 0; k < kTries; ++k) {
                const float t = static_cast<float>(k) / kTries;
                const Vec2 at = curve[i - 1] * (1 - t) + curve[i] * t;
                for (const bool above : {true, false}) {
                    // The box stands off the curve on the side to which the curve leans away from it.
                    const bool falls = curve[i].y > curve[i - 1].y;
                    const Rect box{above == falls ? at.x + gap_ / 2 : at.x - size.x - gap_ / 2,
                                   above ? at.y - lift - size.y : at.y + lift, size.x, size.y};
                    if (!is_free(box)) continue;
                    boxes_.push_back(box);
                    return box;
                }
            }
    return {};
}

}  // namespace pentamesh::ui
