// Lists what a layer consists of on one rank, as plain numbers. Communication counts the list's calls, time
// is the sum of its kernels; the steps of a layer (layer.h) add names and tensors to it.
#pragma once

#include "core/base/short_list.h"
#include "core/layer/what.h"
#include "core/mesh/collective.h"
#include "core/mesh/mesh.h"
#include "core/model/layer_types.h"
#include "core/model/local_shard.h"
#include "core/plan/software.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace pentamesh {

enum class LayerPass : std::uint8_t { forward, backward };
enum class LayerPart : std::uint8_t { mixer, mlp, shared_experts, experts };

// This is a collective that one layer makes for one micro-batch.
struct LayerCall {
    What what = What::none;
    GroupKind group = GroupKind::tp;
    Collective collective = Collective::all_reduce;
    LayerPass pass = LayerPass::forward;
    LayerPart part = LayerPart::mixer;
    bool repeats = false;  // the plan recomputes this forward call in the backward
    std::int64_t ranks = 1;
    double bytes = 0;  // the full buffer on a rank
    double calls = 1;  // a ring sends several messages
};
using CallList = ShortList<LayerCall, 48>;

// Says at which rate a kernel computes; `none` only moves bytes.
enum class LayerRate : std::uint8_t { none, linear, wide, grouped, core, scan };

// This is a kernel of the forward: a product of m tokens, `in` inputs and `out` outputs, `groups` times side
// by side; the attention core, m queries with heads of `in` and `out` numbers (`in` 0: the indexer's scores);
// a scan; or an element-wise kernel, which moves bytes. Its backward follows from it (core/step/compute.h).
struct LayerKernel {
    What what = What::none;
    LayerPart part = LayerPart::mixer;
    LayerRate rate = LayerRate::none;
    bool on_stream = false;    // a norm or an addition on the residual stream: it counts with the mixer
    bool fused = false;        // takes time only where it is recomputed
    bool launch_only = false;  // its bytes take no time (docs/step.md)
    bool casts_input = true, casts_gradient = true;  // of a product: in a pass of their own
    RecomputeModules modules{};                      // recomputing any of these recomputes it
    double m = 0, in = 0, out = 0, groups = 1;
    double flops = 0;               // of a core or a scan
    double bytes = 0, kernels = 0;  // of element-wise kernels
};
using KernelList = ShortList<LayerKernel, 48>;

// Says whose tokens a tensor has. region is a tp region's, all of the cp part's. between is between tp
// regions, a tp-th of them with sequence parallelism. dispatched are those sent to a rank's experts.
enum class Tokens : std::uint8_t { region, between, dispatched };

// This is a tensor that the backward of a layer needs, where nothing is recomputed. docs/memory.md has the
// formulas and their sources.
struct Activation {
    TensorId id = TensorId::embedding;
    Tokens tokens = Tokens::between;
    std::int64_t width = 0;        // numbers per token, before tp
    std::int64_t local_width = 0;  // after tp or etp
    double bytes_per_number = 2;
    RecomputeModules made_by;  // recomputing any of these recomputes it
    bool layer_input = false;  // full recompute keeps it
    bool of_kv_heads = false;  // tp cuts it by key-value heads, and copies it where it has more ranks
};

// Counts the tokens of one micro-batch that a rank has, by kind.
struct TokenCounts {
    double count[3];
    [[nodiscard]] double of(Tokens t) const { return count[static_cast<std::size_t>(t)]; }
};
[[nodiscard]] inline TokenCounts token_counts(const Plan& plan, const Degrees& d) {
    const Training& t = plan.training;
    const double region = static_cast<double>(t.micro_batch) * static_cast<double>(t.sequence_length)
                          / static_cast<double>(d.cp);
    const double top_k = plan.model.moe ? static_cast<double>(plan.model.moe->top_k) : 0;
    return {{region, d.sequence_parallel ? region / static_cast<double>(d.tp) : region,
             region * top_k * t.router_imbalance * static_cast<double>(d.etp) / static_cast<double>(d.tp)}};
}

// Holds widths in bytes: of the tensors that element-wise kernels and attention keep, and of a matrix
// product's kept input.
struct ActivationWidths {
    double wide = 2, product = 2;
};
[[nodiscard]] inline ActivationWidths activation_widths(Dtype compute) {
    const double b = bytes_of(compute);
    return {b < 2 ? 2 : b, b};
}

[[nodiscard]] inline double bytes_of(const Activation& a, const TokenCounts& tokens) {
    return tokens.of(a.tokens) * static_cast<double>(a.local_width) * a.bytes_per_number;
}
[[nodiscard]] inline bool is_kept(const Activation& a, const RecomputeChoice& recompute,
                                  const SoftwareFacts& software) {
    if (!software.selective_keeps.empty() && recompute == RecomputeChoice(Recompute::selective)) {
        const TensorModule module = module_of(a.id);
        if (module == TensorModule::attention || module == TensorModule::norm || module == TensorModule::mlp)
            return std::ranges::find(software.selective_keeps, a.id) != software.selective_keeps.end();
    }
    return recompute.whole_layers() ? a.layer_input
                                    : !recompute.any() || !a.made_by.any_of(recompute.modules);
}

using KeptList = ShortList<Activation, 64>;

// Holds the parts of one layer. Calls are those of the mixer, the dense MLP, the shared experts, the exchange
// over cp, the experts; those of data parallelism are not among them. Kept tensors are in the order of the
// forward.
struct LayerParts {
    CallList calls;
    KernelList kernels;
    KeptList kept;
};
void list_parts(const Plan& plan, const Degrees& degrees, const LayerType& type, LayerParts& out);

// Holds the parts of each type of layer (layer_types.h). They belong to the caller, are listed once in an
// evaluation, and are no part of its result.
struct PartsByType {
    std::vector<LayerParts> type;
    [[nodiscard]] const LayerParts& operator[](int t) const { return type[static_cast<std::size_t>(t)]; }
    bool operator==(const PartsByType&) const { return true; }
};
void list_parts(const Plan& plan, const Degrees& degrees, const LayerTypes& types, PartsByType& out);

}  // namespace pentamesh
