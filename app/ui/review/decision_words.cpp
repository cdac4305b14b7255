#include "app/ui/review/decision_words.h"

#include "app/ui/kit/format.h"
#include "app/ui/views/search/search_found.h"
#include "core/explain/verdict.h"
#include "core/plan/problem.h"

#include <cmath>

namespace pentamesh::ui {

namespace {

constexpr double kWorthIt = 0.01;  // of the step: a smaller gain is no reason to change a plan

double gain_of(const Reviewed& of, const SearchResult& r) {
    return 1 - r.step_s / of.evaluation.step->time_s;
}

// "B does not fit, A does." or "B is 14.9 % faster, and both fit."
std::string decision_between(const ReviewContent& content) {
    const Evaluation& a = content.evaluations[content.compared(0)];
    const Evaluation& b = content.evaluations[content.compared(1)];
    const bool a_fits = fit_of_plan(a) == MemoryFit::yes, b_fits = fit_of_plan(b) == MemoryFit::yes;
    if (!a.step || !b.step) return std::string(a.step ? "B" : "A") + " cannot be built.";
    if (a_fits != b_fits)
        return a_fits ? "A fits, B does not with the usual buffers."
                      : "B fits, A does not with the usual buffers.";
    // Clusters of different sizes are compared by what a GPU does.
    const bool per_gpu = a.mesh.world != b.mesh.world;
    const auto rate = [&](const Evaluation& e) {
        return per_gpu ? tokens_per_gpu_s(e) : e.step->tokens_per_s;
    };
    const double gain = 1 - rate(b) / rate(a);
    const std::string fits = a_fits ? ", and both fit." : ", and neither fits with the usual buffers.";
    if (std::abs(gain) < 0.0005) return "A and B are as fast" + fits;
    const double faster = gain > 0 ? rate(a) / rate(b) : rate(b) / rate(a);
    return std::string(gain > 0 ? "A" : "B") + " trains " + percent(faster - 1) + " more tokens a second"
           + (per_gpu ? " and GPU" : "") + fits;
}

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

std::string decision_of(const ReviewContent& content, const SearchResult* proposed) {
    if (!content.request.decision.empty()) return content.request.decision;
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

std::string reason_of(const ReviewContent& content, const SearchResult* proposed) {
    const Reviewed of = content.first();
    if (content.comparison) return comparison_verdict(content);
    std::string out = verdict_of(of.evaluation).reason;
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
