// Says what some ranks share, to find the group, the node or the link behind ranks that hang or fail.
#pragma once

#include "core/evaluate.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace pentamesh {

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

}  // namespace pentamesh
