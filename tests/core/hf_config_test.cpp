#include "core/io/hf_families.h"
#include "core/model/model.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace pentamesh;
using nlohmann::json;

namespace {

std::int64_t total(const char* text) {
    return count_parameters(model_from_hf(std::string_view(text), "config.json")).total;
}

// Returns the message of the error that reading raises, or "" if it is accepted.
std::string refusal(const json& config) {
    try {
        (void)model_from_hf(config, "c.json");
    } catch (const Error& e) {
        CHECK(e.kind() == ErrorKind::invalid);
        return e.what();
    }
    return "";
}

json llama() {
    return json::parse(R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256})");
}
json mixtral() {
    json c = llama();
    c["model_type"] = "mixtral";
    c["num_local_experts"] = 8;
    c["num_experts_per_tok"] = 2;
    return c;
}
bool names(const std::string& text, const std::string& what) {
    return text.find(what) != std::string::npos;
}

}  // namespace

// Totals are those of the released checkpoints.
TEST_CASE("families beside the golden ones count as their checkpoints do") {
    CHECK(
        total(
            R"({"model_type": "phi", "hidden_size": 2560, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 32, "intermediate_size": 10240, "vocab_size": 51200, "hidden_act": "gelu_new",
        "tie_word_embeddings": false, "qk_layernorm": false})")
        == 2779683840);  // microsoft/phi-2
    CHECK(
        total(
            R"({"model_type": "phi3", "hidden_size": 3072, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 32, "intermediate_size": 8192, "vocab_size": 32064, "hidden_act": "silu",
        "sliding_window": 2047, "tie_word_embeddings": false})")
        == 3821079552);  // microsoft/Phi-3-mini-4k-instruct
    CHECK(
        total(
            R"({"model_type": "olmo", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 32, "intermediate_size": 11008, "vocab_size": 50304, "clip_qkv": null})")
        == 6888095744);  // allenai/OLMo-7B-hf
    CHECK(
        total(
            R"({"model_type": "olmo2", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 32, "intermediate_size": 11008, "vocab_size": 100352, "tie_word_embeddings": false})")
        == 7298617344);  // allenai/OLMo-2-1124-7B
    CHECK(
        total(
            R"({"model_type": "gemma", "hidden_size": 2048, "num_hidden_layers": 18, "num_attention_heads": 8,
        "num_key_value_heads": 1, "head_dim": 256, "intermediate_size": 16384, "vocab_size": 256000,
        "hidden_act": "gelu"})")
        == 2506172416);  // google/gemma-2b
    CHECK(total(R"({"model_type": "gemma3_text", "hidden_size": 1152, "num_hidden_layers": 26,
        "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 256, "intermediate_size": 6912,
        "vocab_size": 262144, "hidden_activation": "gelu_pytorch_tanh", "sliding_window": 512})")
          == 999885952);  // google/gemma-3-1b-pt
    CHECK(total(R"({"model_type": "gpt_neox", "hidden_size": 6144, "num_hidden_layers": 44,
        "num_attention_heads": 64, "intermediate_size": 24576, "vocab_size": 50432, "hidden_act": "gelu_fast"})")
          == 20554567680);  // EleutherAI/gpt-neox-20b
    CHECK(total(R"({"model_type": "qwen2_moe", "hidden_size": 2048, "num_hidden_layers": 24,
        "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 5632, "vocab_size": 151936,
        "num_experts": 60, "num_experts_per_tok": 4, "moe_intermediate_size": 1408,
        "shared_expert_intermediate_size": 5632, "decoder_sparse_step": 1, "tie_word_embeddings": false})")
          == 14315784192);  // Qwen/Qwen1.5-MoE-A2.7B
    CHECK(total(R"({"model_type": "deepseek_v2", "hidden_size": 2048, "num_hidden_layers": 27,
        "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 10944, "vocab_size": 102400,
        "q_lora_rank": null, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
        "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6, "moe_intermediate_size": 1408,
        "first_k_dense_replace": 1, "moe_layer_freq": 1, "topk_method": "greedy", "n_group": 1, "topk_group": 1})")
          == 15706484224);  // deepseek-ai/DeepSeek-V2-Lite
    CHECK(total(R"({"model_type": "deepseek_v2", "hidden_size": 5120, "num_hidden_layers": 60,
        "num_attention_heads": 128, "num_key_value_heads": 128, "intermediate_size": 12288, "vocab_size": 102400,
        "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
        "n_routed_experts": 160, "n_shared_experts": 2, "num_experts_per_tok": 6, "moe_intermediate_size": 1536,
        "first_k_dense_replace": 1, "moe_layer_freq": 1, "topk_method": "group_limited_greedy", "n_group": 8,
        "topk_group": 3})")
          == 235741434880);  // deepseek-ai/DeepSeek-V2
    CHECK(
        total(
            R"({"model_type": "phimoe", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 8, "intermediate_size": 6400, "vocab_size": 32064, "attention_bias": true,
        "lm_head_bias": true, "num_local_experts": 16, "num_experts_per_tok": 2, "sliding_window": 131072})")
        == 41873153344);  // microsoft/Phi-3.5-MoE-instruct
    CHECK(
        total(
            R"({"model_type": "olmoe", "hidden_size": 2048, "num_hidden_layers": 16, "num_attention_heads": 16,
        "num_key_value_heads": 16, "intermediate_size": 1024, "vocab_size": 50304, "num_experts": 64,
        "num_experts_per_tok": 8})")
        == 6919161856);  // allenai/OLMoE-1B-7B-0924
}

