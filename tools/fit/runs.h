// Published runs as plans: what tests/golden/published_runs.json says of each, and the step time it measured.
#pragma once

#include "core/plan.h"

#include <string>
#include <vector>

namespace pentamesh {

class Presets;

struct Run {
    std::string label;
    std::string gpu;          // preset id
    std::vector<Plan> plans;  // the least recomputation first: the first that fits memory counts
    double measured_s = 0;    // 0: only a rate is published
    double measured_tflops = 0;
};

// Throws Error or a JSON exception where the file does not say what it should.
[[nodiscard]] std::vector<Run> load_runs(const std::string& path, const Presets& presets);

}  // namespace pentamesh
