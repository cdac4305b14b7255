// The configurations of families of 2025 and 2026 make the totals of their checkpoints, to the unit.
#include "core/io/hf_families.h"
#include "core/model/model.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace pentamesh;

namespace {

ParameterCounts family(const char* text) {
    return count_parameters(model_from_hf(std::string_view(text), "config.json"));
}

}  // namespace

// Totals are from safetensors metadata on the hub; parts of a checkpoint other than the main model are
// written out.
TEST_CASE("families of 2025 count as their checkpoints do") {
    const ParameterCounts air =
        family(R"({"model_type": "glm4_moe", "hidden_size": 4096, "num_hidden_layers": 46,
        "num_attention_heads": 96, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 10944,
        "moe_intermediate_size": 1408, "n_routed_experts": 128, "num_experts_per_tok": 8, "n_shared_experts": 1,
        "first_k_dense_replace": 1, "vocab_size": 151552, "attention_bias": true, "use_qk_norm": false,
        "n_group": 1, "topk_group": 1, "num_nextn_predict_layers": 1})");
    // GLM-4.5-Air is counted with the prediction layer and its copies of table and head.
    CHECK(air.total + air.mtp + 2 * 151552LL * 4096 == 110468824832);
    const ParameterCounts glm =
        family(R"({"model_type": "glm4_moe", "hidden_size": 5120, "num_hidden_layers": 92,
        "num_attention_heads": 96, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 12288,
        "moe_intermediate_size": 1536, "n_routed_experts": 160, "num_experts_per_tok": 8, "n_shared_experts": 1,
        "first_k_dense_replace": 3, "vocab_size": 151552, "attention_bias": true, "use_qk_norm": true,
        "n_group": 1, "topk_group": 1, "num_nextn_predict_layers": 1})");
    CHECK(glm.total + glm.mtp + 2 * 151552LL * 5120 == 358337791296);  // GLM-4.5
    CHECK(family(R"({"model_type": "kimi_linear", "hidden_size": 2304, "num_hidden_layers": 27,
        "num_attention_heads": 32, "num_key_value_heads": 32, "head_dim": 72, "intermediate_size": 9216,
        "moe_intermediate_size": 1024, "num_experts": 256, "num_experts_per_token": 8, "num_shared_experts": 1,
        "first_k_dense_replace": 1, "vocab_size": 163840, "kv_lora_rank": 512, "q_lora_rank": null,
        "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "linear_attn_config": {"kda_layers":
        [1,2,3,5,6,7,9,10,11,13,14,15,17,18,19,21,22,23,25,26], "num_heads": 32, "head_dim": 128}})")
              .total
          == 49122681728);  // Kimi-Linear-48B-A3B
    CHECK(
        family(
            R"({"model_type": "olmo3", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
        "intermediate_size": 11008, "vocab_size": 100278})")
            .total
        == 7298011136);  // Olmo-3-7B
    CHECK(family(R"({"model_type": "bailing_moe", "hidden_size": 2048, "num_hidden_layers": 20,
        "num_attention_heads": 16, "num_key_value_heads": 4, "head_dim": 128, "intermediate_size": 5120,
        "moe_intermediate_size": 512, "num_experts": 256, "num_experts_per_tok": 8, "num_shared_experts": 1,
        "first_k_dense_replace": 1, "vocab_size": 157184, "use_qk_norm": true,
        "moe_router_enable_expert_bias": true, "n_group": 8, "topk_group": 4})")
              .total
          == 16255643392);  // Ling-mini-2.0
    CHECK(family(R"({"model_type": "hunyuan_v1_moe", "hidden_size": 4096, "num_hidden_layers": 2,
        "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 3072,
        "moe_intermediate_size": [3072, 3072], "num_experts": 64, "moe_topk": [8, 8], "num_shared_expert": [1, 1],
        "use_mixed_mlp_moe": true, "use_qk_norm": true, "vocab_size": 128167, "tie_word_embeddings": true})")
                  .total
              * 16
          == 80393183232
                 + 15 * (128167LL * 4096 + 4096));  // Hunyuan-A13B: 32 such layers, one table, one norm
    const ParameterCounts ernie = family(R"({"model_type": "ernie4_5_moe", "hidden_size": 2560,
        "num_hidden_layers": 28, "num_attention_heads": 20, "num_key_value_heads": 4, "intermediate_size": 12288,
        "moe_intermediate_size": 1536, "moe_num_experts": 64, "moe_k": 6, "moe_num_shared_experts": 2,
        "moe_layer_start_index": 1, "vocab_size": 103424, "num_nextn_predict_layers": 1})");
    CHECK(ernie.total == 21825437888);  // ERNIE-4.5-21B-A3B
    CHECK(ernie.mtp < 150'000'000);     // a dense layer, where a MoE layer would be six times that
    CHECK(family(R"({"model_type": "seed_oss", "hidden_size": 5120, "num_hidden_layers": 64,
        "num_attention_heads": 80, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 27648,
        "vocab_size": 155136, "attention_bias": true, "attention_out_bias": false})")
              .total
          == 36151104512);  // Seed-OSS-36B
    CHECK(family(R"({"model_type": "falcon_h1", "hidden_size": 1024, "num_hidden_layers": 36,
        "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 64, "intermediate_size": 2048,
        "vocab_size": 32784, "mamba_d_ssm": 1536, "mamba_n_heads": 24, "mamba_d_head": 64, "mamba_n_groups": 1,
        "mamba_d_state": 128})")
              .total
          == 521411104);  // Falcon-H1-0.5B
    CHECK(
        family(
            R"({"model_type": "lfm2", "hidden_size": 2048, "num_hidden_layers": 16, "num_attention_heads": 32,
        "num_key_value_heads": 8, "block_ff_dim": 12288, "vocab_size": 65536,
        "full_attn_idxs": [2, 5, 8, 10, 12, 14]})")
            .total
        == 1170340608);  // LFM2-1.2B
    CHECK(
        family(
            R"({"model_type": "minimax", "hidden_size": 6144, "num_hidden_layers": 8, "num_attention_heads": 64,
        "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 9216, "num_local_experts": 32,
        "num_experts_per_tok": 2, "vocab_size": 200064, "attn_type_list": [0, 0, 0, 0, 0, 0, 0, 1]})")
                .total
            * 10
        == 456089655296 + 9 * (2 * 200064LL * 6144 + 6144));  // MiniMax-Text-01: ten such groups
}

