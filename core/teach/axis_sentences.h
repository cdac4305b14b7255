// Says in one plain sentence what an axis or a modifier is: the first thing that is read about it.
#pragma once

#include "core/plan/plan.h"

#include <string_view>

namespace pentamesh {

[[nodiscard]] std::string_view sentence_of(Axis axis);
// Says what copies need not all keep at this stage of ZeRO, 0 to 3.
[[nodiscard]] std::string_view sentence_of_zero(int stage);
inline constexpr std::string_view kSequenceParallelSentence =
    "SP keeps what lies between tp's cuts in pieces, by token.";

}  // namespace pentamesh
