// One list serves all: kept tensors, communication and compute of a layer are the same for its steps and for
// memory, communication and step.
#include "core/layer/calls.h"
#include "core/memory/memory.h"
#include "core/mesh/mesh.h"
#include "core/step/compute.h"
#include "layer_plans.h"

#include <cmath>
#include <doctest/doctest.h>
#include <map>
#include <tuple>

using namespace pentamesh;
using test::LayerPlans;

namespace {

using CallKey = std::tuple<GroupKind, Collective, LayerPass>;
struct CallSum {
    double calls = 0, bytes = 0;
};
std::map<CallKey, CallSum> calls_of_list(const LayerList& list) {
    std::map<CallKey, CallSum> out;
    for (const LayerStep& s : list.steps) {
        if (!is_collective(s.op) || s.block == LayerBlock::weights) continue;
        CallSum& c = out[{s.group, collective_of(s.op), s.phase}];
        c.calls += s.calls;
        c.bytes += s.calls * s.message_bytes;
    }
    return out;
}
std::map<CallKey, CallSum> calls_of_comm(const Comm& comm, int type) {
    std::map<CallKey, CallSum> out;
    for (const Operation& o : comm.operations) {
        if (!pentamesh::has(o.types, type)) continue;
        const LayerPass pass = o.phase == Phase::forward ? LayerPass::forward : LayerPass::backward;
        CallSum& c = out[{o.group, o.collective, pass}];
        c.calls += o.calls;
        c.bytes += o.calls * o.message_bytes;
    }
    return out;
}
std::string describe(const Plan& p) {
    const Layout& l = p.layout;
    return "tp " + std::to_string(l.tp) + (l.sequence_parallel ? " sp" : "") + " cp " + std::to_string(l.cp)
           + " " + std::string(name_of(l.cp_comm)) + " ep " + std::to_string(l.ep) + " "
           + std::string(name_of(l.ep_comm)) + " etp " + std::to_string(l.etp.value_or(l.tp)) + ", recompute "
           + words_of(p.training.recompute) + ", " + std::string(name_of(p.training.software));
}
bool close_to(double a, double b) {
    return std::abs(a - b) <= 1e-9 * std::max({std::abs(a), std::abs(b), 1.0});
}

// Sets a GPU on which a second is a FLOP: products take 2 m n k, nothing else takes any time.
Plan on_counting_gpu(Plan p) {
    p.training.compute = Dtype::bf16;
    p.training.software = Software::megatron;
    Gpu& g = p.cluster.gpu;
    g.flops = {};
    g.flops.bf16 = 1;
    g.hbm_bytes_per_s = 1e300;
    g.efficiency.gemm = g.efficiency.grouped = g.efficiency.attention = g.efficiency.hbm = 1;
    g.efficiency.kernel_s = 0;
    // These widths have shards of whole cache lines: others take longer than their FLOPs.
    constexpr std::int64_t kLine = 64, kMostTp = 4;
    Model& m = p.model;
    m.hidden *= kLine, m.heads *= kLine * kMostTp, m.kv_heads *= kLine * kMostTp, m.ffn *= kLine * kMostTp;
    if (m.mla) {
        m.mla->q_lora_rank *= kLine, m.mla->kv_lora_rank *= kLine, m.mla->qk_rope_head_dim *= kLine;
        m.mla->index_heads *= kLine, m.mla->index_head_dim *= kLine;
    }
    if (m.moe)
        m.moe->expert_ffn *= kLine * kMostTp, m.moe->shared_expert_ffn *= kLine * kMostTp,
            m.moe->latent *= kLine;
    for (LayerRun& run : m.pattern) run.ffn_width *= kLine * kMostTp;
    return p;
}

}  // namespace

