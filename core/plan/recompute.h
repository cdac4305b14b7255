// Says what is recomputed in the backward pass instead of kept: whole layers, or modules of them as Megatron
// names them (megatron/core/transformer/transformer_config.py, recompute_modules).
#pragma once

#include "core/base/enum_array.h"

#include <cstdint>
#include <string>

namespace pentamesh {

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

}  // namespace pentamesh
