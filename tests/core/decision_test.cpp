// One answer for a plan: it keeps to its own rule, and never takes back what it proposed.
#include "core/advice/advice.h"
#include "core/decide/choose.h"
#include "core/decide/decision.h"
#include "core/explain/verdict.h"
#include "core/plan/edits.h"
#include "core/rules/software_runs.h"

#include "tests/core/plans.h"
#include "tests/core/shipped.h"
#include "tests/near.h"
#include "tests/random_plans.h"
#include "tests/sanitized.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

using namespace pentamesh;
using test::near;

namespace {

// Two plans that are compared are judged as the decision between them was.
void check_pair(const Plan& plan, const Evaluation& e, const PlanDecision& d, const Evaluation& then) {
    const JudgedPlan own{&plan, &e}, other{&d.proposal->plan, &then};
    const PlanChoice choice = choose_among(std::array{own, other});
    CAPTURE(choice.words());
    CHECK(choice.take == 1);
    CHECK(choice.sure == (d.ruling == Ruling::change));
    if (d.ground != Ground::fits) CHECK(choice.caution == caution_of(d));
    CHECK(best_among(std::array{own, other}) == 1);
    const PlanChoice flipped = choose_among(std::array{other, own});
    CHECK(flipped.take == 0);
    CHECK(flipped.sure == choice.sure);
    CHECK(flipped.caution.empty() == choice.caution.empty());
}

// A decision knows of the search that was run: what it calls faster beyond doubt is proposed as
// such.
void check_with_search(const Evaluation& e, const PlanDecision& d, const SearchReport& report) {
    const PlanDecision with = with_search(d, e, report);
    const SearchStanding stands = standing_of(e, report);
    CAPTURE(stands.sentence);
    CHECK(with.layouts == report.counts.layouts);
    CHECK(with.fastest.has_value() == !report.results.empty());
    if (stands.standing == PlanStanding::faster) {
        CHECK(with.ruling == Ruling::change);
        CHECK(with.ground == Ground::faster);
        CHECK(with.gain_is_sure());
    } else if (with.searched) {  // no two changes make the plan fit for sure, and the search knows what does
        if (d.ruling != Ruling::hopeless) {
            REQUIRE(d.proposal);
            CHECK(may_not_fit(d.proposal->fit));
            REQUIRE(with.proposal);
            CHECK(with.proposal->fit == MemoryFit::yes);
            const double slower = 1 - d.proposal->step_s / with.proposal->step_s;
            CHECK((slower <= 0 || !is_sure_gain(slower, d.proposal->step, with.proposal->step)));
        }
        CHECK(stands.standing == PlanStanding::fits);
        CHECK(with.ground == Ground::fits);
    } else {
        CHECK(with.ruling == d.ruling);
        CHECK((d.ruling != Ruling::hopeless || report.results.empty()));
    }
    const bool is_fastest = with.searched && with.proposal->step_s == with.fastest->step_s;
    if (with.searched && !is_fastest) CHECK(may_not_fit(with.fastest->fit));
    CHECK((beside_fastest(with, "x").empty() || !is_fastest));
}

// No advice of a changed layout, which names its own step, beats what the decision says that nothing beats.
void check_advice(const Plan& plan, const Evaluation& e, const PlanDecision& d) {
    // A plan that its software does not run is compared with no more than some of its neighbours.
    if (!fits(d.now) || lacks_of(plan, plan.training.software).any()) return;
    for (const Advised& a : advise(plan, e)) {
        if (a.fix.empty()) continue;
        Plan fixed = plan;
        if (!apply_in_core(fixed, a.fix)) continue;
        const Evaluation then = evaluate(fixed);
        if (!then.step || !fits(fit_of(then.memory).value_or(MemoryFit::no))) continue;
        if (lack_that_came(plan, fixed)) continue;  // its own software does not run it: it says so
        if (fixed.training.global_batch != plan.training.global_batch) continue;  // another training
        if (then.memory.peak() > most_after_change(e.memory)) continue;
        const auto changed = changed_choices(plan, choice_of(fixed));
        Plan same = plan;
        lay_out(plan, choice_of(fixed), same);
        if (changed.empty() || changed.size() > 2 || !(same.layout == fixed.layout)) continue;
        if (std::ranges::find(changed, Varied::order) != changed.end()) continue;  // of frameworks only
        CAPTURE(a.message);
        const double gain = 1 - then.step->time_s / e.step->time_s;
        if (d.ruling == Ruling::keep) CHECK(gain < kWorthIt);
        if (d.ground == Ground::faster) CHECK(gain <= d.gain + 1e-9);
    }
}

// The doors that answer by themselves, a review's first page and Compare, and the window, which has a search
// of its own, say one thing: the decision is the one of two edits with the search that anybody runs.
void check_doors(const Plan& plan, const Evaluation& e, const PlanDecision& near_by) {
    const auto whole = decide(plan, e, 1);
    REQUIRE(whole);
    SpaceRequest usual;
    for (const Varied v : held_at_first(plan, false)) usual.hold.emplace_back(name_of(v));
    std::optional<SpaceError> error;
    SearchReport report = search(plan, search_space(plan, usual, error), {.top = 12, .threads = 2});
    REQUIRE_FALSE(error);
    find_ties(plan, {}, report);
    PlanDecision named =
        near_by;  // as decide_by_two_edits names it, which would look for the edits once more
    named.software = facts_of(plan.training.software).name;
    named.outside = outside_words(plan);
    const PlanDecision window = with_search(named, e, report);
    CHECK(whole->ruling == window.ruling);
    CHECK(whole->ground == window.ground);
    CHECK(whole->layouts == window.layouts);
    REQUIRE(whole->proposal.has_value() == window.proposal.has_value());
    if (whole->proposal) CHECK(whole->proposal->step_s == window.proposal->step_s);
    if (whole->proposal) CHECK(whole->proposal->plan == window.proposal->plan);
    CHECK(beside_fastest(*whole, "x") == beside_fastest(window, "x"));
    // No door says "if it measures faster", or keeps the plan, where the search is sure.
    const SearchStanding stands = standing_of(e, report);
    CAPTURE(stands.sentence);
    CAPTURE(scope_of(*whole));
    if (stands.standing == PlanStanding::faster) CHECK(whole->ruling == Ruling::change);
    if (stands.standing == PlanStanding::fits) CHECK(whole->ground == Ground::fits);
    if (whole->ruling == Ruling::keep) CHECK(stands.standing != PlanStanding::faster);
    // Verdict and decision know the same of the memory.
    CHECK((whole->ruling == Ruling::hopeless || whole->ground == Ground::fits) == !fits(*verdict_of(e).fit));
    CHECK(scope_of(*whole).find("not searched") == std::string::npos);
    check_advice(plan, e, *whole);
}

// A search's sentence is of the same rule: what it calls tied no comparison calls sure, and the other way
// round. The dashboard's verdict says the same of the memory.
void check_search(const Plan& plan, const Evaluation& e, const PlanDecision& near_by) {
    CHECK(verdict_of(e).fit == fit_of(e.memory).value_or(MemoryFit::no));
    std::optional<SpaceError> error;
    SpaceRequest few;
    few.hold = {"order", "schedule", "recompute", "virtual_stages", "cp"};
    SearchReport report = search(plan, search_space(plan, few, error), {.headroom = 0, .threads = 1});
    find_ties(plan, {}, report);
    const SearchStanding stands = standing_of(e, report);
    CAPTURE(stands.sentence);
    if (report.results.empty()) {
        CHECK(stands.standing == PlanStanding::unknown);
        return;
    }
    check_with_search(e, near_by, report);
    const auto fastest = std::ranges::min_element(report.results, {}, &SearchResult::step_s);
    const Evaluation best = evaluate(fastest->plan);
    const PlanChoice choice =
        choose_among(std::array{JudgedPlan{&plan, &e}, JudgedPlan{&fastest->plan, &best}});
    CAPTURE(choice.words());
    switch (stands.standing) {
    case PlanStanding::fits: CHECK(choice.take == 1); break;
    case PlanStanding::faster:
        CHECK(choice.take == 1);
        CHECK(choice.sure);
        CHECK(choice.caution.empty());
        CHECK(stands.gain >= stands.range);
        break;
    case PlanStanding::tied:
        CHECK_FALSE(choice.caution.empty());
        CHECK(stands.sentence.find(choice.caution) != std::string::npos);
        break;
    case PlanStanding::alike: CHECK(choice.caution.empty()); break;
    case PlanStanding::slower:
        CHECK(choice.take == 0);
        CHECK(choice.caution.empty());
        break;
    case PlanStanding::unknown: FAIL("something was found"); break;
    }
}

// Checks a decision by two edits against what it was made from, and returns it. The proposal is evaluated
// anew.
PlanDecision check_decision(const Plan& plan, const Evaluation& e) {
    const NearLayouts around = layouts_to_propose(plan, e, 1);
    const PlanDecision d = decide(e, around);
    const MemoryFit fit = fit_of(e.memory).value_or(MemoryFit::no);
    CHECK(d.now == fit);
    CHECK(d.proposal.has_value() == (d.ruling == Ruling::change || d.ruling == Ruling::measure));
    if (d.ruling == Ruling::hopeless) {
        CHECK_FALSE(fits(fit));
        CHECK_FALSE(around.fastest);
        return d;
    }
    if (!d.proposal) {
        CHECK(fits(fit));
        if (around.fastest) CHECK(around.fastest->step_s > (1 - kWorthIt) * e.step->time_s);
        return d;
    }
    const Evaluation then = evaluate(d.proposal->plan);
    REQUIRE(then.step);
    CHECK(d.gain == near(1 - then.step->time_s / e.step->time_s, 1e-9));
    CHECK(d.freed_bytes == near(e.memory.peak() - then.memory.peak(), 1e-9));
    CHECK(fits(fit_of(then.memory).value_or(MemoryFit::no)));
    // It leaves what a search leaves, or the plan itself; what only makes the plan fit may leave less.
    const double left = 1 - then.memory.peak() / then.memory.hbm, own = 1 - e.memory.peak() / e.memory.hbm;
    if (fits(fit))
        CHECK(left >= std::min(SearchOptions{}.headroom, own) - 1e-9);
    else if (left < 0.05 - 1e-9)
        CHECK(caution_of(d).find("of the memory free") != std::string::npos);
    CHECK(changed_choices(plan, d.proposal->choice).size() <= 3);  // schedule and chunks are one edit
    switch (d.ground) {
    case Ground::fits: CHECK_FALSE(fits(fit)); break;
    case Ground::leaner:
        CHECK(d.gain >= 0);
        CHECK(d.freed_bytes >= kMuchMemory * e.memory.hbm);
        break;
    case Ground::faster: CHECK((d.ruling == Ruling::measure) == !d.gain_is_sure()); break;
    case Ground::nothing: FAIL("a proposal has a ground"); break;
    }
    check_pair(plan, e, d, then);
    // A person who follows it is not sent back.
    const std::optional<PlanDecision> after = decide_by_two_edits(d.proposal->plan, then, 1);
    REQUIRE(after);
    if (after->proposal) CHECK_FALSE(changed_choices(plan, after->proposal->choice).empty());
    return d;
}

// A layout that a search found, with nothing but what a decision asks of it.
SearchResult found(double step_s, double memory_bytes, MemoryFit fit) {
    SearchResult out;
    out.step_s = step_s, out.memory_bytes = memory_bytes, out.fit = fit;
    return out;
}

}  // namespace

