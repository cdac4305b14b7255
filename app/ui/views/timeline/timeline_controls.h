// Draws the controls of the timeline: play and step, show the critical path, set two steps back to back, slow
// a stage down, set another schedule next to it; and the sentences about idle time.
#pragma once

#include "app/ui/views/timeline/timeline_rows.h"

namespace pentamesh::ui {

// Draws back, play, forward: it needs 84 x 24.
void draw_transport(Ui& ui, Rect row, const Timeline& t, TimelineViewState& state, int stage);
void draw_critical_switch(Ui& ui, Rect box, TimelineViewState& state);
// Draws one row: transport, critical path, one step or two, the slow stage, the second schedule.
void draw_controls(Ui& ui, Rect row, const Scene& scene, TimelineViewState& state, std::uint64_t revision);
// Writes "bubble 6.14 % of the step ...", or the cost of the injected slow stage, with its removal. The
// tooltip has every other measure of idle time by its name, and the closed form.
void draw_sentence(Ui& ui, Rect row, const Scene& scene, TimelineViewState& state);
// Explains the colours and textures that rows of this height show, in as many lines as the entries need;
// lines below `room` are left out. Returns the number of lines; with `draw` false, they are only counted.
inline constexpr float kLegendLine = 18;
int timeline_legend(Ui& ui, Rect room, const Scene& scene, const TimelineViewState& state, float row_height,
                    bool draw);

// Returns "zb-h1 under 1f1b's costs: 43 % less idle ...".
[[nodiscard]] std::string comparison_text(const Timeline& own, const Timeline& other);
// Slows the next device, or no device, as a click on its row or the stepper asks.
void inject(TimelineViewState& state, int device, int by);

}  // namespace pentamesh::ui
