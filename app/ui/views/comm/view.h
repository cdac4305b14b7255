// The view Communication shows what the GPUs say to each other.
#pragma once

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/kept.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/comm/comm_heat.h"
#include "app/ui/views/comm/comm_ring.h"

#include <utility>
#include <vector>

namespace pentamesh::ui {

enum class CallColumns : std::uint8_t { all, narrow, slender };

struct CommViewState {
    enum Part { kCalls, kHeat, kRing };
    int part = kCalls;  // shown where there is no room for all
    TableState table;
    CommHeatState heat;
    CommRingState ring;
    Kept<Table, std::pair<std::uint64_t, CallColumns>> rows;               // by revision
    Kept<std::vector<std::uint8_t>, std::pair<std::uint64_t, int>> faint;  // by revision and stage
};
void draw_comm(Ui& ui, Rect head_row, Rect room, Scene& scene, CommViewState& state, std::uint64_t revision);
// `part` is one of the tables that app/ui/views/table.cpp names.
[[nodiscard]] Table comm_data(const Scene& scene, int part);

}  // namespace pentamesh::ui
