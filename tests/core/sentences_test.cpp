// Tests sentences of problems: each number in them is also printed by a report of that plan.
#include "valid_plan.h"

#include "core/advice/advice.h"
#include "core/plan/edits.h"
#include "tests/near.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <random>
#include <regex>

using namespace pentamesh;
using namespace pentamesh::test;

namespace {

Plan random_plan(std::mt19937_64& rng) {
    const auto pick = [&](std::initializer_list<std::int64_t> from) {
        return from.begin()[rng() % from.size()];
    };
    Plan p = valid_plan(rng() % 3 == 0 ? moe_model() : dense_model());
    Layout& l = p.layout;
    l.tp = pick({1, 2, 4, 8, 16}), l.cp = pick({1, 1, 2}), l.pp = pick({1, 2, 4, 8});
    l.dp_shard = pick({1, 2, 4, 16}), l.dp_replicate = pick({1, 2, 4}), l.zero = static_cast<int>(rng() % 4);
    l.sequence_parallel = rng() % 2 == 0;
    if (p.model.moe) l.ep = pick({1, 2, 4, 8}), l.etp = pick({1, 2});
    if (l.pp > 1) {
        l.schedule = static_cast<Schedule>(rng() % kEnumCount<Schedule>);
        l.virtual_stages = pick({1, 2});
    }
    if (rng() % 3 == 0) std::shuffle(l.order.begin(), l.order.end(), rng);
    p.cluster.gpus = l.tp * l.cp * l.pp * l.dp_shard * *l.dp_replicate;
    p.cluster.tiers.back().domain = std::max<std::int64_t>(p.cluster.gpus, 8);
    Training& t = p.training;
    t.global_batch = l.dp_shard * *l.dp_replicate * pick({1, 4, 8, 16, 32});
    t.sequence_length = pick({2048, 8192, 32768});
    t.recompute = static_cast<Recompute>(rng() % 3);
    t.gradients = rng() % 2 ? Dtype::bf16 : Dtype::fp32;
    t.straggler_cv = rng() % 4 == 0 ? 0.03 : 0;
    t.overlap.dp = rng() % 2 == 0, t.overlap.pp = rng() % 2 == 0, t.overlap.cp = rng() % 2 == 0;
    return p;
}

double sent(const Evaluation& e, bool data_parallel) {
    double sum = 0;
    for (int k = 0; k < kGroupKindCount; ++k)
        if (!data_parallel || is_data_parallel(static_cast<GroupKind>(k)))
            sum += e.comm.by_axis[static_cast<GroupKind>(k)].sent_bytes_per_rank;
    return sum;
}

const StageMemory& fullest(const Evaluation& e) {
    return *std::max_element(e.memory.stage.begin(), e.memory.stage.end(),
                             [](const auto& x, const auto& y) { return x.total() < y.total(); });
}

// Works the figure out from those that a report shows; nullopt where this test has no second way to that
// number.
std::optional<double> reported(const Stated& f, const Plan& plan, const Evaluation& now,
                               const Evaluation& e) {
    const Step& s = *e.step;
    const AxisTraffic& axis = e.comm.by_axis[static_cast<GroupKind>(f.group)];
    switch (f.measure) {
    case Measure::step_s: return s.time_s;
    case Measure::step_saved_s: return now.step->time_s - s.time_s;
    case Measure::bubble_s: return s.bubble_s - s.uneven_s;
    case Measure::bubble_share: return (s.bubble_s - s.uneven_s) / s.time_s;
    case Measure::uneven_s: return s.uneven_s;
    case Measure::uneven_share: return s.uneven_s / s.time_s;
    case Measure::straggler_s: return s.straggler_s;
    case Measure::straggler_share: return s.time_s / (s.time_s - s.straggler_s) - 1;
    case Measure::straggler_cv: return plan.training.straggler_cv;
    case Measure::straggler_bound:
        return plan.training.straggler_cv * std::sqrt(2 * std::log(static_cast<double>(plan.cluster.gpus)));
    case Measure::memory: return fullest(e).total();
    case Measure::memory_saved: return fullest(now).total() - fullest(e).total();
    case Measure::memory_over: return fullest(e).total() - plan.cluster.gpu.hbm_bytes;
    case Measure::memory_least: return fullest(e).total() - fullest(e).buffers + fullest(e).buffers_low;
    case Measure::hbm: return plan.cluster.gpu.hbm_bytes;
    case Measure::parameters: return fullest(e).parameters;
    case Measure::gradients: return fullest(e).gradients;
    case Measure::optimizer: return fullest(e).optimizer;
    case Measure::activations: return fullest(e).activations;
    case Measure::buffers: return fullest(e).buffers;
    case Measure::buffers_high: return fullest(e).buffers_high;
    case Measure::sent: return sent(e, false);
    case Measure::sent_data_parallel: return sent(e, true);
    case Measure::group_sent: return axis.sent_bytes_per_rank;
    case Measure::group_time_s: return axis.time_s;
    case Measure::group_exposed_s: return axis.exposed_s;
    case Measure::ring_piece:
    case Measure::ring_latency_s:
    case Measure::ring_latency_step_s: return std::nullopt;
    }
    return std::nullopt;
}

// Counts numbers with a unit, as text.h writes them.
std::size_t numbers_with_units(const std::string& text) {
    static const std::regex number("[0-9] (s|ms|µs|ns|B|kB|MB|GB|TB|KiB|MiB|GiB|TiB|%)( |,|\\.|:|;|\\)|$)");
    return static_cast<std::size_t>(
        std::distance(std::sregex_iterator(text.begin(), text.end(), number), std::sregex_iterator()));
}

void check_figures(const Advised& problem, const Plan& plan, const Evaluation& now) {
    CAPTURE(problem.said());
    CHECK(problem.message.find_first_of("{}|") == std::string::npos);  // each value has its name
    CHECK(numbers_with_units(problem.said()) == problem.figures.size());
    std::size_t at = 0;
    for (const Stated& f : problem.figures) {
        CAPTURE(name_of(f.measure));
        at = problem.said().find(text_of(f), at);
        REQUIRE(at != std::string::npos);
        Plan after = plan;
        REQUIRE(apply_in_core(after, f.after));
        const Evaluation e = f.after.empty() ? now : evaluate(after);
        REQUIRE(e.step.has_value());
        if (const std::optional<double> value = reported(f, after, now, e)) CHECK(f.value == near(*value));
    }
}

// Advice that is meant to save memory or traffic states its cost; all other makes a step 1 % faster.
bool says_its_price(ProblemCode code) {
    constexpr ProblemCode kCodes[] = {
        ProblemCode::memory_does_not_fit,   ProblemCode::memory_nearly_full,
        ProblemCode::sequence_parallel_off, ProblemCode::shard_axis_without_zero,
        ProblemCode::pp_with_zero3,         ProblemCode::experts_copied};
    return std::find(std::begin(kCodes), std::end(kCodes), code) != std::end(kCodes);
}

}  // namespace

