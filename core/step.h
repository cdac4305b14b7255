// How long does a step take? Compute by roofline, communication by alpha-beta, schedule, overlap, stragglers.
// The model and its fit: docs/step.md.
#pragma once

#include "core/comm.h"
#include "core/timeline.h"

#include <optional>

namespace pentamesh {

// Every part in seconds; the parts sum to time_s (tested).
struct Step {
    double time_s = 0;
    double compute_s = 0, recompute_s = 0, bubble_s = 0, optimizer_s = 0, straggler_s = 0;
    std::array<double, kGroupKindCount> exposed_comm_s{};
    double model_flops_per_gpu = 0;  // per step
    double tflops_per_gpu = 0;
    double mfu = 0, hfu = 0;
    double tokens_per_s = 0, tokens_per_step = 0;
    double error = 0;  // relative half-width of the range, from the fit
};

}  // namespace pentamesh
