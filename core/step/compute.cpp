#include "core/step/compute.h"

#include "core/layer/kernel_costs.h"
#include "core/model/model.h"
#include "core/model/model_tensors.h"
#include "core/plan/software.h"

#include <algorithm>
#include <bit>

namespace pentamesh {
namespace {

// These are the host's launches for a layer's forward, small kernels and views included: a dense layer has
// about 30; the router, its loss and the bookkeeping of dispatch about 60 more; each local expert its own
// products. A layer that is only a mixer or an MLP takes half of a dense layer's.
constexpr double kDenseLaunches = 30, kMoeLaunches = 60, kExpertLaunches = 2;

constexpr double kLossForward = 14, kLossBackward = 8;  // fp32 softmax over 16-bit logits

// Returns the share of its rate that an attention core of this head width reaches. A narrow head leaves
// matrix units idle while the softmax runs: d / (d + 64), 1 at the usual 128 (Shah et al. 2024, figures 5 and
// 6).
double width_factor(double d) {
    constexpr double kHalf = 64, kUsual = 128;
    return d / (d + kHalf) * (kUsual + kHalf) / kUsual;
}

double launches_of(const Plan& plan, const LayerType& type) {
    const double parts = (type.mixer != MixerKind::none ? 1 : 0) + (type.ffn != LayerFfn::none ? 1 : 0);
    double launches = kDenseLaunches * parts / 2;
    if (type.is_moe() && plan.model.moe) {
        const double ep = number(std::max<std::int64_t>(plan.layout.ep, 1));
        launches += kMoeLaunches + std::max(number(plan.model.moe->experts) / ep, 1.0) * kExpertLaunches;
    }
    return launches;
}

}  // namespace

KernelTimer::KernelTimer(const Plan& plan)
    : t_(plan.training), r_(find_rates(plan)), gradient_(2 * bytes_of(plan.training.gradients)) {}

PassTime KernelTimer::time(const LayerKernel& k) const {
    PassTime t = element_wise(k.launch_only ? 0 : k.bytes, k.kernels);
    switch (k.rate) {
    case LayerRate::none: break;
    case LayerRate::linear: t += linear(k, 1); break;
    case LayerRate::grouped: t += linear(k, r_.grouped); break;
    case LayerRate::wide: t += wide({k.m, k.in, k.out, k.groups}, 1); break;
    case LayerRate::core: t += core(k); break;
    case LayerRate::scan: t += {k.flops / r_.attention, k.flops / r_.attention * kFlashBackward, 0}; break;
    }
    return t;
}

PassTime KernelTimer::bytes(const LayerKernel& k) const {
    PassTime b{k.bytes, k.bytes * kBackwardFactor, 0};
    if (k.rate != LayerRate::linear && k.rate != LayerRate::grouped && k.rate != LayerRate::wide) return b;
    const double operand = k.rate == LayerRate::wide ? kTwo : r_.operand;
    const double x = k.m * k.in, w = k.in * k.out, y = k.m * k.out;
    b += PassTime{x + w, y + w, x + y} * (operand * k.groups);
    b += {k.groups * y * kTwo, k.groups * x * kTwo, k.groups * w * gradient_};
    return b;
}

// Times a linear layer: its input gradient is the same product transposed, its weight gradient adds into the
// gradient buffer.
PassTime KernelTimer::linear(const LayerKernel& k, double factor) const {
    const double rate = r_.linear * factor * line_share(k.in, k.out, r_.operand);
    const double casts = r_.cast_bytes * k.groups * k.m / r_.hbm;
    PassTime t = passes({k.m, k.in, k.out, k.groups}, rate, r_.operand);
    if (k.casts_input) t.forward += casts * k.in;
    if (k.casts_gradient) t.input_grad += casts * k.out;
    return t;
}

PassTime KernelTimer::wide(const Product& p, double share) const {
    return passes(p, r_.wide * share, kTwo);
}

PassTime KernelTimer::passes(const Product& p, double rate, double operand) const {
    return {product_time(r_, p, rate, operand, kTwo),
            product_time(r_, {p.m, p.out, p.in, p.groups}, rate, operand, kTwo),
            product_time(r_, {p.in, p.m, p.out, p.groups}, rate, operand, gradient_)};
}

PassTime KernelTimer::element_wise(double bytes, double kernels) const {
    const double t = bytes * r_.element_wise / r_.hbm;
    return {t + kernels * r_.kernel_s, t * kBackwardFactor + kernels * kBackwardKernels * r_.kernel_s, 0};
}

// Without a fused kernel, scores are written out and read again, the whole square: Megatron-LM before
// FlashAttention.
PassTime KernelTimer::core(const LayerKernel& k) const {
    if (t_.attention != AttentionImpl::math) {
        const double t = k.flops / (k.in > 0 ? r_.attention * width_factor(k.in) : r_.attention);
        return {t, t * kFlashBackward, 0};
    }
    const double context = number(t_.sequence_length), scores = k.groups * k.m * context;
    const double drop = t_.dropout ? kDropoutBytes : 0;
    const double rate = r_.wide * line_share(k.in, k.out, kTwo);
    const double products = product_time(r_, {k.m, k.in, context, k.groups}, rate, kTwo, kTwo)
                            + product_time(r_, {k.m, context, k.out, k.groups}, rate, kTwo, kTwo);
    return {products + scores * (kSoftmaxBytes + drop) / r_.hbm,
            2 * products + scores * (kSoftmaxBytes + kTwo + drop) / r_.hbm, 0};
}

namespace {

LayerTime time_layer(const Plan& plan, const LayerType& type, const KernelList& kernels,
                     const KernelTimer& timer) {
    LayerTime t;
    for (const LayerKernel& k : kernels) {
        const PassTime own = timer.time(k);
        for (unsigned bits = k.modules.bits; bits != 0; bits &= bits - 1)
            t.module[static_cast<RecomputeModule>(std::countr_zero(bits))] += own.forward;
        if (k.fused) continue;
        (k.part == LayerPart::mixer || k.on_stream ? t.mixer : t.mlp) += own;
        if (k.rate == LayerRate::core) t.attention += own;
        if (k.rate == LayerRate::core || k.rate == LayerRate::scan) t.mixing += own.total();
        if (k.rate == LayerRate::none) t.moving += own.total();
    }
    t.all = t.mixer;
    t.all += t.mlp;
    t.launches = launches_of(plan, type);
    return t;
}

void time_ends(const Plan& plan, const Degrees& d, const KernelTimer& timer, LayerTimes& out) {
    const Training& t = plan.training;
    const double hidden = number(plan.model.hidden),
                 tokens = number(t.micro_batch) * number(t.sequence_length) / number(d.cp);
    const double outer = d.sequence_parallel ? tokens / number(d.tp) : tokens;
    const auto vocab = number(local_vocab(plan.model.vocab, d.vocab_multiple, d.tp));
    const Rates& r = timer.rates();
    out.embedding = timer.element_wise(tokens * hidden * kNormBytes, 1);
    out.head = timer.wide({tokens, hidden, vocab}, line_share(hidden, vocab, kTwo));
    PassTime moving = timer.element_wise(outer * hidden * kNormBytes, 1);
    moving += {tokens * vocab * kLossForward / r.hbm, tokens * vocab * kLossBackward / r.hbm, 0};
    out.head += moving;
    out.head_moving = moving.total();
    out.mtp =
        timer.time({.rate = LayerRate::linear, .m = tokens, .in = 2 * hidden, .out = hidden / number(d.tp)});
}

// Returns the HBM bytes of an optimizer step, by one number of each class. The gradient is read twice, once
// for its norm. States and master copy are read and written. The parameter is written, and read where no
// master copy is kept.
StateBytes optimizer_traffic(const Plan& plan) {
    const Training& t = plan.training;
    const StateBytes states = optimizer_bytes(t), master = master_bytes(t), parameter = parameter_bytes(plan);
    const auto moved = [&](double state, double copy, double own) {
        return 2 * bytes_of(t.gradients) + 2 * state + (copy > 0 ? 1 : 2) * own;
    };
    return {moved(states.linear, master.linear, parameter.linear),
            moved(states.router, master.router, parameter.router),
            moved(states.other, master.other, parameter.other)};
}

}  // namespace

LayerTimes time_layers(const Plan& plan, const Degrees& degrees, const LayerTypes& types,
                       const PartsByType& parts) {
    LayerTimes t;
    const KernelTimer timer(plan);
    for (int k = 0; k < types.size(); ++k)
        t.layer.push_back(time_layer(plan, types[k], parts[k].kernels, timer));
    time_ends(plan, degrees, timer, t);
    return t;
}

double once_a_step(const Plan& plan) {
    const SoftwareFacts& software = facts_of(plan.training.software);
    const bool graph = plan.training.cuda_graphs == CudaGraphs::iteration;
    return plan.cluster.gpu.efficiency.step_s * (graph ? software.graphs_step : 1) + software.step_s;
}

double launch_time(const Plan& plan) {
    const SoftwareFacts& software = facts_of(plan.training.software);
    const double each = plan.cluster.gpu.efficiency.launch_s * software.launches;
    switch (plan.training.cuda_graphs) {
    case CudaGraphs::none: break;
    case CudaGraphs::layers: return each * software.graphs_layers;
    case CudaGraphs::iteration: return 0;
    }
    return each;
}

double optimizer_time(const Plan& plan, const StageNumbers& numbers, const StateShards& shards) {
    const StateBytes bytes = optimizer_traffic(plan);
    const double moved = bytes.of(numbers.dense) / static_cast<double>(shards.optimizer[0])
                         + bytes.of(numbers.experts) / static_cast<double>(shards.optimizer[1]);
    return moved / (plan.cluster.gpu.hbm_bytes_per_s * plan.cluster.gpu.efficiency.hbm);
}

}  // namespace pentamesh
