#include "core/plan/tensor_id.h"

#include <array>

namespace pentamesh {
namespace {

struct TensorRow {
    TensorId id;
    TensorModule module;
    std::string_view name;
};
namespace tensor_table {  // the enumerators' bare names stay in here

using enum TensorId;
using M = TensorModule;
constexpr std::array kTensors{
    TensorRow{embedding, M::embedding, "embedding"},
    TensorRow{embedding_positions, M::embedding, "embedding.positions"},
    TensorRow{embedding_tokens, M::embedding, "embedding.tokens"},
    TensorRow{embedding_dropout_mask, M::embedding, "embedding.dropout_mask"},
    TensorRow{embedding_output, M::embedding, "embedding.output"},
    TensorRow{attention_q, M::attention, "attention.q"},
    TensorRow{attention_k, M::attention, "attention.k"},
    TensorRow{attention_v, M::attention, "attention.v"},
    TensorRow{attention_gate, M::attention, "attention.gate"},
    TensorRow{attention_output, M::attention, "attention.output"},
    TensorRow{attention_q_bias, M::attention, "attention.q.bias"},
    TensorRow{attention_k_bias, M::attention, "attention.k.bias"},
    TensorRow{attention_v_bias, M::attention, "attention.v.bias"},
    TensorRow{attention_output_bias, M::attention, "attention.output.bias"},
    TensorRow{attention_sinks, M::attention, "attention.sinks"},
    TensorRow{attention_q_down, M::attention, "attention.q_down"},
    TensorRow{attention_q_up, M::attention, "attention.q_up"},
    TensorRow{attention_kv_down, M::attention, "attention.kv_down"},
    TensorRow{attention_kv_up, M::attention, "attention.kv_up"},
    TensorRow{attention_q_down_bias, M::attention, "attention.q_down.bias"},
    TensorRow{attention_kv_down_bias, M::attention, "attention.kv_down.bias"},
    TensorRow{attention_index_q, M::attention, "attention.index.q"},
    TensorRow{attention_index_k, M::attention, "attention.index.k"},
    TensorRow{attention_index_weights, M::attention, "attention.index.weights"},
    TensorRow{attention_input, M::attention, "attention.input"},
    TensorRow{attention_dropout_mask, M::attention, "attention.dropout_mask"},
    TensorRow{attention_gated, M::attention, "attention.gated"},
    TensorRow{attention_q_latent, M::attention, "attention.q_latent"},
    TensorRow{attention_kv_latent, M::attention, "attention.kv_latent"},
    TensorRow{attention_index_chosen, M::attention, "attention.index.chosen"},
    TensorRow{attention_softmax, M::attention, "attention.softmax"},
    TensorRow{attention_softmax_dropout_mask, M::attention, "attention.softmax.dropout_mask"},
    TensorRow{attention_softmax_dropped, M::attention, "attention.softmax.dropped"},
    TensorRow{attention_log_sum_exp, M::attention, "attention.log_sum_exp"},
    TensorRow{attention_copies, M::attention, "attention.copies"},
    TensorRow{attention_output_cast, M::attention, "attention.output.cast"},
    TensorRow{attention_projected, M::attention, "attention.projected"},
    TensorRow{mixer_gate_in, M::mixer, "mixer.gate_in"},
    TensorRow{mixer_gate_out, M::mixer, "mixer.gate_out"},
    TensorRow{mixer_x, M::mixer, "mixer.x"},
    TensorRow{mixer_conv, M::mixer, "mixer.conv"},
    TensorRow{mixer_conv_bias, M::mixer, "mixer.conv.bias"},
    TensorRow{mixer_output, M::mixer, "mixer.output"},
    TensorRow{mixer_in_bias, M::mixer, "mixer.in.bias"},
    TensorRow{mixer_output_bias, M::mixer, "mixer.output.bias"},
    TensorRow{mixer_q, M::mixer, "mixer.q"},
    TensorRow{mixer_k, M::mixer, "mixer.k"},
    TensorRow{mixer_v, M::mixer, "mixer.v"},
    TensorRow{mixer_gate, M::mixer, "mixer.gate"},
    TensorRow{mixer_norm, M::mixer, "mixer.norm"},
    TensorRow{mixer_norm_q, M::mixer, "mixer.norm.q"},
    TensorRow{mixer_norm_k, M::mixer, "mixer.norm.k"},
    TensorRow{mixer_conv_q, M::mixer, "mixer.conv.q"},
    TensorRow{mixer_conv_q_bias, M::mixer, "mixer.conv.q.bias"},
    TensorRow{mixer_conv_k, M::mixer, "mixer.conv.k"},
    TensorRow{mixer_conv_k_bias, M::mixer, "mixer.conv.k.bias"},
    TensorRow{mixer_conv_v, M::mixer, "mixer.conv.v"},
    TensorRow{mixer_conv_v_bias, M::mixer, "mixer.conv.v.bias"},
    TensorRow{mixer_beta, M::mixer, "mixer.beta"},
    TensorRow{mixer_a_log, M::mixer, "mixer.a_log"},
    TensorRow{mixer_decay, M::mixer, "mixer.decay"},
    TensorRow{mixer_dt_bias, M::mixer, "mixer.dt_bias"},
    TensorRow{mixer_decay_down, M::mixer, "mixer.decay_down"},
    TensorRow{mixer_decay_up, M::mixer, "mixer.decay_up"},
    TensorRow{mixer_gate_down, M::mixer, "mixer.gate_down"},
    TensorRow{mixer_gate_up, M::mixer, "mixer.gate_up"},
    TensorRow{mixer_convolved, M::mixer, "mixer.convolved"},
    TensorRow{mixer_q_convolved, M::mixer, "mixer.q.convolved"},
    TensorRow{mixer_k_convolved, M::mixer, "mixer.k.convolved"},
    TensorRow{mixer_v_convolved, M::mixer, "mixer.v.convolved"},
    TensorRow{mixer_solved, M::mixer, "mixer.solved"},
    TensorRow{mixer_scanned, M::mixer, "mixer.scanned"},
    TensorRow{mamba_z, M::mamba, "mamba.z"},
    TensorRow{mamba_x, M::mamba, "mamba.x"},
    TensorRow{mamba_conv, M::mamba, "mamba.conv"},
    TensorRow{mamba_conv_bias, M::mamba, "mamba.conv.bias"},
    TensorRow{mamba_b, M::mamba, "mamba.b"},
    TensorRow{mamba_c, M::mamba, "mamba.c"},
    TensorRow{mamba_dt, M::mamba, "mamba.dt"},
    TensorRow{mamba_conv_b, M::mamba, "mamba.conv.b"},
    TensorRow{mamba_conv_b_bias, M::mamba, "mamba.conv.b.bias"},
    TensorRow{mamba_conv_c, M::mamba, "mamba.conv.c"},
    TensorRow{mamba_conv_c_bias, M::mamba, "mamba.conv.c.bias"},
    TensorRow{mamba_dt_bias, M::mamba, "mamba.dt.bias"},
    TensorRow{mamba_a_log, M::mamba, "mamba.a_log"},
    TensorRow{mamba_d, M::mamba, "mamba.d"},
    TensorRow{mamba_norm, M::mamba, "mamba.norm"},
    TensorRow{mamba_x_to_dt, M::mamba, "mamba.x_to_dt"},
    TensorRow{mamba_x_to_b, M::mamba, "mamba.x_to_b"},
    TensorRow{mamba_x_to_c, M::mamba, "mamba.x_to_c"},
    TensorRow{mamba_norm_dt, M::mamba, "mamba.norm.dt"},
    TensorRow{mamba_norm_b, M::mamba, "mamba.norm.b"},
    TensorRow{mamba_norm_c, M::mamba, "mamba.norm.c"},
    TensorRow{mamba_output, M::mamba, "mamba.output"},
    TensorRow{mamba_in_bias, M::mamba, "mamba.in.bias"},
    TensorRow{mamba_output_bias, M::mamba, "mamba.output.bias"},
    TensorRow{mamba_scanned, M::mamba, "mamba.scanned"},
    TensorRow{mlp_gate, M::mlp, "mlp.gate"},
    TensorRow{mlp_up, M::mlp, "mlp.up"},
    TensorRow{mlp_down, M::mlp, "mlp.down"},
    TensorRow{mlp_xielu, M::mlp, "mlp.xielu"},
    TensorRow{mlp_gate_bias, M::mlp, "mlp.gate.bias"},
    TensorRow{mlp_up_bias, M::mlp, "mlp.up.bias"},
    TensorRow{mlp_down_bias, M::mlp, "mlp.down.bias"},
    TensorRow{mlp_input, M::mlp, "mlp.input"},
    TensorRow{mlp_activated, M::mlp, "mlp.activated"},
    TensorRow{mlp_product, M::mlp, "mlp.product"},
    TensorRow{mlp_dropout_mask, M::mlp, "mlp.dropout_mask"},
    TensorRow{mlp_projected, M::mlp, "mlp.projected"},
    TensorRow{experts_gate_bias, M::experts, "experts.gate.bias"},
    TensorRow{experts_up_bias, M::experts, "experts.up.bias"},
    TensorRow{experts_down_bias, M::experts, "experts.down.bias"},
    TensorRow{experts_latent_in, M::experts, "experts.latent_in"},
    TensorRow{experts_latent_out, M::experts, "experts.latent_out"},
    TensorRow{experts_gate, M::experts, "experts.gate"},
    TensorRow{experts_up, M::experts, "experts.up"},
    TensorRow{experts_down, M::experts, "experts.down"},
    TensorRow{experts_latent_in_input, M::experts, "experts.latent_in.input"},
    TensorRow{experts_latent_out_input, M::experts, "experts.latent_out.input"},
    TensorRow{experts_input, M::experts, "experts.input"},
    TensorRow{experts_activated, M::experts, "experts.activated"},
    TensorRow{experts_product, M::experts, "experts.product"},
    TensorRow{experts_projected, M::experts, "experts.projected"},
    TensorRow{shared_expert_gate_bias, M::shared_expert, "shared_expert.gate.bias"},
    TensorRow{shared_expert_up_bias, M::shared_expert, "shared_expert.up.bias"},
    TensorRow{shared_expert_down_bias, M::shared_expert, "shared_expert.down.bias"},
    TensorRow{shared_expert_gate, M::shared_expert, "shared_expert.gate"},
    TensorRow{shared_expert_up, M::shared_expert, "shared_expert.up"},
    TensorRow{shared_expert_down, M::shared_expert, "shared_expert.down"},
    TensorRow{shared_expert_router, M::shared_expert, "shared_expert.router"},
    TensorRow{shared_expert_activated, M::shared_expert, "shared_expert.activated"},
    TensorRow{shared_expert_product, M::shared_expert, "shared_expert.product"},
    TensorRow{router, M::router, "router"},
    TensorRow{router_bias, M::router, "router.bias"},
    TensorRow{router_scale, M::router, "router.scale"},
    TensorRow{router_expert_scale, M::router, "router.expert_scale"},
    TensorRow{router_input, M::router, "router.input"},
    TensorRow{router_logits, M::router, "router.logits"},
    TensorRow{norm_attention, M::norm, "norm.attention"},
    TensorRow{norm_attention_bias, M::norm, "norm.attention.bias"},
    TensorRow{norm_mlp, M::norm, "norm.mlp"},
    TensorRow{norm_mlp_bias, M::norm, "norm.mlp.bias"},
    TensorRow{norm_experts, M::norm, "norm.experts"},
    TensorRow{norm_experts_bias, M::norm, "norm.experts.bias"},
    TensorRow{norm_after_dense_mlp, M::norm, "norm.after_dense_mlp"},
    TensorRow{norm_after_dense_mlp_bias, M::norm, "norm.after_dense_mlp.bias"},
    TensorRow{norm_after_experts, M::norm, "norm.after_experts"},
    TensorRow{norm_after_experts_bias, M::norm, "norm.after_experts.bias"},
    TensorRow{norm_after_attention, M::norm, "norm.after_attention"},
    TensorRow{norm_after_attention_bias, M::norm, "norm.after_attention.bias"},
    TensorRow{norm_after_mlp, M::norm, "norm.after_mlp"},
    TensorRow{norm_after_mlp_bias, M::norm, "norm.after_mlp.bias"},
    TensorRow{norm_q, M::norm, "norm.q"},
    TensorRow{norm_k, M::norm, "norm.k"},
    TensorRow{norm_q_latent, M::norm, "norm.q_latent"},
    TensorRow{norm_kv_latent, M::norm, "norm.kv_latent"},
    TensorRow{norm_index, M::norm, "norm.index"},
    TensorRow{norm_index_bias, M::norm, "norm.index.bias"},
    TensorRow{norm_mtp_embedding, M::norm, "norm.mtp.embedding"},
    TensorRow{norm_mtp_embedding_bias, M::norm, "norm.mtp.embedding.bias"},
    TensorRow{norm_mtp_hidden, M::norm, "norm.mtp.hidden"},
    TensorRow{norm_mtp_hidden_bias, M::norm, "norm.mtp.hidden.bias"},
    TensorRow{norm_mtp_final, M::norm, "norm.mtp.final"},
    TensorRow{norm_mtp_final_bias, M::norm, "norm.mtp.final.bias"},
    TensorRow{norm_final, M::norm, "norm.final"},
    TensorRow{norm_final_bias, M::norm, "norm.final.bias"},
    TensorRow{norm_attention_input, M::norm, "norm.attention.input"},
    TensorRow{norm_after_attention_input, M::norm, "norm.after_attention.input"},
    TensorRow{norm_mlp_input, M::norm, "norm.mlp.input"},
    TensorRow{norm_experts_input, M::norm, "norm.experts.input"},
    TensorRow{norm_after_dense_mlp_input, M::norm, "norm.after_dense_mlp.input"},
    TensorRow{norm_after_experts_input, M::norm, "norm.after_experts.input"},
    TensorRow{norm_after_mlp_input, M::norm, "norm.after_mlp.input"},
    TensorRow{norm_final_input, M::norm, "norm.final.input"},
    TensorRow{norm_mtp_embedding_input, M::norm, "norm.mtp.embedding.input"},
    TensorRow{norm_mtp_hidden_input, M::norm, "norm.mtp.hidden.input"},
    TensorRow{norm_q_input, M::norm, "norm.q.input"},
    TensorRow{norm_k_input, M::norm, "norm.k.input"},
    TensorRow{norm_q_latent_input, M::norm, "norm.q_latent.input"},
    TensorRow{norm_kv_latent_input, M::norm, "norm.kv_latent.input"},
    TensorRow{mtp_projection, M::mtp, "mtp.projection"},
    TensorRow{mtp_projection_input, M::mtp, "mtp.projection.input"},
    TensorRow{head, M::head, "head"},
    TensorRow{head_bias, M::head, "head.bias"},
    TensorRow{head_input, M::head, "head.input"},
    TensorRow{head_logits, M::head, "head.logits"},
    TensorRow{head_loss, M::head, "head.loss"},
};
static_assert(kTensors.size() == kEnumCount<TensorId>);

constexpr bool in_order() {
    for (std::size_t i = 0; i < kTensors.size(); ++i)
        if (kTensors[i].id != static_cast<TensorId>(i)) return false;
    return true;
}
static_assert(in_order(), "a row stands at another enumerator's place");

constexpr MlpTensors kMlp{mlp_gate,    mlp_up,        mlp_down,      mlp_gate_bias,
                          mlp_up_bias, mlp_down_bias, mlp_activated, mlp_product};
constexpr MlpTensors kExperts{experts_gate,    experts_up,        experts_down,      experts_gate_bias,
                              experts_up_bias, experts_down_bias, experts_activated, experts_product};
constexpr MlpTensors kShared{shared_expert_gate,      shared_expert_up,      shared_expert_down,
                             shared_expert_gate_bias, shared_expert_up_bias, shared_expert_down_bias,
                             shared_expert_activated, shared_expert_product};

}  // namespace tensor_table
using tensor_table::kTensors;

constexpr const TensorRow& row_of(TensorId id) {
    return kTensors[static_cast<std::size_t>(id)];
}

}  // namespace

std::string_view name_of(TensorId id) {
    return row_of(id).name;
}

std::string_view short_name_of(TensorId id) {
    const std::string_view name = row_of(id).name;
    return name.substr(name.find('.') + 1);
}

const MlpTensors& mlp_tensors(TensorModule module) {
    return module == TensorModule::experts         ? tensor_table::kExperts
           : module == TensorModule::shared_expert ? tensor_table::kShared
                                                   : tensor_table::kMlp;
}

TensorModule module_of(TensorId id) {
    return row_of(id).module;
}

std::optional<TensorId> tensor_called(std::string_view name) {
    for (const TensorRow& row : kTensors)
        if (row.name == name) return row.id;
    return std::nullopt;
}

}  // namespace pentamesh
