#include "app/ui/review/decision_words.h"

#include "app/tables/compare.h"
#include "app/tables/memory.h"
#include "app/ui/kit/format.h"
#include "app/ui/views/search/search_found.h"
#include "core/decide/nearby.h"
#include "core/explain/verdict.h"
#include "core/plan/problem.h"
#include "core/runs/measured.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pentamesh::ui {

namespace {

double gain_of(const Reviewed& of, const SearchResult& r) {
    return 1 - r.step_s / of.evaluation.step->time_s;
}

// Plans that do the same work are compared by their step, others by the tokens of a second, and those of
// clusters of different sizes by the tokens of a GPU.
bool same_work(const Evaluation& a, const Evaluation& b) {
    return a.mesh.world == b.mesh.world && a.step->tokens_per_step == b.step->tokens_per_step;
}
double rate_of(const Evaluation& e, bool per_gpu) {
    return per_gpu ? tokens_per_gpu_s(e) : e.step->tokens_per_s;
}

// Returns "saves 0.72 s a step, 9.8 %"; of plans with other work "trains 9.8 % more tokens a second and GPU".
std::string gain_words(const Evaluation& better, const Evaluation& other) {
    constexpr double kTimes = 2;  // from here on a gain is said as a factor
    if (same_work(better, other)) {
        const double saved = other.step->time_s - better.step->time_s;
        return "saves " + time_text(saved) + " a step, " + percent(saved / other.step->time_s);
    }
    const bool per_gpu = better.mesh.world != other.mesh.world;
    const double ratio = rate_of(better, per_gpu) / rate_of(other, per_gpu);
    return "trains " + (ratio < kTimes ? percent(ratio - 1) + " more" : significant(ratio) + " times as many")
           + " tokens a second" + (per_gpu ? " and GPU" : "");
}

// Returns the share of time by which the plan is faster than the other; < 0: slower.
double faster_by(const Evaluation& e, const Evaluation& than) {
    const bool per_gpu = e.mesh.world != than.mesh.world;
    return 1 - rate_of(than, per_gpu) / rate_of(e, per_gpu);
}

// A gain that is smaller than the estimate may be off is no reason without a measurement.
bool is_sure(double gain, const Evaluation& a, const Evaluation& b) {
    return std::abs(gain) >= std::max(a.step->error, b.step->error);
}

bool same_model(const ReviewContent& content) {
    return std::all_of(content.plans.begin(), content.plans.end(),
                       [&](const Plan& p) { return p.model == content.plans[0].model; });
}

std::string spare_words(const Evaluation& e) {
    return memory_text(e.memory.hbm - e.memory.peak()) + " to spare";
}

std::string unfit_words(const std::string& letter, MemoryFit fit) {
    return letter + (fit == MemoryFit::no ? " does not fit. " : " fits only if buffers stay small. ");
}

// Returns "Take B if it measures faster: 9.80 % by the estimate. Both fit."
std::string decision_of_two_that_fit(const std::array<const Evaluation*, 2>& e, std::size_t fast,
                                     double gain) {
    const bool full =
        std::any_of(e.begin(), e.end(), [](const Evaluation* x) { return verdict_of(*x).nearly_full; });
    const std::string fit = full ? "oth fit with the usual buffers." : "oth fit.",
                      words = gain_words(*e[fast], *e[1 - fast]), take = "Take " + plan_letter(fast);
    if (is_sure(gain, *e[0], *e[1])) return take + ". It " + words + ", and b" + fit;
    return take + " if it measures faster: "
           + (same_work(*e[0], *e[1])
                  ? percent(std::abs(1 - e[fast]->step->time_s / e[1 - fast]->step->time_s))
                        + " by the estimate"
                  : "by the estimate it " + words)
           + ". B" + fit;
}

// Returns "B does not fit. Take A: it fits with 2.47 GiB to spare, and saves 0.15 s a step, 2.02 %."
std::string decision_between(const ReviewContent& content) {
    std::array<const Evaluation*, 2> e{};
    for (std::size_t i = 0; i < 2; ++i) e[i] = &content.evaluations[content.compared(i)];
    for (std::size_t i = 0; i < 2; ++i)
        if (!e[i]->step) return plan_letter(i) + " cannot be built.";
    const std::array<MemoryFit, 2> fit{fit_of_plan(*e[0]), fit_of_plan(*e[1])};
    if (!same_model(content)) {
        std::string out;
        for (std::size_t i = 0; i < 2; ++i)
            if (fit[i] != MemoryFit::yes) out += unfit_words(plan_letter(i), fit[i]);
        return out + "A and B train different models: their figures do not decide.";
    }
    const double gain = faster_by(*e[1], *e[0]);
    const std::size_t fast = gain > 0 ? 1 : 0;
    const bool near = std::abs(gain) < kWorthIt;
    if ((fit[0] == MemoryFit::yes) != (fit[1] == MemoryFit::yes)) {
        const std::size_t take = fit[0] == MemoryFit::yes ? 0 : 1, other = 1 - take;
        const std::string speed =
            near           ? ""
            : fast == take ? ", and " + gain_words(*e[take], *e[other])
                           : ", though " + plan_letter(other) + " " + gain_words(*e[other], *e[take]);
        return unfit_words(plan_letter(other), fit[other]) + "Take " + plan_letter(take) + ": it fits with "
               + spare_words(*e[take]) + speed + ".";
    }
    const std::string fits = fit[0] == MemoryFit::yes ? "Both fit" : "Neither fits with the usual buffers";
    if (near) return fits + ", and they are as fast to within 1 %.";
    if (fit[0] == MemoryFit::yes) return decision_of_two_that_fit(e, fast, gain);
    return fits + ". " + plan_letter(fast) + " " + gain_words(*e[fast], *e[1 - fast]) + ".";
}

// Returns which of more than two plans to take, and by how much it is better than A.
std::string decision_among(const ReviewContent& content) {
    if (!same_model(content)) return "The plans train different models: their figures do not decide.";
    const auto best = better_of(content);
    if (!best)
        return "None of the " + std::to_string(content.plans.size()) + " plans fits with the usual buffers.";
    const Evaluation &a = content.evaluations[0], &b = content.evaluations[*best];
    if (*best == 0) return "Take A: of the plans that fit none is more than 1 % faster.";
    const std::string take = "Take " + plan_letter(*best);
    if (!a.step) return "A cannot be built. " + take + ": it fits with " + spare_words(b) + ".";
    if (fit_of_plan(a) != MemoryFit::yes)
        return unfit_words("A", fit_of_plan(a)) + take + ": it fits with " + spare_words(b) + ".";
    const std::string gain = gain_words(b, a);
    return is_sure(faster_by(b, a), a, b)
               ? take + ": it " + gain + " than A, and fits."
               : take + " if it measures faster: by the estimate it " + gain + " than A.";
}

std::string decision_by_figures(const ReviewContent& content, const SearchResult* proposed);

}  // namespace

