// Further families of transformers count as their published checkpoints, or in closed form from the shapes of
// their modeling_*.py; families that no plan can state are refused by their name.
#include "core/base/files.h"
#include "core/io/hf_families.h"
#include "core/model/model.h"
#include "tests/core/hf_small.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::test;

namespace {

std::int64_t counted(const char* text) {
    return count_parameters(model_from_hf(std::string_view(text), "config.json")).total;
}

std::int64_t counted_small(const char* type, const std::vector<const char*>& parts, const char* own) {
    return count_parameters(model_from_hf(config_of(type, parts, own), "config.json")).total;
}

std::string windows(const char* type, const std::vector<const char*>& parts, const char* own) {
    const Model m = model_from_hf(config_of(type, parts, own), "config.json");
    const LayerTypes types = layer_types(m);
    std::string out;
    for (std::int64_t i = 0; i < m.layers; ++i)
        out += types[type_of_layer(m, types, i)].mixer == MixerKind::window ? 'L' : 'G';
    return out;
}

}  // namespace

// Each total follows from the sizes of the published file as the sum with it says. Logs of programs that load
// GPT-J and StarCoder print the same two; the card of Ministral 8B has its own.
TEST_CASE("families of GPT's days count as their checkpoints do") {
    // tiiuae/falcon-7b: 32 (4544 (4544 + 2 64) + 4544^2 + 2 4544 4 4544 + 2 4544) + 65024 4544 + 2 4544.
    CHECK(counted(R"({"model_type": "falcon", "hidden_size": 4544, "num_hidden_layers": 32,
        "num_attention_heads": 71, "num_kv_heads": 71, "vocab_size": 65024, "multi_query": true,
        "parallel_attn": true, "new_decoder_architecture": false, "bias": false, "alibi": false})")
          == 6921720704);
    // tiiuae/falcon-40b as older files of the hub say it, with two norms a layer:
    // 60 (8192 (8192 + 2 8 64) + 8192^2 + 2 8192 4 8192 + 4 8192) + 65024 8192 + 2 8192.
    CHECK(counted(R"({"model_type": "falcon", "hidden_size": 8192, "n_layer": 60, "n_head": 128,
        "n_head_kv": 8, "vocab_size": 65024, "parallel_attn": true, "new_decoder_architecture": true,
        "bias": false, "alibi": false})")
          == 41303293952);
    // bigcode/starcoder: 40 (6144 (6144 + 2 128) + 6400 + 6144^2 + 6144 + 2 6144 24576 + 24576 + 6144
    // + 4 6144) + (49152 + 8192) 6144 + 2 6144.
    CHECK(counted(R"({"model_type": "gpt_bigcode", "n_embd": 6144, "n_layer": 40, "n_head": 48,
        "n_inner": 24576, "n_positions": 8192, "vocab_size": 49152, "multi_query": true})")
          == 15517456384);
    // EleutherAI/gpt-j-6b: 28 (4 4096^2 + 2 4096 16384 + 16384 + 4096 + 2 4096) + 2 50400 4096 + 50400
    // + 2 4096.
    CHECK(counted(R"({"model_type": "gptj", "n_embd": 4096, "n_layer": 28, "n_head": 16, "n_inner": null,
        "vocab_size": 50400, "rotary_dim": 64, "tie_word_embeddings": false})")
          == 6050882784);
    // Salesforce/codegen-350M-mono: the same shape with 20 layers of 1024.
    CHECK(counted(R"({"model_type": "codegen", "n_embd": 1024, "n_layer": 20, "n_head": 16,
        "n_inner": null, "vocab_size": 51200, "tie_word_embeddings": false})")
          == 356712448);
}

