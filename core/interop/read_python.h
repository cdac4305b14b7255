// Reads the settings of a Python configuration, which is never run: `cfg.model.tp = 8` is "cfg.model.tp"; of
// `ParallelismConfig(tp=8)` the keyword is "ParallelismConfig.tp", and "ParallelismConfig()" says that it is
// called.
#pragma once

#include "core/interop/settings.h"

namespace pentamesh::interop {

[[nodiscard]] std::vector<Setting> read_python(std::string_view text, const std::string& path);

}  // namespace pentamesh::interop
