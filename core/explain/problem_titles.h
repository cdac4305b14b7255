// A problem in three to six words, for lists in which each problem has one line.
#pragma once

#include "core/plan/problem.h"

#include <string_view>

namespace pentamesh {

[[nodiscard]] std::string_view title_of(ProblemCode code);  // "tp crosses nodes"

}  // namespace pentamesh