MemoryFit fit_of_plan(const Evaluation& e) {
    return fit_of(e.memory).value_or(MemoryFit::no);
}

std::string fit_words(const Evaluation& e) {
    return verdict_of(e).nearly_full ? "fits with the usual buffers" : std::string(name_of(fit_of_plan(e)));
}

CostWords cost_words(const Reviewed& of, bool whole) {
    const double rate = of.evaluation.step->tokens_per_s;
    const Cost cost = cost_of(of.plan, rate);
    if (!whole || !cost.days)
        return {trimmed(gpu_hours_of_billion(of.evaluation.mesh.world, rate)) + " GPU-hours", ""};
    const std::string& currency = of.plan.cluster.currency;
    return {significant(*cost.days) + " days", cost.money && !currency.empty()
                                                   ? count_text(*cost.money) + " " + currency
                                                   : count_text(*cost.gpu_hours) + " GPU-hours"};
}

std::string training_cost_words(const Reviewed& of) {
    const bool whole = of.plan.training.tokens_total > 0;
    return cost_words(of, whole).joined() + (whole ? "" : " for a billion tokens");
}

void ReviewContent::try_changes() {
    TriedEdits edits = try_each_edit(plans[0], evaluations[0].step->time_s);
    tried = std::move(edits.fit), unfit = std::move(edits.unfit);
    judge_proposal();
}

void ReviewContent::judge_proposal() {
    const SearchResult* proposed = proposal_of(*this);
    proposal_nearly_full = proposed != nullptr && verdict_of(evaluate(proposed->plan)).nearly_full;
}

std::string change_words(const Plan& plan, const LayoutChoice& to) {
    return join(changed_choices(plan, to), ", ",
                [&](const Varied v) { return std::string(chip_name(v)) + " " + value_text(to, v); });
}

const SearchResult* proposal_of(const ReviewContent& content) {
    if (content.tried.empty() || content.plans.size() > 1) return nullptr;
    const SearchResult& best = content.tried.front();
    const bool fits = fit_of_plan(content.evaluations[0]) == MemoryFit::yes;
    return !fits || gain_of(content.first(), best) >= kWorthIt ? &best : nullptr;
}