TEST_CASE("a decision keeps to its rule and does not take back what it proposed: plans that ship") {
    for (const char* name :
         {"single-gpu", "mesh-8", "hsdp-64", "llama-3-8b-fsdp", "llama-3-70b-3d", "mixtral-8x7b-ep"}) {
        CAPTURE(std::string(name));
        const Plan plan = test::presets().plan(name);
        const Evaluation e = evaluate(plan);
        const PlanDecision near_by = check_decision(plan, e);
        check_search(plan, e, near_by);
        check_doors(plan, e, near_by);
    }
}

TEST_CASE("a decision keeps to its rule and does not take back what it proposed: random plans") {
    test::RandomPlans plans(61, test::small_plan(8));
#ifdef PENTAMESH_SANITIZED
    constexpr int kPlans = 10;
#else
    constexpr int kPlans = 500;
#endif
    constexpr int kDoors = 3;  // each third plan is searched whole, twice: that takes most of the time
    for (int i = 0; i < kPlans; ++i) {
        CAPTURE(i);
        const Plan plan = plans.next();
        const Evaluation e = evaluate(plan);
        const PlanDecision near_by = check_decision(plan, e);
        check_search(plan, e, near_by);
        if (i % kDoors == 0) check_doors(plan, e, near_by);
    }
}