TEST_CASE("a layer's steps keep, tensor by tensor, what memory says") {
    LayerPlans plans(7);
    int seen = 0, dropped = 0;
    for (int round = 0; round < 1500; ++round) {
        const Plan p = plans.next();
        const Evaluation e = evaluate(p, {.timeline = false});
        if (!e.valid) continue;
        const LayerTypes types = layer_types(p.model);
        const Degrees d = degrees_of(p, e.mesh);
        const TokenCounts tokens = token_counts(p, d);
        for (int t = 0; t < types.size(); ++t) {
            CAPTURE(round);
            CAPTURE(words_of(types[t]));
            const LayerList list = list_layer(p, e.mesh, e.groups, t);
            std::map<TensorId, double> kept, again, freed;
            for (const LayerStep& s : list.steps) {
                for (const KeptTensor& k : s.kept)
                    (s.phase == LayerPass::forward ? kept : again)[k.activation] += k.bytes;
                for (const KeptTensor& k : s.freed) freed[k.activation] += k.bytes;
            }
            LayerParts parts;
            list_parts(p, d, types[t], parts);
            for (const Activation& a : parts.kept) {
                CAPTURE(name_of(a.id));
                CAPTURE(words_of(p.training.recompute));
                CAPTURE(name_of(p.training.software));
                const bool stays = is_kept(a, p.training.recompute, facts_of(p.training.software));
                CHECK((stays ? kept : again).contains(a.id));
                const double got = (stays ? kept : again)[a.id], want = bytes_of(a, tokens);
                CAPTURE(got);
                CAPTURE(want);
                CHECK(close_to(got, want));
                CHECK(close_to(freed[a.id], want));
                dropped += !stays;
            }
            CHECK(close_to(list.totals.kept_bytes, layer_sums(p, d, parts.kept).kept));
            ++seen;
        }
    }
    CHECK(seen > 500);
    CHECK(dropped > 200);
}

TEST_CASE("a layer's steps say as often, and as much, what communication says") {
    LayerPlans plans(8);
    int seen = 0, spoken = 0;
    for (int round = 0; round < 1500; ++round) {
        const Plan p = plans.next();
        const Evaluation e = evaluate(p, {.timeline = false});
        if (!e.valid) continue;
        const LayerTypes types = layer_types(p.model);
        const LayerCounts counts = count_layers(p.model, types, 0, p.model.layers);
        for (int t = 0; t < types.size(); ++t) {
            if (counts[t] == 0) continue;
            CAPTURE(round);
            CAPTURE(words_of(types[t]));
            const LayerList list = list_layer(p, e.mesh, e.groups, t);
            const auto own = calls_of_list(list), all = calls_of_comm(e.comm, t);
            CAPTURE(describe(p));
            CHECK(own.size() == all.size());
            for (const auto& [called, want] : all) {
                const CallKey key = called;
                CAPTURE(name_of(std::get<0>(key)));
                CAPTURE(name_of(std::get<1>(key)));
                CAPTURE(name_of(std::get<2>(key)));
                CHECK(own.contains(key));
                if (!own.contains(key)) continue;
                CHECK(own.at(key).calls == want.calls);
                CHECK(close_to(own.at(key).bytes, want.bytes));
                ++spoken;
            }
            ++seen;
        }
    }
    CHECK(seen > 500);
    CHECK(spoken > 1000);
}

TEST_CASE("a layer's weights are gathered and its gradients reduced as communication says") {
    LayerPlans plans(9);
    int gathered = 0;
    for (int round = 0; round < 600; ++round) {
        const Plan p = plans.next();
        const Evaluation e = evaluate(p, {.timeline = false});
        if (!e.valid) continue;
        const LayerTypes types = layer_types(p.model);
        for (int t = 0; t < types.size(); ++t) {
            CAPTURE(round);
            const LayerList list = list_layer(p, e.mesh, e.groups, t);
            const HeldLayer& held = e.comm.held.of(t);
            for (const LayerStep& s : list.steps) {
                if (s.block != LayerBlock::weights || !is_collective(s.op)) continue;
                const bool experts = is_expert(s.group);
                const double numbers = experts ? held.experts.all() : held.dense.all();
                const bool row = std::ranges::any_of(e.comm.operations, [&](const Operation& o) {
                    return o.group == s.group && o.collective == collective_of(s.op)
                           && o.group_size == s.group_size;
                });
                CHECK(row);
                CHECK(static_cast<std::int64_t>(s.ranks.size()) == s.group_size);
                if (s.op == LayerOp::all_gather) {
                    CHECK(close_to(s.message_bytes, numbers
                                                        * (p.layout.zero < 3 ? bytes_of(p.training.parameters)
                                                                             : gathered_bytes(p.training))));
                    ++gathered;
                }
            }
        }
    }
    CHECK(gathered > 100);
}

