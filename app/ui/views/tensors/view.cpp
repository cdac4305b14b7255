// Tensors: every parameter tensor, how each axis places it, and what one GPU keeps.
#include "app/ui/views/tensors/view.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/view_head.h"
#include "core/plan/names.h"
#include "core/sharding/sharding.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

namespace {

std::string shape_text(const std::array<std::int64_t, 3>& shape, bool grouped) {
    std::string s;
    for (const std::int64_t n : shape) {
        if (n == 1 && s.empty()) continue;
        s += (s.empty() ? "" : " × ") + (grouped ? thousands(n) : std::to_string(n));
    }
    return s.empty() ? "1" : s;
}

std::string placement_text(const Placement& p) {
    std::string s;
    for (int a = 0; a < kAxisCount; ++a) {
        const AxisPlacement& on = p.axis[static_cast<std::size_t>(a)];
        if (on.parts <= 1) continue;
        const auto axis = static_cast<Axis>(a);
        const std::string name = p.expert && axis == Axis::tp ? "etp" : std::string(name_of(axis));
        s += s.empty() ? "" : ", ";
        s += name + " "
             + (on.spread == Spread::cut ? std::string(name_of(on.dim)) : std::string(name_of(on.spread)));
    }
    return s.empty() ? "whole on every GPU" : s;
}

}  // namespace

DataTable tensors_data(const Scene& scene) {
    DataTable t;
    t.columns = {{"tensor"},    {"layers", true}, {"shape"},
                 {"placement"}, {"on one GPU"},   {"bytes on one GPU", true}};
    if (scene.evaluation.mesh.world <= 0) return t;
    for (const Placement& p :
         list_placements(scene.plan, scene.evaluation.mesh, TensorState::parameters, Moment::at_rest))
        t.rows.push_back({std::string(p.name), std::to_string(p.layers), shape_text(p.shape, true),
                          placement_text(p), shape_text(p.local, true),
                          std::to_string(static_cast<std::int64_t>(std::llround(p.bytes_per_rank)))});
    return t;
}

void draw_tensors(Ui& ui, Rect head_row, Rect room, Scene& scene, TensorsViewState& state,
                  std::uint64_t revision) {
    if (state.rows_of != revision) state.rows = tensors_data(scene);
    state.rows_of = revision;
    const DataTable& t = state.rows;
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
