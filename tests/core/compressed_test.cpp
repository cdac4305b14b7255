// Attention over compressed keys and hyper-connections: DeepSeek-V4 as its own code has it.
#include "core/io/presets.h"
#include "core/layer/layer.h"
#include "core/layer/parts.h"
#include "core/memory/memory.h"
#include "core/mesh/mesh.h"
#include "core/step/compute.h"
#include "imports.h"
#include "plans.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

using namespace pentamesh;
using nlohmann::json;

namespace {

const Presets& v4_presets() {
    static const Presets presets(std::string(SOURCE_DIR) + "/presets");
    return presets;
}

// config.json of deepseek-ai/DeepSeek-V4-Flash, the fields that bear on the model.
json flash_config() {
    json c = json::parse(R"({"model_type": "deepseek_v4", "hidden_size": 4096, "num_hidden_layers": 43,
        "num_attention_heads": 64, "num_key_value_heads": 1, "head_dim": 512, "vocab_size": 129280,
        "q_lora_rank": 1024, "qk_rope_head_dim": 64, "o_lora_rank": 1024, "o_groups": 8, "index_n_heads": 64,
        "index_head_dim": 128, "index_topk": 512, "sliding_window": 128, "hc_mult": 4, "n_routed_experts": 256,
        "n_shared_experts": 1, "num_experts_per_tok": 6, "moe_intermediate_size": 2048, "num_hash_layers": 3,
        "num_nextn_predict_layers": 1, "tie_word_embeddings": false, "hidden_act": "silu"})");
    std::vector<int> ratios{0, 0};
    for (int i = 2; i < 43; ++i) ratios.push_back(i % 2 == 0 ? 4 : 128);
    ratios.push_back(0);
    c["compress_ratios"] = ratios;
    return c;
}

Model read_v4(const json& config) {
    return model_from_hf(config, "config.json");
}

// A plan of a few layers of every kind on one node.
Plan v4_plan() {
    Plan p = test::small_plan(8);
    p.model = v4_presets().model("deepseek-v4-flash");
    p.model.layers = 8;
    p.layout.ep = 8;
    p.training.sequence_length = 4096;
    p.training.micro_batch = 1;
    p.training.global_batch = 16;
    return p;
}

bool near_to(double a, double b) {
    return std::abs(a - b) <= 1e-9 * std::max({std::abs(a), std::abs(b), 1.0});
}

}  // namespace

TEST_CASE("DeepSeek-V4 counts as published") {
    struct Published {
        const char* id;
        double total, half, active, active_half;  // active: of a token, without the embedding
        double hub, hub_half;
    };
    // The first total is what llama.cpp prints of the model (issue 22319), the others the model cards' words.
    // The hub counts the numbers of the files: experts packed by two, a scale for each 32 of them, and the
    // prediction layer.
    const Published rows[] = {
        {"deepseek-v4-flash", 284.33e9, 0.005e9, 13e9, 0.5e9, 158e9, 0.5e9},
        {"deepseek-v4-pro", 1.6e12, 0.05e12, 49e9, 0.5e9, 862e9, 0.5e9},
    };
    for (const Published& row : rows) {
        CAPTURE(row.id);
        const Model m = v4_presets().model(row.id);
        const ParameterCounts n = count_parameters(m);
        CHECK(std::abs(static_cast<double>(n.total) - row.total) <= row.half);
        CHECK(std::abs(static_cast<double>(n.active_without_embedding) - row.active) <= row.active_half);
        const std::int64_t experts =
            (m.layers + m.mtp_layers) * 3 * m.moe->experts * m.moe->expert_ffn * m.hidden;
        const auto packed = static_cast<double>(n.total + n.mtp - experts + experts / 2 + experts / 32);
        CHECK(std::abs(packed - row.hub) <= row.hub_half);
    }
}

