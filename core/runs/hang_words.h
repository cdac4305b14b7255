// Says in words what was found of a run that hangs.
#pragma once

#include "core/runs/hang.h"

#include <string>
#include <string_view>

namespace pentamesh::runs {

// Returns "tp 2 × dp 2 × pp 4", the innermost first.
[[nodiscard]] std::string layout_words(const RunLayout& layout);
// Returns one line: the verdict and how many are to blame, wait and are held up.
[[nodiscard]] std::string verdict_words(const Hang& hang);
// Returns "the 42,806th collective of TENSOR_MODEL_PARALLEL_GROUP (tp): _all_gather_base, ranks 12, 13".
[[nodiscard]] std::string call_words(const Hang& hang, const RunNames& names, const RunCall& call);
// Says in a sentence what to look at next; empty where nothing is known.
[[nodiscard]] std::string next_words(const Hang& hang);

}  // namespace pentamesh::runs
