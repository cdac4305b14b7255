// Shows who sends how much to whom: GPUs against GPUs, one axis at a time.
#pragma once

#include "app/ui/kit/kept.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "core/explain/traffic.h"

#include <utility>
#include <vector>

namespace pentamesh::ui {

struct HeatMap {
    GroupKind group = GroupKind::tp;
    TrafficMatrix matrix;
    struct Run {  // cells of a row with the same bytes
        int row = 0, first = 0, count = 0;
        double bytes = 0;
    };
    std::vector<Run> runs;
};

struct CommHeatState {
    Kept<HeatMap, std::pair<std::uint64_t, GroupKind>> map;  // by revision and axis
};
void draw_heat(Ui& ui, Rect room, Scene& scene, CommHeatState& state, std::uint64_t revision);

// Returns the selection's axis where its collectives are listed under that name, else the one that sends
// most.
[[nodiscard]] GroupKind shown_group(const Scene& scene);
// Draws a row of segments, one per axis that communicates; a click selects the axis.
void axis_switch(Ui& ui, std::string_view name, Rect row, Scene& scene);

}  // namespace pentamesh::ui
