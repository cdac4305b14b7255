// Tests errors: plans that are impossible, and the fix that mends each.
#include "valid_plan.h"

#include "core/advice/advice.h"
#include "core/plan/edits.h"
#include "core/rules/rules.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace pentamesh;
using namespace pentamesh::test;

namespace {

std::vector<Problem> errors_of(const Plan& plan, bool messages = true) {
    std::vector<Problem> out;
    const Mesh mesh = build_mesh(plan);
    const GroupSummaries groups{};
    find_errors(ResolvedPlan(plan, mesh, groups), messages, out);
    return out;
}

// A change of the valid plan brings this one error, and its own fix mends it.
void breaks_and_mends(ProblemCode code, const Plan& broken) {
    CAPTURE(name_of(code));
    const std::vector<Problem> errors = errors_of(broken);
    const auto found =
        std::find_if(errors.begin(), errors.end(), [&](const Problem& p) { return p.code == code; });
    REQUIRE(found != errors.end());
    CHECK(found->severity == Severity::error);
    CHECK(found->message.ends_with('.'));
    CHECK(found->pointer.starts_with('/'));
    REQUIRE(!found->fix.empty());
    Plan fixed = broken;
    REQUIRE(apply_in_core(fixed, found->fix));
    const std::vector<Problem> left = errors_of(fixed);
    CHECK(std::none_of(left.begin(), left.end(), [&](const Problem& p) { return p.code == code; }));
}

bool mentions(const Plan& plan, const std::string& word) {
    const std::vector<Problem> errors = errors_of(plan);
    return std::any_of(errors.begin(), errors.end(),
                       [&](const Problem& p) { return p.message.find(word) != std::string::npos; });
}

}  // namespace

TEST_CASE("a plain plan has no errors") {
    CHECK(errors_of(valid_plan()).empty());
    Plan moe = valid_plan(moe_model());
    moe.layout.ep = 16, moe.layout.etp = 1;
    CHECK(errors_of(moe).empty());
}

