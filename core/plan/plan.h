// A plan holds the user's choices: the one input of everything. It is a plain value with nothing derived in
// it, equal to its JSON (plan_json.h). The window edits it, undo is a stack of it, search is a stream of it.
#pragma once

#include "core/base/containers.h"
#include "core/plan/mixers.h"
#include "core/plan/training.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// ---- model --------------------------------------------------------------------------------------------

enum class FfnKind : std::uint8_t { swiglu, geglu, gelu, relu2, xielu };  // the last three have no gate
[[nodiscard]] constexpr bool is_gated(FfnKind kind) {
    return kind == FfnKind::swiglu || kind == FfnKind::geglu;
}
enum class NormKind : std::uint8_t { rmsnorm, layernorm, unweighted };  // unweighted: OLMo's layer norm
enum class QkNorm : std::uint8_t { none, head, full };
enum class Positions : std::uint8_t { rope, learned };
enum class AttentionKind : std::uint8_t { mha_gqa, mla, compressed };
enum class AttentionGate : std::uint8_t { none, head, full };  // a sigmoid gate on the attention's output

// This is multi-head latent attention, DeepSeek-AI 2024 (DeepSeek-V2), section 2.1.
struct Mla {
    std::int64_t q_lora_rank = 0;  // 0: queries are projected from the hidden state directly
    std::int64_t kv_lora_rank = 0;
    std::int64_t qk_nope_head_dim = 0;
    std::int64_t qk_rope_head_dim = 0;
    std::int64_t v_head_dim = 0;
    // Sizes sparse attention's indexer (DeepSeek-V3.2): it picks index_top_k keys for each query. With 0
    // heads there is no indexer.
    std::int64_t index_heads = 0, index_head_dim = 0, index_top_k = 0;
    bool operator==(const Mla&) const = default;
};

// This is attention of one key head, whose keys serve as values, over a window and over keys that stand for
// several tokens each (DeepSeek-V4: modeling_deepseek_v4.py of transformers). LayerRun::compress says for how
// many, by layer. Heads are as wide as the model's head_dim.
struct Compressed {
    std::int64_t q_lora_rank = 0;
    // Each group of heads has its output projected to o_lora_rank numbers; all of them are projected to the
    // hidden state.
    std::int64_t o_lora_rank = 0, o_groups = 1;
    std::int64_t index_heads = 0, index_head_dim = 0, index_top_k = 0;  // of layers that pick compressed keys
    bool operator==(const Compressed&) const = default;
};

struct Moe {
    std::int64_t experts = 0;
    std::int64_t top_k = 0;
    std::int64_t expert_ffn = 0;          // width of one routed expert
    std::int64_t shared_experts = 0;      // experts that every token uses
    std::int64_t shared_expert_ffn = 0;   // width of one shared expert
    std::int64_t first_dense_layers = 0;  // layers 0 .. n-1 have a dense MLP
    std::int64_t every = 1;               // after those, one layer in `every` is MoE
    bool router_bias = false;
    bool shared_expert_gate = false;       // a sigmoid gate on the shared experts (Qwen 2 MoE)
    std::int64_t max_nodes_per_token = 0;  // 0: no limit
    // A dense MLP is parallel to the experts, with three more norms and scales in the router (Gemma 4).
    bool beside_mlp = false;
    std::int64_t latent = 0;  // experts work on so many numbers of a token (Nemotron 3); 0: on `hidden`
    bool operator==(const Moe&) const = default;
};

// ---- layers that differ ---------------------------------------------------------------------------------

// Says what a layer has in the place of attention; with `none` it is only an MLP.
enum class MixerKind : std::uint8_t { full, window, linear, mamba, none };
enum class LayerFfn : std::uint8_t { dense, moe, none };

// This is a run of equal layers. Sizes are those of these layers where they differ from the model's, 0 for
// the model's.
struct LayerRun {
    MixerKind kind = MixerKind::full;
    LayerFfn ffn = LayerFfn::dense;
    std::int64_t count = 1;
    std::int64_t heads = 0, kv_heads = 0, head_dim = 0;
    std::int64_t ffn_width = 0;   // of the dense MLP
    std::int64_t window = 0;      // keys that a query of a `window` layer meets
    bool keys_as_values = false;  // no value projection: the keys serve (Gemma 4)
    bool shares_kv = false;       // no key and value projections: those of the layer before serve (CLA)
    bool shares_index =
        false;           // no indexer: the keys that the one before picked serve (GLM-5.2, arXiv 2603.12201)
    bool sinks = false;  // a learned scalar per head, as attention_sinks
    bool mamba_beside = false;  // a Mamba mixer parallel to the attention (Falcon-H1)
    // These are of layers of compressed attention (DeepSeek-V4). Behind its window, a query meets one key for
    // each `compress` tokens, 0: it does not. With `picks_compressed` keys are made of twice as many tokens,
    // which overlap, and an indexer of the layer's own picks among them.
    std::int64_t compress = 0;
    bool picks_compressed = false;
    bool hash_routed = false;  // a table says which experts a token uses: its router has no bias
    bool operator==(const LayerRun&) const = default;
};

