// Tests advice: the weakness of a valid plan, and the fix that mends it.
#include "tests/core/shipped.h"
#include "valid_plan.h"

#include "core/advice/advice.h"
#include "core/io/plan_json.h"
#include "core/io/presets.h"
#include "core/plan/edits.h"
#include "core/rules/rules.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <random>

using namespace pentamesh;
using namespace pentamesh::test;

namespace {

// Returns the problem of that code in a plan's evaluation, if any.
std::optional<Problem> advice_on(const Plan& plan, ProblemCode code) {
    const Evaluation e = assess(plan);
    for (const Problem& p : e.problems)
        if (p.code == code) return p;
    return std::nullopt;
}

// Applies the fix: the plan is still valid, and that problem is gone.
Plan mended(const Plan& plan, const Problem& problem) {
    Plan fixed = plan;
    REQUIRE(!problem.fix.empty());
    REQUIRE(apply_in_core(fixed, problem.fix));
    CAPTURE(problem.said());
    const Evaluation e = evaluate(fixed, {false, false});
    REQUIRE(e.valid);
    CHECK(!advice_on(fixed, problem.code).has_value());
    return fixed;
}

}  // namespace

TEST_CASE("tp across nodes is shown in bytes and time, and its fix is faster") {
    Plan p = valid_plan();
    p.model.kv_heads = 32;
    p.layout.tp = 16, p.layout.dp_shard = 2;
    const auto found = advice_on(p, ProblemCode::tp_spans_nodes);
    REQUIRE(found);
    CHECK(found->severity == Severity::warning);
    CHECK(found->message.find("4 of its 4 groups") != std::string::npos);
    CHECK(found->message.find("IB") != std::string::npos);
    const Plan fixed = mended(p, *found);
    CHECK(evaluate(fixed).step->time_s < evaluate(p).step->time_s);
    CHECK(!advice_on(valid_plan(), ProblemCode::tp_spans_nodes));
}

TEST_CASE("groups that would fit a domain but straddle two are told why") {
    Plan p = valid_plan(moe_model());
    p.cluster.gpus = 144;
    p.cluster.tiers = {{"NVLink", LinkKind::nvlink, 72, 900e9, 1e-6, 1},
                       {"IB", LinkKind::ib, 144, 50e9, 5e-6, 1}};
    p.layout.tp = 1, p.layout.pp = 1, p.layout.dp_shard = 144, p.layout.ep = 16,
    p.training.global_batch = 144;
    const auto found =
        advice_on(p, ProblemCode::ep_spans_nodes);  // only ranks 64 .. 79 cross the end of the first 72
    REQUIRE(found);
    CHECK(found->message.find("in 1 of its 9 groups") != std::string::npos);
    CHECK(found->message.find("uses 64 GPUs of each domain") != std::string::npos);
}

TEST_CASE("an order that lays tp over the slow tier is named with the axis that suffers") {
    Plan p = valid_plan();
    p.layout.tp = 8, p.layout.dp_shard = 8, p.layout.pp = 1;
    p.layout.order = {Axis::dp_shard, Axis::tp, Axis::cp, Axis::ep, Axis::dp_replicate, Axis::pp};
    const auto found = advice_on(p, ProblemCode::order_puts_chatty_axis_outside);
    REQUIRE(found);
    CHECK(found->message.find("lays tp (stride 8)") != std::string::npos);
    mended(p, *found);
}

TEST_CASE("FSDP over nodes is offered HSDP where that is faster") {
    Plan p = valid_plan();
    p.layout.tp = 1, p.layout.pp = 1, p.layout.dp_shard = 64, p.layout.zero = 3;
    p.training.sequence_length = 1024,
    p.training.global_batch = 64 * 4;  // gathers repeat, replicas reduce once
    const auto found = advice_on(p, ProblemCode::hsdp_keeps_shards_inside);
    REQUIRE(found);
    Plan fixed = p;
    REQUIRE(apply_in_core(fixed, found->fix));
    CHECK(fixed.layout.dp_shard * *fixed.layout.dp_replicate == 64);
    CHECK(fixed.layout.dp_shard < 64);
    const Evaluation before = evaluate(p), after = evaluate(fixed);
    CHECK(after.valid);
    CHECK(after.step->time_s < before.step->time_s);
}

