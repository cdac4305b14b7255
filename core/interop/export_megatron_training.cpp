// Writes batch, types, recomputation and overlap as Megatron's settings.
#include "core/interop/export_page.h"
#include "core/plan/names.h"

#include <algorithm>

namespace pentamesh::interop {
namespace {

void put_precision(Page& page) {
    const Training& t = page.plan.training;
    const bool bridge = page.target == Target::bridge;
    const bool small = t.compute == Dtype::fp8 || t.compute == Dtype::fp4;
    const bool half = t.compute == Dtype::fp16 || (small && t.parameters == Dtype::fp16);
    const bool full = t.compute == Dtype::fp32 || t.compute == Dtype::tf32;
    if (bridge) {
        const char* word = half ? "fp16_mixed" : full ? "fp32" : "bf16_mixed";
        if (t.compute == Dtype::fp8)
            word = half ? "fp16_with_fp8_current_scaling_mixed" : "bf16_with_fp8_current_scaling_mixed";
        page.put("/training/compute", std::string(word));
    } else if (!full) {
        page.say(half ? "--fp16" : "--bf16", true);
    }
    if (t.compute == Dtype::fp8) page.say_as("model", bridge ? "fp8" : "fp8_format", std::string("hybrid"));
    if (t.compute == Dtype::fp8 && t.fp8_recipe == Fp8Recipe::rowwise)
        page.lose("/training/fp8_recipe", "fp8_recipe rowwise: Megatron scales tensors or blocks");
    else if (t.compute == Dtype::fp8 && t.fp8_recipe != Fp8Recipe::tensorwise)
        page.put("/training/fp8_recipe", std::string(pentamesh::name_of(t.fp8_recipe)));
    if (t.compute == Dtype::fp4) page.say_as("model", bridge ? "fp4" : "fp4_format", std::string("e2m1"));
    if (t.compute == Dtype::tf32) page.note("tf32: a switch of PyTorch, fp32 here");
    const Dtype base = half ? Dtype::fp16 : full ? Dtype::fp32 : Dtype::bf16;
    if (t.parameters == Dtype::fp8 && t.compute == Dtype::fp8 && page.plan.layout.zero > 0)
        page.say_as(bridge ? "ddp" : "", "fp8_param_gather", true);
    else if (t.parameters != base)
        page.note("parameters ", t.parameters, ": Megatron keeps them in ", base);
    if (bridge)
        page.put("/training/gradients", t.gradients == Dtype::fp32);
    else if (t.gradients == Dtype::bf16 && base == Dtype::bf16)
        page.put("/training/gradients", true);
    else if (t.gradients == Dtype::fp32 && base == Dtype::fp16)
        page.say("--accumulate-allreduce-grads-in-fp32", true);
    else if (t.gradients != Dtype::fp32 && t.gradients != base)
        page.note("gradients ", t.gradients, ": not so in Megatron");
}

// transformer/transformer_config.py: graphs of layers are TransformerEngine's, in the scopes that the plan
// means.
void put_graphs(Page& page) {
    const Training& t = page.plan.training;
    if (t.cuda_graphs == CudaGraphs::iteration) {
        page.put("/training/cuda_graphs", std::string("local"));
        page.say_as("model", "cuda_graph_scope", std::string("full_iteration"));
    } else if (t.cuda_graphs == CudaGraphs::layers) {
        page.put("/training/cuda_graphs", std::string("transformer_engine"));
    }
    if (t.fused_experts) page.put("/training/fused_experts", true);
}

void put_optimizer(Page& page) {
    const Training& t = page.plan.training;
    if (t.optimizer == Optimizer::sgd_momentum) page.put("/training/optimizer", std::string("sgd"));
    if (t.optimizer == Optimizer::muon) page.put("/training/optimizer", std::string("muon"));
    if (t.optimizer == Optimizer::adamw_8bit)
        page.note("optimizer adamw-8bit: optimizer_state fp8 is as near as Megatron comes");
    if (t.optimizer_state != Dtype::fp32) {
        if (page.plan.layout.zero > 0) {
            const std::string word(pentamesh::name_of(t.optimizer_state));
            const bool bridge = page.target == Target::bridge;
            const auto value = [&]() -> Value {
                if (!bridge) return word;
                return Bare{word == "bf16"   ? "torch.bfloat16"
                            : word == "fp16" ? "torch.float16"
                                             : "torch.uint8"};
            };
            page.say_as("optimizer", "use_precision_aware_optimizer", true);
            page.put("/training/optimizer_state", value());
            page.say_as("optimizer", "exp_avg_sq_dtype", value());
        } else {
            page.note("optimizer_state: Megatron keeps it in fp32 without the distributed optimizer");
        }
    }
    if (t.master_weights != MasterWeights::fp32)
        page.note("master_weights ", t.master_weights, ": Megatron's are fp32");
}

void put_recompute(Page& page) {
    const RecomputeChoice& r = page.plan.training.recompute;
    if (!r.any()) return;
    if (r.whole_layers()) {
        page.put("/training/recompute", std::string("full"));
        page.say_as("model", "recompute_method",
                    std::string(pentamesh::name_of(r.some_layers() ? RecomputeMethod::block
                                                                   : RecomputeMethod::uniform)));
        page.say_as("model", "recompute_num_layers", r.some_layers() ? r.layers : r.unit());
        return;
    }
    page.put("/training/recompute", std::string("selective"));
    if (r.modules == RecomputeModules(RecomputeModule::core_attn)) return;
    std::vector<std::string> words;
    for (const RecomputeModule m : all_of<RecomputeModule>())
        if (r.modules.has(m)) words.emplace_back(pentamesh::name_of(m));
    page.say_as("model", "recompute_modules", words);
}

void put_overlap(Page& page) {
    const Plan& p = page.plan;
    const Overlap& o = p.training.overlap;
    const bool bridge = page.target == Target::bridge;
    if (o.dp || bridge) page.put("/training/overlap/dp", o.dp);
    if (p.layout.zero > 0 && (o.dp || bridge)) page.say_as("ddp", "overlap_param_gather", o.dp);
    if (o.tp && p.layout.tp > 1) page.put("/training/overlap/tp", true);
    if (o.ep && p.model.moe && p.layout.ep > 1) page.put("/training/overlap/ep", true);
    if (!o.pp && p.layout.pp > 1 && p.layout.virtual_stages > 1) page.put("/training/overlap/pp", !bridge);
}

}  // namespace

void fill_megatron_training(Page& page) {
    const Training& t = page.plan.training;
    page.put("/training/sequence_length", t.sequence_length);
    if (page.target == Target::bridge) page.say("dataset.seq_length", t.sequence_length);
    page.put("/training/micro_batch", t.micro_batch);
    page.put("/training/global_batch", t.global_batch);
    put_precision(page);
    put_graphs(page);
    put_optimizer(page);
    put_recompute(page);
    put_overlap(page);
    for (const char* key : {"attention_dropout", "hidden_dropout"})
        page.say_as("model", key, t.dropout ? 0.1 : 0.0);
    if (t.attention == AttentionImpl::math)
        page.say_as("model", "attention_backend",
                    page.target == Target::bridge ? Value(Bare{"AttnBackend.unfused"})
                                                  : Value(std::string("unfused")));
    const Offload& o = t.offload;
    if (o.activations_layers > 0) {
        page.say_as("model", "cpu_offloading", true);
        page.put("/training/offload/activations_layers", o.activations_layers);
    }
    if (o.optimizer > 0) {
        page.put("/training/offload/optimizer", true);
        page.say_as("optimizer", "optimizer_offload_fraction", o.optimizer);
    }
    if (o.parameters > 0) page.lose("/training/offload/parameters", "Megatron offloads no parameters");
}

}  // namespace pentamesh::interop
