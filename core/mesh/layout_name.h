// Gives a layout its usual name, and the reason.
#pragma once

#include "core/mesh/mesh.h"

#include <string>

namespace pentamesh {

struct LayoutName {
    std::string name;    // "HSDP", "3D parallelism", "4D parallelism with folded experts"
    std::string reason;  // a sentence with the factors that make it so
};
[[nodiscard]] LayoutName layout_name(const Plan& plan, const Mesh& mesh);

}  // namespace pentamesh
