// Tests what the readers of Hugging Face configs refuse, and that they say where it stands.
#include "core/base/files.h"
#include "core/io/hf_families.h"
#include "tests/core/hf_small.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::test;

TEST_CASE("a value that a plan cannot state, or that fits no model, is refused with its place") {
    struct Refused {
        const char* type;
        std::vector<const char*> parts;
        const char* own;
        const char* says;
    };
    const Refused rows[] = {
        {"exaone4",
         {},
         R"({"sliding_window": 128, "sliding_window_pattern": "LX"})",
         "/sliding_window_pattern: found \"LX\", known: letters L and G"},
        {"phi", {}, R"({"qk_layernorm": true})", "/qk_layernorm: true is not supported"},
        {"seed_oss",
         {},
         R"({"attention_bias": false, "attention_out_bias": true})",
         "/attention_out_bias: true without attention_bias"},
        {"llama", {}, R"({"hidden_act": "tanh"})", "/hidden_act: found \"tanh\", known for a gated MLP"},
        {"nemotron",
         {},
         R"({"hidden_act": "tanh"})",
         "/hidden_act: found \"tanh\", known for an MLP without gate"},
        {"llama",
         {},
         R"({"num_attention_heads": 7, "num_key_value_heads": 7})",
         "/num_attention_heads: 7 does not divide hidden_size = 1024"},
        {"llama", {}, R"({"num_key_value_heads": 3})", "/num_key_value_heads: 3 does not divide"},
        {"gpt_oss",
         {},
         R"({"num_local_experts": 4, "num_experts_per_tok": 8})",
         "/num_experts_per_tok: 8 is more than num_local_experts = 4"},
        {"gpt_oss",
         {},
         R"({"num_local_experts": 4})",
         "/num_experts_per_tok: is missing, but there are experts"},
        {"ernie4_5_moe", {}, R"({"moe_num_experts": [64, 64], "moe_k": 6})", "/moe_num_experts: lists"},
        {"hunyuan_v1_moe",
         {},
         R"({"num_experts": [16, 8, 16, 16], "moe_topk": 1})",
         "/num_experts: has a different value for each layer (16 and 8)"},
        {"bailing_moe", {kMoe}, R"({"use_bias": true})", "/use_bias: true without use_qkv_bias"},
        {"mimo_v2_flash",
         {kRouted},
         R"({"v_head_dim": 128, "swa_v_head_dim": 64})",
         "/swa_v_head_dim: differs from v_head_dim"},
        {"deepseek_v3",
         {kRouted, kLowRank},
         R"({"first_k_dense_replace": 5})",
         "/first_k_dense_replace: 5 is more than num_hidden_layers = 4"},
        {"deepseek_v3",
         {kRouted, kLowRank},
         R"({"n_group": 4, "topk_group": 8})",
         "/topk_group: 8 is more than n_group = 4"},
        {"qwen3_moe",
         {kMoe},
         R"({"mlp_only_layers": [4]})",
         "/mlp_only_layers: found 4, must be layers from 0 to 3"},
        {"qwen3_moe", {kMoe}, R"({"mlp_only_layers": 2})", "/mlp_only_layers: found 2, must be a list"},
        {"afmoe",
         {kMoe},
         R"({"num_dense_layers": 5})",
         "/num_dense_layers: 5 is more than num_hidden_layers = 4"},
        {"mellum",
         {kMoe},
         R"({"layer_types": ["full_attention", "full_attention", "full_attention"]})",
         "/layer_types: lists 3 layers of 4"},
        {"mellum",
         {kMoe},
         R"({"layer_types": "full_attention"})",
         "/layer_types: found \"full_attention\", must be a list"},
        {"mellum",
         {kMoe},
         R"({"layer_types": ["full_attention", "full_attention", "full_attention", "fourier"]})",
         "/layer_types: layer 3 is \"fourier\", a kind of layer that a plan cannot state"},
        {"mellum",
         {kMoe},
         R"({"layer_types": ["full_attention", "full_attention", "full_attention", "sliding_attention"]})",
         "/sliding_window: is missing"},
        {"ring_linear",
         {kMoe},
         R"({"use_bias": true, "layer_group_size": 2})",
         "/use_bias: true in a model with linear layers"},
        {"ring_linear",
         {kMoe},
         R"({"use_qkv_bias": true, "layer_group_size": 2})",
         "/use_qkv_bias: true in a model with linear layers"},
        {"kimi_linear", {kLowRank}, R"({})", "/linear_attn_config: is missing, must be an object"},
        {"kimi_linear",
         {kLowRank},
         R"({"linear_attn_config": {"num_heads": 8, "head_dim": 64}})",
         "/linear_attn_config/kda_layers: is missing"},
        {"kimi_linear",
         {kLowRank},
         R"({"linear_attn_config": {"num_heads": 8, "head_dim": 64, "kda_layers": [0]}})",
         "/linear_attn_config/kda_layers: found 0, must be layers from 1 to 4"},
        {"lfm2",
         {},
         R"({"block_ffn_dim_multiplier": "one"})",
         "/block_ffn_dim_multiplier: found \"one\", must be a number"},
        {"lfm2",
         {},
         R"({"block_ffn_dim_multiplier": 1e-09})",
         "/block_ffn_dim_multiplier: makes no width of an MLP"},
        {"bamba",
         {},
         R"({"mamba_n_heads": 7, "mamba_d_state": 16})",
         "/mamba_n_heads: 7 does not divide the mixer's width 2048"},
        {"falcon_h1",
         {},
         R"({"mamba_n_heads": 8, "mamba_d_head": 64, "mamba_d_ssm": 512, "mamba_d_state": 16, "projectors_bias": true})",
         "/projectors_bias: differs from mamba_proj_bias"},
        {"nemotron_h",
         {},
         R"({"hybrid_override_pattern": "M*X-", "mamba_num_heads": 8, "mamba_head_dim": 64, "ssm_state_size": 16})",
         "/hybrid_override_pattern: found \"X\", known: M (mamba)"},
        {"nemotron_h",
         {},
         R"({"hybrid_override_pattern": "M*-", "mamba_num_heads": 8, "mamba_head_dim": 64, "ssm_state_size": 16})",
         "/hybrid_override_pattern: has 3 layers, num_hidden_layers is 4"},
        {"nemotron_h", {}, R"({})", "/layers_block_type: is missing, it says what each layer is"},
        {"gemma4_text", {}, R"({})", "/hidden_size_per_layer_input: gemma4: embeddings for each layer"},
        {"gemma4_text",
         {},
         R"({"hidden_size_per_layer_input": 0, "num_kv_shared_layers": 2})",
         "/num_kv_shared_layers: gemma4: layers that share keys"},
        {"laguna",
         {kMoe},
         R"({"attention_bias": true})",
         "/attention_bias: laguna: a bias of only the output"},
        {"laguna",
         {kMoe},
         R"({"num_attention_heads_per_layer": [8, 8, 8, 0]})",
         "/num_attention_heads_per_layer: found 0"},
        {"nemotron-nas", {}, R"({})", "/block_configs: is missing, it says what each layer is"},
        {"nemotron-nas",
         {},
         R"({"block_configs": [{"attention": {"replace_with_linear": true}}, {"attention": {"replace_with_linear": true}}, {"attention": {"replace_with_linear": true}}, {"attention": {"replace_with_linear": true}}]})",
         "/block_configs/0/attention/replace_with_linear: true cannot be stated"},
        {"nemotron-nas",
         {},
         R"({"block_configs": [{"attention": {"n_heads_in_group": 3}}, {"attention": {"n_heads_in_group": 3}}, {"attention": {"n_heads_in_group": 3}}, {"attention": {"n_heads_in_group": 3}}]})",
         "/block_configs/0/attention/n_heads_in_group: 3 does not divide"},
        {"nemotron-nas",
         {},
         R"({"block_configs": [{"ffn": {"ffn_mult": 0}}, {"ffn": {"ffn_mult": 0}}, {"ffn": {"ffn_mult": 0}}, {"ffn": {"ffn_mult": 0}}]})",
         "/block_configs/0/ffn/ffn_mult: must be a number above 0"},
        {"llava", {}, R"({"text_config": 3})", "/text_config: must be an object"},
    };
    for (const Refused& row : rows) {
        CAPTURE(row.type);
        CAPTURE(row.own);
        std::string said;
        try {
            (void)model_from_hf(config_of(row.type, row.parts, row.own), "c.json");
        } catch (const Error& e) {
            said = e.what();
        }
        CAPTURE(said);
        CHECK(said.find(std::string("c.json: ") + row.says) != std::string::npos);
    }
}
