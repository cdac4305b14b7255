// Says which piece of a buffer is where while a collective goes round a ring of `n` members, each of which
// has the next one for its neighbour; pieces are numbered as members are.
#pragma once

#include <cstdint>

namespace pentamesh {

enum class RingPart : std::uint8_t {
    reduce,        // reduce-scatter: sums travel, each member ends with the whole sum of one piece
    gather,        // all-gather: each member begins with its own piece
    after_reduce,  // the second half of an all-reduce: each begins with the piece that it summed
    exchange       // all-to-all: a piece is what one member has for another; here, by who sent it
};
// Returns the piece that a member sends in a step, from 0 on; for an exchange the member that it is for.
[[nodiscard]] std::int64_t piece_sent(RingPart part, std::int64_t n, std::int64_t member, std::int64_t step);
// Returns how much of a piece a member has after so many whole steps: 1 for all of it, 0 for nothing; for a
// sum the share of members that are in it, 0 once it was passed on.
[[nodiscard]] double piece_held(RingPart part, std::int64_t n, std::int64_t member, std::int64_t piece,
                                std::int64_t steps);

}  // namespace pentamesh
