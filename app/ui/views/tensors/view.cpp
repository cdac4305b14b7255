// The view Tensors shows every parameter tensor, how each axis places it, and what one GPU keeps.
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

namespace {

// Returns the rows' tones: faint where the picked GPU, or those of the stage, hold nothing of the tensor.
std::vector<RowTone> tones_of(const Scene& scene, std::int64_t rank) {
    const Mesh& mesh = scene.evaluation.mesh;
    std::vector<RowTone> out;
    if (rank < 0 || rank >= mesh.world) return out;
    for (const Placement& p : list_placements(scene.plan, mesh, TensorState::parameters, Moment::at_rest))
        out.push_back(part_of(scene.plan, mesh, p, rank).held ? RowTone::plain : RowTone::faint);
    return out;
}

}  // namespace

void draw_tensors(Ui& ui, Rect head_row, Rect room, Scene& scene, TensorsViewState& state,
                  std::uint64_t revision) {
    const Table& t = state.rows.get(revision, [&] { return tensors_data(scene, 0); });
    const std::int64_t rank = chosen_rank(scene);
    const auto& tones = state.tones.get({revision, rank}, [&] { return tones_of(scene, rank); });
    std::string words = std::to_string(t.rows.size())
                        + " kinds of parameter tensors; bytes are of one layer on the GPU that holds most";
    if (std::find(tones.begin(), tones.end(), RowTone::faint) != tones.end())
        words += "; faint: none of it on " + chosen_name(scene);
    head_sentence(ui, head_row, room, words);
    const bool activation = scene.selection.activation >= 0;
    const int row = draw_table(ui, "tensors.table", room, t, state.table,
                               activation ? -1 : scene.selection.tensor, {.tone = tones});
    if (row >= 0) {
        scene.selection.tensor = row;
        scene.selection.activation = -1;
        scene.selection.tensor_state = TensorState::parameters;
        scene.selection.topic = Selection::Topic::tensor;
    }
}

}  // namespace pentamesh::ui