std::vector<std::string> items_of(std::string_view text) {
    constexpr std::string_view kSpace = " \t\r", kMarks = "-*";
    std::vector<std::string> out;
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        line.remove_prefix(std::min(line.size(), line.find_first_not_of(kSpace)));
        if (line.size() > 1 && kMarks.find(line[0]) != std::string_view::npos && line[1] == ' ')
            line.remove_prefix(2);
        line = line.substr(0, line.find_last_not_of(kSpace) + 1);
        if (!line.empty()) out.emplace_back(line);
    }
    return out;
}

std::optional<std::size_t> better_of(const ReviewContent& content) {
    std::optional<std::size_t> best;
    if (!same_model(content)) return best;
    for (std::size_t i = 0; i < content.plans.size(); ++i) {
        const Evaluation& e = content.evaluations[i];
        if (!e.step || fit_of_plan(e) != MemoryFit::yes) continue;
        if (!best || faster_by(e, content.evaluations[*best]) >= kWorthIt) best = i;
    }
    return best;
}

namespace {

// Returns true if a step lies beyond the estimate's range, as both are written.
bool is_beyond(double took_s, const Band& range) {
    const auto beyond = [&](double bound_s) { return time_text(took_s) != time_text(bound_s); };
    return (took_s < range.low && beyond(range.low)) || (took_s > range.high && beyond(range.high));
}

// Says of the run of the first plan that it refutes its estimate, or cannot be of that plan; empty where it
// bears the estimate out, and without one.
std::string refuted_words(const ReviewContent& content) {
    const auto took_s = measured_step_s(content);
    if (!took_s || !content.evaluations[0].step) return "";
    const Step& s = *content.evaluations[0].step;
    if (!content.request.run->possible)
        return "This run is not of this plan: its FLOPs at the peak take longer than the run's step.";
    if (!is_beyond(*took_s, band_of(s.time_s, s.error))) return "";
    return "Do not decide by this estimate: its run takes " + time_text(*took_s) + " a step, not "
           + time_text(s.time_s) + ".";
}

}  // namespace

bool is_refuted(const ReviewContent& content) {
    return !refuted_words(content).empty();
}

std::string decision_of(const ReviewContent& content, const SearchResult* proposed) {
    const std::string& own = content.plans[0].review.decision;
    if (!own.empty()) return own;
    const std::string refuted = refuted_words(content);
    return refuted.empty() ? decision_by_figures(content, proposed) : refuted;
}

namespace {

// Says what the run says of the estimate: where most of the difference is, or why the run cannot be of the
// plan; empty where it bears the estimate out.
std::string run_reason(const ReviewContent& content) {
    if (refuted_words(content).empty()) return "";
    const runs::Measured& run = *content.request.run;
    std::string out = run.summary;
    for (const runs::RunProblem& p : run.problems)
        if (p.code == "impossible-run") out = p.message;
    return typeset(out) + " By the estimate: ";
}

std::string decision_by_figures(const ReviewContent& content, const SearchResult* proposed) {
    if (content.plans.size() > 2) return decision_among(content);
    if (content.comparison) return decision_between(content);
    const Reviewed of = content.first();
    const MemoryFit fit = fit_of_plan(of.evaluation);
    if (proposed == nullptr) {
        if (fit == MemoryFit::yes)
            return "Run it as it is"
                   + (verdict_of(of.evaluation).nearly_full
                          ? ", with buffers under " + memory_text(room_for_buffers(of.evaluation.memory))
                          : "")
                   + (content.tried.empty() ? "." : ": no single change that fits gains 1 %.");
        return fit == MemoryFit::no ? "Do not run it: it does not fit, and no single change makes it fit."
                                    : "Run it only if the framework keeps its buffers small.";
    }
    const double gain = gain_of(of, *proposed);
    const std::string change = change_words(of.plan, proposed->choice);
    const std::string fits = content.proposal_nearly_full ? "fits with the usual buffers" : "fits";
    if (fit == MemoryFit::yes && gain < of.evaluation.step->error)
        return "Run it with " + change + " if that measures faster: " + percent(gain) + " by the estimate.";
    const std::string speed =
        std::abs(gain) < 0.0005 ? "as fast" : percent(std::abs(gain)) + (gain > 0 ? " faster" : " slower");
    if (fit == MemoryFit::yes) return "Run it with " + change + ": " + speed + ", and it " + fits + ".";
    return std::string(fit == MemoryFit::no ? "Do not run it as it is." : "Do not rely on small buffers.")
           + " Run it with " + change + ": it then " + fits + ", and is " + speed + ".";
}

// Says of a gain that it may be none.
std::string range_words(double gain, double range) {
    if (gain < kWorthIt || gain >= range) return "";
    return " " + percent(gain) + " is less than the estimate's own range of " + percent(range) + ".";
}

// Returns "A billion tokens take 1,990 GPU-hours with A, 1,790 GPU-hours with B.", or what the whole training
// takes.
std::string costs_words(const ReviewContent& content) {
    std::string out;
    bool whole = true;
    for (std::size_t i = 0; i < 2; ++i) whole = whole && content.plans[i].training.tokens_total > 0;
    for (std::size_t i = 0; i < 2; ++i) {
        const Reviewed of = content.of(content.compared(i));
        out += (i == 0 ? "" : ", ") + cost_words(of, whole).joined() + " with " + plan_letter(i);
    }
    return (whole ? "The training takes " : "A billion tokens take ") + out + ".";
}

// Says which settings of the plans differ that change what is learned, not only how fast.
std::string learning_words(const PlanComparison& c) {
    static constexpr std::array kLearning{"sequence_length", "global_batch", "compute",   "fp8_recipe",
                                          "parameters",      "gradients",    "optimizer", "optimizer_state",
                                          "master_weights",  "dropout"};
    std::string out;
    for (const FieldDifference& f : c.fields)
        for (const std::string_view name : kLearning)
            if (f.pointer == "/training/" + std::string(name))
                out += (out.empty() ? "" : ", ") + std::string(name);
    return out.empty() ? ""
                       : " They differ in " + out + " too: these figures do not say which learns better.";
}

std::string pair_reason(const ReviewContent& content) {
    const Evaluation &a = content.evaluations[content.compared(0)],
                     &b = content.evaluations[content.compared(1)];
    std::string out = costs_words(content);
    if (same_model(content))
        out += range_words(std::abs(faster_by(b, a)), std::max(a.step->error, b.step->error));
    return out + learning_words(*content.comparison);
}

}  // namespace

