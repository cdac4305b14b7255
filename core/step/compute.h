// Finds how long a layer computes: every matrix product by a roofline, everything else by the bytes it moves.
// docs/step.md has the model, its constants and its limits.
#pragma once

#include "core/layer/parts.h"
#include "core/memory/memory_parts.h"
#include "core/pipeline/stages.h"
#include "core/plan/plan.h"
#include "core/step/rates.h"

#include <cstdint>

namespace pentamesh {

// Holds seconds of one micro-batch on one rank. The whole backward is input_grad + weight_grad.
struct PassTime {
    double forward = 0, input_grad = 0, weight_grad = 0;
    PassTime& operator+=(const PassTime& o) {
        forward += o.forward, input_grad += o.input_grad, weight_grad += o.weight_grad;
        return *this;
    }
    [[nodiscard]] double total() const { return forward + input_grad + weight_grad; }
    bool operator==(const PassTime&) const = default;
};
[[nodiscard]] inline PassTime operator*(PassTime p, double k) {
    return {p.forward * k, p.input_grad * k, p.weight_grad * k};
}

// Holds the forward seconds of each module that may be recomputed, in one layer.
using ModuleTimes = EnumArray<RecomputeModule, double>;

// This is one layer of a type. `attention` is the attention core, part of `mixer`; `mlp` is dense MLP and
// experts.
struct LayerTime {
    PassTime all, attention, mixer, mlp;
    ModuleTimes module{};
    double launches = 0;  // of the forward; the backward has twice as many
    // Seconds of `all`, forward and backward: cores and scans; kernels that only move bytes; waiting for the
    // host.
    double mixing = 0, moving = 0, waiting = 0;
    bool operator==(const LayerTime&) const = default;
};
struct LayerTimes {
    PerType<LayerTime> layer;       // by type (layer_types.h)
    PassTime embedding, head, mtp;  // head with the loss; mtp in addition to its layer and head
    double head_moving = 0;         // of `head`: its norm and the loss, forward and backward
    [[nodiscard]] const LayerTime& of(int type) const { return layer[type]; }
    bool operator==(const LayerTimes&) const = default;
};
inline constexpr double kBackwardLaunches = 2;
// `types` are those of the plan's model.
[[nodiscard]] LayerTimes time_layers(const Plan& plan, const Degrees& degrees, const LayerTypes& types,
                                     const PartsByType& parts);

// Times kernels of a layer, forward and backward: with the plan's types and its software on its GPU.
class KernelTimer {
  public:
    explicit KernelTimer(const Plan& plan);

    [[nodiscard]] PassTime time(const LayerKernel& kernel) const;
    // Returns the bytes of HBM that each pass moves, but for those of an attention core.
    [[nodiscard]] PassTime bytes(const LayerKernel& kernel) const;
    // Times a product that stays in 16 bits, at a share of its rate.
    [[nodiscard]] PassTime wide(const Product& product, double share) const;
    [[nodiscard]] PassTime element_wise(double bytes, double kernels) const;
    [[nodiscard]] const Rates& rates() const { return r_; }

  private:
    [[nodiscard]] PassTime linear(const LayerKernel& kernel, double factor) const;
    [[nodiscard]] PassTime passes(const Product& product, double rate, double operand) const;
    [[nodiscard]] PassTime core(const LayerKernel& kernel) const;

    const Training& t_;
    Rates r_;
    double gradient_;  // bytes to add to a number of the gradients' buffer
};

// Counts the FLOPs of the model's products for one sequence, forward: MFU's numerator is 3 x layers + head.
// Causal attention is not halved (Chowdhery et al. 2022, appendix B).
struct ForwardFlops {
    double layers = 0;     // with attention cores, scans and mtp layers
    double attention = 0;  // attention cores, part of `layers`
    double masked = 0;     // their part that a causal mask leaves out
    double scans = 0;      // part of `layers`
    double head = 0;       // with those of mtp
};
[[nodiscard]] ForwardFlops forward_flops(const Model& model, const LayerTypes& types,
                                         const LayerCounts& counts, std::int64_t sequence_length);
[[nodiscard]] ForwardFlops forward_flops(const Model& model, std::int64_t sequence_length);

// Returns the seconds that a step takes in addition to its compute: the GPU's and the software's.
[[nodiscard]] double once_a_step(const Plan& plan);
// Host seconds of one of a layer's launches. Those inside a graph of the whole iteration take none: what a
// kernel's start costs on the device is kernel_s.
[[nodiscard]] double launch_time(const Plan& plan);
// Returns the seconds to update a rank's part of these numbers, cut into the optimizer's shards.
[[nodiscard]] double optimizer_time(const Plan& plan, const StageNumbers& numbers, const StateShards& shards);

}  // namespace pentamesh
