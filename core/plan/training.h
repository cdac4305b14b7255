// The training settings of a plan: types, batch, recomputation, overlap, offload, software.
#pragma once

#include "core/base/containers.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace pentamesh {

// Says what is recomputed in the backward pass instead of kept: whole layers, or modules of them as Megatron
// names them (megatron/core/transformer/transformer_config.py, recompute_modules).
enum class Recompute : std::uint8_t { none, selective, full };

// core_attn is scores and softmax; layernorm is the outputs of norms that are kernels of their own (before
// MLA's latents, before a MoE layer; elsewhere a norm is fused into the product after it); moe_act is the
// experts' activation; mla_up_proj is queries, keys and values out of the latents; mlp is the dense MLP; moe
// is a MoE layer with its way to the experts and back; shared_experts is only those.
enum class RecomputeModule : std::uint8_t {
    core_attn,
    layernorm,
    moe_act,
    mla_up_proj,
    mlp,
    moe,
    shared_experts
};
template <>
inline constexpr std::size_t kEnumCount<RecomputeModule> = 7;

struct RecomputeModules {
    std::uint8_t bits = 0;
    constexpr RecomputeModules() = default;
    template <typename... More>
    explicit constexpr RecomputeModules(RecomputeModule first, More... more) {
        add(first);
        (add(more), ...);
    }
    constexpr void add(RecomputeModule m) {
        bits = static_cast<std::uint8_t>(bits | (1U << static_cast<unsigned>(m)));
    }
    [[nodiscard]] constexpr bool has(RecomputeModule m) const {
        return (bits >> static_cast<unsigned>(m) & 1U) != 0;
    }
    [[nodiscard]] constexpr bool any_of(RecomputeModules other) const { return (bits & other.bits) != 0; }
    [[nodiscard]] constexpr bool empty() const { return bits == 0; }
    bool operator==(const RecomputeModules&) const = default;
};

// block recomputes the first `layers` layers of each chunk, one by one. uniform recomputes all of them, in
// units of `layers` that keep only the input of their first layer.
enum class RecomputeMethod : std::uint8_t { block, uniform };

// It has one of these forms, so that equal choices are equal values: none; selective with modules; full.
// `layers` is 0 for every layer. A plain word stands for the usual choice: selective is the attention core.
struct RecomputeChoice {
    Recompute kind = Recompute::none;
    RecomputeModules modules;  // of selective
    std::int64_t layers = 0;
    RecomputeMethod method = RecomputeMethod::block;

    constexpr RecomputeChoice() = default;
    constexpr RecomputeChoice(Recompute k) : kind(k) {  // NOLINT(google-explicit-constructor): plans say so
        if (k == Recompute::selective) modules = RecomputeModules(RecomputeModule::core_attn);
    }
    // Without modules, whole layers are recomputed. Without modules and a number of layers, nothing is.
    constexpr RecomputeChoice(RecomputeModules m, std::int64_t n, RecomputeMethod how)
        : kind(!m.empty() ? Recompute::selective
               : n > 0    ? Recompute::full
                          : Recompute::none),
          modules(m), layers(n), method(n > 0 ? how : RecomputeMethod::block) {
        // A unit of one layer keeps each layer's input: that is the same as whole layers, one by one.
        if (method == RecomputeMethod::uniform && n == 1) layers = 0, method = RecomputeMethod::block;
    }

    [[nodiscard]] constexpr bool any() const { return kind != Recompute::none; }
    [[nodiscard]] constexpr bool whole_layers() const { return kind == Recompute::full; }
    [[nodiscard]] constexpr bool makes(RecomputeModule m) const {
        return kind == Recompute::full || (kind == Recompute::selective && modules.has(m));
    }
    // Returns true if only some layers of a chunk are recomputed.
    [[nodiscard]] constexpr bool some_layers() const {
        return any() && layers > 0 && method == RecomputeMethod::block;
    }
    // Returns the layers of a unit that keeps one input.
    [[nodiscard]] constexpr std::int64_t unit() const {
        return whole_layers() && method == RecomputeMethod::uniform ? layers : 1;
    }
    // Returns true if one of the three words expresses it.
    [[nodiscard]] constexpr bool is_plain() const {
        return layers == 0
               && (kind != Recompute::selective || modules == RecomputeModules(RecomputeModule::core_attn));
    }
    bool operator==(const RecomputeChoice&) const = default;
};
// Returns "none", "selective", "full", "mla_up_proj, mlp", "full, 4 layers a chunk", "full, in units of 2
// layers".
[[nodiscard]] std::string words_of(const RecomputeChoice& choice);

