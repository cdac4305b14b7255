// Gives an axis, an operation, a tier its colour, the same in every view and picture.
#pragma once

#include "app/ui/kit/theme.h"
#include "app/ui/kit/ui.h"
#include "core/evaluate.h"
#include "core/mesh/mesh.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/step/step.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

// An item on the screen that names an axis says so here: the axis' card opens where the mouse rests on it, or
// by F1 (app/ui/shell/sheets.h).

// Says that what stands in `r` names the axis whose groups these are, and what a click there does; groups of
// several axes have no card. `control` has the keyboard for it. The card covers no part of `clear`, by
// default of `r`. Where the mouse rests a few lines of it open, with `whole` all of it.
void names_axis(Ui& ui, GroupKind kind, Rect r, std::string action = {}, Id control = 0, Rect clear = {},
                bool whole = false);

// A part of the step as it is drawn: after an edit it glides to its place, and its old place stays as an
// outline.

// Tells the parts of one step apart, as the index of an area.
[[nodiscard]] std::uint64_t index_of(const StepSlice& slice);

struct DrawnSlice {
    StepSlice now;
    std::optional<StepSlice> before;  // where its time was another before the edit
};
// `name` is that of the bar or waterfall which it is part of.
[[nodiscard]] DrawnSlice drawn_slice(const Ui& ui, std::string_view name, const StepSlice& slice);

// Holds what the last edit of the plan changed. Views, and the card next to the pressed control, show it for
// a moment.

// Holds the figures of a plan that can change.
struct ChangeFigures {
    bool any = false;  // the plan has figures
    double step_s = 0, memory = 0;
    std::vector<std::pair<std::string, double>> wires;  // bytes that a GPU sends in a step, by tier
    EnumArray<Axis, std::int64_t> factor{};
    std::string layout;              // its name: "HSDP"
    std::string shares_for_nothing;  // "ZeRO 3 shares nothing: dp_shard is 1"; empty: it shares
    bool operator==(const ChangeFigures&) const = default;
};
[[nodiscard]] ChangeFigures change_figures(const Plan& plan, const Evaluation& evaluation);

struct PlanChange {
    std::string what;             // "tp 4"
    std::optional<Axis> touched;  // the axis whose factor was pressed
    ChangeFigures before, now;

    [[nodiscard]] bool changed(Axis axis) const { return before.factor[axis] != now.factor[axis]; }
    // Returns the axis that gave or took what the touched one needed; nullopt where none did.
    [[nodiscard]] std::optional<Axis> paid() const;
};

// Writes the difference of a figure to that of the pinned plan A, after the figure.

// Returns 0 where both are the same except for the rounding of sums.
[[nodiscard]] double difference(double now, double was);
// Returns "−0.48 s", "+13.2 GiB"; empty without a difference, or where the text does not show it.
[[nodiscard]] std::string difference_text(double by, std::string (*text)(double));
// Returns a difference of two shares: "4.98 points" for 0.0498.
[[nodiscard]] std::string points_text(double share);
// Returns green for better than A, red for worse.
[[nodiscard]] Color color_of_difference(const Theme& theme, double by, bool less_is_better);
// `row` begins where the figure's own room ended; the words are cut off it.
// Nothing is drawn where less than `keep` would be left of the row.
void draw_difference(Ui& ui, Rect& row, double by, bool less_is_better, std::string (*text)(double),
                     float keep);

}  // namespace pentamesh::ui