TEST_CASE("each rule is broken by a plan of its own, named in words and mended by its fix") {
    const auto with = [](auto change) {
        Plan p = valid_plan(moe_model());
        change(p);
        return p;
    };
    breaks_and_mends(ProblemCode::below_one, with([](Plan& p) { p.layout.tp = 0; }));
    breaks_and_mends(ProblemCode::below_one, with([](Plan& p) { p.cluster.gpus = -3; }));
    breaks_and_mends(ProblemCode::zero_out_of_range, with([](Plan& p) { p.layout.zero = 4; }));
    breaks_and_mends(ProblemCode::order_not_a_permutation,
                     with([](Plan& p) { p.layout.order[0] = Axis::pp; }));
    breaks_and_mends(ProblemCode::imbalance_below_one,
                     with([](Plan& p) { p.training.router_imbalance = 0.5; }));
    breaks_and_mends(ProblemCode::negative_variation, with([](Plan& p) { p.training.straggler_cv = -1; }));
    breaks_and_mends(ProblemCode::tp_heads, with([](Plan& p) { p.layout.tp = 3; }));
    breaks_and_mends(ProblemCode::tp_kv_heads,
                     with([](Plan& p) { p.model.heads = 24, p.model.kv_heads = 6, p.layout.tp = 4; }));
    breaks_and_mends(ProblemCode::tp_ffn, with([](Plan& p) { p.model.ffn = 14337; }));
    breaks_and_mends(ProblemCode::ep_experts, with([](Plan& p) { p.layout.ep = 3; }));
    breaks_and_mends(ProblemCode::etp_ffn, with([](Plan& p) { p.layout.etp = 3; }));
    breaks_and_mends(ProblemCode::stage_layers, with([](Plan& p) { p.layout.stage_layers = {16, 15}; }));
    breaks_and_mends(ProblemCode::stage_layers, with([](Plan& p) { p.layout.stage_layers = {16, 16, 0}; }));
    breaks_and_mends(ProblemCode::pp_exceeds_layers, with([](Plan& p) { p.layout.pp = 64; }));
    breaks_and_mends(ProblemCode::world_differs_from_gpus, with([](Plan& p) { p.cluster.gpus = 65; }));
    breaks_and_mends(ProblemCode::world_differs_from_gpus,
                     with([](Plan& p) { p.layout.pp = std::int64_t{1} << 60; }));
    breaks_and_mends(ProblemCode::world_differs_from_gpus, with([](Plan& p) { p.layout.dp_shard = 1000; }));
    breaks_and_mends(ProblemCode::cluster_too_large,
                     with([](Plan& p) { p.cluster.gpus = std::int64_t{1} << 50; }));
    breaks_and_mends(ProblemCode::expert_mesh_does_not_fold, with([](Plan& p) { p.layout.ep = 64; }));
    breaks_and_mends(ProblemCode::pipeline_groups_differ, with([](Plan& p) {
                         p.layout.order = {Axis::tp,           Axis::pp, Axis::dp_shard,
                                           Axis::dp_replicate, Axis::cp, Axis::ep};
                         p.layout.etp = 1, p.layout.ep = 2;
                     }));
    breaks_and_mends(ProblemCode::sequence_does_not_divide,
                     with([](Plan& p) { p.training.sequence_length = 8191; }));
    breaks_and_mends(ProblemCode::sequence_exceeds_positions, with([](Plan& p) {
                         p.model.positions = Positions::learned, p.model.max_positions = 2048;
                     }));
    breaks_and_mends(ProblemCode::ulysses_heads, with([](Plan& p) {
                         p.model.heads = p.model.kv_heads = 8, p.layout.cp = 8, p.layout.dp_shard = 2;
                         p.layout.cp_comm = CpComm::ulysses;
                     }));
    breaks_and_mends(ProblemCode::batch_does_not_divide, with([](Plan& p) { p.training.global_batch = 63; }));
    breaks_and_mends(ProblemCode::too_many_microbatches,
                     with([](Plan& p) { p.training.global_batch = std::int64_t{1} << 60; }));
    breaks_and_mends(ProblemCode::schedule_refuses, with([](Plan& p) {
                         p.layout.schedule = Schedule::interleaved, p.layout.virtual_stages = 2;
                         p.training.global_batch = 16 * 3;
                     }));
    breaks_and_mends(ProblemCode::compute_type_unsupported,
                     with([](Plan& p) { p.training.compute = Dtype::fp4; }));
}

TEST_CASE("a smaller tp suits the model and the cluster at once, and no GPU is left out") {
    Plan p = valid_plan();
    p.model.heads = p.model.kv_heads = 12, p.model.ffn = 3072;
    p.cluster.gpus = 256, p.layout.pp = 1, p.layout.cp = 1, p.layout.ep = 1;
    p.layout.dp_shard = 32, p.layout.dp_replicate.reset(), p.layout.tp = 8;
    p.model.moe.reset();
    p.training.global_batch = 256;
    const auto errors = errors_of(p);
    REQUIRE(errors.front().code == ProblemCode::tp_heads);
    Plan mended = p;
    REQUIRE(apply_in_core(mended, errors.front().fix));
    CHECK(mended.layout.tp == 4);  // 6 divides the heads, not the cluster
    CHECK(mended.cluster.gpus == 256);
    CHECK(errors_of(mended).empty());
}

TEST_CASE("an error names the field that is wrong") {
    Plan p = valid_plan();
    p.layout.tp = 3;
    CHECK(mentions(p, "tp = 3"));
    p = valid_plan();
    p.cluster.gpus = 65;
    CHECK(mentions(p, "gpus = 65"));
    p = valid_plan();
    p.training.global_batch = 63;
    CHECK(mentions(p, "global_batch = 63"));
    p = valid_plan();
    p.layout.ep = 8;
    CHECK(mentions(p, "ep = 8"));
    p = valid_plan();
    p.layout.pp = 1'000'000'000'000'000'000;
    CHECK(mentions(p, "pp = 1,000,000,000,000,000,000"));
}

TEST_CASE("GPUs that make no whole replica are left out") {
    Plan p = valid_plan();
    p.cluster.gpus = 65;
    const std::vector<Edit> expected{{"/cluster/gpus", std::int64_t{64}}};
    CHECK(errors_of(p).front().fix == expected);
}

