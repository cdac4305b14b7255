#include "core/runs/fitting.h"

#include "core/base/text.h"
#include "core/runs/run_axes.h"
#include "core/step/constants.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

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
    if ((part.part != RunPart::dp && part.part != RunPart::pp) || !(part.time.total_s > 0)) return out;
    return solve(p, "efficiency.overlap", part.time.measured_s / part.time.total_s, [&](const Evaluation& e) {
        double exposed = 0, total = 0;
        for (const Operation& o : e.comm.operations)
            if (part_of_kind(o.group) == part.part && !o.on_other_stage)
                exposed += o.exposed_s, total += o.time_s;
        return total > 0 ? exposed / total : 0;
    });
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
    case RunPart::memory: out.why = "copies are not predicted"; return out;
    case RunPart::rest: out.why = "launches, data loading, logging: not fitted"; return out;
    }
    return out;
}

}  // namespace pentamesh::runs
