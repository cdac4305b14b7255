// Writes batch, types, recomputation and overlap as Megatron's settings.
#include "core/interop/export_page.h"
#include "core/plan/names.h"

#include <algorithm>

namespace pentamesh::interop {
namespace {

// Holds the types that Megatron computes in and keeps, which may be others than the plan's.
struct Precision {
    bool half = false, full = false, fp8_parameters = false;
    [[nodiscard]] Dtype base() const { return half ? Dtype::fp16 : full ? Dtype::fp32 : Dtype::bf16; }
};

Precision precision_of(const Plan& plan) {
    const Training& t = plan.training;
    const bool small = t.compute == Dtype::fp8 || t.compute == Dtype::fp4;
    return {t.compute == Dtype::fp16 || (small && t.parameters == Dtype::fp16),
            t.compute == Dtype::fp32 || t.compute == Dtype::tf32,
            t.parameters == Dtype::fp8 && t.compute == Dtype::fp8 && plan.layout.zero > 0};
}

// Puts a recipe that Megatron-Bridge registers (training/mixed_precision.py). It is set up over the settings
// of model, optimizer and gradients, so what differs from it is said of itself.
void put_recipe(Page& page, const Precision& precision) {
    const Training& t = page.plan.training;
    const bool wide = t.gradients == Dtype::fp32;
    if (precision.full) {
        page.put("/training/compute",
                 Bare{std::string("MixedPrecisionConfig(fp32=True, params_dtype=torch.float32, "
                                  "pipeline_dtype=torch.float32, grad_reduce_in_fp32=")
                      + (wide ? "True)" : "False)")});
        return;
    }
    std::string name = precision.half ? "fp16" : "bf16";
    bool gathers = false;
    if (t.compute == Dtype::fp8 && t.fp8_recipe == Fp8Recipe::blockwise) {
        name += "_with_fp8_subchannel_scaling";
    } else if (t.compute == Dtype::fp8) {
        name += t.fp8_recipe == Fp8Recipe::mxfp8 ? "_with_mxfp8" : "_with_fp8_current_scaling";
        gathers = true;
    } else if (t.compute == Dtype::fp4 && precision.half) {
        page.lose("/training/compute", "compute fp4 over fp16: Megatron-Bridge registers it over bf16 only");
    } else if (t.compute == Dtype::fp4) {
        name += "_with_nvfp4";
    }
    name += "_mixed";
    const bool same_gradients = wide != precision.half, same_gather = gathers == precision.fp8_parameters;
    if (same_gradients && same_gather) return page.put("/training/compute", name);
    page.put("/training/compute", Bare{"get_mixed_precision_config(\"" + name + "\")"});
    if (!same_gradients) page.say("mixed_precision.grad_reduce_in_fp32", wide);
    if (!same_gather) page.say("mixed_precision.fp8_param_gather", precision.fp8_parameters);
    if (!same_gather && t.fp8_recipe == Fp8Recipe::mxfp8)  // it is refused where nothing is gathered
        page.say("mixed_precision.reuse_grad_buf_for_mxfp8_param_ag", precision.fp8_parameters);
}

void put_flags(Page& page, const Precision& precision) {
    const Training& t = page.plan.training;
    if (!precision.full) page.say(precision.half ? "--fp16" : "--bf16", true);
    if (t.compute == Dtype::fp8) page.say("--fp8-format", std::string("hybrid"));
    if (t.compute == Dtype::fp8 && t.fp8_recipe != Fp8Recipe::tensorwise
        && t.fp8_recipe != Fp8Recipe::rowwise)
        page.put("/training/fp8_recipe", std::string(pentamesh::name_of(t.fp8_recipe)));
    if (t.compute == Dtype::fp4) page.say("--fp4-format", std::string("e2m1"));
    if (precision.fp8_parameters) page.say("--fp8-param-gather", true);
}

void put_precision(Page& page) {
    const Training& t = page.plan.training;
    const bool bridge = page.target == Target::bridge;
    const Precision precision = precision_of(page.plan);
    const Dtype base = precision.base();
    if (bridge)
        put_recipe(page, precision);
    else
        put_flags(page, precision);
    if (t.compute == Dtype::fp8 && t.fp8_recipe == Fp8Recipe::rowwise)
        page.lose("/training/fp8_recipe", "fp8_recipe rowwise: Megatron scales tensors or blocks");
    if (t.compute == Dtype::tf32) page.note("tf32: a switch of PyTorch, fp32 here");
    if (t.parameters != base && !precision.fp8_parameters)
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