TEST_CASE("families beside Llama count as their checkpoints do") {
    // LGAI-EXAONE/EXAONE-3.5-7.8B-Instruct:
    // 32 (2 4096^2 + 2 4096 1024 + 3 4096 14336 + 2 4096) + 2 102400 4096 + 4096.
    CHECK(counted(R"({"model_type": "exaone", "hidden_size": 4096, "num_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 14336,
        "vocab_size": 102400, "activation_function": "silu", "tie_word_embeddings": false})")
          == 7818448896);
    // openbmb/MiniCPM-2B: 40 (4 2304^2 + 3 2304 5760 + 2 2304) + 122753 2304 + 2304.
    CHECK(counted(R"({"model_type": "minicpm", "hidden_size": 2304, "num_hidden_layers": 40,
        "num_attention_heads": 36, "num_key_value_heads": 36, "intermediate_size": 5760,
        "vocab_size": 122753})")
          == 2724880896);
    // internlm/internlm3-8b-instruct:
    // 48 (2 4096^2 + 2 4096 256 + 3 4096 10240 + 2 4096) + 2 128512 4096 + 4096; the hub says 8.8 B.
    CHECK(counted(R"({"model_type": "internlm3", "hidden_size": 4096, "num_hidden_layers": 48,
        "num_attention_heads": 32, "num_key_value_heads": 2, "head_dim": 128, "intermediate_size": 10240,
        "vocab_size": 128512, "qkv_bias": false, "bias": false})")
          == 8804241408);
    // mistralai/Ministral-8B-Instruct-2410, whose card says 8,019,808,256:
    // 36 (2 4096^2 + 2 4096 1024 + 3 4096 12288 + 2 4096) + 2 131072 4096 + 4096.
    CHECK(counted(R"({"model_type": "ministral", "hidden_size": 4096, "num_hidden_layers": 36,
        "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 12288,
        "vocab_size": 131072, "sliding_window": 32768, "tie_word_embeddings": false})")
          == 8019808256);
    // allenai/FlexOlmo-7x7B-1T, "33B" (the defaults of FlexOlmoConfig):
    // 32 (4 4096^2 + 2 4096 + 7 (3 4096 11008 + 4096) + 2 4096) + 2 100352 4096 + 4096.
    CHECK(counted(R"({"model_type": "flex_olmo", "hidden_size": 4096, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 32, "intermediate_size": 11008, "num_experts": 7,
        "num_experts_per_tok": 5, "vocab_size": 100352})")
          == 33270665216);
    // tencent/Hy3-preview, "295B" with 21B used (the defaults of HYV3Config): an attention of
    // 4096 (2 8192 + 2 1024) + 2 128 and two norms in 80 layers, a dense MLP in the first, then 192 experts
    // and one that all tokens use.
    const char* hy3 = R"({"model_type": "hy_v3", "hidden_size": 4096, "num_hidden_layers": 80,
        "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 13312,
        "moe_intermediate_size": 1536, "num_experts": 192, "num_experts_per_tok": 8, "num_shared_experts": 1,
        "vocab_size": 120832})";
    const std::int64_t expert = std::int64_t{3} * 4096 * 1536;
    CHECK(counted(hy3)
          == 80 * (std::int64_t{4096} * (2 * 8192 + 2 * 1024) + 2 * 128 + 2 * 4096)
                 + std::int64_t{3} * 4096 * 13312 + 79 * (193 * expert + 192 * 4096 + 192)
                 + std::int64_t{2} * 120832 * 4096 + 4096);
    CHECK(counted(hy3) / 1000000000 == 295);
    // tencent/Youtu-LLM-2B (the defaults of YoutuConfig, ranks and widths of DeepseekV3Config):
    // 32 (2048 1536 + 1536 + 1536 16 192 + 2048 576 + 512 + 512 16 256 + 16 128 2048 + 3 2048 6144 + 2 2048)
    // + 128256 2048 + 2048.
    CHECK(counted(R"({"model_type": "youtu", "hidden_size": 2048, "num_hidden_layers": 32,
        "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 6144,
        "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
        "v_head_dim": 128, "vocab_size": 128256})")
          == 32
                     * (2048 * 1536 + 1536 + 1536 * 16 * 192 + 2048 * 576 + 512 + 512 * 16 * 256
                        + 16 * 128 * 2048 + 3 * 2048 * 6144 + 2 * 2048)
                 + 128256 * 2048 + 2048);
}

