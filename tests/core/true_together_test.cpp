// Tests figures that can be true together: rules of time, memory and traffic that must fit each other, on
// random plans and by closed forms.
#include "core/advice/advice.h"
#include "core/decide/search.h"
#include "core/memory/memory_costs.h"
#include "core/step/memory_curve.h"
#include "tests/core/memory_plans.h"
#include "tests/core/plans.h"
#include "tests/near.h"

#include <algorithm>
#include <functional>
#include <random>
#include <stdexcept>

using namespace pentamesh;
using test::near;

namespace {

// Draws plans of every schedule whose layers wait for the host or for the device, within one node and beyond.
class Plans {
  public:
    explicit Plans(unsigned seed) : random_(seed) {}

    // Returns a valid plan.
    Plan next() {
        for (;;) {
            const Plan p = draw();
            if (const Evaluation e = evaluate(p); e.valid && e.step) return p;
        }
    }
    std::int64_t pick(std::initializer_list<std::int64_t> of) {
        return *(of.begin()
                 + std::uniform_int_distribution<int>(0, static_cast<int>(of.size()) - 1)(random_));
    }

  private:
    Plan draw() {
        Plan p = test::small_plan(8);
        Model& m = p.model;
        m.layers = 16, m.hidden = pick({512, 2048, 4096}), m.heads = 16, m.kv_heads = 8;
        m.head_dim = m.hidden / 16, m.ffn = 3 * m.hidden, m.vocab = pick({32000, 50257});
        if (pick({0, 1})) {
            m.moe = Moe{};
            m.moe->experts = 16, m.moe->top_k = 2, m.moe->expert_ffn = m.hidden;
            m.moe->first_dense_layers = pick({0, 0, 3});
        }
        Layout& l = p.layout;
        l.tp = pick({1, 2}), l.cp = pick({1, 1, 2}), l.pp = pick({1, 2, 4});
        l.dp_shard = pick({1, 2, 4}), l.dp_replicate = pick({1, 2});
        l.sequence_parallel = l.tp > 1 && pick({0, 1});
        if (m.moe) l.ep = pick({1, 2, 4}), l.etp = pick({1, l.tp});
        l.schedule = static_cast<Schedule>(pick({0, 1, 2, 3, 4, 5, 6, 7, 8}));
        l.virtual_stages = chunks_for(l.schedule, pick({1, 2}));
        l.zero = static_cast<int>(pick({0, 1, 3}));
        const std::int64_t replicas = l.dp_shard * *l.dp_replicate;
        p.cluster.gpus = l.tp * l.cp * l.pp * replicas;
        p.cluster.tiers.back().domain = std::max<std::int64_t>(p.cluster.gpus, 16);
        if (p.cluster.gpus <= 8) p.cluster.tiers.resize(1), p.cluster.tiers[0].domain = p.cluster.gpus;
        Training& t = p.training;
        t.sequence_length = pick({1024, 4096}), t.micro_batch = 1;
        t.global_batch = replicas * l.pp * pick({1, 2, 4});
        t.recompute = static_cast<Recompute>(pick({0, 1, 2}));
        t.router_imbalance = pick({0, 1}) ? 1.0 : 1.7;
        Overlap& o = t.overlap;
        for (bool* flag : {&o.dp, &o.tp, &o.cp, &o.ep, &o.pp}) *flag = pick({0, 1}) == 1;
        return p;
    }
    std::mt19937 random_;
};

double step_of(const Plan& p) {
    const Evaluation e = evaluate(p);
    REQUIRE(e.step);
    return e.step->time_s;
}

struct Faster {
    const char* name;
    std::function<void(Plan&)> make;
};
std::vector<Faster> faster() {
    std::vector<Faster> out{
        {"HBM bandwidth", [](Plan& p) { p.cluster.gpu.hbm_bytes_per_s *= 1.5; }},
        {"FLOP/s", [](Plan& p) { p.cluster.gpu.flops.bf16 *= 1.5; }},
        {"gemm", [](Plan& p) { p.cluster.gpu.efficiency.gemm *= 1.1; }},
        {"grouped", [](Plan& p) { p.cluster.gpu.efficiency.grouped *= 1.2; }},
        {"attention", [](Plan& p) { p.cluster.gpu.efficiency.attention *= 1.2; }},
        {"hbm", [](Plan& p) { p.cluster.gpu.efficiency.hbm *= 1.1; }},
        {"kernel_s", [](Plan& p) { p.cluster.gpu.efficiency.kernel_s /= 2; }},
        {"launch_s", [](Plan& p) { p.cluster.gpu.efficiency.launch_s /= 2; }},
        {"overlap", [](Plan& p) { p.cluster.gpu.efficiency.overlap *= 1.05; }},
        {"step_s", [](Plan& p) { p.cluster.gpu.efficiency.step_s /= 2; }},
        {"imbalance", [](Plan& p) { p.training.router_imbalance = 1; }},
        {"latency", [](Plan& p) { p.cluster.tiers[0].latency_s /= 2; }},
        {"bandwidth", [](Plan& p) { p.cluster.tiers[0].bytes_per_s *= 2; }},
    };
    static constexpr std::pair<const char*, bool Overlap::*> kFlags[] = {{"overlap dp", &Overlap::dp},
                                                                         {"overlap tp", &Overlap::tp},
                                                                         {"overlap cp", &Overlap::cp},
                                                                         {"overlap ep", &Overlap::ep},
                                                                         {"overlap pp", &Overlap::pp}};
    for (const auto& [name, flag] : kFlags)
        out.push_back({name, [flag = flag](Plan& p) { p.training.overlap.*flag = true; }});
    return out;
}

}  // namespace

