// Says which GPU sends how much to which other: the bytes of one axis' collectives between blocks of ranks,
// in closed form over the mesh's strides, so that 131,072 GPUs cost what 128 do.
#pragma once

#include "core/comm/collective_time.h"
#include "core/evaluate.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace pentamesh {

// Rows send, columns receive. A block is `block` ranks in a row: ranks [i * block, (i + 1) * block) are block
// i. Every rank is taken to send as much as the busiest one (Operation::sent_bytes_per_rank); pipeline stages
// send only to their neighbours, the first and the last to one.
struct TrafficMatrix {
    GroupKind group = GroupKind::tp;
    std::int64_t world = 0, block = 1;
    int blocks = 0;             // of either side
    std::vector<double> bytes;  // per step, blocks x blocks, row by row; inside a block on the diagonal
    double most = 0;            // largest of them
    [[nodiscard]] double at(int from, int to) const {
        return bytes[static_cast<std::size_t>(from) * static_cast<std::size_t>(blocks)
                     + static_cast<std::size_t>(to)];
    }
};

// Ring collectives send along the rings of each tier (Route), all-to-alls to every member, less beyond the
// first tier where copies are sent once. `most_blocks` is at least 2. Blocks are the finest that the mesh's
// strides allow: their edges are edges of the axis' groups or lie evenly in them. It is empty where nobody on
// that axis talks.
[[nodiscard]] TrafficMatrix traffic_matrix(const Plan& plan, const Evaluation& evaluation, GroupKind group,
                                           int most_blocks);

// Says what some ranks share, to find the group, the node or the link behind ranks that hang or fail.

// This is a group that holds all of the ranks.
struct SharedGroup {
    GroupKind kind = GroupKind::tp;
    std::vector<GroupKind> also;        // kinds whose group of these ranks has the same members
    std::int64_t index = 0;             // in canonical order, of `kind`
    int tier = 0;                       // the slowest that it crosses
    std::vector<std::int64_t> members;  // ascending
    // Holds indices into comm.operations: these ranks wait for each other in those calls, `also` included.
    // Calls that their pipeline stages do not make are left out.
    std::vector<int> operations;
};

// Says how the ranks lie in the groups of one kind.
struct AxisSpread {
    GroupKind kind = GroupKind::tp;
    std::int64_t degree = 1;
    std::int64_t groups = 0;   // groups that hold at least one of the ranks
    std::int64_t most = 0;     // of them in one group
    std::int64_t most_in = 0;  // the first such group
};

struct Blame {
    std::vector<std::int64_t> ranks;                    // ascending, each once
    std::vector<SharedGroup> groups;                    // the smallest first
    std::vector<AxisSpread> spread;                     // each kind of more than one rank a group
    Coordinates dense{}, expert{};                      // of the first rank
    EnumArray<Axis, bool> same_dense{}, same_expert{};  // all have that coordinate, and the axis has size > 1
    std::optional<std::int64_t> stage;                  // pipeline stage of them all
    int tier = -1;                                      // the fastest that joins them all; -1: one rank
    std::vector<std::int64_t>
        domains;  // by tier: the number of the domain that holds them all, -1: none does
    // The same place in different fast domains, and the same NIC, which GPUs may share: their rail.
    std::optional<std::int64_t> seat, nic;
    std::vector<std::int64_t> waiting;  // others in the groups that talk: they wait next
};

// `ranks` has at least one, ascending, each once, below mesh.world; the plan is valid.
[[nodiscard]] Blame blame(const Plan& plan, const Evaluation& e, std::vector<std::int64_t> ranks);

// Returns "node 3 and stage 2; tp 1, dp_shard 0": other things than groups that they share. It is empty where
// they share nothing.
[[nodiscard]] std::string shared_place_text(const Plan& plan, const Evaluation& e, const Blame& b);

// Shows one collective call step by step: the rings, switches or messages that collective_time sums.

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
