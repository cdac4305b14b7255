// Says a tensor's placement in words: per axis, as the index range of one rank, as a sentence over a whole
// layer, and as the formula of its bytes.
#pragma once

#include "core/base/explain.h"
#include "core/sharding/sharding.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pentamesh {

// Returns "tp", or "etp" where the tensor lies on the expert mesh.
[[nodiscard]] std::string_view axis_name(const Placement& placement, Axis axis);

// Returns "cut along rows into 8", "cut along rows into 8, each on 2 ranks", "copied on 8 ranks", "partial: 8
// summands", "off".
[[nodiscard]] std::string spread_words(const AxisPlacement& on);

// Returns "tp 8 cuts rows", "dp_shard 64 cuts flat", "dp_shard 8 copies", "tp 8 sums". It is empty where the
// axis is off.
[[nodiscard]] std::string cutter_words(const Placement& placement, Axis axis);

// Returns "rows 0 – 1,023 of 8,192", "experts 4 – 7 of 256, rows 0 – 511 of 2,048", "tokens 0 – 511 and 7,680
// – 8,191 of 8,192"; "all of it"; "nothing: not on this pipeline stage".
[[nodiscard]] std::string part_words(const Placement& placement, const Part& part);

// Returns "28,672 × 8,192", with the number of experts or sequences in front.
[[nodiscard]] std::string shape_words(const Placement& placement);

// Says how one axis cuts the tensors listed: "cuts rows of q, k, v and columns of output, copies 2 norms". It
// is empty where its size is 1.
[[nodiscard]] std::string axis_sentence(std::span<const Placement> placements, Axis axis);

// Explains how many bytes a rank has of one layer's tensor. For experts' activations, tokens are spread
// evenly.
[[nodiscard]] Explanation explain_tensor(const Plan& plan, const Mesh& mesh, const Placement& placement,
                                         std::int64_t rank);

}  // namespace pentamesh
