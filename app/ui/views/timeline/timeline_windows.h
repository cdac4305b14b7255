// Shows a timeline of many micro-batches as three windows on one time scale: how it fills, a few of its
// equal periods, and how it drains; above them the whole step.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/views/timeline/timeline_shown.h"
#include "core/pipeline/timeline.h"
#include "render/canvas.h"

#include <array>
#include <optional>
#include <string>

namespace pentamesh::ui {

struct TimeScale {
    double from_s = 0, to_s = 1;
    Rect plot;
    [[nodiscard]] float x(double time_s) const {
        return plot.x + static_cast<float>((time_s - from_s) / (to_s - from_s) * static_cast<double>(plot.w));
    }
    [[nodiscard]] double time(float px) const {
        return from_s + static_cast<double>((px - plot.x) / plot.w) * (to_s - from_s);
    }
};

struct TimelineWindows {
    SteadyPart steady;
    int shown_periods = 0;
    std::array<TimeScale, 3> window;  // fill, steady, drain
    double whole_s = 0;
};

// The height that the overview and the windows' heads take above the rows.
inline constexpr float kWindowsHead = 68;

// Returns the windows in `plot`, or nullopt where one window over everything is as good: blocks of the median
// length then have at least `least_px` pixels, or fewer than three periods are equal. `steady_at_s` is where
// the middle window begins, < 0: in the middle of the steady part.
[[nodiscard]] std::optional<TimelineWindows> find_windows(const Timeline& t, double whole_s, Rect plot,
                                                          float least_px, double steady_at_s);

// Draws the step as a strip with the three windows marked, beams down to them, and their heads. A drag over
// the strip moves the middle window: `steady_at_s` is set.
void draw_windows_head(Ui& ui, Rect room, const TimelineWindows& w, const Timeline& t,
                       const ShownTimeline& shown, SeenBlocks& blocks, double& steady_at_s);
// Returns a window's name, and what is seen in it.
[[nodiscard]] std::array<std::string, 2> window_words(const TimelineWindows& w, std::size_t part,
                                                      const Timeline& t);
// Draws how a window comes out of the strip above: its beam, and its frame on the strip, which is on `scale`.
void draw_beam(Canvas& canvas, const Theme& theme, const TimeScale& scale, const TimeScale& window, float to);
void draw_window_frame(Canvas& canvas, const Theme& theme, const TimeScale& scale, const TimeScale& window);
// Draws the breaks between the windows, and a bracket under one period.
void draw_breaks(Canvas& canvas, const Theme& theme, Rect rows, const TimelineWindows& w);
void draw_period(Ui& ui, Rect row, const TimelineWindows& w);

}  // namespace pentamesh::ui
