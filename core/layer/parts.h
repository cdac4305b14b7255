// Holds the costs of kernels other than matrix products: launches and bytes of memory, forward. The list of a
// layer's steps and the time of a layer share them.
#pragma once

#include "core/base/containers.h"
#include "core/layer/layer_words.h"
#include "core/mesh/mesh.h"
#include "core/model/local_shard.h"
#include "core/model/model.h"
#include "core/plan/plan.h"
#include "core/plan/software.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace pentamesh {

// These are launches of a layer in addition to its products; the backward has twice as many. They were
// counted on Megatron Core with its usual fusions; the unfused attention of 2022 has softmax, dropout and
// their masks apart.
inline constexpr double kRope = 1, kLatentKernels = 4, kUnfusedAttention = 4;
inline constexpr double kCompressionKernels = 3;  // softmax over a key's tokens and its sum, norm, positions
inline constexpr double kMixerKernels = 5;        // convolution, three of the chunked scan, gated norm
inline constexpr double kRouterKernels = 10, kPermuteKernels = 6;
inline constexpr double kBackwardKernels = 2;

// These are HBM bytes per number of an element-wise kernel in 16 bits, by its reads and writes.
inline constexpr double kTwo = 2;               // bytes of a 16-bit number
inline constexpr double kNormBytes = 2 * kTwo;  // read, write
inline constexpr double kAddBytes = 3 * kTwo;   // two read, one written
inline constexpr double kBackwardFactor = 2;    // gradients and saved inputs are both read
inline constexpr double kSoftmaxBytes = 2 * kTwo, kDropoutBytes = 2 * kTwo + 1;  // a byte of mask
inline constexpr double kFlashBackward = 2.5;  // five products for two, Dao et al. 2022

// Lists what a layer consists of on one rank, as plain numbers. Communication counts the list's calls, time
// is the sum of its kernels; the steps of a layer (layer.h) add names and tensors to it.

enum class LayerPass : std::uint8_t { forward, backward };
enum class LayerPart : std::uint8_t { mixer, mlp, shared_experts, experts };

// Returns true for a kernel that works on tokens after they were sent to their experts.
[[nodiscard]] inline bool is_routed(LayerPart part, What kernel) {
    if (part != LayerPart::experts) return false;
    switch (kernel) {
    case What::gate_and_up_of_the_experts:
    case What::down_of_the_experts:
    case What::activation_function: return true;
    default: return false;
    }
}
// Returns true for a call of the ep axis that brings tokens or gradients to the experts; the others bring
// them back.
[[nodiscard]] inline bool goes_to_experts(What call) {
    switch (call) {
    case What::dispatch_of_tokens_to_experts:
    case What::dispatch_of_output_gradients:
    case What::tokens_to_all_ranks_of_experts:
    case What::output_gradients_to_all_ranks_of_experts: return true;
    default: return false;
    }
}

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
            return a.layer_input
                   || std::ranges::find(software.selective_keeps, a.id) != software.selective_keeps.end();
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

// Holds the parts of each type of layer (model.h). They belong to the caller, are listed once in an
// evaluation, and are no part of its result.
struct PartsByType {
    std::vector<LayerParts> type;
    [[nodiscard]] const LayerParts& operator[](int t) const { return type[static_cast<std::size_t>(t)]; }
    bool operator==(const PartsByType&) const { return true; }
};
void list_parts(const Plan& plan, const Degrees& degrees, const LayerTypes& types, PartsByType& out);

// Makes the lists of a layer's parts: attention, scans, MLP and experts.
class PartLister {
  public:
    PartLister(const Plan& plan, const Degrees& degrees, const LayerType& type, LayerParts& out);

    void list();

  private:
    using i64 = std::int64_t;

    void calls();
    void kernels();
    void kept();

    // Calls over one rank, or without bytes, are left out.
    void call(GroupKind group, i64 ranks, LayerPass pass, Collective c, What what, double bytes, bool repeats,
              double calls) {
        if (ranks > 1 && bytes > 0 && calls > 0)
            calls_.push_back({what, group, c, pass, part_, repeats, ranks, bytes, calls});
    }
    void forward(GroupKind group, i64 ranks, Collective c, What what, double bytes, bool repeats,
                 double calls = 1) {
        call(group, ranks, LayerPass::forward, c, what, bytes, repeats, calls);
    }
    void backward(GroupKind group, i64 ranks, Collective c, What what, double bytes, double calls = 1) {
        call(group, ranks, LayerPass::backward, c, what, bytes, false, calls);
    }

    // Describes a layer's way in and out of a tensor-parallel region, Shoeybi et al. 2019 and, with SP,
    // Korthikanti et al. 2022 section 4.2: an all-reduce splits into a reduce-scatter and an all-gather of
    // the same bytes. Megatron keeps the input cut and gathers it once more for the weight gradient;
    // PyTorch's products keep it as it was gathered, and gather it a second time only where it is recomputed.
    // `input` is the product's input, for software that does not gather it a second time.
    struct Region {
        What in, out, grad_in, grad_out, gather_again;
        Activation input = {};
    };
    void region(const Region& r, bool repeats);
    // An input that the software keeps whole is not gathered a second time.
    [[nodiscard]] What again(What what) const { return software_.inputs_whole ? What::none : what; }
    // Returns whether an input that is kept as it was gathered is gathered a second time, since it is
    // recomputed.
    [[nodiscard]] bool gathered_anew(const Activation& input) const;
    [[nodiscard]] Activation product_input(TensorId id, RecomputeModules recomputed_by) const;

