#include "core/decide/decision.h"

#include "core/base/text.h"
#include "core/decide/bounds.h"
#include "core/memory/memory.h"
#include "core/plan/software.h"
#include "core/rules/software_runs.h"
#include "core/step/step.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace pentamesh {

namespace {

MemoryFit fit_now(const Evaluation& e) {
    return fit_of(e.memory).value_or(MemoryFit::no);
}

PlanDecision proposed(PlanDecision d, const Evaluation& e, const SearchResult& by, Ruling ruling,
                      Ground ground) {
    d.ruling = ruling, d.ground = ground;
    d.proposal = by;
    d.gain = 1 - by.step_s / e.step->time_s;
    d.freed_bytes = e.memory.peak() - by.memory_bytes;
    d.range = std::max({e.step->error, by.step.error, kWorthIt});
    return d;
}

bool frees_much(const PlanDecision& d, const Evaluation& e) {
    return d.freed_bytes >= kMuchMemory * e.memory.hbm;
}

constexpr double kNoSlower = 0.0005;  // of the step: less than is written of it

std::string speed_words(double gain) {
    return std::abs(gain) < kNoSlower ? "as fast"
                                      : percent_text(std::abs(gain)) + (gain > 0 ? " faster" : " slower");
}

}  // namespace

bool is_sure_gain(double gain, const Step& a, const Step& b) {
    return std::abs(gain) >= std::max(a.error, b.error);
}

namespace {

// Returns the fastest layout, or one that fits beyond doubt where that may not, and is not faster by more
// than the estimate knows: risk comes first. Next to a plan that fits it has to be worth its change.
const SearchResult& to_propose(const PlanDecision& d, const Evaluation& e, const NearLayouts& near) {
    if (near.fastest->fit == MemoryFit::yes || !near.surest) return *near.fastest;
    if (fits(d.now) && 1 - near.surest->step_s / e.step->time_s < kWorthIt) return *near.fastest;
    const double slower = 1 - near.fastest->step_s / near.surest->step_s;
    return is_sure_gain(slower, near.fastest->step, near.surest->step) ? *near.fastest : *near.surest;
}

}  // namespace

PlanDecision decide(const Evaluation& e, const NearLayouts& near) {
    PlanDecision out;
    out.now = fit_now(e);
    out.range = e.step->error;
    if (!near.fastest) {
        if (!fits(out.now)) out.ruling = Ruling::hopeless;
        return out;
    }
    PlanDecision fast = proposed(out, e, to_propose(out, e, near), Ruling::change, Ground::faster);
    if (!fits(out.now)) {
        PlanDecision then = fast;
        then.ground = Ground::fits;
        return then;
    }
    if (fast.gain_is_sure()) return fast;
    // The estimate does not know which is faster: then what is held decides, and risk comes before speed.
    const bool at_risk = out.now == MemoryFit::tight;
    const auto mends = [&](const PlanDecision& d) {
        return frees_much(d, e) && d.gain >= 0 && (at_risk || d.gain >= kWorthIt);
    };
    PlanDecision lean = fast;
    lean.ground = Ground::leaner;
    if (mends(lean)) return lean;
    if (near.leanest) {
        lean = proposed(out, e, *near.leanest, Ruling::change, Ground::leaner);
        if (at_risk && mends(lean)) return lean;
    }
    if (fast.gain < kWorthIt) return out;
    PlanDecision maybe = fast;
    maybe.ruling = Ruling::measure;
    return maybe;
}

NearLayouts layouts_to_propose(const Plan& plan, const Evaluation& e, int threads,
                               const std::atomic<bool>* cancel) {
    SearchOptions options;
    options.threads = threads;
    const double step_s = e.step->time_s, roomy = kept_free(e.memory);
    options.headroom = e.memory.fits() ? roomy : 0;
    return e.memory.fits() ? layouts_within_two_edits(plan, step_s, options, cancel)
                           : roomy_within_two_edits(plan, step_s, roomy, options, cancel);
}

std::optional<PlanDecision> decide_by_two_edits(const Plan& plan, const Evaluation& evaluation, int threads,
                                                const std::atomic<bool>* cancel) {
    if (!evaluation.step) return std::nullopt;
    const NearLayouts near = layouts_to_propose(plan, evaluation, threads, cancel);
    if (cancel != nullptr && *cancel) return std::nullopt;
    PlanDecision out = decide(evaluation, near);
    out.software = facts_of(plan.training.software).name;
    out.outside = outside_words(plan);
    return out;
}

