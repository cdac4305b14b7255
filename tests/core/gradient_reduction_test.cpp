// Tests when gradients are reduced, and the bytes that a rank keeps and sends for it.
// tests/golden/communication.json and memory.json have figures worked out from the frameworks' code
// (shared/reference, research/gen_zero.py).
#include "core/advice/advice.h"
#include "core/comm/comm.h"
#include "core/evaluate.h"
#include "core/io/plan_json.h"
#include "core/io/presets.h"
#include "core/pipeline/sequence.h"
#include "tests/near.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <random>
#include <set>

using namespace pentamesh;
using nlohmann::json;
using test::near;

namespace {

std::vector<json> zero_cases(const char* name) {
    std::ifstream in(std::string(GOLDEN_DIR) + "/" + name);
    REQUIRE(in.good());
    std::vector<json> out;
    const json all = json::parse(in);
    for (const json& c : all["cases"])
        if (c["kind"].get<std::string>().starts_with("zero:")) out.push_back(c);
    REQUIRE_FALSE(out.empty());
    return out;
}

Plan plan_of(const json& c, json layout, const json& changes = json::object()) {
    static const Presets presets(SOURCE_DIR "/presets");
    std::int64_t gpus = 1;
    for (const char* axis : {"tp", "cp", "pp", "dp_shard", "dp_replicate"})
        gpus *= layout[axis].get<std::int64_t>();
    layout["order"] = "tp-cp-ep-dp-pp";
    layout.update(changes);
    const json text{{"format", "pentamesh.plan/1"},
                    {"model", {{"preset", c["model"]}, {"mtp_layers", 0}}},
                    {"cluster", {{"preset", "h100-sxm-ib"}, {"gpus", gpus}}},
                    {"layout", layout},
                    {"training", c["training"]}};
    return parse_plan(text.dump(), "case", presets);
}

bool on_axis(GroupKind group, const std::string& axis) {
    static const std::set<std::string_view> data{"dp",    "dp_shard", "dp_replicate", "fsdp",
                                                 "dp_cp", "edp",      "edp_shard",    "edp_replicate"};
    return axis == "dp" ? data.contains(name_of(group)) : name_of(group) == axis;
}

double data_parallel_sent(const Evaluation& e) {
    double sum = 0;
    for (const Operation& o : e.comm.operations)
        if (is_data_parallel(o.group)) sum += o.sent_bytes_per_rank;
    return sum;
}

bool has_code(const Evaluation& e, ProblemCode code) {
    return std::ranges::any_of(e.problems, [&](const Problem& p) { return p.code == code; });
}

}  // namespace

TEST_CASE("gradients are reduced and parameters gathered as often as the frameworks do") {
    for (const json& c : zero_cases("communication.json")) {
        CAPTURE(c.dump());
        const Evaluation e = evaluate(plan_of(c, c["layout"]));
        REQUIRE(e.valid);
        if (c.contains("refused")) {
            CHECK(has_code(assess(plan_of(c, c["layout"])), ProblemCode::zero_refused));
            continue;
        }
        double sent = 0, calls = 0;
        for (const Operation& o : e.comm.operations) {
            if (!on_axis(o.group, c["axis"])
                || name_of(o.collective) != c["select"]["collective"].get<std::string>())
                continue;
            sent += o.sent_bytes_per_rank, calls += o.count_per_step;
        }
        CHECK(sent == near(c["sent_bytes_per_rank"].get<double>(), 2e-3));
        if (c.contains("calls")) CHECK(calls == c["calls"].get<double>());
    }
}

TEST_CASE("a rank holds of gradients and gathered parameters what the frameworks do") {
    for (const json& c : zero_cases("memory.json")) {
        CAPTURE(c.dump());
        const json& l = c["layout"];
        const StageMemory s = evaluate(plan_of(c, l)).memory.stage[c["stage"].get<std::size_t>()];
        CHECK(s.parameters == near(c["parameters_bytes"].get<double>(), 2e-3));
        CHECK(s.gradients == near(c["gradients_bytes"].get<double>(), 2e-3));
        // The bytes held are those allocated, less those that the same plan without ZeRO allocates for other
        // things than its state.
        json bare = l;
        bare.erase("gradient_reduction"), bare.erase("reshard");
        const std::int64_t replicas =
            l["dp_shard"].get<std::int64_t>() * l["dp_replicate"].get<std::int64_t>();
        bare.update({{"zero", 0}, {"dp_shard", 1}, {"dp_replicate", replicas}});
        const StageMemory b = evaluate(plan_of(c, bare)).memory.stage[c["stage"].get<std::size_t>()];
        const double held = s.allocated - (b.allocated - b.parameters - b.gradients - b.optimizer);
        CHECK(held == near(c["held_bytes"].get<double>(), 2e-3));
    }
}

