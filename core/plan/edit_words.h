// Says an edit in words: "tp = 8 and dp_shard = 32".
#pragma once

#include "core/plan/problem.h"

#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// Returns "8", "on", "tp-cp-ep": names with dashes; layers of stages "4 (7 times), 3", for an empty list "an
// even split".
[[nodiscard]] std::string words_of(const EditValue& value);
// Returns the field without its path: "dp_shard".
[[nodiscard]] std::string_view field_of(const Edit& edit);
[[nodiscard]] std::string words_of(const std::vector<Edit>& edits);

}  // namespace pentamesh
