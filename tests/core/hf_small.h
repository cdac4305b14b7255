// Holds the parts of small configs of Hugging Face that tests put together.
#pragma once

#include <nlohmann/json.hpp>

#include <vector>

namespace pentamesh::test {

inline constexpr const char* kBase =
    R"({"hidden_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 8,
    "num_key_value_heads": 2, "intermediate_size": 2048, "vocab_size": 1000})";
inline constexpr const char* kMoe =
    R"({"moe_intermediate_size": 256, "num_experts": 16, "num_experts_per_tok": 2})";
inline constexpr const char* kRouted =
    R"({"moe_intermediate_size": 256, "n_routed_experts": 16, "num_experts_per_tok": 2})";
inline constexpr const char* kLowRank =
    R"({"kv_lora_rank": 256, "q_lora_rank": 256, "qk_nope_head_dim": 64, "qk_rope_head_dim": 32,
    "v_head_dim": 64})";

inline nlohmann::json config_of(const char* type, const std::vector<const char*>& parts, const char* own) {
    nlohmann::json config = nlohmann::json::parse(kBase);
    for (const char* part : parts) config.update(nlohmann::json::parse(part));
    config.update(nlohmann::json::parse(own));
    config["model_type"] = type;
    return config;
}

}  // namespace pentamesh::test