// shared/reference/communication.md, worked example: Llama 3 8B over 8 ranks, 16 micro-batches, fp32
// gradients.
TEST_CASE("ZeRO-2 with gradient accumulation pays on the wire for what it saves in memory") {
    const json c{{"model", "llama-3-8b"},
                 {"training", {{"global_batch", 128}, {"sequence_length", 4096}, {"recompute", "full"}}}};
    const auto of = [&](int zero) {
        return evaluate(plan_of(
            c, {{"tp", 1}, {"cp", 1}, {"pp", 1}, {"dp_shard", 8}, {"dp_replicate", 1}, {"zero", zero}}));
    };
    const Evaluation one = of(1), two = of(2), three = of(3);
    const double p = 8030261248.0, f = 7.0 / 8;
    CHECK(data_parallel_sent(one) == near(f * p * (4 + 2), 1e-9));
    CHECK(data_parallel_sent(two) == near(f * p * (16 * 4 + 2), 1e-9));
    CHECK(data_parallel_sent(three) == near(f * p * 16 * (4 + 2 * 2), 1e-9));
    CHECK(one.memory.stage[0].gradients == near(p * 4, 1e-9));
    CHECK(two.memory.stage[0].gradients == near(p * 4 / 8, 1e-9));
    CHECK(two.step->time_s >= one.step->time_s);
}

TEST_CASE(
    "what a plan does not say of reductions its software does; one micro-batch is always reduced at once") {
    Plan p;
    const auto of = [&](Software software, int zero, std::int64_t pp) {
        p.training.software = software, p.layout.zero = zero, p.layout.pp = pp;
        return gradient_reduction_of(p);
    };
    using enum GradientReduction;
    p.cluster.gpus = 4, p.training.global_batch = 64;
    for (const Software s :
         {Software::megatron, Software::megatron_bridge, Software::maxtext, Software::deepspeed}) {
        CHECK(of(s, 1, 4) == step);
        CHECK(of(s, 2, 4) == micro_batch);
        CHECK(of(s, 3, 1) == micro_batch);
    }
    CHECK(of(Software::torchtitan, 0, 1) == micro_batch);
    CHECK(of(Software::torchtitan, 0, 4) == step);
    for (const Software s : {Software::torchtitan, Software::fsdp}) {
        CHECK(of(s, 3, 1) == micro_batch);
        CHECK(of(s, 3, 4) == step);
        CHECK(reshard_of(p) == Reshard::never);
    }
    CHECK(of(Software::automodel, 3, 1) == step);
    CHECK(reshard_of(p) == Reshard::after_forward);
    CHECK(of(Software::nanotron, 2, 1) == step);
    p.training.global_batch = 4;
    CHECK(of(Software::automodel, 3, 1) == micro_batch);
}

TEST_CASE("PyTorch's pipelines hold gathered weights after a backward, whatever a forward does") {
    const json l{{"tp", 1}, {"cp", 1}, {"pp", 2}, {"dp_shard", 4}, {"dp_replicate", 1}, {"zero", 3}};
    const auto of = [&](const char* software, const char* reshard) {
        const json c{{"model", "llama-3-8b"},
                     {"training", {{"global_batch", 64}, {"recompute", "full"}, {"software", software}}}};
        return plan_of(c, l, {{"reshard", reshard}});
    };
    const auto held = [](const Plan& p) { return evaluate(p).memory.peak(); };
    for (const char* software : {"torchtitan", "fsdp", "automodel"}) {
        CAPTURE(software);
        const Plan again = of(software, "after_forward"), never = of(software, "never");
        CHECK(held(again) == held(never));
        const StateRounds rounds = state_rounds(again);  // 64 / 4 micro-batches
        CHECK(rounds.forward.times + rounds.backward.times == 17);
        CHECK(data_parallel_sent(evaluate(again)) > data_parallel_sent(evaluate(never)));
    }
    const Plan again = of("megatron", "after_forward");
    CHECK(held(again) < 0.9 * held(of("torchtitan", "after_forward")));
    CHECK(state_rounds(again).forward.times + state_rounds(again).backward.times == 32);
}

