// Says which tensors are cut and which are copied: each one's placement on every axis, and the part of it
// that a rank holds. The rules are in docs/memory.md, "Who holds what".
#pragma once

#include "core/memory/memory.h"
#include "core/mesh/mesh.h"
#include "core/model/model.h"
#include "core/plan/plan.h"
#include "core/plan/tensor_id.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace pentamesh {

enum class TensorState : std::uint8_t { parameters, gradients, optimizer, activations };
inline constexpr int kTensorStateCount = 4;
// At rest is between steps (for activations between forward and backward). Computing is while the layer runs.
enum class Moment : std::uint8_t { at_rest, computing };

enum class Spread : std::uint8_t { copied, cut, partial };  // drawn hatched, solid, dotted
// Names the dimension of a cut. `flat` means contiguous numbers of the part that the other cuts leave, row by
// row.
enum class Dim : std::uint8_t { none, layers, experts, rows, columns, batch, sequence, width, flat };

[[nodiscard]] std::string_view name_of(TensorState state);
[[nodiscard]] std::string_view name_of(Moment moment);
[[nodiscard]] std::string_view name_of(Spread spread);
[[nodiscard]] std::string_view name_of(Dim dim);

// Describes the placement on one axis of `size` ranks. A cut makes `parts` different parts: as many as ranks,
// or fewer where each part is held by size / parts ranks (kv heads fewer than tp).
struct AxisPlacement {
    Spread spread = Spread::copied;
    Dim dim = Dim::none;  // of a cut
    std::int64_t size = 1;
    std::int64_t parts = 1;
    [[nodiscard]] std::int64_t copies() const { return spread == Spread::cut ? size / parts : size; }
    bool operator==(const AxisPlacement&) const = default;
};

// Describes one tensor of one layer (or of the embedding, the head) in one state at one moment.
struct Placement {
    TensorId id = TensorId::embedding;
    TensorKind kind = TensorKind::mlp;
    Place place = Place::every_layer;
    TensorState state = TensorState::parameters;
    Moment moment = Moment::at_rest;
    bool expert = false;        // lies on the expert mesh: `tp` means etp, `cp` is 1
    std::int64_t layers = 1;    // layers of the model that have it
    LayerMask types = 0;        // of layers: the types that have it (model.h)
    std::array<Dim, 3> dims{};  // experts, rows, columns (none: there is no such dimension); activations:
                                // batch, sequence, width
    std::array<std::int64_t, 3> shape{1, 1, 1};  // whole
    std::array<std::int64_t, 3> local{1, 1,
                                      1};  // the largest box that a rank holds; a flat cut cuts it further
    std::int64_t unit = 1;                 // numbers that a cut by tp keeps together: a head's
    std::int64_t kv_heads = 0;             // tp cuts by these heads; 0: no such tensor
    double bytes_per_number = 0;           // optimizer: the states and the master copy together
    double bytes_whole = 0;                // shape times bytes_per_number
    double bytes_per_rank = 0;             // of one layer, on the rank that holds most
    EnumArray<Axis, AxisPlacement> axis{};
    [[nodiscard]] const AxisPlacement& on(Axis a) const { return axis[a]; }
};

// Lists all tensors in one state at one moment, in the order of list_tensors. Activations at rest are those
// kept, in the order of the forward pass; while computing also the partial sums that tp reduces. `out` is
// cleared first.
void list_placements(const Plan& plan, const Mesh& mesh, TensorState state, Moment moment,
                     std::vector<Placement>& out);
[[nodiscard]] std::vector<Placement> list_placements(const Plan& plan, const Mesh& mesh, TensorState state,
                                                     Moment moment);

struct Range {
    std::int64_t begin = 0, end = 0;
    [[nodiscard]] std::int64_t size() const { return end - begin; }
    bool operator==(const Range&) const = default;
};

// One rank holds this of a placement in one layer: a box of index ranges, and of that box, row by row, a flat
// range (the whole box unless an axis cuts flat).
struct Part {
    bool held = false;           // false: its pipeline stage has no such layer
    std::array<Range, 3> box{};  // by Placement::dims
    Range second;                // the sequence's other piece under head-tail context parallelism, or empty
    Range flat;
    std::int64_t numbers = 0;
    double bytes = 0;
};
// For parameters, gradients and optimizer state the parts of all ranks of a stage sum to a multiple of the
// whole: its copies on every axis but pp. A partial axis counts as copied.
[[nodiscard]] Part part_of(const Plan& plan, const Mesh& mesh, const Placement& placement, std::int64_t rank);

