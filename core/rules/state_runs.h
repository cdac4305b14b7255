// Says in which types a software keeps gradients and moments, and what it keeps in host memory.
#pragma once

#include "core/plan/plan.h"

#include <cstdint>
#include <string>

namespace pentamesh {

// Return true if the software can keep the gradients, the moments of the optimizer at this stage of ZeRO, in
// this type where the plan has another one; always of the plan's own. They know bf16 and fp32. Megatron keeps
// moments in bf16 with its precision-aware Adam, which it has over the distributed optimizer
// (core/optimizer/optimizer_config.py), gradients by --grad-reduce-in-bf16 or --main-grads-dtype; DeepSpeed
// gradients by data_types.grad_accum_dtype. torchtitan has one type for all states (training.dtype).
[[nodiscard]] bool keeps_gradients(const Plan& plan, Software software, Dtype type);
[[nodiscard]] bool keeps_moments(const Plan& plan, Software software, int zero, Dtype type);
// Returns why the software does not keep the states of the plan in its types: "Megatron has no gradients in
// fp16 with bf16 weights". Empty where it does, and of a software whose types are not listed here: those of
// Megatron are (training/arguments.py: weights are in fp16, bf16 or fp32 as the run computes, gradients in
// fp32 or as the weights; core/optimizer/optimizer_config.py: main copies in fp32 or fp16, other moments than
// fp32 over the distributed optimizer only), torchtitan's (config/configs.py: training.dtype, float32 or
// bfloat16, is that of weights, gradients and moments) and DeepSpeed's (runtime/config.py, bf16, fp16 and
// data_types.grad_accum_dtype; _do_sanity_check: states in bf16 at ZeRO 1 to 3, with bf16 master weights).
[[nodiscard]] std::string state_lack(const Plan& plan, Software software);

// Return true if the software can keep that in host memory: a share of the optimizer at this stage of ZeRO;
// activations of so many layers in a pipeline of so many stages, with recomputation or without. Always of
// nothing, and of the plan's own. Megatron: any share of its precision-aware Adam over the distributed
// optimizer (training/arguments.py, optimizer_cpu_offload), activations of fewer layers than there are
// without a pipeline or recomputation (transformer_config.py, cpu_offloading). DeepSpeed: the whole optimizer
// from ZeRO-1 on. PyTorch's and MaxText's move the optimizer only with the parameters.
[[nodiscard]] bool offloads_optimizer(const Plan& plan, Software software, int zero, double share);
[[nodiscard]] bool offloads_activations(const Plan& plan, Software software, std::int64_t pp, bool recomputes,
                                        std::int64_t layers);

}  // namespace pentamesh