TEST_CASE("a layer's steps multiply as much as the time model does, forward and backward") {
    LayerPlans plans(10);
    int seen = 0;
    for (int round = 0; round < 1000; ++round) {
        Plan p = plans.next();
        p.training.recompute = Recompute::none;
        p.training.attention = AttentionImpl::flash;
        p = on_counting_gpu(p);
        const Evaluation e = evaluate(p, {.timeline = false});
        if (!e.valid) continue;
        const LayerTypes types = layer_types(p.model);
        const LayerTimes times = time_layers(p, degrees_of(p, e.mesh), types, e.parts);
        for (int t = 0; t < types.size(); ++t) {
            CAPTURE(round);
            CAPTURE(words_of(types[t]));
            double forward = 0, backward = 0;
            for (const LayerStep& s : list_layer(p, e.mesh, e.groups, t).steps)
                if (s.op != LayerOp::attention)
                    (s.phase == LayerPass::forward ? forward : backward) += s.flops;
            double want = 0;
            for (const LayerKernel& k : e.parts[t].kernels)  // a scan is no product
                if (!k.fused && k.rate != LayerRate::core && k.what != What::scan_of_the_state)
                    want += 2 * k.m * k.in * k.out * k.groups;
            CAPTURE(forward);
            CAPTURE(want);
            CHECK(std::abs(forward - want) <= 1e-6 * want);
            CHECK(std::abs(backward - 2 * want) <= 1e-6 * want);
            // A scan's products are too narrow for their full rate.
            if (!types[t].attends() || types[t].has_mamba()) continue;
            const LayerTime& time = times.of(t);
            CHECK(std::abs(time.all.forward - time.attention.forward - want) <= 1e-6 * want);
            ++seen;
        }
    }
    CHECK(seen > 200);
}

TEST_CASE("over all layers the steps' forward is the model's own FLOPs") {
    LayerPlans plans(11);
    int seen = 0;
    for (int round = 0; round < 800; ++round) {
        Plan p = plans.next();
        p.layout.tp = 1;
        if (p.layout.etp) p.layout.etp = 1;
        p.training.router_imbalance = 1;
        p.layout.dp_replicate.reset();
        p.layout.dp_shard = p.layout.cp = p.layout.pp = p.layout.ep = 1;
        p.cluster.gpus = 1;
        p.training.global_batch = 16;
        const Evaluation e = evaluate(p, {.timeline = false});
        if (!e.valid) continue;
        const LayerTypes types = layer_types(p.model);
        const LayerCounts counts = count_layers(p.model, types, 0, p.model.layers);
        double flops = 0;
        for (int t = 0; t < types.size(); ++t)
            flops += counts[t] * list_layer(p, e.mesh, e.groups, t).totals.flops_forward;
        CAPTURE(round);
        const double want = forward_flops(p.model, p.training.sequence_length).layers
                            * static_cast<double>(p.training.micro_batch);
        CHECK(std::abs(flops - want) <= 1e-6 * want);
        ++seen;
    }
    CHECK(seen > 100);
}

TEST_CASE("the times of a layer's steps add up to the layer's") {
    LayerPlans plans(12);
    int seen = 0;
    for (int round = 0; round < 600; ++round) {
        Plan p = plans.next();
        p.training.recompute = Recompute::none;
        const Evaluation e = evaluate(p, {.timeline = false});
        if (!e.valid) continue;
        const LayerTypes types = layer_types(p.model);
        const LayerTimes times = time_layers(p, degrees_of(p, e.mesh), types, e.parts);
        for (int t = 0; t < types.size(); ++t) {
            CAPTURE(round);
            CAPTURE(words_of(types[t]));
            double forward = 0, backward = 0;
            for (const LayerStep& s : timed_layer(p, e.mesh, e.groups, t).steps)
                if (!is_collective(s.op)) (s.phase == LayerPass::forward ? forward : backward) += s.time_s;
            const PassTime& all = times.of(t).all;
            CHECK(std::abs(forward - all.forward) <= 1e-6 * all.forward);
            CHECK(std::abs(backward - all.input_grad - all.weight_grad) <= 1e-6 * backward);
            ++seen;
        }
    }
    CHECK(seen > 200);
}
