#include "app/ui/kit/plot.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

namespace {

constexpr float kLabelHeight = 18, kLabelGap = 6;

std::vector<double> linear_ticks(double low, double high, int count) {
    const double rough = (high - low) / count;
    if (!(rough > 0) || !std::isfinite(rough)) return {low};
    const double decade = std::pow(10.0, std::floor(std::log10(rough)));
    double step = 10 * decade;
    for (const double k : {1.0, 2.0, 5.0})
        if (k * decade >= rough * (1 - 1e-9)) {
            step = k * decade;
            break;
        }
    std::vector<double> out;
    const double first = std::ceil(low / step - 1e-9);
    for (int i = 0; (first + i) * step <= high + step * 1e-9; ++i) out.push_back((first + i) * step);
    return out;
}

// Returns powers of ten; every second, third ... where there are more than `count`.
std::vector<double> decade_ticks(double low, double high, int count) {
    const int first = static_cast<int>(std::ceil(std::log10(low) - 1e-9)),
              last = static_cast<int>(std::floor(std::log10(high) + 1e-9));
    const int every = std::max(1, (last - first + count) / count);
    std::vector<double> out;
    for (int e = first; e <= last; e += every) out.push_back(std::pow(10.0, e));
    return out;
}

// Returns 1, 2 and 5 times powers of ten, for less than two decades.
std::vector<double> one_two_five(double low, double high) {
    std::vector<double> out;
    for (int e = static_cast<int>(std::floor(std::log10(low))); std::pow(10.0, e) <= high; ++e)
        for (const double k : {1.0, 2.0, 5.0})
            if (const double v = k * std::pow(10.0, e); v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9))
                out.push_back(v);
    return out;
}

int fitting(float length, float spacing) {
    return std::max(2, static_cast<int>(length / spacing));
}

std::vector<double> ticks_of(const PlotAxis& axis, const PlotScale& scale) {
    if (!axis.ticks.empty()) return axis.ticks;
    return round_ticks(scale, fitting(std::abs(scale.to - scale.from), axis.spacing), axis.unit);
}

}  // namespace

float PlotScale::at(double v) const {
    const bool log = kind == ScaleKind::logarithmic;
    const double k =
        log ? std::log(std::max(v, 1e-300) / low) / std::log(high / low) : (v - low) / (high - low);
    return from + static_cast<float>(k) * (to - from);
}

double PlotScale::value(float at) const {
    const double k = static_cast<double>(at - from) / static_cast<double>(to - from);
    return kind == ScaleKind::logarithmic ? low * std::pow(high / low, k) : low + k * (high - low);
}

std::vector<double> round_ticks(const PlotScale& scale, int count, double unit) {
    count = std::max(2, count);
    const double low = std::min(scale.low, scale.high) / unit, high = std::max(scale.low, scale.high) / unit;
    std::vector<double> out;
    if (scale.kind == ScaleKind::logarithmic && low > 0 && high >= 100 * low) {
        out = decade_ticks(low, high, count);
    } else if (scale.kind == ScaleKind::logarithmic && low > 0) {
        out = one_two_five(low, high);
        if (out.size() < 2 || out.size() > static_cast<std::size_t>(count))
            out = linear_ticks(low, high, count);
    } else {
        out = linear_ticks(low, high, count);
    }
    for (double& v : out) v *= unit;
    return out;
}

Plot draw_axes(Ui& ui, Rect room, const PlotAxis& x, const PlotAxis& y) {
    Canvas& c = ui.canvas();
    const TextStyle style = ui.small();
    if (x.label || !x.title.empty()) room.cut_bottom(kLabelHeight);
    if (!y.title.empty()) c.text_in(room.cut_top(kLabelHeight), y.title, style);
    if (y.label) room.cut_top(kLabelHeight / 2);  // half of the top tick's label
    Plot plot;
    plot.y = {y.low, y.high, y.kind, room.bottom(), room.y};
    const std::vector<double> y_ticks = ticks_of(y, plot.y);
    float widest = 0;
    if (y.label)
        for (const double v : y_ticks) widest = std::max(widest, c.text_width(y.label(v), style));
    if (widest > 0) room.cut_left(std::ceil(widest) + kLabelGap);
    plot.area = room;
    plot.x = {x.low, x.high, x.kind, room.x, room.right()};
    for (const double v : y_ticks) {
        const float at = plot.y.at(v);
        if (y.grid) c.line({room.x, at}, {room.right(), at}, ui.theme().hairline);
        if (y.label)
            c.text_in({room.x - kLabelGap - widest - 1, at - kLabelHeight / 2, widest + 1, kLabelHeight},
                      y.label(v), style, Align::right);
    }
    float free_from = -1e9f;  // labels do not touch
    for (const double v : ticks_of(x, plot.x)) {
        const float at = plot.x.at(v);
        if (x.grid) c.line({at, room.y}, {at, room.bottom()}, ui.theme().hairline);
        if (!x.label) continue;
        const std::string text = x.label(v);
        const float w = c.text_width(text, style) + 1;
        const float left = std::clamp(at - w / 2, room.x - widest, std::max(room.x, room.right() - w));
        if (left < free_from) continue;
        c.text_in({left, room.bottom(), w, kLabelHeight}, text, style);
        free_from = left + w + kLabelGap;
    }
    const float title = c.text_width(x.title, style) + 1;
    if (!x.title.empty() && room.right() - title >= free_from)
        c.text_in({room.right() - title, room.bottom(), title, kLabelHeight}, x.title, style);
    return plot;
}

std::optional<std::size_t> nearest_point(std::span<const Vec2> points, Vec2 to, float reach) {
    std::optional<std::size_t> best;
    float least = reach;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const float d = std::hypot(points[i].x - to.x, points[i].y - to.y);
        if (d <= least && (!best || d < least)) best = i, least = d;
    }
    return best;
}

}  // namespace pentamesh::ui
