// Counts small models of each family in closed form, from the shapes in transformers' modeling_*.py: the
// readers are right where no checkpoint's total is at hand.
#include "core/io/hf_families.h"
#include "core/model/model.h"
#include "tests/core/hf_small.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::test;
using nlohmann::json;

namespace {

// Sizes of all these models.
constexpr std::int64_t kLayers = 4, kHidden = 1024, kDim = 128, kKeys = 2 * kDim, kFfn = 2048, kVocab = 1000,
                       kCount = 16, kExpertFfn = 256;
// Queries and the output, keys and values.
constexpr std::int64_t attention(std::int64_t q, std::int64_t kv) {
    return 2 * kHidden * q + 2 * kHidden * kv;
}
constexpr std::int64_t gated(std::int64_t ffn) {
    return 3 * kHidden * ffn;
}
constexpr std::int64_t plain(std::int64_t ffn) {
    return 2 * kHidden * ffn;
}
// Experts and their router.
constexpr std::int64_t experts(std::int64_t ffn) {
    return kCount * (gated(ffn) + kHidden);
}
constexpr std::int64_t kAttention = attention(kHidden, kKeys), kExperts = experts(kExpertFfn);
constexpr std::int64_t kNorms = 2 * kHidden;  // of a layer
// The embedding's table and the last norm, without and with a head of its own.
constexpr std::int64_t kTable = kVocab * kHidden + kHidden, kTables = kTable + kVocab * kHidden;
// DeepSeek-V2, section 2.1: 8 heads of 64 and 32 rotary, ranks of 256 with a norm each.
constexpr std::int64_t kLatentKeys = kHidden * (256 + 32) + 256 + 256 * 8 * (64 + 64) + 8 * 64 * kHidden,
                       kLatent = kHidden * 256 + 256 + 256 * 8 * (64 + 32) + kLatentKeys,
                       kLatentFromHidden = kHidden * 8 * (64 + 32) + kLatentKeys;
// Four key heads, eight value heads of 128, a convolution of 4: queries, keys, values and gate, two numbers a
// head, convolutions, decay and its bias, norm, output.
constexpr std::int64_t kGatedDelta =
    kHidden * (2 * 512 + 2 * 1024) + 2 * kHidden * 8 + (2 * 512 + 1024) * 4 + 2 * 8 + 128 + 1024 * kHidden;
// Eight heads of 128: queries, keys and values with convolutions, beta, decay and gate of low rank, norm,
// output.
constexpr std::int64_t kKimiDelta = 3 * (kHidden * 1024 + 1024 * 4) + kHidden * 8 + 8
                                    + 2 * (kHidden * 128 + 128 * 1024) + 1024 + 128 + 1024 * kHidden;
// Eight heads of 64, a state of 16: projections in, convolution with bias, three numbers a head, norm,
// output.
constexpr std::int64_t kMamba2 =
    kHidden * (2 * 512 + 2 * 16 + 8) + (512 + 2 * 16) * 5 + 3 * 8 + 512 + 512 * kHidden;
// Twice the hidden width, a state of 16, steps of rank 64, with Jamba's norms of steps and states.
constexpr std::int64_t kInner = 2 * kHidden,
                       kMamba1 = kHidden * 2 * kInner + kInner * 5 + kInner * (64 + 2 * 16) + 64 * kInner
                                 + kInner + kInner * 16 + kInner + kInner * kHidden + 64 + 2 * 16;

struct Row {
    const char* type;
    std::vector<const char*> parts;
    const char* own;
    std::int64_t want;
};

}  // namespace

