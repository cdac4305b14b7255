// Writes the model as Megatron's settings.
#include "core/interop/export_page.h"
#include "core/mesh/mesh.h"
#include "core/plan/software.h"

#include <algorithm>

namespace pentamesh::interop {
namespace {

// Adds a reason for each part of the model that the settings of a GPT model do not hold.
void lose_unusual_model(Page& page) {
    const Model& m = page.plan.model;
    const auto lose = [&](bool has, const char* what) {
        if (has) page.lose("/model", "model: Megatron's GPT settings have no ", what);
    };
    lose(!m.pattern.empty() || m.linear || m.mamba, "layers of several kinds");
    lose(m.norm == NormKind::unweighted, "norm without weights");
    lose(m.ffn_kind == FfnKind::xielu, "xIELU");
    lose(m.qk_norm == QkNorm::full, "norm over all heads' queries and keys");
    lose(m.attention_gate != AttentionGate::none, "gate on the attention's output");
    lose(m.attention_sinks, "attention sinks in these fields");
    lose(m.sliding_window > 0, "sliding window in these fields");
    lose(m.value_head_dim > 0 && m.value_head_dim != m.head_dim, "head dimension of values");
    lose(m.post_norms, "norms after attention and MLP");
    lose(m.shared_norm, "attention and MLP side by side");
    lose(m.head_bias, "bias of the head");
    lose(m.attention_bias != m.mlp_bias, "biases in attention or MLP alone");
    lose(m.mtp_layers > 0 && m.mtp_dense, "dense prediction layers of a model with experts");
    lose(m.mla && m.mla->index_heads > 0, "indexer of sparse attention");
    if (!m.moe) return;
    lose(m.moe->beside_mlp, "MLP beside the experts");
    lose(m.moe->latent > 0, "experts on a smaller hidden state");
    lose(m.moe->shared_expert_gate, "gate on the shared experts in these fields");
}

void put_activation(Page& page) {
    const FfnKind kind = page.plan.model.ffn_kind;
    if (page.target == Target::megatron) {
        if (kind == FfnKind::swiglu) page.say("--swiglu", true);
        if (kind == FfnKind::geglu) page.say("--quick-geglu", true);
        if (kind == FfnKind::relu2) page.say("--squared-relu", true);
        return;
    }
    const bool gated = kind == FfnKind::swiglu || kind == FfnKind::geglu;
    page.say("model.gated_linear_unit", gated);
    page.say("model.activation_func", Bare{kind == FfnKind::swiglu  ? "F.silu"
                                           : kind == FfnKind::relu2 ? "squared_relu"
                                                                    : "F.gelu"});
}

void put_norms(Page& page) {
    const Plan& p = page.plan;
    const Model& m = p.model;
    const bool bridge = page.target == Target::bridge;
    page.put("/model/norm", std::string(m.norm == NormKind::layernorm ? "LayerNorm" : "RMSNorm"));
    if (bridge)
        page.say("model.add_bias_linear", m.mlp_bias);
    else if (!m.mlp_bias)
        page.say("--disable-bias-linear", true);
    if (m.qkv_bias && !m.mlp_bias) page.put("/model/qkv_bias", true);
    if (m.qk_norm == QkNorm::head) page.put("/model/qk_norm", true);
    if (bridge)
        page.put("/model/tied_embeddings", m.tied_embeddings);
    else if (!m.tied_embeddings)
        page.say("--untie-embeddings-and-output-weights", true);
    const bool learned = m.positions == Positions::learned;
    page.put("/model/positions", std::string(learned ? "learned_absolute" : "rope"));
    if (!bridge)
        page.put("/model/max_positions",
                 learned && m.max_positions > 0 ? m.max_positions : p.training.sequence_length);
    if (bridge && learned && m.max_positions != p.training.sequence_length)
        page.note("max_positions: Bridge makes as many as a sequence has tokens");
    if (!bridge) page.say("--tokenizer-type", std::string("NullTokenizer"));
    page.put("/model/vocab", m.vocab);
    page.put("/model/vocab_multiple", vocab_multiple_of(p));
}

void put_attention(Page& page) {
    const Model& m = page.plan.model;
    const bool bridge = page.target == Target::bridge;
    if (m.attention == AttentionKind::mla && m.mla) {
        page.put("/model/attention", true);
        if (m.mla->q_lora_rank > 0) page.put("/model/mla/q_lora_rank", m.mla->q_lora_rank);
        page.put("/model/mla/kv_lora_rank", m.mla->kv_lora_rank);
        page.put("/model/mla/qk_nope_head_dim", m.mla->qk_nope_head_dim);
        page.put("/model/mla/qk_rope_head_dim", m.mla->qk_rope_head_dim);
        page.put("/model/mla/v_head_dim", m.mla->v_head_dim);
        return;
    }
    page.put("/model/head_dim", m.head_dim);
    if (!bridge && m.kv_heads != m.heads) page.say("--group-query-attention", true);
    if (bridge || m.kv_heads != m.heads) page.put("/model/kv_heads", m.kv_heads);
}

// Returns dense and MoE layers as a Python list; empty where every layer is MoE.
std::string layer_pattern(const Plan& p) {
    const Moe& e = *p.model.moe;
    if (e.first_dense_layers == 0 && e.every == 1) return "";
    std::string out;
    std::int64_t run = 0;
    bool moe = false;
    const auto close = [&] {
        if (run > 0)
            out += (out.empty() ? "" : "+") + std::string(moe ? "[1]*" : "[0]*") + std::to_string(run);
    };
    for (std::int64_t i = 0; i < p.model.layers; ++i) {
        const bool is = i >= e.first_dense_layers && (i - e.first_dense_layers + 1) % e.every == 0;
        if (is != moe) close(), run = 0;
        moe = is;
        ++run;
    }
    close();
    return out;
}

void put_experts(Page& page) {
    const Plan& p = page.plan;
    if (!p.model.moe) return;
    const Moe& e = *p.model.moe;
    const bool bridge = page.target == Target::bridge;
    page.put("/model/moe/experts", e.experts);
    page.put("/model/moe/top_k", e.top_k);
    page.put("/model/moe/expert_ffn", e.expert_ffn);
    if (e.shared_experts > 0)
        page.put("/model/moe/shared_expert_ffn",
                 e.shared_experts * (e.shared_expert_ffn > 0 ? e.shared_expert_ffn : e.expert_ffn));
    if (const std::string pattern = layer_pattern(p); !pattern.empty())
        page.put("/model/moe/first_dense_layers", bridge ? Value(Bare{pattern}) : Value(pattern));
    if (e.router_bias) {
        page.put("/model/moe/router_bias", true);
        // From transformer_config.py: a bias of experts goes with sigmoid scores.
        page.say_as("model", "moe_router_score_function", std::string("sigmoid"));
    }
    if (e.max_nodes_per_token == 0) return;
    const std::int64_t domain = p.cluster.tiers.empty() ? 1 : domain_of(p.cluster, 0);
    const std::int64_t nodes = p.layout.ep / std::max<std::int64_t>(domain, 1);
    if (nodes > e.max_nodes_per_token && e.experts % nodes == 0) {
        page.put("/model/moe/max_nodes_per_token", e.max_nodes_per_token);
        page.say_as("model", "moe_router_num_groups", nodes);
    } else {
        page.note("max_nodes_per_token: the experts of this layout lie on no more nodes");
    }
}

}  // namespace

void fill_megatron_model(Page& page) {
    const Model& m = page.plan.model;
    lose_unusual_model(page);
    page.put("/model/layers", m.layers);
    page.put("/model/hidden", m.hidden);
    page.put("/model/heads", m.heads);
    put_attention(page);
    if (m.ffn > 0) page.put("/model/ffn", m.ffn);
    put_activation(page);
    put_norms(page);
    put_experts(page);
    if (m.mtp_layers > 0) page.put("/model/mtp_layers", m.mtp_layers);
}

}  // namespace pentamesh::interop
