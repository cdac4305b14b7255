#include "core/rules/state_runs.h"

#include "core/base/text.h"
#include "core/plan/names.h"
#include "core/plan/software.h"

namespace pentamesh {
namespace {

// Parameters in fp32 are updated in place: nothing else is kept in a type of its own.
bool updates_a_copy(const Training& t) {
    return t.parameters == Dtype::bf16 || t.parameters == Dtype::fp8;
}
bool is_known(Dtype type) {
    return type == Dtype::bf16 || type == Dtype::fp32;
}

}  // namespace

bool keeps_gradients(const Plan& plan, Software software, Dtype type) {
    if (type == plan.training.gradients) return true;
    const bool can = software == Software::fsdp || software == Software::deepspeed || is_megatron(software);
    return can && is_known(type) && updates_a_copy(plan.training);
}

bool keeps_moments(const Plan& plan, Software software, int zero, Dtype type) {
    const Training& t = plan.training;
    if (type == t.optimizer_state) return true;
    if (!is_known(type) || !updates_a_copy(t) || t.optimizer != Optimizer::adamw) return false;
    if (software == Software::fsdp) return true;
    return is_megatron(software) && (type == Dtype::fp32 || zero == 1);
}

bool offloads_optimizer(const Plan& plan, Software software, int zero, double share) {
    const Training& t = plan.training;
    if (share == 0 || share == t.offload.optimizer || software == Software::fsdp) return true;
    if (software == Software::deepspeed) return zero >= 1 && share == 1;
    const bool scaled = t.parameters == Dtype::fp8 && t.fp8_recipe != Fp8Recipe::tensorwise;
    return is_megatron(software) && zero == 1 && t.optimizer == Optimizer::adamw && !scaled;
}

bool offloads_activations(const Plan& plan, Software software, std::int64_t pp, bool recomputes,
                          std::int64_t layers) {
    if (layers == 0 || layers == plan.training.offload.activations_layers) return true;
    if (software == Software::fsdp) return true;
    return is_megatron(software) && pp == 1 && !recomputes && layers < plan.model.layers;
}

namespace {

std::string titan_state_lack(const Training& t) {
    const bool known = t.parameters == Dtype::fp32 || t.parameters == Dtype::bf16;
    if (known && t.gradients == t.parameters && t.optimizer_state == t.parameters
        && (t.parameters == Dtype::fp32 || t.master_weights == MasterWeights::none))
        return {};
    return sentence("torchtitan has one type for weights, gradients and moments, fp32 or bf16: not ",
                    t.parameters, ", ", t.gradients, " and ", t.optimizer_state,
                    t.parameters == Dtype::fp32 ? "" : " with master_weights ",
                    t.parameters == Dtype::fp32 ? "" : name_of(t.master_weights));
}

std::string deepspeed_state_lack(const Plan& plan) {
    const Training& t = plan.training;
    const Dtype base = t.compute == Dtype::fp16                               ? Dtype::fp16
                       : t.compute == Dtype::fp32 || t.compute == Dtype::tf32 ? Dtype::fp32
                                                                              : Dtype::bf16;
    if (t.parameters != base)
        return sentence("DeepSpeed keeps weights in ", base, " where it computes in ", t.compute, ": not in ",
                        t.parameters);
    if (t.gradients == Dtype::fp8 || t.gradients == Dtype::fp4)
        return sentence("DeepSpeed has no gradients in ", t.gradients);
    if (base == Dtype::fp32)
        return t.optimizer_state == Dtype::fp32
                   ? std::string()
                   : sentence("DeepSpeed has no moments in ", t.optimizer_state, " of weights in fp32");
    const bool whole = t.optimizer_state == Dtype::fp32 && t.master_weights == MasterWeights::fp32,
               half = base == Dtype::bf16 && t.gradients == base && t.optimizer_state == base
                      && t.master_weights == MasterWeights::none && plan.layout.zero > 0;
    if (whole || half) return {};
    return sentence(
        "DeepSpeed keeps moments and master copy in fp32, or both with the gradients in bf16 from "
        "ZeRO-1 on: not moments in ",
        t.optimizer_state, ", gradients in ", t.gradients, " and master_weights ", name_of(t.master_weights));
}

}  // namespace

std::string state_lack(const Plan& plan, Software software) {
    if (software == Software::torchtitan || software == Software::torchtitan_2024)
        return titan_state_lack(plan.training);
    if (software == Software::deepspeed) return deepspeed_state_lack(plan);
    if (!is_megatron(software)) return {};
    const Training& t = plan.training;
    const bool small = t.compute == Dtype::fp8 || t.compute == Dtype::fp4,
               half = t.compute == Dtype::fp16 || (small && t.parameters == Dtype::fp16),
               full = t.compute == Dtype::fp32 || t.compute == Dtype::tf32,
               fp8_kept = t.parameters == Dtype::fp8 && t.compute == Dtype::fp8 && plan.layout.zero > 0;
    const Dtype base = half ? Dtype::fp16 : full ? Dtype::fp32 : Dtype::bf16;
    if (t.parameters != base && !fp8_kept)
        return sentence("Megatron keeps weights in ", base, " where it computes in ", t.compute);
    if (t.gradients != Dtype::fp32 && t.gradients != base)
        return sentence("Megatron has no gradients in ", t.gradients, " with ", base, " weights");
    if (t.optimizer_state != Dtype::fp32 && plan.layout.zero == 0)
        return "Megatron keeps moments in fp32 without the distributed optimizer";
    if (t.master_weights != MasterWeights::fp32 && bytes_of(t.parameters) < bytes_of(Dtype::fp32))
        return sentence("Megatron has no master_weights ", t.master_weights);
    return {};
}

}  // namespace pentamesh
