// The view Tensors shows every tensor's shape and cut.
#pragma once

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/job.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "core/sharding/sharding.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace pentamesh::ui {

// The rows as they are drawn, the largest tensor first: bytes in words, a column for the bar at the end.
struct TensorRows {
    Table table;
    std::vector<Placement> placements;
    std::vector<int> tensors;  // each row's place in the model's list, as a selection counts
    double most = 0;           // bytes of the largest
};

struct TensorsViewState {
    TableState table;
    Kept<TensorRows> rows;                                                     // by revision
    Kept<std::vector<RowTone>, std::pair<std::uint64_t, std::int64_t>> tones;  // by revision and rank
};
void draw_tensors(Ui& ui, Rect head_row, Rect room, Scene& scene, TensorsViewState& state,
                  std::uint64_t revision);
// `part` is one of the tables that app/ui/views/table.cpp names.
[[nodiscard]] Table tensors_data(const Scene& scene, int part);

}  // namespace pentamesh::ui
