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
    if (const auto axis = axis_of(over)) return factor_in_force(plan, *axis);
    switch (over) {
    case ScaleOver::gpus: return plan.cluster.gpus;
    case ScaleOver::batch: return plan.training.global_batch;
    default: return plan.training.sequence_length;
    }
}

// Returns doublings of the least value that the layout can have.
std::vector<std::int64_t> doublings(const Plan& plan, ScaleOver over, std::int64_t least, std::int64_t most) {
    std::int64_t first = own_value(plan, over);
    if (over == ScaleOver::gpus) first = replica_of(plan.layout);
    if (over == ScaleOver::batch)
        first = std::max<std::int64_t>(
            plan.training.micro_batch * std::max<std::int64_t>(data_parallel(plan), 1), 1);
    while (first % 2 == 0 && first / 2 >= least && over == ScaleOver::sequence) first /= 2;
    std::vector<std::int64_t> out;
    for (std::int64_t v = first; v <= most; v *= 2) out.push_back(v);
    return out;
}

std::vector<std::int64_t> values_of(const Plan& plan, const ScaleRequest& r) {
    const std::int64_t own = own_value(plan, r.over);
    const bool gpus = r.over == ScaleOver::gpus;
    const auto axis = axis_of(r.over);
    const std::int64_t least = r.least > 0 ? r.least
                               : gpus      ? kLeastGpus
                               : axis      ? 1
                                           : std::max<std::int64_t>(own / kAround, 1);
    const std::int64_t most = r.most > 0 ? r.most
                              : gpus     ? std::max(kMostGpus, own)
                              : axis     ? plan.cluster.gpus
                                         : own * kAround;
    std::vector<std::int64_t> out = axis ? legal_factors(plan, *axis) : doublings(plan, r.over, least, most);
    out.push_back(own);
    if (gpus)
        for (int t = 0; t + 1 < static_cast<int>(plan.cluster.tiers.size()); ++t)
            if (const std::int64_t domain = domain_of(plan.cluster, t); domain % replica_of(plan.layout) == 0)
                out.push_back(domain);
    std::erase_if(out, [&](std::int64_t v) { return v != own && (v < least || v > most); });
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    if (r.most_values == 0 || out.size() <= r.most_values) return out;
    const auto at = static_cast<std::size_t>(std::find(out.begin(), out.end(), own) - out.begin());
    const std::size_t half = r.most_values / 2,
                      from = std::min(at - std::min(at, half), out.size() - r.most_values);
    const auto first = out.begin() + static_cast<std::ptrdiff_t>(from);
    return {first, first + static_cast<std::ptrdiff_t>(r.most_values)};
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

ScalePoint point_of(const Plan& plan, std::int64_t at, Evaluation& e) {
    ScalePoint out{.at = at};
    evaluate(plan, e);
    if (!e.step) {
        out.reason = first_error(e.problems);
        for (const Problem& p : e.problems)
            if (p.severity == Severity::error && !out.code) out.code = p.code;
        if (out.reason.ends_with('.')) out.reason.pop_back();
        if (out.reason.empty()) out.reason = "no time comes out";
        return out;
    }
    const Step& s = *e.step;
    out.step_s = s.time_s, out.tokens_per_s = s.tokens_per_s, out.mfu = s.mfu;
    out.memory_bytes = e.memory.peak(), out.fit = e.memory.fit();
    out.compute_s = s.compute_s + s.recompute_s, out.bubble_s = s.bubble_s;
    out.optimizer_s = s.optimizer_s, out.straggler_s = s.straggler_s;
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
    if (!(x > 0)) return x;
    const double unit = std::pow(10.0, std::floor(std::log10(x)) - 1);
    return unit < 1 ? std::round(x) : std::round(x / unit) * unit;
}

class Crossings {
  public:
    Crossings(const Plan& plan, Scale& scale) : plan_(plan), scale_(scale) {}

    void find(const ScalePoint& a, const ScalePoint& b) {
        if (!a.possible() && !b.possible()) return;
        if (a.possible() != b.possible()) {
            const std::string place = from(b);
            if (b.possible())
                add({ScaleTurn::refused, GroupKind::tp, value(b), "possible", place, ""});
            else
                add({ScaleTurn::refused, GroupKind::tp, value(b), "refused", place, b.reason});
            return;
        }
        for (const GroupKind k : all_of<GroupKind>()) find(k, a, b);
        find_bubble(a, b);
        const double hbm = plan_.cluster.gpu.hbm_bytes;
        if ((a.memory_bytes > hbm) == (b.memory_bytes > hbm)) return;
        const double at = two_digits(between(a, b, a.memory_bytes, b.memory_bytes, hbm));
        if (b.memory_bytes > hbm)
            add({ScaleTurn::memory, GroupKind::tp, at, "does not fit", "beyond about " + words(at), ""});
        else
            add({ScaleTurn::memory, GroupKind::tp, at, "fits", "from about " + words(at) + " on", ""});
    }

  private:
    void find(GroupKind k, const ScalePoint& a, const ScalePoint& b) {
        const std::string name(name_of(k));
        if (b.tier[k] > a.tier[k] && a.tier[k] >= 0 && b.time_s[k] > 0)
            add({ScaleTurn::leaves_tier, k, value(b),
                 name + " crosses " + std::string(tier_name(plan_.cluster, b.tier[k])), from(b), ""});
        const double wa = a.waits_s[k] / a.step_s, wb = b.waits_s[k] / b.step_s;
        if (wa <= kWaits && wb > kWaits) {
            const bool begins = a.tier[k] < 0;  // the axis is not in use before
            const double at = begins ? value(b) : two_digits(between(a, b, wa, wb, kWaits));
            add({ScaleTurn::waits, k, at, name + " starts to wait",
                 begins ? from(b) : "at about " + words(at), ""});
        }
        const double ca = a.time_s[k] / a.compute_s, cb = b.time_s[k] / b.compute_s;
        if (ca <= 1 && cb > 1) {
            const double at = two_digits(where_one(a, b, ca, cb));
            add({ScaleTurn::passes_compute, k, at, name + " takes longer than compute",
                 "beyond about " + words(at), ""});
        }
    }
    // Finds where the bubble becomes longer than what the step waits for any axis.
    void find_bubble(const ScalePoint& a, const ScalePoint& b) {
        const auto most = [](const ScalePoint& p) {
            GroupKind out = GroupKind::tp;
            for (const GroupKind k : all_of<GroupKind>())
                if (p.waits_s[k] > p.waits_s[out]) out = k;
            return out;
        };
        const double wa = a.waits_s[most(a)], wb = b.waits_s[most(b)];
        if (wa <= 0 || wb <= 0 || a.bubble_s > wa || b.bubble_s <= wb || b.bubble_s <= kWaits * b.step_s)
            return;
        const double at = two_digits(where_one(a, b, a.bubble_s / wa, b.bubble_s / wb));
        add({ScaleTurn::bubble, most(b), at, "the bubble passes " + std::string(name_of(most(b))),
             "at about " + words(at), ""});
    }
    [[nodiscard]] static double where_one(const ScalePoint& a, const ScalePoint& b, double ya, double yb) {
        return between(a, b, std::log(std::max(ya, 1e-12)), std::log(yb), 0);
    }
    [[nodiscard]] static double value(const ScalePoint& p) { return static_cast<double>(p.at); }
    [[nodiscard]] std::string words(double at) const { return value_words(scale_.request.over, at); }
    [[nodiscard]] std::string from(const ScalePoint& p) const { return "from " + words(value(p)) + " on"; }
    void add(ScaleCrossing c) { scale_.crossings.push_back(std::move(c)); }

    const Plan& plan_;
    Scale& scale_;
};

}  // namespace

