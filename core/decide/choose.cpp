#include "core/decide/choose.h"

#include "core/base/text.h"
#include "core/decide/compare.h"
#include "core/decide/decision.h"
#include "core/memory/memory.h"
#include "core/plan/software.h"
#include "core/step/step.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace pentamesh {
namespace {

std::string share_text(double share) {
    return percent_text(share, Zeros::kept);
}

// Plans that do the same work are compared by their step, others by the tokens of a second, and those of
// clusters of different sizes by the tokens of a GPU.
bool same_work(const Evaluation& a, const Evaluation& b) {
    return a.mesh.world == b.mesh.world && a.step->tokens_per_step == b.step->tokens_per_step;
}

double compared_rate(const Evaluation& e, bool per_gpu) {
    return per_gpu ? tokens_per_gpu_s(e) : e.step->tokens_per_s;
}

// Returns the share of time by which the plan is faster than the other; < 0: slower.
double faster_by(const Evaluation& e, const Evaluation& than) {
    const bool per_gpu = e.mesh.world != than.mesh.world;
    return 1 - compared_rate(than, per_gpu) / compared_rate(e, per_gpu);
}

// Says how a plan stands to the one that is its base, whose step is the base of every share: "saves 0.72 s a
// step, 9.8 %", "takes 0.72 s more a step, 10.9 %"; of plans with other work "trains 9.8 % more tokens a
// second and GPU".
std::string against(const Evaluation& e, const Evaluation& base) {
    constexpr double kTimes = 2;  // from here on a gain is said as a factor
    if (same_work(e, base)) {
        const double saved = base.step->time_s - e.step->time_s;
        const std::string time = time_text(std::abs(saved), Zeros::kept),
                          share = share_text(std::abs(saved) / base.step->time_s);
        return saved >= 0 ? "saves " + time + " a step, " + share
                          : "takes " + time + " more a step, " + share;
    }
    const bool per_gpu = e.mesh.world != base.mesh.world;
    const double ratio = compared_rate(e, per_gpu) / compared_rate(base, per_gpu);
    return "trains "
           + (ratio < 1        ? share_text(1 - ratio) + " fewer"
              : ratio < kTimes ? share_text(ratio - 1) + " more"
                               : three_digits(ratio, Zeros::kept) + " times as many")
           + " tokens a second" + (per_gpu ? " and GPU" : "");
}

MemoryFit judged_fit(const Evaluation& e) {
    return fit_of(e.memory).value_or(MemoryFit::no);
}

bool all_of_one_model(std::span<const JudgedPlan> plans) {
    return std::ranges::all_of(plans,
                               [&](const JudgedPlan& p) { return p.plan->model == plans[0].plan->model; });
}

std::string spare_text(const Evaluation& e) {
    return memory_text(e.memory.hbm - e.memory.peak()) + " to spare";
}

// Returns "fits with 6.2 GiB to spare"; of a plan whose fit is open "fits by the sum with 6.2 GiB to spare,
// but may not".
std::string fit_words(const Evaluation& e) {
    const bool sure = judged_fit(e) == MemoryFit::yes;
    return (sure ? "fits with " : "fits by the sum with ") + spare_text(e) + (sure ? "" : ", but may not");
}

std::string not_fitting_words(std::size_t index, MemoryFit fit) {
    return plan_letter(index) + (fit == MemoryFit::no ? " does not fit. " : " may not fit. ");
}

// Returns which of two plans that fit and are as fast, as far as an estimate knows, holds much less than the
// other.
std::optional<std::size_t> much_leaner(const Evaluation& a, const Evaluation& b) {
    const double more = a.memory.peak() - b.memory.peak();
    if (std::abs(more) < kMuchMemory * std::min(a.memory.hbm, b.memory.hbm)) return std::nullopt;
    const bool lean_is_b = more > 0;
    const Evaluation &lean = lean_is_b ? b : a, &other = lean_is_b ? a : b;
    const double gain = faster_by(lean, other);
    const bool no_slower =
        gain > -kWorthIt && !(gain >= kWorthIt && is_sure_gain(gain, *lean.step, *other.step));
    return no_slower ? std::optional<std::size_t>(lean_is_b ? 1 : 0) : std::nullopt;
}

// Says of two plans that fit by the sum whether they fit, in the words of their verdicts: "Both fit.", "B may
// not fit.", "Either may not fit." `fast` has the letter `index`.
std::string both_fit_words(const Evaluation& fast, const Evaluation& slow, std::size_t index) {
    const bool open = may_not_fit(judged_fit(fast)), other_open = may_not_fit(judged_fit(slow));
    if (open && other_open) return "Either may not fit.";
    if (!open && !other_open) return "Both fit.";
    return plan_letter(open ? index : 1 - index) + " may not fit.";
}

// Returns "Take B if it measures faster: 9.80 % by the estimate. Both fit.", "Take A. B takes 0.72 s more a
// step, 10.9 %. Both fit." Shares are of A's step, whichever is the faster one.
std::string faster_words(const Evaluation& fast, const Evaluation& slow, std::size_t index, bool sure) {
    const bool is_a = index == 0;
    const Evaluation &a = is_a ? fast : slow, &b = is_a ? slow : fast;
    const std::string fit = both_fit_words(fast, slow, index), take = "Take " + plan_letter(index),
                      words = (is_a ? "B " : "it ") + against(b, a);
    if (sure) return take + ". " + (is_a ? words : "It " + against(b, a)) + ". " + fit;
    return take + " if it measures faster: "
           + (!same_work(a, b) ? "by the estimate " + words
              : is_a           ? "B is " + share_text(-faster_by(b, a)) + " slower by the estimate"
                               : share_text(faster_by(b, a)) + " by the estimate")
           + ". " + fit;
}

// Chooses between two plans of one model that have a step, of which one fits.
PlanChoice choose_the_one_that_fits(std::span<const JudgedPlan> plans, std::size_t take, bool near,
                                    bool faster) {
    const std::size_t other = 1 - take;
    const Evaluation &e = *plans[take].evaluation, &than = *plans[other].evaluation;
    // B is said against A, whichever is taken.
    const std::string b = take == 0 ? "B " + against(than, e) : (faster ? "" : "it ") + against(e, than),
                      speed = near     ? ""
                              : faster ? ", and " + b
                                       : ", though " + b;
    return {take, true,
            not_fitting_words(other, judged_fit(than)) + "Take " + plan_letter(take) + ": it " + fit_words(e)
                + speed + ".",
            ""};
}

PlanChoice choose_of_two(std::span<const JudgedPlan> plans) {
    const std::array<const Evaluation*, 2> e{plans[0].evaluation, plans[1].evaluation};
    for (std::size_t i = 0; i < 2; ++i)
        if (!e[i]->step) return {std::nullopt, true, plan_letter(i) + " cannot be built.", ""};
    const std::array<MemoryFit, 2> fit{judged_fit(*e[0]), judged_fit(*e[1])};
    if (!all_of_one_model(plans)) {
        std::string out;
        for (std::size_t i = 0; i < 2; ++i)
            if (!fits(fit[i])) out += not_fitting_words(i, fit[i]);
        return {std::nullopt, true, out + "A and B train different models: their figures do not decide.", ""};
    }
    const std::size_t fast = faster_by(*e[1], *e[0]) > 0 ? 1 : 0;
    const Evaluation &faster = *e[fast], &slower = *e[1 - fast];
    const double gain = faster_by(faster, slower);
    const bool near = gain < kWorthIt, sure = is_sure_gain(gain, *faster.step, *slower.step);
    PlanChoice out;
    if (fits(fit[0]) != fits(fit[1])) {
        const std::size_t take = fits(fit[0]) ? 0 : 1;
        out = choose_the_one_that_fits(plans, take, near, take == fast);
    } else if (!fits(fit[0])) {
        out.sentence = "Neither fits with the usual buffers"
                       + (near ? std::string(", and they are as fast to within 1 %.")
                               : ". B " + against(*e[1], *e[0]) + ".");
    } else if (const auto lean = much_leaner(*e[0], *e[1])) {
        out = {lean, true,
               "Take " + plan_letter(*lean) + ": it holds "
                   + memory_text(e[1 - *lean]->memory.peak() - e[*lean]->memory.peak()) + " less, and is "
                   + (near ? "as fast to within 1 %." : "no slower.")
                   + (may_not_fit(fit[*lean]) ? " It may not fit." : ""),
               ""};
    } else if (near) {
        out.sentence = both_fit_words(faster, slower, fast) + " They are as fast to within 1 %.";
    } else {
        out = {fast, sure, faster_words(faster, slower, fast, sure), ""};
    }
    // A plan that does not fit has no speed that counts.
    if (fits(fit[0]) && fits(fit[1]))
        out.caution = tie_caution(faster_by(*e[1], *e[0]), *faster.step, *slower.step);
    return out;
}

PlanChoice choose_of_many(std::span<const JudgedPlan> plans) {
    if (!all_of_one_model(plans))
        return {std::nullopt, true, "The plans train different models: their figures do not decide.", ""};
    const auto best = best_among(plans);
    if (!best)
        return {std::nullopt, true,
                "None of the " + std::to_string(plans.size()) + " plans fits with the usual buffers.", ""};
    const Evaluation &a = *plans[0].evaluation, &b = *plans[*best].evaluation;
    if (*best == 0) return {best, true, "Take A: of the plans that fit none is more than 1 % faster.", ""};
    const std::string take = "Take " + plan_letter(*best);
    if (!a.step) return {best, true, "A cannot be built. " + take + ": it " + fit_words(b) + ".", ""};
    if (!fits(judged_fit(a)))
        return {best, true, not_fitting_words(0, judged_fit(a)) + take + ": it " + fit_words(b) + ".", ""};
    const double gain = faster_by(b, a);
    const bool sure = is_sure_gain(gain, *a.step, *b.step);
    return {best, sure,
            sure
                ? take + ": it " + against(b, a) + " than A, and " + std::string(name_of(judged_fit(b))) + "."
                : take + " if it measures faster: by the estimate it " + against(b, a) + " than A.",
            tie_caution(gain, *a.step, *b.step)};
}

}  // namespace

