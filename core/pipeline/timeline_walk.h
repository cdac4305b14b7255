// Where does one go from here? The op that runs at a moment, the next moment at which anything changes, and
// who needs an op's output.
#pragma once

#include "core/pipeline/timeline.h"

#include <array>
#include <cstddef>
#include <optional>

namespace pentamesh {

// The op that a device runs at a time, -1: it idles. An op owns its start and not its end. O(log ops).
[[nodiscard]] std::ptrdiff_t op_at(const Timeline& t, int device, double time);
// The first start or end of an op after `time`, on one device or (-1) on any; nullopt: nothing follows.
[[nodiscard]] std::optional<double> next_boundary(const Timeline& t, double time, int device = -1);
// The last one before `time`.
[[nodiscard]] std::optional<double> previous_boundary(const Timeline& t, double time, int device = -1);

// The ops that need the output of op `index` of the order, without its own weight gradient; -1: none. The
// reverse of inputs_of. A pair has up to two.
[[nodiscard]] std::array<std::ptrdiff_t, 2> outputs_of(const Timeline& t, std::size_t index);
// Whether the output of `index` leaves its device: where it goes, forward and backward; -1: nowhere.
struct SentTo {
    int forward = -1, backward = -1;  // devices
};
[[nodiscard]] SentTo sent_to(const Timeline& t, int device, const Op& op);

}  // namespace pentamesh
