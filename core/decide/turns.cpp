#include "core/decide/turns.h"

#include "core/base/threads.h"
#include "core/decide/compare.h"
#include "core/decide/decision.h"
#include "core/evaluate.h"
#include "core/memory/memory.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace pentamesh {

namespace {

// Holds the figures of a candidate by which the decision is made.
struct TurnFigures {
    MemoryFit verdict = MemoryFit::no;
    bool fit = false;
    double rate = 0;            // tokens a second and GPU; 0: it has no step
    double bytes = 0, hbm = 0;  // of the fullest GPU
};

TurnFigures turn_figures(const Plan& plan, Evaluation& work) {
    evaluate(plan, work, {.messages = false, .report = false});
    if (!work.valid || !work.step) return {};
    const MemoryFit verdict = fit_of(work.memory).value_or(MemoryFit::no);
    return {verdict, fits(verdict), tokens_per_gpu_s(work), work.memory.peak(), work.memory.hbm};
}

// Returns true if the second saves at least kWorthIt of the first one's time.
bool worth_it(const TurnFigures& from, const TurnFigures& to) {
    return to.rate > 0 && 1 - from.rate / to.rate >= kWorthIt;
}

std::optional<TurnPoint> broken(const Candidates& decision, const std::vector<TurnFigures>& f) {
    const auto point = [&](TurnKind kind, std::size_t by) {
        return TurnPoint{0, kind, by, may_not_fit(f[by].verdict)};
    };
    std::optional<std::size_t> best;  // the fastest of those that fit
    for (std::size_t i = 0; i < f.size(); ++i)
        if (f[i].fit && (!best || f[i].rate > f[*best].rate)) best = i;
    if (!decision.taken) return best ? std::optional(point(TurnKind::fits_after_all, *best)) : std::nullopt;
    const std::size_t taken = *decision.taken;
    if (!f[taken].fit) return point(TurnKind::fits_no_more, best.value_or(taken));
    if (decision.for_memory) {
        if (!f[0].fit) return std::nullopt;
        if (worth_it(f[taken], f[0])) return point(TurnKind::is_slower, 0);
        if (f[0].bytes - f[taken].bytes < kMuchMemory * f[0].hbm) return point(TurnKind::frees_too_little, 0);
        return std::nullopt;
    }
    if (worth_it(f[taken], f[*best])) return point(TurnKind::is_slower, *best);
    return std::nullopt;
}

using PlanAt = std::function<Plan(const Plan&, double)>;

// Asks one assumption, value by value.
class TurnSearch {
  public:
    TurnSearch(const Candidates& decision, PlanAt plan_at)
        : decision_(decision), plan_at_(std::move(plan_at)) {}

    std::optional<TurnPoint> at(double value) {
        std::vector<TurnFigures> figures;
        for (const Plan& p : decision_.plans) figures.push_back(turn_figures(plan_at_(p, value), work_));
        std::optional<TurnPoint> out = broken(decision_, figures);
        if (out) out->at = value;
        return out;
    }

    // Returns the turn that is nearest to `now`, on the way to `end`; both are above 0.
    std::optional<TurnPoint> towards(double now, double end) {
        constexpr double kNear = 1.001;
        if (std::max(now / end, end / now) < kNear) return std::nullopt;
        double held = now;
        for (int i = 1; i <= kTurnValues; ++i) {
            const double value =
                i == kTurnValues ? end : now * std::pow(end / now, static_cast<double>(i) / kTurnValues);
            std::optional<TurnPoint> turned = at(value);
            if (!turned) {
                held = value;
                continue;
            }
            while (std::max(held / turned->at, turned->at / held) > kNear) {
                const double middle = std::sqrt(held * turned->at);
                if (const auto there = at(middle))
                    turned = there;
                else
                    held = middle;
            }
            return turned;
        }
        return std::nullopt;
    }

