// The timeline is put together from these parts: the names of its rows, the curve of what a stage holds,
// and what is said of a block.
#pragma once

#include "app/ui/views/timeline/timeline_overlay.h"
#include "app/ui/views/timeline/timeline_scale.h"
#include "app/ui/views/timeline/timeline_shown.h"
#include "app/ui/views/timeline/view.h"

#include <cstddef>
#include <string>
#include <vector>

namespace pentamesh::runs {
struct RunFile;
}  // namespace pentamesh::runs

namespace pentamesh::ui {

// Writes stages by number, and by layers and nodes where the rows are high enough; a click selects the stage,
// and moves the slow one here where there is one.
void draw_labels(Ui& ui, Rect labels, const RowPlace& rows, Scene& scene, TimelineViewState& state);
// Returns the width that the labels take in this room.
[[nodiscard]] float labels_width(Ui& ui, Rect room, bool tall, const ShownTimeline& shown);

// Draws one device of the shown timeline; the value at the cursor is marked. `labelled`: what the curve
// is, and the values, are written above it.
void draw_memory_curve(Ui& ui, Rect room, const Timeline& t, int device, const TimeScale& scale,
                       TimelineViewState& state, bool labelled);

// Returns the files of a real run that say how long a step was: each has a row below those of the plan.
[[nodiscard]] std::vector<const runs::RunFile*> measured_files(const Scene& scene);
inline constexpr float kMeasuredRow = 22;
// Draws those rows on the plan's axis of time: what a trace was busy with, or a log's sums one after another.
// A click selects a part; all else fades, in the plan's rows too.
void draw_measured_rows(Ui& ui, Rect labels, Rect rows, const std::vector<const runs::RunFile*>& files,
                        const TimeScale& scale, Scene& scene);
// Returns what fades in the plan's rows, as a part of a real run is selected.
[[nodiscard]] FadedParts faded_parts(const Scene& scene);

[[nodiscard]] std::string op_tooltip(const Timeline& t, const ShownTimeline& shown, std::size_t i);
[[nodiscard]] std::string run_tooltip(const Block& b);

}  // namespace pentamesh::ui
