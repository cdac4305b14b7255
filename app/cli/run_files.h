// Reads the files that a run left behind, for the commands that compare it with its plan.
#pragma once

#include "core/runs/measured.h"

#include <string>
#include <vector>

namespace pentamesh::cli {

// `plan` may be nullptr. Throws Error for a file of another kind.
[[nodiscard]] runs::Measured measure_files(const Presets& presets, const std::vector<std::string>& files,
                                           const Plan* plan);

}  // namespace pentamesh::cli