TEST_CASE("a thousand FSDP ranks are warned of with the ring's latency") {
    Plan p = valid_plan();
    p.cluster.gpus = p.cluster.tiers[1].domain = p.training.global_batch = 1024;
    p.layout.tp = 1, p.layout.pp = 1, p.layout.dp_shard = 1024, p.layout.zero = 3;
    const auto found = advice_on(p, ProblemCode::fsdp_many_ranks);
    REQUIRE(found);
    CHECK(found->message.find("1,023 steps") != std::string::npos);
    CHECK(found->message.find("5.12 ms a collective") != std::string::npos);  // 1,023 x 5 us
}

TEST_CASE("FSDP over many nodes is shown HSDP where it wins, and from which size") {
    const auto fsdp = [](std::int64_t gpus, std::int64_t shard) {
        Plan p = test::presets().plan("hsdp-64");
        p.model = test::presets().model("llama-3.1-70b");
        p.layout = {};
        p.layout.zero = 3, p.layout.dp_shard = shard, p.layout.dp_replicate = gpus / shard;
        p.training.sequence_length = 2048, p.training.micro_batch = 1, p.training.global_batch = gpus;
        p.training.recompute = Recompute::full, p.training.software = Software::torchtitan;
        p.cluster.gpus = gpus;
        return p;
    };
    const auto saves = [&](std::int64_t gpus, std::int64_t shard) {
        return 1 - evaluate(fsdp(gpus, shard)).step->time_s / evaluate(fsdp(gpus, gpus)).step->time_s;
    };
    const Plan p = fsdp(1024, 1024);
    const auto found = advice_on(p, ProblemCode::fsdp_many_ranks);
    REQUIRE(found);
    const std::int64_t shard = mended(p, *found).layout.dp_shard;
    CHECK(shard < 1024);
    std::int64_t least = 1024;
    while (least > shard && saves(least / 2, shard) > 0.01) least /= 2;
    CHECK(least < 1024);
    CHECK(found->help.find("down to " + std::to_string(least) + " GPUs, not at " + std::to_string(least / 2))
          != std::string::npos);
    // The sentence of fewer ranks, and none where it saves less than 1 %.
    const auto fewer = advice_on(fsdp(512, 512), ProblemCode::fsdp_many_ranks);
    REQUIRE(fewer);
    CHECK(fewer->severity == Severity::info);
    CHECK(saves(512, shard) > 0.01);
    CHECK(saves(128, 64) < 0.01);
    CHECK(!advice_on(fsdp(128, 128), ProblemCode::fsdp_many_ranks));
}

TEST_CASE("ZeRO-3 under a pipeline is shown what it sends, and what less sharding would") {
    Plan p = valid_plan();
    p.layout.zero = 3, p.training.global_batch = 512;
    const auto found = advice_on(p, ProblemCode::pp_with_zero3);
    REQUIRE(found);
    mended(p, *found);
    p.layout.zero = 1;
    CHECK(!advice_on(p, ProblemCode::pp_with_zero3));
}

TEST_CASE("a large bubble names the batch that makes it small") {
    Plan p = valid_plan();
    p.layout.pp = 8, p.layout.dp_shard = 4, p.training.global_batch = 32;
    const auto found = advice_on(p, ProblemCode::bubble_too_large);
    REQUIRE(found);
    const Plan fixed = mended(p, *found);
    const Evaluation e = evaluate(fixed);
    CHECK(schedule_bubble_s(*e.step) < 0.1 * e.step->time_s);
    // And it is the smallest multiple of pp that does.
    Plan less = fixed;
    less.training.global_batch -= 8 * 4;
    const Evaluation l = evaluate(less);
    CHECK(schedule_bubble_s(*l.step) >= 0.1 * l.step->time_s);
}

TEST_CASE("interleaving is advised without the group of micro-batches that another schedule had") {
    Plan p = valid_plan();
    p.layout.pp = 8, p.layout.dp_shard = 4, p.training.global_batch = 64;
    const auto plain = advice_on(p, ProblemCode::bubble_too_large);
    REQUIRE(plain);
    REQUIRE(plain->help.find("interleaved") != std::string::npos);
    p.layout.microbatch_group = 32;  // 1F1B asks for none; interleaved refuses one above 16 micro-batches
    REQUIRE(evaluate(p, {false, false}).valid);
    const auto found = advice_on(p, ProblemCode::bubble_too_large);
    REQUIRE(found);
    const auto end_of = [](const std::string& text) { return text.substr(text.rfind("takes")); };
    CHECK_MESSAGE(end_of(found->help) == end_of(plain->help), found->help);
}