// The total without sharing is that of GlmMoeDsaForCausalLM of transformers; a shared layer has no indexer.
TEST_CASE("a layer that shares an indexer has none") {
    nlohmann::json config = nlohmann::json::parse(R"({"model_type": "glm_moe_dsa", "hidden_size": 1024,
        "num_hidden_layers": 6, "num_attention_heads": 8, "num_key_value_heads": 8, "intermediate_size": 4096,
        "vocab_size": 32000, "q_lora_rank": 512, "kv_lora_rank": 256, "qk_nope_head_dim": 96,
        "qk_rope_head_dim": 32, "v_head_dim": 128, "n_routed_experts": 8, "n_shared_experts": 1,
        "moe_intermediate_size": 512, "num_experts_per_tok": 2, "first_k_dense_replace": 1,
        "index_head_dim": 64, "index_n_heads": 8, "index_topk": 512})");
    const auto total = [&] { return family(config.dump().c_str()).total; };
    CHECK(total() == 168077608);
    config["indexer_types"] = {"full", "full", "shared", "shared", "full", "shared"};
    CHECK(total() == 168077608 - 3 * 336000);
    config.erase("indexer_types");
    config["index_topk_pattern"] = "FFSSFS";
    CHECK(total() == 168077608 - 3 * 336000);
    config["index_topk_pattern"] = "SFFFFF";
    CHECK_THROWS_WITH(static_cast<void>(total()),
                      doctest::Contains("the first layer has no indexer before it to share"));
    config["index_topk_pattern"] = "FFXSFS";
    CHECK_THROWS_WITH(static_cast<void>(total()), doctest::Contains("layer 2 is X, must be F or S"));
    // GLM-5.2 has 21 indexers in 78 layers: those of layers 0, 1, 2, 6, 10, ... 74.
    config["index_topk_pattern"] = nullptr;
    config["index_topk_freq"] = 4, config["index_skip_topk_offset"] = 3, config["num_hidden_layers"] = 78;
    const Model shared = model_from_hf(std::string_view(config.dump()), "config.json");
    std::int64_t indexers = 0;
    for (std::int64_t layer = 0; layer < shared.layers; ++layer) {
        const LayerTypes types = layer_types(shared);
        const LayerCounts one = count_layers(shared, types, layer, layer + 1);
        for (int t = 0; t < types.size(); ++t) indexers += one[t] > 0 && types[t].has_indexer(shared);
    }
    CHECK(indexers == 21);
}

TEST_CASE("a family that no plan can state is refused by its name and by what is missing") {
    for (const char* type : {"gemma3n", "longcat_flash", "rwkv7", "zamba2"}) {
        try {
            (void)model_from_hf(nlohmann::json{{"model_type", type}, {"hidden_size", 1024}}, "c.json");
            FAIL(type);
        } catch (const Error& e) {
            const std::string text = e.what();
            CHECK(text.find("model_type") != std::string::npos);
            CHECK(text.find(type) != std::string::npos);
            CHECK(text.find("no field for") != std::string::npos);
        }
    }
}

TEST_CASE("layers are told by the shortest pattern, and by none where the model's fields say them") {
    const Model gemma = model_from_hf(
        std::string_view(R"({"model_type": "gemma3_text", "hidden_size": 1152, "num_hidden_layers": 26,
        "num_attention_heads": 4, "num_key_value_heads": 1, "intermediate_size": 6912, "vocab_size": 262144,
        "sliding_window": 512, "sliding_window_pattern": 6})"),
        "x");
    REQUIRE(gemma.pattern.size() == 2);
    CHECK(gemma.pattern[0] == LayerRun{MixerKind::window, LayerFfn::dense, 5});
    CHECK(gemma.pattern[1] == LayerRun{MixerKind::full, LayerFfn::dense, 1});
    CHECK(gemma.sliding_window == 512);
    const Model mistral = model_from_hf(
        std::string_view(R"({"model_type": "mistral", "hidden_size": 4096, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 32000,
        "sliding_window": 4096})"),
        "x");
    CHECK(mistral.pattern.empty());
    CHECK(mistral.sliding_window == 4096);
}