TEST_CASE("DeepSeek's node limit, balancing bias, dense layers and MTP layer are read") {
    json c = json::parse(R"({"model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61,
        "num_attention_heads": 128, "intermediate_size": 18432, "vocab_size": 129280, "q_lora_rank": 1536,
        "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
        "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8, "moe_intermediate_size": 2048,
        "first_k_dense_replace": 3, "moe_layer_freq": 1, "num_nextn_predict_layers": 1, "topk_group": 4,
        "n_group": 8})");
    const Model m = model_from_hf(c, "deepseek-v3.json");
    CHECK(m.name == "deepseek-v3");
    CHECK(m.moe->max_nodes_per_token == 4);
    CHECK(m.moe->router_bias);
    CHECK(m.moe->first_dense_layers == 3);
    CHECK(moe_layers(m) == 58);
    CHECK(m.mtp_layers == 1);
    c["n_group"] = c["topk_group"] = 1;
    CHECK(model_from_hf(c, "x").moe->max_nodes_per_token == 0);
    c["moe_layer_freq"] = 2;  // MoE where the layer is even and at least 3: 4, 6, ..., 60
    const Model every_other = model_from_hf(c, "x");
    CHECK(moe_layers(every_other) == 29);
    CHECK(is_moe_layer(every_other, 4));
    CHECK_FALSE(is_moe_layer(every_other, 3));
}

TEST_CASE("Qwen's sparse step and dense-only layers are read, by a pattern where no number says them") {
    json c = mixtral();
    c["model_type"] = "qwen3_moe";
    c["num_experts"] = 8;
    c["moe_intermediate_size"] = 768;
    c["decoder_sparse_step"] = 2;
    CHECK(moe_layers(model_from_hf(c, "x")) == 16);
    c["mlp_only_layers"] = {0, 1, 3};  // 0 is dense anyway
    const Model m = model_from_hf(c, "x");
    CHECK(moe_layers(m) == 14);
    CHECK_FALSE(is_moe_layer(m, 3));
    CHECK(is_moe_layer(m, 5));
    CHECK(m.pattern.empty());
    c["mlp_only_layers"] = {5};
    const Model among = model_from_hf(c, "x");
    CHECK(moe_layers(among) == 15);
    CHECK_FALSE(is_moe_layer(among, 5));
    CHECK(is_moe_layer(among, 3));
    CHECK_FALSE(among.pattern.empty());
    c["mlp_only_layers"] = {99};
    CHECK(names(refusal(c), "/mlp_only_layers"));
}

