#include "core/step/compute.h"

#include "core/comm/collective_time.h"
#include "core/layer/parts.h"
#include "core/mesh/mesh.h"
#include "core/model/model.h"
#include "core/model/model_tensors.h"
#include "core/plan/software.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace pentamesh {
namespace {

// Returns the rate of fp8 products over that of products with one scale for a tensor.
double recipe_rate(const SoftwareFacts& software, Fp8Recipe recipe) {
    switch (recipe) {
    case Fp8Recipe::tensorwise: break;
    case Fp8Recipe::rowwise: return software.fp8_rowwise;
    case Fp8Recipe::blockwise: return software.fp8_blockwise;
    case Fp8Recipe::mxfp8: return software.fp8_mxfp8;
    }
    return 1;
}

}  // namespace

Rates find_rates(const Plan& plan) {
    const Gpu& g = plan.cluster.gpu;
    const Efficiency& e = g.efficiency;
    Rates r;
    r.wide = g.flops.bf16 * e.gemm;
    r.attention = g.flops.bf16 * e.attention;
    r.hbm = g.hbm_bytes_per_s * e.hbm;
    r.kernel_s = e.kernel_s;
    const auto grouped_over = [&](double dense) { return dense > 0 ? e.grouped / dense : 0; };
    r.grouped = grouped_over(e.gemm);
    r.peak = g.flops.bf16;
    r.linear = r.wide;
    const auto low = [&](double peak, double share, double bytes) {
        if (peak <= 0) return;  // no such type on this GPU: it runs in 16 bits
        r.peak = peak;
        r.linear = peak * share;
        r.grouped = grouped_over(share);
        r.operand = bytes;
        r.cast_bytes = kTwo + 2 * bytes;  // read, written row-wise and column-wise
    };
    switch (plan.training.compute) {
    case Dtype::fp8: low(g.flops.fp8, e.gemm_fp8, 1); break;
    case Dtype::fp4: low(g.flops.fp4, e.gemm_fp4, 0.5); break;
    case Dtype::fp16: r.peak = g.flops.fp16, r.linear = r.wide = g.flops.fp16 * e.gemm; break;
    case Dtype::fp32:
    case Dtype::tf32:
        r.peak = g.flops.tf32 > 0 ? g.flops.tf32 : g.flops.bf16;
        r.linear = r.wide = r.peak * e.gemm;
        r.operand = 4;
        break;
    case Dtype::bf16: break;
    }
    const SoftwareFacts& software = facts_of(plan.training.software);
    if (plan.training.compute == Dtype::fp8 && g.flops.fp8 > 0)
        r.linear *= recipe_rate(software, plan.training.fp8_recipe);
    const double matured = g.flops.fp4 > 0 ? software.new_gpu_products : 1;
    r.linear *= software.products * matured;
    r.wide *= software.products * matured;
    r.grouped *= software.grouped / matured;
    r.attention *= software.attention;
    r.element_wise = software.element_wise;
    return r;
}

double line_share(double in, double out, double bytes) {
    constexpr std::int64_t kLine = 128;
    constexpr double kOffLines = 0.69;
    constexpr double kMost = 9e18;  // a plan with such widths is refused, and has no line to be off
    const auto off = [&](double numbers) {
        return numbers * bytes < kMost && static_cast<std::int64_t>(numbers * bytes) % kLine != 0;
    };
    return off(in) || off(out) ? kOffLines : 1;
}

double product_time(const Rates& r, const Product& p, double rate, double operand, double result_bytes) {
    const double bytes = (p.m * p.in + p.in * p.out) * operand + p.m * p.out * result_bytes;
    return p.groups * (2 * p.m * p.in * p.out / rate + bytes / r.hbm) + r.kernel_s;
}

namespace {

// These are the host's launches for a layer's forward, small kernels and views included: a dense layer has
// about 30, half of them in its mixer; the router and its loss about 30 more, and the bookkeeping of dispatch
// and combine as many. Each local expert has its two products, since TransformerEngine's grouped product
// launches them in a loop; one by one it has its activation, too (Megatron-LM experts.py, SequentialMLP).
constexpr double kHalfLaunches = 15, kRouterLaunches = 30, kDispatchLaunches = 30, kGroupedLaunches = 2,
                 kExpertLaunches = 3;

constexpr double kLossForward = 14, kLossBackward = 8;  // fp32 softmax over 16-bit logits

// Returns the share of its rate that an attention core of this head width reaches. A narrow head leaves
// matrix units idle while the softmax runs: d / (d + 64), 1 at the usual 128 (Shah et al. 2024, figures 5 and
// 6).
double width_factor(double d) {
    constexpr double kHalf = 64, kUsual = 128;
    return d / (d + kHalf) * (kUsual + kHalf) / kUsual;
}

// Returns how often the host waits for a layer's router. A graph of an iteration holds no such wait, and
// torchtitan's grouped product reads the sizes on the device where no exchange asks for them (moe.py).
double routing_syncs(const Plan& plan) {
    const Training& t = plan.training;
    if (t.routing_sizes == RoutingSizes::device || t.cuda_graphs == CudaGraphs::iteration) return 0;
    if (t.routing_sizes == RoutingSizes::host) return std::max(facts_of(t.software).routing_syncs, 1.0);
    return is_torchtitan(t.software) && plan.layout.ep <= 1 ? 0 : facts_of(t.software).routing_syncs;
}

LayerLaunches launches_of(const Plan& plan, const LayerType& type) {
    LayerLaunches out{.before = type.mixer != MixerKind::none ? kHalfLaunches : 0,
                      .after = type.ffn != LayerFfn::none ? kHalfLaunches : 0};
    if (!type.is_moe() || !plan.model.moe) return out;
    const double ep = number(std::max<std::int64_t>(plan.layout.ep, 1));
    const double each = plan.training.experts_one_by_one ? kExpertLaunches : kGroupedLaunches;
    out.before += kRouterLaunches;
    out.after += kDispatchLaunches + std::max(number(plan.model.moe->experts) / ep, 1.0) * each;
    out.syncs = routing_syncs(plan);
    return out;
}

}  // namespace

