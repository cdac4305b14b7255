// Lists what one GPU does in one layer for one micro-batch, step by step: every product, norm and collective,
// forward and backward, with its tensors; which tensors are kept in between, and when each is freed. The
// collectives are those of parts.h; layer_tape.h says where summands wait to be added and reads
// the backward off the forward. docs/layer.md has rules, conventions and sources.
#pragma once

#include "core/layer/parts.h"
#include "core/mesh/mesh.h"
#include "core/plan/names.h"
#include "core/plan/tensor_id.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

enum class LayerOp : std::uint8_t {
    matmul,
    norm,
    rotary,
    attention,  // the core; in linear and Mamba layers the scan in its place
    activation,
    router,
    permute,
    residual,
    dropout,
    all_gather,
    reduce_scatter,
    all_reduce,
    all_to_all,
    ring_send
};
template <>
inline constexpr std::size_t kEnumCount<LayerOp> = 14;
[[nodiscard]] std::string_view name_of(LayerOp op);  // "all_gather"
[[nodiscard]] inline bool is_collective(LayerOp op) {
    return op >= LayerOp::all_gather;
}
[[nodiscard]] Collective collective_of(LayerOp op);  // of a collective
[[nodiscard]] LayerOp op_of(Collective collective);

[[nodiscard]] std::string_view name_of(LayerPass pass);
enum class LayerBlock : std::uint8_t { weights, mixer, mlp };
enum class Notation : std::uint8_t { megatron, dtensor, jax };
template <>
inline constexpr std::size_t kEnumCount<Notation> = 3;
[[nodiscard]] std::string_view name_of(Notation notation);
// Returns the one that people who run the software write.
[[nodiscard]] Notation notation_of(Software software);

// Describes one dimension: of all ranks of a replica together and of this one. Dispatched tokens need not be
// whole.
struct LayerCut {
    GroupKind group = GroupKind::tp;
    std::int64_t parts = 1;  // different ones: kv heads fewer than ranks are on several
    bool operator==(const LayerCut&) const = default;
};
// Names a dimension: `tokens` are those sent to experts, `inner` is the width of a scan or an indexer.
enum class DimName : std::uint8_t {
    sequence,
    batch,
    tokens,
    hidden,
    heads,
    kv_heads,
    head,
    queries,  // heads and their width together
    keys,
    inner,
    latent,
    experts,
    ffn,
    experts_latent,
    numbers  // of flat weights
};
template <>
inline constexpr std::array<std::string_view, 15> kNames<DimName>{"s",  "b", "t", "h", "a", "k", "d", "ad",
                                                                  "kd", "i", "r", "e", "f", "l", "p"};
static_assert(kNames<DimName>.size() == static_cast<std::size_t>(DimName::numbers) + 1);
struct LayerDim {
    DimName name = DimName::hidden;
    double size = 1, local = 1;
    std::vector<LayerCut> cuts;
    std::string_view symbol = name_of(name);  // to be shown
    [[nodiscard]] bool cut_by(GroupKind group) const;
    bool operator==(const LayerDim&) const = default;
};

// Activations begin with their tokens ("s b h", dispatched "t h"); weights are outputs by inputs, as
// checkpoints have them. Sizes are those of one replica of the data: every replica has its own micro-batch.
struct LayerTensor {
    std::string name;  // "x", "q", "W_up", "dx"
    int value = 0;     // of activations: 1, 2, ...; the gradient of v has -v. Two of a name may differ
    std::vector<LayerDim> dims;
    std::vector<GroupKind> partial;  // waits to be summed over these
    double bytes_per_number = 2;
    bool weight = false;  // a weight, or the gradient of one
    [[nodiscard]] double numbers() const;
    [[nodiscard]] double bytes() const { return numbers() * bytes_per_number; }
    [[nodiscard]] bool cut_by(GroupKind group) const;
    [[nodiscard]] bool partial_over(GroupKind group) const;
    bool operator==(const LayerTensor&) const = default;
};

