// Tests the finer choices of layout, training and cluster: they are read, written, checked and evaluated.
#include "core/advice/advice.h"
#include "core/base/files.h"
#include "core/io/plan_json.h"
#include "core/io/presets.h"
#include "core/plan/edits.h"
#include "core/step/constants.h"
#include "tests/core/memory_plans.h"
#include "tests/core/plans.h"
#include "tests/near.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

using namespace pentamesh;
using nlohmann::json;
using pentamesh::test::near;

namespace {

const Presets& additions_presets() {
    static const Presets all(std::string(SOURCE_DIR) + "/presets");
    return all;
}

json plain_plan() {
    return {{"model", "llama-3-8b"},
            {"cluster", {{"preset", "h100-sxm-ib"}, {"gpus", 64}}},
            {"layout", {{"tp", 2}, {"pp", 2}}},
            {"training", {{"global_batch", 64}}}};
}

Plan parsed(const json& value) {
    return parse_plan(value.dump(), "test", additions_presets());
}
Plan parsed_with(const std::string& pointer, const json& value) {
    json plan = plain_plan();
    plan[json::json_pointer(pointer)] = value;
    return parsed(plan);
}
std::string refusal(const std::string& pointer, const json& value) {
    try {
        static_cast<void>(parsed_with(pointer, value));
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

Plan preset_plan(const char* id) {
    return additions_presets().plan(id);
}

bool has_code(const Evaluation& e, ProblemCode code) {
    return std::any_of(e.problems.begin(), e.problems.end(),
                       [&](const Problem& p) { return p.code == code; });
}

// The plan is refused with this code, and the offered edits make it valid.
void check_mended(const Plan& plan, ProblemCode code) {
    const Evaluation e = evaluate(plan);
    CAPTURE(name_of(code));
    CHECK_FALSE(e.valid);
    REQUIRE(has_code(e, code));
    for (const Problem& p : e.problems) {
        if (p.code != code) continue;
        CHECK(p.message.ends_with('.'));
        REQUIRE_FALSE(p.fix.empty());
        CHECK(evaluate(apply_edits(plan, p.fix, additions_presets())).valid);
    }
}

double bytes_on(const Evaluation& e, GroupKind axis) {
    return e.comm.by_axis[axis].sent_bytes_per_rank;
}

}  // namespace

TEST_CASE("each finer choice is written as it was read, and left out where it is the default") {
    const std::pair<const char*, json> stated[] = {
        {"/layout/cp_inner", 2},
        {"/layout/mtp_chunk", 1},
        {"/layout/ep_comm", "hybridep"},
        {"/layout/reshard", "never"},
        {"/layout/gradient_reduction", "run"},
        {"/layout/weight_shards", 2},
        {"/layout/cp_comm", "ulysses+ring"},
        {"/layout/stage_layers", {0, 32}},
        {"/training/software", "torchtitan"},
        {"/training/software", "torchtitan-2024"},
        {"/training/fp8_recipe", "mxfp8"},
        {"/training/cuda_graphs", "iteration"},
        {"/training/fused_experts", true},
        {"/training/experts_one_by_one", true},
        {"/training/routing_sizes", "device"},
        {"/training/loss_kernel", "chunked"},
        {"/training/software", "megatron-bridge-2025"},
        {"/training/recompute", {{"modules", {"layernorm", "mlp"}}}},
        {"/training/recompute", {{"layers", 4}, {"method", "block"}}},
        {"/training/recompute", {{"layers", 4}, {"method", "uniform"}}},
        {"/training/offload", {{"activations_layers", 3}, {"optimizer", 0.5}}},
        {"/training/tokens_total", 15e12},
        {"/training/checkpoint_s", 30.0},
        {"/training/buffers", {{"communicator_bytes", 3e8}, {"context_bytes", 1e9}, {"fragmentation", 0.02}}},
        {"/training/costly_share", 0.25},
        {"/cluster/gpus_per_node", 4},
        {"/cluster/price_per_gpu_hour", 2.5},
        {"/cluster/currency", "EUR"},
        {"/cluster/gpu_watts", 700.0},
        {"/cluster/pue", 1.2},
        {"/cluster/failures_per_gpu_day", 0.001},
        {"/review",
         {{"decision", "Buy."},
          {"alternatives", "- cp 2"},
          {"owner", "Ada"},
          {"risks", "a\nb"},
          {"open_questions", "7"}}},
        {"/scene", {{"view", "timeline"}, {"axis", "pp"}, {"selection", "stage 3"}, {"cursor", 0.5}}}};
    const json before = json::parse(write_plan(parsed(plain_plan())));
    for (const auto& row : stated) {
        const std::string pointer = row.first;
        const json& value = row.second;
        CAPTURE(pointer);
        const Plan plan = parsed_with(pointer, value);
        const std::string text = write_plan(plan);
        CHECK(json::parse(text).at(json::json_pointer(pointer)) == value);
        CHECK(parse_plan(text, "again", additions_presets()) == plan);
        const json::json_pointer at(pointer);
        if (pointer != "/training/recompute" && pointer != "/layout/cp_comm")
            CHECK_FALSE(before.contains(at));
    }
}

TEST_CASE("equal ways to say what is recomputed are one choice") {
    const auto of = [](const json& v) { return parsed_with("/training/recompute", v).training.recompute; };
    CHECK(of({{"modules", {"core_attn"}}}) == Recompute::selective);
    CHECK(of({{"modules", json::array()}}) == Recompute::none);
    CHECK(of({{"layers", 1}, {"method", "uniform"}}) == Recompute::full);
    CHECK(of("full") == Recompute::full);
    CHECK(refusal("/training/recompute", {{"modules", {"mlps"}}}).find("\"mlp\"") != std::string::npos);
    CHECK(refusal("/training/recompute", {{"method", "block"}}).find("/training/recompute/layers")
          != std::string::npos);
    CHECK(refusal("/training/recompute", 3).find("/training/recompute") != std::string::npos);
    CHECK(refusal("/training/offload", {{"optimizer", 1.5}}).find("/training/offload/optimizer")
          != std::string::npos);
    CHECK(refusal("/layout/ep_comm", "nccl").find("deepep") != std::string::npos);  // one that it may be
}

TEST_CASE("gpus_per_node is fast_domain by another name, and the two may not differ") {
    CHECK(domain_of(parsed_with("/cluster/gpus_per_node", 4).cluster, 0) == 4);
    json both = plain_plan();
    both["cluster"]["gpus_per_node"] = 4, both["cluster"]["fast_domain"] = 8;
    CHECK_THROWS_AS(static_cast<void>(parsed(both)), Error);
    const Plan changed = with_gpus_per_node(parsed(plain_plan()), 4);
    CHECK(parse_plan(write_plan(changed), "again", additions_presets()) == changed);
    CHECK(domain_of(changed.cluster, 0) == 4);
}

// Llama 3.1 405B of Megatron-Bridge: 126 layers, embedding and loss count as one each, 16 x 8 chunks.
TEST_CASE("the published 405B layout of 128 chunks, embedding and head alone in theirs, has real figures") {
    Plan p = preset_plan("llama-3.1-405b-8k");
    Layout& l = p.layout;
    l = Layout{};
    l.tp = 8, l.pp = 16, l.virtual_stages = 8, l.schedule = Schedule::interleaved, l.dp_shard = 8;
    p = with_gpus(p, 1024);
    p.layout.dp_replicate = 1;
    p.training.global_batch = 512;
    p.layout.stage_layers.assign(128, 1);
    p.layout.stage_layers.front() = p.layout.stage_layers.back() = 0;
    const Evaluation e = evaluate(p);
    REQUIRE(e.valid);
    REQUIRE(e.step);
    REQUIRE(e.memory.stage.size() == 16);
    std::int64_t layers = 0;
    double numbers = 0;
    for (const StageMemory& s : e.memory.stage) {
        layers += s.layers;
        numbers += static_cast<double>(s.parameters_held) * 8;
        CHECK(s.activations > 0);
    }
    CHECK(layers == 126);
    CHECK(e.memory.stage.front().layers == 7);
    CHECK(e.memory.stage.back().layers == 7);
    // The published count matches, except for the norms, which every tp rank holds.
    CHECK(numbers == near(405853388800.0, 1e-3));
    // Every device runs 8 chunks of at most one layer.
    CHECK(e.step->mfu > 0.3);
}

TEST_CASE("recomputing a module drops what its list of tensors says, and takes its time again") {
    Plan p = preset_plan("deepseek-v3-2048");
    p.training.recompute = Recompute::none;
    const Evaluation none = evaluate(p);
    for (const RecomputeModule m : all_of<RecomputeModule>()) {
        if (m == RecomputeModule::mlp) continue;  // only the first stage has dense layers
        CAPTURE(name_of(m));
        p.training.recompute = RecomputeChoice(RecomputeModules(m), 0, RecomputeMethod::block);
        const Evaluation e = evaluate(p);
        double dropped = 0;
        for (const test::KeptBytes& a : test::kept_tensors(p, true)) dropped += a.kept ? 0 : a.bytes;
        const std::size_t middle = 8;
        const StageMemory &was = none.memory.stage[middle], &is = e.memory.stage[middle];
        REQUIRE(was.layers == was.moe_layers);
        CHECK(was.activations - is.activations
              == near(dropped * static_cast<double>(is.layers) * is.in_flight / 2, 1e-6));
        CHECK(e.step->recompute_s > 0);
        CHECK(e.step->recompute_s < none.step->compute_s);
    }
}

// Megatron-LM multi_latent_attention.py: the expanded queries, keys and values, in 16 bits.
TEST_CASE("mla_up_proj is worth the expanded queries, keys and values") {
    Plan p = preset_plan("deepseek-v3-2048");
    p.training.recompute =
        RecomputeChoice(RecomputeModules(RecomputeModule::mla_up_proj), 0, RecomputeMethod::block);
    double dropped = 0;
    for (const test::KeptBytes& a : test::kept_tensors(p, true)) dropped += a.kept ? 0 : a.bytes;
    CHECK(dropped == 2.0 * 4096 * 128 * (192 + 192 + 128));
}

TEST_CASE("between nothing and every layer, recomputed layers of a chunk count one by one") {
    Plan p = test::small_plan(8);
    p.layout.dp_shard = 8;
    std::vector<double> kept, again;
    for (const std::int64_t n : {0, 8, 16, 24, 32}) {
        p.training.recompute = RecomputeChoice({}, n, RecomputeMethod::block);
        const Evaluation e = evaluate(p);
        REQUIRE(e.step);
        kept.push_back(e.memory.stage[0].layer_activations);
        again.push_back(e.step->recompute_s);
    }
    for (std::size_t i = 1; i < kept.size(); ++i) {
        CHECK(kept[i - 1] - kept[i] == near(kept[0] - kept[1], 1e-6));
        CHECK(again[i] == near(again[1] * static_cast<double>(i), 1e-6));
    }
    p.training.recompute = Recompute::full;
    const Evaluation full = evaluate(p);
    CHECK(kept.back() == full.memory.stage[0].layer_activations);
    CHECK(again.back() == near(full.step->recompute_s));
    p.training.recompute = RecomputeChoice({}, 4, RecomputeMethod::uniform);
    // 8 units of 4 layers keep an input each instead of 32.
    CHECK(evaluate(p).memory.stage[0].layer_activations
          == near(full.memory.stage[0].layer_activations / 4, 1e-6));
}

TEST_CASE("a kernel that knows ranks sends a token once to each that holds one of its experts") {
    Plan p = preset_plan("deepseek-v3-2048");
    p.training.recompute = Recompute::none;
    // These are bytes of one layer and micro-batch.
    const auto sent_by = [&](EpComm how) {
        p.layout.ep_comm = how;
        const Evaluation e = evaluate(p);
        double sum = 0;
        for (const Operation& o : e.comm.operations)
            if (o.group == GroupKind::ep) sum += o.sent_bytes_per_rank / o.count_per_step;
        return sum;
    };
    const double copies = sent_by(EpComm::alltoall), kernel = sent_by(EpComm::deepep);
    // The test draws the top 8 of 64 ranks and counts how many different ranks there are.
    std::mt19937 rng(7);
    double different = 0;
    constexpr int kTokens = 20000;
    for (int t = 0; t < kTokens; ++t) {
        std::set<std::uint32_t> ranks;
        for (int k = 0; k < 8; ++k) ranks.insert(static_cast<std::uint32_t>(rng() % 64));
        different += static_cast<double>(ranks.size());
    }
    CHECK(kernel / copies == near(different / kTokens / 8, 0.01));
    CHECK(sent_by(EpComm::hybridep) == kernel);
    // Every token to every rank, 16 bits there and back, instead of 8 copies out in fp8 and back in 16 bits.
    const double out_and_back = 8 * ((1 + 4.0 / 128) + 2);
    CHECK(sent_by(EpComm::allgather) / copies == near(64 * 4 / out_and_back, 1e-6));
    p.layout.ep_comm = EpComm::alltoall;
    const double slow = evaluate(p).comm.by_axis[GroupKind::ep].time_s;
    p.layout.ep_comm = EpComm::deepep;
    CHECK(evaluate(p).comm.by_axis[GroupKind::ep].time_s < slow);
}

TEST_CASE("Ulysses inside a ring is Ulysses where the inner group is all, and a ring where it is one") {
    Plan p = test::small_plan(16);
    p.layout.dp_shard = 2;
    p.layout.cp = 8;
    const auto sent_by = [&](CpComm how, std::int64_t inner) {
        p.layout.cp_comm = how;
        p.layout.cp_inner = inner;
        const Evaluation e = evaluate(p);
        REQUIRE(e.valid);
        return bytes_on(e, GroupKind::cp);
    };
    CHECK(sent_by(CpComm::ulysses_ring, 8) == sent_by(CpComm::ulysses, 8));
    CHECK(sent_by(CpComm::ulysses_ring, 1) == sent_by(CpComm::ring, 1));
    // By hand, inner 4 of 8: the all-to-alls of 4 ranks, and one turn of the ring of two.
    const double tokens = 8192.0 / 8, q = tokens * 32 * 128 * 2, kv = 2 * tokens * 8 * 128 * 2;
    const double layers = 32, microbatches = 32;
    const double exchange = 0.75 * 2 * (q + kv + q), turns = kv * 1 + kv * 1 + kv * 2;
    CHECK(sent_by(CpComm::ulysses_ring, 4) == near((exchange + turns) * layers * microbatches, 1e-9));
}

TEST_CASE("weights that are never let go are gathered once, and lie whole on the GPU") {
    Plan p = test::small_plan(64);
    p.layout.zero = 3;
    const Evaluation again = evaluate(p);
    p.layout.reshard = Reshard::never;
    const Evaluation never = evaluate(p);
    const auto gathers = [](const Evaluation& e, Phase phase) {
        double sum = 0;
        for (const Operation& o : e.comm.operations)
            if (o.collective == Collective::all_gather && o.phase == phase) sum += o.sent_bytes_per_rank;
        return sum;
    };
    CHECK(gathers(again, Phase::backward) == gathers(again, Phase::forward));
    CHECK(gathers(never, Phase::backward) == 0);
    CHECK(gathers(never, Phase::forward) == gathers(again, Phase::forward));
    std::vector<BufferBytes> list;
    list_buffers(p, never.mesh, never.memory.stage[0], list);
    for (const BufferBytes& b : list)
        if (b.buffer == Buffer::gathered_layers)
            CHECK(b.mid == near(2.0 * static_cast<double>(count_parameters(p.model).total)));
}

TEST_CASE("what lies in host memory leaves the GPU, byte by byte") {
    Plan p = test::small_plan(64);
    p.layout.zero = 3;
    const StageMemory before = evaluate(p).memory.stage[0];
    p.training.offload = {8, 0.25, 1};
    const StageMemory after = evaluate(p).memory.stage[0];
    const auto held = [](const StageMemory& s) { return s.parameters + s.optimizer + s.activations; };
    CHECK(held(after) + after.host == held(before));
    CHECK(after.parameters == 0);
    CHECK(after.optimizer == near(0.75 * before.optimizer));
    CHECK(before.layer_activations - after.layer_activations == near(before.layer_activations * 8 / 32));
}

TEST_CASE("finer choices that do not go together are refused, and the edit mends them") {
    Plan p = preset_plan("llama-3-70b-3d");
    p.training.offload.parameters = 0.5;
    check_mended(p, ProblemCode::offload_needs_zero_3);
    p = preset_plan("llama-3-70b-3d");
    p.layout.weight_shards = 3;
    check_mended(p, ProblemCode::weight_shards);
    p = preset_plan("llama-3.1-405b-131k");
    p.layout.cp_comm = CpComm::ulysses_ring;
    check_mended(p, ProblemCode::cp_inner);
    p.layout.cp_inner = 3;
    check_mended(p, ProblemCode::cp_inner);
    p.layout.cp_inner = 16;  // 8 x 16 heads at once where there are 128: one each
    CHECK_FALSE(has_code(evaluate(p), ProblemCode::ulysses_heads));
    p = preset_plan("deepseek-v3-2048");
    p.model.mtp_layers = 1;
    p.layout.mtp_chunk = 3;
    check_mended(p, ProblemCode::mtp_chunk);
    p.layout.mtp_chunk = 99;
    check_mended(p, ProblemCode::mtp_chunk);
}

TEST_CASE("prediction layers stand where the layout says, whole and once") {
    Plan p = preset_plan("deepseek-v3-2048");
    p.layout.schedule = Schedule::one_f_one_b;
    p.model.mtp_layers = 1;
    p.layout.stage_layers.assign(16, 4);
    p.layout.stage_layers[0] = 1, p.layout.stage_layers[15] = 0;
    const auto all = [](const Evaluation& e) {
        std::int64_t sum = 0;
        for (const StageMemory& s : e.memory.stage) sum += s.parameters_held;
        return sum;
    };
    std::int64_t layers = 0;
    for (const std::int64_t n : p.layout.stage_layers) layers += n;
    p.layout.stage_layers[0] += p.model.layers - layers;
    const Evaluation last = evaluate(p);
    p.layout.mtp_chunk = 14;
    const Evaluation before = evaluate(p);
    REQUIRE(last.valid);
    REQUIRE(before.valid);
    CHECK(last.memory.stage[15].mtp_layers == 1);
    CHECK(before.memory.stage[14].mtp_layers == 1);
    CHECK(before.memory.stage[15].mtp_layers == 0);
    CHECK(all(before) == all(last));
}

TEST_CASE("what the figures do not hold is said") {
    Plan p = preset_plan("llama-3-70b-3d");
    p.training.software = Software::deepspeed;
    p.layout.weight_shards = 2;
    p.training.offload.activations_layers = 2;
    CHECK_FALSE(has_code(assess(p), ProblemCode::offload_time));  // the link's rate is known
    p.cluster.gpu.host_bytes_per_s = 0;
    const Evaluation e = assess(p);
    for (const ProblemCode code :
         {ProblemCode::weight_shards_not_counted, ProblemCode::offload_time, ProblemCode::megatron_offload})
        CHECK_MESSAGE(has_code(e, code), code);
    CHECK_FALSE(has_code(e, ProblemCode::weight_shards_outside));
    p.layout.cp = 2, p.layout.dp_shard /= 2;  // cp lies between tp and a part of data parallelism
    CHECK(has_code(assess(p), ProblemCode::weight_shards_outside));
    p.layout.weight_shards = data_parallel(p);
    CHECK_FALSE(has_code(assess(p), ProblemCode::weight_shards_outside));
    p = preset_plan("llama-3-70b-3d");
    p.training.recompute = RecomputeChoice(RecomputeModules(RecomputeModule::moe), 0, RecomputeMethod::block);
    CHECK(has_code(assess(p), ProblemCode::recompute_module_missing));
}

TEST_CASE("the scene of a file never changes a figure") {
    const Plan p = preset_plan("llama-3-70b-3d");
    Plan seen = p;
    seen.scene = {"memory", "tp", "stage 1", 0.25, 2};
    CHECK(evaluate(seen) == evaluate(p));
}

TEST_CASE("days, cost and energy follow from tokens, goodput from failures") {
    Plan p = preset_plan("llama-3-70b-3d");
    p.cluster.gpus = 1000;
    CHECK_FALSE(cost_of(p, 1e6).days.has_value());
    p.training.tokens_total = 86400e6 * 10;
    p.cluster.price_per_gpu_hour = 2;
    p.cluster.gpu_watts = 500;
    p.cluster.pue = 1.5;
    const Cost c = cost_of(p, 1e6);
    CHECK(*c.days == near(10));
    CHECK(*c.gpu_hours == near(240000));
    CHECK(*c.money == near(480000));
    CHECK(*c.kwh == near(240000 * 0.75));
    CHECK_FALSE(c.goodput.has_value());
    // Young 1974 for writes that are short against the time between failures: sqrt(2 delta M); the loss is
    // then about sqrt(2 delta / M).
    p.cluster.failures_per_gpu_day = 1e-3;  // one a day
    p.training.checkpoint_s = 1;
    const Cost f = cost_of(p, 1e6);
    CHECK(*f.hours_between_failures == near(24));
    CHECK(*f.checkpoint_every_s == near(std::sqrt(2.0 * 86400), 0.01));
    CHECK(1 - *f.goodput == near(std::sqrt(2.0 / 86400), 0.02));
    CHECK(*f.days_with_failures > *f.days);
}

TEST_CASE("what a GPU holds beside its tensors is what the plan says of it, to the byte") {
    const Plan before = additions_presets().plan("llama-3-70b-3d");
    Plan p = before;
    p.training.buffers = {3e8, 1e9, 0.02};
    const Evaluation as_shipped = evaluate(before), e = evaluate(p);
    for (std::size_t i = 0; i < e.memory.stage.size(); ++i) {
        const StageMemory &s = e.memory.stage[i], &was = as_shipped.memory.stage[i];
        CHECK(s.allocated == was.allocated);
        CHECK(s.reserved == near(1.02 * s.allocated));
        // Groups of more than one rank: tp, pp, dp, and what else the mesh of this plan has.
        const double outside = s.total() - s.reserved, groups = (outside - 1e9) / 3e8;
        CHECK(groups == near(std::round(groups)));
        CHECK(groups >= 3);
    }
}
