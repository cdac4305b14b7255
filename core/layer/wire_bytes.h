// Counts the bytes of a number on the wire.
#pragma once

#include "core/plan/plan.h"

namespace pentamesh {

// Returns the bytes of one activation on the wire: a compute type below 16 bits still sends 16, except where
// a kernel says otherwise (fp8 dispatch).
[[nodiscard]] double wire_bytes(Dtype compute);

// Returns the bytes of one parameter on the wire where ZeRO-3 gathers it: FSDP2 (_fsdp_param.py,
// all_gather_inputs) and Megatron-FSDP cast a shard that is wider than the compute type first.
[[nodiscard]] double gathered_bytes(const Training& training);

// Bytes of one updated parameter on the wire where ZeRO-1 and 2 gather it: those of its type, of one copy. Of
// MXFP8 bf16 goes, out of which each rank scales both ways (Megatron-LM, reuse_grad_buf_for_mxfp8_param_ag).
[[nodiscard]] double updated_bytes(const Training& training);

}  // namespace pentamesh
