// Says what the whole training takes: days, GPU-hours, money, energy, and the time left after failures. It
// uses only the plan's own values; nothing is assumed.
#pragma once

#include "core/plan/plan.h"

#include <cstdint>
#include <optional>

namespace pentamesh {

// Each is set where the plan gives the values that it needs.
struct Cost {
    std::optional<double> days;                    // of 86,400 s without a failure (training.tokens_total)
    std::optional<double> gpu_hours;               // in those days
    std::optional<double> money;                   // in cluster.currency (price_per_gpu_hour)
    std::optional<double> kwh;                     // gpu_watts × pue, 1 where that is not given
    std::optional<double> hours_between_failures;  // of the whole cluster (failures_per_gpu_day)
    std::optional<double> checkpoint_every_s;      // seconds of training between checkpoints (checkpoint_s)
    std::optional<double> goodput;                 // share of the time that training moves on
    std::optional<double> days_with_failures;
};
// `tokens_per_s` is that of the plan's step. Interval and goodput follow Daly 2006 (A higher order estimate
// of the optimum checkpoint interval), equations 20 and 37; the time to start again is not known and left
// out.
[[nodiscard]] Cost cost_of(const Plan& plan, double tokens_per_s);
// Returns the GPU-hours that a billion tokens take.
[[nodiscard]] double gpu_hours_of_billion(std::int64_t gpus, double tokens_per_s);

}  // namespace pentamesh
