// Gives tests the presets as they are shipped.
#pragma once

#include "core/io/presets.h"

#include <filesystem>

namespace pentamesh::test {

inline const Presets& presets() {
    static const Presets all(std::filesystem::path(SOURCE_DIR) / "presets");
    return all;
}

}  // namespace pentamesh::test
