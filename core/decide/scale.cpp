#include "core/decide/scale.h"

#include "core/base/number.h"
#include "core/base/text.h"
#include "core/decide/search.h"
#include "core/mesh/places.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/pipeline/sequence.h"
#include "core/plan/edits.h"
#include "core/plan/field_list.h"
#include "core/plan/names.h"
#include "core/plan/problem.h"
#include "core/rules/software_runs.h"
#include "core/rules/state_runs.h"
#include "core/step/constants.h"

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

// Returns true for shards that have copies: more GPUs make more copies of them.
bool is_hybrid(const Plan& plan) {
    return plan.layout.dp_shard > 1 && replicas_in_force(plan) > 1;
}

// Data parallelism takes the GPUs that the other axes leave.
Plan on_gpus(const Plan& own, std::int64_t gpus, bool weak) {
    Plan p = is_hybrid(own) ? with_gpus_as_replicas(own, gpus) : with_gpus(own, gpus);
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
    out.slowed_s = s.slowed_by_traffic_s, out.optimizer_s = s.optimizer_s, out.straggler_s = s.straggler_s;
    out.offload_s = s.offload_s;
    for (const GroupKind k : all_of<GroupKind>()) {
        out.time_s[k] = e.comm.by_axis[k].time_s;
        out.waits_s[k] = s.exposed_comm_s[k];
        out.tier[k] = e.groups[k].degree > 1 && e.groups[k].groups > 0 ? e.groups[k].slowest_tier : -1;
    }
    return out;
}

// Holds the fastest groups of FSDP at one value, with copies across them.
struct GroupedShards {
    std::int64_t shards = 0;  // of a group; 0: none that fits as the plan does is worth it
    double saved = 0;         // of the plan's step there
};

