// Spells every enumerator exactly as plan files and the command line do: one table for JSON, the command line
// and the window.
#pragma once

#include "core/plan/plan.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace pentamesh {

// Returns what names_of_enum(E) says, next to an enum of an inner namespace; else nothing.
template <typename E>
[[nodiscard]] constexpr auto stated_names() {
    if constexpr (requires { names_of_enum(E{}); })
        return names_of_enum(E{});
    else
        return std::array<std::string_view, 0>{};
}
// It is specialised per enum below: kNames<E>[i] spells the enumerator of value i.
template <typename E>
inline constexpr auto kNames = stated_names<E>();

template <>
inline constexpr std::array<std::string_view, 5> kNames<FfnKind>{"swiglu", "geglu", "gelu", "relu2", "xielu"};
template <>
inline constexpr std::array<std::string_view, 3> kNames<NormKind>{"rmsnorm", "layernorm", "unweighted"};
template <>
inline constexpr std::array<std::string_view, 3> kNames<QkNorm>{"none", "head", "full"};
template <>
inline constexpr std::array<std::string_view, 2> kNames<Positions>{"rope", "learned"};
template <>
inline constexpr std::array<std::string_view, 3> kNames<AttentionKind>{"mha_gqa", "mla", "compressed"};
template <>
inline constexpr std::array<std::string_view, 3> kNames<AttentionGate>{"none", "head", "full"};
template <>
inline constexpr std::array<std::string_view, 5> kNames<MixerKind>{"full", "window", "linear", "mamba",
                                                                   "none"};
template <>
inline constexpr std::array<std::string_view, 3> kNames<LayerFfn>{"dense", "moe", "none"};
template <>
inline constexpr auto kNames<LinearKind> = kLinearKindNames;
template <>
inline constexpr std::array<std::string_view, 5> kNames<LinkKind>{"nvlink", "pcie", "ib", "roce", "ici"};
template <>
inline constexpr std::array<std::string_view, 6> kNames<Axis>{"tp",       "cp",           "ep",
                                                              "dp_shard", "dp_replicate", "pp"};
template <>
inline constexpr std::array<std::string_view, 9> kNames<Schedule>{
    "gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zb-v", "dualpipe", "dualpipev", "looped-bfs"};
template <>
inline constexpr std::array<std::string_view, 4> kNames<CpComm>{"ring", "allgather", "ulysses",
                                                                "ulysses+ring"};
template <>
inline constexpr std::array<std::string_view, 4> kNames<EpComm>{"alltoall", "allgather", "deepep",
                                                                "hybridep"};
template <>
inline constexpr std::array<std::string_view, 3> kNames<Reshard>{"by_software", "after_forward", "never"};
template <>
inline constexpr std::array<std::string_view, 4> kNames<GradientReduction>{"by_software", "micro_batch",
                                                                           "run", "step"};
template <>
inline constexpr std::array<std::string_view, 6> kNames<Dtype>{"fp32", "tf32", "bf16", "fp16", "fp8", "fp4"};
template <>
inline constexpr std::array<std::string_view, 4> kNames<Optimizer>{"adamw", "adamw-8bit", "sgd-momentum",
                                                                   "muon"};
template <>
inline constexpr std::array<std::string_view, 2> kNames<AttentionImpl>{"flash", "math"};
template <>
inline constexpr std::array<std::string_view, 3> kNames<Recompute>{"none", "selective", "full"};
template <>
inline constexpr std::array<std::string_view, 7> kNames<RecomputeModule>{
    "core_attn", "layernorm", "moe_act", "mla_up_proj", "mlp", "moe", "shared_experts"};
template <>
inline constexpr std::array<std::string_view, 2> kNames<RecomputeMethod>{"block", "uniform"};
template <>
inline constexpr std::array<std::string_view, 10> kNames<Software>{
    "megatron", "megatron-bridge", "torchtitan", "deepspeed",       "fsdp",
    "nanotron", "maxtext",         "automodel",  "torchtitan-2024", "megatron-bridge-2025"};
template <>
inline constexpr std::array<std::string_view, 4> kNames<Fp8Recipe>{"tensorwise", "rowwise", "blockwise",
                                                                   "mxfp8"};
template <>
inline constexpr std::array<std::string_view, 3> kNames<CudaGraphs>{"none", "layers", "iteration"};
template <>
inline constexpr std::array<std::string_view, 3> kNames<RoutingSizes>{"by_software", "host", "device"};
template <>
inline constexpr std::array<std::string_view, 5> kNames<LossKernel>{"by_software", "eager", "fp32",
                                                                    "in_place", "chunked"};
static_assert(kNames<LossKernel>.size() == static_cast<std::size_t>(LossKernel::chunked) + 1);
template <>
inline constexpr std::array<std::string_view, 3> kNames<MasterWeights>{"none", "bf16", "fp32"};

template <typename E>
[[nodiscard]] constexpr std::string_view name_of(E e) {
    return kNames<E>[static_cast<std::size_t>(e)];
}

template <typename E>
[[nodiscard]] constexpr std::optional<E> parse_name(std::string_view text) {
    for (std::size_t i = 0; i < kNames<E>.size(); ++i)
        if (kNames<E>[i] == text) return static_cast<E>(i);
    return std::nullopt;
}

// Makes the title of a plan: its own, or one made of its fields. A title that names a changed value is
// dropped, so that no wrong one stays over another plan.

// Returns "Llama 3 70B"; "Llama 3 70B, edited" where fields of the preset were changed and no name was given.
[[nodiscard]] std::string model_name_of(const Plan& plan);
// Returns the plan's own title; without one "Qwen3 32B, 512 H200, tp 4 pp 2".
[[nodiscard]] std::string title_of(const Plan& plan);
// Returns "H200" for "NVIDIA H200 141GB SXM": the first word with a digit, else the whole name.
[[nodiscard]] std::string short_name(const Gpu& gpu);

// Returns `after` as it came from `before` by an edit, without a title that no longer holds: another model is
// another job; a title that names the GPU, a number of GPUs, a factor, ZeRO or the context goes when that
// changed. A title that the edit itself set stays, and so do notes (with_true_words in core/io/presets.h).
[[nodiscard]] Plan with_true_title(const Plan& before, Plan after);
// Returns true if words about `before` name what is another in `after`: the GPU, a number of GPUs, a factor,
// ZeRO, how far it shards, or the context.
[[nodiscard]] bool name_what_changed(std::string_view words, const Plan& before, const Plan& after);
// Returns "The title "Two nodes" no longer holds and is gone" where an edit took it, and says so of its notes
// where it took them too; else an empty text.
[[nodiscard]] std::string lost_words_text(const Plan& before, const Plan& after);

}  // namespace pentamesh