TEST_CASE("what does not fit is offered a change that fits") {
    Plan p = valid_plan();
    p.layout.tp = 1, p.layout.pp = 1, p.layout.dp_shard = 1, p.layout.dp_replicate = 64, p.layout.zero = 0;
    const auto found = advice_on(p, ProblemCode::memory_does_not_fit);
    REQUIRE(found);
    CHECK(found->severity == Severity::warning);
    const Plan fixed = mended(p, *found);
    CHECK(evaluate(fixed).memory.fits());

    Plan experts = valid_plan(moe_model());
    experts.layout.tp = 1, experts.layout.pp = 1, experts.layout.dp_shard = 64, experts.layout.ep = 1;
    experts.model.moe->expert_ffn = 4096;
    const auto spread = advice_on(experts, ProblemCode::memory_does_not_fit);
    REQUIRE(spread);
    CHECK(evaluate(mended(experts, *spread)).memory.fits());

    Plan hopeless = p;
    hopeless.model.hidden *= 64, hopeless.model.ffn *= 64, hopeless.model.head_dim *= 64;
    const auto none = advice_on(hopeless, ProblemCode::memory_does_not_fit);
    REQUIRE(none);
    CHECK(none->fix.empty());
}

TEST_CASE("recomputation that nothing needs is named with the time it takes") {
    Plan p = valid_plan();
    p.layout.tp = 8, p.layout.dp_shard = 4;
    p.training.recompute = Recompute::full;
    const auto found = advice_on(p, ProblemCode::recompute_not_needed);
    REQUIRE(found);
    mended(p, *found);
}

TEST_CASE("stragglers cost what the exact maximum says, beside the bound") {
    Plan p = valid_plan();
    p.training.straggler_cv = 0.05;
    const auto found = advice_on(p, ProblemCode::straggler_tax);
    REQUIRE(found);
    CHECK(found->message.find("slowest of 64 GPUs") != std::string::npos);
}

TEST_CASE("rules of one framework are warnings or notices that name it, never errors") {
    Plan p = valid_plan(moe_model());
    p.layout.etp = 1, p.layout.ep = 32, p.layout.sequence_parallel = false;
    p.layout.dp_shard = 1, p.layout.dp_replicate = 16;
    CHECK(evaluate(p).valid);
    const auto sp = advice_on(p, ProblemCode::megatron_moe_needs_sp);
    REQUIRE(sp);
    CHECK(sp->message.find("Megatron") != std::string::npos);
    mended(p, *sp);
    CHECK_FALSE(advice_on(p, ProblemCode::torchtitan_ep));  // the plan is Megatron's
    p.training.software = Software::torchtitan;
    const auto ep = advice_on(p, ProblemCode::torchtitan_ep);
    REQUIRE(ep);
    CHECK(ep->message.find("torchtitan") != std::string::npos);
    mended(p, *ep);
    CHECK_FALSE(advice_on(p, ProblemCode::megatron_moe_needs_sp));
}

TEST_CASE("leftover GPUs are said aloud as replicas") {
    Plan p = valid_plan();
    p.layout.dp_replicate.reset();
    p.layout.dp_shard = 4;
    const auto found = advice_on(p, ProblemCode::leftover_replicas);
    REQUIRE(found);
    CHECK(found->message.find("dp_replicate = 4") != std::string::npos);
    CHECK(evaluate(p).valid);
}

TEST_CASE("whatever advice offers is a valid plan") {
    std::mt19937_64 rng(11);
    const auto pick = [&](std::initializer_list<std::int64_t> from) {
        return from.begin()[rng() % from.size()];
    };
    for (int round = 0; round < 60; ++round) {
        Plan p = valid_plan(rng() % 2 ? moe_model() : dense_model());
        Layout& l = p.layout;
        l.tp = pick({1, 2, 8}), l.cp = pick({1, 1, 2}), l.pp = pick({1, 2, 4});
        l.dp_shard = pick({1, 2, 4}), l.dp_replicate = pick({1, 2, 8}), l.zero = static_cast<int>(rng() % 4);
        if (p.model.moe) l.ep = pick({1, 2, 4}), l.etp = pick({1, 2});
        std::shuffle(l.order.begin(), l.order.end(), rng);
        p.cluster.gpus = l.tp * l.cp * l.pp * l.dp_shard * *l.dp_replicate;
        p.training.global_batch = l.dp_shard * *l.dp_replicate * pick({1, 4, 32});
        p.training.recompute = static_cast<Recompute>(rng() % 3);
        const Evaluation e = assess(p);
        if (!e.valid) continue;
        for (const Problem& problem : e.problems) {
            CAPTURE(name_of(problem.code));
            CHECK(problem.severity != Severity::error);
            CHECK(problem.said().ends_with('.'));
            Plan fixed = p;
            REQUIRE(apply_in_core(fixed, problem.fix));
            CHECK(evaluate(fixed, {false, false}).valid);
        }
    }
}