TEST_CASE("a multimodal Gemma 3 is read by its text part, with the class's defaults") {
    const Model m =
        model_from_hf(std::string_view(R"({"model_type": "gemma3", "vision_config": {"hidden_size": 1152},
        "text_config": {"model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240,
        "num_hidden_layers": 34, "sliding_window": 1024}})"),
                      "hub/gemma-3-4b/config.json");
    CHECK(m.name == "gemma-3-4b");
    CHECK(m.heads == 8);
    CHECK(m.kv_heads == 4);
    CHECK(m.vocab == 262208);
    CHECK(m.tied_embeddings);
    // google/gemma-3-4b-pt: 4300079472 less the vision tower (416866032) and its projector (2950272).
    CHECK(count_parameters(m).total == 3880263168);
}

TEST_CASE("an unknown model type is named together with the fields there are") {
    const std::string text = refusal({{"model_type", "hyena"}, {"state_size", 128}, {"d_model", 1}});
    CHECK(names(text, "/model_type"));
    CHECK(names(text, "hyena"));
    CHECK(names(text, "state_size"));
    CHECK_FALSE(names(text, "deepseek_v3"));  // far from it
    const std::string near = refusal({{"model_type", "deepseek_v33"}});
    CHECK(names(near, "the closest are deepseek_v3,"));
    CHECK_FALSE(names(near, "llama"));
    CHECK(names(refusal({{"model_type", "bloom"}}), "the norm after its embedding"));
    CHECK(names(refusal({{"model_type", "opt"}}), "ReLU"));
    CHECK(names(refusal(json::object()), "/model_type"));
    CHECK(names(refusal(json::array()), "object"));
    CHECK(names(refusal({{"model_type", 3}}), "/model_type"));
}

TEST_CASE("every field that is missing, of the wrong type or out of range is named") {
    for (const char* field :
         {"hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size"}) {
        json c = llama();
        c.erase(field);
        CHECK(names(refusal(c), std::string("/") + field));
        for (const json& bad :
             {json(-1), json(0), json("4096"), json(4096.5), json(1e300), json(true),
              json(18446744073709551615ULL), json::array({1}), json(std::int64_t{1} << 40)}) {
            c[field] = bad;
            const std::string text = refusal(c);
            CAPTURE(text);
            CHECK(names(text, std::string("/") + field));
        }
    }
    json c = llama();
    c["tie_word_embeddings"] = "no";
    CHECK(names(refusal(c), "/tie_word_embeddings"));
    c = llama();
    c["hidden_act"] = "tanh";
    CHECK(names(refusal(c), "/hidden_act"));
}

TEST_CASE("sizes that only together are too large to count are refused") {
    json c = llama();
    c["hidden_size"] = c["intermediate_size"] = c["vocab_size"] = std::int64_t{1} << 31;
    CHECK(names(refusal(c), "9,223,372,036,854,775,807 parameters or more"));
    c = llama();
    c["num_hidden_layers"] = 1000000;
    CHECK(names(refusal(c), "/num_hidden_layers"));
}

TEST_CASE("fields that contradict each other are named with the reason") {
    json c = llama();
    c["num_attention_heads"] = 33;
    c["num_key_value_heads"] = 11;
    CHECK(names(refusal(c), "/num_attention_heads"));
    c["head_dim"] = 128;
    CHECK(refusal(c) == "");
    c = llama();
    c["num_key_value_heads"] = 5;
    CHECK(names(refusal(c), "/num_key_value_heads"));
    c = mixtral();
    c.erase("num_experts_per_tok");
    CHECK(names(refusal(c), "/num_experts_per_tok"));
    c["num_experts_per_tok"] = 9;
    CHECK(names(refusal(c), "/num_experts_per_tok"));
    c = json::parse(R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 7, "n_positions": 1024,
        "vocab_size": 50257})");
    CHECK(names(refusal(c), "/n_head"));
}

TEST_CASE("text that is no JSON is refused, not thrown as another exception") {
    for (const char* text : {"", "{", "\"\\ud800\"", "{\"hidden_size\": 1e999}"})
        CHECK_THROWS_AS((void)model_from_hf(std::string_view(text), "x"), Error);
}

TEST_CASE("the types that are read are listed in order, and our own model object is none") {
    const auto& types = hf_model_types();
    CHECK(std::is_sorted(types.begin(), types.end()));
    CHECK(is_hf_config(llama()));
    CHECK_FALSE(is_hf_config({{"layers", 32}}));
}