// Sizes of tests/core/hf_small.h: 4 layers of 1024 with 8 heads of 128, 2 of keys, an MLP of 2048 and 1000
// tokens.
TEST_CASE("further families count in closed form") {
    constexpr std::int64_t kOwnAttention = 2 * 1024 * 1024 + 2 * 1024 * 256, kOwnGated = 3 * 1024 * 2048,
                           kOwnPlain = 2 * 1024 * 2048, kOwnTable = 1000 * 1024,
                           kOwnExperts = 16 * (3 * 1024 * 256 + 1024);
    // NanoChatRMSNorm has no weights; `qkv_bias` is of the output too.
    CHECK(counted_small("nanochat", {}, R"({"hidden_act": "relu2"})")
          == 4 * (kOwnAttention + kOwnPlain) + 2 * kOwnTable);
    CHECK(counted_small("nanochat", {}, R"({"hidden_act": "relu2", "qkv_bias": true})")
          == 4 * (kOwnAttention + 2 * 1024 + 2 * 256 + kOwnPlain) + 2 * kOwnTable);
    // Jais 2 has biases by default, layer norms and an MLP without gate.
    CHECK(counted_small("jais2", {}, R"({})")
          == 4 * (kOwnAttention + 2 * 1024 + 2 * 256 + kOwnPlain + 2048 + 1024 + 4 * 1024) + 2 * kOwnTable
                 + 2 * 1024);
    CHECK(counted_small("hyperclovax", {}, R"({"use_post_norm": true})")
          == 4 * (kOwnAttention + kOwnGated + 4 * 1024) + 2 * kOwnTable + 1024);
    CHECK(counted_small("hyperclovax", {}, R"({})")
          == 4 * (kOwnAttention + kOwnGated + 2 * 1024) + 2 * kOwnTable + 1024);
    CHECK(counted_small("internlm3", {}, R"({"qkv_bias": true})")
          == 4 * (kOwnAttention + 1024 + 2 * 256 + kOwnGated + 2 * 1024) + 2 * kOwnTable + 1024);
    // A sink for each of 8 heads in every layer.
    CHECK(counted_small("granite_swa", {}, R"({})")
          == 4 * (kOwnAttention + 8 + kOwnGated + 2 * 1024) + kOwnTable + 1024);
    CHECK(counted_small("granitemoe_swa", {},
                        R"({"num_local_experts": 16, "num_experts_per_tok": 2, "intermediate_size": 256})")
          == 4 * (kOwnAttention + 8 + kOwnExperts + 2 * 1024) + 2 * kOwnTable + 1024);
    // A gate as wide as the queries, four norms a layer.
    CHECK(counted_small("muse_glimmer_text", {}, R"({})")
          == 4 * (kOwnAttention + 1024 * 1024 + kOwnGated + 4 * 1024) + 2 * kOwnTable + 1024);
    // Gemma 4's 12B has no embeddings for each layer and no field that says so.
    const char* windowed = R"({"head_dim": 128, "layer_types": ["sliding_attention", "sliding_attention",
        "sliding_attention", "full_attention"]})";
    CHECK(counted_small("gemma4_unified_text", {}, windowed)
          == counted_small("gemma4_text", {R"({"hidden_size_per_layer_input": 0})"}, windowed));
    // Solar Open has experts in all layers, and no dense MLP's width in newer files.
    nlohmann::json solar = config_of("solar_open", {kRouted}, R"({"n_shared_experts": 1})");
    solar.erase("intermediate_size");
    CHECK(count_parameters(model_from_hf(solar, "config.json")).total
          == 4 * (kOwnAttention + kOwnExperts + 16 + 3 * 1024 * 256 + 2 * 1024) + 2 * kOwnTable + 1024);
    // Hy3 lists its dense layers; one expert is shared unless the file says otherwise.
    CHECK(counted_small("hy_v3", {kMoe}, R"({"mlp_layer_types": ["dense", "sparse", "dense", "sparse"]})")
          == 4 * (kOwnAttention + 2 * 128 + 2 * 1024) + 2 * kOwnGated
                 + 2 * (kOwnExperts + 16 + 3 * 1024 * 256) + 2 * kOwnTable + 1024);
    // Eight heads: keys of 96, values of 192, a convolution of 4: queries, keys, values and gate, two numbers
    // a head, convolutions, decay and its bias, norm, output (OlmoHybridGatedDeltaNet).
    constexpr std::int64_t kKey = 8 * 96, kValue = 8 * 192,
                           kDelta = 1024 * (2 * kKey + 2 * kValue) + 2 * 1024 * 8 + (2 * kKey + kValue) * 4
                                    + 2 * 8 + 192 + kValue * 1024;
    CHECK(counted_small("olmo_hybrid", {}, R"({})")
          == 3 * kDelta + kOwnAttention + 1024 + 256 + 4 * (kOwnGated + 2 * 1024) + 2 * kOwnTable + 1024);
    // In transformers Hunyuan's MoE has norms of queries and keys and a shared MLP for any file.
    CHECK(counted_small("hunyuan_v1_moe", {}, R"({"num_experts": 16, "moe_topk": 2})")
          == 4 * (kOwnAttention + 2 * 128 + 17 * kOwnGated + 16 * 1024 + 2 * 1024) + 2 * kOwnTable + 1024);
    CHECK(counted_small("gpt_bigcode", {},
                        R"({"n_embd": 1024, "n_layer": 4, "n_head": 8, "n_positions": 512,
                            "multi_query": false})")
          == 4 * (4 * 1024 * 1024 + 4 * 1024 + 8 * 1024 * 1024 + 5 * 1024 + 4 * 1024) + kOwnTable + 512 * 1024
                 + 2 * 1024);
}