TEST_CASE("each family's reader counts what its layers have in closed form") {
    const Row rows[] = {
        {"arcee", {}, R"({})", kLayers * (kAttention + plain(kFfn) + kNorms) + kTables},
        {"cohere",
         {},
         R"({"use_qk_norm": true})",
         kLayers * (kAttention + gated(kFfn) + kHidden + kHidden + kKeys) + kTable},
        {"cohere2",
         {},
         R"({"sliding_window": 512, "sliding_window_pattern": 2})",
         kLayers * (kAttention + gated(kFfn) + kHidden) + kTable},
        {"cwm",
         {},
         R"({"layer_types": ["full_attention", "sliding_attention", "sliding_attention", "sliding_attention"]})",
         kLayers * (kAttention + gated(kFfn) + kNorms) + kTables},
        {"exaone4",
         {},
         R"({"sliding_window": 512, "sliding_window_pattern": "LLLG"})",
         kLayers * (kAttention + 2 * kDim + gated(kFfn) + kNorms) + kTables},
        {"exaone4",
         {},
         R"({"sliding_window": 512, "sliding_window_pattern": 4})",
         kLayers * (kAttention + 2 * kDim + gated(kFfn) + kNorms) + kTables},
        {"glm", {}, R"({})", kLayers * (kAttention + kHidden + 2 * kKeys + gated(kFfn) + kNorms) + kTables},
        {"glm4", {}, R"({})", kLayers * (kAttention + gated(kFfn) + 2 * kNorms) + kTables},
        {"granite",
         {},
         R"({"attention_bias": true, "mlp_bias": true})",
         kLayers * (kAttention + 2 * kHidden + 2 * kKeys + gated(kFfn) + 2 * kFfn + kHidden + kNorms)
             + kTables},
        {"helium", {}, R"({})", kLayers * (kAttention + gated(kFfn) + kNorms) + kTables},
        {"hunyuan_v1_dense",
         {},
         R"({"attention_head_dim": 64})",
         kLayers * (attention(8 * 64, 2 * 64) + 2 * 64 + gated(kFfn) + kNorms) + kTables},
        {"ministral3",
         {},
         R"({"sliding_window": 512, "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"]})",
         kLayers * (kAttention + gated(kFfn) + kNorms) + kTables},
        {"minitron", {}, R"({})", kLayers * (kAttention + plain(kFfn) + 2 * kNorms) + kTables + kHidden},
        {"starcoder2",
         {},
         R"({})",
         kLayers * (kAttention + 2 * kHidden + 2 * kKeys + plain(kFfn) + kFfn + kHidden + 2 * kNorms) + kTable
             + kHidden},
        {"vaultgemma",
         {},
         R"({"head_dim": 256})",
         kLayers * (attention(8 * 256, 2 * 256) + gated(kFfn) + kNorms) + kTable},
        {"youtu_llm", {kLowRank}, R"({})", kLayers * (kLatent + gated(kFfn) + kNorms) + kTable},
        {"phimoe",
         {},
         R"({"num_local_experts": 16, "num_experts_per_tok": 2, "attention_bias": true, "lm_head_bias": true})",
         kLayers * (kAttention + 2 * kHidden + 2 * kKeys + experts(kFfn) + 2 * kNorms) + kTables + kVocab
             + kHidden},
        {"qwen2_moe",
         {kMoe},
         R"({"shared_expert_intermediate_size": 512, "mlp_only_layers": [0, 2]})",
         kLayers * (kAttention + kHidden + 2 * kKeys + kNorms) + 2 * gated(kFfn)
             + 2 * (kExperts + gated(512) + kHidden) + kTables},
        {"deepseek_v2",
         {kRouted, kLowRank},
         R"({"moe_layer_freq": 3})",
         kLayers * (kLatent + kNorms) + 2 * kExperts + 2 * gated(kFfn) + kTables},
        {"glm4_moe_lite",
         {kRouted, kLowRank},
         R"({"n_shared_experts": 1, "mlp_layer_types": ["dense", "sparse", "sparse", "dense"]})",
         kLayers * (kLatent + kNorms) + 2 * gated(kFfn) + 2 * (kExperts + kCount + gated(kExpertFfn))
             + kTables},
        {"ernie4_5_moe",
         {},
         R"({"moe_num_experts": 16, "moe_k": 2, "moe_intermediate_size": 256, "moe_num_shared_experts": 2, "moe_layer_interval": 2})",
         kLayers * (kAttention + kNorms) + 2 * (kExperts + kCount + gated(2 * kExpertFfn)) + 2 * gated(kFfn)
             + kTable},
        {"hunyuan",
         {},
         R"({"num_experts": 16, "moe_topk": 1, "moe_intermediate_size": 256, "num_shared_expert": 1, "use_mixed_mlp_moe": true, "use_cla": true})",
         kLayers * (2 * kHidden * kHidden + kExperts + gated(kFfn) + kNorms) + 2 * 2 * kHidden * kKeys
             + kTables},
        {"llama4_text",
         {},
         R"({"intermediate_size": 256, "intermediate_size_mlp": 2048, "num_local_experts": 16, "num_experts_per_tok": 1, "moe_layers": [1, 3], "no_rope_layers": [1, 1, 1, 0]})",
         kLayers * (kAttention + kNorms) + 2 * (kExperts + gated(kExpertFfn)) + 2 * gated(kFfn) + kTables},
        {"granitemoeshared",
         {},
         R"({"num_local_experts": 16, "num_experts_per_tok": 2, "intermediate_size": 256, "shared_intermediate_size": 512})",
         kLayers * (kAttention + kExperts + gated(512) + kNorms) + kTables},
        {"exaone_moe",
         {kMoe},
         R"({"num_shared_experts": 1, "first_k_dense_replace": 1, "sliding_window": 128, "layer_types": ["sliding_attention", "sliding_attention", "sliding_attention", "full_attention"]})",
         kLayers * (kAttention + 2 * kDim + kNorms) + gated(kFfn)
             + 3 * (kExperts + kCount + gated(kExpertFfn)) + kTables},
        {"exaone_moe",
         {kMoe},
         R"({"num_shared_experts": 1, "is_moe_layer": [0, 1, false, true]})",
         kLayers * (kAttention + 2 * kDim + kNorms) + 2 * gated(kFfn)
             + 2 * (kExperts + kCount + gated(kExpertFfn)) + kTables},
        {"afmoe",
         {kMoe},
         R"({"num_shared_experts": 1, "num_dense_layers": 2, "sliding_window": 512})",
         kLayers * (kAttention + kHidden * kHidden + 2 * kDim + 2 * kNorms) + 2 * gated(kFfn)
             + 2 * (kExperts + kCount + gated(kExpertFfn)) + kTables},
        {"mimo_v2_flash",
         {kRouted},
         R"({"head_dim": 192, "v_head_dim": 128, "hybrid_layer_pattern": [0, 1, 1, 0], "moe_layer_freq": [0, 1, 1, 1], "swa_num_key_value_heads": 4, "swa_head_dim": 192, "swa_v_head_dim": 128})",
         2 * kHidden * (8 * 192 + 2 * (192 + 128) + 8 * 128)
             + 2 * (kHidden * (8 * 192 + 4 * (192 + 128) + 8 * 128) + 8) + kLayers * kNorms + gated(kFfn)
             + 3 * (kExperts + kCount) + kTables},
        {"step3p5",
         {},
         R"({"num_attention_groups": 2, "moe_num_experts": 16, "moe_top_k": 2, "moe_intermediate_size": 256, "share_expert_dim": 512, "moe_layers_enum": "1,3", "attention_other_setting": {"num_attention_heads": 12, "num_attention_groups": 4}})",
         2 * (kAttention + kHidden * 8) + 2 * (attention(12 * kDim, 4 * kDim) + kHidden * 12)
             + kLayers * (2 * kDim + kNorms) + 2 * gated(kFfn) + 2 * (kExperts + kCount + gated(512))
             + kTables},
        {"mellum",
         {kMoe},
         R"({"sliding_window": 512, "layer_types": ["sliding_attention", "sliding_attention", "sliding_attention", "full_attention"]})",
         kLayers * (kAttention + 2 * kDim + kExperts + kNorms) + kTables},
        {"qwen3_5_text",
         {},
         R"({"linear_num_key_heads": 4, "linear_num_value_heads": 8, "linear_key_head_dim": 128, "linear_value_head_dim": 128, "head_dim": 256})",
         3 * kGatedDelta + kHidden * 2 * 2048 + 2 * kHidden * 512 + 2048 * kHidden + 2 * 256
             + kLayers * (gated(kFfn) + kNorms) + kTables},
        {"kimi_linear",
         {kLowRank},
         R"({"q_lora_rank": null, "linear_attn_config": {"num_heads": 8, "head_dim": 128, "kda_layers": [1, 2, 3]}})",
         3 * kKimiDelta + kLatentFromHidden + kLayers * (gated(kFfn) + kNorms) + kTables},
        {"minimax_text_01",
         {},
         R"({"num_local_experts": 16, "num_experts_per_tok": 2})",
         2 * (5 * kHidden * kHidden + kHidden) + 2 * kAttention + kLayers * (experts(kFfn) + kNorms)
             + kTables},
        {"ring_linear",
         {kMoe},
         R"({"num_shared_experts": 1, "first_k_dense_replace": 1, "layer_group_size": 2, "use_qk_norm": true, "moe_router_enable_expert_bias": true})",
         2 * (3 * kHidden * kHidden + 2 * kHidden * kKeys + kHidden + 2 * kDim) + 2 * (kAttention + 2 * kDim)
             + kLayers * kNorms + gated(kFfn) + 3 * (kExperts + kCount + gated(kExpertFfn)) + kTables},
        {"granitemoehybrid",
         {},
         R"({"num_local_experts": 0, "shared_intermediate_size": 3072, "layers_block_type": ["mamba", "mamba", "attention", "mamba"], "mamba_n_heads": 8, "mamba_d_head": 64, "mamba_d_state": 16})",
         3 * kMamba2 + kAttention + kLayers * (gated(3072) + kNorms) + kTables},
        {"bamba",
         {},
         R"({"mamba_n_heads": 8, "mamba_d_head": 64, "mamba_d_state": 16, "attn_layer_indices": [1]})",
         3 * kMamba2 + kAttention + kLayers * (gated(kFfn) + kNorms) + kTables},
        {"nemotron_h",
         {kRouted},
         R"({"layers_block_type": ["mamba", "attention", "moe", "mlp"], "mamba_num_heads": 8, "mamba_head_dim": 64, "ssm_state_size": 16, "n_shared_experts": 1, "moe_shared_expert_intermediate_size": 512})",
         kMamba2 + kAttention + kCount * plain(kExpertFfn) + kCount * kHidden + kCount + plain(512)
             + plain(kFfn) + kLayers * kHidden + kTables},
        {"jamba",
         {},
         R"({"layers_block_type": ["mamba", "mamba", "attention", "mamba"], "num_experts": 16, "num_experts_per_tok": 2})",
         3 * kMamba1 + kAttention + kLayers * kNorms + 2 * experts(kFfn) + 2 * gated(kFfn) + kTables},
        {"laguna",
         {kMoe},
         R"({"shared_expert_intermediate_size": 512, "num_attention_heads_per_layer": [8, 12, 12, 12]})",
         kAttention + kHidden * 8 + 3 * (attention(12 * kDim, kKeys) + kHidden * 12)
             + kLayers * (2 * kDim + kNorms) + gated(kFfn) + 3 * (kExperts + kCount + gated(512)) + kTables},
        {"nemotron-nas",
         {},
         R"({"block_configs": [{"attention": {"n_heads_in_group": 4}, "ffn": {"ffn_mult": 3.0}}, {"attention": {"no_op": true}, "ffn": {"ffn_mult": 1.5}}, {"attention": {"n_heads_in_group": 8}, "ffn": {"no_op": true}}, {"attention": {"n_heads_in_group": 4}, "ffn": {"ffn_mult": 1.3}}]})",
         2 * kAttention + attention(kHidden, kDim) + gated(2048) + 2 * gated(1024) + 6 * kHidden + kTables},
    };
    for (const Row& row : rows) {
        CAPTURE(row.type);
        CAPTURE(row.own);
        CHECK(count_parameters(model_from_hf(config_of(row.type, row.parts, row.own), "config.json")).total
              == row.want);
    }
}

