// Gives an axis, an operation, a tier its colour, the same in every view and picture.
#pragma once

#include "app/ui/kit/theme.h"
#include "core/mesh/mesh.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/step/step.h"

#include <string_view>

namespace pentamesh::ui {

static_assert(std::tuple_size_v<decltype(Theme::axis)> == kAxisCount);

// Returns the colour of a group kind: an axis' own, or that of a combination's outermost part.
[[nodiscard]] Color color_of(const Theme& theme, GroupKind kind);
[[nodiscard]] Color color_of(const Theme& theme, OpKind op);
// Returns the colour of a part of the step.
[[nodiscard]] Color color_of_part(const Theme& theme, const StepSlice& slice);
// Fills a bar of a part of the step: idle time is hatched, everything else is solid.
void fill_part(Canvas& canvas, const Theme& theme, Rect bar, const StepSlice& slice);
// Fills a bar in an axis' colour, which the axis' own hatch tells apart from others in a grey print.
void fill_axis(Canvas& canvas, const Theme& theme, Rect bar, GroupKind axis);
// Draws the mark of an axis, which tells it apart in a grey print: a disc, a square, a diamond, a triangle or
// a ring. The axes of a mesh have each their own.
void draw_axis_mark(Canvas& canvas, Vec2 at, float radius, GroupKind axis, Color color);

// Says how the lines of a tier are drawn. Index 0 is the fast domain.
struct TierMark {
    Color color;
    Dash dash = Dash::solid;
};
[[nodiscard]] TierMark mark_of_tier(const Theme& theme, const Cluster& cluster, int tier);
[[nodiscard]] std::string_view words_of(Dash dash);  // "solid", "dashed", "dotted"

}  // namespace pentamesh::ui
