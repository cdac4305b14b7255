// Tensors: every parameter tensor, how each axis places it, and what one GPU keeps.
#include "app/ui/views/tensors/view.h"
#include "app/tables/tensors.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/view_head.h"
#include "core/plan/names.h"
#include "core/sharding/sharding.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

Table tensors_data(const Scene& scene, int part) {
    if (scene.evaluation.mesh.world <= 0) return tensors_table({});
    return tensors_table(
        list_placements(scene.plan, scene.evaluation.mesh, static_cast<TensorState>(part), Moment::at_rest));
}

void draw_tensors(Ui& ui, Rect head_row, Rect room, Scene& scene, TensorsViewState& state,
                  std::uint64_t revision) {
    if (state.rows_of != revision) state.rows = tensors_data(scene, 0);
    state.rows_of = revision;
    const Table& t = state.rows;
    const std::string words =
        std::to_string(t.rows.size())
        + " kinds of parameter tensors; bytes are of one layer on the GPU that holds most";
    head_sentence(ui, head_row, room, words);
    const bool activation = scene.selection.activation >= 0;
    const int row =
        draw_table(ui, "tensors.table", room, t, state.table, activation ? -1 : scene.selection.tensor);
    if (row >= 0) {
        scene.selection.tensor = row;
        scene.selection.activation = -1;
        scene.selection.tensor_state = TensorState::parameters;
        scene.selection.topic = Selection::Topic::tensor;
    }
}

}  // namespace pentamesh::ui