TEST_CASE("a model inside a model's config is read where it stands, with the switch around it") {
    json inner = config_of("qwen3_moe", {kMoe}, "{}");
    const std::int64_t total = kLayers * (kAttention + 2 * kDim + kExperts + kNorms);
    CHECK(count_parameters(model_from_hf(inner, "c")).total == total + kTables);
    json omni{{"model_type", "qwen3_omni_moe"}, {"thinker_config", {{"text_config", inner}}}};
    CHECK(count_parameters(model_from_hf(omni, "c")).total == total + kTables);
    omni["tie_word_embeddings"] = true;
    CHECK(count_parameters(model_from_hf(omni, "c")).total == total + kTable);
    inner["model_type"] = "qwen3_omni_moe_text";
    CHECK(count_parameters(model_from_hf(inner, "c")).total == total + kTables);
}

TEST_CASE("families of other labs count as their checkpoints do") {
    const auto model = [](const char* text) { return model_from_hf(std::string_view(text), "config.json"); };
    const auto total = [&](const char* text) { return count_parameters(model(text)).total; };
    // stabilityai/stablelm-3b-4e1t, its model card: "Parameters 2,795,443,200".
    CHECK(total(R"({"model_type": "stablelm", "hidden_size": 2560, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 32, "intermediate_size": 6912, "vocab_size": 50304,
        "use_qkv_bias": false})")
          == 2795443200);
    // internlm/internlm2-7b, no biases:
    // 32 (2 4096^2 + 2 4096 1024 + 3 4096 14336 + 2 4096) + 2 92544 4096 + 4096; the hub says 7.74 B.
    CHECK(total(R"({"model_type": "internlm2", "hidden_size": 4096, "num_hidden_layers": 32, "bias": false,
        "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 92544})")
          == 7737708544);
    // databricks/dbrx-base, whose card says 132 B in total and 36 B for a token:
    // 40 (2 6144^2 + 2 6144 1024 + 16 (3 6144 10752 + 6144) + 2 6144) + 2 100352 6144 + 6144.
    const Model dbrx = model(R"({"model_type": "dbrx", "d_model": 6144, "n_heads": 48, "n_layers": 40,
        "vocab_size": 100352, "attn_config": {"clip_qkv": 8, "kv_n_heads": 8},
        "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4}})");
    CHECK(count_parameters(dbrx).total == 131596523520);
    CHECK(count_parameters(dbrx).active / 1000000000 == 36);
    // openbmb/MiniCPM3-4B, 4.07 B on the hub, values as wide as 2560 / 40:
    // 62 (2560 768 + 768 + 768 40 96 + 2560 288 + 256 + 256 40 128 + 40 64 2560 + 3 2560 6400 + 2 2560)
    // + 73448 2560 + 2560.
    CHECK(total(R"({"model_type": "minicpm3", "hidden_size": 2560, "num_hidden_layers": 62,
        "num_attention_heads": 40, "num_key_value_heads": 40, "intermediate_size": 6400, "vocab_size": 73448,
        "q_lora_rank": 768, "kv_lora_rank": 256, "qk_nope_head_dim": 64, "qk_rope_head_dim": 32})")
          == 4073875968);
    // mistralai/Mistral-Small-4-119B-2603, the defaults of configuration_mistral4.py; the name says 119 B.
    // 36 (4096 1024 + 1024 + 1024 32 128 + 4096 320 + 256 + 256 32 192 + 32 128 4096
    // + 129 3 4096 2048 + 128 4096 + 2 4096) + 2 131072 4096 + 4096.
    CHECK(total(R"({"model_type": "mistral3", "text_config": {"model_type": "mistral4", "hidden_size": 4096,
        "num_hidden_layers": 36, "num_attention_heads": 32, "num_key_value_heads": 32,
        "intermediate_size": 12288, "moe_intermediate_size": 2048, "n_routed_experts": 128,
        "n_shared_experts": 1, "num_experts_per_tok": 4, "first_k_dense_replace": 0, "q_lora_rank": 1024,
        "kv_lora_rank": 256, "qk_nope_head_dim": 64, "qk_rope_head_dim": 64, "v_head_dim": 128,
        "vocab_size": 131072}})")
          == 36
                     * (4096 * 1024 + 1024 + 1024 * 32 * 128 + 4096 * 320 + 256 + 256 * 32 * 192
                        + 32 * 128 * 4096 + std::int64_t{129} * 3 * 4096 * 2048 + 128 * 4096 + 2 * 4096)
                 + std::int64_t{2} * 131072 * 4096 + 4096);
}

