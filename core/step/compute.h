// Finds the rates that a GPU reaches with a plan's types and software, and the seconds of one matrix product.
#pragma once

#include "core/layer/layer.h"
#include "core/layer/parts.h"
#include "core/memory/memory.h"
#include "core/pipeline/stages.h"
#include "core/plan/plan.h"

#include <cstdint>

namespace pentamesh {

// Holds FLOP/s and bytes/s that this GPU reaches with the plan's types, and bytes of a product's operands.
struct Rates {
    double linear = 0;     // products of linear layers, in the compute type
    double wide = 0;       // products that stay in 16 bits: head, router, attention
    double attention = 0;  // fused attention core
    double hbm = 0;
    double kernel_s = 0;
    double element_wise = 1;  // passes over memory, over those of fused kernels
    double grouped = 1;       // factor on `linear` for the experts' grouped products
    double operand = 2;       // bytes of an operand of a linear layer
    double cast_bytes = 0;    // HBM bytes to bring one number of an activation into that type, both ways up
    double peak = 0;          // dense peak of the compute type: what MFU is measured against
};
[[nodiscard]] Rates find_rates(const Plan& plan);

// Describes a product of m tokens, `in` inputs, `out` outputs, `groups` times side by side. product_time
// returns its seconds: 2 m in out / rate + bytes / HBM + launch. The two terms add, so that a thin product is
// slow without a constant of its own.
struct Product {
    double m = 0, in = 0, out = 0, groups = 1;
};
[[nodiscard]] double product_time(const Rates& r, const Product& p, double rate, double operand,
                                  double result_bytes);

// Returns the share of its rate that a product reaches with a matrix of so many numbers, of so many bytes, in
// and out: less than 1 where the rows of one are no whole cache lines of 128 bytes, since its tiles then
// begin within a line. It is fitted to runs of width 14400 over tp 8 (1800 and 7200 columns) compared with
// widths 13824 and 14336, BigScience on A100 (docs/accuracy.md).
[[nodiscard]] double line_share(double in, double out, double bytes);

// Finds how long a layer computes: every matrix product by a roofline, everything else by the bytes it moves.
// docs/step.md has the model, its constants and its limits.

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

// Counts what the host launches in a layer's forward: up to its router, and from there on. At a sync the host
// waits until the GPU has done all that was launched, and reads how many tokens each expert gets.
struct LayerLaunches {
    double before = 0, after = 0, syncs = 0;
    [[nodiscard]] double all() const { return before + after; }
    bool operator==(const LayerLaunches&) const = default;
};

// This is one layer of a type. `attention` is the attention core, part of `mixer`; `mlp` is dense MLP and
// experts; `experts` is a part of it, the work on tokens that were sent to them.
struct LayerTime {
    PassTime all, attention, mixer, mlp, experts;
    ModuleTimes module{};
    LayerLaunches launches;         // of the forward; the backward has twice as many, and no sync
    double mixing = 0, moving = 0;  // seconds of `all`: cores and scans; kernels that only move bytes
    PassTime waiting;               // of `all`: for the host
    bool operator==(const LayerTime&) const = default;
};
struct LayerTimes {
    PerType<LayerTime> layer;       // by type (model.h)
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
// Returns the host seconds of one of a layer's launches. Those inside a graph of the whole iteration take
// none: what a kernel's start costs on the device is kernel_s.
[[nodiscard]] double launch_time(const Plan& plan);
// Returns the seconds to update a rank's part of these numbers, cut into the optimizer's shards.
[[nodiscard]] double optimizer_time(const Plan& plan, const StageNumbers& numbers, const StateShards& shards);

// Finds how long each step of a layer takes: the same rates and routes as the time of a whole layer,
// step by step. Waiting for the host's launches belongs to no step (exposure.h).

// Fills bytes_moved and time_s of every step, and the totals. The plan must be that of the list.
void time_layer(const Plan& plan, const Mesh& mesh, const GroupSummaries& groups, LayerList& list);

// Does list_layer with times.
[[nodiscard]] LayerList timed_layer(const Plan& plan, const Mesh& mesh, const GroupSummaries& groups,
                                    int type, std::int64_t rank = 0, std::int64_t most_members = 0);

}  // namespace pentamesh
