// Writes a plan's layout and training in one line, for under a picture and over a report.
#pragma once

#include "core/plan/plan.h"

#include <string>

namespace pentamesh {

// Returns "Layout, inner to outer: tp 8 dp_shard 16; ZeRO-1. Batch 2,048 × 8,192 tokens, micro-batch 1, bf16
// ..."
[[nodiscard]] std::string plan_line(const Plan& plan);
// Returns "Llama 3.1 405B on 16,384 × H100 SXM. Layout, ... 32 micro-batches per step.": the whole request.
// With 0 micro-batches they are left out.
[[nodiscard]] std::string asked_line(const Plan& plan, std::int64_t microbatches);

}  // namespace pentamesh
