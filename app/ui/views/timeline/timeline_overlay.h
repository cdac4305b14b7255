// Draws over the timeline's rows: dependency arrows, the critical path, the end of a step, the time after the
// pipeline, the ruler and the cursor.
#pragma once

#include "app/ui/views/timeline/timeline_scale.h"
#include "app/ui/views/timeline/view.h"

#include <string>
#include <vector>

namespace pentamesh::ui {

// Places the rows: device d has its top at plot.y + d * row_h - scroll.
struct RowPlace {
    Rect plot;
    float row_h = 0, scroll = 0;
    [[nodiscard]] Rect row(int device) const {
        const float gap = row_h > 8 ? 1.5f : row_h > 4 ? 1.0f : 0.0f;
        return {plot.x, plot.y + static_cast<float>(device) * row_h - scroll, plot.w, row_h - gap};
    }
    [[nodiscard]] float middle(int device) const {
        return plot.y + (static_cast<float>(device) + 0.5f) * row_h - scroll;
    }
};

// Draws arrows from the ops whose output `op` needs, and to those that need its own; the one it waited for
// last is strong.
void draw_arrows(Ui& ui, const Timeline& t, const TimelineCosts& costs, std::size_t op, const RowPlace& rows,
                 const TimeScale& scale);
void draw_critical(Ui& ui, const Timeline& t, const std::vector<std::size_t>& path, const RowPlace& rows,
                   const TimeScale& scale);
// Draws a stair through the rows where one step ends and the next begins.
void draw_step_end(Ui& ui, const Timeline& t, const RowPlace& rows, const TimeScale& scale);
// Says what is not of the part of a real run that is selected.
struct FadedParts {
    bool work = false, optimizer = false, stragglers = false;
    EnumArray<GroupKind, bool> axis{};
};
// A part of the step after the pipeline: an axis' exposed time (hatched), the optimizer, stragglers.
struct TailPart {
    std::string name;
    Color color;
    double seconds = 0;
    bool hatched = true;
    bool gathered = false;  // the sum of what each micro-batch waits for
    bool faded = false;
};
[[nodiscard]] std::vector<TailPart> tail_parts(const Theme& theme, const StepTail& tail,
                                               const FadedParts& fades = {});
// Draws gradients that nothing hides, the optimizer and stragglers, after the makespan.
void draw_tail(Ui& ui, const StepTail& tail, double from_s, Rect plot, const TimeScale& scale,
               const FadedParts& fades = {});
void draw_ruler(Ui& ui, Rect row, const TimeScale& scale);
// Draws where the step ended before the last edit, and how far the end moved.
void draw_moved_end(Ui& ui, double before_s, double now_s, const TimeScale& scale);
void draw_cursor(Ui& ui, double at_s, Rect plot, Rect ruler, const TimeScale& scale);

}  // namespace pentamesh::ui