struct Model {
    std::string name;
    std::int64_t layers = 0;
    std::int64_t hidden = 0;
    std::int64_t heads = 0;
    std::int64_t kv_heads = 0;  // parsing fills the default: heads
    std::int64_t head_dim = 0;  // parsing fills the default: hidden / heads
    std::int64_t ffn = 0;       // 0 only where every layer is MoE
    FfnKind ffn_kind = FfnKind::swiglu;
    std::int64_t vocab = 0;
    std::int64_t vocab_multiple = 0;  // padded to a multiple of this times tp; 0: the software's
    bool tied_embeddings = false;
    NormKind norm = NormKind::rmsnorm;
    bool qkv_bias = false;
    bool attention_bias = false;   // QKV and output
    bool mlp_bias = false;         // experts too
    bool attention_sinks = false;  // one learned scalar per head
    QkNorm qk_norm = QkNorm::none;
    AttentionGate attention_gate = AttentionGate::none;
    std::int64_t value_head_dim = 0;  // 0: head_dim
    bool post_norms = false;          // extra norms after attention and MLP (Gemma 2)
    bool shared_norm = false;         // attention and MLP side by side behind one norm (Phi-1, Phi-2)
    bool head_bias = false;
    Positions positions = Positions::rope;
    std::int64_t max_positions = 0;  // learned positions only
    AttentionKind attention = AttentionKind::mha_gqa;
    std::int64_t sliding_window = 0;  // 0: full attention
    std::optional<Mla> mla;
    std::optional<Compressed> compressed;
    std::optional<Moe> moe;
    std::optional<Linear> linear;
    std::optional<Mamba> mamba;
    // Lists layers in order, repeated to `layers`. Where it is empty, all have attention, MoE as `moe` says.
    std::vector<LayerRun> pattern;
    std::int64_t mtp_layers = 0;  // multi-token-prediction layers
    bool mtp_dense = false;       // with a dense MLP though the model has experts (ERNIE 4.5)
    // Residual streams that hyper-connections mix before and after attention and MLP (Xie et al. 2025,
    // arXiv 2512.24880); 0: a plain residual stream.
    std::int64_t hyper_streams = 0;
    bool operator==(const Model&) const = default;
};

// ---- cluster ------------------------------------------------------------------------------------------

enum class LinkKind : std::uint8_t { nvlink, pcie, ib, roce, ici };

// Holds dense FLOP/s by type, without sparsity; 0 where the GPU has no such type.
struct Flops {
    double bf16 = 0, fp16 = 0, fp8 = 0, fp4 = 0, tf32 = 0;
    bool operator==(const Flops&) const = default;
};

// Holds the few constants of the step-time model that belong to a GPU generation and the software of its day.
// docs/step.md says how each enters. Values and their source are in presets/gpus/*.json.
struct Efficiency {
    double gemm = 0;      // share of the dense peak that a large, well-shaped bf16 product reaches
    double gemm_fp8 = 0;  // the same against the fp8 peak (scaling and casts counted in)
    double gemm_fp4 = 0;
    double grouped = 0;    // of the 16-bit peak, the experts' grouped products; other types by `gemm`'s ratio
    double attention = 0;  // share of the bf16 peak that a fused attention core reaches
    double hbm = 0;        // share of the HBM bandwidth that element-wise kernels reach
    double fast_link = 0;  // share of the first tier's bandwidth that rings reach
    double slow_link = 0;  // the same of every tier beyond it
    double all_to_all = 0;  // share of a slower tier that an all-to-all reaches
    double overlap = 0;     // speed of compute while traffic runs next to it, over its speed by itself
    double kernel_s = 0;    // start and tail of one kernel on the GPU, seconds
    double launch_s = 0;  // host time of one operation, with its kernels: a layer takes at least its launches
    double step_s = 0;    // per step: data, clipping, logging, seconds
    double error = 0;     // median relative error of the fit: the range shown with a figure
    bool operator==(const Efficiency&) const = default;
};

