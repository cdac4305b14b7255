// The page Tensors of Shards lists every parameter tensor, how each axis places it, and what one GPU keeps.
#include "app/tables/plan_tables.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/shards/shards_sheets.h"
#include "app/ui/views/shards/view.h"
#include "core/plan/names.h"
#include "core/sharding/sharding.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace pentamesh::ui {

Table tensors_data(const Scene& scene, int state) {
    if (scene.evaluation.mesh.world <= 0) return tensors_table({});
    return tensors_table(
        list_placements(scene.plan, scene.evaluation.mesh, static_cast<TensorState>(state), Moment::at_rest));
}

namespace {

TensorRows rows_of(const Scene& scene) {
    TensorRows out;
    if (scene.evaluation.mesh.world > 0)
        out.placements =
            list_placements(scene.plan, scene.evaluation.mesh, TensorState::parameters, Moment::at_rest);
    const auto& placed = out.placements;
    out.tensors.resize(placed.size());
    std::iota(out.tensors.begin(), out.tensors.end(), 0);
    std::stable_sort(out.tensors.begin(), out.tensors.end(), [&](int a, int b) {
        return placed[static_cast<std::size_t>(a)].bytes_per_rank
               > placed[static_cast<std::size_t>(b)].bytes_per_rank;
    });
    std::vector<Placement> sorted;
    for (const int i : out.tensors) sorted.push_back(placed[static_cast<std::size_t>(i)]);
    out.placements = std::move(sorted);
    out.table = tensors_table(out.placements);
    out.table.columns.back().shown = Shown::plain;
    out.table.columns.push_back({"solid: cut, hatched: copied"});
    for (std::size_t i = 0; i < out.placements.size(); ++i) {
        const double bytes = out.placements[i].bytes_per_rank;
        out.most = std::max(out.most, bytes);
        out.table.rows[i].back() = memory_text(bytes);
        out.table.rows[i].emplace_back();
    }
    return out;
}

// Returns the rows' tones: faint where the picked GPU, or those of the stage, hold nothing of the tensor.
std::vector<RowTone> tones_of(const Scene& scene, const TensorRows& rows, std::int64_t rank) {
    const Mesh& mesh = scene.evaluation.mesh;
    std::vector<RowTone> out;
    if (rank < 0 || rank >= mesh.world) return out;
    for (const Placement& p : rows.placements)
        out.push_back(part_of(scene.plan, mesh, p, rank).held ? RowTone::plain : RowTone::faint);
    return out;
}

}  // namespace

void draw_tensors(Ui& ui, Rect head_row, Rect room, Scene& scene, TensorListState& state,
                  std::uint64_t revision) {
    const TensorRows& rows = state.rows.get(revision, [&] { return rows_of(scene); });
    const std::int64_t rank = chosen_rank(scene);
    const auto& tones = state.tones.get({revision, rank}, [&] { return tones_of(scene, rows, rank); });
    std::string words =
        std::to_string(rows.placements.size())
        + " kinds of parameter tensors, the largest first; bytes are of one layer on the GPU that holds "
          "most";
    if (std::find(tones.begin(), tones.end(), RowTone::faint) != tones.end())
        words += "; faint: none of it on " + chosen_name(scene);
    head_sentence(ui, head_row, room, words);
    const bool activation = scene.selection.activation >= 0;
    const auto bar = static_cast<int>(rows.table.columns.size()) - 1;
    // A square for each axis, solid where it cuts; behind them the bytes on one scale.
    const auto paint = [&](Rect cell, std::size_t row, std::size_t column) {
        if (static_cast<int>(column) != bar) return false;
        const Placement& p = rows.placements[row];
        constexpr float kMarks = 80, kBar = 8;
        draw_marks(ui.canvas(), ui.theme(), {cell.x, cell.center().y - 5}, p);
        cell.cut_left(std::min(cell.w, kMarks));
        const auto part = static_cast<float>(rows.most > 0 ? p.bytes_per_rank / rows.most : 0);
        ui.canvas().rect({cell.x, cell.center().y - kBar / 2, cell.w * part, kBar}, ui.theme().secondary, 1);
        return true;
    };
    const auto selected = std::find(rows.tensors.begin(), rows.tensors.end(), scene.selection.tensor);
    const int row = draw_table(
        ui, "tensors.table", room, rows.table, state.table,
        activation || selected == rows.tensors.end() ? -1 : static_cast<int>(selected - rows.tensors.begin()),
        {.tone = tones, .paint = paint, .drawn_column = bar});
    if (row >= 0) {
        scene.selection.tensor = rows.tensors[static_cast<std::size_t>(row)];
        scene.selection.activation = -1;
        scene.selection.tensor_state = TensorState::parameters;
        scene.selection.topic = Selection::Topic::tensor;
    }
}

}  // namespace pentamesh::ui
