// A plan's layout and training in one line: under a picture, over a report.
#pragma once

#include "core/plan/plan.h"

#include <string>

namespace pentamesh {

// "Layout, inner to outer: tp 8 dp_shard 16; ZeRO-1. Batch 2,048 × 8,192 tokens, micro-batch 1, bf16 ..."
[[nodiscard]] std::string plan_line(const Plan& plan);
// "Llama 3.1 405B on 16,384 × H100 SXM. Layout, ... 32 micro-batches per step.": all that
// was asked. 0 micro-batches: nothing is said of them.
[[nodiscard]] std::string asked_line(const Plan& plan, std::int64_t microbatches);

}  // namespace pentamesh