// Holds one chunk of a pipeline device: which layers, in model order.
struct RankChunk {
    int virtual_stage = 0;
    Range layers;
};

// Sums up one GPU.
struct RankContents {
    std::int64_t rank = 0;
    std::int64_t stage = 0;         // pipeline coordinate
    std::vector<RankChunk> chunks;  // in the order in which the device numbers them
    bool embedding = false, head = false;
    std::int64_t mtp_layers = 0;
    Range heads, kv_heads, ffn, vocabulary;  // after tp; ffn: columns of a dense MLP
    Range experts, expert_ffn;               // after ep, etp; empty for a dense model
    std::vector<Range> sequence;             // tokens of each sequence after cp: two pieces when head-tail
    std::vector<Range> sequence_between;     // the same between tp regions (sequence parallel)
};
[[nodiscard]] RankContents contents_of(const Plan& plan, const Mesh& mesh, std::int64_t rank);

// Returns the experts of each MoE layer held by ep coordinate `ep`, of `parts`: they are consecutive.
[[nodiscard]] Range experts_of(std::int64_t experts, std::int64_t parts, std::int64_t ep);
// Returns the ep coordinate that holds an expert.
[[nodiscard]] std::int64_t owner_of_expert(std::int64_t experts, std::int64_t parts, std::int64_t expert);
// Returns the load of the busiest of `parts` ranks over the mean rank's, from the load of each expert:
// training.router_imbalance is this. It is 1 where no rank has a load.
[[nodiscard]] double imbalance_of(const std::vector<double>& load, std::int64_t parts);

// Returns the pieces of a sequence of `length` that cp rank `i` of `parts` holds. Ring and all-gather balance
// causal attention by giving the i-th and the i-th last of 2 * parts pieces (Megatron-LM
// get_batch_on_this_cp_rank); Ulysses cuts it in order.
[[nodiscard]] std::vector<Range> sequence_of(std::int64_t length, std::int64_t parts, std::int64_t i,
                                             CpComm comm);

// Does the index arithmetic of cuts, for the files that list placements and those that find a rank's part.

[[nodiscard]] inline std::int64_t size_of(const EnumArray<Axis, Factor>& factors, Axis a) {
    return factors[a].size;
}

// Returns part i of n of a length: equal chunks rounded up, so that the last parts may be shorter or empty
// (as torch.chunk cuts).
[[nodiscard]] inline Range chunk_of(std::int64_t length, std::int64_t n, std::int64_t i) {
    const std::int64_t chunk = divide_up(length, n);
    const std::int64_t begin = std::min(saturating_product(chunk, i), length);
    return {begin, std::min(begin + chunk, length)};
}
// Returns the same in whole units.
[[nodiscard]] inline Range chunk_of(std::int64_t length, std::int64_t n, std::int64_t i, std::int64_t unit) {
    const Range r = chunk_of(divide_up(length, unit), n, i);
    return {std::min(r.begin * unit, length), std::min(r.end * unit, length)};
}
// Returns key and value heads of tp rank i of n: fewer heads than ranks are copied, n / heads ranks to a
// head.
[[nodiscard]] inline Range kv_heads_of(std::int64_t heads, std::int64_t n, std::int64_t i) {
    if (n <= heads) return chunk_of(heads, n, i);
    const std::int64_t head = i * heads / n;
    return {head, head + 1};
}

// Adds the activations' placements to list_placements.
void list_activation_placements(const Plan& plan, const Mesh& mesh, Moment moment,
                                std::vector<Placement>& out);

// Finds the ranks that keep the same parameters.

// Over these factors the parts at rest are equal: over all of data parallelism (cp in it, weight shards not)
// below ZeRO-3, over its replicas from there on. Experts are copied over the expert mesh's own. Where a
// pipeline holds two copies of the model, the stage across holds the same layers: stage + other = pp - 1.
struct ParameterCopies {
    GroupFactors dense, experts;  // experts: empty without an expert mesh
    bool stage_across = false;
};
[[nodiscard]] ParameterCopies parameter_copies_of(const Plan& plan, const Mesh& mesh);

// degree_of returns how many ranks the factors hold; ranks_over returns those that share all other
// coordinates with `rank`, ascending.
[[nodiscard]] std::int64_t degree_of(const GroupFactors& factors);
[[nodiscard]] std::vector<std::int64_t> ranks_over(const GroupFactors& factors, std::int64_t rank);

}  // namespace pentamesh
