#include "parameters.h"

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

std::vector<Parameter> fitted_parameters() {
    const std::vector<std::string_view> ampere{"a100-80gb-sxm", "a100-40gb-sxm"};
    const std::vector<std::string_view> hopper{"h100-sxm", "h800-sxm", "h200-sxm"};
    const std::vector<std::string_view> blackwell{"b200", "b300", "gb200", "gb300"};
    std::vector<std::string_view> modern = hopper;
    modern.insert(modern.end(), blackwell.begin(), blackwell.end());
    std::vector<std::string_view> all = modern;
    all.insert(all.end(), ampere.begin(), ampere.end());
    // Shared as widely as it can be: a constant of its own for every chip fits the runs no better than these
    // and foretells the ones that it has not seen worse (docs/step.md).
    return {
        {"gemm", ampere, 0.80, 0.10, 0.3, 0.95},
        {"gemm", hopper, 0.75, 0.10, 0.3, 0.95},
        {"gemm", blackwell, 0.75, 0.10, 0.3, 0.95},
        {"gemm_fp8", hopper, 0.65, 0.15, 0.2, 0.95},
        {"gemm_fp8", blackwell, 0.72, 0.15, 0.2, 0.95},
        {"gemm_fp4", blackwell, 0.50, 0.2, 0.1, 0.95},
        {"attention", modern, 0.50, 0.2, 0.2, 0.8},
        {"grouped", modern, 0.8, 0.1, 0.2, 1.0},
        {"hbm", all, 0.80, 0.1, 0.5, 0.95},
        {"fast_link", all, 0.75, 0.15, 0.4, 0.95},
        {"slow_link", all, 0.75, 0.15, 0.4, 0.95},
        {"all_to_all", modern, 0.6, 0.2, 0.1, 0.95},
        {"overlap", all, 0.85, 0.1, 0.2, 1.0},
        {"kernel_s", all, 3e-6, 0.3, 1e-6, 1e-5},
        {"launch_s", modern, 2.3e-5, 0.5, 2e-6, 6e-5},
    };
}

}  // namespace pentamesh