TEST_CASE("faster hardware and more overlap never make a step slower, whatever the schedule") {
    Plans plans(7);
    for (int i = 0; i < 150; ++i) {
        const Plan p = plans.next();
        const double before = step_of(p);
        for (const Faster& f : faster()) {
            Plan q = p;
            f.make(q);
            CAPTURE(std::string(f.name));
            CAPTURE(i);
            CAPTURE(name_of(p.layout.schedule));
            const double after = step_of(q);
            CAPTURE(after / before - 1);
            CHECK(after <= before * (1 + 1e-9));
        }
    }
}

TEST_CASE("each pass of a layer takes at least its launches, and one that waits for the host just these") {
    Plans plans(11);
    for (int i = 0; i < 100; ++i) {
        Plan p = plans.next();
        p.training.recompute = Recompute::none;
        p.training.software = Software::megatron;
        p.training.routing_sizes = RoutingSizes::device;
        const bool split = p.layout.pp > 1 && traits_of(p.layout.schedule).splits_backward;
        for (const double launch : {0.0, 4e-6, 1.0}) {  // no host, a real one, one that is all there is
            p.cluster.gpu.efficiency.launch_s = launch;
            const Evaluation e = evaluate(p);
            REQUIRE(e.valid);
            for (int t = 0; t < e.work.times.layer.size(); ++t) {
                const LayerTime& time = e.work.times.of(t);
                const UnitComm& comm = e.work.of(t).comm;
                const SlowedTime& slowed = e.work.of(t).slowed;
                const double host = time.launches.all() * launch;
                const double f = time.all.forward + slowed.forward + comm.sum(Phase::forward);
                const double in = time.all.input_grad + slowed.backward + comm.sum(Phase::backward),
                             w = time.all.weight_grad;
                const double least = 1 - 1e-12, above = launch < 1 ? 1e300 : host * 1e-12;
                CHECK(f >= host * least);
                CHECK(f <= host + above);
                if (split) {
                    CHECK(std::min(in, w) >= host * least);
                    CHECK(std::max(in, w) <= host + above);
                } else {
                    CHECK(in + w >= 2 * host * least);
                    CHECK(in + w <= 2 * (host + above));
                }
            }
        }
    }
}

