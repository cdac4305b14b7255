#include "core/explain/explain_step.h"

#include "core/base/text.h"
#include "core/comm/comm.h"
#include "core/evaluate.h"

#include <array>

namespace pentamesh {
namespace {

struct Input {
    const Plan& plan;
    const Evaluation& e;
    const Step& s;
    GroupKind group;
};

std::string seconds(double s) {
    return time_text(s, Zeros::kept);
}
std::string bytes(double b) {
    return bytes_text(b, Zeros::kept);
}
std::string tflop(double flops) {
    return three_digits(flops / 1e12) + " TFLOP";
}

std::string whole_microbatches(const Input& in) {
    return sentence(in.e.microbatches, in.e.microbatches == 1 ? " micro-batch" : " micro-batches");
}

std::string compute(const Input& in) {
    return sentence(whole_microbatches(in), " on the average stage, ", tflop(in.s.model_flops_per_gpu),
                    " per GPU and step");
}
std::string ideal(const Input& in) {
    return sentence(tflop(in.s.model_flops_per_gpu), ", the masked half of attention left out, at ",
                    tflop(find_rates(in.plan).peak), "/s");
}
std::string products(const Input& in) {
    return sentence("of ", seconds(in.s.compute_s - in.s.ideal_s), " that compute takes beyond the peak, ",
                    whole_microbatches(in), " on the average stage");
}
std::string recompute(const Input& in) {
    return sentence(whole_microbatches(in), " on the average stage");
}
std::string bubble(const Input& in) {
    const Timeline& t = in.e.timeline;
    if (t.empty()) return {};
    const int longest = in.e.comm.busiest_device;
    const double busy = t.device[longest].busy, idle = schedule_bubble_s(in.s);
    return sentence(seconds(t.makespan), " - ", seconds(busy), " on stage ", longest, " - ",
                    seconds(t.makespan - busy - idle), ", which is exposed pp");
}
std::string uneven(const Input& in) {
    return sentence("stage ", in.e.comm.busiest_device, " computes ", seconds(in.s.uneven_s),
                    " longer than the average of ", count_text(in.e.comm.stages.devices, "stage"));
}
std::string exposed(const Input& in) {
    const AxisTraffic& t = in.e.comm.by_axis[in.group];
    return sentence(seconds(t.time_s), " on the wire for ", bytes(t.sent_bytes_per_rank), " in ",
                    whole_text(t.count), " calls of ", rows_device_text(in.e.comm));
}
std::string optimizer(const Input& in) {
    return sentence("at ", three_digits(in.plan.cluster.gpu.hbm_bytes_per_s / 1e12), " TB/s");
}
std::string straggler(const Input& in) {
    return sentence(three_digits(in.plan.training.straggler_cv), " · N = ", in.e.mesh.world,
                    "; bound cv sqrt(2 ln N) = ", percent_text(in.s.straggler_bound));
}

struct Row {
    StepPart part;
    std::string_view title, formula, source;
    std::string (*substituted)(const Input&);
    double (*time_s)(const Step&);  // null: of `exposed`, by group
};
constexpr std::string_view kProducts = "each product takes 2mnk / rate + bytes / HBM bandwidth + a kernel's "
                                       "start; rates fitted to the published runs of the Step view";
constexpr std::array kRows{
    Row{StepPart::compute, "compute", "m · Σ layers (products + attention + norms)", kProducts, compute,
        [](const Step& s) { return s.compute_s; }},
    Row{StepPart::ideal, "ideal compute", "model FLOPs per GPU / dense peak",
        "what a GPU at its peak with nothing else to do would need", ideal,
        [](const Step& s) { return s.ideal_s; }},
    Row{StepPart::products, "products below the peak",
        "m · Σ layers (products with their casts) - their FLOPs / peak", kProducts, products,
        [](const Step& s) { return s.below.products; }},
    Row{StepPart::attention, "attention below the peak",
        "m · Σ layers (attention cores and scans) - their FLOPs / peak, the masked half left out",
        "the rate of fused attention, fitted to the published runs of the Step view", products,
        [](const Step& s) { return s.below.attention; }},
    Row{StepPart::moving, "norms and other kernels that only move bytes",
        "m · (Σ layers bytes / HBM bandwidth + kernels' starts), embedding and loss with them",
        "norms, additions, activations, the loss: no product, so the peak has nothing for them", products,
        [](const Step& s) { return s.below.moving; }},
    Row{StepPart::starts, "waiting for starts of kernels",
        "m · Σ layers (launches · seconds of one - compute)",
        "the host starts each kernel; where that takes longer than the kernels, the GPU waits", products,
        [](const Step& s) { return s.below.starts; }},
    Row{StepPart::recompute, "recompute", "m · forward of what was not kept",
        "Korthikanti et al. 2022, section 5", recompute, [](const Step& s) { return s.recompute_s; }},
    Row{StepPart::bubble, "bubble", "makespan - m (F + B) of the longest stage - its wait for sends",
        "replay of the schedule; with uneven stages: the timeline's, of the average stage", bubble,
        schedule_bubble_s},
    Row{StepPart::uneven, "uneven stages",
        "m (F + B) of the longest stage - m (F + B) of the average one, without communication", kProducts,
        uneven, [](const Step& s) { return s.uneven_s; }},
    Row{StepPart::exposed, "exposed", "Σ time on the wire - what hides behind compute",
        "each call takes steps · latency + bytes / bandwidth on every tier that it crosses; so much hides as "
        "training.overlap says",
        exposed, nullptr},
    Row{StepPart::optimizer, "optimizer", "bytes of states, gradients and weights / HBM bandwidth",
        "an update reads and writes states and master copy, reads the gradient twice (once for its norm) and "
        "writes the weight",
        optimizer, [](const Step& s) { return s.optimizer_s; }},
    Row{StepPart::straggler, "straggler", "cv · E[max of N normal steps]",
        "E[max of N] = integral of N x phi(x) Phi(x)^(N-1), with the normal distribution's phi and Phi",
        straggler, [](const Step& s) { return s.straggler_s; }},
};

}  // namespace

Explanation explain_step(const Plan& plan, const Evaluation& evaluation, StepPart part, GroupKind group) {
    Explanation e;
    if (!evaluation.step) return e;
    const Step& s = *evaluation.step;
    for (const Row& row : kRows) {
        if (row.part != part) continue;
        const double time_s = row.time_s ? row.time_s(s) : s.exposed_comm_s[group];
        e.title = row.time_s ? std::string(row.title) : sentence(row.title, " ", name_of(group));
        e.formula = row.formula;
        e.substituted = row.substituted({plan, evaluation, s, group});
        e.result = sentence("= ", seconds(time_s), ", ", percent_text(time_s / s.time_s, Zeros::kept),
                            " of the step");
        e.source = row.source;
        if (part == StepPart::bubble && plan.layout.pp > 1)
            e.source = sentence(traits_of(plan.layout.schedule).paper, "; ", row.source);
    }
    return e;
}

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
    e.title = std::string(name_of(op.group)) + " sends";
    e.part = words_of(op.what);
    e.formula = "calls · " + std::string(rule.factor) + " · buffer";
    const auto n = static_cast<double>(op.group_size);
    const double factor = op.message_bytes > 0
                              ? sent_bytes(op.collective, op.group_size, op.message_bytes) / op.message_bytes
                              : 0;
    e.substituted = whole_text(op.count_per_step) + " · " + three_digits(factor) + " (n = " + whole_text(n)
                    + ") · " + bytes(op.message_bytes);
    e.result = "= " + bytes(op.sent_bytes_per_rank) + " per GPU and step";
    e.source =
        std::string(rule.steps) + "; " + std::string(words_of(op.collective)) + " over "
        + (static_cast<std::size_t>(op.tier) < plan.cluster.tiers.size() ? plan.cluster.tiers[op.tier].name
                                                                         : std::string("one GPU"));
    return e;
}

}  // namespace pentamesh