enum class Dtype : std::uint8_t { fp32, tf32, bf16, fp16, fp8, fp4 };
enum class Optimizer : std::uint8_t { adamw, adamw_8bit, sgd_momentum, muon };
enum class AttentionImpl : std::uint8_t { flash, math };
enum class MasterWeights : std::uint8_t { none, bf16, fp32 };
// Numbers that share a scale where products are in fp8: a tensor (delayed and current scaling), a row, blocks
// of 128 (DeepSeek-AI 2024), blocks of 32 with a scale of 8 bits (OCP Microscaling 1.0).
enum class Fp8Recipe : std::uint8_t { tensorwise, rowwise, blockwise, mxfp8 };
// Says what a CUDA graph captures, which the host then launches as one: nothing; of each layer attention,
// router and what stands before the exchange of tokens; forward and backward of a step.
enum class CudaGraphs : std::uint8_t { none, layers, iteration };
// Says where it is known how many tokens each expert gets. On the host: it waits for the router of every MoE
// layer, and launches nothing meanwhile. On the device: nothing waits, as with a capacity of the experts.
enum class RoutingSizes : std::uint8_t { by_software, host, device };

// Says how the loss is made of the logits, where the plan says another than the software's own: in steps of
// PyTorch; with a copy in fp32, as Megatron's; with the gradient in the logits' place; in parts that are
// never whole.
enum class LossKernel : std::uint8_t { by_software, eager, fp32, in_place, chunked };

struct Overlap {
    bool dp = true, pp = true, cp = true, tp = false, ep = false;
    bool operator==(const Overlap&) const = default;
};

// Says what lies in host memory.
struct Offload {
    std::int64_t activations_layers = 0;   // layers of a GPU, the first ones
    double optimizer = 0, parameters = 0;  // shares
    [[nodiscard]] bool any() const { return activations_layers > 0 || optimizer > 0 || parameters > 0; }
    bool operator==(const Offload&) const = default;
};

// A plan is run with the kernels, buffers, overlap and rules of this software.
enum class Software : std::uint8_t {
    megatron,
    megatron_bridge,
    torchtitan,
    deepspeed,
    fsdp,
    nanotron,
    maxtext,
    automodel,
    torchtitan_2024,      // to the end of that year
    megatron_bridge_2025  // to the containers of that year
};

template <>
inline constexpr std::size_t kEnumCount<Software> = 10;

// Holds the memory of a GPU other than its tensors, where one knows it better than the software's preset
// does. 0 stands for the preset's value.
struct Buffers {
    double communicator_bytes = 0;  // NCCL's, of each process group
    double context_bytes = 0;       // the driver's context and libraries
    double fragmentation = 0;       // share of the allocated bytes that the allocator reserves beyond them
    bool operator==(const Buffers&) const = default;
};

// An axis is costly if a step waits for it for more than this share. The limit is our own: enough to look for
// a better layout, above what a tensor-parallel layer inside a node usually takes.
inline constexpr double kCostlyShare = 0.15;

struct Training {
    std::int64_t sequence_length = 8192;
    std::int64_t micro_batch = 1;
    std::int64_t global_batch = 2048;  // sequences
    Dtype compute = Dtype::bf16;
    Fp8Recipe fp8_recipe = Fp8Recipe::tensorwise;
    Dtype parameters = Dtype::bf16;
    Dtype gradients = Dtype::fp32;
    Optimizer optimizer = Optimizer::adamw;
    Dtype optimizer_state = Dtype::fp32;
    MasterWeights master_weights = MasterWeights::fp32;
    AttentionImpl attention = AttentionImpl::flash;
    RecomputeChoice recompute;
    bool dropout = false;
    CudaGraphs cuda_graphs = CudaGraphs::none;
    bool fused_experts = false;  // activation and casts inside the experts' grouped products
    bool experts_one_by_one =
        false;  // each expert's products are launched by themselves, not as grouped ones
    RoutingSizes routing_sizes = RoutingSizes::by_software;
    LossKernel loss_kernel = LossKernel::by_software;
    double router_imbalance = 1.0;  // load of the busiest expert rank / mean
    Overlap overlap;
    double straggler_cv = 0.0;  // coefficient of variation of per-rank step time
    Software software = Software::megatron;
    Offload offload;
    double tokens_total = 0;  // of the whole training; 0: not known
    double checkpoint_s = 0;  // to write a checkpoint; 0: not known
    Buffers buffers;
    double costly_share =
        0;  // of the step: an axis that it waits longer for is called costly; 0: kCostlyShare
    bool operator==(const Training&) const = default;
};

// Returns the bytes of one number of a type; fp4 is half a byte.
[[nodiscard]] constexpr double bytes_of(Dtype t) {
    switch (t) {
    case Dtype::fp32:
    case Dtype::tf32: return 4;
    case Dtype::bf16:
    case Dtype::fp16: return 2;
    case Dtype::fp8: return 1;
    case Dtype::fp4: return 0.5;
    }
    return 0;
}
[[nodiscard]] constexpr double bytes_of(MasterWeights m) {
    return m == MasterWeights::fp32 ? 4 : m == MasterWeights::bf16 ? 2 : 0;
}

}  // namespace pentamesh