TEST_CASE("what one stage holds rises through a forward, falls through a backward, and is at most Memory's "
          "figure") {
    Plans plans(29);
    int curves = 0, again = 0;
    for (int i = 0; i < 300; ++i) {
        Plan p = plans.next();
        if (i % 2 == 0) {
            p.layout.pp = 1, p.layout.virtual_stages = 1, p.layout.schedule = Schedule::one_f_one_b;
            p.cluster.gpus =
                p.layout.tp * p.layout.cp * p.layout.dp_shard * p.layout.dp_replicate.value_or(1);
        }
        const Evaluation e = evaluate(p);
        if (!e.valid) continue;
        const MemoryCurve curve = memory_curve(p, e.mesh, e.memory, e.work);
        CHECK(curve.empty() == (e.memory.stage.size() != 1));
        if (curve.empty()) continue;
        ++curves;
        const StageMemory& stage = e.memory.stage.front();
        double most = 0, before = 0, at = 0;
        for (const MemoryCurve::Moment& m : curve.forward) {
            CHECK(m.activations >= before);
            CHECK(m.made_again == 0);
            CHECK(m.at >= at);
            before = m.activations, at = m.at;
            most = std::max(most, m.all());
        }
        CHECK(at < 1);
        CHECK(before == stage.activations);
        at = 0;
        for (const MemoryCurve::Moment& m : curve.backward) {
            CHECK(m.activations <= before);
            CHECK(m.activations >= 0);
            CHECK(m.at >= at);
            before = m.activations, at = m.at;
            most = std::max(most, m.all());
            again += m.made_again > 0 ? 1 : 0;
        }
        CHECK(at < 1);
        CHECK(curve.flat() + most == near(stage.total(), 1e-12));
        // Embedding, layers and head: one moment each in both passes.
        CHECK(curve.forward.size() == curve.backward.size());
        CHECK(curve.forward.size() == static_cast<std::size_t>(stage.layers) + 2);
    }
    CHECK(curves > 100);
    CHECK(again > 100);
}

TEST_CASE("compute is what it is without recomputation, to the last bit") {
    Plans plans(13);
    int same = 0;
    for (int i = 0; i < 200; ++i) {
        Plan p = plans.next();
        p.training.recompute = Recompute::none;
        const Evaluation none = evaluate(p);
        for (const Recompute r : {Recompute::selective, Recompute::full}) {
            p.training.recompute = r;
            const Evaluation e = evaluate(p);
            REQUIRE(e.step);
            same += e.step->compute_s == none.step->compute_s;
            CHECK(e.step->compute_s == none.step->compute_s);
            CHECK(e.step->recompute_s > 0);
        }
    }
    CHECK(same == 400);
}

TEST_CASE("on one GPU recomputation is billed with what it adds to the step") {
    Plans plans(17);
    for (int i = 0; i < 20; ++i) {
        Plan p = plans.next();
        p.layout = {};
        p.layout.dp_replicate = 1;
        p.layout.zero = 0;
        p.cluster.gpus = 1;
        p.cluster.tiers.resize(1), p.cluster.tiers[0].domain = 1;
        p.training.global_batch = 4;
        p.training.recompute = Recompute::none;
        const double before = step_of(p);
        p.training.recompute = Recompute::full;
        const Evaluation e = evaluate(p);
        REQUIRE(e.step);
        CHECK(e.step->recompute_s == near(e.step->time_s - before, 1e-9));
    }
}

TEST_CASE("without a pipeline the schedule, its chunks and its groups do nothing") {
    Plans plans(19);
    for (int i = 0; i < 30; ++i) {
        Plan p = plans.next();
        p.layout.pp = 1;
        p.cluster.gpus = p.layout.tp * p.layout.cp * p.layout.dp_shard * *p.layout.dp_replicate;
        p.cluster.tiers.resize(1), p.cluster.tiers[0].domain = p.cluster.gpus;
        p.training.global_batch = 4 * p.layout.dp_shard * *p.layout.dp_replicate;
        p.layout.schedule = Schedule::one_f_one_b;
        p.layout.virtual_stages = 1;
        const Evaluation plain = evaluate(p);
        if (!plain.valid) continue;
        CHECK(plain.in_flight == std::vector<double>{1});
        for (const Schedule s : all_of<Schedule>()) {
            p.layout.schedule = s;
            p.layout.virtual_stages = usual_chunks(s);
            p.layout.microbatch_group = 2;
            const Evaluation e = evaluate(p);
            CAPTURE(name_of(s));
            CHECK(e.valid);
            CHECK(e.memory == plain.memory);
            CHECK(e.step == plain.step);
            CHECK(e.comm == plain.comm);
        }
    }
}

TEST_CASE("offloading a layer more never takes more memory, and what is on its way is no more than went") {
    Plans plans(23);
    for (int i = 0; i < 60; ++i) {
        Plan p = plans.next();
        Evaluation before = evaluate(p);
        for (const std::int64_t away : {1, 2, 3, 8}) {
            p.training.offload.activations_layers = away;
            const Evaluation e = evaluate(p);
            for (std::size_t s = 0; s < e.memory.stage.size(); ++s) {
                const StageMemory& stage = e.memory.stage[s];
                CHECK(stage.total() <= before.memory.stage[s].total() + 2);
                CHECK(stage.most() <= before.memory.stage[s].most() + 2);
                std::vector<BufferBytes> parts;
                list_buffers(p, e.mesh, stage, parts);
                for (const BufferBytes& b : parts)
                    if (b.buffer == Buffer::offloaded_layers) {
                        CHECK(b.high <= stage.host);
                        CHECK(b.high <= 2 * b.mid);
                    }
            }
            before = e;
        }
    }
}

