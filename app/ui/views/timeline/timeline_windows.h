// Many micro-batches are shown in three windows on one scale of time, under a strip that shows the whole
// step: in the full view and, smaller, in a pane of the dashboard.
#pragma once

#include "app/ui/views/timeline/view.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh::ui {

// In a pane one window over everything is as good with blocks of the median length at least as wide, in
// logical pixels; in the full view they must have room for their numbers too.
inline constexpr float kLeastBlock_px = 8;

[[nodiscard]] WindowFacts window_facts(const Timeline& t);
// Returns the windows between `room`'s left and right edge, or nullopt where one window is as good or fewer
// than three periods are equal. A block of the median length has `numbered_px` pixels where that is possible.
// `steady_at_s` is where the middle window begins, < 0: in the middle of the steady part.
[[nodiscard]] std::optional<TimelineWindows> find_windows(const Timeline& t, const WindowFacts& facts,
                                                          double whole_s, Rect room, const WindowsForm& form,
                                                          float numbered_px, double steady_at_s);

// Draws the step as a strip with the three windows marked, beams down to them, and their heads; `names` is
// the room left of the strip. A drag over the strip moves the middle window: `steady_at_s` is set.
void draw_windows_head(Ui& ui, Rect names, Rect room, const TimelineWindows& w, const Timeline& t,
                       const ShownTimeline& shown, SeenBlocks& blocks, double& steady_at_s);
// Returns a window's name in several wordings, the longest first.
[[nodiscard]] std::vector<std::string> window_names(const TimelineWindows& w, std::size_t part,
                                                    const StepTail& tail, const Theme& theme);
// Draws the breaks between the windows, and a bracket under one of several periods.
void draw_breaks(Canvas& canvas, const Theme& theme, Rect rows, const TimelineWindows& w);
void draw_period(Ui& ui, Rect row, const TimelineWindows& w);

}  // namespace pentamesh::ui