std::string reason_of(const ReviewContent& content, const SearchResult* proposed) {
    const Reviewed of = content.first();
    std::string said = run_reason(content);
    if (!said.empty())
        said += decision_by_figures(content, proposed) + " ";
    else if (!of.plan.review.decision.empty())
        said = "By the figures: " + decision_by_figures(content, proposed) + " ";
    if (content.plans.size() > 2) {
        const bool steps = std::all_of(content.evaluations.begin(), content.evaluations.end(),
                                       [](const Evaluation& e) { return e.step.has_value(); });
        return said + "A is the plan under review; the rows are on one scale."
               + (steps ? learning_words(*content.comparison) : "");
    }
    if (content.comparison)
        return said
               + (content.evaluations[0].step && content.evaluations[1].step ? pair_reason(content)
                                                                             : comparison_verdict(content));
    std::string out = said + verdict_of(of.evaluation).reason;
    if (proposed != nullptr && fit_of_plan(of.evaluation) == MemoryFit::yes)
        if (const double gain = gain_of(of, *proposed); gain < of.evaluation.step->error)
            out += " A gain of " + percent(gain) + " is less than the estimate's own range of "
                   + percent(of.evaluation.step->error) + ".";
    return out;
}

std::optional<double> measured_step_s(const ReviewContent& content) {
    return content.request.run ? content.request.run->measured_s : std::nullopt;
}

std::vector<std::string> open_questions(const ReviewContent& content, std::size_t plan) {
    const Evaluation& e = content.evaluations[plan];
    std::vector<std::string> out;
    if (const auto took_s = plan == 0 ? measured_step_s(content) : std::nullopt) {
        const Band range = band_of(e.step->time_s, e.step->error);
        if (is_beyond(*took_s, range))
            out.push_back("Why does the run take " + time_text(*took_s) + " a step, beyond the range of "
                          + time_text(range.low) + " to " + time_text(range.high) + "?");
    }
    if (plan == 0 && content.measured && fit_of_plan(e) == MemoryFit::no)
        out.emplace_back("A published run has this plan: how does it fit?");
    const double room = room_for_buffers(e.memory);
    if (e.memory.stage[static_cast<std::size_t>(e.memory.peak_stage)].most() > e.memory.hbm && room > 0)
        out.push_back("Do the framework's buffers stay under " + memory_text(room) + "?");
    const Step& s = *e.step;
    if (s.calibrated == 0 && s.nearest_run >= kFarRun)
        out.emplace_back("What does one step take? No measured run is near.");
    if (const auto loss = largest_loss(s); loss && loss->part == StepPart::bubble)
        out.push_back("Is the batch of " + count_text(s.tokens_per_step) + " tokens fixed? The bubble is "
                      + percent(loss->time_s / s.time_s) + ".");
    for (const Problem& p : e.problems)
        if (p.severity == Severity::warning && p.code != ProblemCode::memory_does_not_fit
            && p.code != ProblemCode::bubble_too_large)
            out.push_back(std::string(title_of(p.code)) + ": is that accepted?");
    return out;
}

}  // namespace pentamesh::ui
