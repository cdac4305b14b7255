#include "core/comm/comm.h"
#include "core/layer/layer_words.h"
#include "core/layer/parts.h"

#include "plans.h"
#include "tests/near.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

using namespace pentamesh;
using namespace pentamesh::test;
using nlohmann::json;

namespace {

const std::set<GroupKind> kDataParallel{
    GroupKind::dp,    GroupKind::dp_shard, GroupKind::dp_replicate, GroupKind::fsdp,
    GroupKind::dp_cp, GroupKind::edp,      GroupKind::edp_shard,    GroupKind::edp_replicate};

Comm comm_of(const Plan& plan) {
    const Mesh mesh = build_mesh(plan);
    GroupSummaries groups;
    summarize(mesh, plan.cluster, groups);
    Comm comm;
    const ResolvedPlan resolved(plan, mesh, groups);
    PartsByType parts;
    list_parts(plan, resolved.degrees, resolved.types, parts);
    list_calls(resolved, parts, comm);
    count_calls(plan, comm.busiest_device, comm);
    sum_calls(resolved, comm);
    return comm;
}

double data_parallel_bytes(const Comm& comm) {
    double sum = 0;
    for (const GroupKind k : kDataParallel) sum += sent(comm, k);
    return sum;
}

Plan plan_of(const json& c) {
    Plan p;
    p.model = golden_model(c["model"]);
    Layout& l = p.layout;
    const json& g = c["layout"];
    l.tp = g["tp"], l.cp = g["cp"], l.pp = g["pp"], l.ep = g.value("ep", 1);
    l.sequence_parallel = g.value("sequence_parallel", false);
    l.dp_shard = g["dp_shard"], l.dp_replicate = g["dp_replicate"].get<std::int64_t>(), l.zero = g["zero"];
    l.virtual_stages = g.value("virtual_stages", 1);
    if (g.contains("etp")) l.etp = g["etp"].get<std::int64_t>();
    if (g.contains("cp_comm")) l.cp_comm = parse_name<CpComm>(g["cp_comm"].get<std::string>()).value();
    Training& t = p.training;
    const json& s = c["training"];
    t.micro_batch = s["micro_batch"], t.global_batch = s["global_batch"];
    t.sequence_length = s["sequence_length"];
    if (s.contains("gradients")) t.gradients = parse_name<Dtype>(s["gradients"].get<std::string>()).value();
    const std::int64_t gpus = l.tp * l.cp * l.pp * l.dp_shard * *l.dp_replicate;
    p.cluster = shipped_cluster("h100-sxm-ib", gpus);
    return p;
}

// Sums rows that match a case's axis and selection, as comm --json would show them.
double selected(const json& c, const Comm& comm) {
    const std::string axis = c["axis"];
    double sum = 0;
    for (const Operation& o : comm.operations) {
        const bool on_axis = axis == "dp" ? kDataParallel.contains(o.group) : name_of(o.group) == axis;
        const json& s = c["select"];
        if (!on_axis || (s.contains("scope") && name_of(o.scope) != s["scope"].get<std::string>())
            || (s.contains("phase") && name_of(o.phase) != s["phase"].get<std::string>()))
            continue;
        sum += o.sent_bytes_per_rank;
    }
    return sum;
}

}  // namespace

TEST_CASE("bytes that leave a rank equal those worked out by hand") {
    const json data = golden("communication.json");
    for (const json& c : data["cases"]) {
        if (c["kind"].get<std::string>().starts_with("zero:")) continue;  // gradient_reduction_test.cpp
        const double want = c["sent_bytes_per_rank"];
        const bool data_parallel = c["axis"].get<std::string>().starts_with("dp");
        INFO(c["kind"], " ", c["model"], " ", c["layout"].dump());
        CHECK(selected(c, comm_of(plan_of(c))) == near(want, data_parallel ? 0.02 : 1e-3));
    }
}

