// Says in which types a software keeps gradients and moments.
#pragma once

#include "core/plan/plan.h"

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
// fp32 over the distributed optimizer only).
[[nodiscard]] std::string state_lack(const Plan& plan, Software software);

}  // namespace pentamesh
