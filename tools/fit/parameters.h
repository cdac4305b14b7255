// What is fitted: which constant, shared by which GPUs, where it should lie.
#pragma once

#include "core/plan/plan.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

struct Parameter {
    std::string_view key;                // of Efficiency
    std::vector<std::string_view> gpus;  // preset ids that share it
    double expected = 0, spread = 0;  // what is known beforehand: median, standard deviation of the logarithm
    double least = 0, most = 1;
    double value = 0;
    [[nodiscard]] std::string label() const;
    [[nodiscard]] double Efficiency::*member() const;
};

[[nodiscard]] std::vector<Parameter> fitted_parameters();

// Sets the parameters in every efficiency that `for_each(set)` passes to set(gpu, efficiency).
template <typename F>
void set_parameters(const std::vector<Parameter>& parameters, F&& for_each) {
    for_each([&](std::string_view gpu, Efficiency& e) {
        for (const Parameter& p : parameters)
            if (std::find(p.gpus.begin(), p.gpus.end(), gpu) != p.gpus.end()) e.*p.member() = p.value;
    });
}

}  // namespace pentamesh