    void mixer_calls();
    void context_calls();
    void latent_calls(const Mla& mla);
    void attention_over_cp();
    void ulysses(i64 ranks, bool repeats_in, bool repeats_out);
    void scan_over_cp();
    // Returns how many times keys and values are sent where they have fewer heads than ranks to hand them to.
    [[nodiscard]] double repeated_kv(i64 ranks) const;

    void mlp_calls();
    void expert_calls(const Moe& moe);

    LayerKernel& kernel(What what, LayerRate rate, RecomputeModules modules = {}) {
        return kernels_.push_back({.what = what, .part = part_, .rate = rate, .modules = modules});
    }
    LayerKernel& product(What what, double m, double in, double out, RecomputeModules modules = {},
                         LayerRate rate = LayerRate::linear, double groups = 1) {
        LayerKernel& k = kernel(what, rate, modules);
        k.m = m, k.in = in, k.out = out, k.groups = groups;
        return k;
    }
    LayerKernel& element_wise(What what, double bytes, double kernels, RecomputeModules modules = {}) {
        LayerKernel& k = kernel(what, LayerRate::none, modules);
        k.bytes = bytes, k.kernels = kernels;
        return k;
    }
    void norm(What what, RecomputeModules modules = {});  // on the residual stream
    void addition();

    // Holds the widths of attention on a rank.
    struct Widths {
        double query = 0, key = 0, value = 0, output = 0, heads = 0;
    };
    [[nodiscard]] Widths widths() const;
    void mixer_kernels();
    void attention_kernels(const Widths& w);
    void latent_kernels(const Mla& mla, const Widths& w);
    void compressed_kernels(const Compressed& a, const Widths& w);
    void streams_in();   // hyper-connections before a block
    void streams_out();  // and behind it, in the place of the addition
    void core_kernels(const Widths& w);
    void scan_kernels();
    template <typename Mixer>
    void scan_kernels(const Mixer& mixer);
    void mlp_kernels(What up, What down, double width, RecomputeModules modules);
    void expert_kernels(const Moe& moe);
    LayerKernel& activation(double tokens, double width, RecomputeModules modules);
    void keep_between(TensorId id, i64 width, double bytes, bool input = false,
                      RecomputeModules recomputed_by = {});
    void keep_region(TensorId id, i64 width, i64 local, double bytes, RecomputeModules recomputed_by = {},
                     bool of_kv_heads = false);
    void mixer_kept();
    void attention_kept();
    void latent_kept(const Mla& mla);
    void compressed_kept(const Compressed& a);
    void choice_kept(i64 index_heads, i64 top_k);
    // `first` says that a block's streams are the layer's input.
    void streams_kept(TensorId input, TensorId weights, TensorId output, bool first);
    // Keeps scores, softmax and their results. Unfused it follows Korthikanti et al. 2022, section 4.1, 5 a
    // s^2 b. Fused it is the output and the row's log-sum-exp in fp32 (Dao 2023, FlashAttention-2, section
    // 3.1).
    void core_kept(i64 all_heads, i64 heads, i64 dim);
    void scans_kept();
    // `recomputed_by` names the modules that recompute the outputs of the products; `activated` those of the
    // activation.
    void mlp_kept(const MlpTensors& ids, Tokens tokens, i64 width, i64 degree, RecomputeModules recomputed_by,
                  RecomputeModules activated);
    void experts_kept(const Moe& moe);

    [[nodiscard]] bool gated() const { return is_gated(m_.ffn_kind); }
    // Returns the outputs of an MLP's first product.
    [[nodiscard]] double up(double width) const { return gated() ? 2 * width : width; }

    [[nodiscard]] bool recomputes(RecomputeModule m) const { return t_.recompute.makes(m); }
    [[nodiscard]] bool latent() const {
        return type_.attends() && m_.attention == AttentionKind::mla && m_.mla;
    }
    [[nodiscard]] bool compressed() const { return type_.attends() && compresses_keys(m_); }
    // Returns true where the norm before attention is a kernel of its own: several products read it.
    [[nodiscard]] bool norm_apart() const { return latent() || compressed(); }
    [[nodiscard]] bool hyper() const { return m_.hyper_streams > 0; }

    const Plan& plan_;
    const Model& m_;
    const Training& t_;
    const Degrees& d_;
    const LayerType& type_;
    const SoftwareFacts& software_;
    double tp_, cp_;
    double wire_;           // bytes of a number that is sent, or that no product reads
    double product_bytes_;  // of one that a product reads
    double tokens_;         // of a rank and micro-batch: b s / c
    double outer_;          // of these, those of a rank between tensor-parallel regions
    double hidden_;
    double hidden_bytes_;  // of these at the hidden width: S of the tensor-parallel collectives
    LayerPart part_ = LayerPart::mixer;
    CallList& calls_;
    KernelList& kernels_;
    KeptList& kept_;
};

}  // namespace pentamesh
