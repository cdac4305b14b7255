// The view Shards shows what each axis cuts: the loaf of a whole step with each GPU's slice; one layer's
// tensors as rectangles as large as their bytes, the part of one rank highlighted; only one axis on a small
// copy of the model, with its price; or a list of every tensor with its shape and cut.
#pragma once

#include "app/tables/table.h"
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/job.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/shards/shards_sheets.h"
#include "app/ui/views/shards/shards_stages.h"
#include "core/teach/loaf.h"
#include "core/teach/map.h"
#include "core/teach/token_slices.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace pentamesh::ui {

struct LoafShown {
    Loaf loaf;
    std::vector<MapRow> rows;  // of the axes that talk
};
struct LoafPageState {
    // By revision, the kind of groups and the first rank of the group.
    Kept<LoafShown, std::tuple<std::uint64_t, GroupKind, std::int64_t>> shown;
    StagesPageState stages;
};
[[nodiscard]] std::optional<PlanEdit> draw_loaf(Ui& ui, Rect room, Scene& scene, LoafPageState& state,
                                                std::uint64_t revision);
[[nodiscard]] Table loaf_data(const Scene& scene);

// Says which tokens of a step's batch a GPU works on: data, context and sequence parallelism cut them.
struct TokenShare {
    std::int64_t samples = 1, tokens = 1;  // of the whole
    Range sample, token, second;           // the GPU's own; `second` where its sequence is in two pieces
    [[nodiscard]] bool whole() const { return sample.size() == samples && token.size() == tokens; }
};

// Says what each GPU has under a strategy; nothing where it is impossible.
struct StrategyGpus {
    std::vector<std::vector<Sheet>> sheets;  // by rank
    std::vector<TokenShare> tokens;          // by rank
    std::vector<std::array<int, 2>> stages;  // of each layer
};

// The page of context parallelism: a sample cut in slices, and what each misses.
struct TokensPageState {
    // By revision, true if a plan without cp is shown with it, and with 8 ranks, not 4.
    Kept<TokenSlices, std::tuple<std::uint64_t, bool, bool>> shown;
    std::int64_t rank = -1;   // of the group, picked; -1: none is
    std::int64_t round = -1;  // the last in which keys have come; -1: all have
};
[[nodiscard]] std::optional<PlanEdit> draw_tokens(Ui& ui, Rect room, Scene& scene, TokensPageState& state,
                                                  bool eight, std::uint64_t revision);
[[nodiscard]] Table tokens_data(const Scene& scene, bool eight);

struct PickerState {
    Strategy strategy = Strategy::ddp;
    bool eight = false;                             // GPUs: 4 or 8
    bool as_tokens = false;                         // cp is shown as slices of a sample, not by its price
    using Priced = std::pair<std::uint64_t, bool>;  // revision, eight
    Kept<StrategyPrices, Priced> prices;
    using Shown = std::tuple<Priced, Strategy, SheetRequest>;
    Kept<StrategyGpus, Shown> gpus;
    Kept<PackedSheets, std::pair<Shown, Vec2>> packed;  // in the room of a GPU's box
};
struct PickerShows {
    TensorState state = TensorState::parameters;
    Moment moment = Moment::at_rest;
};
void draw_picker(Ui& ui, Rect room, Scene& scene, PickerState& state, PickerShows shows,
                 std::uint64_t revision);
[[nodiscard]] Table picker_data(const Scene& scene, const PickerState& state);

// Says how many tokens each expert gets, relative to the mean: a person drew it. The plan keeps the load of
// the busiest ep rank, which follows from it (training.router_imbalance).
struct ExpertLoads {
    std::vector<double> load;   // by expert; empty: only the plan's number is known
    double imbalance = 1;       // follows from `load`; if the plan has another, the loads are forgotten
    std::int64_t dragged = -1;  // expert
    double drag_from = 1;       // its load when the drag began
    TypedNumbers numbers;       // the plan's number
};

