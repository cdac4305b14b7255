// The view Shards shows what each axis cuts: the loaf of a whole step with each GPU's slice; one layer's
// tensors as rectangles as large as their bytes, the part of one rank highlighted; or only one axis on a
// small copy of the model, with its price.
#pragma once

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/kept.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/shards/shards_loaf.h"
#include "app/ui/views/shards/shards_pack.h"
#include "app/ui/views/shards/shards_picker.h"
#include "app/ui/views/shards/shards_sheets.h"

#include <array>
#include <tuple>
#include <utility>
#include <vector>

namespace pentamesh::ui {

// Says how many tokens each expert gets, relative to the mean: a person drew it. The plan keeps the load of
// the busiest ep rank, which follows from it (training.router_imbalance).
struct ExpertLoads {
    std::vector<double> load;   // by expert; empty: only the plan's number is known
    double imbalance = 1;       // follows from `load`; if the plan has another, the loads are forgotten
    std::int64_t dragged = -1;  // expert
    double drag_from = 1;       // its load when the drag began
    bool typing = false, fresh = false;
    std::string text, refusal;  // of the plan's number
};

// Holds the tensors that were asked for, their bytes together, and the sentences above them.
struct DrawnSheets {
    SheetRequest of;
    std::vector<Sheet> sheets;
    SheetTotals totals;
    std::string bold, plain;
};

// Pages of this number show the loaf; those before it a state's tensors.
inline constexpr int kLoafPage = kTensorStateCount;

struct ShardsViewState {
    TensorState state = TensorState::parameters;
    Moment moment = Moment::at_rest;
    Block block = Block::layer;
    bool dense = false;        // the dense layers of a model that has MoE layers too
    int isolate = -1;          // an Axis: only what it cuts; -1: all of them
    std::int64_t expert = -1;  // the one whose matrices are drawn; -1: the rank's first
    ExpertLoads loads;
    // The loaf; the tensors of this plan; only one axis on a small copy of the model.
    enum class Shows : std::uint8_t { loaf, tensors, one_axis } shows = Shows::loaf;
    PickerState picker;
    LoafPageState loaf;
    Kept<DrawnSheets, std::pair<std::uint64_t, SheetRequest>> drawn;  // by revision and request
    // By revision, request of rank 0, and room.
    Kept<PackedSheets, std::tuple<std::uint64_t, SheetRequest, Vec2>> packed;
    Kept<std::vector<std::array<int, 2>>> stages;  // of each layer, by revision
};
[[nodiscard]] std::optional<PlanEdit> draw_shards(Ui& ui, Rect head_row, Rect room, Scene& scene,
                                                  ShardsViewState& state, std::uint64_t revision);
[[nodiscard]] Table shards_data(const Scene& scene, const ShardsViewState& state);

}  // namespace pentamesh::ui
