#include "core/plan/order_presets.h"

namespace pentamesh {
namespace {

using enum Axis;

constexpr std::array<OrderPreset, 8> kPresets{{
    {"Megatron",
     {tp, cp, ep, dp_shard, dp_replicate, pp},
     "tp-cp-ep-dp-pp, innermost first",
     "NVIDIA/Megatron-LM megatron/core/parallel_state.py, initialize_model_parallel(order)",
     ""},
    {"Megatron tp-pp-dp",
     {tp, cp, ep, pp, dp_shard, dp_replicate},
     "tp-cp-ep-pp-dp, innermost first",
     "NVIDIA/Megatron-LM megatron/training/initialize.py, --use-tp-pp-dp-mapping",
     "with experts, only where edp = dp"},
    {"torchtitan",
     {tp, ep, cp, dp_shard, dp_replicate, pp},
     "pp, dp_replicate, dp_shard, cp, tp, outermost first; sparse pp, dp_replicate, efsdp, ep",
     "pytorch/torchtitan torchtitan/distributed/parallel_dims.py",
     "experts: etp = 1, efsdp = dp_shard × cp × tp / ep"},
    {"accelerate",
     {tp, cp, ep, dp_shard, dp_replicate, pp},
     "dp_replicate, dp_shard, cp, sp, tp, outermost first",
     "huggingface/accelerate src/accelerate/parallelism_config.py",
     "no pipeline, no expert axis"},
    {"nanotron",
     {tp, cp, dp_shard, dp_replicate, pp, ep},
     "ep, pp, dp, cp, tp, outermost first",
     "huggingface/nanotron src/nanotron/parallel/context.py",
     "there ep multiplies the world instead of re-folding it"},
    {"picotron",
     {tp, cp, ep, pp, dp_shard, dp_replicate},
     "dp, pp, cp, tp, outermost first",
     "huggingface/picotron picotron/process_group_manager.py",
     "no expert axis"},
    {"DeepSpeed",
     {tp, cp, ep, dp_shard, dp_replicate, pp},
     "pipe, data, model, outermost first",
     "deepspeedai/DeepSpeed deepspeed/runtime/pipe/topology.py, PipeModelDataParallelTopology",
     ""},
    {"Llama 3",
     {tp, cp, ep, pp, dp_shard, dp_replicate},
     "TP, CP, PP, DP, innermost first",
     "Llama Team 2024 (The Llama 3 Herd of Models), section 3.3.2",
     "no expert axis"},
}};

}  // namespace

std::span<const OrderPreset> order_presets() {
    return kPresets;
}

std::string_view order_name(const std::array<Axis, kAxisCount>& order) {
    for (const OrderPreset& o : order_presets())
        if (o.order == order) return o.name;
    return "custom";
}

}  // namespace pentamesh