// Shapes are those of transformers, models/deepseek_v4/modeling_deepseek_v4.py, worked out by hand.
TEST_CASE("layers of DeepSeek-V4 differ by what each kind of layer has") {
    const json base = flash_config();
    const auto total = [](const json& config) { return count_parameters(read_v4(config)).total; };
    const auto with_ratio = [&](std::size_t layer, int ratio) {
        json c = base;
        c["compress_ratios"][layer] = ratio;
        return total(c);
    };
    // kv_proj and gate_proj, the positions' bias of each of the 128 tokens, a norm.
    const std::int64_t heavy = 2 * 512 * 4096 + 128 * 512 + 512;
    // Twice as wide over 4 tokens; the indexer has the same at its own width, queries and weights of heads.
    const std::int64_t sparse =
        2 * 1024 * 4096 + 4 * 1024 + 512 + (2 * 256 * 4096 + 4 * 256 + 128 + 64 * 128 * 1024 + 64 * 4096);
    CHECK(with_ratio(0, 128) - total(base) == heavy);
    CHECK(with_ratio(0, 4) - total(base) == sparse);
    json without = base;
    without["hc_mult"] = 1;
    // A model of n streams has n (n + 2) outputs of a product of n hidden states, a bias of each and three
    // scales, twice a layer; and n outputs, a bias of each and one scale at the head.
    const auto streams = [](std::int64_t n) {
        return 43 * 2 * (n * (n + 2) * n * 4096 + n * (n + 2) + 3) + n * n * 4096 + n + 1;
    };
    CHECK(total(base) - total(without) == streams(4) - streams(1));
    json routed = base;
    routed["num_hash_layers"] = 0;
    CHECK(total(routed) - total(base) == 3 * 256);
    // wq_a and its norm, wq_b, wkv and its norm, wo_a of 8 groups, wo_b, sinks; two norms; router and bias;
    // experts; streams, twice; two norms before the two projections, a norm and streams behind.
    const std::int64_t attention = 1024 * 4096 + 1024 + 64 * 512 * 1024 + 512 * 4096 + 512
                                   + 8 * 1024 * (64 * 512 / 8) + 4096 * 8 * 1024 + 64;
    const std::int64_t layer =
        attention + 2 * 4096 + 256 * 4096 + 256 + 257LL * 3 * 2048 * 4096 + 2 * (24 * 4 * 4096 + 24 + 3);
    CHECK(count_parameters(read_v4(base)).mtp == layer + 2 * 4096 * 4096 + 3 * 4096 + 4 * 4 * 4096 + 4 + 1);
}

TEST_CASE("DeepSeek-V4 is read from either spelling of its layers, and is the model that ships") {
    const json hub = flash_config();
    json own = hub;
    for (const char* key : {"compress_ratios", "num_hash_layers", "qk_rope_head_dim"}) own.erase(key);
    own["layer_types"] = json::array(), own["mlp_layer_types"] = json::array();
    for (int i = 0; i < 43; ++i) {
        own["layer_types"].push_back(i < 2        ? "sliding_attention"
                                     : i % 2 == 0 ? "compressed_sparse_attention"
                                                  : "heavily_compressed_attention");
        own["mlp_layer_types"].push_back(i < 3 ? "hash_moe" : "moe");
    }
    own["compress_rates"] = {{"compressed_sparse_attention", 4}, {"heavily_compressed_attention", 128}};
    Model shipped = v4_presets().model("deepseek-v4-flash");
    shipped.name = read_v4(hub).name;
    CHECK(read_v4(hub) == shipped);
    CHECK(read_v4(own) == shipped);
    json odd = hub;
    odd["compress_ratios"][5] = 64;
    CHECK_THROWS_WITH(static_cast<void>(read_v4(odd)), doctest::Contains("layer 5 is 64"));
    odd = hub;
    odd["compress_ratios"][43] = 4;
    CHECK_THROWS_WITH(static_cast<void>(read_v4(odd)), doctest::Contains("a prediction layer"));
    odd = hub;
    odd.erase("compress_ratios");
    CHECK_THROWS_WITH(static_cast<void>(read_v4(odd)), doctest::Contains("/compress_ratios: is missing"));
}

// NVIDIA-NeMo/Megatron-Bridge, training/utils/flop_utils.py, dsv4_hybrid: the window and the compressed keys,
// at most top-k of them with a ramp; an indexer scores all that stand before the query.
TEST_CASE("a query meets its window and compressed keys") {
    const Model m = v4_presets().model("deepseek-v4-flash");
    const LayerTypes types = layer_types(m);
    constexpr double kTokens = 65536, kRamp = 128.0 * 128 / (2 * kTokens);
    int heavy = 0, sparse = 0, plain = 0;
    for (int t = 0; t < types.size(); ++t) {
        const LayerType& type = types[t];
        CAPTURE(words_of(type));
        const MixerFlops f = mixer_flops(m, type, kTokens, 1);
        const double causal = f.attention - f.masked, core = 2.0 * kTokens * 64 * (512 + 512);
        double want = core * (128 - kRamp);
        if (type.compress == 128) want += core * kTokens / 256, ++heavy;
        if (type.compress == 4) {
            want += core * 512 * (1 - 512 * 4 / (2 * kTokens)), ++sparse;
            want += 2.0 * kTokens * 64 * 128 * (kTokens / 8);
        }
        plain += type.compress == 0;
        CHECK(near_to(causal, want));
    }
    CHECK(heavy == 1);
    CHECK(sparse == 2);  // one of them is routed by a table
    CHECK(plain == 2);   // that routed by a table, and the prediction layer
}