std::optional<Axis> axis_of(ScaleOver over) {
    switch (over) {
    case ScaleOver::tp: return Axis::tp;
    case ScaleOver::cp: return Axis::cp;
    case ScaleOver::ep: return Axis::ep;
    case ScaleOver::pp: return Axis::pp;
    default: return std::nullopt;
    }
}

const ScalePoint* Scale::at(std::int64_t value) const {
    const auto it =
        std::find_if(points.begin(), points.end(), [&](const ScalePoint& p) { return p.at == value; });
    return it == points.end() ? nullptr : &*it;
}

const ScalePoint* Scale::best() const {
    const auto it =
        std::max_element(points.begin(), points.end(),
                         [](const ScalePoint& a, const ScalePoint& b) { return a.of_best < b.of_best; });
    return it == points.end() || !it->possible() ? nullptr : &*it;
}

Plan scaled_plan(const Plan& plan, const ScaleRequest& r, std::int64_t value) {
    Plan p = plan;
    if (value == own_value(plan, r.over)) return p;
    if (const auto axis = axis_of(r.over)) return with_factor(plan, *axis, value, true);
    switch (r.over) {
    case ScaleOver::gpus: return on_gpus(plan, value, r.weak);
    case ScaleOver::batch: p.training.global_batch = value; break;
    default: p.training.sequence_length = value; break;
    }
    return p;
}

Scale scale_of(const Plan& plan, const ScaleRequest& request, const std::atomic<bool>* cancelled) {
    Scale out{.request = request, .points = {}, .crossings = {}, .own = own_value(plan, request.over)};
    Evaluation e;
    double best = 0;
    const auto rate = [&](const ScalePoint& p) {
        const std::int64_t gpus = request.over == ScaleOver::gpus ? p.at : plan.cluster.gpus;
        return p.tokens_per_s / static_cast<double>(gpus);
    };
    const auto doubles = [&](std::int64_t v) {  // it is not only the size of a tier
        const std::int64_t times = v / replica_of(plan.layout);
        return (times & (times - 1)) == 0 || v == out.own;
    };
    for (const std::int64_t v : values_of(plan, request)) {
        if (cancelled != nullptr && *cancelled) break;
        ScalePoint p = point_of(scaled_plan(plan, request, v), v, e);
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