std::optional<PlanDecision> decide(const Plan& plan, const Evaluation& evaluation, int threads,
                                   const std::atomic<bool>* cancel) {
    std::optional<PlanDecision> out = decide_by_two_edits(plan, evaluation, threads, cancel);
    if (!out) return out;
    SpaceRequest request;
    for (const Varied v : held_at_first(plan, false)) request.hold.emplace_back(name_of(v));
    std::optional<SpaceError> none;
    const SearchSpace space = search_space(plan, request, none);
    if (nodes_of(plan, space).layouts > kUsualLayouts) return out;
    SearchOptions options;
    options.threads = threads;
    SearchReport report = search(plan, space, options, cancel);
    if (report.cancelled) return std::nullopt;
    find_ties(plan, {}, report);
    out->held = join(request.hold, ", ");
    return with_search(std::move(*out), evaluation, report);
}

namespace {

// Returns the fastest layout whose fit is beyond doubt; null: none is listed.
const SearchResult* fastest_that_fits(const SearchReport& report) {
    const SearchResult* out = nullptr;
    for (const SearchResult& r : report.results)
        if (r.fit == MemoryFit::yes && (out == nullptr || r.step_s < out->step_s)) out = &r;
    return out;
}

}  // namespace

PlanDecision with_search(PlanDecision decision, const Evaluation& e, const SearchReport& report) {
    if (report.goal == Goal::memory) return decision;
    if (!report.cancelled) decision.layouts = report.counts.layouts;
    const auto fastest = std::ranges::min_element(report.results, {}, &SearchResult::step_s);
    if (fastest == report.results.end()) return decision;
    decision.fastest = *fastest;
    decision.fastest_gain = 1 - fastest->step_s / e.step->time_s;
    const bool hopeless = decision.ruling == Ruling::hopeless;
    const bool is_sure = decision.ruling == Ruling::change && decision.ground == Ground::faster;
    if (is_sure) return decision;
    if (!fits(decision.now) && !hopeless) {
        // Two changes that may not fit give way to a layout that fits and is no slower, as far as the
        // estimate knows: risk comes first.
        const SearchResult* sure = fastest_that_fits(report);
        if (!decision.proposal || decision.proposal->fit == MemoryFit::yes || sure == nullptr)
            return decision;
        const SearchResult& near = *decision.proposal;
        const double slower = 1 - near.step_s / sure->step_s;
        if (slower > 0 && is_sure_gain(slower, near.step, sure->step)) return decision;
        PlanDecision safe = proposed(decision, e, *sure, Ruling::change, Ground::fits);
        safe.searched = true;
        return safe;
    }
    PlanDecision far =
        proposed(decision, e, *fastest, Ruling::change, hopeless ? Ground::fits : Ground::faster);
    if (!hopeless && !far.gain_is_sure()) return decision;
    far.searched = true;
    return far;
}

bool PlanDecision::has_other_fastest() const {
    if (searched && proposal && fastest && proposal->step_s == fastest->step_s) return false;
    return fastest && !(proposal && changed_choices(proposal->plan, fastest->choice).empty());
}

namespace {

// Returns "11 % faster by the estimate", "17 GiB less, and no slower", "it then fits, and is 5 % slower".
std::string worth_words(const PlanDecision& d) {
    return d.ground == Ground::fits
               ? "it then " + std::string(name_of(d.proposal->fit)) + ", and is " + speed_words(d.gain)
               : gained_words(d);
}

// Says what the fastest layout of the search gains over the proposal, or over a plan that is kept.
std::string fastest_words(const PlanDecision& d) {
    if (!d.has_other_fastest()) return {};
    const double over = d.fastest_gain - (d.proposal ? d.gain : 0);
    if (d.ground == Ground::fits) {  // the plan does not fit, so what is faster than the proposal is said
        if (over < kWorthIt) return {};
        return " The fastest of them " + std::string(name_of(d.fastest->fit)) + ", is "
               + speed_words(d.fastest_gain) + " and changes " + count_text(d.fastest->changes, "field")
               + ".";
    }
    if (over < kWorthIt && (over <= 0 || d.fastest_gain < kWorthIt)) return {};
    const bool sure = std::abs(d.fastest_gain) >= std::max(d.range, d.fastest->step.error);
    return " The fastest of them is " + speed_words(d.fastest_gain) + (sure ? "" : " by the estimate")
           + (d.fastest->changes > 0 ? ", and changes " + count_text(d.fastest->changes, "field") : "") + ".";
}

}  // namespace

