// Says in words which part one GPU holds of the tensors that a path through the nested boxes ends at.
#pragma once

#include "core/sharding/nesting.h"

#include <span>
#include <string>
#include <vector>

namespace pentamesh {

// Returns "0–2,047", or "7" where it is one.
[[nodiscard]] std::string short_range(const Range& r);
// Returns "wq, 8,192 × 8,192: rows 0–1,023, tp 0 of 8" for each of the tensors.
[[nodiscard]] std::vector<std::string> cut_sentences(const Nest& nest, std::span<const int> tensors,
                                                     std::int64_t rank);

}  // namespace pentamesh
