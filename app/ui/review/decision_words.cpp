#include "app/ui/review/decision_words.h"

#include "app/tables/compare.h"
#include "app/ui/kit/format.h"
#include "app/ui/views/search/search_found.h"
#include "core/explain/verdict.h"
#include "core/plan/problem.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pentamesh::ui {

namespace {

constexpr double kWorthIt = 0.01;  // of the step: a smaller gain is no reason to change a plan

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
    if (same_work(better, other)) {
        const double saved = other.step->time_s - better.step->time_s;
        return "saves " + time_text(saved) + " a step, " + percent(saved / other.step->time_s);
    }
    const bool per_gpu = better.mesh.world != other.mesh.world;
    return "trains " + percent(rate_of(better, per_gpu) / rate_of(other, per_gpu) - 1)
           + " more tokens a second" + (per_gpu ? " and GPU" : "");
}

// Returns the share of time by which the plan is faster than the other; < 0: slower.
double faster_by(const Evaluation& e, const Evaluation& than) {
    const bool per_gpu = e.mesh.world != than.mesh.world;
    return 1 - rate_of(than, per_gpu) / rate_of(e, per_gpu);
}

std::string spare_words(const Evaluation& e) {
    return memory_text(e.memory.hbm - e.memory.peak()) + " to spare";
}

// Returns "B does not fit. Take A: it fits with 2.47 GiB to spare, and saves 0.15 s a step, 2.02 %."
std::string decision_between(const ReviewContent& content) {
    std::array<const Evaluation*, 2> e{};
    for (std::size_t i = 0; i < 2; ++i) e[i] = &content.evaluations[content.compared(i)];
    static constexpr std::array<const char*, 2> kLetter{"A", "B"};
    for (std::size_t i = 0; i < 2; ++i)
        if (!e[i]->step) return std::string(kLetter[i]) + " cannot be built.";
    const std::array<MemoryFit, 2> fit{fit_of_plan(*e[0]), fit_of_plan(*e[1])};
    const std::size_t fast = faster_by(*e[1], *e[0]) > 0 ? 1 : 0;
    const bool near = std::abs(faster_by(*e[1], *e[0])) < kWorthIt;
    if ((fit[0] == MemoryFit::yes) != (fit[1] == MemoryFit::yes)) {
        const std::size_t take = fit[0] == MemoryFit::yes ? 0 : 1, other = 1 - take;
        const std::string speed = near           ? ""
                                  : fast == take ? ", and " + gain_words(*e[take], *e[other])
                                                 : ", though " + std::string(kLetter[other]) + " "
                                                       + gain_words(*e[other], *e[take]);
        return std::string(kLetter[other])
               + (fit[other] == MemoryFit::no ? " does not fit. " : " fits only if buffers stay small. ")
               + "Take " + kLetter[take] + ": it fits with " + spare_words(*e[take]) + speed + ".";
    }
    const std::string fits = fit[0] == MemoryFit::yes ? "Both fit" : "Neither fits with the usual buffers";
    if (near) return fits + ", and they are as fast to within 1 %.";
    const std::string gain = std::string(kLetter[fast]) + " " + gain_words(*e[fast], *e[1 - fast]) + ".";
    if (fit[0] != MemoryFit::yes) return fits + ". " + gain;
    return "Take " + std::string(kLetter[fast]) + ". It " + gain_words(*e[fast], *e[1 - fast])
           + ", and both fit.";
}

// Returns the plan's letter and what speaks for it, of more than two plans.
std::string decision_among(const ReviewContent& content) {
    const auto letter = [](std::size_t i) { return plan_letter(i); };
    const auto best = better_of(content);
    if (!best)
        return "None of the " + std::to_string(content.plans.size()) + " plans fits with the usual buffers.";
    const Evaluation &a = content.evaluations[0], &b = content.evaluations[*best];
    if (*best == 0) return "Take A: of the plans that fit none is more than 1 % faster.";
    const std::string gain = letter(*best) + " " + gain_words(b, a) + ", and fits.";
    return a.step && fit_of_plan(a) == MemoryFit::yes
               ? gain
               : std::string(a.step ? "A does not fit with the usual buffers. " : "A cannot be built. ")
                     + "Take " + letter(*best) + ": it fits with " + spare_words(b) + ".";
}