KernelTimer::KernelTimer(const Plan& plan)
    : t_(plan.training), r_(find_rates(plan)), gradient_(2 * bytes_of(plan.training.gradients)) {}

PassTime KernelTimer::time(const LayerKernel& k) const {
    PassTime t = element_wise(k.launch_only ? 0 : k.bytes, k.kernels);
    switch (k.rate) {
    case LayerRate::none: break;
    case LayerRate::linear: t += linear(k, 1); break;
    case LayerRate::grouped:
        t += linear(k, r_.grouped);
        if (t_.experts_one_by_one) t += PassTime{1, 1, 1} * ((k.groups - 1) * r_.kernel_s);
        break;
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
        if (is_routed(k.part, k.what)) t.experts += own;
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

namespace {

double of_pass(const PassTime& t, KernelPass pass) {
    switch (pass) {
    case KernelPass::forward: break;
    case KernelPass::input_grad: return t.input_grad;
    case KernelPass::weight_grad: return t.weight_grad;
    case KernelPass::backward: return t.input_grad + t.weight_grad;
    }
    return t.forward;
}

class StepTimer {
  public:
    StepTimer(const Plan& plan, const Mesh& mesh, const GroupSummaries& groups, const LayerList& list)
        : plan_(plan), mesh_(mesh), groups_(groups), timer_(plan) {
        const LayerTypes types = layer_types(plan.model);
        list_parts(plan, degrees_of(plan, mesh), types[list.type], parts_);
    }

    void time(LayerStep& s) const {
        if (is_collective(s.op)) {
            s.time_s = s.calls * call(s);
            return;
        }
        if (s.work.what == What::none) return;
        s.time_s = 0;
        if (s.work.rate != LayerRate::core) s.bytes_moved = 0;
        for (const LayerKernel& k : parts_.kernels) {
            const bool runs = k.what == s.work.what && k.part == s.work.part;
            if (!runs || (k.fused && !s.recomputed)) continue;
            s.time_s += of_pass(timer_.time(k), s.work.pass);
            if (k.rate != LayerRate::core) s.bytes_moved += of_pass(timer_.bytes(k), s.work.pass);
        }
    }

  private:
    [[nodiscard]] double call(const LayerStep& s) const {
        Operation o;
        o.group = s.group, o.collective = collective_of(s.op), o.group_size = s.group_size;
        o.message_bytes = s.message_bytes, o.slow_share = s.slow_share, o.forwarded = s.forwarded;
        return call_time(plan_, find_route(plan_, mesh_, groups_[s.group]), o);
    }

    const Plan& plan_;
    const Mesh& mesh_;
    const GroupSummaries& groups_;
    KernelTimer timer_;
    LayerParts parts_;
};

}  // namespace

void time_layer(const Plan& plan, const Mesh& mesh, const GroupSummaries& groups, LayerList& list) {
    const StepTimer timer(plan, mesh, groups, list);
    for (LayerStep& s : list.steps) timer.time(s);
    sum_layer(list);
}

LayerList timed_layer(const Plan& plan, const Mesh& mesh, const GroupSummaries& groups, int type,
                      std::int64_t rank, std::int64_t most_members) {
    LayerList list = list_layer(plan, mesh, groups, type, rank, most_members);
    time_layer(plan, mesh, groups, list);
    return list;
}

// Counts the operations of a forward pass.

ForwardFlops forward_flops(const Model& m, std::int64_t sequence_length) {
    const LayerTypes types = layer_types(m);
    return forward_flops(m, types, count_layers(m, types, 0, m.layers), sequence_length);
}

ForwardFlops forward_flops(const Model& m, const LayerTypes& types, const LayerCounts& counts,
                           std::int64_t sequence_length) {
    ForwardFlops f;
    const double s = static_cast<double>(sequence_length);
    visit_tensors(m, types, [&](const Tensor& t) {
        if (!t.is_matrix() || t.place == Place::embedding || t.place == Place::head) return;
        double copies = static_cast<double>(t.copies);
        if (t.per_expert && m.moe) copies = std::min(copies, static_cast<double>(m.moe->top_k));
        f.layers += 2 * s * static_cast<double>(t.rows) * static_cast<double>(t.cols) * copies
                    * static_cast<double>(times(m, types, counts, t));
    });
    for (int t = 0; t < types.size(); ++t) {
        const double mtp = t == types.mtp ? static_cast<double>(m.mtp_layers) : 0;
        const MixerFlops mixer = mixer_flops(m, types[t], s, counts[t] + mtp);
        f.attention += mixer.attention, f.masked += mixer.masked, f.scans += mixer.scan;
    }
    f.layers += f.attention + f.scans;
    f.head = 2 * s * static_cast<double>(m.hidden) * static_cast<double>(m.vocab) * head_passes(m);
    return f;
}

}  // namespace pentamesh