TEST_CASE("tensor and context parallelism of compressed keys are refused") {
    const auto first_code = [](Plan p) {
        const Evaluation e = evaluate(p, {.timeline = false});
        for (const Problem& q : e.problems)
            if (q.severity == Severity::error) return q.code;
        return ProblemCode::below_one;
    };
    Plan p = v4_plan();
    CHECK(evaluate(p, {.timeline = false}).valid);
    p.layout.dp_shard = p.layout.ep = 4, p.layout.tp = 2;
    CHECK(first_code(p) == ProblemCode::compressed_tp);
    p.layout.tp = 1, p.layout.cp = 2;
    CHECK(first_code(p) == ProblemCode::compressed_cp);
}

TEST_CASE("stages send all residual streams, and full recomputation keeps them") {
    Plan p = v4_plan();
    p.layout.pp = 2, p.layout.dp_shard = 4, p.layout.ep = 4;
    p.training.recompute = Recompute::full;
    const Evaluation e = evaluate(p, {.timeline = false});
    REQUIRE(e.valid);
    bool sent = false;
    for (const Operation& o : e.comm.operations) {
        if (o.group != GroupKind::pp || o.collective != Collective::send_recv) continue;
        CHECK(near_to(o.message_bytes, 4096.0 * 4 * 4096 * 2));
        sent = true;
    }
    CHECK(sent);
    const Degrees d = degrees_of(p, e.mesh);
    const LayerTypes types = layer_types(p.model);
    for (int t = 0; t < types.size(); ++t) {
        LayerParts parts;
        list_parts(p, d, types[t], parts);
        CHECK(near_to(layer_sums(p, d, parts.kept).kept, 4096.0 * 4 * 4096 * 2));
    }
}

TEST_CASE("steps of a layer with compressed keys keep and multiply what memory and time say") {
    std::vector<RecomputeChoice> choices{RecomputeChoice(Recompute::none),
                                         RecomputeChoice(Recompute::selective),
                                         RecomputeChoice(Recompute::full)};
    for (const RecomputeModule m :
         {RecomputeModule::layernorm, RecomputeModule::mla_up_proj, RecomputeModule::moe_act})
        choices.push_back(RecomputeChoice(RecomputeModules(m), 0, RecomputeMethod::block));
    int seen = 0;
    for (const RecomputeChoice& choice : choices)
        for (const Dtype compute : {Dtype::bf16, Dtype::fp8}) {
            Plan p = v4_plan();
            p.training.recompute = choice;
            p.training.compute = compute;
            const Evaluation e = evaluate(p, {.timeline = false});
            REQUIRE(e.valid);
            const Degrees d = degrees_of(p, e.mesh);
            const TokenCounts tokens = token_counts(p, d);
            const LayerTypes types = layer_types(p.model);
            for (int t = 0; t < types.size(); ++t) {
                CAPTURE(words_of(types[t]));
                CAPTURE(words_of(choice));
                const LayerList list = list_layer(p, e.mesh, e.groups, t);
                std::map<TensorId, double> kept;
                double forward = 0, want = 0;
                for (const LayerStep& s : list.steps) {
                    for (const KeptTensor& k : s.kept) kept[k.activation] += k.bytes;
                    if (s.op != LayerOp::attention && s.phase == LayerPass::forward) forward += s.flops;
                }
                LayerParts parts;
                list_parts(p, d, types[t], parts);
                for (const Activation& a : parts.kept) {
                    CAPTURE(name_of(a.id));
                    CHECK(near_to(kept[a.id], bytes_of(a, tokens)));
                }
                CHECK(near_to(list.totals.kept_bytes, layer_sums(p, d, parts.kept).kept));
                for (const LayerKernel& k : parts.kernels)
                    if (!k.fused && k.rate != LayerRate::core) want += 2 * k.m * k.in * k.out * k.groups;
                CHECK(std::abs(forward - want) <= 1e-6 * want);
                ++seen;
            }
        }
    CHECK(seen >= 48);
}