TEST_CASE("an all-reduce sends what a reduce-scatter and an all-gather send") {
    for (const std::int64_t n : {1, 2, 3, 8, 1000})
        CHECK(sent_bytes(Collective::all_reduce, n, 1e9)
              == near(sent_bytes(Collective::reduce_scatter, n, 1e9)
                      + sent_bytes(Collective::all_gather, n, 1e9)));
}

TEST_CASE(
    "sequence parallelism moves the bytes of no sequence parallelism, but for Megatron's extra gathers") {
    Plan p = small_plan(8);
    p.layout.tp = 8, p.layout.dp_shard = 1;
    p.layout.sequence_parallel = false;
    const Comm plain = comm_of(p);
    p.layout.sequence_parallel = true;
    const Comm sp = comm_of(p);
    double extra = 0;
    for (const Operation& o : sp.operations)
        if (words_of(o.what).find("again for the weight gradient") != std::string_view::npos)
            extra += o.sent_bytes_per_rank;
    // Before the weight gradients of attention and MLP in 32 layers, and of the head, all tokens are gathered
    // once more, in 32 micro-batches.
    CHECK(extra == near((2.0 * 32 + 1) * 32 * 7 / 8 * 8192 * 4096 * 2));
    // The embedding's mirror: with SP its gradient is gathered, without it nothing moves backward.
    double mirror = 0;
    for (const Operation& o : sp.operations) {
        const bool embedding = o.scope == Scope::embedding && o.phase == Phase::backward;
        const bool head =
            o.scope == Scope::head && o.collective == Collective::all_gather && o.phase == Phase::forward;
        if (embedding || head) mirror += o.sent_bytes_per_rank;
    }
    const double head_plain = mirror / 2;  // the all-reduces of one end are two halves
    CHECK(sent(sp, GroupKind::tp) - extra - mirror / 2 == near(sent(plain, GroupKind::tp) - head_plain));
}

TEST_CASE(
    "ZeRO that reduces once a step sends the bytes of plain data parallelism when both types are alike") {
    Plan p = small_plan(64);
    p.training.gradients = Dtype::bf16;
    p.layout.zero = 1;
    const double zero1 = data_parallel_bytes(comm_of(p));
    p.layout.zero = 2;
    p.layout.gradient_reduction = GradientReduction::step;
    CHECK(data_parallel_bytes(comm_of(p)) == near(zero1));
    p.layout.zero = 0;
    p.layout.dp_shard = 1, p.layout.dp_replicate = 64;
    CHECK(data_parallel_bytes(comm_of(p)) == near(zero1));
}

TEST_CASE("ZeRO-3 gathers with every micro-batch, but under PyTorch's pipelines once per step") {
    Plan p = small_plan(8);
    p.layout.zero = 3;
    p.training.global_batch = 8;
    const double once = data_parallel_bytes(comm_of(p));
    p.training.global_batch = 8 * 5;
    CHECK(data_parallel_bytes(comm_of(p)) == near(5 * once));
    p.layout.pp = 2, p.layout.dp_shard = 4;
    const double staged = data_parallel_bytes(comm_of(p));
    p.training.global_batch = 4 * 5;
    CHECK(data_parallel_bytes(comm_of(p)) == near(staged / 10 * 5));
    p.training.software = Software::torchtitan;  // weights stay gathered, gradients are summed whole
    CHECK(data_parallel_bytes(comm_of(p)) == near(staged / 10 * (2 + 4) / (2 + 2 + 4)));
}

TEST_CASE("a hybrid of shards and replicas reduces its shard across the replicas, each on its own axis") {
    Plan p = small_plan(64);
    p.layout.zero = 3;
    p.layout.dp_shard = 8, p.layout.dp_replicate = 8;
    p.training.global_batch = 64;
    const Comm comm = comm_of(p);
    const double held = sent(comm, GroupKind::dp_shard) / (7.0 / 8 * (2 + 2 + 4));
    CHECK(sent(comm, GroupKind::dp_replicate) == near(2 * 7.0 / 8 * held / 8 * 4));
}

