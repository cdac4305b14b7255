#include "core/mesh/places.h"
#include "core/teach/glossary.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace pentamesh;

namespace {

// Returns a plan of 64 GPUs, 8 a node: tp 4, pp 2, dp_shard 4, dp_replicate 2.
Plan plan_64() {
    Plan p;
    p.model.layers = 8, p.model.hidden = 1024, p.model.heads = p.model.kv_heads = 16, p.model.head_dim = 64;
    p.model.ffn = 4096, p.model.vocab = 32000;
    p.cluster.gpus = 64;
    p.cluster.tiers = {{"NVLink", LinkKind::nvlink, 8, 450e9, 1e-6, 1},
                       {"IB", LinkKind::ib, 64, 50e9, 5e-6, 1}};
    p.layout.tp = 4, p.layout.pp = 2, p.layout.dp_shard = 4, p.layout.dp_replicate = 2;
    p.training.global_batch = 16;
    return p;
}

std::string name_with(int zero, std::int64_t shard, std::int64_t replicate) {
    Plan p;
    p.layout.zero = zero, p.layout.dp_shard = shard, p.layout.dp_replicate = replicate;
    return layout_name(p, build_mesh(p)).name;
}

}  // namespace

TEST_CASE("layouts are called what the field calls them") {
    CHECK(name_with(1, 1, 1) == "one GPU");
    CHECK(name_with(0, 1, 8) == "DDP");
    CHECK(name_with(0, 8, 1) == "DDP");
    CHECK(name_with(1, 8, 1) == "ZeRO-1");
    CHECK(name_with(3, 8, 1) == "FSDP");
    CHECK(name_with(3, 8, 8) == "HSDP");
    Plan p = plan_64();
    CHECK(layout_name(p, build_mesh(p)).name == "3D parallelism with ZeRO-1");
    p.layout.zero = 3;
    CHECK(layout_name(p, build_mesh(p)).name == "3D parallelism with HSDP");
    p.layout.cp = 2;
    CHECK(layout_name(p, build_mesh(p)).name == "4D parallelism with HSDP");
    p.layout.zero = 1;  // cut over the ranks of cp too
    CHECK(layout_name(p, build_mesh(p))
              .reason.find("GPUs (dp " + std::to_string(p.layout.dp_shard) + " × cp 2)")
          != std::string::npos);
    p.model.moe = Moe{};
    p.layout.ep = 4, p.layout.etp = 1, p.layout.zero = 1;
    const LayoutName five = layout_name(p, build_mesh(p));
    CHECK(five.name == "5D parallelism with ZeRO-1, experts folded");
    CHECK(five.reason.find("etp 1 × ep 4 × edp 16 × pp 2") != std::string::npos);
    p = Plan{};
    p.layout.tp = 8;
    CHECK(layout_name(p, build_mesh(p)).name == "tensor parallelism only");
}

TEST_CASE("the caption of an axis says groups, wire and calls") {
    const Plan p = plan_64();
    const Evaluation e = evaluate(p, {false, false});
    const AxisCaption tp = caption_of(p, e, GroupKind::tp);
    CHECK(tp.text().rfind("16 groups of 4, all inside NVLink: ", 0) == 0);
    CHECK(tp.text().find("reduce-scatter") != std::string::npos);
    CHECK(tp.text().find("all-gather") != std::string::npos);
    CHECK(tp.calls_per_layer >= 8);  // 2 + 2 forward, 2 + 2 backward with sequence parallelism
    CHECK(caption_of(p, e, GroupKind::dp_shard).text().rfind("16 groups of 4, all across IB", 0) == 0);
    CHECK(caption_of(p, e, GroupKind::cp).text() == "cp is 1: it cuts nothing");
}

TEST_CASE("what FSDP gathers and scatters is counted by the step, of all layers together") {
    Plan p = plan_64();
    p.layout.tp = p.layout.pp = 1, p.layout.dp_shard = 8, p.layout.dp_replicate = 8, p.layout.zero = 3;
    p.training.global_batch = 128;  // 2 micro-batches
    const AxisCaption shard = caption_of(p, evaluate(p, {false, false}), GroupKind::dp_shard);
    CAPTURE(shard.text());
    CHECK(shard.calls_per_layer == 0);
    CHECK(shard.calls_per_step >= 8 * 3 * 2);  // layers x (gather, gather, scatter) x micro-batches
    CHECK(shard.text().find(" per step") != std::string::npos);
}