TEST_CASE("each number in a sentence of advice is that of a report, before and after the change") {
    std::mt19937_64 rng(20);
    int plans = 0, figures = 0, faster = 0, dear = 0;
    for (int round = 0; round < 400 && plans < 80; ++round) {
        const Plan plan = random_plan(rng);
        const Evaluation now = evaluate(plan);
        if (!now.valid || !now.step) continue;
        ++plans;
        for (const Advised& problem : advise(plan, now)) {
            figures += static_cast<int>(problem.figures.size());
            check_figures(problem, plan, now);
            if (problem.rule != Rule::advice && problem.rule != Rule::hardware) continue;
            if (problem.fix.empty() || problem.code == ProblemCode::fp32_as_tf32) continue;
            CAPTURE(problem.said());
            Plan after = plan;
            REQUIRE(apply_in_core(after, problem.fix));
            const Evaluation e = evaluate(after);
            const double gain = e.step->time_s / now.step->time_s;
            const bool timed =
                std::any_of(problem.figures.begin(), problem.figures.end(),
                            [](const Stated& f) { return f.measure == Measure::step_s && !f.after.empty(); });
            if (says_its_price(problem.code)) {
                ++dear;
                CHECK((timed || std::abs(gain - 1) < 2e-3));
            } else if (problem.code != ProblemCode::bubble_too_large) {
                ++faster;
                CHECK(gain < 0.99);
            }
        }
    }
    CHECK(plans == 80);
    CHECK(figures > 300);
    CHECK(faster > 20);
    CHECK(dear > 20);
}

