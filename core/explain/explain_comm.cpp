// How the bytes of a collective and the parts of a step come about, in symbols and in this plan's numbers.
#include "core/base/text.h"
#include "core/comm/comm.h"
#include "core/evaluate.h"
#include "core/step/step.h"

namespace pentamesh {

namespace {

struct SendRule {
    std::string_view factor, steps;
};
SendRule rule_of(Collective c) {
    switch (c) {
    case Collective::all_reduce: return {"2(n-1)/n", "all-reduce = reduce-scatter + all-gather"};
    case Collective::all_gather:
    case Collective::reduce_scatter: return {"(n-1)/n", "ring: n-1 of n pieces leave a rank"};
    case Collective::all_to_all: return {"(n-1)/n", "all but the rank's own piece leaves it"};
    case Collective::send_recv: return {"1", "the message itself"};
    }
    return {"1", ""};
}

}  // namespace

Explanation explain_operation(const Plan& plan, const Evaluation&, const Operation& op) {
    const SendRule rule = rule_of(op.collective);
    Explanation e;
    e.title = std::string(name_of(op.axis)) + " sends, " + std::string(op.what);
    e.formula = "calls · " + std::string(rule.factor) + " · buffer";
    const auto n = static_cast<double>(op.group_size);
    const double factor = op.message_bytes > 0
                              ? sent_bytes(op.collective, op.group_size, op.message_bytes) / op.message_bytes
                              : 0;
    e.substituted = three_digits(op.count_per_step) + " · " + three_digits(factor)
                    + " (n = " + three_digits(n) + ") · " + three_digits(op.message_bytes / 1e6) + " MB";
    e.result = "= " + three_digits(op.sent_bytes_per_rank / 1e9) + " GB per GPU and step";
    e.source = std::string(rule.steps) + "; " + std::string(name_of(op.collective)) + " over "
               + (static_cast<std::size_t>(op.tier) < plan.cluster.tiers.size()
                      ? plan.cluster.tiers[static_cast<std::size_t>(op.tier)].name
                      : std::string("one GPU"));
    return e;
}

Explanation explain_step(const Plan& plan, const Evaluation& evaluation, StepPart part, GroupKind axis) {
    Explanation e;
    if (!evaluation.step) return e;
    const Step& s = *evaluation.step;
    const auto result = [&](double seconds) {
        e.result = "= " + three_digits(seconds) + " s, " + percent_text(seconds / s.time_s) + " of the step";
    };
    const double m = static_cast<double>(evaluation.microbatches);
    switch (part) {
    case StepPart::compute:
        e.title = "compute";
        e.formula = "m · Σ layers (products + attention + norms)";
        e.substituted = three_digits(m) + " micro-batches on the busiest stage, "
                        + three_digits(s.model_flops_per_gpu / 1e12) + " TFLOP per GPU and step";
        result(s.compute_s);
        e.source = "roofline of each product, docs/step.md";
        break;
    case StepPart::ideal:
        e.title = "ideal compute";
        e.formula = "model FLOPs per GPU / dense peak";
        e.substituted = three_digits(s.model_flops_per_gpu / 1e12)
                        + " TFLOP, the masked half of attention left out, at "
                        + three_digits(find_rates(plan).peak / 1e12) + " TFLOP/s";
        result(s.ideal_s);
        e.source = "what a GPU at its peak with nothing else to do would need";
        break;
    case StepPart::kernels:
        e.title = "below the peak";
        e.formula = "compute - ideal compute";
        e.substituted =
            three_digits(s.compute_s) + " s - " + three_digits(s.ideal_s)
            + " s: products below the peak, norms, casts, launches, what the busiest stage does more";
        result(s.compute_s - s.ideal_s);
        e.source = "roofline of each product, docs/step.md";
        break;
    case StepPart::recompute:
        e.title = "recompute";
        e.formula = "m · forward of what was not kept";
        e.substituted = three_digits(m) + " micro-batches";
        result(s.recompute_s);
        e.source = "Korthikanti et al. 2022, section 5";
        break;
    case StepPart::bubble: {
        e.title = "bubble";
        e.formula = "makespan - m (F + B) of the busiest stage - its wait for sends";
        const auto& t = evaluation.timeline;
        if (!t.empty()) {
            const double busy = t.device[static_cast<std::size_t>(s.busiest_device)].busy;
            e.substituted = three_digits(t.makespan) + " s - " + three_digits(busy) + " s on stage "
                            + std::to_string(s.busiest_device) + " - "
                            + three_digits(t.makespan - busy - s.bubble_s)
                            + " s, which is exposed pp; the timeline's own share is of the average stage";
        }
        result(s.bubble_s);
        e.source = "replay of the schedule, docs/schedules.md";
        break;
    }
    case StepPart::exposed: {
        const AxisTraffic& t = evaluation.comm.by_axis[static_cast<std::size_t>(axis)];
        e.title = "exposed " + std::string(name_of(axis));
        e.formula = "Σ time on the wire - what hides behind compute";
        e.substituted = three_digits(t.time_s) + " s on the wire for "
                        + three_digits(t.sent_bytes_per_rank / 1e9) + " GB in " + three_digits(t.count)
                        + " calls";
        result(s.exposed_comm_s[static_cast<std::size_t>(axis)]);
        e.source = "alpha-beta per tier, docs/communication.md";
        break;
    }
    case StepPart::optimizer:
        e.title = "optimizer";
        e.formula = "bytes of states, gradients and weights / HBM bandwidth";
        e.substituted = "at " + three_digits(plan.cluster.gpu.hbm_bytes_per_s / 1e12) + " TB/s";
        result(s.optimizer_s);
        e.source = "docs/step.md";
        break;
    case StepPart::straggler:
        e.title = "straggler";
        e.formula = "cv · E[max of N normal steps]";
        e.substituted = three_digits(plan.training.straggler_cv)
                        + " · N = " + std::to_string(evaluation.mesh.world)
                        + "; bound cv sqrt(2 ln N) = " + percent_text(s.straggler_bound);
        result(s.straggler_s);
        e.source = "integral of N phi Phi^(N-1), docs/step.md";
        break;
    }
    return e;
}

}  // namespace pentamesh