  private:
    const Candidates& decision_;
    PlanAt plan_at_;
    Evaluation work_{};
};

// Returns the plan with its own constant changed by the factor by which `value` differs from the present one:
// candidates may have other hardware. A plan that has no such constant stays as it is.
Plan with_scaled(const Plan& plan, const Presets& presets, const Constant& constant, double value) {
    for (const Constant& c : list_constants(plan, presets))
        if (c.id == constant.id)
            return with_constant(plan, presets, c.id,
                                 c.value == constant.value ? value : c.value * (value / constant.value));
    return plan;
}

bool is_asked(const Constant& c) {
    return c.value > 0 && c.unit != Constant::Unit::flag && c.section != ConstantSection::verdict;
}

}  // namespace

std::optional<TurnPoint> broken_by(const Candidates& decision, const std::vector<Plan>& plans) {
    Evaluation work;
    std::vector<TurnFigures> figures;
    for (const Plan& p : plans) figures.push_back(turn_figures(p, work));
    return broken(decision, figures);
}

double Turns::nearest() const {
    double out = std::numeric_limits<double>::infinity();
    for (const std::optional<TurnPoint>& p : {below, above})
        if (p && p->at > 0) out = std::min(out, std::max(p->at / constant.value, constant.value / p->at));
    return out;
}

std::vector<Turns> turns_of(const Candidates& decision, const Presets& presets, int threads) {
    std::vector<Turns> out;
    if (decision.plans.empty()) return out;
    Evaluation work;
    const bool any =
        std::ranges::any_of(decision.plans, [&](const Plan& p) { return turn_figures(p, work).rate > 0; });
    if (!any || broken_by(decision, decision.plans)) return out;
    for (Constant& c : list_constants(decision.plans[decision.taken.value_or(0)], presets)) {
        if (!is_asked(c)) continue;
        Turns turns;
        turns.least = std::max(c.least, c.value / kTurnFactor);
        turns.most = std::min(c.most, c.value * kTurnFactor);
        turns.constant = std::move(c);
        out.push_back(std::move(turns));
    }
    std::atomic<std::size_t> next{0};
    run_on_threads(threads > 0 ? threads : cores(), [&] {
        for (std::size_t i = next++; i < out.size(); i = next++) {
            Turns& t = out[i];
            TurnSearch search(decision, [&](const Plan& p, double value) {
                return with_scaled(p, presets, t.constant, value);
            });
            t.below = search.towards(t.constant.value, t.least);
            t.above = search.towards(t.constant.value, t.most);
        }
    });
    std::ranges::stable_sort(out, {}, [](const Turns& t) { return t.nearest(); });
    return out;
}

Turns batch_turns(const Candidates& decision) {
    constexpr int kTimes = 2;
    const Plan& plan = decision.plans[decision.taken.value_or(0)];
    const auto own = static_cast<double>(plan.training.global_batch);
    Turns out;
    out.constant.id = "/training/global_batch";
    out.constant.name = "global batch";
    out.constant.meaning = "Sequences of a step.";
    out.constant.unit = Constant::Unit::ratio;
    out.constant.value = out.least = out.most = own;
    Evaluation work;
    TurnSearch search(decision, [](const Plan& p, double value) {
        Plan q = p;
        q.training.global_batch = static_cast<std::int64_t>(value);
        return q;
    });
    const auto walk = [&](double factor, double& end, std::optional<TurnPoint>& turned) {
        double value = own;
        for (int i = 0; i < kTimes && !turned; ++i) {
            value *= factor;
            if (value < 1 || value != std::floor(value)) return;
            Plan q = plan;
            q.training.global_batch = static_cast<std::int64_t>(value);
            // A batch that the plan that is taken cannot have says nothing of the others.
            if (decision.taken && turn_figures(q, work).rate <= 0) return;
            end = value;
            turned = search.at(value);
        }
    };
    walk(0.5, out.least, out.below);
    walk(2, out.most, out.above);
    return out;
}

}  // namespace pentamesh
