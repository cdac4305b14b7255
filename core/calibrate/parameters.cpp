#include "core/calibrate/parameters.h"

namespace pentamesh {

std::string Parameter::label() const {
    return std::string(key) + " " + std::string(gpus.front())
           + (gpus.size() > 1 ? " + " + std::to_string(gpus.size() - 1) : "");
}

double Efficiency::*Parameter::member() const {
    for (const EfficiencyKey& k : kEfficiencyKeys)
        if (k.key == key) return k.member;
    return nullptr;
}

const Parameter* parameter_of(const std::vector<Parameter>& all, std::string_view key, std::string_view gpu) {
    const Parameter* first = nullptr;
    for (const Parameter& p : all) {
        if (p.key != key) continue;
        if (std::find(p.gpus.begin(), p.gpus.end(), gpu) != p.gpus.end()) return &p;
        if (!first) first = &p;
    }
    return first;
}

double cost_of_error(double error) {
    constexpr double kRound = 0.03;
    return std::sqrt(error * error + kRound * kRound) + 4 * error * error;
}

std::vector<Parameter> fitted_parameters() {
    const std::vector<std::string_view> ampere{"a100-80gb-sxm", "a100-40gb-sxm"};
    const std::vector<std::string_view> hopper{"h100-sxm", "h800-sxm", "h200-sxm"};
    const std::vector<std::string_view> blackwell{"b200", "b300", "gb200", "gb300"};
    const std::vector<std::string_view> limited{"h100-96gb-500w"};  // by its power: only products
    const std::vector<std::string_view> tpu{"tpu-v4", "tpu-v5e", "tpu-v5p", "tpu-v6e"};
    std::vector<std::string_view> modern = hopper;
    modern.insert(modern.end(), blackwell.begin(), blackwell.end());
    std::vector<std::string_view> older = hopper;
    older.insert(older.end(), ampere.begin(), ampere.end());
    std::vector<std::string_view> all = modern;
    all.insert(all.end(), ampere.begin(), ampere.end());
    // Constants are shared as widely as possible: a constant of its own for every chip fits the runs no
    // better than these and predicts unseen runs worse (docs/step.md).
    return {
        {"gemm", ampere, 0.80, 0.10, 0.3, 0.95},
        {"gemm", hopper, 0.75, 0.10, 0.3, 0.95},
        {"gemm", limited, 0.58, 0.10, 0.3, 0.95},
        {"gemm", blackwell, 0.75, 0.10, 0.3, 0.95},
        {"gemm", tpu, 0.75, 0.10, 0.3, 0.95},
        {"gemm_fp8", hopper, 0.65, 0.15, 0.2, 0.95},
        {"gemm_fp8", limited, 0.66, 0.15, 0.2, 0.95},
        {"gemm_fp8", blackwell, 0.72, 0.15, 0.2, 0.95},
        {"gemm_fp4", blackwell, 0.50, 0.2, 0.1, 0.95},
        // FlashAttention-3 (Shah et al. 2024, figures 5 and 6), causal, head width 128, forward and backward
        // on H100.
        {"attention", modern, 0.56, 0.06, 0.2, 0.8},
        {"attention", tpu, 0.4, 0.2, 0.1, 0.8},
        {"grouped", hopper, 0.6, 0.1, 0.1, 0.9},
        {"grouped", blackwell, 0.5, 0.1, 0.1, 0.9},
        {"hbm", all, 0.80, 0.1, 0.5, 0.95},
        {"fast_link", older, 0.75, 0.15, 0.4, 0.95},
        // NCCL on 8 B200: 0.67 for all-gather and reduce-scatter, 0.74 for all-reduce (SimuMax,
        // b200_bf16_ceperm).
        {"fast_link", blackwell, 0.70, 0.05, 0.4, 0.95},
        {"slow_link", all, 0.75, 0.15, 0.4, 0.95},
        {"all_to_all", modern, 0.6, 0.2, 0.1, 0.95},
        {"overlap", all, 0.85, 0.1, 0.2, 1.0},
        {"kernel_s", all, 3e-6, 0.3, 1e-6, 1e-5},
        {"launch_s", modern, 2.3e-5, 0.5, 2e-6, 6e-5},
    };
}

}  // namespace pentamesh
