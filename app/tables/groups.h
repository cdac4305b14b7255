// The groups of an axis as a table shows them: what the axis' name means, and each group's ranks.
#pragma once

#include "core/mesh/mesh.h"

#include <span>
#include <string>
#include <string_view>

namespace pentamesh {

// "ranks that have the same part of the batch and of the sequence" ...: a caption for the names of Megatron
// and torchtitan that are not an axis' own.
[[nodiscard]] std::string_view meaning_of(GroupKind kind);

// "0, 1, 2, 3"; more than eight equally spaced ranks are folded: "0, 8, 16 … 1016 (128)".
[[nodiscard]] std::string folded_ranks(std::span<const std::int64_t> ranks);

}  // namespace pentamesh