TEST_CASE(
    "what is proposed of a plan leaves as much memory free as a search does: decision, advice, tried edits") {
    int changes = 0;
    for (const char* name : {"llama-3-8b-fsdp", "llama-3-70b-3d", "mixtral-8x7b-ep", "zoom-1024"}) {
        CAPTURE(std::string(name));
        const Plan plan = test::presets().plan(name);
        const Evaluation e = evaluate(plan);
        REQUIRE(e.step);
        REQUIRE(e.memory.fits());
        const double most = std::max(0.95 * e.memory.hbm, e.memory.peak()) * (1 + 1e-12);
        const auto decision = decide(plan, e, 1);
        REQUIRE(decision);
        if (decision->proposal) CHECK(decision->proposal->memory_bytes <= most);
        const TriedEdits tried = try_each_edit(plan, e);
        for (const SearchResult& r : tried.fit) {
            CHECK(r.memory_bytes <= most);
            ++changes;
        }
        for (const SearchResult& r : tried.unfit) CHECK(r.memory_bytes > 0.95 * e.memory.hbm);
        for (const Advised& p : advise(plan, e)) {
            if (p.fix.empty() || p.rule != Rule::advice) continue;
            Plan fixed = plan;
            REQUIRE(apply_in_core(fixed, p.fix));
            CAPTURE(p.message);
            CHECK(evaluate(fixed).memory.peak() <= most);
        }
    }
    CHECK(changes > 10);
}

