#include "core/step/cost.h"

#include <cmath>

namespace pentamesh {
namespace {

constexpr double kSecondsOfDay = 86400, kSecondsOfHour = 3600;

// Follows Daly 2006, equation 37: `write` seconds a checkpoint, `between` seconds between failures.
double best_interval(double write, double between) {
    if (write >= 2 * between) return between;
    const double x = write / (2 * between);
    return std::sqrt(2 * write * between) * (1 + std::sqrt(x) / 3 + x / 9) - write;
}

}  // namespace

Cost cost_of(const Plan& plan, double tokens_per_s) {
    const Cluster& c = plan.cluster;
    const auto gpus = static_cast<double>(c.gpus);
    Cost out;
    if (plan.training.tokens_total > 0 && tokens_per_s > 0) {
        out.days = plan.training.tokens_total / tokens_per_s / kSecondsOfDay;
        out.gpu_hours = *out.days * kSecondsOfDay / kSecondsOfHour * gpus;
        if (c.price_per_gpu_hour > 0) out.money = *out.gpu_hours * c.price_per_gpu_hour;
        if (c.gpu_watts > 0) out.kwh = *out.gpu_hours * c.gpu_watts * (c.pue > 0 ? c.pue : 1) / 1000;
    }
    if (c.failures_per_gpu_day <= 0 || gpus < 1) return out;
    const double between = kSecondsOfDay / (c.failures_per_gpu_day * gpus);
    out.hours_between_failures = between / kSecondsOfHour;
    const double write = plan.training.checkpoint_s;
    if (write <= 0) return out;
    const double every = best_interval(write, between);
    out.checkpoint_every_s = every;
    // This is equation 20 without time to start again: wall time M (e^((tau + delta) / M) - 1) for tau of
    // training.
    out.goodput = every / (between * std::expm1((every + write) / between));
    if (out.days) out.days_with_failures = *out.days / *out.goodput;
    return out;
}

double gpu_hours_of_billion(std::int64_t gpus, double tokens_per_s) {
    constexpr double kBillion = 1e9;
    return tokens_per_s > 0 ? static_cast<double>(gpus) * kBillion / tokens_per_s / kSecondsOfHour : 0;
}

}  // namespace pentamesh
