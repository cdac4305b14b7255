// Describes tensors as sheets: which tensors of a layer are shown, each with its pieces and with one rank's
// part of it. The Shards view keeps them while their plan stays.
#pragma once

#include "core/sharding/tensor_pieces.h"

#include <string>
#include <vector>

namespace pentamesh::ui {

struct Sheet {
    Placement placement;
    int tensor = -1;            // index into list_placements of parameters; -1 for activations
    int activation = -1;        // into those of activations while computing; -1 for the others
    bool lying = false;         // a vector, drawn along x
    CutOrder cuts;              // the axes that cut it inside the layer
    TensorPieces coarse, fine;  // empty where it is cut too finely to be drawn
    Part part;                  // the rank's part of it
    std::vector<IndexBox> lit;  // the same, drawn
    std::int64_t expert = 0;    // the expert that is drawn
};

// Says which part of the model is shown.
enum class Block : std::uint8_t { layer, attention, mlp, ends };
inline constexpr int kBlockCount = 4;

struct SheetRequest {
    TensorState state = TensorState::parameters;
    Moment moment = Moment::at_rest;
    Block block = Block::layer;
    bool moe = false;  // the MoE layers of a model that has dense ones too
    std::int64_t rank = 0;
    std::int64_t expert = 0;
    bool operator==(const SheetRequest&) const = default;
};

void make_sheets(const Plan& plan, const Mesh& mesh, const SheetRequest& request, std::vector<Sheet>& out);

// Highlights another rank's part of the same sheets.
void light_sheets(const Plan& plan, const Mesh& mesh, std::int64_t rank, std::vector<Sheet>& sheets);

// Holds numbers and bytes of the sheets together: whole, and on the rank.
struct SheetTotals {
    double numbers = 0, numbers_here = 0;
    double bytes = 0, bytes_here = 0;
};
[[nodiscard]] SheetTotals totals_of(const std::vector<Sheet>& sheets);

// Returns name, shape, placement on each axis in words, the rank's range and its bytes, a line each.
[[nodiscard]] std::string sheet_tooltip(const Sheet& sheet, std::int64_t rank);

}  // namespace pentamesh::ui