TEST_CASE("a plan that fits with less to spare than a search keeps is changed for no fuller one") {
    Plan plan = test::presets().plan("llama-3-70b-3d");
    plan.cluster.gpu.hbm_bytes = evaluate(plan).memory.peak() / 0.98;
    const Evaluation e = evaluate(plan);
    REQUIRE(e.memory.fits());
    CHECK(kept_free(e.memory) == near(0.02, 1e-9));
    const auto decision = decide(plan, e, 1);
    REQUIRE(decision);
    if (decision->proposal) CHECK(decision->proposal->memory_bytes <= e.memory.peak() * (1 + 1e-12));
    plan.cluster.gpu.hbm_bytes /= 1.2;
    CHECK(kept_free(evaluate(plan).memory) == near(0.05, 1e-9));
}

TEST_CASE("risk comes first: where buffers may not fit, a layout that holds much less and is no slower is "
          "proposed") {
    const Plan plan = test::presets().plan("llama-3.1-405b-16k");
    const Evaluation e = evaluate(plan);
    REQUIRE(fit_of(e.memory) == MemoryFit::tight);
    const double step_s = e.step->time_s, peak = e.memory.peak(), much = 17.0 * 1024 * 1024 * 1024;
    NearLayouts around;
    around.fastest = found(0.9655 * step_s, peak, MemoryFit::tight);
    around.leanest = found(0.998 * step_s, peak - much, MemoryFit::yes);
    const PlanDecision lean = decide(e, around);
    CHECK(lean.ruling == Ruling::change);
    CHECK(lean.ground == Ground::leaner);
    CHECK(headline_of(lean, "cp 2", "") == "Run it with cp 2: 17 GiB less, and no slower.");
    CHECK(caution_of(lean).empty());
    // The faster one frees as much: it is proposed, and its gain is said to be no more than the estimate may
    // be off.
    around.fastest->memory_bytes = peak - much;
    const PlanDecision both = decide(e, around);
    CHECK(both.ground == Ground::leaner);
    CHECK(both.gain == near(0.0345, 1e-9));
    CHECK_FALSE(caution_of(both).empty());
    // A little less is no reason.
    around.fastest.reset();
    around.fastest = found(step_s, peak, MemoryFit::tight);
    around.leanest->memory_bytes = peak - 1e9;
    CHECK(decide(e, around).ruling == Ruling::keep);
    // A gain that is sure comes first.
    around.fastest->step_s = 0.5 * step_s;
    CHECK(decide(e, around).ground == Ground::faster);
}

