#include "core/interop/unheld.h"

#include <algorithm>

namespace pentamesh::interop {
namespace {

constexpr Unheld kMegatron[] = {
    {"encoder_tensor_model_parallel_size", "the plan has one stack of layers", ""},
    {"encoder_pipeline_model_parallel_size", "the plan has one stack of layers", ""},
    {"encoder_context_parallel_size", "the plan has one stack of layers", ""},
    {"expert_tensor_parallel_num_weight_shards", "the plan cuts the experts' weights by ep and etp only", ""},
    {"fine_grained_activation_offloading", "the plan names whole layers that leave the GPU, no modules", ""},
    {"hybrid_layer_pattern", "", "/model/pattern"},
    {"hybrid_override_pattern", "", "/model/pattern"},
    {"hybrid_attention_ratio", "", "/model/pattern"},
    {"linear_attention_freq", "", "/model/pattern"},
    {"delay_wgrad_compute", "the plan has no field for delayed weight gradients", ""},
    {"moe_shared_expert_overlap", "the plan has no field for the shared experts' overlap", ""},
    {"moe_expert_capacity_factor",
     "the plan has no capacity of experts; what a busy expert costs is near to it",
     "/training/router_imbalance"},
    {"outer_dp_sharding_strategy", "the plan shards inside dp_shard only", ""},
    {"enable_full_sharding_in_hsdp", "the plan shards inside dp_shard only", ""},
    {"distribute_saved_activations", "the plan has no field for saved activations cut over tp", ""},
    {"hybrid_context_parallel", "the plan has one way of context parallelism", ""},
};
constexpr Unheld kBridge[] = {
    {"offload_optimizer", "", "/training/offload/optimizer"},
};
constexpr Unheld kTorchtitan[] = {
    {"pipeline_parallel_schedule_csv", "the plan names a schedule and lists none of its steps", ""},
    {"pipeline_parallel_split_points", "", "/layout/stage_layers"},
};

// Returns true if the value switches the setting off.
bool is_off(const std::string& value) {
    return value == "none" || value == "false" || value == "False" || value == "no_shard" || value == "[]"
           || says_nothing(value);
}

}  // namespace

std::span<const Unheld> unheld_settings(Framework framework) {
    switch (framework) {
    case Framework::megatron: return kMegatron;
    case Framework::bridge: return kBridge;
    case Framework::torchtitan: return kTorchtitan;
    default: return {};
    }
}

const Unheld* find_unheld(Framework framework, std::string_view key) {
    const std::span<const Unheld> all = unheld_settings(framework);
    const auto it = std::find_if(all.begin(), all.end(), [&](const Unheld& u) { return u.key == key; });
    return it == all.end() ? nullptr : &*it;
}

std::string words_of(const Unheld& setting) {
    if (setting.field.empty()) return std::string(setting.why);
    const std::string field(setting.field);
    return setting.why.empty() ? "the import does not read it; " + field + " of the plan can say the same"
                               : std::string(setting.why) + " (" + field + ")";
}

void say_unheld(Sheet& sheet, const Unheld& setting) {
    if (is_off(sheet.value_of(setting.key)))
        sheet.ignore(setting.key);
    else
        sheet.cannot_hold(setting.key, words_of(setting));
}

}  // namespace pentamesh::interop