// The backward pass needs this tensor: its name among the steps and in the parts that it keeps
// (core/layer/parts.h).
struct KeptTensor {
    std::string name;
    TensorId activation = TensorId::embedding;
    double bytes = 0;
    int value = 0;  // as LayerTensor has it; 0: no step makes it
    bool operator==(const KeptTensor&) const = default;
};

// A step is a pass of those kernels of parts.h that are about `what`: core/step/compute.h times it.
enum class KernelPass : std::uint8_t { forward, input_grad, weight_grad, backward };  // the last: both
struct KernelRun {
    What what = What::none;  // none: it takes no time
    LayerPart part = LayerPart::mixer;
    KernelPass pass = KernelPass::forward;
    LayerRate rate = LayerRate::none;
    bool operator==(const KernelRun&) const = default;
};

struct LayerStep {
    int n = 0;  // from 1
    LayerPass phase = LayerPass::forward;
    LayerOp op = LayerOp::matmul;
    LayerBlock block = LayerBlock::mixer;
    What what = What::none;
    bool recomputed = false;  // repeats in the backward what the forward made and did not keep
    bool per_step = false;    // once in a training step, not for every micro-batch
    bool per_run = false;     // with per_step: once after each run of micro-batches (GradientReduction::run)
    std::vector<LayerTensor> in, out;
    KernelRun work;
    double flops = 0;        // 2 m n k; attention uncut by causality, its backward twice that
    double bytes_moved = 0;  // of HBM
    // These are for collectives. A ring's send counts `calls` messages.
    GroupKind group = GroupKind::tp;
    std::vector<std::int64_t> ranks;  // the ranks that take part, ascending; empty without a collective
    std::int64_t group_size = 1;
    double message_bytes = 0, sent_bytes = 0, calls = 0;
    double slow_share = 1;  // as Operation has them (core/comm/comm.h)
    bool forwarded = false;
    double time_s = 0;  // filled by time_layer (core/step/compute.h)
    std::vector<KeptTensor> kept, freed;
    double stash_bytes = 0;  // of what is kept when the step is done
    bool operator==(const LayerStep&) const = default;
};

struct LayerCallSum {
    GroupKind group = GroupKind::tp;
    LayerOp op = LayerOp::all_gather;
    double calls = 0, sent_bytes = 0;
    bool operator==(const LayerCallSum&) const = default;
};

// Holds sums over the steps.
struct LayerTotals {
    double kept_bytes = 0;  // at the end of the forward
    double peak_bytes = 0;  // most activations that live at once: what is kept and what a step works on
    double flops_forward = 0, flops_backward = 0, flops_recomputed = 0;  // the last: of the second
    double time_forward_s = 0, time_backward_s = 0;
    std::vector<LayerCallSum> calls;  // by axis and collective, in the order of their first
    bool operator==(const LayerTotals&) const = default;
};

struct LayerList {
    int type = 0;  // of layer_types
    std::int64_t rank = 0, micro_batch = 1;
    std::vector<LayerStep> steps;
    LayerTotals totals;
    bool operator==(const LayerList&) const = default;
};

// Returns the steps of a layer of this type (model.h) on one rank, without times. The plan must be
// valid, `type` one of its types, `rank` in the mesh.
[[nodiscard]] LayerList list_layer(const Plan& plan, const Mesh& mesh, const GroupSummaries& groups, int type,
                                   std::int64_t rank = 0, std::int64_t most_members = 0);
void sum_layer(LayerList& list);  // totals and n, from the steps

// ---- words (layer_words.cpp) ----

// Returns "x[S_tp, B_dp, H]", "x [s/tp, b, h]", "x (Shard(0))", and marks a tensor that waits to be summed.
// `dp` says that replicas exist.
[[nodiscard]] std::string text_of(const LayerTensor& tensor, Notation notation, bool dp);
// Returns "shard(0)", "replicate", "partial".
[[nodiscard]] std::string placement_of(const LayerTensor& tensor, GroupKind group);
// Returns the step as a line of a program: "y = reduce_scatter(y, tp)".
[[nodiscard]] std::string line_of(const LayerStep& step, Notation notation, bool dp);
// Says in a sentence what happens.
[[nodiscard]] std::string sentence_of(const LayerStep& step);

}  // namespace pentamesh
