#include "core/runs/predicted.h"

#include "core/base/number.h"
#include "core/base/text.h"
#include "core/plan/names.h"
#include "core/runs/measured.h"
#include "core/runs/run_layout.h"
#include "core/step/compute.h"
#include "core/step/constants.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

namespace pentamesh::runs {
namespace {

using Metric = std::function<double(const Evaluation&)>;

double step_with(const Prediction& p, const std::string& id, double value) {
    const Evaluation e =
        evaluate(with_constant(p.plan, p.presets, id, value), {.timeline = true, .messages = false});
    return e.step ? e.step->time_s : 0;
}

// Halves the range of the constant until the metric is `target`; it falls or rises over the whole range.
Fitting solve(const Prediction& p, const std::string& id, double target, const Metric& metric) {
    Fitting out;
    const std::vector<Constant> all = list_constants(p.plan, p.presets);
    const auto constant = std::ranges::find(all, id, &Constant::id);
    if (constant == all.end()) return out;
    Evaluation scratch;
    const auto at = [&](double value) {
        evaluate(with_constant(p.plan, p.presets, id, value), scratch,
                 {.timeline = false, .messages = false});
        return scratch.step ? metric(scratch) : 0;
    };
    double low = std::max(constant->least, 1e-3), high = std::min(constant->most, 1.0);
    double at_low = at(low);
    const double at_high = at(high);
    if ((at_low - target) * (at_high - target) > 0) {
        const bool above = std::abs(at_high - target) < std::abs(at_low - target);
        out.why = sentence("no constant explains it: ", id, " would have to be ", above ? "above " : "below ",
                           three_digits(above ? high : low));
        return out;
    }
    constexpr int kHalvings = 40;
    for (int i = 0; i < kHalvings; ++i) {
        const double middle = (low + high) / 2, value = at(middle);
        const bool same_side = (value - target) * (at_low - target) > 0;
        (same_side ? low : high) = middle;
        if (same_side) at_low = value;
    }
    out.constant = id;
    out.is = constant->value;
    out.would_be = (low + high) / 2;
    out.step_s = step_with(p, id, out.would_be);
    return out;
}

std::string product_constant(const Plan& plan) {
    switch (plan.training.compute) {
    case Dtype::fp8: return "efficiency.gemm_fp8";
    case Dtype::fp4: return "efficiency.gemm_fp4";
    default: return "efficiency.gemm";
    }
}

// Returns the constant that says how much of its tier a call reaches.
std::string link_constant(const Operation& o) {
    return o.tier == 0                              ? "efficiency.fast_link"
           : o.collective == Collective::all_to_all ? "efficiency.all_to_all"
                                                    : "efficiency.slow_link";
}

double whole_time(const CollectiveRow& r) {
    return static_cast<double>(r.calls) * *r.transfer_s;
}

Fitting fit_link(const Prediction& p, const CollectiveRow& row, const Operation& o) {
    const std::string id = link_constant(o);
    Fitting out = solve(p, id, *row.transfer_s, [&](const Evaluation& e) {
        const Operation* same = operation_of(e, row);
        return same ? same->call_s : 0;
    });
    if (out.why.empty())
        out.why = sentence("by ", row.collective, " of ", bytes_text(static_cast<double>(row.bytes)),
                           ": the transfer takes ", time_text(*row.transfer_s), ", predicted ",
                           time_text(o.call_s));
    return out;
}

Fitting fit_axis(const Prediction& p, const PartRow& part, const std::vector<CollectiveRow>& rows) {
    const CollectiveRow* most = nullptr;
    for (const CollectiveRow& r : rows)
        if (r.part == part.part && r.transfer_s && operation_of(p.evaluation, r)
            && (!most || whole_time(r) > whole_time(*most)))
            most = &r;
    if (most) return fit_link(p, *most, *operation_of(p.evaluation, *most));
    Fitting out;
    out.why =
        "one rank does not tell a transfer from the wait for others: give files of several ranks of a group";
    return out;
}

}  // namespace

std::vector<Fitting> fit_links(const Prediction& p, const std::vector<CollectiveRow>& rows) {
    std::map<std::string, std::pair<const CollectiveRow*, const Operation*>> most;
    for (const CollectiveRow& r : rows) {
        const Operation* o = r.transfer_s ? operation_of(p.evaluation, r) : nullptr;
        if (!o) continue;
        auto& [row, operation] = most[link_constant(*o)];
        if (!row || whole_time(r) > whole_time(*row)) row = &r, operation = o;
    }
    std::vector<Fitting> out;
    for (const auto& [id, call] : most) out.push_back(fit_link(p, *call.first, *call.second));
    return out;
}

const Operation* operation_of(const Evaluation& e, const CollectiveRow& row) {
    constexpr double kSameBytes = 0.05;
    const std::optional<Collective> c = collective_called(row.collective);
    if (!c || row.buffer <= 0) return nullptr;
    for (const Operation& o : e.comm.operations)
        if (o.collective == *c && part_of_kind(o.group) == row.part
            && std::abs(o.message_bytes / row.buffer - 1) < kSameBytes)
            return &o;
    return nullptr;
}

Fitting fit_part(const Prediction& p, const PartRow& part, Division division,
                 const std::vector<CollectiveRow>& rows) {
    Fitting out;
    const Layout& l = p.plan.layout;
    switch (part.part) {
    case RunPart::compute:
        if (division == Division::timers && (l.tp > 1 || l.cp > 1 || l.ep > 1)) {
            out.why = "its traffic over tp, cp and ep is inside: a trace tells them apart";
            return out;
        }
        return solve(p, product_constant(p.plan),
                     part.time.measured_s * longest_compute(*p.evaluation.step) / *part.predicted_s,
                     [](const Evaluation& e) { return longest_compute(*e.step); });
    case RunPart::optimizer:
        return solve(p, "efficiency.hbm", part.time.measured_s,
                     [](const Evaluation& e) { return e.step->optimizer_s; });
    case RunPart::tp:
    case RunPart::cp:
    case RunPart::ep:
    case RunPart::pp:
    case RunPart::dp:
        if (division == Division::trace) return fit_axis(p, part, rows);
        out.why = "a log does not tell a transfer from the wait for others";
        return out;
    case RunPart::idle:
    case RunPart::pipeline: out.why = "schedule, uneven stages and stragglers: no constant"; return out;
    case RunPart::unnamed: out.why = "the trace does not name its groups"; return out;
    case RunPart::memory: out.why = "copies are not fitted"; return out;
    case RunPart::rest: out.why = "launches, data loading, logging: not fitted"; return out;
    }
    return out;
}

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
    out[RunPart::compute] += s.slowed_by_traffic_s;  // its kernels take so much longer
    out[RunPart::optimizer] = s.optimizer_s;
    if (division == Division::timers)
        out[RunPart::optimizer] += s.offload_once_s;  // the optimizer's timer has its way to the host
    else
        out[RunPart::memory] = s.offload_s;
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