TEST_CASE("a plan that does not fit is changed for one that fits, where the search knows one as fast") {
    Plan plan = test::presets().plan("llama-3-70b-3d");
    plan.layout.tp = 2, plan.layout.pp = 1, plan.layout.virtual_stages = 1, plan.layout.dp_shard = 64;
    plan.layout.dp_replicate = 2, plan.layout.schedule = Schedule::one_f_one_b, plan.layout.zero = 3;
    plan.training.global_batch = 512;
    const Evaluation e = evaluate(plan);
    REQUIRE(e.step);
    REQUIRE_FALSE(e.memory.fits());
    const auto two = decide_by_two_edits(plan, e, 1), whole = decide(plan, e, 1);
    REQUIRE(two);
    REQUIRE(two->proposal);
    CHECK(two->proposal->fit == MemoryFit::yes);
    REQUIRE(whole);
    REQUIRE(whole->proposal);
    CHECK(whole->ground == Ground::fits);
    CHECK(whole->proposal->fit == MemoryFit::yes);
    CHECK(whole->proposal->step_s <= two->proposal->step_s);
    CHECK(headline_of(*whole, "x", "").find("it then fits") != std::string::npos);
    // Two changes that only may fit give way to what the search has.
    REQUIRE(whole->fastest);
    PlanDecision open = *two;
    open.proposal->fit = MemoryFit::tight;
    SearchReport report;
    report.results = {*whole->fastest};
    report.results[0].fit = MemoryFit::yes;
    const PlanDecision safe = with_search(open, e, report);
    CHECK(safe.searched);
    CHECK(safe.proposal->fit == MemoryFit::yes);
    CHECK(safe.proposal->step_s == whole->fastest->step_s);
    // A layout that is slower beyond doubt is no mend.
    report.results[0].step_s = 3 * open.proposal->step_s;
    CHECK_FALSE(with_search(open, e, report).searched);
}

TEST_CASE("of two changes what fits beyond doubt comes first, where the other is not faster beyond doubt") {
    const Plan plan = test::presets().plan("llama-3-8b-fsdp");
    const Evaluation e = evaluate(plan);
    REQUIRE(e.step);
    const double step_s = e.step->time_s;
    const auto layout = [&](double time_s, MemoryFit fit) {
        SearchResult r = found(time_s, e.memory.peak(), fit);
        r.step.error = e.step->error;
        return r;
    };
    NearLayouts near_by;
    near_by.fastest = layout(0.90 * step_s, MemoryFit::tight);
    near_by.surest = layout(0.92 * step_s, MemoryFit::yes);
    CHECK(decide(e, near_by).proposal->fit == MemoryFit::yes);
    near_by.surest->step_s = 0.995 * step_s;  // not worth a change
    CHECK(decide(e, near_by).proposal->fit == MemoryFit::tight);
    near_by.surest->step_s = 0.92 * step_s;
    near_by.fastest->step_s = 0.5 * step_s;  // a gain beyond doubt
    CHECK(decide(e, near_by).proposal->fit == MemoryFit::tight);
    near_by.surest.reset();
    CHECK(decide(e, near_by).proposal->fit == MemoryFit::tight);
}