// transformers 5 writes lists of layers and values of single layers in place of older fields: a file that it
// saves says the same model.
TEST_CASE("files that transformers 5 writes count as those before") {
    constexpr std::int64_t kOwnAttention = 2 * 1024 * 1024 + 2 * 1024 * 256, kOwnGated = 3 * 1024 * 2048,
                           kOwnTables = 2 * 1000 * 1024 + 1024, kOwnExperts = 16 * (3 * 1024 * 256 + 1024);
    // MiMo-V2-Flash: twice the heads of keys and a sink for each head where there is a window.
    const std::int64_t mimo = 2 * 1024 * (8 * 192 + 2 * (192 + 128) + 8 * 128)
                              + 2 * (1024 * (8 * 192 + 4 * (192 + 128) + 8 * 128) + 8) + 4 * 2 * 1024
                              + kOwnGated + 3 * (kOwnExperts + 16) + kOwnTables;
    CHECK(counted_small("mimo_v2_flash", {kRouted}, R"({"head_dim": 192, "v_head_dim": 128,
        "layer_types": ["full_attention", "sliding_attention", "sliding_attention", "full_attention"],
        "mlp_layer_types": ["dense", "sparse", "sparse", "sparse"], "sliding_window": 128})")
          == mimo);
    const std::int64_t step =
        2 * (kOwnAttention + 1024 * 8) + 2 * (2 * 1024 * 12 * 128 + 2 * 1024 * 256 + 1024 * 12)
        + 4 * (2 * 128 + 2 * 1024) + 2 * kOwnGated + 2 * (kOwnExperts + 16 + 3 * 1024 * 512) + kOwnTables;
    nlohmann::json newer = config_of("step3p5", {kRouted}, R"({"share_expert_dim": 512,
        "layer_types": ["full_attention", "sliding_attention", "full_attention", "sliding_attention"],
        "mlp_layer_types": ["dense", "sparse", "dense", "sparse"],
        "per_layer_config": {"1": {"num_attention_heads": 12}, "3": {"num_attention_heads": 12}}})");
    CHECK(count_parameters(model_from_hf(newer, "c")).total == step);
    newer.erase("per_layer_config");
    newer["num_sliding_attention_heads"] = 12;
    CHECK(count_parameters(model_from_hf(newer, "c")).total == step);
    CHECK(counted_small(
              "mellum", {kMoe},
              R"({"attention_bias": true, "mlp_layer_types": ["dense", "sparse", "sparse", "sparse"]})")
          == 4 * (kOwnAttention + 2 * 1024 + 2 * 256 + 2 * 128 + 2 * 1024) + kOwnGated + 3 * kOwnExperts
                 + kOwnTables);
    // The list counts before first_k_dense_replace (ExaoneMoeConfig).
    CHECK(counted_small("exaone_moe", {kMoe}, R"({"num_shared_experts": 1, "first_k_dense_replace": 1,
        "mlp_layer_types": ["dense", "dense", "sparse", "sparse"]})")
          == 4 * (kOwnAttention + 2 * 128 + 2 * 1024) + 2 * kOwnGated
                 + 2 * (kOwnExperts + 16 + 3 * 1024 * 256) + kOwnTables);
    // DeepSeek-V3.2 without its older number is not sparse in all layers.
    const char* listed = R"({"mlp_layer_types": ["dense", "sparse", "sparse", "sparse"]})";
    CHECK(counted_small("deepseek_v32", {kRouted, kLowRank}, listed)
          == counted_small("deepseek_v32", {kRouted, kLowRank}, R"({"first_k_dense_replace": 1})"));
    // Gemma 4: the layer over all keys has wider heads, and one of keys.
    CHECK(counted_small("gemma4_text", {}, R"({"hidden_size_per_layer_input": 0, "head_dim": 128,
        "layer_types": ["sliding_attention", "sliding_attention", "sliding_attention", "full_attention"],
        "per_layer_config": {"03": {"head_dim": 256, "num_key_value_heads": 1}}})")
          == 3 * (kOwnAttention + 2 * 128) + 2 * 1024 * 2048 + 2 * 1024 * 256 + 2 * 256
                 + 4 * (kOwnGated + 4 * 1024) + 1000 * 1024 + 1024);
    // Layers with a state are all linear_attention, those of Mamba too.
    const char* mamba = R"({"num_local_experts": 0, "shared_intermediate_size": 3072, "mamba_n_heads": 8,
        "mamba_d_head": 64, "mamba_d_state": 16})";
    nlohmann::json granite = config_of("granitemoehybrid", {}, mamba);
    const auto total = [](const nlohmann::json& config) {
        return count_parameters(model_from_hf(config, "config.json")).total;
    };
    granite["layer_types"] = {"mamba", "mamba", "attention", "mamba"};
    const std::int64_t before = total(granite);
    granite["layer_types"] = {"linear_attention", "linear_attention", "full_attention", "linear_attention"};
    CHECK(total(granite) == before);
    // Without a list all are Mamba's (GraniteMoeHybridConfig.layers_block_type).
    granite["layer_types"] = {"mamba", "mamba", "mamba", "mamba"};
    const std::int64_t all = total(granite);
    granite.erase("layer_types");
    CHECK(total(granite) == all);
    CHECK(all != before);
    nlohmann::json nemotron =
        config_of("nemotron_h", {kRouted}, R"({"hybrid_override_pattern": "M*E-", "mamba_num_heads": 8,
            "mamba_head_dim": 64, "ssm_state_size": 16})");
    const std::int64_t letters = total(nemotron);
    nemotron.erase("hybrid_override_pattern");
    nemotron["layers_block_type"] = {"linear_attention", "full_attention", "moe", "mlp"};
    CHECK(total(nemotron) == letters);
    // A layer that this list leaves out has the model's own heads.
    const char* gemma = R"({"hidden_size_per_layer_input": 0, "head_dim": 128, "layer_types":
        ["sliding_attention", "sliding_attention", "sliding_attention", "full_attention"]})";
    nlohmann::json older = config_of("gemma4_text", {}, gemma), empty = older;
    older["global_head_dim"] = 128;
    empty["global_head_dim"] = 512;
    CHECK(total(empty) > total(older));
    empty["per_layer_config"] = nlohmann::json::object();
    CHECK(total(empty) == total(older));
    // HunYuanMoEV1Config writes false, and its code has the shared MLP all the same.
    CHECK(counted_small("hunyuan_v1_moe", {},
                        R"({"num_experts": 16, "moe_topk": 2, "use_mixed_mlp_moe": false})")
          == counted_small("hunyuan_v1_moe", {}, R"({"num_experts": 16, "moe_topk": 2})"));
}

