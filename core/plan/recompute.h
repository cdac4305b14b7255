// What is computed again in the backward pass instead of kept? Whole layers, or modules of them as Megatron
// names them (megatron/core/transformer/transformer_config.py, recompute_modules).
#pragma once

#include "core/base/enum_array.h"

#include <cstdint>
#include <string>

namespace pentamesh {

enum class Recompute : std::uint8_t { none, selective, full };

// core_attn: scores and softmax; layernorm: outputs of norms that stand alone (before MLA's latents, before a
// MoE layer; elsewhere a norm is fused into the product behind it); moe_act: the experts' activation;
// mla_up_proj: queries, keys and values out of the latents; mlp: the dense MLP; moe: a MoE layer with its way
// to the experts and back; shared_experts: those alone.
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

// block: the first `layers` layers of each chunk are recomputed, one by one. uniform: all of them, in units
// of `layers` that keep the input of their first layer alone.
enum class RecomputeMethod : std::uint8_t { block, uniform };

// In one of these forms, so that equal choices are equal values: none; selective with modules; full. `layers`
// 0: every layer. A plain word stands for the usual choice: selective is the attention core.
struct RecomputeChoice {
    Recompute kind = Recompute::none;
    RecomputeModules modules;  // of selective
    std::int64_t layers = 0;
    RecomputeMethod method = RecomputeMethod::block;

    constexpr RecomputeChoice() = default;
    constexpr RecomputeChoice(Recompute k) : kind(k) {  // NOLINT(google-explicit-constructor): plans say so
        if (k == Recompute::selective) modules = RecomputeModules(RecomputeModule::core_attn);
    }
    // Modules, none of them: whole layers. No modules and no number of layers: nothing.
    constexpr RecomputeChoice(RecomputeModules m, std::int64_t n, RecomputeMethod how)
        : kind(!m.empty() ? Recompute::selective
               : n > 0    ? Recompute::full
                          : Recompute::none),
          modules(m), layers(n), method(n > 0 ? how : RecomputeMethod::block) {
        // A unit of one layer keeps each layer's input: the same as whole layers, one by one.
        if (method == RecomputeMethod::uniform && n == 1) layers = 0, method = RecomputeMethod::block;
    }

    [[nodiscard]] constexpr bool any() const { return kind != Recompute::none; }
    [[nodiscard]] constexpr bool whole_layers() const { return kind == Recompute::full; }
    [[nodiscard]] constexpr bool makes(RecomputeModule m) const {
        return kind == Recompute::full || (kind == Recompute::selective && modules.has(m));
    }
    // Only some layers of a chunk.
    [[nodiscard]] constexpr bool some_layers() const {
        return any() && layers > 0 && method == RecomputeMethod::block;
    }
    // Layers of a unit that keeps one input.
    [[nodiscard]] constexpr std::int64_t unit() const {
        return whole_layers() && method == RecomputeMethod::uniform ? layers : 1;
    }
    // Said by one of the three words.
    [[nodiscard]] constexpr bool is_plain() const {
        return layers == 0
               && (kind != Recompute::selective || modules == RecomputeModules(RecomputeModule::core_attn));
    }
    bool operator==(const RecomputeChoice&) const = default;
};
// "none", "selective", "full", "mla_up_proj, mlp", "full, 4 layers a chunk", "full, in units of 2 layers".
[[nodiscard]] std::string words_of(const RecomputeChoice& choice);

}  // namespace pentamesh