TEST_CASE("each ruling has its sentence") {
    PlanDecision d{.now = MemoryFit::yes};
    CHECK(headline_of(d, "", "") == "Run it as it is: no one or two changes that fit gain 1 %.");
    d.now = MemoryFit::tight;
    CHECK(headline_of(d, "", "6.81 GiB")
          == "Run it as it is, with buffers under 6.81 GiB: no one or two changes that fit gain 1 %.");
    CHECK(headline_of(d, "", "")
          == "Run it as it is, though it may not fit: no one or two changes that fit gain 1 %.");
    d = {.ruling = Ruling::hopeless, .now = MemoryFit::no};
    CHECK(headline_of(d, "", "") == "Do not run it: it does not fit, and no two changes make it fit.");
    d = {.ruling = Ruling::measure,
         .ground = Ground::faster,
         .proposal = SearchResult{},
         .now = MemoryFit::yes,
         .gain = 0.0345,
         .range = 0.08};
    d.proposal->fit = MemoryFit::yes;
    CHECK(headline_of(d, "tp 4", "") == "Run it with tp 4 if that measures faster: 3.45 % by the estimate.");
    CHECK(caution_of(d) == "A gain of 3.45 % is less than the estimate's own range of 8 %.");
    d.ruling = Ruling::change, d.gain = 0.12, d.proposal->fit = MemoryFit::yes;
    CHECK(headline_of(d, "tp 4", "") == "Run it with tp 4: 12 % faster, and it fits.");
    // A fit that is open is said in the words of the verdict, with every ruling.
    d.proposal->fit = MemoryFit::tight;
    CHECK(headline_of(d, "tp 4", "") == "Run it with tp 4: 12 % faster, but it may not fit.");
    d.ruling = Ruling::measure, d.gain = 0.0345;
    CHECK(headline_of(d, "tp 4", "")
          == "Run it with tp 4 if that measures faster: 3.45 % by the estimate, but it may not fit.");
    d.ruling = Ruling::change, d.gain = 0.12, d.proposal->fit = MemoryFit::yes;
    CHECK(caution_of(d).empty());
    d.ground = Ground::fits, d.now = MemoryFit::no, d.gain = -0.05;
    CHECK(headline_of(d, "recompute full", "")
          == "Do not run it as it is. Run it with recompute full: it then fits, and is 5 % slower.");
}

TEST_CASE("a decision says of which software its layouts are, and what that does not run of the plan") {
    // ZeRO-2 with a pipeline: Megatron-LM has no such thing; of DualPipe neither.
    for (const char* name : {"llama-3.1-405b-16k", "deepseek-v3-2048"}) {
        CAPTURE(std::string(name));
        const Plan plan = test::presets().plan(name);
        REQUIRE(plan.training.software == Software::megatron);
        REQUIRE(lacks_of(plan, Software::megatron).any());
        const Evaluation e = evaluate(plan);
        const auto d = decide(plan, e);
        REQUIRE(d);
        CHECK(d->outside.find("Megatron-LM does not run all of it: ") == 0);
        CHECK(scope_of(*d).find(d->outside) == 0);
        // The proposal next to a search's fastest does not run there either, and says so.
        if (const std::string words = beside_fastest(*d, "x"); d->proposal && !d->searched && !words.empty())
            CHECK(words.find("like the plan, not all of it runs on Megatron-LM") != std::string::npos);
        CHECK(scope_of(*d).find("layouts that Megatron-LM runs") != std::string::npos);
        if (d->ruling == Ruling::keep)
            CHECK(headline_of(*d, "", "").find("Run it as it is, though not by Megatron-LM") == 0);
        // The search has only what Megatron-LM runs, and says that the plan is not one of those.
        SearchReport report;
        std::optional<SpaceError> error;
        SpaceRequest few;
        few.hold = {"order", "schedule=1f1b", "recompute", "virtual_stages=1", "zero=1", "tp", "cp", "ep"};
        report = search(plan, search_space(plan, few, error), {.threads = 1});
        REQUIRE_FALSE(error);
        find_ties(plan, {}, report);
        const SearchStanding stands = standing_of(e, report);
        CAPTURE(stands.sentence);
        if (stands.standing != PlanStanding::unknown && stands.standing != PlanStanding::fits)
            CHECK(stands.sentence.find("The fastest that Megatron-LM runs ") == 0);
    }
    const Plan whole = test::presets().plan("llama-3-70b-3d");
    REQUIRE_FALSE(lacks_of(whole, whole.training.software).any());
    const auto d = decide(whole, evaluate(whole));
    REQUIRE(d);
    CHECK(d->outside.empty());
    CHECK(scope_of(*d).find("Weighed: one and two changes, and all ") == 0);
    CHECK(scope_of(*d).find(" layouts that Megatron-LM runs.") != std::string::npos);
    PlanDecision alone = *d;
    alone.layouts = 0, alone.fastest.reset(), alone.searched = false;
    CHECK(scope_of(alone) == "Weighed: one and two changes that Megatron-LM runs; not searched.");
}
