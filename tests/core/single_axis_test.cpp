#include "core/teach/loaf.h"
#include "tests/core/bare_plan.h"
#include "tests/near.h"

#include <doctest/doctest.h>

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
                CHECK(x.possible == (moe || x.strategy != Strategy::ep));
                CHECK(x.plan.model == all.single.model);
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
    CHECK(price_sentence(all, of(all, Strategy::tp)).find("heads") != std::string::npos);
    CHECK(of(all, Strategy::ddp).possible);
    CHECK(price_sentence(all, of(all, Strategy::ddp)).find("all-reduce") != std::string::npos);
}

TEST_CASE("what tells DDP and the ZeRO stages apart is said: which states are cut, which are whole") {
    const StrategyPrices all = priced(big_plan(false), 4);
    const auto said = [&](Strategy s) { return state_sentence(all, of(all, s)); };
    CHECK(said(Strategy::ddp) == "Whole on every GPU: optimizer states, gradients, parameters.");
    CHECK(said(Strategy::cp) == said(Strategy::ddp));
    CHECK(said(Strategy::zero1)
          == "Cut over the GPUs: optimizer states; whole on every GPU: gradients, parameters.");
    CHECK(said(Strategy::zero2)
          == "Cut over the GPUs: optimizer states, gradients; whole on every GPU: parameters.");
    CHECK(said(Strategy::fsdp) == "Cut over the GPUs: optimizer states, gradients, parameters.");
    CHECK(said(Strategy::tp) == said(Strategy::fsdp));
    CHECK(said(Strategy::pp) == said(Strategy::fsdp));
    CHECK(said(Strategy::ep).empty());  // no experts
}