TEST_CASE("context parallel ranks reduce gradients together with the data parallel ones") {
    Plan p = small_plan(64);
    p.layout.cp = 4, p.layout.dp_shard = 16;
    const Comm comm = comm_of(p);
    // Every parameter is reduced in fp32 and gathered in bf16 over 16 x 4 ranks; then it is summed in fp32.
    const auto all = static_cast<double>(count_parameters(p.model).total);
    CHECK(sent(comm, GroupKind::fsdp) == near(63.0 / 64 * all * (4 + 2), 1e-6));
    CHECK(sent(comm, GroupKind::dp_shard) == 0);
    p.layout.zero = 0;
    p.layout.dp_shard = 1, p.layout.dp_replicate = 16;
    CHECK(sent(comm_of(p), GroupKind::dp_cp) == near(2 * 63.0 / 64 * all * 4, 1e-6));
}

TEST_CASE("routed experts' gradients reduce over expert data parallelism, the rest over data parallelism") {
    Plan p = small_plan(64);
    p.model = golden_model("mixtral-8x7b");
    p.layout.ep = 8, p.layout.etp = 1;
    const Comm comm = comm_of(p);
    // 8 experts on 8 ranks: one of each layer's, 3 x 4096 x 14336 numbers, over 64 / 8 replicas.
    const double expert = 32.0 * 3 * 4096 * 14336;
    CHECK(sent(comm, GroupKind::edp) == near(7.0 / 8 * expert * (4 + 2), 1e-9));
    p.layout.dp_shard = 8;
    p.cluster = shipped_cluster("h100-sxm-ib", 8);
    CHECK(sent(comm_of(p), GroupKind::edp) == 0);
}

TEST_CASE("under HSDP experts are gathered over their shards, near, and summed over their copies, far") {
    Plan p = small_plan(16);
    p.model = golden_model("mixtral-8x7b");
    Layout& l = p.layout;
    l.tp = l.cp = l.pp = 1, l.ep = 4, l.etp = 1, l.dp_shard = 8, l.dp_replicate = 2, l.zero = 3;
    l.order = {Axis::tp, Axis::cp, Axis::ep, Axis::dp_shard, Axis::dp_replicate, Axis::pp};
    p.cluster = shipped_cluster("h100-sxm-ib", 16);
    p.training.global_batch = 16;  // one micro-batch on each rank
    const Comm comm = comm_of(p);
    CHECK(sent(comm, GroupKind::edp) == 0);
    // Ranks 0 and 4 of a node of 8 share 2 of 8 experts, 3 x 4096 x 14336 numbers each; rank 8 has a copy.
    const double held = 32.0 * 2 * 3 * 4096 * 14336;
    int gathers = 0, sums = 0;
    for (const Operation& o : comm.operations) {
        if (!is_expert(o.group) || !is_data_parallel(o.group)) continue;
        CHECK(o.group_size == 2);
        const bool sum = o.collective == Collective::all_reduce;
        CHECK(o.group == (sum ? GroupKind::edp_replicate : GroupKind::edp_shard));
        CHECK(o.tier == (sum ? 1 : 0));
        if (o.collective == Collective::all_gather) {
            CHECK(o.sent_bytes_per_rank == near(held / 2 * 2, 1e-9));
            ++gathers;
        }
        // An all-reduce of n numbers over two ranks sends n numbers: here of the half that each keeps.
        if (sum) CHECK(o.sent_bytes_per_rank == near(held / 2 * 4, 1e-9));
        sums += sum;
    }
    CHECK(gathers == 2);
    CHECK(sums == 1);
    l.dp_replicate = 1, l.dp_shard = 16;
    CHECK(sent(comm_of(p), GroupKind::edp) > 0);
    CHECK(sent(comm_of(p), GroupKind::edp_shard) == 0);
    l.zero = 0, l.dp_replicate = 2, l.dp_shard = 8;  // without ZeRO both parts are one group of copies
    CHECK(sent(comm_of(p), GroupKind::edp) == near(2 * 3.0 / 4 * held * 4, 1e-9));
}

