// Plots have scales, axes with round ticks, a grid, and the nearest point.
#pragma once

#include "app/ui/kit/ui.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pentamesh::ui {

enum class ScaleKind : std::uint8_t { linear, logarithmic };

// Maps values to logical pixels along one axis. `from` and `to` are the places of `low` and `high`; from > to
// is fine (a y axis). A logarithmic scale needs low > 0.
struct PlotScale {
    double low = 0, high = 1;
    ScaleKind kind = ScaleKind::linear;
    float from = 0, to = 1;

    [[nodiscard]] float at(double value) const;  // beyond the ends where the value is
    [[nodiscard]] double value(float at) const;
};
// Returns at most `count` (at least 2) round values within the scale: 1, 2 or 5 times a power of ten, in
// multiples of `unit` (1 GiB, 60 s). A logarithmic scale of two decades or more has powers of ten.
[[nodiscard]] std::vector<double> round_ticks(const PlotScale& scale, int count, double unit = 1);

struct PlotAxis {
    double low = 0, high = 1;
    ScaleKind kind = ScaleKind::linear;
    std::function<std::string(double)> label{};  // of a tick; empty: no labels
    double unit = 1;
    std::vector<double> ticks{};  // instead of round_ticks
    float spacing = 48;           // least logical pixels between ticks
    bool grid = true;
    std::string title{};  // stands next to the y axis' top, or below the x axis' end
};

struct Plot {
    Rect area;  // within the axes
    PlotScale x, y;
    [[nodiscard]] Vec2 at(double vx, double vy) const { return {x.at(vx), y.at(vy)}; }
};
// Draws the axes and their grid; the labels take their room off `room`.
[[nodiscard]] Plot draw_axes(Ui& ui, Rect room, const PlotAxis& x, const PlotAxis& y);

// Returns the index of the point nearest to `to` and within `reach`, or nullopt.
[[nodiscard]] std::optional<std::size_t> nearest_point(std::span<const Vec2> points, Vec2 to,
                                                       float reach = 24);

}  // namespace pentamesh::ui
