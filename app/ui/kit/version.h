// Says which release this is, where pictures and pages say it.
#pragma once

#include <string_view>

namespace pentamesh::ui {

// Returns "Pentamesh 0.2.0".
[[nodiscard]] inline std::string_view name_and_version() {
    return "Pentamesh " PENTAMESH_VERSION;
}

}  // namespace pentamesh::ui
