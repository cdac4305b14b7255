// Shows the plan as boxes in boxes: cluster, replicas, stages, the GPUs of a stage, a GPU's layers, a layer's
// blocks, a block's tensors. Each axis is a level. Nothing is listed: a box is found from its path.
#pragma once

#include "core/mesh/mesh.h"
#include "core/sharding/sharding.h"

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
    edp_replica,
    edp,
    ep,
    etp,
    layer,
    block,
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

// Describes a child inside a GPU: a layer (embedding and head among them), a block of a layer, a tensor.
struct NestItem {
    std::string label;        // "layer 33", "attention", "wqkv"
    double weight = 1;        // numbers that the GPU holds of it; a layer's is 1
    std::int64_t layer = -1;  // of the model; -1: embedding or head
    Place place = Place::every_layer;
    LayerMask types = 0;       // the layer's type, as a mask; 0: embedding or head
    std::vector<int> tensors;  // indices into Nest::tensors
};

// This is the path of a box: the index of the child at each level from the cluster down.
using NestPath = std::vector<std::int64_t>;

struct Nest {
    Plan plan;
    Mesh mesh;
    Fold fold = Fold::dense;
    std::vector<NestLevel> levels;   // outermost first; counts multiply to the world
    std::vector<Placement> tensors;  // parameters while the layer runs
};
// Nests dp_replicate, dp_shard, pp, cp, tp from the outside in, for any order of ranks: the boxes show which
// part of the model each has. For the experts it is edp, pp, ep, etp, where the mesh has experts; else the
// dense fold.
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
// Returns "replica 3", "tp 2", "layer 33", "wqkv".
[[nodiscard]] std::string step_label(const Nest& nest, std::span<const std::int64_t> path);
// Returns "16 replicas × 8 stages × 8 tp = 1,024 GPUs".
[[nodiscard]] std::string product_text(const Nest& nest);
// Returns true if child `i` of a GPU or of a box in it is one matrix, with nothing in it: a tensor, and the
// embedding and the head, which have no blocks.
[[nodiscard]] bool is_matrix(const NestChildren& siblings, std::int64_t i);
// Returns the tensors that a path ends at; empty for a path that ends above one.
[[nodiscard]] std::vector<int> tensors_at(const Nest& nest, std::span<const std::int64_t> path);

// Returns "0–2,047", or "7" where it is one.
[[nodiscard]] std::string short_range(const Range& r);
// Returns "wq, 8,192 × 8,192: rows 0–1,023, tp 0 of 8" for each of the tensors.
[[nodiscard]] std::vector<std::string> cut_sentences(const Nest& nest, std::span<const int> tensors,
                                                     std::int64_t rank);

}  // namespace pentamesh