TEST_CASE("pipeline messages are counted by stage boundary, not by layer") {
    Plan p = plan_64();
    const std::string text = caption_of(p, evaluate(p, {false, false}), GroupKind::pp).text();
    CHECK(text.find("per layer") == std::string::npos);
    CAPTURE(text);
    CHECK(text.find("send-recv, 2 per micro-batch over every stage boundary") != std::string::npos);

    // A stage in the middle of four sends each of its micro-batches once forward and once back.
    p.layout.pp = 4, p.layout.dp_replicate = 1;
    const Evaluation e = evaluate(p, {false, false});
    const AxisCaption pp = caption_of(p, e, GroupKind::pp);
    CHECK(pp.calls_per_layer == 0);
    CHECK(pp.calls_per_boundary == 2);
    CHECK(pp.calls_per_step == 2.0 * 16 / 4);  // global batch over dp
}

TEST_CASE("a rank is explained by its coordinates and ring neighbours") {
    const Plan p = plan_64();
    const Mesh mesh = build_mesh(p);
    const RankExplanation r = explain_rank(p, mesh, 45);
    CHECK(r.node == 5);
    CHECK(r.stage == 1);  // stride of pp is 32
    CHECK(r.text == "Rank 45: node 5, stage 1; tp 1 of 4, dp_shard 3 of 4, dp_replicate 0 of 2.");
    for (std::int64_t rank = 0; rank < mesh.world; ++rank)
        for (const RankGroup& g : explain_rank(p, mesh, rank).groups) {
            const std::vector<std::int64_t> members = group_members(mesh, g.kind, rank);
            const auto n = static_cast<std::int64_t>(members.size());
            REQUIRE(g.degree == n);
            REQUIRE(members[g.position] == rank);
            REQUIRE(g.next == members[(g.position + 1) % n]);
            REQUIRE(g.previous == members[(g.position + n - 1) % n]);
        }
}

TEST_CASE("a lost node breaks the groups that have a rank on it") {
    const Plan p = plan_64();
    const Mesh mesh = build_mesh(p);
    const Failure f = lose_node(p, mesh, 3);
    CHECK(f.first_rank == 24);
    CHECK(f.lost == 8);
    CHECK(f.waiting == 56);
    for (const AxisFailure& a : f.axes) {
        std::set<std::int64_t> hit, members;
        for (std::int64_t r = 24; r < 32; ++r) {
            hit.insert(group_index(mesh, a.kind, r));
            for (const std::int64_t m : group_members(mesh, a.kind, r)) members.insert(m);
        }
        CAPTURE(name_of(a.kind));
        CHECK(a.groups_hit == static_cast<std::int64_t>(hit.size()));
        CHECK(a.waiting == static_cast<std::int64_t>(members.size()) - 8);
    }
    CHECK(f.replicas == 8);
    CHECK(f.replicas_hit == 2);  // a node holds two tp groups
    CHECK(f.state_survives);     // dp_replicate = 2, its copies lie 16 ranks apart
    CHECK(lose_node(p, mesh, 8).lost == 0);
    CHECK(lose_node(p, mesh, -1).lost == 0);
}

TEST_CASE("without a replica elsewhere a lost node's shards are gone") {
    Plan p = plan_64();
    p.layout.dp_shard = 8, p.layout.dp_replicate = 1;
    CHECK_FALSE(lose_node(p, build_mesh(p), 0).state_survives);
    p.layout.zero = 0;  // dp_shard copies too
    CHECK(lose_node(p, build_mesh(p), 0).state_survives);
}

TEST_CASE("where the groups lie and what they say are two texts, whatever a tier is called") {
    Plan p = plan_64();
    p.cluster.tiers[0].name = "NV: Link";
    const AxisCaption tp = caption_of(p, evaluate(p), GroupKind::tp);
    CHECK(tp.where == "16 groups of 4, all inside NV: Link");
    CHECK(tp.talk.find("Link") == std::string::npos);
    CHECK(tp.talk.find("all-gather") != std::string::npos);
    CHECK(tp.text() == tp.where + ": " + tp.talk);
    const AxisCaption cp = caption_of(p, evaluate(p), GroupKind::cp);
    CHECK(cp.text() == "cp is 1: it cuts nothing");
    CHECK(cp.talk.empty());
}