std::string plan_letter(std::size_t index) {
    return {static_cast<char>('A' + index)};
}

std::string tie_caution(double change, const Step& a, const Step& b) {
    // A tie is one from both sides: it goes by the share of the slower one's step.
    const double gain = change >= 0 ? change : -change / (1 - change), range = std::max(a.error, b.error);
    if (gain < kWorthIt || is_sure_gain(gain, a, b)) return {};
    const std::string share = percent_text(std::abs(change)),
                      own = "the estimate's own range of " + percent_text(range);
    if (change > 0) return "A gain of " + share + " is less than " + own + ".";
    if (-change < range) return "A difference of " + share + " is less than " + own + ".";
    return "That may turn within " + own + ".";
}

PlanChoice choose_among(std::span<const JudgedPlan> plans) {
    return plans.size() == 2 ? choose_of_two(plans) : choose_of_many(plans);
}

std::optional<std::size_t> best_among(std::span<const JudgedPlan> plans) {
    if (!all_of_one_model(plans)) return std::nullopt;
    const auto is_possible = [](const JudgedPlan& p) {
        return p.evaluation->step && fits(judged_fit(*p.evaluation));
    };
    if (plans.size() == 2 && std::ranges::all_of(plans, is_possible))
        if (const auto lean = much_leaner(*plans[0].evaluation, *plans[1].evaluation)) return lean;
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        if (!is_possible(plans[i])) continue;
        if (!best || faster_by(*plans[i].evaluation, *plans[*best].evaluation) >= kWorthIt) best = i;
    }
    return best;
}