TEST_CASE("the same bytes on the wire are claimed only where they are") {
    std::mt19937_64 rng(21);
    int same = 0, other = 0;
    for (int round = 0; round < 300 && std::min(same, other) < 8; ++round) {
        Plan plan = random_plan(rng);
        plan.layout.zero = 0;
        const Evaluation now = evaluate(plan);
        if (!now.valid) continue;
        for (const Advised& problem : advise(plan, now)) {
            if (problem.code != ProblemCode::sequence_parallel_off
                && problem.code != ProblemCode::shard_axis_without_zero)
                continue;
            if (problem.fix.empty()) continue;
            CAPTURE(problem.said());
            Plan after = plan;
            REQUIRE(apply_in_core(after, problem.fix));
            const double ratio = sent(evaluate(after), false) / sent(now, false);
            const bool claimed = problem.said().find("same bytes on the wire") != std::string::npos;
            CHECK(claimed == (std::abs(ratio - 1) <= 1e-3));
            ++(claimed ? same : other);
        }
    }
    CHECK(same > 0);
    CHECK(other > 0);
}

TEST_CASE("the batch that bubble-too-large names is the smallest multiple of pp, as replayed") {
    std::mt19937_64 rng(22);
    int seen = 0;
    for (int round = 0; round < 400 && seen < 20; ++round) {
        const Plan plan = random_plan(rng);
        if (plan.layout.pp == 1) continue;
        const Evaluation now = evaluate(plan);
        for (const Advised& problem : advise(plan, now)) {
            if (problem.code != ProblemCode::bubble_too_large) continue;
            for (const Stated& f : problem.figures) {
                if (f.after.size() != 1 || f.after[0].path != "/training/global_batch") continue;
                if (f.measure != Measure::bubble_share) continue;
                ++seen;
                CAPTURE(problem.said());
                CHECK(f.value < 0.1);
                const std::int64_t found = std::get<std::int64_t>(f.after[0].value);
                const std::int64_t round_of = plan.training.global_batch / now.microbatches * plan.layout.pp;
                CHECK(found % round_of == 0);
                for (std::int64_t batch = round_of; batch < found; batch += round_of) {
                    if (batch <= plan.training.global_batch) continue;
                    Plan smaller = plan;
                    smaller.training.global_batch = batch;
                    const Evaluation e = evaluate(smaller);
                    if (e.step) CHECK((e.step->bubble_s - e.step->uneven_s) / e.step->time_s >= 0.1);
                }
            }
        }
    }
    CHECK(seen == 20);
}

TEST_CASE("a fix of advice leaves no plan with the problem that it mends") {
    constexpr ProblemCode kGone[] = {
        ProblemCode::etp_cuts_small_experts, ProblemCode::memory_does_not_fit,
        ProblemCode::sequence_parallel_off,  ProblemCode::shard_axis_without_zero,
        ProblemCode::pp_with_zero3,          ProblemCode::overlap_off,
        ProblemCode::experts_copied};
    std::mt19937_64 rng(23);
    int etp = 0, seen = 0;
    for (int round = 0; round < 600 && (etp < 8 || seen < 60); ++round) {
        Plan plan = random_plan(rng);
        if (plan.model.moe && plan.layout.tp > 1 && rng() % 2) plan.layout.etp.reset();
        const Evaluation now = evaluate(plan);
        if (!now.valid) continue;
        for (const Advised& problem : advise(plan, now)) {
            if (std::find(std::begin(kGone), std::end(kGone), problem.code) == std::end(kGone)) continue;
            if (problem.fix.empty()) continue;
            CAPTURE(problem.said());
            Plan after = plan;
            REQUIRE(apply_in_core(after, problem.fix));
            const Evaluation e = assess(after);
            CHECK(e.valid);
            for (const Problem& left : e.problems)
                CHECK_MESSAGE((left.code != problem.code || left.pointer != problem.pointer), left.said());
            ++seen;
            etp += problem.code == ProblemCode::etp_cuts_small_experts;
        }
    }
    CHECK(etp >= 8);
    CHECK(seen >= 60);
}