TEST_CASE("experts cut by etp gather and scatter their tokens, uncut ones do not") {
    Plan p = small_plan(16);
    p.model = golden_model("mixtral-8x7b");
    p.layout.tp = 4, p.layout.dp_shard = 4, p.layout.ep = 4, p.layout.etp = 4;
    // Two experts a token: 16,384 tokens come to a group of four, whose hidden states are gathered and their
    // sums scattered, forward and backward, in 32 layers and 64 / 4 micro-batches.
    CHECK(sent(comm_of(p), GroupKind::etp) == near(4.0 * 3 / 4 * 2 * 8192 * 4096 * 2 * 32 * 16));
    p.layout.etp = 1;
    CHECK(sent(comm_of(p), GroupKind::etp) == 0);
}

TEST_CASE("fp8 dispatch sends a byte and the scales of each number, the way back stays wide") {
    Plan p = small_plan(8);
    p.model = golden_model("mixtral-8x7b");
    p.layout.ep = 8, p.layout.etp = 1;
    const double wide = sent(comm_of(p), GroupKind::ep);
    p.training.compute = Dtype::fp8;
    CHECK(sent(comm_of(p), GroupKind::ep) == near(wide * (1 + 4.0 / 128 + 2) / 4));
    p.training.router_imbalance = 1.5;
    CHECK(sent(comm_of(p), GroupKind::ep) == near(1.5 * wide * (1 + 4.0 / 128 + 2) / 4));
}

TEST_CASE("virtual stages multiply the messages of the pipeline") {
    Plan p = small_plan(8);
    p.layout.pp = 4, p.layout.dp_shard = 2;
    p.layout.schedule = Schedule::one_f_one_b;
    const double once = sent(comm_of(p), GroupKind::pp);
    p.layout.schedule = Schedule::interleaved;
    p.layout.virtual_stages = 4;
    CHECK(sent(comm_of(p), GroupKind::pp) == near(4 * once));
}

TEST_CASE("tensor parallelism waits four times per layer and micro-batch, with and without SP") {
    Plan p = small_plan(8);
    p.model.layers = 80;
    p.layout.tp = 8, p.layout.dp_shard = 1;
    for (const bool sp : {false, true}) {
        p.layout.sequence_parallel = sp;
        CHECK(comm_of(p).sync_points_per_microbatch == 320);
    }
}

TEST_CASE("the layers wait for the peers of the axes that have a blocking call in them, and for no others") {
    Plan p = small_plan(8);
    p.layout.dp_shard = 8;
    CHECK(sync_peers_text(comm_of(p)).empty());
    p.layout.tp = 2, p.layout.dp_shard = 4;
    CHECK(sync_peers_text(comm_of(p)) == "tensor peers");
    p.layout.cp = 2, p.layout.dp_shard = 2;
    p.layout.cp_comm = CpComm::ring;  // messages to a neighbour, no point at which all have arrived
    CHECK(sync_peers_text(comm_of(p)) == "tensor peers");
    p.layout.cp_comm = CpComm::ulysses;
    CHECK(sync_peers_text(comm_of(p)) == "tensor and context peers");
    p.model = golden_model("mixtral-8x7b");
    p.layout.ep = 2, p.layout.etp = 1;
    CHECK(sync_peers_text(comm_of(p)) == "tensor, context and expert peers");
    p.layout.tp = p.layout.cp = 1, p.layout.dp_shard = 8;
    CHECK(sync_peers_text(comm_of(p)) == "expert peers");
    p.layout.ep = 1;
    CHECK(sync_peers_text(comm_of(p)).empty());
    CHECK(comm_of(p).sync_points_per_microbatch == 0);
}

TEST_CASE("a bigger group never sends less") {
    for (const Collective c : {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                               Collective::all_to_all, Collective::send_recv})
        for (std::int64_t n = 1; n < 300; ++n) CHECK(sent_bytes(c, n, 1e6) <= sent_bytes(c, n + 1, 1e6));
}