// configuration_qwen2.py, configuration_qwen3.py and configuration_qwen2_moe.py of transformers.
TEST_CASE("windows of Qwen begin, or end, at max_window_layers") {
    const char* on = R"({"use_sliding_window": true, "sliding_window": 64, "max_window_layers": 3})";
    for (const char* type : {"qwen2", "qwen3", "mimo"}) {
        CAPTURE(type);
        CHECK(windows(type, {on}, R"({"num_hidden_layers": 4})") == "GGGL");
        CHECK(windows(type, {on}, R"({"num_hidden_layers": 2})") == "GG");
        CHECK(windows(type, {on}, R"({"num_hidden_layers": 4, "use_sliding_window": false})") == "GGGG");
        CHECK(windows(type, {on}, R"({"num_hidden_layers": 2,
            "layer_types": ["sliding_attention", "full_attention"]})")
              == "LG");
    }
    const char* moe = R"({"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 64,
        "shared_expert_intermediate_size": 64})";
    CHECK(windows("qwen2_moe", {on, moe}, R"({"num_hidden_layers": 6})") == "LGLGGG");
}

// modeling_glm4v.py and configuration_glm4v_moe.py of transformers.
TEST_CASE("the text of GLM-4.1V has biases of queries, keys and values that its file does not say") {
    const Model m = model_from_hf(config_of("glm4v_text", {}, R"({"attention_bias": false})"), "c.json");
    CHECK(m.qkv_bias);
    CHECK_FALSE(m.attention_bias);
    CHECK(m.head_dim * m.heads == m.hidden);
    // zai-org/GLM-4.1V-9B-Thinking: 40 (4096 (4096 + 2 256) + 4096 + 2 256 + 4096^2 + 3 4096 13696 + 4 4096)
    // + 2 151552 4096 + 4096.
    CHECK(counted(R"({"model_type": "glm4v_text", "hidden_size": 4096, "num_hidden_layers": 40,
        "num_attention_heads": 32, "num_key_value_heads": 2, "intermediate_size": 13696,
        "vocab_size": 151552, "hidden_act": "silu", "tie_word_embeddings": false})")
          == 9400279040);
    const char* moe = R"({"n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 64,
        "n_shared_experts": 1, "first_k_dense_replace": 1})";
    CHECK(model_from_hf(config_of("glm4v_moe_text", {moe}, "{}"), "c.json").qkv_bias);
    CHECK_FALSE(model_from_hf(config_of("glm4_moe", {moe}, "{}"), "c.json").qkv_bias);
}

