#include "core/runs/predicted.h"

#include "core/base/text.h"
#include "core/plan/names.h"
#include "core/runs/run_axes.h"
#include "core/step/rates.h"

#include <utility>

namespace pentamesh::runs {
namespace {

// Returns the compute of a stage, recomputation included: the mean stage's, in proportion to a micro-batch.
double compute_of_stage(const Evaluation& e, int stage) {
    const Stages& stages = e.comm.stages;
    double own = 0, all = 0;
    for (int d = 0; d < stages.devices; ++d)
        for (int c = 0; c < stages.chunks; ++c) {
            const ChunkWork& w = e.work.chunk[stages.kind_of(d, c)];
            const double computed = w.compute.total() + w.recompute;
            all += computed;
            if (d == stage) own += computed;
        }
    const double mean = all / stages.devices;
    return mean > 0 ? (e.step->compute_s + e.step->recompute_s) * own / mean : 0;
}

// Returns the dense peak that the plan would be measured against if it computed in this type.
double peak_in(Plan plan, Dtype type) {
    plan.training.compute = type;
    return find_rates(plan).peak;
}

}  // namespace

EnumArray<RunPart, double> predict_parts(const Evaluation& e, Division division, int stage,
                                         const EnumArray<RunPart, bool>& measured) {
    const Step& s = *e.step;
    EnumArray<RunPart, double> out{};
    for (const GroupKind k : all_of<GroupKind>()) out[part_of_kind(k)] += s.exposed_comm_s[k];
    out[RunPart::compute] = longest_compute(s);
    if (stage >= 0 && stage < e.comm.stages.devices) out[RunPart::compute] = compute_of_stage(e, stage);
    out[RunPart::optimizer] = s.optimizer_s;
    const auto rest_into = [&](RunPart into) {
        double sum = 0;
        for (const double t : out) sum += t;
        out[into] += s.time_s - sum;
    };
    const auto move = [&](RunPart from, RunPart to) { out[to] += std::exchange(out[from], 0); };
    if (division == Division::timers) {
        out[RunPart::rest] = s.straggler_s;
        for (const RunPart p : {RunPart::tp, RunPart::cp, RunPart::ep, RunPart::unnamed})
            move(p, RunPart::compute);
        move(RunPart::pp, RunPart::pipeline);
        rest_into(RunPart::pipeline);
        if (!measured[RunPart::compute]) move(RunPart::compute, RunPart::pipeline);
        return out;
    }
    rest_into(RunPart::idle);
    const RunPart fallback = measured[RunPart::unnamed] ? RunPart::unnamed : RunPart::idle;
    for (const RunPart p : {RunPart::tp, RunPart::cp, RunPart::ep, RunPart::pp, RunPart::dp})
        if (!measured[p]) move(p, fallback);
    if (!measured[RunPart::unnamed]) move(RunPart::unnamed, RunPart::idle);
    return out;
}

std::string impossible_words(const Plan& plan, const Step& step, double measured_s) {
    if (!(measured_s > 0) || !(step.ideal_s > measured_s)) return "";
    const double share = step.ideal_s / measured_s;
    const Dtype asked = plan.training.compute;
    const double peak = find_rates(plan).peak;
    // A GPU without the type that is asked for computes in 16 bits.
    const bool narrow = asked == Dtype::fp8 || asked == Dtype::fp4;
    const Dtype own = narrow && peak == plan.cluster.gpu.flops.bf16 ? Dtype::bf16 : asked;
    const std::int64_t batch = plan.training.global_batch;
    std::string other, with;
    for (const Dtype type : {Dtype::fp8, Dtype::fp4}) {
        const double faster = peak_in(plan, type) / peak;
        if (type == own || !(faster > share)) continue;
        other = sentence(", or ", name_of(type));
        with =
            sentence("; with ", name_of(type), " it would be ", percent_text(share / faster), " of the peak");
        break;
    }
    return sentence(time_text(measured_s), " would be ", percent_text(share), " of the ", name_of(own),
                    " peak: is the batch ", batch, other, "? The model's FLOPs take ",
                    time_text(step.ideal_s), " at the peak. In the measured time a batch of ",
                    static_cast<std::int64_t>(static_cast<double>(batch) / share), " is possible at most",
                    with, ".");
}

}  // namespace pentamesh::runs