// Returns the pieces of a buffer that leave a rank, over the buffer: a ring of n passes one n-th on n - 1
// times, an all-reduce does so twice; an exchange keeps one piece of n.
double sent_share(const Operation& o) {
    if (o.group_size == 1) return 0;
    if (o.collective == Collective::send_recv) return 1;
    double sent = 0;
    const int rounds = o.collective == Collective::all_reduce ? 2 : 1;
    for (int round = 0; round < rounds; ++round)
        for (std::int64_t step = 1; step < o.group_size; ++step)
            sent += 1.0 / static_cast<double>(o.group_size);
    return sent;
}

TEST_CASE("the sums by axis are the sums of the rows, and recomputation only adds") {
    std::mt19937 rng(7);
    for (int i = 0; i < 200; ++i) {
        Plan p = small_plan(64);
        if (i % 2) p.model = golden_model("mixtral-8x7b"), p.layout.ep = 1 << rng() % 4, p.layout.etp = 1;
        p.layout.tp = 1 << rng() % 3, p.layout.pp = 1 << rng() % 3;
        p.layout.dp_shard = 64 / p.layout.tp / p.layout.pp;
        p.layout.zero = static_cast<int>(rng() % 4);
        const Comm comm = comm_of(p);
        std::array<double, kGroupKindCount> sum{};
        for (const Operation& o : comm.operations) {
            if (!o.on_other_stage) sum[static_cast<std::size_t>(o.group)] += o.sent_bytes_per_rank;
            CHECK(o.sent_bytes_per_rank == near(o.count_per_step * o.message_bytes * sent_share(o)));
            if (i % 2 == 0 && o.unit == Unit::every_layer && !o.on_other_stage) {
                const auto m = static_cast<double>(p.training.global_batch / p.layout.dp_shard);
                // Once or more in each of a stage's layers, for each micro-batch.
                const double calls = o.count_per_step / (m * 32 / static_cast<double>(p.layout.pp));
                CHECK(calls >= 1);
                CHECK(calls == std::round(calls));
            }
        }
        p.training.recompute = Recompute::full;
        const Comm again = comm_of(p);
        for (std::size_t k = 0; k < sum.size(); ++k) {
            CHECK(sum[k] == near(comm.by_axis[k].sent_bytes_per_rank));
            CHECK(again.by_axis[k].sent_bytes_per_rank >= comm.by_axis[k].sent_bytes_per_rank);
        }
    }
}

TEST_CASE("a stage's layers call as often and its neighbours send as much under every schedule") {
    const auto step_of = [](Schedule schedule, int chunks) {
        Plan p = small_plan(64);
        p.layout.tp = 8, p.layout.pp = 4, p.layout.dp_shard = 2, p.layout.sequence_parallel = true;
        p.layout.schedule = schedule, p.layout.virtual_stages = chunks;
        p.training.global_batch = 16;
        return evaluate(p);
    };
    const Evaluation plain = step_of(Schedule::one_f_one_b, 1);
    REQUIRE(plain.step);
    for (const Schedule s : {Schedule::gpipe, Schedule::zb_h1, Schedule::dualpipe}) {
        INFO(name_of(s));
        const Evaluation e = step_of(s, 1);
        REQUIRE(e.step);
        // 8 micro-batches through 8 of 32 layers, be it as one copy or as two halves.
        CHECK(e.comm.operations.front().count_per_step == near(8 * 8));
        const auto between_stages = [](const Comm& comm) {
            double bytes = 0;
            for (const Operation& o : comm.operations)
                if (o.unit == Unit::boundary) bytes += o.sent_bytes_per_rank;
            return bytes;
        };
        CHECK(between_stages(e.comm) == near(between_stages(plain.comm)));
    }
}

