// The tables of how far a plan scales.
#pragma once

#include "app/tables/table.h"
#include "core/decide/scale.h"

namespace pentamesh {

// Returns true if the axis talks at any point.
[[nodiscard]] bool in_use(const Scale& s, GroupKind k);
// One row a point.
[[nodiscard]] Table scale_table(const Scale& scale);
// One row a place where something turns.
[[nodiscard]] Table turns_table(const Scale& scale);

}  // namespace pentamesh
