// Names the subject of a layer's step or of a collective: programs compare the enumerator, people read the
// words.
#pragma once

#include "core/base/containers.h"

#include <cstdint>
#include <string_view>

namespace pentamesh {

#define PENTAMESH_WHATS(T)                                                                                   \
    T(none, "")                                                                                              \
    T(gradient_of_the_norm, "gradient of the norm")                                                          \
    T(added_on_the_way, "added on the way")                                                                  \
    T(added_to_the_residual_stream, "added to the residual stream")                                          \
    T(norm_behind_the_block, "norm behind the block")                                                        \
    T(dropout, "dropout")                                                                                    \
    T(gradient_of_the_dropout, "gradient of the dropout")                                                    \
    T(norm_before_attention, "norm before attention")                                                        \
    T(norm_before_the_experts, "norm before the experts")                                                    \
    T(norm_before_the_mlp, "norm before the MLP")                                                            \
    T(norm_behind_the_mlp, "norm behind the MLP")                                                            \
    T(norm_behind_the_experts, "norm behind the experts")                                                    \
    T(activations_before_the_shared_experts, "activations before the shared experts")                        \
    T(gradients_before_the_shared_experts, "gradients before the shared experts")                            \
    T(shared_experts_input_again_for_the_weight_gradient,                                                    \
      "shared experts' input again for the weight gradient")                                                 \
    T(activations_before_the_mlp, "activations before the MLP")                                              \
    T(gradients_before_the_mlp, "gradients before the MLP")                                                  \
    T(mlp_input_again_for_the_weight_gradient, "MLP input again for the weight gradient")                    \
    T(gate_and_up_of_the_shared_experts, "gate and up of the shared experts")                                \
    T(gate_and_up, "gate and up")                                                                            \
    T(gradient_of_the_mlps_input, "gradient of the MLP's input")                                             \
    T(activation_function, "activation function")                                                            \
    T(gradient_of_the_activation_function, "gradient of the activation function")                            \
    T(down_of_the_shared_experts, "down of the shared experts")                                              \
    T(down, "down")                                                                                          \
    T(gradient_of_the_activated, "gradient of the activated")                                                \
    T(activations_after_the_shared_experts, "activations after the shared experts")                          \
    T(gradients_after_the_shared_experts, "gradients after the shared experts")                              \
    T(activations_after_the_mlp, "activations after the MLP")                                                \
    T(gradients_after_the_mlp, "gradients after the MLP")                                                    \
    T(activations_before_attention, "activations before attention")                                          \
    T(gradients_before_attention, "gradients before attention")                                              \
    T(attention_input_again_for_the_weight_gradient, "attention input again for the weight gradient")        \
    T(activations_after_attention, "activations after attention")                                            \
    T(gradients_after_attention, "gradients after attention")                                                \
    T(queries_keys_and_values, "queries, keys and values")                                                   \
    T(gradient_of_attentions_input, "gradient of attention's input")                                         \
    T(norms_of_queries_and_keys, "norms of queries and keys")                                                \
    T(gradients_of_the_norms, "gradients of the norms")                                                      \
    T(rotary_positions, "rotary positions")                                                                  \
    T(gradients_turned_back, "gradients turned back")                                                        \
    T(gate_of_the_output, "gate of the output")                                                              \
    T(gradient_of_the_gate, "gradient of the gate")                                                          \
    T(output_of_attention, "output of attention")                                                            \
    T(gradient_of_attentions_output, "gradient of attention's output")                                       \
    T(output_latents, "output latents")                                                                      \
    T(keys_to_compress, "keys to compress, and their weights")                                               \
    T(compression_of_keys, "compression of keys")                                                            \
    T(gradient_of_the_compression, "gradient of the compression")                                            \
    T(weights_of_the_streams, "weights of the streams")                                                      \
    T(streams_joined, "streams joined")                                                                      \
    T(streams_mixed, "streams mixed")                                                                        \
    T(gradient_of_the_streams, "gradient of the streams")                                                    \
    T(queries_of_the_indexer, "queries of the indexer")                                                      \
    T(gradient_of_the_indexer, "gradient of the indexer")                                                    \
    T(keys_and_weights_of_the_indexer, "keys and weights of the indexer")                                    \
    T(query_latents, "query latents")                                                                        \
    T(norm_of_the_query_latents, "norm of the query latents")                                                \
    T(query_latents_before_attention, "query latents before attention")                                      \
    T(gradients_of_the_query_latents, "gradients of the query latents")                                      \
    T(query_latents_again_for_the_weight_gradient, "query latents again for the weight gradient")            \
    T(queries_out_of_their_latents, "queries out of their latents")                                          \
    T(gradient_of_the_query_latents, "gradient of the query latents")                                        \
    T(key_and_value_latents, "key and value latents")                                                        \
    T(norm_of_the_key_and_value_latents, "norm of the key and value latents")                                \
    T(key_and_value_latents_before_attention, "key and value latents before attention")                      \
    T(gradients_of_the_key_and_value_latents, "gradients of the key and value latents")                      \
    T(key_and_value_latents_again_for_the_weight_gradient,                                                   \
      "key and value latents again for the weight gradient")                                                 \
    T(keys_and_values_out_of_their_latents, "keys and values out of their latents")                          \
    T(gradient_of_the_key_and_value_latents, "gradient of the key and value latents")                        \
    T(rotary_keys_before_attention, "rotary keys before attention")                                          \
    T(gradients_of_the_rotary_keys, "gradients of the rotary keys")                                          \
    T(queries_keys_and_values_to_heads, "queries, keys and values to heads")                                 \
    T(gradients_of_queries_keys_and_values_to_tokens, "gradients of queries, keys and values to tokens")     \
    T(keys, "keys")                                                                                          \
    T(gradients_of_keys, "gradients of keys")                                                                \
    T(values, "values")                                                                                      \
    T(gradients_of_values, "gradients of values")                                                            \
    T(keys_and_values_rotated, "keys and values, rotated")                                                   \
    T(gradients_of_keys_and_values_rotated, "gradients of keys and values, rotated")                         \
    T(attention_core, "attention core")                                                                      \
    T(gradient_of_the_attention_core, "gradient of the attention core")                                      \
    T(attention_output_to_tokens, "attention output to tokens")                                              \
    T(gradients_of_the_output_to_heads, "gradients of the output to heads")                                  \
    T(inputs_of_the_scan, "inputs of the scan")                                                              \
    T(gradient_of_the_scans_input, "gradient of the scan's input")                                           \
    T(inputs_of_the_scan_to_heads, "inputs of the scan to heads")                                            \
    T(gradients_of_the_scans_inputs_to_tokens, "gradients of the scan's inputs to tokens")                   \
    T(scan_of_the_state, "scan of the state")                                                                \
    T(gradient_of_the_scan, "gradient of the scan")                                                          \
    T(outputs_of_the_scan_to_tokens, "outputs of the scan to tokens")                                        \
    T(gradients_of_the_scans_outputs_to_heads, "gradients of the scan's outputs to heads")                   \
    T(output_of_the_scan, "output of the scan")                                                              \
    T(gradient_of_the_scans_output, "gradient of the scan's output")                                         \
    T(gate_and_up_of_the_experts, "gate and up of the experts")                                              \
    T(gradient_of_the_experts_input, "gradient of the experts' input")                                       \
    T(down_of_the_experts, "down of the experts")                                                            \
    T(router, "router")                                                                                      \
    T(gradient_of_the_routers_input, "gradient of the router's input")                                       \
    T(outputs_back_in_order_weighed, "outputs back in order, weighed")                                       \
    T(tokens_sorted_by_expert, "tokens sorted by expert")                                                    \
    T(gradients_sorted_by_expert, "gradients sorted by expert")                                              \
    T(gradients_back_in_order, "gradients back in order")                                                    \
    T(into_the_experts_latents, "into the experts' latents")                                                 \
    T(gradient_of_the_latents_input, "gradient of the latents' input")                                       \
    T(out_of_the_experts_latents, "out of the experts' latents")                                             \
    T(gradient_of_the_latents, "gradient of the latents")                                                    \
    T(dispatch_of_tokens_to_experts, "dispatch of tokens to experts")                                        \
    T(combine_of_input_gradients, "combine of input gradients")                                              \
    T(tokens_of_the_experts_shards, "tokens of the experts' shards")                                         \
    T(input_gradients_of_the_experts_shards, "input gradients of the experts' shards")                       \
    T(outputs_of_the_experts_shards, "outputs of the experts' shards")                                       \
    T(output_gradients_of_the_experts_shards, "output gradients of the experts' shards")                     \
    T(combine_of_experts_outputs, "combine of experts' outputs")                                             \
    T(dispatch_of_output_gradients, "dispatch of output gradients")                                          \
    T(tokens_to_all_ranks_of_experts, "tokens to all ranks of experts")                                      \
    T(sum_of_input_gradients, "sum of input gradients")                                                      \
    T(sum_of_experts_outputs, "sum of experts' outputs")                                                     \
    T(output_gradients_to_all_ranks_of_experts, "output gradients to all ranks of experts")                  \
    T(experts_parameters_for_the_forward, "experts' parameters, for the forward")                            \
    T(parameters_for_the_forward, "parameters, for the forward")                                             \
    T(experts_updated_parameters, "experts' updated parameters")                                             \
    T(updated_parameters, "updated parameters")                                                              \
    T(experts_parameters_again_for_the_backward, "experts' parameters again, for the backward")              \
    T(parameters_again_for_the_backward, "parameters again, for the backward")                               \
    T(experts_gradients, "experts' gradients")                                                               \
    T(gradients, "gradients")                                                                                \
    T(experts_gradients_of_the_shard_across_replicas, "experts' gradients of the shard, across replicas")    \
    T(gradients_of_the_shard_across_replicas, "gradients of the shard, across replicas")                     \
    T(gradients_of_both_ways_added, "gradients of both ways added")                                          \
    T(gradients_of_the_outputs, "gradients of the outputs")                                                  \
    T(gradients_of_the_weights, "gradients of the weights")                                                  \
    T(embedded_tokens, "embedded tokens")                                                                    \
    T(gradients_of_the_embedded_tokens, "gradients of the embedded tokens")                                  \
    T(activations_before_the_head, "activations before the head")                                            \
    T(gradients_before_the_head, "gradients before the head")                                                \
    T(head_input_again_for_the_weight_gradient, "head input again for the weight gradient")                  \
    T(cross_entropy, "cross entropy: maximum, label's logit, sum")                                           \
    T(activations_to_the_next_stage, "activations to the next stage")                                        \
    T(gradients_to_the_previous_stage, "gradients to the previous stage")                                    \
    T(gradients_of_the_tied_embedding_first_and_last_stage,                                                  \
      "gradients of the tied embedding, first and last stage")                                               \
    T(gradients_of_the_word_embedding_first_and_last_stage,                                                  \
      "gradients of the word embedding, first and last stage")                                               \
    T(gradients_of_a_stages_two_copies, "gradients of a stage's two copies")                                 \
    T(updated_parameters_of_a_stages_two_copies, "updated parameters of a stage's two copies")

enum class What : std::uint8_t { PENTAMESH_WHATS(PENTAMESH_ENUMERATOR) };
template <>
inline constexpr std::size_t kEnumCount<What> = PENTAMESH_WHATS(PENTAMESH_ONE_MORE);
[[nodiscard]] std::string_view words_of(What what);  // "activations after attention"; of none: ""

}  // namespace pentamesh