SearchStanding standing_of(const Evaluation& plan, const SearchReport& report) {
    SearchStanding out;
    const auto fastest = std::ranges::min_element(report.results, {}, &SearchResult::step_s);
    if (fastest == report.results.end() || report.goal == Goal::memory) return out;
    if (!plan.step || !fits(judged_fit(plan))) {
        out.standing = PlanStanding::fits;
        out.sentence = "The plan itself "
                       + (plan.step ? std::string(name_of(judged_fit(plan))) : std::string("is impossible"))
                       + "; the fastest layout that fits"
                       + (fastest->fit == MemoryFit::yes ? " takes " : " by the sum takes ")
                       + time_text(fastest->step_s) + " a step.";
        return out;
    }
    const double own_s = plan.step->time_s;
    const bool faster = fastest->step_s <= own_s;
    const double gain = faster ? 1 - fastest->step_s / own_s : 1 - own_s / fastest->step_s;
    out.gain = 1 - fastest->step_s / own_s;
    out.range = std::max(plan.step->error, fastest->step.error);
    // A plan may have what no layout of the search has: its own software does not run it.
    const bool outside = report.space.software && report.base.lacks.any();
    const std::string runs = outside ? std::string(facts_of(*report.space.software).name) : std::string(),
                      who = "The fastest" + (outside ? " that " + runs + " runs" : std::string()),
                      itself =
                          outside ? "the plan, which " + runs + " does not run" : std::string("the plan"),
                      than = percent_text(std::abs(out.gain)) + (faster ? " faster" : " slower") + " than "
                             + itself,
                      far = faster && fastest->changes > 2
                                ? " It changes " + count_text(fastest->changes, "field") + " of the plan."
                                : std::string(),
                      fit = faster && may_not_fit(fastest->fit) ? " It may not fit." : "";
    if (gain < kWorthIt) {
        out.standing = PlanStanding::alike;
        out.sentence = who + " takes as long as " + itself + ", to within 1 %.";
    } else if (is_sure_gain(gain, *plan.step, fastest->step)) {
        out.standing = faster ? PlanStanding::faster : PlanStanding::slower;
        out.sentence = who + " is " + than + ", more than the estimate may be off." + far + fit;
    } else {
        out.standing = PlanStanding::tied;
        out.sentence = who + " is " + than + (outside ? "," : "") + " by the estimate, which is tied: "
                       + tie_caution(out.gain, *plan.step, fastest->step) + far + fit;
    }
    return out;
}

}  // namespace pentamesh