TEST_CASE("a recomputed layer that goes to host memory is its input") {
    Plan p = test::small_plan(8);
    p.training.sequence_length = 8192;
    p.training.recompute = Recompute::full;
    p.training.offload.activations_layers = 4;
    const Evaluation e = evaluate(p);
    REQUIRE(e.valid);
    std::vector<BufferBytes> parts;
    list_buffers(p, e.mesh, e.memory.stage[0], parts);
    const double input = 2.0 * 8192 * 4096;  // 2 s b h
    for (const BufferBytes& b : parts)
        if (b.buffer == Buffer::offloaded_layers) {
            CHECK(b.low == input);
            CHECK(b.mid == 2 * input);
            CHECK(b.high == 2 * input);
        }
}

TEST_CASE("what an axis exposes is what the step says of it, and no more than its time") {
    Plans plans(29);
    for (int i = 0; i < 200; ++i) {
        const Plan p = plans.next();
        const Evaluation e = evaluate(p);
        for (const GroupKind k : all_of<GroupKind>()) {
            CAPTURE(name_of(k));
            const AxisTraffic& axis = e.comm.by_axis[k];
            CHECK(axis.exposed_s == near(e.step->exposed_comm_s[k], 1e-9));
            CHECK(axis.exposed_s <= axis.time_s * (1 + 1e-9));
        }
    }
}

TEST_CASE("without ZeRO the two data-parallel axes are one group: their factors may be swapped") {
    for (const std::int64_t shard : {1, 2, 4, 8}) {
        Plan p = test::small_plan(8);
        p.layout.zero = 0;
        p.layout.dp_shard = shard, p.layout.dp_replicate = 8 / shard;
        const Evaluation e = evaluate(p);
        p.layout.dp_shard = 8, p.layout.dp_replicate = 1;
        const Evaluation one = evaluate(p);
        CHECK(e.memory == one.memory);
        CHECK(e.step == one.step);
    }
}

TEST_CASE("experts without sequence parallelism get s b / t tokens in memory, time and traffic") {
    Plan p = test::small_plan(16);
    p.model.moe = Moe{};
    p.model.moe->experts = 8, p.model.moe->top_k = 2, p.model.moe->expert_ffn = 14336;
    p.layout.tp = 4, p.layout.etp = 1, p.layout.ep = 8, p.layout.dp_shard = 4;
    p.training.sequence_length = 4096, p.training.global_batch = 16;
    p.layout.sequence_parallel = true;
    const Evaluation with = evaluate(p);
    p.layout.sequence_parallel = false;
    const Evaluation without = evaluate(p);
    REQUIRE(with.valid);
    REQUIRE(without.valid);
    const double m = 4, layers = 32, s = 4096, h = 4096;
    // Four exchanges a layer and micro-batch of s / 4 tokens, each to two experts, 7 of 8 elsewhere.
    const double exchanged = m * layers * 4 * (s / 4) * 2 * h * 2 * 7 / 8;
    CHECK(test::sent(without.comm, GroupKind::ep) == near(exchanged, 1e-12));
    CHECK(test::sent(with.comm, GroupKind::ep) == near(exchanged, 1e-12));
    // Outputs are gathered over tp forward, gradients of the tokens backward: s b h each.
    double gathered = 0;
    for (const Operation& o : without.comm.operations)
        if (o.group == GroupKind::tp && o.unit == Unit::moe_layer && o.collective == Collective::all_gather)
            gathered += o.sent_bytes_per_rank;
    CHECK(gathered == near(m * layers * 2 * s * h * 2 * 3 / 4, 1e-12));
    // The part of experts' time that follows the tokens is the same.
    const ModuleTimes &a = with.work.times.of(0).module, &b = without.work.times.of(0).module;
    CHECK(a[RecomputeModule::moe_act] == b[RecomputeModule::moe_act]);
    for (const test::KeptBytes& t : test::kept_tensors(p, true))
        if (t.id == TensorId::experts_up) CHECK(t.bytes == 2 * (s / 4) * 2 * 14336);
}

