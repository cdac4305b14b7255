// The strategy picker shows only one axis on a few layers, what each GPU then holds, and its price.
#pragma once

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/kept.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/shards/shards_pack.h"
#include "app/ui/views/shards/shards_sheets.h"
#include "core/teach/single_axis.h"

#include <array>
#include <tuple>
#include <utility>
#include <vector>

namespace pentamesh::ui {

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

struct PickerState {
    Strategy strategy = Strategy::ddp;
    bool eight = false;                             // GPUs: 4 or 8
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

}  // namespace pentamesh::ui
