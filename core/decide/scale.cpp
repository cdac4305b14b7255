#include "core/decide/scale.h"

#include "core/base/text.h"
#include "core/mesh/places.h"
#include "core/plan/changes.h"
#include "core/plan/factors.h"
#include "core/plan/names.h"
#include "core/plan/problem.h"

#include <algorithm>
#include <cmath>

namespace pentamesh {
namespace {

constexpr double kWaits = 0.005;  // of the step
constexpr std::int64_t kLeastGpus = 8, kMostGpus = 131072, kAround = 64;

std::int64_t replica_of(const Layout& l) {
    return std::max<std::int64_t>(l.tp * l.cp * l.pp, 1);
}

std::int64_t own_value(const Plan& plan, ScaleOver over) {
    switch (over) {
    case ScaleOver::gpus: return plan.cluster.gpus;
    case ScaleOver::batch: return plan.training.global_batch;
    case ScaleOver::sequence: break;
    }
    return plan.training.sequence_length;
}

std::vector<std::int64_t> values_of(const Plan& plan, const ScaleRequest& r) {
    const std::int64_t own = own_value(plan, r.over);
    const bool gpus = r.over == ScaleOver::gpus;
    const std::int64_t least = r.least > 0 ? r.least
                               : gpus      ? kLeastGpus
                                           : std::max<std::int64_t>(own / kAround, 1);
    const std::int64_t most = r.most > 0 ? r.most : gpus ? std::max(kMostGpus, own) : own * kAround;
    std::int64_t first = own;
    if (gpus) first = replica_of(plan.layout);
    if (r.over == ScaleOver::batch)
        first = std::max<std::int64_t>(
            plan.training.micro_batch * std::max<std::int64_t>(data_parallel(plan), 1), 1);
    while (first % 2 == 0 && first / 2 >= least && r.over == ScaleOver::sequence) first /= 2;
    std::vector<std::int64_t> out{own};
    for (std::int64_t v = first; v <= most; v *= 2) out.push_back(v);
    if (gpus)
        for (int t = 0; t + 1 < static_cast<int>(plan.cluster.tiers.size()); ++t)
            if (const std::int64_t domain = domain_of(plan.cluster, t); domain % replica_of(plan.layout) == 0)
                out.push_back(domain);
    std::erase_if(out, [&](std::int64_t v) { return v != own && (v < least || v > most); });
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

// Data parallelism takes the GPUs that the other axes leave; copies of shards become more, or fewer.
Plan on_gpus(const Plan& own, std::int64_t gpus, bool weak) {
    const bool hybrid = own.layout.dp_shard > 1 && replicas_in_force(own) > 1;
    Plan p = hybrid ? with_gpus_as_replicas(own, gpus) : with_gpus(own, gpus);
    if (weak)
        p.training.global_batch =
            std::llround(static_cast<double>(own.training.global_batch) * static_cast<double>(gpus)
                         / static_cast<double>(own.cluster.gpus));
    return p;
}

Plan plan_at(const Plan& own, const ScaleRequest& r, std::int64_t value) {
    Plan p = own;
    if (value == own_value(own, r.over)) return p;
    switch (r.over) {
    case ScaleOver::gpus: return on_gpus(own, value, r.weak);
    case ScaleOver::batch: p.training.global_batch = value; break;
    case ScaleOver::sequence: p.training.sequence_length = value; break;
    }
    return p;
}

ScalePoint point_of(const Plan& plan, std::int64_t at, Evaluation& e) {
    ScalePoint out{.at = at};
    evaluate(plan, e);
    if (!e.step) {
        out.reason = first_error(e.problems);
        if (out.reason.ends_with('.')) out.reason.pop_back();
        if (out.reason.empty()) out.reason = "no time comes out";
        return out;
    }
    const Step& s = *e.step;
    out.step_s = s.time_s, out.tokens_per_s = s.tokens_per_s, out.mfu = s.mfu;
    out.memory_bytes = e.memory.peak(), out.fit = e.memory.fit();
    out.compute_s = s.compute_s + s.recompute_s, out.bubble_s = s.bubble_s;
    for (const GroupKind k : all_of<GroupKind>()) {
        out.time_s[k] = e.comm.by_axis[k].time_s;
        out.waits_s[k] = s.exposed_comm_s[k];
        out.tier[k] = e.groups[k].degree > 1 && e.groups[k].groups > 0 ? e.groups[k].slowest_tier : -1;
    }
    return out;
}

// Finds where a curve passes `limit` between two points.
double between(const ScalePoint& a, const ScalePoint& b, double ya, double yb, double limit) {
    const double share = yb == ya ? 1 : std::clamp((limit - ya) / (yb - ya), 0.0, 1.0);
    return static_cast<double>(a.at) * std::pow(static_cast<double>(b.at) / static_cast<double>(a.at), share);
}

double two_digits(double x) {
    const double unit = std::pow(10.0, std::floor(std::log10(x)) - 1);
    return unit < 1 ? std::round(x) : std::round(x / unit) * unit;
}

class Crossings {
  public:
    Crossings(const Plan& plan, Scale& scale) : plan_(plan), scale_(scale) {}

    void find(const ScalePoint& a, const ScalePoint& b) {
        if (!a.possible() && !b.possible()) return;
        if (a.possible() != b.possible()) {
            const double at = static_cast<double>(b.at);
            add(ScaleTurn::refused, GroupKind::tp, at,
                b.possible() ? "possible from " + value(at) + " on"
                             : "refused from " + value(at) + " on: " + b.reason);
            return;
        }
        for (const GroupKind k : all_of<GroupKind>()) find(k, a, b);
        const double hbm = plan_.cluster.gpu.hbm_bytes;
        if ((a.memory_bytes > hbm) == (b.memory_bytes > hbm)) return;
        const double at = two_digits(between(a, b, a.memory_bytes, b.memory_bytes, hbm));
        add(ScaleTurn::memory, GroupKind::tp, at,
            (b.memory_bytes > hbm ? "does not fit beyond about " : "fits from about ") + value(at)
                + (b.memory_bytes > hbm ? "" : " on"));
    }

  private:
    void find(GroupKind k, const ScalePoint& a, const ScalePoint& b) {
        const std::string name(name_of(k));
        if (b.tier[k] > a.tier[k] && a.tier[k] >= 0 && b.time_s[k] > 0) {
            const double at = static_cast<double>(b.at);
            add(ScaleTurn::leaves_tier, k, at,
                name + " crosses " + std::string(tier_name(plan_.cluster, b.tier[k])) + " from " + value(at)
                    + " on");
        }
        const double wa = a.waits_s[k] / a.step_s, wb = b.waits_s[k] / b.step_s;
        if (wa <= kWaits && wb > kWaits) {
            const double at = two_digits(between(a, b, wa, wb, kWaits));
            add(ScaleTurn::waits, k, at, name + " starts to wait at about " + value(at));
        }
        const double ca = a.time_s[k] / a.compute_s, cb = b.time_s[k] / b.compute_s;
        if (ca <= 1 && cb > 1) {
            const double at = two_digits(between(a, b, std::log(std::max(ca, 1e-12)), std::log(cb), 0));
            add(ScaleTurn::passes_compute, k, at,
                name + " takes longer than compute beyond about " + value(at));
        }
    }
    [[nodiscard]] std::string value(double at) const {
        const std::string n = whole_text(at);
        switch (scale_.request.over) {
        case ScaleOver::gpus: return n + " GPUs";
        case ScaleOver::batch: return "a batch of " + n;
        case ScaleOver::sequence: break;
        }
        return n + " tokens";
    }
    void add(ScaleTurn turn, GroupKind axis, double at, std::string words) {
        scale_.crossings.push_back({turn, axis, at, std::move(words)});
    }

    const Plan& plan_;
    Scale& scale_;
};

}  // namespace

Scale scale_of(const Plan& plan, const ScaleRequest& request) {
    Scale out{.request = request, .points = {}, .crossings = {}};
    Evaluation e;
    double best = 0;
    const auto rate = [&](const ScalePoint& p) {
        const std::int64_t gpus = request.over == ScaleOver::gpus ? p.at : plan.cluster.gpus;
        return p.tokens_per_s / static_cast<double>(gpus);
    };
    const auto doubles = [&](std::int64_t v) {  // it is not only the size of a tier
        const std::int64_t times = v / replica_of(plan.layout);
        return (times & (times - 1)) == 0 || v == own_value(plan, request.over);
    };
    for (const std::int64_t v : values_of(plan, request)) {
        ScalePoint p = point_of(plan_at(plan, request, v), v, e);
        if (!p.possible() && request.over == ScaleOver::gpus && !doubles(v)) continue;
        best = std::max(best, rate(p));
        out.points.push_back(std::move(p));
    }
    for (ScalePoint& p : out.points) p.of_best = best > 0 ? rate(p) / best : 0;
    Crossings crossings(plan, out);
    for (std::size_t i = 1; i < out.points.size(); ++i) crossings.find(out.points[i - 1], out.points[i]);
    return out;
}

}  // namespace pentamesh
