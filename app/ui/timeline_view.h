// Timeline: when each stage works.
#pragma once

#include "app/ui/data_table.h"
#include "app/ui/scene.h"
#include "app/ui/ui.h"
#include "core/timeline_blocks.h"

#include <vector>

namespace pentamesh::ui {

struct TimelineViewState {
    double from_s = 0, to_s = 0;  // what is seen; to <= from: everything
    double cursor_s = -1;
    bool playing = false;
    bool critical = false;
    double played_at = 0;
    bool panning = false;
    double pan_from_s = 0;
    float scroll = 0;  // rows
    // What is made from the evaluation and kept while it stands.
    std::uint64_t critical_of = 0, index_of = 0, second_of = 0;
    std::vector<std::size_t> critical_path;
    WorkIndex index;
    // A second schedule over the same costs, on the same time axis: -1 none, else a Schedule.
    int second = -1;
    Evaluation second_evaluation;
    WorkIndex second_index;
    std::vector<Block> blocks;  // of the row that is drawn
};
void draw_timeline(Ui& ui, Rect head_row, Rect room, Scene& scene, TimelineViewState& state,
                   std::uint64_t revision);
[[nodiscard]] DataTable timeline_data(const Scene& scene);

}  // namespace pentamesh::ui
