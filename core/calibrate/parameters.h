// Says which constants are fitted, which GPUs share them, and their limits: one table for the fit of those
// that ship (tools/fit) and of one's own cluster (calibrate.h).
#pragma once

#include "core/plan/plan.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

struct Parameter {
    std::string_view key;                // of Efficiency
    std::vector<std::string_view> gpus;  // preset ids that share it
    double expected = 0, spread = 0;     // prior: median, standard deviation of the logarithm
    double least = 0, most = 1;          // beyond: no GPU does that
    double value = 0;
    [[nodiscard]] std::string label() const;
    [[nodiscard]] double Efficiency::*member() const;
};

[[nodiscard]] std::vector<Parameter> fitted_parameters();
// Returns the parameter of that key and GPU; for a GPU that is in no row, the first of the key; null where
// the key is not fitted.
[[nodiscard]] const Parameter* parameter_of(const std::vector<Parameter>& all, std::string_view key,
                                            std::string_view gpu);

// Sets the parameters in every efficiency that `for_each(set)` passes to set(gpu, efficiency).
template <typename F>
void set_parameters(const std::vector<Parameter>& parameters, F&& for_each) {
    for_each([&](std::string_view gpu, Efficiency& e) {
        for (const Parameter& p : parameters)
            if (std::find(p.gpus.begin(), p.gpus.end(), gpu) != p.gpus.end()) e.*p.member() = p.value;
    });
}

// Returns the cost that a run adds to a fit; `error` is the logarithm of measured over estimated time. The
// cost is the absolute error, rounded off near 0, and its square.
[[nodiscard]] double cost_of_error(double error);
// Returns how far the parameters are from their expected values, one standard deviation weighing as much as 5
// % of a run that is off by e. P has value, expected and spread.
template <typename P>
[[nodiscard]] double cost_of_values(const std::vector<P>& parameters) {
    constexpr double kPrior = 0.05;  // of a run
    double sum = 0;
    for (const P& p : parameters) {
        const double z = std::log(p.value / p.expected) / p.spread;
        sum += kPrior * z * z;
    }
    return sum;
}

// Searches by coordinates in the logarithm of each parameter; the step is halved when none helps. cost() uses
// the values. P has value, least and most.
template <typename P, typename Cost>
void minimize(std::vector<P>& parameters, Cost&& cost) {
    double best = cost();
    for (double step = 0.16; step > 0.002; step /= 2) {
        for (bool better = true; better;) {
            better = false;
            for (P& p : parameters) {
                for (const double factor : {std::exp(step), std::exp(-step)}) {
                    const double before = p.value;
                    p.value = std::clamp(before * factor, p.least, p.most);
                    const double now = cost();
                    if (now < best - 1e-9) {
                        best = now;
                        better = true;
                        break;
                    }
                    p.value = before;
                }
            }
        }
    }
    static_cast<void>(cost());  // leaves what it sets at the values found
}

}  // namespace pentamesh