// A plan that shards its parameters over all of data parallelism is tried with fewer shards and copies
// across.
GroupedShards grouped_shards(const Plan& plan, const ScalePoint& at, Evaluation& e) {
    constexpr std::int64_t kSeveral = 16;
    GroupedShards out;
    const Layout& l = plan.layout;
    if (!at.possible() || l.zero != 3 || l.dp_shard < kSeveral) return out;
    double best_s = (1 - kWorthIt) * at.step_s;
    for (std::int64_t shards = 2; shards < l.dp_shard; ++shards) {
        if (l.dp_shard % shards != 0) continue;
        Plan q = plan;
        q.layout.dp_shard = shards, q.layout.dp_replicate = l.dp_shard / shards;
        evaluate(q, e, {.timeline = false, .messages = false, .report = false});
        if (!e.step || e.step->time_s >= best_s || e.memory.fit() > std::max(at.fit, MemoryFit::tight))
            continue;
        best_s = e.step->time_s;
        out = {shards, 1 - best_s / at.step_s};
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
        const bool fits = b.memory_bytes <= hbm;
        // Between two factors there is no plan: it turns at the second of them.
        if (axis_of(scale_.request.over))
            return add(
                {ScaleTurn::memory, GroupKind::tp, value(b), fits ? "fits" : "does not fit", from(b), ""});
        const double at = two_digits(between(a, b, a.memory_bytes, b.memory_bytes, hbm));
        if (fits)
            add({ScaleTurn::memory, GroupKind::tp, at, "fits", "from about " + words(at) + " on", ""});
        else
            add({ScaleTurn::memory, GroupKind::tp, at, "does not fit", "beyond about " + words(at), ""});
    }

    // `before` and `now` are those of two points that follow one another, and the plan at the second is
    // `plan`.
    void find_groups(const GroupedShards& before, const GroupedShards& now, const Plan& plan,
                     const ScalePoint& at) {
        if ((before.shards > 0) == (now.shards > 0)) return;
        ScaleCrossing c{ScaleTurn::groups, GroupKind::dp_shard, value(at), "HSDP is faster", from(at), ""};
        if (now.shards > 0)
            c.why = sentence("shards over ", now.shards, ", ", plan.layout.dp_shard / now.shards,
                             " copies: ", percent_text(now.saved), " of the step there");
        else
            c.what = "HSDP is no faster";
        add(std::move(c));
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
            add({ScaleTurn::waits, k, at,
                 begins ? name + " starts to wait" : "waits for " + name + " pass " + percent_text(kWaits),
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
    if (axis_of(request.over)) return out;
    GroupedShards before;
    for (const ScalePoint& p : out.points) {
        if (cancelled != nullptr && *cancelled) break;
        const Plan there = scaled_plan(plan, request, p.at);
        if (replicas_in_force(there) > 1) continue;  // it is HSDP
        const GroupedShards now = grouped_shards(there, p, e);
        crossings.find_groups(before, now, there, p);
        before = now;
    }
    return out;
}

namespace {

constexpr double kKept = 0.9;       // of perfect scaling: so much is worth a name
constexpr double kMostNamed = 0.8;  // of a loss: parts that make up so much are named
constexpr double kSmall = 0.01;     // a smaller loss is not named

// Names the parts that a point loses against the best one, by how much longer each is than if it had grown as
// the tokens of a GPU did: these differences sum to the loss.
std::string lost_to(const ScalePoint& best, const ScalePoint& own) {
    struct Loss {
        std::string_view name;
        double time_s;
    };
    const double grown = own.step_s * own.of_best / best.step_s;
    const std::vector<ScalePart> before = parts_of(best), after = parts_of(own);
    std::vector<Loss> losses;
    for (const ScalePart& p : after) {
        const auto same =
            std::find_if(before.begin(), before.end(), [&](const ScalePart& b) { return b.name == p.name; });
        losses.push_back({p.name, p.time_s - (same == before.end() ? 0 : same->time_s * grown)});
    }
    std::sort(losses.begin(), losses.end(), [](const Loss& a, const Loss& b) { return a.time_s > b.time_s; });
    const double lost = own.step_s * (1 - own.of_best);
    std::string out;
    double named = 0;
    for (std::size_t i = 0; i < 2 && i < losses.size(); ++i) {
        if (losses[i].time_s <= 0.1 * lost || named >= kMostNamed * lost) break;
        out += (out.empty() ? "" : " and ") + std::string(losses[i].name);
        named += losses[i].time_s;
    }
    return out;
}

std::string most_to(const ScalePoint& best, const ScalePoint& own) {
    const std::string parts = lost_to(best, own);
    return parts.empty() ? "" : ", most of it to " + parts;
}

std::string gpus_verdict(const Scale& s, const ScalePoint& best, const ScalePoint* own) {
    const auto gpus = [](const ScalePoint& p) {
        return value_words(ScaleOver::gpus, static_cast<double>(p.at));
    };
    const ScalePoint* last = &best;
    for (const ScalePoint& p : s.points)
        if (p.possible() && p.at > last->at && p.of_best >= kKept) last = &p;
    const std::string scaling = s.request.weak ? " of perfect weak scaling" : " of perfect scaling";
    std::string out = "Up to " + gpus(*last) + " " + percent_text(last->of_best) + scaling + " is kept";
    if (last->fit != MemoryFit::yes) out += ", where it " + std::string(name_of(last->fit));
    if (own == nullptr || !own->possible()) return out + "; this plan is refused.";
    const double lost = 1 - own->of_best;
    if (own == last)
        out += ": that is this plan.";
    else
        out += "; at this plan's " + gpus(*own) + " "
               + (lost < kSmall ? "hardly anything is lost."
                                : percent_text(lost) + " is lost" + most_to(best, *own) + ".");
    // The limit lies behind the last of these: what is kept there, or that nothing runs.
    const std::int64_t from = std::max(last->at, own->at);
    for (const ScalePoint& p : s.points) {
        if (p.at <= from) continue;
        if (!p.possible()) return out + " " + gpus(p) + " are refused.";
        if (p.of_best < kKept)
            return out + " At " + gpus(p) + " " + percent_text(1 - p.of_best) + " is lost" + most_to(best, p)
                   + ".";
    }
    return out;
}

std::string rate_verdict(const Scale& s, const ScalePoint& best, const ScalePoint* own) {
    const auto words = [&](const ScalePoint& p) {
        return value_words(s.request.over, static_cast<double>(p.at));
    };
    const std::string most = "Most tokens per second come out of ";
    if (own == nullptr || !own->possible()) return most + words(best) + "; this plan is refused.";
    if (own == &best || 1 - own->of_best < kSmall)
        return "No other value gives noticeably more tokens per second than this plan's, " + words(*own)
               + ".";
    return most + words(best) + (fits(best.fit) ? "" : ", which does not fit") + "; this plan, with "
           + words(*own) + ", has " + percent_text(1 - own->of_best) + " less, lost to " + lost_to(best, *own)
           + ".";
}

std::string held_words(const Plan& plan, const Scale& s) {
    if (axis_of(s.request.over))
        return "The " + value_words(ScaleOver::gpus, static_cast<double>(plan.cluster.gpus))
               + " and the batch stay: data parallelism gives and takes the ranks.";
    const std::string batch =
        sentence(plan.training.global_batch, " sequences of ", plan.training.sequence_length, " tokens");
    if (s.request.over == ScaleOver::sequence)
        return "The batch stays at " + sentence(plan.training.global_batch, " sequences")
               + ", so a step has more tokens the longer they are.";
    if (s.request.over == ScaleOver::batch) return "The GPUs and the layout stay.";
    const std::string taker = is_hybrid(plan) ? "dp_replicate" : "data parallelism";
    return s.request.weak ? "The batch grows with the GPUs; " + taker + " takes them."
                          : "The batch stays at " + batch + "; " + taker + " takes the GPUs.";
}

}  // namespace

std::string value_words(ScaleOver over, double value) {
    const std::string n = whole_text(value);
    switch (over) {
    case ScaleOver::gpus: return n + (n == "1" ? " GPU" : " GPUs");
    case ScaleOver::batch: return "a batch of " + n;
    case ScaleOver::sequence: return n + " tokens";
    default: return std::string(name_of(over)) + " " + n;
    }
}

std::vector<ScalePart> parts_of(const ScalePoint& p) {
    std::vector<ScalePart> out{{StepPart::compute, GroupKind::tp, "compute", p.compute_s}};
    for (const GroupKind k : all_of<GroupKind>())
        if (p.waits_s[k] > 0) out.push_back({StepPart::exposed, k, name_of(k), p.waits_s[k]});
    if (p.slowed_s > 0)
        out.push_back({StepPart::slowed, GroupKind::tp, "compute slowed by traffic", p.slowed_s});
    out.push_back({StepPart::bubble, GroupKind::tp, "the bubble", p.bubble_s});
    if (p.offload_s > 0)
        out.push_back({StepPart::offload, GroupKind::tp, name_of(StepPart::offload), p.offload_s});
    out.push_back({StepPart::optimizer, GroupKind::tp, "the optimizer", p.optimizer_s});
    out.push_back({StepPart::straggler, GroupKind::tp, "stragglers", p.straggler_s});
    return out;
}

ScaleWords words_of(const Plan& plan, const Scale& s) {
    const ScalePoint* best = s.best();
    if (best == nullptr) return {"No value of these is possible.", held_words(plan, s)};
    const ScalePoint* own = s.at(s.own);
    return {s.request.over == ScaleOver::gpus ? gpus_verdict(s, *best, own) : rate_verdict(s, *best, own),
            held_words(plan, s)};
}

namespace {

constexpr double kNudge = 0.2;

// Returns true for a software that may keep gradients in fp8: a program of one's own. Megatron-LM has fp32
// and bf16 (training/arguments.py, --main-grads-dtype), torchtitan float32 and bfloat16 (training.dtype),
// DeepSpeed fp32, fp16 and bf16 (data_types.grad_accum_dtype); no other adds them up in fp8 either.
bool may_keep_fp8_gradients(Software software) {
    return software == Software::fsdp;
}

constexpr std::string_view kLayout = "/layout", kTraining = "/training";

class Nudger {
  public:
    Nudger(const Plan& plan, const Presets& presets, Sensitivity& out, const std::atomic<bool>* cancel)
        : plan_(plan), presets_(presets), out_(out), cancel_(cancel) {}

    void run() {
        gpus();
        for (const Axis a : all_of<Axis>()) factor(a);
        chunks();
        orders();
        fields();
        for (const Constant& c : list_constants(plan_, presets_)) constant(c);
    }

  private:
    using Kind = SensitivityRow::Kind;

    Nudge nudge(std::string value, Plan plan) {
        Nudge n{std::move(value), std::move(plan), {}};
        follow_software(plan_, n.plan);
        if (cancel_ != nullptr && *cancel_) {
            n.refused = "cancelled";
            return n;
        }
        if (const auto lack = lack_that_came(plan_, n.plan)) {
            n.refused = sentence(words_of(*lack, n.plan, n.plan.training.software), ".");
            return n;
        }
        // A type that another one follows from is not judged: a run that computes in fp16 keeps its weights
        // so.
        if (n.plan.training.compute == plan_.training.compute) {
            const std::string lack = state_lack(n.plan, n.plan.training.software);
            if (!lack.empty() && lack != state_lack(plan_, n.plan.training.software)) {
                n.refused = lack + ".";
                return n;
            }
        }
        evaluate(n.plan, seen_);
        if (!seen_.step) {
            n.refused = first_error(seen_.problems);
            if (n.refused.empty()) n.refused = "no time comes out";
            return n;
        }
        n.step_s = seen_.step->time_s;
        n.tokens_per_s = seen_.step->tokens_per_s;
        n.same_tokens_s = n.step_s * (tokens_per_step(plan_.training) / tokens_per_step(n.plan.training));
        n.memory_bytes = seen_.memory.peak();
        n.fit = seen_.memory.fit();
        return n;
    }

    void put(Kind kind, std::string id, std::string name, std::string value, std::optional<Nudge> down,
             std::optional<Nudge> up, std::optional<Constant::Unit> unit = std::nullopt) {
        if (!down && !up) return;
        double least = out_.step_s, most = out_.step_s;
        for (const std::optional<Nudge>* n : {&down, &up})
            if (*n && (*n)->valid())
                least = std::min(least, (*n)->same_tokens_s), most = std::max(most, (*n)->same_tokens_s);
        out_.rows.push_back({kind, std::move(id), std::move(name), std::move(value), unit, std::move(down),
                             std::move(up), most - least});
    }

    void gpus() {
        const std::int64_t now = plan_.cluster.gpus;
        const auto to = [&](std::int64_t n) -> std::optional<Nudge> {
            if (n == now) return std::nullopt;
            return nudge(std::to_string(n), with_gpus(plan_, n));
        };
        put(Kind::factor, "/cluster/gpus", "GPUs", std::to_string(now),
            to(next_value("/cluster/gpus", now, -1)), to(next_value("/cluster/gpus", now, 1)));
    }

    // Takes the next legal factors of an axis; data parallelism takes or gives the difference.
    void factor(Axis axis) {
        const std::int64_t now = factor_in_force(plan_, axis);
        std::int64_t below = 0, above = 0;
        for (const std::int64_t f : legal_factors(plan_, axis)) {
            if (f < now) below = f;
            if (f > now && above == 0) above = f;
        }
        const auto to = [&](std::int64_t f) -> std::optional<Nudge> {
            if (f == 0) return std::nullopt;
            return nudge(std::to_string(f), with_factor(plan_, axis, f, true));
        };
        put(Kind::factor, "/layout/" + std::string(name_of(axis)), std::string(name_of(axis)),
            std::to_string(now), to(below), to(above));
    }

    // Takes the next numbers of chunks that the schedule runs.
    void chunks() {
        const Layout& l = plan_.layout;
        const auto to = [&](int by) -> std::optional<Nudge> {
            for (std::int64_t v = l.virtual_stages + by; v >= 1 && v * l.pp <= plan_.model.layers; v += by) {
                Plan p = with_schedule(plan_, l.schedule, v);
                Nudge n = nudge(std::to_string(v), std::move(p));
                if (n.valid()) return n;
            }
            return std::nullopt;
        };
        put(Kind::setting, "/layout/virtual_stages", "virtual_stages", std::to_string(l.virtual_stages),
            to(-1), to(1));
    }

    // Takes another schedule, with chunks that it can run.
    void schedule(Schedule other) {
        const Layout& l = plan_.layout;
        const std::int64_t chunks = chunks_for(other, l.virtual_stages);
        put(Kind::setting, "/layout/schedule", "schedule", with_chunks(l.schedule, l.virtual_stages),
            std::nullopt, nudge(with_chunks(other, chunks), with_schedule(plan_, other, chunks)));
    }

    void orders() {
        std::vector<AxisOrder> seen{plan_.layout.order};
        for (const OrderPreset& o : order_presets()) {
            if (std::find(seen.begin(), seen.end(), o.order) != seen.end()) continue;
            seen.push_back(o.order);
            put(Kind::setting, "/layout/order", "order", std::string(order_name(plan_.layout.order)),
                std::nullopt, nudge(std::string(o.name), with_order(plan_, o.order)));
        }
    }

    void fields() {
        const auto list = list_fields(plan_);
        for (std::size_t i = 0; i < list.size(); ++i) {
            const bool layout = list[i].owner == kLayout;
            if (!layout && !list[i].owner.starts_with(kTraining)) continue;
            std::visit([&](const auto& place) { field(i, list[i], place); }, list[i].place);
        }
    }

    using Listed = ListedField<true>;
    // Returns the plan with the field at `i` of the list changed by `change(place)`.
    template <typename Place, typename Change>
    Nudge changed(std::size_t i, std::string value, Change&& change) {
        Plan p = plan_;
        change(std::get<Place>(list_fields(p)[i].place));
        return nudge(std::move(value), std::move(p));
    }

    void field(std::size_t i, const Listed& f, const bool* now) {
        Nudge n = changed<bool*>(i, *now ? "off" : "on", [&](bool* v) { *v = !*v; });
        std::optional<Nudge> down, up;
        (*now ? down : up) = std::move(n);
        put(Kind::setting, f.pointer(), name(f), *now ? "on" : "off", std::move(down), std::move(up));
    }
    void field(std::size_t i, const Listed& f, const int* now) {  // zero
        const auto to = [&](int value) -> std::optional<Nudge> {
            if (value < 0 || value > 3) return std::nullopt;
            return changed<int*>(i, std::to_string(value), [&](int* v) { *v = value; });
        };
        put(Kind::setting, f.pointer(), name(f), std::to_string(*now), to(*now - 1), to(*now + 1));
    }
    // Sizes and batches halve and double. Factors have rows of their own.
    void field(std::size_t i, const Listed& f, const std::int64_t* now) {
        if (f.owner == kLayout) return;
        const bool layers = f.key == "activations_layers";
        const auto to = [&](std::int64_t value) -> std::optional<Nudge> {
            const auto* range = std::get_if<IntRange>(&f.range);
            if (!range || value == *now || value < range->least || value > range->most) return std::nullopt;
            return changed<std::int64_t*>(i, std::to_string(value), [&](std::int64_t* v) { *v = value; });
        };
        const bool odd = *now % 2 != 0;
        put(Kind::setting, f.pointer(), name(f), std::to_string(*now),
            layers ? to(*now - 1)
            : odd  ? std::nullopt
                   : to(*now / 2),
            to(layers ? *now + 1 : *now * 2));
    }
    void field(std::size_t i, const Listed& f, const double* now) {
        const auto* range = std::get_if<NumberRange>(&f.range);
        if (!range || f.key == "tokens_total" || f.key == "checkpoint_s") return;  // of no figure here
        if (f.owner == "/training/buffers" || f.key == "costly_share") return;     // listed as constants
        const double step = *now == 0 ? 0 : kNudge * *now;
        const auto to = [&](double value) -> std::optional<Nudge> {
            value = std::clamp(value, range->least, range->most);
            if (value == *now) return std::nullopt;
            return changed<double*>(i, three_digits(value), [&](double* v) { *v = value; });
        };
        put(Kind::setting, f.pointer(), name(f), three_digits(*now), to(*now - step), to(*now + step));
    }
    void field(std::size_t i, const Listed& f, const RecomputeChoice* now) {
        const auto to = [&](int kind) -> std::optional<Nudge> {
            if (kind < 0 || kind > static_cast<int>(Recompute::full)) return std::nullopt;
            const auto word = static_cast<Recompute>(kind);
            return changed<RecomputeChoice*>(i, std::string(name_of(word)),
                                             [&](RecomputeChoice* v) { *v = word; });
        };
        const int at = static_cast<int>(now->kind);
        put(Kind::setting, f.pointer(), name(f), words_of(*now), to(at - 1), to(at + 1));
    }
    void field(std::size_t i, const Listed& f, const FieldPlace<true>::Choice& now) {
        const bool stored = f.key == "parameters" || f.key == "gradients" || f.key == "optimizer_state";
        for (std::size_t k = 0; k < now.names.size(); ++k) {
            if (k == *now.value || f.key == "software") continue;
            const auto type = static_cast<Dtype>(k);  // of a choice of number formats
            if (stored && (type == Dtype::tf32 || type == Dtype::fp4)) continue;  // no plan stores these
            if (f.key == "gradients" && type == Dtype::fp8
                && !may_keep_fp8_gradients(plan_.training.software))
                continue;
            if (f.key == "schedule") {
                schedule(static_cast<Schedule>(k));
                continue;
            }
            put(Kind::setting, f.pointer(), name(f), std::string(now.names[*now.value]), std::nullopt,
                changed<FieldPlace<false>::Choice>(
                    i, std::string(now.names[k]),
                    [&](const FieldPlace<false>::Choice& v) { *v.value = static_cast<std::uint8_t>(k); }));
        }
    }
    // Finer choices that a plan may leave out, and lists, have no next value.
    void field(std::size_t, const Listed&, const std::optional<std::int64_t>*) {}
    void field(std::size_t, const Listed&, const std::vector<std::int64_t>*) {}
    void field(std::size_t, const Listed&, const std::array<Axis, kAxisCount>*) {}

    static std::string name(const Listed& f) {
        return f.owner == "/training/overlap"   ? "overlap " + std::string(f.key)
               : f.owner == "/training/offload" ? "offload " + std::string(f.key)
                                                : std::string(f.key);
    }

    void constant(const Constant& c) {
        if (c.id == "efficiency.error" || c.id == "costly_share") return;  // no part of any figure
        const auto to = [&](double value) -> std::optional<Nudge> {
            value = std::clamp(value, c.least, c.most);
            if (value == c.value) return std::nullopt;
            return nudge(general(value), with_constant(plan_, presets_, c.id, value));
        };
        if (c.unit == Constant::Unit::flag) {
            std::optional<Nudge> down, up;
            (c.value != 0 ? down : up) = to(c.value != 0 ? 0 : 1);
            put(Kind::constant, c.id, c.name, c.value != 0 ? "on" : "off", std::move(down), std::move(up),
                c.unit);
            return;
        }
        put(Kind::constant, c.id, c.name, general(c.value), to(c.value * (1 - kNudge)),
            to(c.value * (1 + kNudge)), c.unit);
    }
    static std::string general(double x) { return general_text(x, 4); }

    const Plan& plan_;
    const Presets& presets_;
    Sensitivity& out_;
    const std::atomic<bool>* cancel_;  // null: it runs to the end
    Evaluation seen_;
};

}  // namespace

std::vector<std::size_t> Sensitivity::by_reach() const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto moves = [&](const std::optional<Nudge>& n) {
            return n && n->valid() && (n->same_tokens_s != step_s || n->memory_bytes != memory_bytes);
        };
        if (moves(rows[i].down) || moves(rows[i].up)) out.push_back(i);
    }
    std::stable_sort(out.begin(), out.end(),
                     [&](std::size_t a, std::size_t b) { return rows[a].reach_s > rows[b].reach_s; });
    return out;
}

Sensitivity sensitivity_of(const Plan& plan, const Presets& presets, const std::atomic<bool>* cancel) {
    Sensitivity out;
    const Evaluation e = evaluate(plan);
    if (!e.step) return out;
    out.step_s = e.step->time_s;
    out.tokens_per_s = e.step->tokens_per_s;
    out.memory_bytes = e.memory.peak();
    Nudger(plan, presets, out, cancel).run();
    return out;
}

std::string_view name_of(SensitivityRow::Kind kind) {
    switch (kind) {
    case SensitivityRow::Kind::factor: return "factor";
    case SensitivityRow::Kind::setting: return "setting";
    case SensitivityRow::Kind::constant: return "constant";
    }
    return "";
}

}  // namespace pentamesh
