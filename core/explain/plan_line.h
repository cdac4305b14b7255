// A plan's layout and training in one line: under a picture, over a report.
#pragma once

#include "core/plan/plan.h"

#include <string>

namespace pentamesh {

// "Layout, inner to outer: tp 8 dp_shard 16; ZeRO-1. Batch 2,048 × 8,192 tokens, micro-batch 1, bf16 ..."
[[nodiscard]] std::string plan_line(const Plan& plan);

}  // namespace pentamesh
