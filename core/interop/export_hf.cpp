// Writes a Hugging Face config.json for the model: of the family whose reader (core/io/hf_config.h) makes the
// same model of the written text. Field names are those of transformers, models/*/configuration_*.py.
#include "core/base/error.h"
#include "core/interop/export_page.h"
#include "core/io/hf_config.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace pentamesh::interop {
namespace {

using Json = nlohmann::ordered_json;

struct HfFamily {
    std::string_view type, architecture;
    void (*add)(const Plan& plan, Json& out);  // adds the fields other than the decoder's
};

void nothing_more(const Plan& /*plan*/, Json& /*out*/) {}

void hf_biases(const Plan& p, Json& out) {
    out["attention_bias"] = p.model.attention_bias;
    out["mlp_bias"] = p.model.mlp_bias;
}

void hf_attention_bias(const Plan& p, Json& out) {
    out["attention_bias"] = p.model.attention_bias;
}

void hf_window(const Plan& p, Json& out) {
    out["sliding_window"] = p.model.sliding_window > 0 ? Json(p.model.sliding_window) : Json(nullptr);
}

void gemma_activation(const Plan& p, Json& out) {
    hf_attention_bias(p, out);
    out.erase("hidden_act");
    out["hidden_activation"] = "gelu_pytorch_tanh";
}

void plain_activation(const Plan& p, Json& out) {
    out["hidden_act"] = p.model.ffn_kind == FfnKind::relu2 ? "relu2" : "gelu";
}

void gpt2_names(const Plan& p, Json& out) {
    const Model& m = p.model;
    out = {{"n_layer", m.layers},
           {"n_embd", m.hidden},
           {"n_head", m.heads},
           {"n_inner", m.ffn},
           {"n_positions", std::max<std::int64_t>(m.max_positions, 1)},
           {"vocab_size", m.vocab},
           {"activation_function", "gelu_new"},
           {"tie_word_embeddings", m.tied_embeddings}};
}

void used_experts(const Plan& p, Json& out, const char* count, const char* width) {
    if (!p.model.moe) return;
    out[count] = p.model.moe->experts;
    out["num_experts_per_tok"] = p.model.moe->top_k;
    out[width] = p.model.moe->expert_ffn;
}

void mixtral_experts(const Plan& p, Json& out) {
    hf_window(p, out);
    used_experts(p, out, "num_local_experts", "intermediate_size");
}

void hf_qwen(const Plan& p, Json& out) {
    hf_attention_bias(p, out);
    used_experts(p, out, "num_experts", "moe_intermediate_size");
    if (!p.model.moe) return;
    out["decoder_sparse_step"] = p.model.moe->every;
    out["norm_topk_prob"] = true;
    Json dense = Json::array();
    for (std::int64_t i = 0; i < p.model.moe->first_dense_layers; ++i) dense.push_back(i);
    out["mlp_only_layers"] = std::move(dense);
}

void qwen2_experts(const Plan& p, Json& out) {
    hf_qwen(p, out);
    out.erase("attention_bias");
    out["qkv_bias"] = p.model.qkv_bias;
    if (p.model.moe)
        out["shared_expert_intermediate_size"] = std::max<std::int64_t>(p.model.moe->shared_expert_ffn, 1);
}

void hf_deepseek(const Plan& p, Json& out) {
    hf_attention_bias(p, out);
    used_experts(p, out, "n_routed_experts", "moe_intermediate_size");
    if (!p.model.moe) return;
    const Moe& e = *p.model.moe;
    out["n_shared_experts"] = e.shared_experts;
    out["first_k_dense_replace"] = e.first_dense_layers;
    out["moe_layer_freq"] = e.every;
    if (e.max_nodes_per_token > 0) {
        out["n_group"] = 2 * e.max_nodes_per_token;
        out["topk_group"] = e.max_nodes_per_token;
    }
    if (p.model.mtp_layers > 0) out["num_nextn_predict_layers"] = p.model.mtp_layers;
}

void glm_experts(const Plan& p, Json& out) {
    hf_deepseek(p, out);
    out["attention_bias"] = p.model.qkv_bias;
    out["use_qk_norm"] = p.model.qk_norm == QkNorm::head;
}

void hf_latent(const Plan& p, Json& out) {
    hf_deepseek(p, out);
    if (!p.model.mla) return;
    const Mla& a = *p.model.mla;
    out.erase("head_dim");
    out["q_lora_rank"] = a.q_lora_rank > 0 ? Json(a.q_lora_rank) : Json(nullptr);
    out["kv_lora_rank"] = a.kv_lora_rank;
    out["qk_nope_head_dim"] = a.qk_nope_head_dim;
    out["qk_rope_head_dim"] = a.qk_rope_head_dim;
    out["v_head_dim"] = a.v_head_dim;
    if (a.index_heads == 0) return;
    out["index_n_heads"] = a.index_heads;
    out["index_head_dim"] = a.index_head_dim;
    out["index_topk"] = a.index_top_k;
}

// The plainest family comes first.
constexpr HfFamily kFamilies[] = {
    {"llama", "LlamaForCausalLM", hf_biases},
    {"mistral", "MistralForCausalLM", hf_window},
    {"qwen2", "Qwen2ForCausalLM", nothing_more},
    {"qwen3", "Qwen3ForCausalLM", hf_attention_bias},
    {"gpt2", "GPT2LMHeadModel", gpt2_names},
    {"gemma", "GemmaForCausalLM", gemma_activation},
    {"nemotron", "NemotronForCausalLM", plain_activation},
    {"olmo", "OlmoForCausalLM", hf_attention_bias},
    {"olmo2", "Olmo2ForCausalLM", hf_attention_bias},
    {"mixtral", "MixtralForCausalLM", mixtral_experts},
    {"qwen3_moe", "Qwen3MoeForCausalLM", hf_qwen},
    {"qwen2_moe", "Qwen2MoeForCausalLM", qwen2_experts},
    {"glm4_moe", "Glm4MoeForCausalLM", glm_experts},
    {"deepseek_v2", "DeepseekV2ForCausalLM", hf_latent},
    {"deepseek_v3", "DeepseekV3ForCausalLM", hf_latent},
    {"deepseek_v32", "DeepseekV32ForCausalLM", hf_latent},
};

Json config_of(const Plan& p, const HfFamily& family) {
    const Model& m = p.model;
    Json out{{"num_hidden_layers", m.layers},
             {"hidden_size", m.hidden},
             {"num_attention_heads", m.heads},
             {"num_key_value_heads", m.kv_heads},
             {"head_dim", m.head_dim},
             {"intermediate_size", m.ffn > 0 ? m.ffn
                                   : m.moe   ? m.moe->expert_ffn
                                             : 1},
             {"vocab_size", m.vocab},
             {"hidden_act", m.ffn_kind == FfnKind::geglu ? "gelu" : "silu"},
             {"max_position_embeddings", p.training.sequence_length},
             {"tie_word_embeddings", m.tied_embeddings}};
    family.add(p, out);
    Json head{{"architectures", {std::string(family.architecture)}},
              {"model_type", std::string(family.type)}};
    head.update(out);
    return head;
}

bool reads_back(const Plan& p, const Json& config) {
    try {
        Model read = model_from_hf(std::string_view(config.dump()), "export");
        read.name = p.model.name;
        read.vocab_multiple = p.model.vocab_multiple;
        if (p.model.moe && p.model.moe->first_dense_layers == 0 && p.model.moe->every == 1)
            read.ffn = p.model.ffn;
        return read == p.model;
    } catch (const Error&) {
        return false;
    }
}

}  // namespace

void export_hf(Page& page) {
    const Plan& p = page.plan;
    Json config;
    for (const HfFamily& family : kFamilies) {
        config = config_of(p, family);
        if (reads_back(p, config)) break;
        config = Json();
    }
    if (config.is_null()) {
        page.lose("/model",
                  "model: no model_type that is known here has these fields (pentamesh export writes "
                  "Llama, Qwen, Mixtral, DeepSeek and their likes)");
        config = config_of(p, kFamilies[0]);
    }
    page.note("layout, batch and cluster: a config.json holds the model alone");
    const char* dtype = p.training.parameters == Dtype::fp16   ? "float16"
                        : p.training.parameters == Dtype::fp32 ? "float32"
                                                               : "bfloat16";
    config["torch_dtype"] = dtype;
    config["_comment"] = head_lines(page);
    page.out.text = config.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace pentamesh::interop
