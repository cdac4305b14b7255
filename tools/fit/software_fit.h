// Fits a framework's own rates (presets/software) to its measured runs after the GPU's efficiencies.
#pragma once

#include "core/plan/software.h"

#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// This is a figure whose source in the preset says that it is fitted.
struct SoftwareParameter {
    std::string_view key;
    double SoftwareFacts::*member = nullptr;
    double expected = 1, spread = 0.5;  // prior: median, deviation of the logarithm
    double least = 0, most = 1;
    double value = 0;
};
[[nodiscard]] std::vector<SoftwareParameter> fitted_of(const SoftwareFacts& facts);

// Returns the facts with the parameters' values.
[[nodiscard]] SoftwareFacts with_values(SoftwareFacts facts,
                                        const std::vector<SoftwareParameter>& parameters);

// Writes the values to four digits into presets/software/ID.json below `root`.
void write_software(const std::string& root, std::string_view id,
                    const std::vector<SoftwareParameter>& parameters);

}  // namespace pentamesh