std::string beside_fastest(const PlanDecision& d, const std::string& change) {
    if (!d.has_other_fastest()) return {};
    if (!d.proposal)
        return d.ruling == Ruling::keep && d.fastest_gain >= kWorthIt
                   ? "The plan may stay as it is: no one or two changes gain 1 %."
                   : "";
    // Two changes of a plan that its software does not run keep that (outside_words).
    const bool keeps = !d.outside.empty() && !d.searched;
    return "Proposed: " + change + ", " + worth_words(d)
           + (keeps ? "; like the plan, not all of it runs on " + d.software + "." : ".");
}

std::string outside_words(const Plan& plan) {
    const Lacks lacks = lacks_of(plan, plan.training.software);
    std::string out;
    for (const Lack l : all_of<Lack>())
        if (lacks.has(l)) out += (out.empty() ? "" : "; ") + words_of(l, plan, plan.training.software);
    return out.empty()
               ? out
               : sentence(facts_of(plan.training.software).name, " does not run all of it: ", out, ".");
}

std::string scope_of(const PlanDecision& d) {
    if (d.software.empty()) return {};
    const std::string all = "all " + with_commas(d.layouts) + " layouts that " + d.software + " runs"
                            + (d.held.empty() ? "" : " with the plan's own " + d.held);
    if (d.ruling == Ruling::hopeless)
        return d.layouts > 0 ? "A search of " + all + " found none that fits." : std::string();
    std::string out = d.outside;
    if (!out.empty() && d.proposal && !d.searched)
        out += " What is proposed keeps that, and lacks nothing more.";
    out += out.empty() ? "Weighed: one and two changes" : " Weighed: one and two changes";
    if (d.layouts > 0) return out + ", and " + all + "." + fastest_words(d);
    return out + (d.outside.empty() ? " that " + d.software + " runs" : "") + "; not searched.";
}

std::string headline_of(const PlanDecision& d, const std::string& change, const std::string& room) {
    const bool tight = d.now == MemoryFit::tight;
    if (d.ruling == Ruling::keep)
        return "Run it as it is" + (d.outside.empty() ? std::string() : ", though not by " + d.software)
               + (!tight         ? std::string()
                  : room.empty() ? ", though it " + std::string(name_of(d.now))
                                 : ", with buffers under " + room)
               + ": no one or two changes that fit gain 1 %.";
    if (d.ruling == Ruling::hopeless)
        return d.now == MemoryFit::no ? "Do not run it: it does not fit, and no two changes make it fit."
                                      : "Run it only if the framework keeps its buffers small.";
    const bool open = d.proposal->fit != MemoryFit::yes;
    const std::string then(name_of(d.proposal->fit)), fit = (open ? ", but it " : ", and it ") + then,
                                                      run = "Run it with " + change;
    if (d.ground == Ground::fits)
        return std::string(d.now == MemoryFit::no ? "Do not run it as it is. "
                                                  : "Do not rely on small buffers. ")
               + run + ": it then " + then + ", and is " + speed_words(d.gain) + ".";
    if (d.ruling == Ruling::measure)
        return run + " if that measures faster: " + percent_text(d.gain) + " by the estimate"
               + (open ? fit : "") + ".";
    return run + ": " + gained_words(d) + (d.ground == Ground::faster || open ? fit : "") + ".";
}

std::string little_left_words(double left) {
    constexpr double kRounding = 1e-9;
    if (left >= kHeadroom - kRounding) return {};
    return "leaves " + percent_text(left) + " of the memory free, a search " + percent_text(kHeadroom);
}

std::string caution_of(const PlanDecision& d) {
    if (d.proposal && d.ground == Ground::fits) {
        const std::string little = little_left_words(d.proposal->headroom);
        return little.empty() ? little : "It " + little + ".";
    }
    if (!d.proposal || d.gain < kWorthIt || d.gain_is_sure()) return {};
    return "A gain of " + percent_text(d.gain) + " is less than the estimate's own range of "
           + percent_text(d.range) + ".";
}

std::string gained_words(const PlanDecision& d) {
    if (!d.proposal) return {};
    if (d.ground == Ground::leaner) return memory_text(d.freed_bytes) + " less, and no slower";
    return speed_words(d.gain) + (d.ruling == Ruling::measure ? " by the estimate" : "");
}

}  // namespace pentamesh
