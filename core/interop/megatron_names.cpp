// Sorts Megatron-LM's flags by their bearing on a layout.
#include "core/base/nearest.h"
#include "core/interop/flags.h"
#include "core/interop/launch.h"
#include "core/interop/megatron.h"
#include "core/interop/unheld.h"

#include <algorithm>
#include <array>

namespace pentamesh::interop {
namespace {

// These have no value on the command line.
constexpr std::string_view kSwitches[] = {"bf16",
                                          "fp16",
                                          "swiglu",
                                          "squared_relu",
                                          "quick_geglu",
                                          "sequence_parallel",
                                          "use_distributed_optimizer",
                                          "overlap_grad_reduce",
                                          "overlap_param_gather",
                                          "group_query_attention",
                                          "disable_bias_linear",
                                          "add_qkv_bias",
                                          "untie_embeddings_and_output_weights",
                                          "multi_latent_attention",
                                          "qk_layernorm",
                                          "use_mcore_models",
                                          "use_flash_attn",
                                          "moe_grouped_gemm",
                                          "moe_permute_fusion",
                                          "moe_router_pre_softmax",
                                          "moe_router_enable_expert_bias",
                                          "mock_data",
                                          "use_rotary_position_embeddings",
                                          "no_position_embedding",
                                          "no_masked_softmax_fusion",
                                          "no_rope_fusion",
                                          "no_bias_swiglu_fusion",
                                          "no_bias_gelu_fusion",
                                          "no_bias_dropout_fusion",
                                          "no_gradient_accumulation_fusion",
                                          "recompute_activations",
                                          "distribute_saved_activations",
                                          "use_megatron_fsdp",
                                          "use_torch_fsdp2",
                                          "torch_fsdp2_no_reshard_after_forward",
                                          "use_tp_pp_dp_mapping",
                                          "account_for_embedding_in_pipeline_split",
                                          "account_for_loss_in_pipeline_split",
                                          "tp_comm_overlap",
                                          "no_overlap_p2p_communication",
                                          "fp8_param_gather",
                                          "grad_reduce_in_bf16",
                                          "accumulate_allreduce_grads_in_fp32",
                                          "calculate_per_token_loss",
                                          "no_load_optim",
                                          "no_load_rng",
                                          "no_save_optim",
                                          "no_save_rng",
                                          "finetune",
                                          "log_throughput",
                                          "log_params_norm",
                                          "log_num_zeros_in_grad",
                                          "log_timers_to_tensorboard",
                                          "log_memory_to_tensorboard",
                                          "log_validation_ppl_to_tensorboard",
                                          "deterministic_mode",
                                          "attention_softmax_in_fp32",
                                          "apply_layernorm_1p",
                                          "use_checkpoint_args",
                                          "use_dist_ckpt",
                                          "async_save",
                                          "ckpt_fully_parallel_load",
                                          "ckpt_fully_parallel_save",
                                          "init_model_with_meta_device",
                                          "fsdp_double_buffer",
                                          "overlap_moe_expert_parallel_comm",
                                          "delay_wgrad_compute",
                                          "moe_shared_expert_overlap",
                                          "enable_cuda_graph",
                                          "use_transformer_engine_op_fuser",
                                          "use_precision_aware_optimizer",
                                          "optimizer_cpu_offload",
                                          "moe_enable_deepep",
                                          "cpu_offloading",
                                          "fake_process_group",
                                          "manual_gc",
                                          "no_create_attention_mask_in_dataloader",
                                          "use_cpu_initialization",
                                          "cross_entropy_loss_fusion",
                                          "enable_full_sharding_in_hsdp",
                                          "no_query_key_layer_scaling",
                                          "apply_query_key_layer_scaling",
                                          "use_legacy_models",
                                          "use_fused_weighted_squared_relu",
                                          "exit_signal_handler",
                                          "moe_token_drop_policy_none",
                                          "moe_pad_expert_input_to_capacity",
                                          "gated_linear_unit",
                                          "hybrid_context_parallel",
                                          "recompute_in_fp8",
                                          "no_check_for_nan_in_loss_and_grad",
                                          "dist_ckpt_save_pre_mcore_014",
                                          "auto_detect_ckpt_format"};

// Other places of this folder read these by name, in addition to the fields' own settings (flags.h): a
// misspelt flag may mean one of them.
constexpr std::string_view kAlsoRead[] = {"num_layers_per_virtual_pipeline_stage",
                                          "decoder_first_pipeline_num_layers",
                                          "decoder_last_pipeline_num_layers",
                                          "account_for_embedding_in_pipeline_split",
                                          "account_for_loss_in_pipeline_split",
                                          "use_megatron_fsdp",
                                          "data_parallel_sharding_strategy",
                                          "use_torch_fsdp2",
                                          "recompute_method",
                                          "recompute_num_layers",
                                          "recompute_modules",
                                          "recompute_activations",
                                          "cuda_graph_scope",
                                          "cuda_graph_modules",
                                          "group_query_attention",
                                          "swiglu",
                                          "untie_embeddings_and_output_weights",
                                          "moe_flex_dispatcher_backend",
                                          "overlap_param_gather",
                                          "fake_process_group"};

// These flags of Megatron's own, older ones too, are a word or two letters away from one above and mean
// another thing.
constexpr std::string_view kOthers[] = {"vocab_file",
                                        "merge_file",
                                        "vocab_extra_ids",
                                        "encoder_num_layers",
                                        "decoder_num_layers",
                                        "encoder_seq_length",
                                        "decoder_seq_length",
                                        "retriever_seq_length",
                                        "eval_global_batch_size",
                                        "eval_micro_batch_size",
                                        "num_channels",
                                        "moe_router_group_topk",
                                        "moe_router_num_groups",
                                        "hybrid_mlp_ratio",
                                        "norm_epsilon",
                                        "num_workers",
                                        "init_method_std",
                                        "use_dist_ckpt",
                                        "expert_tensor_parallelism",
                                        "mtp_loss_scaling_factor",
                                        "decoder_world_size"};

std::vector<std::string> tokens_of(std::string_view key) {
    std::vector<std::string> out;
    std::size_t at = 0;
    while (at <= key.size()) {
        const std::size_t end = std::min(key.find('_', at), key.size());
        out.emplace_back(key.substr(at, end - at));
        at = end + 1;
    }
    return out;
}

// Returns true if one word is missing or too much.
bool is_one_word_off(std::string_view a, std::string_view b) {
    std::vector<std::string> x = tokens_of(a), y = tokens_of(b);
    if (x.size() > y.size()) std::swap(x, y);
    if (y.size() != x.size() + 1 || x.size() < 2) return false;
    std::size_t i = 0;
    for (const std::string& word : y)
        if (i < x.size() && x[i] == word) ++i;
    return i == x.size();
}

// Returns keys with underscores.
const std::vector<std::string>& read_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> out(std::begin(kAlsoRead), std::end(kAlsoRead));
        for (const SpelledField& f : flags_of(Framework::megatron)) out.push_back(flag_key(f.name));
        return out;
    }();
    return names;
}

