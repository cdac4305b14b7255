// Reads the files that a run left behind, for the commands that lay it beside its plan.
#pragma once

#include "core/runs/measured.h"

#include <string>
#include <vector>

namespace pentamesh::cli {

// `plan` is nullptr where there is none. Throws Error for a file that is no file of a run.
[[nodiscard]] runs::Measured measure_files(const Presets& presets, const std::vector<std::string>& files,
                                           const Plan* plan);

}  // namespace pentamesh::cli