// Holds the tensors that were asked for, their bytes together, and the sentences above them.
struct DrawnSheets {
    SheetRequest of;
    std::vector<Sheet> sheets;
    SheetTotals totals;
    std::string bold, plain;
};

// The tensors that a GPU of a stage keeps, all layers together, the largest first: bytes in words, a column
// for the picture at the end. Those under a hundredth share the last row.
struct TensorRows {
    Table table;
    std::vector<Placement> placements;  // of the rows
    std::vector<Part> parts;            // what the GPU keeps of one layer
    std::vector<std::int64_t> layers;
    std::vector<int> tensors;   // each row's place in the model's list, as a selection counts; -1: several
    std::vector<double> bytes;  // of all layers
    double all = 0;
    std::string words;  // what fills it, and what stands elsewhere
};
struct TensorListState {
    TableState table;
    Kept<TensorRows, std::pair<std::uint64_t, std::int64_t>> rows;  // by revision and rank
};
void draw_tensors(Ui& ui, Rect head_row, Rect room, Scene& scene, TensorListState& state,
                  std::uint64_t revision);
// Returns the tensors of a TensorState.
[[nodiscard]] Table tensors_data(const Scene& scene, int state);

// Pages of these numbers show the loaf and the list; those before them a state's tensors.
inline constexpr int kLoafPage = kTensorStateCount, kTensorsPage = kLoafPage + 1;

struct ShardsViewState {
    TensorState state = TensorState::parameters;
    Moment moment = Moment::at_rest;
    Block block = Block::layer;
    bool dense = false;        // the dense layers of a model that has MoE layers too
    int isolate = -1;          // an Axis: only what it cuts; -1: all of them
    std::int64_t expert = -1;  // the one whose matrices are drawn; -1: the rank's first
    ExpertLoads loads;
    // The loaf; the tensors of this plan; only one axis on a small copy of the model; every tensor in a list.
    enum class Shows : std::uint8_t { loaf, tensors, one_axis, list } shows = Shows::loaf;
    PickerState picker;
    TokensPageState tokens;
    LoafPageState loaf;
    TensorListState list;
    [[nodiscard]] bool shows_tokens() const {
        return shows == Shows::one_axis && picker.strategy == Strategy::cp && picker.as_tokens;
    }
    Kept<DrawnSheets, std::pair<std::uint64_t, SheetRequest>> drawn;  // by revision and request
    // By revision, request of rank 0, and room.
    Kept<PackedSheets, std::tuple<std::uint64_t, SheetRequest, Vec2>> packed;
    Kept<std::vector<std::array<int, 2>>> stages;  // of each layer, by revision
};
[[nodiscard]] std::optional<PlanEdit> draw_shards(Ui& ui, Rect head_row, Rect room, Scene& scene,
                                                  ShardsViewState& state, std::uint64_t revision);
[[nodiscard]] Table shards_data(const Scene& scene, const ShardsViewState& state);

// Precondition: `state.drawn` is of the scene.
[[nodiscard]] std::optional<PlanEdit> draw_sheets(Ui& ui, Rect room, Scene& scene, ShardsViewState& state);

// The controls of Shards and Mesh make these edits of training.router_imbalance.
[[nodiscard]] PlanEdit imbalance_edit(const Scene& scene, double to, std::string merge_key = {});
// Returns the imbalance so many steps further, at least 1.
[[nodiscard]] double stepped_imbalance(double now, int by);
// Returns true while the plan's number follows from the loads that were given.
[[nodiscard]] bool loads_hold(const Scene& scene, const ExpertLoads& loads, std::int64_t experts);

[[nodiscard]] std::optional<PlanEdit> draw_expert_map(Ui& ui, Rect room, const Scene& scene,
                                                      ShardsViewState& state, const Sheet& sheet,
                                                      const SheetLook& look);

}  // namespace pentamesh::ui
