// Tests what is recomputed in a model whose layers differ: it is counted by type of layer.
#include "core/evaluate.h"
#include "core/io/plan_json.h"
#include "core/io/presets.h"
#include "core/memory/memory.h"
#include "core/step/compute.h"
#include "tests/near.h"

#include <doctest/doctest.h>

using namespace pentamesh;
using pentamesh::test::near;

namespace {

// Has linear layers with experts, layers of only Mamba, attention of two sizes, and prediction layers.
Plan patterned_plan() {
    static const Presets presets(SOURCE_DIR "/presets");
    return parse_plan(
        R"({"format": "pentamesh.plan/1", "model": {"name": "hybrid", "layers": 26, "hidden": 2048,
        "heads": 16, "kv_heads": 4, "head_dim": 128, "ffn": 8192, "vocab": 128000, "sliding_window": 1024,
        "moe": {"experts": 16, "top_k": 2, "expert_ffn": 1024, "shared_experts": 1, "shared_expert_ffn": 512},
        "linear": {"kind": "gated_delta", "key_heads": 16, "value_heads": 32, "key_head_dim": 128,
        "value_head_dim": 128, "conv": 4}, "mamba": {"inner": 4096, "state": 128, "heads": 64, "groups": 8},
        "pattern": [{"kind": "linear", "ffn": "moe", "count": 3}, {"kind": "mamba", "ffn": "none"},
        {"kind": "window", "ffn": "dense"}, {"kind": "full", "ffn": "moe", "head_dim": 256}],
        "mtp_layers": 1},
        "cluster": {"preset": "h100-sxm-ib", "gpus": 64},
        "layout": {"tp": 2, "cp": 2, "pp": 2, "ep": 4, "dp_shard": 8, "zero": 1},
        "training": {"sequence_length": 8192, "global_batch": 64}})",
        "-", presets);
}

double repeated_calls(const Evaluation& e, GroupKind axis) {
    double calls = 0;
    for (const Operation& o : e.comm.operations)
        if (o.recomputed && o.group == axis) calls += o.count_per_step;
    return calls;
}

}  // namespace

TEST_CASE("the first layers of a chunk that run again are counted by type as one by one") {
    Plan p = patterned_plan();
    constexpr std::int64_t kLayers = 5;
    p.training.recompute = RecomputeChoice({}, kLayers, RecomputeMethod::block);
    const Evaluation e = evaluate(p);
    REQUIRE(e.valid);
    const LayerTypes types = layer_types(p.model);
    const Degrees degrees = degrees_of(p, e.mesh);
    for (const StageMemory& s : e.memory.stage) {
        LayerCounts again(types.size());
        double kept = 0;
        for (std::int64_t l = 13 * s.stage; l < 13 * s.stage + 13; ++l) {
            const int type = type_of_layer(p.model, types, l);
            const bool repeated = l < 13 * s.stage + kLayers;
            if (repeated) ++again[type];
            const LayerSums sums = layer_sums(p, degrees, e.parts[type].kept);
            kept += repeated ? sums.kept : sums.all;
        }
        CHECK(s.recomputed == again);
        CHECK(s.layer_activations == near(kept * s.in_flight));
    }
}

TEST_CASE("recomputing the attention core leaves layers without attention as they are") {
    Plan p = patterned_plan();
    p.training.attention = AttentionImpl::math;
    const Evaluation none = evaluate(p);
    p.training.recompute = Recompute::selective;
    const Evaluation e = evaluate(p);
    const LayerTypes types = layer_types(p.model);
    const Degrees degrees = degrees_of(p, e.mesh);
    const LayerTimes times = time_layers(p, degrees, types, e.parts);
    for (int t = 0; t < types.size(); ++t) {
        const LayerSums sums = layer_sums(p, degrees, e.parts[t].kept);
        CHECK((sums.kept < sums.all) == types[t].attends());
        CHECK((times.of(t).module[RecomputeModule::core_attn] > 0) == types[t].attends());
    }
    for (std::size_t d = 0; d < e.memory.stage.size(); ++d) {
        const StageMemory &was = none.memory.stage[d], &is = e.memory.stage[d];
        double dropped = 0;
        for (int t = 0; t < is.types.size(); ++t)
            dropped += is.types[t] * layer_sums(p, degrees, e.parts[t].kept).recomputed;
        CHECK(was.layer_activations - is.layer_activations == near(dropped * is.in_flight));
    }
    // The ring's calls of attention are repeated, a scan's exchange of heads is not.
    double ring = 0;
    for (const Operation& o : none.comm.operations)
        if (o.group == GroupKind::cp && o.phase == Phase::forward && o.collective == Collective::send_recv)
            ring += o.count_per_step;
    CHECK(repeated_calls(e, GroupKind::cp) == ring);
    for (const Operation& o : e.comm.operations)
        if (o.recomputed) CHECK(o.collective == Collective::send_recv);
    CHECK(repeated_calls(e, GroupKind::tp) == 0);
    p.training.recompute = Recompute::full;
    CHECK(repeated_calls(evaluate(p), GroupKind::cp) > repeated_calls(e, GroupKind::cp));
}

TEST_CASE("a model with a pattern that is computed again as a whole takes its layers' forward once more") {
    Plan p = patterned_plan();
    const ForwardFlops f = forward_flops(p.model, p.training.sequence_length);
    const double once = 3 * (f.layers + f.head);
    p.training.recompute = Recompute::full;
    const Evaluation full = evaluate(p);
    REQUIRE(full.step);
    CHECK(full.step->hfu / full.step->mfu == near((once + f.layers) / once));
    // Only the attention core is recomputed.
    p.training.recompute = Recompute::selective;
    const Evaluation core = evaluate(p);
    CHECK(core.step->hfu / core.step->mfu == near((once + f.attention) / once));
    // As many layers as a chunk has are all of them, except for the prediction layers.
    p.model.mtp_layers = 0;
    p.training.recompute = Recompute::full;
    const Evaluation whole = evaluate(p);
    p.training.recompute = RecomputeChoice({}, 13, RecomputeMethod::block);
    const Evaluation counted = evaluate(p);
    CHECK(counted.memory.peak() == whole.memory.peak());
    CHECK(counted.step->hfu / counted.step->mfu == near(whole.step->hfu / whole.step->mfu));
    CHECK(counted.step->time_s == near(whole.step->time_s));
}
