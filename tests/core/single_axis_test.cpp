#include "core/teach/loaf.h"
#include "tests/core/bare_plan.h"
#include "tests/near.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

using namespace pentamesh;
using pentamesh::test::near;

namespace {

Plan big_plan(bool moe) {
    Plan p = test::bare_plan(test::kLlama70b, 8192);
    Model& m = p.model;
    m.mtp_layers = 1;
    if (moe) m.moe = Moe{64, 8, 2048, 1, 2048, 3, 1, false, false, 0};
    p.cluster.gpus = 1024;
    p.cluster.gpu.hbm_bytes = 80e9;
    p.cluster.tiers = {{"NVLink", LinkKind::nvlink, 8, 450e9, 1e-6, 1},
                       {"IB", LinkKind::ib, 1024, 50e9, 5e-6, 1}};
    p.layout.tp = 8;
    p.layout.pp = 16;
    p.layout.dp_shard = 8;
    p.training.global_batch = 128;
    return p;
}

StrategyPrices priced(const Plan& p, std::int64_t gpus) {
    StrategyPrices out;
    price_strategies(p, gpus, out);
    return out;
}

const StrategyPrice& of(const StrategyPrices& all, Strategy s) {
    return all.price[static_cast<std::size_t>(s)];
}

}  // namespace

TEST_CASE("every strategy alone is a valid plan over the same model, batch and GPUs") {
    for (const bool moe : {false, true})
        for (const std::int64_t gpus : {4, 8}) {
            const StrategyPrices all = priced(big_plan(moe), gpus);
            REQUIRE(all.price.size() == kStrategyCount);
            for (const StrategyPrice& x : all.price) {
                CAPTURE(facts_of(x.strategy).name);
                CAPTURE(x.why_not);
                CHECK(x.possible);
                CHECK(x.example == (!moe && x.strategy == Strategy::ep));
                if (!x.example) CHECK(x.plan.model == all.single.model);
                CHECK(x.plan.training == all.single.training);
                CHECK(x.plan.cluster.gpus == gpus);
                if (x.possible) CHECK(x.mesh.world == gpus);
                if (x.possible) CHECK(x.count > 0);
            }
        }
}

TEST_CASE("what each strategy saves is what it cuts") {
    const StrategyPrices all = priced(big_plan(false), 4);
    const StageMemory& one = all.single_gpu;
    const auto& ddp = of(all, Strategy::ddp).fullest;
    CHECK(ddp.parameters == one.parameters);
    CHECK(ddp.optimizer == one.optimizer);
    const auto& zero1 = of(all, Strategy::zero1).fullest;
    CHECK(zero1.optimizer == near(one.optimizer / 4, 1e-6));
    CHECK(zero1.gradients == one.gradients);
    const auto& zero2 = of(all, Strategy::zero2).fullest;
    CHECK(zero2.gradients == near(one.gradients / 4, 1e-6));
    CHECK(zero2.parameters == one.parameters);
    const auto& fsdp = of(all, Strategy::fsdp).fullest;
    CHECK(fsdp.parameters == near(one.parameters / 4, 1e-6));
    CHECK(fsdp.activations == one.activations);
    CHECK(of(all, Strategy::tp_sp).fullest.activations < of(all, Strategy::tp).fullest.activations);
    CHECK(of(all, Strategy::cp).fullest.activations == near(one.activations / 4, 1e-6));
    CHECK(of(all, Strategy::cp).fullest.parameters == one.parameters);
    CHECK(of(all, Strategy::pp).fullest.parameters < one.parameters / 2);
}

TEST_CASE("sequence parallelism costs the bytes of tensor parallelism, ZeRO-1 and 2 those of DDP") {
    const StrategyPrices all = priced(big_plan(false), 8);
    const auto layers = [](const StrategyPrice& x, GroupKind axis) {
        double sent = 0;
        for (const StrategyTraffic& t : x.traffic)
            if (t.group == axis) sent += t.sent_bytes;
        return sent;
    };
    CHECK(layers(of(all, Strategy::tp_sp), GroupKind::tp)
          >= layers(of(all, Strategy::tp), GroupKind::tp) * 0.99);
    CHECK(of(all, Strategy::fsdp).sent_bytes > of(all, Strategy::zero1).sent_bytes);
    // DDP reduces gradients; ZeRO-1 scatters them and gathers parameters, in their own types.
    CHECK(of(all, Strategy::zero1).sent_bytes <= of(all, Strategy::ddp).sent_bytes * 1.001);
}