// Holds the JSON key of each: one table for reading, writing, the window's sliders and the fit.
struct EfficiencyKey {
    std::string_view key;
    double Efficiency::*member;
};
inline constexpr std::array<EfficiencyKey, 14> kEfficiencyKeys{{
    {"gemm", &Efficiency::gemm},
    {"gemm_fp8", &Efficiency::gemm_fp8},
    {"gemm_fp4", &Efficiency::gemm_fp4},
    {"grouped", &Efficiency::grouped},
    {"attention", &Efficiency::attention},
    {"hbm", &Efficiency::hbm},
    {"fast_link", &Efficiency::fast_link},
    {"slow_link", &Efficiency::slow_link},
    {"all_to_all", &Efficiency::all_to_all},
    {"overlap", &Efficiency::overlap},
    {"kernel_s", &Efficiency::kernel_s},
    {"launch_s", &Efficiency::launch_s},
    {"step_s", &Efficiency::step_s},
    {"error", &Efficiency::error},
}};

struct Gpu {
    std::string id;  // empty when inline
    std::string name;
    double hbm_bytes = 0;
    double hbm_bytes_per_s = 0;
    double host_bytes_per_s = 0;  // copies to host memory, and from it; 0: not known
    Flops flops;
    // Products of fp8 take operands of any layout, so that no transposed copy of a weight is kept
    // (TransformerEngine, is_non_tn_fp8_gemm_supported: compute capability 10).
    bool fp8_any_layout = false;
    Efficiency efficiency;
    bool operator==(const Gpu&) const = default;
};

// This is one level of the fabric. Ranks fill domains in order: rank r lies in domain r / domain of each
// tier.
struct Tier {
    std::string name;  // "NVLink", "InfiniBand", "spine"
    LinkKind kind = LinkKind::nvlink;
    std::int64_t domain = 0;      // GPUs it spans; 0, the last tier's: the whole cluster (domain_of)
    double bytes_per_s = 0;       // per GPU, one direction
    double latency_s = 0;         // per message
    double oversubscription = 1;  // traffic that crosses this tier gets bytes_per_s divided by this
    std::int64_t nics = 0;        // of one domain of the first tier, onto this tier; 0: one for each GPU
    bool in_network_reduction = false;  // switches add up on the way (SHARP): an all-reduce sends once
    std::string torus{};  // "16x16": each GPU is joined to its neighbours; empty: any pair is (torus_sizes)
    bool operator==(const Tier&) const = default;
};

// Describes own runs that a cluster's constants were fitted to (core/runs/calibrate.h).
struct Calibration {
    std::int64_t runs = 0;
    // Half of them, each left out in its turn, lie within a factor of 1 + error, nine of ten within 1 +
    // error_90.
    double error = 0, error_90 = 0;
    std::string from;  // their files
    bool operator==(const Calibration&) const = default;
};

struct Cluster {
    std::string name;
    std::int64_t gpus = 0;
    Gpu gpu;
    std::vector<Tier> tiers;  // fastest first
    // These are for cost and goodput; 0 and empty where not known. They are never part of a layout's figures.
    double price_per_gpu_hour = 0;
    std::string currency;  // "USD"
    double gpu_watts = 0;
    double pue = 0;  // power of the whole site / power of the machines
    double failures_per_gpu_day = 0;
    std::optional<Calibration> calibration;
    bool operator==(const Cluster&) const = default;
};

// Returns the GPUs that a domain of this tier spans.
[[nodiscard]] inline std::int64_t domain_of(const Cluster& cluster, std::size_t tier) {
    const std::int64_t own = cluster.tiers[tier].domain;
    return own > 0 ? own : cluster.gpus;
}

// Returns how many GPUs of a fast domain share one of its NICs. Ranks next to each other share one.
[[nodiscard]] inline double gpus_per_nic(const Cluster& cluster) {
    if (cluster.tiers.size() < 2 || cluster.tiers[1].nics <= 0) return 1;
    return std::max(1.0,
                    static_cast<double>(domain_of(cluster, 0)) / static_cast<double>(cluster.tiers[1].nics));
}

// ---- layout -------------------------------------------------------------------------------------------

enum class Axis : std::uint8_t { tp, cp, ep, dp_shard, dp_replicate, pp };
inline constexpr int kAxisCount = 6;
template <>
inline constexpr std::size_t kEnumCount<Axis> = kAxisCount;

