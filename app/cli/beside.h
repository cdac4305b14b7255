// Finds the files that a settings file names: what a script reads in, the modules that a recipe imports.
#pragma once

#include "core/interop/import.h"

#include <filesystem>

namespace pentamesh::cli {

// Looks in the folder of `file` and in those around it, as Python looks for a package.
[[nodiscard]] interop::OtherFile files_beside(const std::filesystem::path& file);

}  // namespace pentamesh::cli