std::string_view near_miss(std::string_view key) {
    if (std::find(std::begin(kOthers), std::end(kOthers), key) != std::end(kOthers)) return {};
    for (const std::string_view known : read_names()) {
        if (key == known) continue;
        const std::size_t off = known.size() > 8 ? 2 : 1;
        const std::size_t longer = std::max(key.size(), known.size()) - std::min(key.size(), known.size());
        if (longer <= off && edit_distance(key, known) <= off) return known;
        if (is_one_word_off(key, known)) return known;
    }
    return {};
}

}  // namespace

bool is_megatron_switch(std::string_view key) {
    return std::find(std::begin(kSwitches), std::end(kSwitches), key) != std::end(kSwitches);
}

void sort_megatron_rest(Sheet& s) {
    int strange = 0;  // settings of no known name
    for (const std::string& key : s.open_keys()) {
        if (const Unheld* unheld = find_unheld(Framework::megatron, key)) {
            say_unheld(s, *unheld);
            continue;
        }
        s.ignore(key);
        const bool known = is_megatron_switch(key)
                           || std::find(read_names().begin(), read_names().end(), key) != read_names().end();
        if (known || ++strange > kMostStrange || s.printed) continue;
        std::string_view near = near_miss(key);
        if (near.empty()) continue;
        std::string flag(near);
        std::replace(flag.begin(), flag.end(), '_', '-');
        s.error("setting-unknown", s.written(key) + " is no setting of Megatron; the closest is --" + flag);
    }
    if (strange > kMostStrange)
        s.problem(Severity::warning, "many-unknown",
                  std::to_string(strange) + " settings are none of Megatron's; of the first "
                      + std::to_string(kMostStrange) + " alone it was looked whether one is misspelled.");
}

}  // namespace pentamesh::interop