TEST_CASE("experts that every GPU copies are dealt out first, and the fix fits or is faster") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    Plan p = presets.plan("mixtral-8x7b-ep");
    p.layout.ep = 1;
    const Evaluation e = assess(p);
    REQUIRE(e.valid);
    REQUIRE_FALSE(e.memory.fits());
    const auto first =
        std::find_if(e.problems.begin(), e.problems.end(), [](const Problem& x) { return !x.fix.empty(); });
    REQUIRE(first != e.problems.end());
    CHECK(first->code == ProblemCode::experts_copied);
    const Plan fixed = mended(p, *first);
    CHECK(fixed.layout.ep > 1);
    CHECK(evaluate(fixed).memory.fits());
    CHECK(p.model.moe->experts % fixed.layout.ep == 0);
    // Nothing is copied where ep deals already, and a dense model has no experts.
    CHECK_FALSE(advice_on(fixed, ProblemCode::experts_copied));
    CHECK_FALSE(advice_on(valid_plan(), ProblemCode::experts_copied));
}

TEST_CASE("with one pipeline stage no advice speaks of stage 0") {
    Plan p = valid_plan();
    p.layout.tp = 1, p.layout.pp = 1, p.layout.dp_shard = 1, p.layout.dp_replicate = 64, p.layout.zero = 0;
    const auto found = advice_on(p, ProblemCode::memory_does_not_fit);
    REQUIRE(found);
    CHECK(found->said().find("stage") == std::string::npos);
}

// An even split that is written out means the same as none: the same fix is offered, and is as fast.
TEST_CASE("what makes room in memory does not depend on whether the even split is written out") {
    int compared = 0, more_stages = 0;
    for (const Recompute recompute : {Recompute::none, Recompute::full})
        for (const int zero : {1, 3})
            for (const double share : {0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95}) {
                CAPTURE(share);
                Plan plain = valid_plan();
                plain.layout.tp = 8, plain.layout.dp_shard = 4, plain.layout.zero = zero;
                plain.training.recompute = recompute;
                plain.cluster.gpu.hbm_bytes = share * evaluate(plain).memory.peak();
                Plan split = plain;
                split.layout.stage_layers = {16, 16};
                const auto a = advice_on(plain, ProblemCode::memory_does_not_fit),
                           b = advice_on(split, ProblemCode::memory_does_not_fit);
                REQUIRE(a.has_value() == b.has_value());
                if (!a || a->fix.empty()) continue;
                const Plan x = mended(plain, *a), y = mended(split, *b);
                CHECK(x.layout.pp == y.layout.pp);
                CHECK(evaluate(x).step->time_s == evaluate(y).step->time_s);
                more_stages += x.layout.pp > plain.layout.pp ? 1 : 0;
                ++compared;
            }
    CHECK(more_stages == 3);  // a fourth would leave less than a search leaves free
    CHECK(compared == 17);
}

TEST_CASE("no figure is said to be one in place of the same one") {
    const std::vector<std::vector<std::string>> changes{
        {}, {"layout.tp=16"}, {"layout.zero=3"}, {"training.recompute=full"}, {"training.micro_batch=2"}};
    int said = 0, as_before = 0;
    for (const Presets::Entry& entry : presets().list(PresetKind::plan))
        for (const std::vector<std::string>& sets : changes) {
            const Plan plan = with_sets(presets().plan(entry.id), sets, presets());
            const Evaluation e = evaluate(plan);
            for (const Advised& p : advise(plan, e)) {
                const std::string text = p.message + " " + p.help;
                CAPTURE(text);
                as_before += text.find(", as before") != std::string::npos ? 1 : 0;
                for (auto at = text.find(" instead of "); at != std::string::npos;
                     at = text.find(" instead of ", at + 1)) {
                    ++said;
                    const std::string then =
                        text.substr(at + 12, text.find_first_of(",.:;)", at + 15) - at - 12);
                    std::string now = text.substr(0, at);
                    if (now.ends_with(" a step")) now.resize(now.size() - 7);
                    CHECK_FALSE(now.ends_with(" " + then));
                }
            }
        }
    CHECK(said > 20);
    CHECK(as_before > 0);
}
