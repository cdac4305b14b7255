// Shows one collective call step by step: the rings, switches or messages that collective_time sums.
#pragma once

#include "core/comm/collective_time.h"
#include "core/evaluate.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace pentamesh {

// Holds steps of one kind in a row. A step moves `chunk_bytes` from each rank over one tier.
struct CollectivePhase {
    enum class Shape : std::uint8_t {
        ring_gather,  // around a ring, each rank passes on what it got: at the end all have all
        ring_reduce,  // the same, adding up: at the end each has the sum of its piece
        switch_up,    // to the switches, which add up
        switch_down,  // the sum comes back
        exchange,     // each rank sends every other its piece
        pass          // one message to the next rank
    } shape = Shape::ring_gather;
    int tier = 0;
    std::int64_t ranks = 1;   // ranks that make one ring, or exchange
    std::int64_t stride = 1;  // members of the group from one of them to the next
    std::int64_t steps = 0;
    double chunk_bytes = 0;
    double step_s = 0;
};
[[nodiscard]] std::string_view name_of(CollectivePhase::Shape shape);

// Returns the phases of one call, in order; empty for a group of one. The steps' times sum to the operation's
// call_s.
[[nodiscard]] std::vector<CollectivePhase> collective_phases(const Plan& plan, const Evaluation& evaluation,
                                                             const Operation& operation);

}  // namespace pentamesh