TEST_CASE("reductions that do not exist are errors, those that the software has not are problems") {
    const json c{{"model", "llama-3-8b"}, {"training", {{"global_batch", 64}, {"recompute", "full"}}}};
    const json l{{"tp", 1}, {"cp", 1}, {"pp", 2}, {"dp_shard", 4}, {"dp_replicate", 1}, {"zero", 2}};
    const auto of = [&](const json& changes) { return assess(plan_of(c, l, changes)); };
    CHECK(
        has_code(of({{"zero", 1}, {"gradient_reduction", "micro_batch"}}), ProblemCode::gradient_reduction));
    CHECK(has_code(of({{"zero", 0}, {"gradient_reduction", "run"}}), ProblemCode::gradient_reduction));
    CHECK(has_code(of({{"schedule", "zb-v"}, {"virtual_stages", 2}, {"gradient_reduction", "run"}}),
                   ProblemCode::gradient_reduction));
    CHECK(of({{"zero", 0}, {"gradient_reduction", "micro_batch"}}).valid);
    const Evaluation whole = of({{"gradient_reduction", "step"}});
    CHECK(whole.valid);
    CHECK(has_code(whole, ProblemCode::no_such_reduction));
    CHECK_FALSE(has_code(of(json::object()), ProblemCode::no_such_reduction));
}

TEST_CASE("of two plans that differ in when gradients are reduced alone, none holds and sends less") {
    std::mt19937 dice(23);  // NOLINT(cert-msc51-cpp)
    const auto pick = [&](std::initializer_list<int> of) { return *(of.begin() + dice() % of.size()); };
    int compared = 0, traded = 0;
    for (int round = 0; round < 400; ++round) {
        const int pp = pick({1, 2, 4}), v = pp > 1 ? pick({1, 2}) : 1, zero = pick({0, 2, 3});
        static constexpr const char* kSoftware[] = {"megatron", "torchtitan", "fsdp", "maxtext", "automodel"};
        const json c{{"model", pick({0, 1}) == 0 ? "llama-3-8b" : "mixtral-8x7b"},
                     {"training",
                      {{"global_batch", 64 * pick({1, 2, 4})},
                       {"sequence_length", 2048},
                       {"gradients", pick({0, 1}) == 0 ? "bf16" : "fp32"},
                       {"software", kSoftware[pick({0, 1, 2, 3, 4})]},
                       {"recompute", "full"}}}};
        const json l{{"tp", pick({1, 2})},
                     {"sequence_parallel", false},
                     {"cp", pick({1, 2})},
                     {"pp", pp},
                     {"virtual_stages", v},
                     {"schedule", v == 1              ? "1f1b"
                                  : pick({0, 1}) == 0 ? "interleaved"
                                                      : "looped-bfs"},
                     {"dp_shard", pick({1, 2, 8})},
                     {"dp_replicate", pick({1, 2})},
                     {"zero", zero},
                     {"reshard", pick({0, 1}) == 0 ? "never" : "after_forward"}};
        struct Both {
            double held = 0, sent = 0;
        };
        std::vector<Both> seen;
        for (const char* when : {"micro_batch", "run", "step"}) {
            const Evaluation e = evaluate(plan_of(c, l, {{"gradient_reduction", when}}));
            if (!e.valid) continue;
            seen.push_back({e.memory.peak(), data_parallel_sent(e)});
        }
        CAPTURE(round);
        CAPTURE(l.dump());
        for (const Both& a : seen)
            for (const Both& b : seen) {
                CHECK_FALSE((a.held < b.held * (1 - 1e-9) && a.sent < b.sent * (1 - 1e-9)));
                ++compared;
                traded += a.held < b.held && a.sent > b.sent;
            }
    }
    CHECK(compared > 1000);
    CHECK(traded > 50);
}
