// The view Communication shows what the GPUs say to each other.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/comm/comm_parts.h"

namespace pentamesh::ui {

struct CommViewState {
    enum Part { kCalls, kHeat, kRing, kMeasured };
    int part = kCalls;  // the picture above the calls: where the time goes, who sends to whom, one call,
                        // what a real run measured
    FlowWidth width = FlowWidth::time;
    CommCallsState calls;
    CommHeatState heat;
    CommRingState ring;
    TableState measured;  // of a real run
};
void draw_comm(Ui& ui, Rect head_row, Rect room, Scene& scene, CommViewState& state, std::uint64_t revision);
// `part` is one of the tables that app/ui/views/table.cpp names.
[[nodiscard]] Table comm_data(const Scene& scene, int part);

}  // namespace pentamesh::ui