TEST_CASE("more GPUs become more replicas") {
    Plan p = valid_plan();
    p.cluster.gpus = 128;
    const std::vector<Edit> expected{{"/layout/dp_replicate", std::int64_t{2}}};
    CHECK(errors_of(p).front().fix == expected);
}

TEST_CASE("ep that was meant to multiply the world is told that etp defaults to tp") {
    Plan p = valid_plan(moe_model());
    p.layout.ep = 32;
    const std::vector<Problem> errors = errors_of(p);
    REQUIRE(errors.size() == 1);
    CHECK(errors[0].code == ProblemCode::expert_mesh_does_not_fold);
    const std::vector<Edit> expected{{"/layout/etp", std::int64_t{1}}};
    CHECK(errors[0].fix == expected);
}

TEST_CASE("applying fixes in any order ends in a valid plan") {
    std::mt19937_64 rng(7);
    const std::vector<std::int64_t> odd{-1,
                                        0,
                                        1,
                                        2,
                                        3,
                                        4,
                                        5,
                                        6,
                                        7,
                                        8,
                                        12,
                                        16,
                                        24,
                                        31,
                                        32,
                                        63,
                                        64,
                                        65,
                                        100,
                                        1000,
                                        4096,
                                        1'000'000,
                                        std::int64_t{1} << 40,
                                        std::int64_t{1} << 62};
    const auto pick = [&] { return odd[rng() % odd.size()]; };
    for (int round = 0; round < 3000; ++round) {
        Plan p = valid_plan(rng() % 2 ? moe_model() : dense_model());
        if (rng() % 4 == 0) p.model.positions = Positions::learned, p.model.max_positions = 2048;
        if (rng() % 4 == 0) p.layout.stage_layers = {16, 16};
        std::shuffle(p.layout.order.begin(), p.layout.order.end(), rng);
        p.layout.schedule = static_cast<Schedule>(rng() % kScheduleCount);
        p.layout.cp_comm = static_cast<CpComm>(rng() % 3);
        std::int64_t* fields[] = {&p.layout.tp,
                                  &p.layout.cp,
                                  &p.layout.pp,
                                  &p.layout.ep,
                                  &p.layout.dp_shard,
                                  &p.layout.virtual_stages,
                                  &p.cluster.gpus,
                                  &p.training.sequence_length,
                                  &p.training.micro_batch,
                                  &p.training.global_batch};
        for (std::int64_t* field : fields)
            if (rng() % 3 == 0) *field = pick();
        if (rng() % 3 == 0) p.layout.etp = pick();
        if (rng() % 2 == 0) p.layout.dp_replicate = rng() % 2 ? std::optional(pick()) : std::nullopt;
        if (rng() % 3 == 0) p.layout.microbatch_group = pick();
        int steps = 0;
        for (std::vector<Problem> errors = errors_of(p); !errors.empty(); errors = errors_of(p)) {
            const Problem& chosen = errors[rng() % errors.size()];
            CAPTURE(name_of(chosen.code));
            CAPTURE(chosen.message);
            CHECK(chosen.message.find_first_of("{}|") == std::string::npos);  // each value has its name
            CHECK(chosen.pointer.find('{') == std::string::npos);
            REQUIRE(!chosen.fix.empty());
            REQUIRE(apply_in_core(p, chosen.fix));
            REQUIRE(++steps < 60);
        }
        REQUIRE(build_mesh(p).world == p.cluster.gpus);
    }
}

TEST_CASE("codes and severities do not depend on whether messages are asked for") {
    Plan p = valid_plan();
    p.layout.tp = 3, p.training.global_batch = 63, p.layout.ep = 8;
    const std::vector<Problem> with = errors_of(p);
    const std::vector<Problem> without = errors_of(p, false);
    REQUIRE(with.size() == without.size());
    for (std::size_t i = 0; i < with.size(); ++i) {
        CHECK(with[i].code == without[i].code);
        CHECK(without[i].message.empty());
    }
}