TEST_CASE("a strategy that the model cannot take says why") {
    Plan p = big_plan(false);
    p.model.heads = p.model.kv_heads = 6;
    const StrategyPrices all = priced(p, 4);
    CHECK_FALSE(of(all, Strategy::tp).possible);
    CHECK(price_sentence(of(all, Strategy::tp)).find("heads") != std::string::npos);
    CHECK(of(all, Strategy::ddp).possible);
    CHECK(price_sentence(of(all, Strategy::ddp)).find("all-reduce") != std::string::npos);
}

TEST_CASE("what tells DDP and the ZeRO stages apart is said: which states are cut, which are whole") {
    const StrategyPrices all = priced(big_plan(false), 4);
    const auto said = [&](Strategy s) { return state_sentence(of(all, s)); };
    CHECK(said(Strategy::ddp) == "Whole on every GPU: optimizer states, gradients, parameters.");
    CHECK(said(Strategy::cp) == said(Strategy::ddp));
    CHECK(said(Strategy::zero1)
          == "Cut over the GPUs: optimizer states; whole on every GPU: gradients, parameters.");
    CHECK(said(Strategy::zero2)
          == "Cut over the GPUs: optimizer states, gradients; whole on every GPU: parameters.");
    CHECK(said(Strategy::fsdp) == "Cut over the GPUs: optimizer states, gradients, parameters.");
    CHECK(said(Strategy::tp) == said(Strategy::fsdp));
    CHECK(said(Strategy::pp) == said(Strategy::fsdp));
    // The example cuts its experts and copies all else, so that a GPU holds a part of each state.
    CHECK(said(Strategy::ep) == said(Strategy::fsdp));
}

TEST_CASE("a model without experts gets some as an example, and a GPU keeps its share of them") {
    const Plan plan = big_plan(false);
    for (const std::int64_t gpus : {4, 8}) {
        const StrategyPrices all = priced(plan, gpus);
        const StrategyPrice& ep = of(all, Strategy::ep);
        REQUIRE(ep.possible);
        CHECK(ep.plan.model.moe->experts == 8);
        CHECK(ep.plan.model.moe->expert_ffn * ep.plan.model.moe->top_k == plan.model.ffn);
        // A layer has 8 experts of three matrices: a GPU keeps 8 / gpus of them, and all that is no expert.
        const double expert = 3.0 * static_cast<double>(plan.model.hidden * plan.model.ffn / 2);
        const auto layers = static_cast<double>(gpus);
        const double elsewhere = layers * 8 * expert * (1 - 1 / static_cast<double>(gpus));
        CHECK(static_cast<double>(ep.single.parameters_held - ep.fullest.parameters_held)
              == near(elsewhere, 1e-12));
        CHECK(of(all, Strategy::tp).single.parameters == all.single_gpu.parameters);
    }
    // A model that has experts is not changed.
    CHECK(with_example_experts(big_plan(true).model) == big_plan(true).model);
}

TEST_CASE(
    "what ZeRO-3 gathers for a layer is the layer, and what is kept of it one part in as many as GPUs") {
    for (const std::int64_t gpus : {4, 8}) {
        const Plan plan = big_plan(false);
        const StrategyPrices all = priced(plan, gpus);
        const StrategyPrice& fsdp = of(all, Strategy::fsdp);
        const LayerShed shed = shed_of(fsdp);
        const Model& m = plan.model;
        const auto h = static_cast<double>(m.hidden), d = static_cast<double>(m.head_dim);
        const double numbers = 2 * h * d * static_cast<double>(m.heads)       // queries and output
                               + 2 * h * d * static_cast<double>(m.kv_heads)  // keys and values
                               + 3 * h * static_cast<double>(m.ffn) + 2 * h;  // gate, up, down, two norms
        CHECK(shed.gathered == near(2 * numbers, 1e-12));                     // 16 bits
        const double of_number = fsdp.fullest.parameters / static_cast<double>(fsdp.fullest.parameters_kept);
        CHECK(shed.kept == near(numbers * of_number / static_cast<double>(gpus), 1e-6));
        CHECK(shed.dropped);
        // The memory counts the same layer as a buffer.
        std::vector<BufferBytes> buffers;
        list_buffers(fsdp.plan, fsdp.mesh, fsdp.fullest, buffers);
        const auto gathered = std::find_if(buffers.begin(), buffers.end(), [](const BufferBytes& b) {
            return b.buffer == Buffer::gathered_layers;
        });
        REQUIRE(gathered != buffers.end());
        CHECK(gathered->low == near(shed.gathered, 1e-12));
        // DDP cuts no weight: it keeps all of a layer.
        const LayerShed ddp = shed_of(of(all, Strategy::ddp));
        CHECK(ddp.kept == near(shed.kept * static_cast<double>(gpus), 1e-6));
    }
}
