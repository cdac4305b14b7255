// The view Timeline shows when each stage works.
#pragma once

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/kept.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/other_plan.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/timeline/timeline_shown.h"
#include "app/ui/views/timeline/timeline_windows.h"

#include <array>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace pentamesh::ui {

struct TimelineViewState {
    double from_s = 0, to_s = 0;  // the visible range; to <= from: everything
    double cursor_s = -1;         // < 0: none
    bool playing = false;
    bool critical = false;
    TimelineChoice choice;
    double played_at = 0;
    bool panning = false;
    double pan_from_s = 0;
    float scroll = 0;             // rows
    std::ptrdiff_t hovered = -1;  // op of the shown timeline under the mouse in the last frame
    // These are made from the evaluation and kept as long as it stays.
    KeptTimeline shown;
    Kept<std::vector<std::size_t>> critical_path;                          // by version
    Kept<std::vector<InFlightStep>, std::pair<std::uint64_t, int>> curve;  // by version and device
    // A second schedule has the same costs, on the same time axis: -1 for no second schedule, else a
    // Schedule.
    int second = -1;
    KeptOtherPlan other;
    KeptTimeline second_shown;
    SeenBlocks blocks, second_blocks;
    // Many micro-batches are shown in three windows; by version, place, and where the middle one was dragged.
    double steady_at_s = -1;  // < 0: in the middle of the steady part
    Kept<std::optional<TimelineWindows>, std::tuple<std::uint64_t, Rect, double>> windows;
    std::array<SeenBlocks, 3> window_blocks;
    SeenBlocks overview_blocks;

    // Returns the timeline on the screen; null where it was made from another revision of the plan.
    [[nodiscard]] const Timeline* current(const Evaluation& e, std::uint64_t revision) const {
        const auto* of = shown.key();
        return !e.timeline.empty() && of != nullptr && std::get<0>(*of) == revision ? &shown->timeline(e)
                                                                                    : nullptr;
    }
};
void draw_timeline(Ui& ui, Rect head_row, Rect room, Scene& scene, TimelineViewState& state,
                   std::uint64_t revision);
// `part` is one of the tables that app/ui/views/table.cpp names.
[[nodiscard]] Table timeline_data(const Scene& scene, int part);

// Sets the cursor on the next (by > 0) or last start or end of an op, of the selected stage or of any; keeps
// it in sight.
void step_cursor(const Timeline& t, TimelineViewState& state, int by, int stage);

}  // namespace pentamesh::ui
