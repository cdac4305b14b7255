// Why a search left layouts out, in few words.
#pragma once

#include "core/plan/problem.h"

#include <string_view>

namespace pentamesh {

// Returns what follows "layouts that": "do not fit", "have a schedule that the software lacks". It is the
// code's name where no search can meet it.
[[nodiscard]] std::string_view reason_words(ProblemCode code);

}  // namespace pentamesh