enum class Schedule : std::uint8_t {
    gpipe,
    one_f_one_b,
    interleaved,
    zb_h1,
    zb_h2,
    zb_v,
    dualpipe,
    dualpipev,
    looped_bfs
};
inline constexpr int kScheduleCount = 9;
template <>
inline constexpr std::size_t kEnumCount<Schedule> = kScheduleCount;
// With ulysses_ring, Ulysses is inside groups of cp_inner ranks, a ring between them (Megatron's a2a+p2p).
enum class CpComm : std::uint8_t { ring, allgather, ulysses, ulysses_ring };
// Says how tokens find their experts. alltoall sends a copy for each expert; allgather sends every token to
// every rank; deepep and hybridep send once to each node and rank that holds one of its experts.
enum class EpComm : std::uint8_t { alltoall, allgather, deepep, hybridep };
// ZeRO-3 lets gathered weights go after the forward pass, or keeps them. With by_software the plan does not
// say (sequence.h then decides; the same below).
enum class Reshard : std::uint8_t { by_software, after_forward, never };
// Says when gradients are reduced over the data-parallel ranks. A run is the work of a chunk in a row before
// another chunk of the GPU has its turn.
enum class GradientReduction : std::uint8_t { by_software, micro_batch, run, step };

struct Layout {
    // Has the innermost (fastest-varying rank) first; it is a permutation of the six axes.
    std::array<Axis, kAxisCount> order{Axis::tp,       Axis::cp,           Axis::ep,
                                       Axis::dp_shard, Axis::dp_replicate, Axis::pp};
    std::int64_t tp = 1;
    bool sequence_parallel = true;
    std::int64_t cp = 1;
    CpComm cp_comm = CpComm::ring;
    std::int64_t pp = 1;
    std::int64_t virtual_stages = 1;
    Schedule schedule = Schedule::one_f_one_b;
    std::optional<std::int64_t> microbatch_group;  // interleaved only; default pp
    std::vector<std::int64_t> stage_layers;  // layers of each of pp * virtual_stages chunks; empty: even
    std::int64_t ep = 1;
    std::optional<std::int64_t> etp;  // default tp, as in Megatron
    std::int64_t dp_shard = 1;
    std::optional<std::int64_t> dp_replicate;  // left out: what is left of the cluster
    int zero = 1;                              // 0 DDP, 1 optimizer, 2 + gradients, 3 + parameters (FSDP)
    std::optional<std::int64_t> cp_inner;      // ulysses_ring only: ranks of its inner groups
    std::optional<std::int64_t> mtp_chunk;     // the chunk with the prediction layers; default the last
    EpComm ep_comm = EpComm::alltoall;
    GradientReduction gradient_reduction = GradientReduction::by_software;
    Reshard reshard = Reshard::by_software;
    std::optional<std::int64_t> weight_shards;  // of each weight in addition to tp (Megatron's gtp); default
                                                // 1
    bool operator==(const Layout&) const = default;
};

// ---- the plan -----------------------------------------------------------------------------------------

// Says where a model or cluster came from, so that writing gives back the text that was read: a preset's id,
// and the JSON pointers (relative, "/gpus") of the fields that the plan itself states over it. With an empty
// preset all is inline.
struct Source {
    std::string preset;
    std::vector<std::string> overrides;  // in any order
    bool operator==(const Source& other) const {
        return preset == other.preset
               && std::is_permutation(overrides.begin(), overrides.end(), other.overrides.begin(),
                                      other.overrides.end());
    }
};

// Says how a file or a picture opens. Figures never depend on it.
struct SavedScene {
    std::string view;       // a view's name
    std::string axis;       // "tp"
    std::string selection;  // the selection, in the words of the window
    double cursor = 0;      // of the timeline, seconds
    std::int64_t page = 0;
    bool operator==(const SavedScene&) const = default;
};

// Holds what the author of a plan says in its review, in their own words. Figures never depend on it.
struct AuthorWords {
    std::string decision, alternatives, owner, risks, open_questions;
    bool operator==(const AuthorWords&) const = default;
};

struct Plan {
    std::string name;
    std::string notes;
    AuthorWords review;
    Model model;
    Source model_source;
    Cluster cluster;
    Source cluster_source;
    Layout layout;
    Training training;
    SavedScene scene;
    bool operator==(const Plan&) const = default;
};

[[nodiscard]] inline std::int64_t factor_of(const Layout& l, Axis a) {
    switch (a) {
    case Axis::tp: return l.tp;
    case Axis::cp: return l.cp;
    case Axis::ep: return l.ep;
    case Axis::dp_shard: return l.dp_shard;
    case Axis::dp_replicate: return l.dp_replicate.value_or(1);
    case Axis::pp: return l.pp;
    }
    return 1;
}

}  // namespace pentamesh