std::string decision_by_figures(const ReviewContent& content, const SearchResult* proposed);

}  // namespace

MemoryFit fit_of_plan(const Evaluation& e) {
    return fit_of(e.memory).value_or(MemoryFit::no);
}

std::string change_words(const Plan& plan, const LayoutChoice& to) {
    std::string out;
    for (const Varied v : changed_choices(plan, to))
        out += (out.empty() ? "" : ", ") + std::string(chip_name(v)) + " " + value_text(to, v);
    return out;
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
    for (std::size_t i = 0; i < content.plans.size(); ++i) {
        const Evaluation& e = content.evaluations[i];
        if (!e.step || fit_of_plan(e) != MemoryFit::yes) continue;
        if (!best || faster_by(e, content.evaluations[*best]) >= kWorthIt) best = i;
    }
    return best;
}

std::string decision_of(const ReviewContent& content, const SearchResult* proposed) {
    const std::string& own = content.plans[0].review.decision;
    return own.empty() ? decision_by_figures(content, proposed) : own;
}

namespace {

std::string decision_by_figures(const ReviewContent& content, const SearchResult* proposed) {
    if (content.plans.size() > 2) return decision_among(content);
    if (content.comparison) return decision_between(content);
    const Reviewed of = content.first();
    const MemoryFit fit = fit_of_plan(of.evaluation);
    if (proposed == nullptr) {
        if (fit == MemoryFit::yes)
            return content.tried.empty() ? "Run it as it is."
                                         : "Run it as it is: no single change gains 1 %.";
        return fit == MemoryFit::no ? "Do not run it: it does not fit, and no single change makes it fit."
                                    : "Run it only if the framework keeps its buffers small.";
    }
    const double gain = gain_of(of, *proposed);
    const std::string change = change_words(of.plan, proposed->choice);
    const std::string speed =
        std::abs(gain) < 0.0005 ? "as fast" : percent(std::abs(gain)) + (gain > 0 ? " faster" : " slower");
    if (fit == MemoryFit::yes) return "Run it with " + change + ": " + speed + ", and it fits.";
    return std::string(fit == MemoryFit::no ? "Do not run it as it is." : "Do not rely on small buffers.")
           + " Run it with " + change + ": it then fits, and is " + speed + ".";
}

// A gain that is smaller than the range of the estimate is no reason without a measurement.
std::string measure_words(const ReviewContent& content) {
    if (content.plans.size() != 2) return "";
    const Evaluation &a = content.evaluations[content.compared(0)],
                     &b = content.evaluations[content.compared(1)];
    const double gain = std::abs(faster_by(b, a)), range = std::max(a.step->error, b.step->error);
    if (gain < kWorthIt || gain >= range) return "";
    return " The step differs by less than the estimate's own range of " + percent(range) + ": measure both.";
}

}  // namespace

std::string reason_of(const ReviewContent& content, const SearchResult* proposed) {
    const Reviewed of = content.first();
    std::string said = of.plan.review.decision.empty()
                           ? ""
                           : "By the figures: " + decision_by_figures(content, proposed) + " ";
    if (content.plans.size() > 2) return said;
    if (content.comparison) return said + comparison_verdict(content) + measure_words(content);
    std::string out = said + verdict_of(of.evaluation).reason;
    if (proposed == nullptr) return out;
    const double gain = gain_of(of, *proposed);
    if (gain >= kWorthIt && gain < of.evaluation.step->error)
        out += " The gain is smaller than the estimate's own range of " + percent(of.evaluation.step->error)
               + ": measure both.";
    return out;
}

std::vector<std::string> open_questions(const ReviewContent& content) {
    std::vector<std::string> out;
    const Evaluation& e = content.evaluations[0];
    const StageMemory& full = e.memory.stage[static_cast<std::size_t>(e.memory.peak_stage)];
    const double room = e.memory.hbm - (full.total() - full.buffers);
    if (full.most() > e.memory.hbm && room > 0)
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