TEST_CASE("further families have their windows where their code has them") {
    CHECK(windows("granite_swa", {}, R"({})") == "GLLL");
    CHECK(windows("granite_swa", {}, R"({"layer_types": ["full_attention", "full_attention",
        "sliding_attention", "full_attention"]})")
          == "GGLG");
    CHECK(windows("muse_glimmer_text", {}, R"({"num_hidden_layers": 6})") == "LGLLLG");
    CHECK(windows("ministral", {}, R"({"sliding_window": 512})") == "LLLL");
    CHECK(windows("ministral", {}, R"({})") == "LLLL");
    CHECK(windows("ministral", {}, R"({"sliding_window": null})") == "GGGG");
    CHECK(windows("ministral", {}, R"({"sliding_window": 512, "layer_types": ["sliding_attention",
        "full_attention", "sliding_attention", "full_attention"]})")
          == "LGLG");
}

TEST_CASE("the language model of further families with images or sound is read") {
    const nlohmann::json inner = config_of("exaone4", {}, R"({"sliding_window": 512})");
    const std::int64_t want = count_parameters(model_from_hf(inner, "c")).total;
    nlohmann::json outer{{"model_type", "exaone4_5"}, {"text_config", inner}};
    CHECK(count_parameters(model_from_hf(outer, "c")).total == want);
    outer["text_config"]["model_type"] = "exaone4_5_text";  // as its first files say
    CHECK(count_parameters(model_from_hf(outer, "c")).total == want);
    // Without a type inside it is the class's default.
    const std::pair<const char*, const char*> wrappers[] = {
        {"paligemma", "gemma"}, {"qwen2_audio", "qwen2"}, {"glm46v", "glm4v_text"}, {"voxtral", "llama"}};
    for (const auto& wrapper : wrappers) {
        CAPTURE(wrapper.first);
        nlohmann::json part = config_of(wrapper.second, {}, "{}");
        const std::int64_t plain = count_parameters(model_from_hf(part, "c")).total;
        part.erase("model_type");
        const nlohmann::json whole{{"model_type", wrapper.first}, {"text_config", part}};
        CHECK(count_parameters(model_from_hf(whole, "c")).total == plain);
    }
}