TEST_CASE("checkpoints of further families count as they do") {
    const auto total = [](const char* text) {
        return count_parameters(model_from_hf(std::string_view(text), "config.json")).total;
    };
    // Each total has where it was read, and how it follows from the sizes.
    // Aya Expanse 8B, from a table of checkpoints' sizes:
    // 32 (2 4096^2 + 2 4096 1024 + 3 4096 14336 + 4096) + 256000 4096 + 4096.
    CHECK(
        total(
            R"({"model_type": "cohere", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 256000})")
        == 8028033024);
    // GLM-4-9B-Chat, as foldl/chatllm.cpp prints when it loads it:
    // 40 (2 4096^2 + 2 4096 256 + (4096 + 2 256) + 3 4096 13696 + 2 4096) + 2 151552 4096 + 4096.
    CHECK(
        total(
            R"({"model_type": "glm", "hidden_size": 4096, "num_hidden_layers": 40, "num_attention_heads": 32,
        "num_key_value_heads": 2, "head_dim": 128, "intermediate_size": 13696, "vocab_size": 151552,
        "attention_bias": true})")
        == 9399951360);
    // GLM-4-9B-0414, whose sizes GLM-4.6V-Flash's language model has: n_params of llama.cpp. It is GLM-4-9B's
    // with two more norms a layer: 40 2 4096.
    CHECK(
        total(
            R"({"model_type": "glm4", "hidden_size": 4096, "num_hidden_layers": 40, "num_attention_heads": 32,
        "num_key_value_heads": 2, "head_dim": 128, "intermediate_size": 13696, "vocab_size": 151552,
        "attention_bias": true})")
        == 9400279040);
    // ERNIE-4.5-0.3B-PT, from the loaded checkpoint:
    // 18 (2 1024 2048 + 2 1024 256 + 3 1024 3072 + 2 1024) + 103424 1024 + 1024.
    CHECK(
        total(
            R"({"model_type": "ernie4_5", "hidden_size": 1024, "num_hidden_layers": 18, "num_attention_heads": 16,
        "num_key_value_heads": 2, "head_dim": 128, "intermediate_size": 3072, "vocab_size": 103424})")
        == 360748032);
    // Granite 3.0 1B A400M (revision 0da7a48 of the Hub), from the loaded checkpoint:
    // 24 (2 1024^2 + 2 1024 512 + 32 (3 1024 512 + 1024) + 2 1024) + 49155 1024 + 1024.
    CHECK(
        total(
            R"({"model_type": "granitemoe", "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16,
        "num_key_value_heads": 8, "intermediate_size": 512, "num_local_experts": 32, "num_experts_per_tok": 8,
        "vocab_size": 49155, "tie_word_embeddings": true})")
        == 1334628352);
    // Granite Guardian 3.2 3B A800M (revision 3de033d of the Hub), from its checkpoint:
    // 32 (2 1536^2 + 2 1536 512 + 40 (3 1536 512 + 1536) + 2 1536) + 49155 1536 + 1536.
    CHECK(
        total(
            R"({"model_type": "granitemoe", "hidden_size": 1536, "num_hidden_layers": 32, "num_attention_heads": 24,
        "num_key_value_heads": 8, "intermediate_size": 512, "num_local_experts": 40, "num_experts_per_tok": 8,
        "vocab_size": 49155, "tie_word_embeddings": true})")
        == 3298793472);
    // LFM2-8B-A1B, from the Hub's interface: BF16 8339929856, F32 704, the experts' biases of 22 layers.
    // 6 (2 2048^2 + 2 2048 512 + 2 64) + 18 (4 2048^2 + 3 2048) + 24 2 2048 + 2 3 2048 7168
    // + 22 (32 (3 2048 1792 + 2048) + 32) + 65536 2048 + 2048.
    CHECK(
        total(
            R"({"model_type": "lfm2_moe", "hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 32,
        "num_key_value_heads": 8, "intermediate_size": 7168, "moe_intermediate_size": 1792, "num_experts": 32,
        "num_experts_per_tok": 4, "num_dense_layers": 2, "vocab_size": 65536, "conv_L_cache": 3, "layer_types":
        ["conv", "conv", "full_attention", "conv", "conv", "conv", "full_attention", "conv", "conv", "conv",
        "full_attention", "conv", "conv", "conv", "full_attention", "conv", "conv", "conv", "full_attention", "conv",
        "conv", "full_attention", "conv", "conv"]})")
        == 8339929856 + 704);
}

TEST_CASE("windows stand where a family's pattern has them, by a number or by letters") {
    const auto kinds = [](const char* type, const char* own) {
        const Model m = model_from_hf(config_of(type, {}, own), "c");
        const LayerTypes types = layer_types(m);
        std::string out;
        for (std::int64_t i = 0; i < m.layers; ++i)
            out += types[type_of_layer(m, types, i)].mixer == MixerKind::window ? 'L' : 'G';
        return out;
    };
    CHECK(kinds("cohere2", R"({"sliding_window": 512})") == "LLLG");
    CHECK(kinds("cohere2", R"({"sliding_window": 512, "sliding_window_pattern": 2})") == "LGLG");
    CHECK(kinds("exaone4", R"({"sliding_window": 512, "sliding_window_pattern": "LLG"})") == "LLGG");
    CHECK(kinds("exaone4", R"({"sliding_window": 512, "sliding_window_pattern": 3})") == "LLGL");
    CHECK(kinds("exaone4", R"({"sliding_window": 512})") == "GGGG");
    CHECK(kinds("vaultgemma", R"({})") == "LGLG");
}
