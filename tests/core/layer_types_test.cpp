#include "core/evaluate.h"
#include "core/io/plan_json.h"
#include "core/io/presets.h"
#include "core/memory/memory.h"
#include "core/model/model.h"
#include "tests/near.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace pentamesh;
using pentamesh::test::near;

namespace {

Plan hybrid_plan() {
    static const Presets presets(SOURCE_DIR "/presets");
    return parse_plan(
        R"({"format": "pentamesh.plan/1", "model": {"name": "hybrid", "layers": 26, "hidden": 2048,
        "heads": 16, "kv_heads": 4, "head_dim": 128, "ffn": 8192, "vocab": 128000, "sliding_window": 1024,
        "moe": {"experts": 16, "top_k": 2, "expert_ffn": 1024},
        "linear": {"kind": "gated_delta", "key_heads": 16, "value_heads": 32, "key_head_dim": 128,
        "value_head_dim": 128, "conv": 4}, "mamba": {"inner": 4096, "state": 128, "heads": 64, "groups": 8},
        "pattern": [{"kind": "linear", "ffn": "moe", "count": 3}, {"kind": "mamba", "ffn": "none"},
        {"kind": "window", "ffn": "dense"}, {"kind": "full", "ffn": "moe", "head_dim": 256}]},
        "cluster": {"preset": "h100-sxm-ib", "gpus": 64},
        "layout": {"tp": 4, "pp": 2, "ep": 4, "dp_shard": 8, "zero": 1},
        "training": {"sequence_length": 8192, "global_batch": 64}})",
        "-", presets);
}

}  // namespace

TEST_CASE("layers of a pattern are counted by type as one by one") {
    const Plan p = hybrid_plan();
    const LayerTypes types = layer_types(p.model);
    CHECK(types.size() == 4);
    LayerCounts sum(types.size());
    for (std::int64_t l = 0; l < p.model.layers; ++l) {
        ++sum[type_of_layer(p.model, types, l)];
        CHECK(count_layers(p.model, types, 0, l + 1) == sum);
    }
    CHECK(sum[0] == 14);  // 4 whole periods of 6 layers, then two linear ones
    CHECK(moe_layers(p.model) == 18);
}

TEST_CASE("a plan with a pattern is written as it was read, and evaluates") {
    static const Presets presets(SOURCE_DIR "/presets");
    const Plan p = hybrid_plan();
    const std::string text = write_plan(p);
    CHECK(parse_plan(text, "-", presets) == p);
    CHECK(write_plan(parse_plan(text, "-", presets)) == text);
    const Evaluation e = evaluate(p);
    for (const Problem& q : e.problems) INFO(q.message);
    REQUIRE(e.valid);
    CHECK(e.step.has_value());
    double held = 0;
    for (const StageMemory& s : e.memory.stage) held += static_cast<double>(s.parameters_held);
    CHECK(held > static_cast<double>(e.parameters.total) / 16);
}

TEST_CASE("a pattern that says what the model's fields say changes no figure") {
    static const Presets presets(SOURCE_DIR "/presets");
    for (const char* id : {"moe-nvl72", "mixtral-8x7b-ep", "llama-3-70b-3d", "deepseek-v3-2048"}) {
        CAPTURE(id);
        const Plan plain = presets.plan(id);
        Plan stated = plain;
        const bool moe = plain.model.moe.has_value();
        const std::int64_t dense = moe ? plain.model.moe->first_dense_layers : 0;
        if (dense > 0) stated.model.pattern.push_back({MixerKind::full, LayerFfn::dense, dense});
        stated.model.pattern.push_back(
            {MixerKind::full, moe ? LayerFfn::moe : LayerFfn::dense, plain.model.layers - dense});
        const Evaluation a = evaluate(plain), b = evaluate(stated);
        CHECK(a.parameters == b.parameters);
        REQUIRE(a.step.has_value());
        REQUIRE(b.step.has_value());
        CHECK(a.step->time_s == near(b.step->time_s, 1e-12));
        CHECK(a.memory.peak() == b.memory.peak());
        CHECK(a.comm.sync_points_per_microbatch == b.comm.sync_points_per_microbatch);
    }
}

// Megatron-LM training.py: mamba_layer_flops and the gated delta rule's term, without their projections.
TEST_CASE("a scan takes the operations that Megatron counts") {
    Model m;
    LayerType type;
    m.hidden = 2048;
    Mamba& mamba = m.mamba.emplace();
    mamba.inner = 8192, mamba.state = 128, mamba.heads = 128, mamba.groups = 8, mamba.conv = 4;
    type.mixer = MixerKind::mamba;
    CHECK(scan_flops(m, type).model == 7.0 * 8192 * 128 + 2.0 * 4 * (8192 + 2 * 8 * 128));
    m.linear = Linear{LinearKind::gated_delta, 16, 32, 128, 128, 4, false, false};
    type.mixer = MixerKind::linear;
    CHECK(scan_flops(m, type).model == 2.0 * (32 * 128 * 128 * 4 + 4 * (2 * 16 * 128 + 32 * 128)));
}

TEST_CASE("layers with a window meet fewer keys than those without") {
    Plan p = hybrid_plan();
    const double with = forward_flops(p.model, 8192).attention;
    for (LayerRun& r : p.model.pattern)
        if (r.kind == MixerKind::window) r.kind = MixerKind::full;
    CHECK(forward_flops(p.model, 8192).attention > with);
}

// Megatron-LM tokenizer.py, vocab_size_with_padding.
TEST_CASE("the vocabulary is padded to vocab_multiple times tp, on every rank alike") {
    Model m;
    m.layers = 2, m.hidden = 64, m.heads = m.kv_heads = 8, m.head_dim = 8, m.ffn = 256, m.vocab = 50257;
    Degrees d;
    d.tp = 8;
    CHECK(local_vocab(m.vocab, 1, 8) == 6283);
    d.vocab_multiple = 128;
    CHECK(local_vocab(m.vocab, 128, 8) * 8 == 51200);
    CHECK(held_numbers(m, d).word_embedding == 51200 / 8 * 64);
    CHECK(local_vocab(m.vocab, 128, 1) == 50304);
    CHECK(count_parameters(m).by_kind[TensorKind::embedding] == 50257 * 64);  // the checkpoint's
}

TEST_CASE("a pattern without the sizes of its layers, or that tp cannot cut, is a problem") {
    const auto has_code = [](const Plan& p, ProblemCode code) {
        const Evaluation e = evaluate(p);
        for (const Problem& q : e.problems)
            if (q.code == code && !q.message.empty()) return true;
        return false;
    };
    Plan p = hybrid_plan();
    p.model.linear.reset();
    CHECK(has_code(p, ProblemCode::pattern_linear));
    p = hybrid_plan();
    p.model.mamba.reset();
    CHECK(has_code(p, ProblemCode::pattern_mamba));
    p = hybrid_plan();
    p.model.sliding_window = 0;
    CHECK(has_code(p, ProblemCode::pattern_window));
    p = hybrid_plan();
    p.model.mamba->groups = 1;
    CHECK(has_code(p, ProblemCode::tp_layers));
    p = hybrid_plan();
    p.model.mamba->heads = 60;
    CHECK(has_code(p, ProblemCode::mamba_sizes));
}
