// Gives an enumerator to each tensor that a model has and each that its layers keep: programs compare the
// enumerators, people and files use the names.
#pragma once

#include "core/base/containers.h"
#include "core/plan/mixers.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace pentamesh {

// Names the part of the model that a tensor belongs to. `mixer` is that of a linear layer.
enum class TensorModule : std::uint8_t {
    embedding,
    attention,
    mixer,
    mamba,
    mlp,
    experts,
    shared_expert,
    router,
    norm,
    mtp,
    head
};

// Lists the tensors: enumerator, module, name. Those of mixers that scan are in mixers.h.
#define PENTAMESH_TENSORS(T)                                                                                 \
    T(embedding, embedding, "embedding")                                                                     \
    T(embedding_positions, embedding, "embedding.positions")                                                 \
    T(embedding_tokens, embedding, "embedding.tokens")                                                       \
    T(embedding_dropout_mask, embedding, "embedding.dropout_mask")                                           \
    T(embedding_output, embedding, "embedding.output")                                                       \
    T(attention_q, attention, "attention.q")                                                                 \
    T(attention_k, attention, "attention.k")                                                                 \
    T(attention_v, attention, "attention.v")                                                                 \
    T(attention_gate, attention, "attention.gate")                                                           \
    T(attention_output, attention, "attention.output")                                                       \
    T(attention_q_bias, attention, "attention.q.bias")                                                       \
    T(attention_k_bias, attention, "attention.k.bias")                                                       \
    T(attention_v_bias, attention, "attention.v.bias")                                                       \
    T(attention_output_bias, attention, "attention.output.bias")                                             \
    T(attention_sinks, attention, "attention.sinks")                                                         \
    T(attention_q_down, attention, "attention.q_down")                                                       \
    T(attention_q_up, attention, "attention.q_up")                                                           \
    T(attention_kv_down, attention, "attention.kv_down")                                                     \
    T(attention_kv_up, attention, "attention.kv_up")                                                         \
    T(attention_q_down_bias, attention, "attention.q_down.bias")                                             \
    T(attention_kv_down_bias, attention, "attention.kv_down.bias")                                           \
    T(attention_output_down, attention, "attention.output_down")                                             \
    T(attention_compress_kv, attention, "attention.compress.kv")                                             \
    T(attention_compress_gate, attention, "attention.compress.gate")                                         \
    T(attention_compress_bias, attention, "attention.compress.bias")                                         \
    T(attention_index_q, attention, "attention.index.q")                                                     \
    T(attention_index_k, attention, "attention.index.k")                                                     \
    T(attention_index_weights, attention, "attention.index.weights")                                         \
    T(attention_index_kv, attention, "attention.index.kv")                                                   \
    T(attention_index_gate, attention, "attention.index.gate")                                               \
    T(attention_index_bias, attention, "attention.index.bias")                                               \
    T(attention_hyper, attention, "attention.hyper")                                                         \
    T(attention_hyper_base, attention, "attention.hyper.base")                                               \
    T(attention_hyper_scale, attention, "attention.hyper.scale")                                             \
    T(attention_hyper_input, attention, "attention.hyper.input")                                             \
    T(attention_hyper_output, attention, "attention.hyper.output")                                           \
    T(attention_compressed, attention, "attention.compressed")                                               \
    T(attention_input, attention, "attention.input")                                                         \
    T(attention_dropout_mask, attention, "attention.dropout_mask")                                           \
    T(attention_gated, attention, "attention.gated")                                                         \
    T(attention_q_latent, attention, "attention.q_latent")                                                   \
    T(attention_kv_latent, attention, "attention.kv_latent")                                                 \
    T(attention_index_chosen, attention, "attention.index.chosen")                                           \
    T(attention_softmax, attention, "attention.softmax")                                                     \
    T(attention_softmax_dropout_mask, attention, "attention.softmax.dropout_mask")                           \
    T(attention_softmax_dropped, attention, "attention.softmax.dropped")                                     \
    T(attention_log_sum_exp, attention, "attention.log_sum_exp")                                             \
    T(attention_copies, attention, "attention.copies")                                                       \
    T(attention_output_cast, attention, "attention.output.cast")                                             \
    T(attention_projected, attention, "attention.projected")                                                 \
    PENTAMESH_MIXER_TENSORS(T)                                                                               \
    T(mlp_gate, mlp, "mlp.gate")                                                                             \
    T(mlp_up, mlp, "mlp.up")                                                                                 \
    T(mlp_down, mlp, "mlp.down")                                                                             \
    T(mlp_xielu, mlp, "mlp.xielu")                                                                           \
    T(mlp_gate_bias, mlp, "mlp.gate.bias")                                                                   \
    T(mlp_up_bias, mlp, "mlp.up.bias")                                                                       \
    T(mlp_down_bias, mlp, "mlp.down.bias")                                                                   \
    T(mlp_hyper, mlp, "mlp.hyper")                                                                           \
    T(mlp_hyper_base, mlp, "mlp.hyper.base")                                                                 \
    T(mlp_hyper_scale, mlp, "mlp.hyper.scale")                                                               \
    T(mlp_hyper_input, mlp, "mlp.hyper.input")                                                               \
    T(mlp_hyper_output, mlp, "mlp.hyper.output")                                                             \
    T(mlp_input, mlp, "mlp.input")                                                                           \
    T(mlp_activated, mlp, "mlp.activated")                                                                   \
    T(mlp_product, mlp, "mlp.product")                                                                       \
    T(mlp_dropout_mask, mlp, "mlp.dropout_mask")                                                             \
    T(mlp_projected, mlp, "mlp.projected")                                                                   \
    T(experts_gate_bias, experts, "experts.gate.bias")                                                       \
    T(experts_up_bias, experts, "experts.up.bias")                                                           \
    T(experts_down_bias, experts, "experts.down.bias")                                                       \
    T(experts_latent_in, experts, "experts.latent_in")                                                       \
    T(experts_latent_out, experts, "experts.latent_out")                                                     \
    T(experts_gate, experts, "experts.gate")                                                                 \
    T(experts_up, experts, "experts.up")                                                                     \
    T(experts_down, experts, "experts.down")                                                                 \
    T(experts_latent_in_input, experts, "experts.latent_in.input")                                           \
    T(experts_latent_out_input, experts, "experts.latent_out.input")                                         \
    T(experts_input, experts, "experts.input")                                                               \
    T(experts_activated, experts, "experts.activated")                                                       \
    T(experts_product, experts, "experts.product")                                                           \
    T(experts_projected, experts, "experts.projected")                                                       \
    T(shared_expert_gate_bias, shared_expert, "shared_expert.gate.bias")                                     \
    T(shared_expert_up_bias, shared_expert, "shared_expert.up.bias")                                         \
    T(shared_expert_down_bias, shared_expert, "shared_expert.down.bias")                                     \
    T(shared_expert_gate, shared_expert, "shared_expert.gate")                                               \
    T(shared_expert_up, shared_expert, "shared_expert.up")                                                   \
    T(shared_expert_down, shared_expert, "shared_expert.down")                                               \
    T(shared_expert_router, shared_expert, "shared_expert.router")                                           \
    T(shared_expert_activated, shared_expert, "shared_expert.activated")                                     \
    T(shared_expert_product, shared_expert, "shared_expert.product")                                         \
    T(router, router, "router")                                                                              \
    T(router_bias, router, "router.bias")                                                                    \
    T(router_scale, router, "router.scale")                                                                  \
    T(router_expert_scale, router, "router.expert_scale")                                                    \
    T(router_input, router, "router.input")                                                                  \
    T(router_logits, router, "router.logits")                                                                \
    T(norm_attention, norm, "norm.attention")                                                                \
    T(norm_attention_bias, norm, "norm.attention.bias")                                                      \
    T(norm_mlp, norm, "norm.mlp")                                                                            \
    T(norm_mlp_bias, norm, "norm.mlp.bias")                                                                  \
    T(norm_experts, norm, "norm.experts")                                                                    \
    T(norm_experts_bias, norm, "norm.experts.bias")                                                          \
    T(norm_after_dense_mlp, norm, "norm.after_dense_mlp")                                                    \
    T(norm_after_dense_mlp_bias, norm, "norm.after_dense_mlp.bias")                                          \
    T(norm_after_experts, norm, "norm.after_experts")                                                        \
    T(norm_after_experts_bias, norm, "norm.after_experts.bias")                                              \
    T(norm_after_attention, norm, "norm.after_attention")                                                    \
    T(norm_after_attention_bias, norm, "norm.after_attention.bias")                                          \
    T(norm_after_mlp, norm, "norm.after_mlp")                                                                \
    T(norm_after_mlp_bias, norm, "norm.after_mlp.bias")                                                      \
    T(norm_q, norm, "norm.q")                                                                                \
    T(norm_k, norm, "norm.k")                                                                                \
    T(norm_q_latent, norm, "norm.q_latent")                                                                  \
    T(norm_kv_latent, norm, "norm.kv_latent")                                                                \
    T(norm_index, norm, "norm.index")                                                                        \
    T(norm_index_bias, norm, "norm.index.bias")                                                              \
    T(norm_compress, norm, "norm.compress")                                                                  \
    T(norm_mtp_embedding, norm, "norm.mtp.embedding")                                                        \
    T(norm_mtp_embedding_bias, norm, "norm.mtp.embedding.bias")                                              \
    T(norm_mtp_hidden, norm, "norm.mtp.hidden")                                                              \
    T(norm_mtp_hidden_bias, norm, "norm.mtp.hidden.bias")                                                    \
    T(norm_mtp_final, norm, "norm.mtp.final")                                                                \
    T(norm_mtp_final_bias, norm, "norm.mtp.final.bias")                                                      \
    T(norm_final, norm, "norm.final")                                                                        \
    T(norm_final_bias, norm, "norm.final.bias")                                                              \
    T(norm_attention_input, norm, "norm.attention.input")                                                    \
    T(norm_after_attention_input, norm, "norm.after_attention.input")                                        \
    T(norm_mlp_input, norm, "norm.mlp.input")                                                                \
    T(norm_experts_input, norm, "norm.experts.input")                                                        \
    T(norm_after_dense_mlp_input, norm, "norm.after_dense_mlp.input")                                        \
    T(norm_after_experts_input, norm, "norm.after_experts.input")                                            \
    T(norm_after_mlp_input, norm, "norm.after_mlp.input")                                                    \
    T(norm_final_input, norm, "norm.final.input")                                                            \
    T(norm_mtp_embedding_input, norm, "norm.mtp.embedding.input")                                            \
    T(norm_mtp_hidden_input, norm, "norm.mtp.hidden.input")                                                  \
    T(norm_q_input, norm, "norm.q.input")                                                                    \
    T(norm_k_input, norm, "norm.k.input")                                                                    \
    T(norm_q_latent_input, norm, "norm.q_latent.input")                                                      \
    T(norm_kv_latent_input, norm, "norm.kv_latent.input")                                                    \
    T(mtp_projection, mtp, "mtp.projection")                                                                 \
    T(mtp_projection_input, mtp, "mtp.projection.input")                                                     \
    T(mtp_hyper, mtp, "mtp.hyper")                                                                           \
    T(mtp_hyper_base, mtp, "mtp.hyper.base")                                                                 \
    T(mtp_hyper_scale, mtp, "mtp.hyper.scale")                                                               \
    T(head, head, "head")                                                                                    \
    T(head_bias, head, "head.bias")                                                                          \
    T(head_hyper, head, "head.hyper")                                                                        \
    T(head_hyper_base, head, "head.hyper.base")                                                              \
    T(head_hyper_scale, head, "head.hyper.scale")                                                            \
    T(head_input, head, "head.input")                                                                        \
    T(head_logits, head, "head.logits")                                                                      \
    T(head_loss, head, "head.loss")

// A weight and an activation that belong together have one id: attention_q are the weights of the queries,
// and the queries.
enum class TensorId : std::uint8_t { PENTAMESH_TENSORS(PENTAMESH_ENUMERATOR) };
template <>
inline constexpr std::size_t kEnumCount<TensorId> = PENTAMESH_TENSORS(PENTAMESH_ONE_MORE);

// Holds the tensors that an MLP has and keeps; the experts' have the same parts.
struct MlpTensors {
    TensorId gate, up, down, gate_bias, up_bias, down_bias, activated, product;
};
[[nodiscard]] const MlpTensors& mlp_tensors(TensorModule module);  // mlp, experts or shared_expert

[[nodiscard]] std::string_view name_of(TensorId id);        // "attention.q", "experts.latent_in.input"
[[nodiscard]] std::string_view short_name_of(TensorId id);  // without its module: "q", "latent_in.input"
[[nodiscard]] TensorModule module_of(TensorId id);
[[nodiscard]] std::optional<TensorId> tensor_called(std::string_view name);  // none: no tensor has that name

}  // namespace pentamesh