TEST_CASE("layers that are all dense may be listed in a model without experts") {
    const char* dense = R"({"mlp_layer_types": ["dense", "dense", "dense", "dense"]})";
    CHECK(model_from_hf(config_of("llama", {}, dense), "c.json")
          == model_from_hf(config_of("llama", {}, "{}"), "c.json"));
}

TEST_CASE("families that no plan can state are refused by their name, and values by their place") {
    struct Row {
        const char* type;
        const char* own;
        const char* says;
    };
    const Row rows[] = {
        {"axk1", "{}", "/model_type: \"axk1\" is a family that a plan cannot state"},
        {"axk2", "{}", "it has no field for gated norms"},
        {"cohere2_moe", "{}", "it has no field for experts beside attention"},
        {"diffllama", "{}", "it has no field for differential attention"},
        {"falcon_mamba", "{}", "a model without attention"},
        {"gpt_neo", "{}", "it has no field for a bias of only attention's output"},
        {"gpt_neox_japanese", "{}", "it has no field for a bias in only the last layer"},
        {"hrm_text", "{}", "it has no field for stacks of layers that one step runs several times"},
        {"inkling_text", "{}", "it has no field for relative positions"},
        {"jetmoe", "{}", "it has no field for experts inside attention"},
        {"minimax_m3_vl", "{}", "it has no field for an indexer that picks blocks of keys"},
        {"mpt", "{}", "it has no field for ALiBi's positions"},
        {"qwen4_exp", "{}", "it has no field for streams mixed at low rank"},
        {"falcon", R"({"alibi": true})", "/alibi: true is not supported"},
        {"falcon", R"({"new_decoder_architecture": true, "num_kv_heads": 3})", "/num_kv_heads: 3 does not"},
        {"gptj", R"({"n_embd": 64, "n_layer": 2, "n_head": 4, "tie_word_embeddings": true})",
         "/tie_word_embeddings: true with a head that has a bias"},
        {"internlm3", R"({"bias": true})", "/bias: true without qkv_bias"},
        {"minicpm", R"({"num_experts": 8})", "/num_experts: minicpm: the experts"},
        {"hy_v3", R"({"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 64,
            "mlp_layer_types": ["dense", "sparse", "thin", "sparse"]})",
         "/mlp_layer_types: layer 2 is \"thin\", must be dense or sparse"},
        {"llama", R"({"mlp_layer_types": ["dense", "dense", "sparse", "dense"]})",
         "/mlp_layer_types: layer 2 is \"sparse\", and the model has no experts"},
        {"llama", R"({"mlp_layer_types": ["dense", "dense", "thin", "dense"]})",
         "/mlp_layer_types: layer 2 is \"thin\", must be dense or sparse"},
        {"llama", R"({"per_layer_config": {"9": {"head_dim": 64}}})",
         "/per_layer_config/9: must be an object, for a layer from 0 to 3"},
        {"llama", R"({"per_layer_config": {"1": {"vocab_size": 64}}})",
         "/per_layer_config/1/vocab_size: a layer's own value of it cannot be stated"},
        {"llama", R"({"per_layer_config": {"1": {"num_key_value_heads": 3}}})",
         "/per_layer_config/1: its heads of keys do not divide its heads"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.type);
        std::string said;
        try {
            (void)model_from_hf(config_of(row.type, {}, row.own), "c.json");
        } catch (const Error& e) {
            said = e.what();
        }
        CAPTURE(said);
        CHECK(said.find(row.says) != std::string::npos);
    }
}
