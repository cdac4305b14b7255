// Shows the plan as boxes in boxes: cluster, replicas, stages, the GPUs of a stage, a GPU's layers, a layer's
// matrices. Each axis is a level. Nothing is listed: a box is found from its path.
#pragma once

#include "core/base/explain.h"
#include "core/mesh/mesh.h"
#include "core/sharding/sharding.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// Says what the children of a box are.
enum class NestKind : std::uint8_t {
    replica,
    shard,
    stage,
    cp,
    tp,
    edp_replicate,
    edp_shard,
    edp,
    ep,
    etp,
    layer,
    tensor,
    none
};
[[nodiscard]] std::string_view name_of(NestKind kind);  // "replica", "stage", "tp"
// Says which of the two meshes over the same ranks is nested.
enum class Fold : std::uint8_t { dense, experts };

// Describes a level of that mesh: only axes with more than one rank have one.
struct NestLevel {
    NestKind kind = NestKind::replica;
    Axis axis = Axis::dp_replicate;
    GroupKind group = GroupKind::dp_replicate;
    std::int64_t count = 1;   // boxes in one box of the level above
    std::int64_t gpus = 1;    // in one box of this level
    std::int64_t stride = 1;  // from a box to its neighbour, in ranks
};

// Describes a child inside a GPU: a layer (embedding and head among them), or a matrix.
struct NestItem {
    std::string label;         // "layer 33", "attention.q"
    double bytes = 0;          // that the GPU keeps of it between steps; a layer's norms are counted in
    std::int64_t layer = -1;   // of the model; -1: embedding or head
    std::vector<int> tensors;  // its matrices: indices into Nest::tensors
};

// This is the path of a box: the index of the child at each level from the cluster down.
using NestPath = std::vector<std::int64_t>;

struct Nest {
    Plan plan;
    Mesh mesh;
    Fold fold = Fold::dense;
    std::vector<NestLevel> levels;   // outermost first; counts multiply to the world
    std::vector<Placement> tensors;  // parameters while the layer runs
    std::vector<Placement> kept;     // the same between steps
};
// Nests the axes in the plan's own order of ranks, so that the ranks in a box are the nearest to each other.
// For the experts the axes are edp, pp, ep, etp, where the mesh has experts; else the dense fold.
[[nodiscard]] Nest nest_of(const Plan& plan, const Mesh& mesh, Fold fold = Fold::dense);

struct NestChildren {
    NestKind kind = NestKind::none;
    std::int64_t count = 0;
    std::vector<NestItem> items;  // inside a GPU: `count` of them; empty above
};
[[nodiscard]] NestChildren children_of(const Nest& nest, std::span<const std::int64_t> path);

// Returns the first rank in the box of a path; for a GPU's box and the boxes in it, the GPU's.
[[nodiscard]] std::int64_t first_rank_of(const Nest& nest, std::span<const std::int64_t> path);
[[nodiscard]] NestPath path_of_rank(const Nest& nest, std::int64_t rank);
// Returns the part of the path whose steps exist: a plan's change may remove some.
[[nodiscard]] NestPath legal_path(const Nest& nest, std::span<const std::int64_t> path);
// Returns "replica 3", "tp 2", "layer 33", "attention.q".
[[nodiscard]] std::string step_label(const Nest& nest, std::span<const std::int64_t> path);
// Returns "128 replicas", "8 tp".
[[nodiscard]] std::string level_text(const NestLevel& level);
// Returns "16 replicas × 8 stages × 8 tp = 1,024 GPUs".
[[nodiscard]] std::string product_text(const Nest& nest);
// Returns the tensor that a path ends at, as an index into Nest::tensors; -1 for a path that ends above one.
[[nodiscard]] int tensor_at(const Nest& nest, std::span<const std::int64_t> path);

// Says what a GPU has of one tensor of one layer.
struct NestPiece {
    Part part;                // while the layer runs
    Part kept;                // between steps: less of it where data parallelism cuts the weights too
    std::int64_t parts = 1;   // that the whole tensor is cut into between steps
    std::int64_t copies = 1;  // GPUs that keep the same part between steps, this one among them
};
// `tensor` is an index into Nest::tensors.
[[nodiscard]] NestPiece piece_of(const Nest& nest, int tensor, std::int64_t rank);

// Returns "0–2,047", or "7" where it is one.
[[nodiscard]] std::string short_range(const Range& r);
// Returns "attention.q, 8,192 × 8,192: rows 0–1,023, tp 0 of 8".
[[nodiscard]] std::string cut_sentence(const Nest& nest, int tensor, std::int64_t rank);

// Finds which rectangles of a tensor each holder has, in index units: the Shards view draws them.

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

// Says a tensor's placement in words: per axis, as the index range of one rank, as a sentence over a whole
// layer, and as the formula of its bytes.

// Returns "tp"; where the tensor lies on the expert mesh "etp", and the name of its group of edp.
[[nodiscard]] std::string_view axis_name(const Placement& placement, Axis axis);

// Returns "cut along rows into 8", "cut along rows into 8, each on 2 ranks", "copied on 8 ranks", "partial: 8
// summands", "off".
[[nodiscard]] std::string spread_words(const AxisPlacement& on);

// Returns "tp 8 cuts rows", "dp_shard 64 cuts flat", "dp_shard 8 copies", "tp 8 sums". It is empty where the
// axis is off.
[[nodiscard]] std::string cutter_words(const Placement& placement, Axis axis);

// Returns "rows 0 – 1,023 of 8,192", "experts 4 – 7 of 256, rows 0 – 511 of 2,048", "tokens 0 – 511 and 7,680
// – 8,191 of 8,192"; "all of it"; "nothing: not on this pipeline stage".
[[nodiscard]] std::string part_words(const Placement& placement, const Part& part);

// Returns "28,672 × 8,192", with the number of experts or sequences in front.
[[nodiscard]] std::string shape_words(const Placement& placement);

// Says how one axis cuts the tensors listed: "cuts rows of q, k, v and columns of output, copies 2 norms". It
// is empty where its size is 1.
[[nodiscard]] std::string axis_sentence(std::span<const Placement> placements, Axis axis);

// Explains how many bytes a rank has of one layer's tensor. For experts' activations, tokens are spread
// evenly.
[[nodiscard]] Explanation explain_tensor(const Plan& plan, const Mesh& mesh, const Placement& placement,
                                         std::int64_t rank);

}  // namespace pentamesh