// A stage lies on two devices, each of which runs half of the micro-batches. Both sum what a device holds of
// its two stages, cut over data parallelism before; n = 2, so half of each buffer leaves a rank.
TEST_CASE("DualPipe's two copies of a stage sum their gradients and hand each other what they updated") {
    for (const int zero : {0, 1, 3}) {
        CAPTURE(zero);
        Plan p = small_plan(64);
        p.layout.tp = 8, p.layout.pp = 4, p.layout.dp_shard = 2, p.layout.sequence_parallel = true;
        p.layout.zero = zero;
        p.layout.schedule = Schedule::dualpipe;
        p.training.global_batch = 16;
        const Evaluation e = evaluate(p);
        REQUIRE(e.valid);
        double gradients = 0, parameters = 0;
        for (const Operation& o : e.comm.operations) {
            if (o.group != GroupKind::pp || o.unit != Unit::step || o.group_size != 2) continue;
            if (o.collective == Collective::reduce_scatter) gradients += o.sent_bytes_per_rank;
            if (o.collective == Collective::all_gather) parameters += o.sent_bytes_per_rank;
        }
        // The first device holds stages 0 and 3: 16 layers, the embedding and the head, cut over tp = 8;
        // norms are whole.
        const double matrices = 4096.0 * (4096 + 2 * 1024) + 4096.0 * 4096 + 3.0 * 4096 * 14336;
        const double all = 16 * (matrices / 8 + 2 * 4096) + 2 * 128000.0 * 4096 / 8 + 4096;
        const double held = all / (zero == 0 ? 1 : 2);
        CHECK(gradients == near(held * bytes_of(p.training.gradients) / 2));
        CHECK(parameters == near(held * bytes_of(p.training.parameters) / 2));
        p.layout.schedule = Schedule::one_f_one_b;
        for (const Operation& o : evaluate(p).comm.operations)
            CHECK_FALSE((o.group == GroupKind::pp && o.unit == Unit::step
                         && o.collective == Collective::reduce_scatter));
    }
}

TEST_CASE("what the calls of the busiest stage expose is what the step loses") {
    for (const int pp : {1, 2, 4}) {
        for (const Schedule s : {Schedule::one_f_one_b, Schedule::dualpipe}) {
            if (pp == 1 && s == Schedule::dualpipe) continue;
            Plan p = small_plan(64);
            p.layout.tp = 8, p.layout.pp = pp, p.layout.dp_shard = 8 / pp;
            p.layout.sequence_parallel = true, p.layout.schedule = s;
            const Evaluation e = evaluate(p);
            REQUIRE(e.step);
            const auto tp = static_cast<std::size_t>(GroupKind::tp);
            CHECK(e.comm.by_axis[tp].exposed_s == near(e.step->exposed_comm_s[tp]));
            CHECK(e.comm.by_axis[tp].exposed_s <= e.comm.by_axis[tp].time_s * (1 + 1e-12));
            for (const Operation& o : e.comm.operations)  // nothing hides what stages sum once a step
                if (o.group == GroupKind::pp && o.unit == Unit::step) CHECK(o.exposed_s == o.time_s);
        }
    }
}

TEST_CASE("parameters in fp8 are sent once, in a byte, and of MXFP8 in bf16 below ZeRO-3") {
    Plan p = small_plan(16);
    p.layout.dp_shard = 16, p.layout.zero = 1;
    const auto gathered = [&](Dtype parameters, Fp8Recipe recipe) {
        p.training.parameters = parameters, p.training.fp8_recipe = recipe;
        double bytes = 0;
        for (const Operation& o : evaluate(p).comm.operations)
            if (o.what == What::updated_parameters) bytes += o.message_bytes * o.calls;
        return bytes;
    };
    const double bf16 = gathered(Dtype::bf16, Fp8Recipe::tensorwise);
    REQUIRE(bf16 > 0);
    CHECK(gathered(Dtype::fp8, Fp8Recipe::tensorwise) == near(bf16 / 2));
    CHECK(gathered(Dtype::fp8, Fp8Recipe::blockwise) == near(bf16 / 2));
    CHECK(gathered(Dtype::fp8, Fp8Recipe::mxfp8) == near(bf16));
}