TEST_CASE("over all layers the steps' forward is the model's own FLOPs with compressed keys too") {
    Plan p = v4_plan();
    p.model.mtp_layers = 0;
    p.training.router_imbalance = 1;
    const Evaluation e = evaluate(p, {.timeline = false});
    REQUIRE(e.valid);
    const LayerTypes types = layer_types(p.model);
    const LayerCounts counts = count_layers(p.model, types, 0, p.model.layers);
    double flops = 0;
    for (int t = 0; t < types.size(); ++t)
        flops += counts[t] * list_layer(p, e.mesh, e.groups, t).totals.flops_forward;
    const double want = forward_flops(p.model, p.training.sequence_length).layers;
    CHECK(std::abs(flops - want) <= 1e-6 * want);
}

// NVIDIA/Megatron-LM, branch dev d48bd6be, examples/moe_recipes/deepseek_v4_flash/gb200: the same model as
// flags.
TEST_CASE("Megatron's dsv4_hybrid is the model that its checkpoint is") {
    const std::string sizes =
        "--num-layers 43 --hidden-size 4096 --num-attention-heads 64 --kv-channels 512 --normalization "
        "RMSNorm "
        "--swiglu --disable-bias-linear --untie-embeddings-and-output-weights --position-embedding-type rope "
        "--multi-latent-attention --q-lora-rank 1024 --qk-pos-emb-head-dim 64 --v-head-dim 512 "
        "--qk-layernorm "
        "--o-groups 8 --o-lora-rank 1024 --experimental-attention-variant dsv4_hybrid --csa-window-size 128 "
        "--dsa-indexer-n-heads 64 --dsa-indexer-head-dim 128 --dsa-indexer-topk 512 --num-experts 256 "
        "--moe-n-hash-layers 3 --moe-ffn-hidden-size 2048 --moe-shared-expert-intermediate-size 2048 "
        "--moe-router-topk 6 --moe-router-enable-expert-bias --enable-hyper-connections "
        "--num-residual-streams 4 --mtp-num-layers 1 --padded-vocab-size 129280 --seq-length 4096 "
        "--max-position-embeddings 4096 --micro-batch-size 1 --global-batch-size 2048 --bf16 "
        "--expert-model-parallel-size 64 --expert-tensor-parallel-size 1 --moe-grouped-gemm ";
    const auto job = [&](const std::string& more) {
        return test::import_text("torchrun --nnodes 32 --nproc_per_node 4 pretrain_gpt.py " + sizes + more
                                 + "\n");
    };
    const interop::Import made = job("--csa-compress-ratios \"([0,0,4]+[128,4]*20+[0])\"");
    REQUIRE(made.plan);
    const Model& m = made.plan->model;
    const Model shipped = v4_presets().model("deepseek-v4-flash");
    CHECK(m.attention == AttentionKind::compressed);
    CHECK(m.compressed == shipped.compressed);
    CHECK(m.pattern == shipped.pattern);
    CHECK(m.hyper_streams == shipped.hyper_streams);
    const ParameterCounts n = count_parameters(m), published = count_parameters(shipped);
    CHECK(n.total == published.total);  // 284.33 billion, as above
    CHECK(n.mtp == published.mtp);
    for (const char* flag : {"--csa-compress-ratios", "--o-groups", "--moe-n-hash-layers",
                             "--experimental-attention-variant", "--num-residual-streams"})
        CHECK(test::stands_in(made.settings.mapped, flag));
    CHECK(made.settings.not_known.empty());
    // transformer_config.py: a ratio for each layer and each prediction layer, each of them 0, 4 or 128.
    CHECK(test::problem_called(job("--csa-compress-ratios \"[0,0,4]+[128,4]*20\""), "compress-ratios"));
    CHECK(test::problem_called(job("--csa-compress-ratios \"[0,0,8]+[128,4]*20+[0]\""), "compress-ratios"));
    CHECK(test::problem_called(job(""), "compress-ratios"));
    CHECK(test::problem_called(job("--csa-compress-ratios \"[0]*44\" --context-parallel-size 2"),
                               "compressed-cp"));
}