TEST_CASE("gradients and optimizer are those of one device, of the one that they take longest") {
    // The first half of the layers is dense and large, the other half has experts: no stage has both.
    Plan p = test::small_plan(16);
    p.model.layers = 16, p.model.ffn = 65536;
    p.model.moe = Moe{};
    p.model.moe->experts = 16, p.model.moe->top_k = 2, p.model.moe->expert_ffn = 4096;
    p.model.moe->first_dense_layers = 8;
    p.layout.pp = 2, p.layout.dp_shard = 8, p.layout.ep = 4, p.layout.zero = 1;
    const Evaluation e = evaluate(p);
    REQUIRE(e.valid);
    const Degrees degrees = degrees_of(p, e.mesh);
    // Each stage's update, reduce-scatter and gather take this, one after the other.
    const StageNumbers& n = e.comm.reduced;
    const double optimizer = optimizer_time(p, n, shards_of(p, degrees));
    CHECK(e.step->optimizer_s == near(optimizer + once_a_step(p), 1e-12));
    double sent = 0;
    for (const Operation& o : e.comm.operations)
        if (is_data_parallel(o.group)) sent += o.time_s;
    bool is_a_stage = false;
    for (const StageMemory& s : e.memory.stage) {
        const StageNumbers own = numbers_of(p.model, e.comm.held, s);
        const bool it = own.dense.all() == n.dense.all() && own.experts.all() == n.experts.all();
        is_a_stage = is_a_stage || it;
        // Another stage's transfers take at least the lesser of its shares of bytes.
        const double share = std::min(own.dense.all() / n.dense.all(), own.experts.all() / n.experts.all());
        CHECK(optimizer_time(p, own, shards_of(p, degrees)) + share * sent
              <= (optimizer + sent) * (1 + 1e-9));
    }
    CHECK(is_a_stage);
    // Reduce-scatter over dp 8 and edp 2, then the gather of parameters in 16 bits.
    const double bytes = bytes_of(p.training.gradients) + bytes_of(p.training.parameters);
    CHECK(test::sent(e.comm, GroupKind::dp_shard) == near(n.dense.all() * bytes * 7 / 8));
    CHECK(test::sent(e.comm, GroupKind::edp) == near(n.experts.all() * bytes / 2));
}

TEST_CASE("Megatron refuses experts whose data parallelism differs, unless pp is outermost") {
    Plan p = test::small_plan(16);
    p.model.moe = Moe{};
    p.model.moe->experts = 8, p.model.moe->top_k = 2, p.model.moe->expert_ffn = 1024;
    p.layout.tp = 1, p.layout.pp = 2, p.layout.dp_shard = 4, p.layout.dp_replicate = 2, p.layout.ep = 4;
    const auto refuses = [&] {
        for (const Problem& q : assess(p).problems)
            if (q.message.find("Megatron refuses an order") != std::string::npos
                || q.code == ProblemCode::pipeline_groups_differ)
                return q.message.find("Megatron") != std::string::npos;
        return false;
    };
    CHECK(!refuses());
    p.layout.order = {Axis::tp, Axis::cp, Axis::ep, Axis::pp, Axis::dp_shard, Axis::dp_replicate};
    CHECK(refuses());
    p.layout.ep = 1;
    CHECK(!refuses());
}

TEST_CASE("a bias that MLA does not have is said") {
    const auto says = [](const Plan& p) {
        const auto problems = assess(p).problems;
        return std::ranges::any_of(problems,
                                   [](const Problem& q) { return q.code == ProblemCode::mla_qkv_bias; });
    };
    Plan p = test::small_plan(8);
    p.model.qkv_bias = true;
    CHECK(!says(p));
    p.model.attention = AttentionKind::mla;
    p.model.kv_heads = p.model.heads;
    p.model.mla = Mla{0, 512, 128, 64, 128};
    CHECK(says(p));
    p.model.attention_bias = true;
    CHECK(!says(p));
}

TEST_CASE("an exception in a thread of a search reaches the caller") {
    Plan p = test::small_plan(8);
    p.training.sequence_length = 2048;
    std::optional<SpaceError> error;
    const SearchSpace space = search_space(p, {}, error);
    for (const int threads : {1, 4})
        CHECK_THROWS_AS(static_cast<void>(search(p, space, {.threads = threads}, nullptr,
                                                 [](const std::vector<FoundLayout>&, const SearchCounts&) {
                                                     throw std::runtime_error("no more");
                                                 })),
                        std::runtime_error);
}
