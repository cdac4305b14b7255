// Finds the steady part of a timeline: the stretch in which every stage does the same again and again.
#pragma once

#include "core/pipeline/timeline.h"

#include <optional>

namespace pentamesh {

struct SteadyPart {
    double from_s = 0;    // every stage asked is steady from here on
    double period_s = 0;  // after which the ops of a stage begin anew
    int periods = 0;      // whole ones, at least 3
    [[nodiscard]] double to_s() const { return from_s + period_s * periods; }
};
// The ops of the first, the middle and the last stage repeat in kind and chunk, and their starts by one
// period to 2 %. It is nullopt where fewer than three periods do. It takes O(ops of a stage x ops of a
// period).
[[nodiscard]] std::optional<SteadyPart> steady_part(const Timeline& t);

// Returns the median duration of the ops of the middle stage, in seconds; 0 for an empty timeline.
[[nodiscard]] double median_op_s(const Timeline& t);

}  // namespace pentamesh
