// Finds which rectangles of a tensor each holder has, in index units: the Shards view draws them.
#pragma once

#include "core/sharding/sharding.h"

#include <array>
#include <cstdint>
#include <vector>

namespace pentamesh {

// Has rows (for activations tokens) by columns (the width). A vector has one column.
struct IndexBox {
    Range rows, columns;
    [[nodiscard]] std::int64_t numbers() const { return rows.size() * columns.size(); }
    bool operator==(const IndexBox&) const = default;
};

// Appends the rectangles that a part covers of one expert's matrix (`expert` is 0 without experts), or of one
// sequence of a batch: one, two where the sequence comes in two pieces, up to three of a flat cut.
void boxes_of(const Placement& placement, const Part& part, std::int64_t expert, std::vector<IndexBox>& out);

// Returns the numbers of `boxes` over those of the whole matrix or sheet.
[[nodiscard]] double share_of(const Placement& placement, const std::vector<IndexBox>& boxes);

// The holders with the same place on every axis of `by` share this piece.
struct Piece {
    Coordinates at{};        // the piece's part on each axis of `by` (0 on the others): a coordinate, or
                             // fewer
    int first = 0, end = 0;  // of TensorPieces::box
};

// Describes an edge between two pieces: horizontal (between rows) at row `at` from column `from` to `to`, or
// vertical with rows and columns exchanged. It belongs to the axis that cut there first.
struct CutLine {
    Axis axis = Axis::tp;
    bool horizontal = true;
    std::int64_t at = 0, from = 0, to = 0;
    bool operator==(const CutLine&) const = default;
};

struct TensorPieces {
    std::vector<IndexBox> box;
    std::vector<Piece> piece;
    std::vector<CutLine> line;
    EnumArray<Axis, bool> by{};  // the axes that tell the pieces apart
    void clear();
};

// Lists the axes that cut inside one layer, the coarsest first: neither layers (pp) nor the batch, which
// leave a layer's tensor whole, nor experts, of which one is drawn. There are at most three.
struct CutOrder {
    std::array<Axis, 3> axis{};
    int count = 0;
};
[[nodiscard]] CutOrder cuts_within_layer(const Mesh& mesh, const Placement& placement);

// Makes a piece for every place on the axes that cut within the layer. The other coordinates are those of
// `rank`: its pipeline stage where that holds the tensor, else the first that does; an expert's owner. With
// `coarse`, only the first of those axes is used. It makes nothing where there would be more than `most`
// pieces. It costs one part_of per piece.
void pieces_of(const Plan& plan, const Mesh& mesh, const Placement& placement, std::int64_t rank,
               std::int64_t expert, bool coarse, std::int64_t most, TensorPieces& out);

// Returns which of the parts that an axis makes a coordinate has: the coordinate itself, except where several
// ranks share a part.
[[nodiscard]] std::int64_t part_index(const AxisPlacement& placement, std::int64_t coordinate);

// Returns the same rank on the first pipeline stage that holds the tensor, or -1.
[[nodiscard]] std::int64_t holder_like(const Plan& plan, const Mesh& mesh, const Placement& placement,
                                       std::int64_t rank);

// Returns the pipeline stages that hold each layer of the model: one, or two where the schedule keeps layers
// twice (DualPipe), or -1. It is empty for more layers than anybody trains.
[[nodiscard]] std::vector<std::array<int, 2>> stages_of_layers(const Plan& plan, const Mesh& mesh);

}  // namespace pentamesh
