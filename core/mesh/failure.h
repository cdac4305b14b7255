// Says who waits when a node is lost.
#pragma once

#include "core/mesh/mesh.h"

#include <cstdint>
#include <vector>

namespace pentamesh {

struct AxisFailure {
    GroupKind kind = GroupKind::tp;
    std::int64_t groups_hit = 0;  // groups that lose a member
    std::int64_t groups = 0;
    std::int64_t waiting = 0;  // surviving GPUs in those groups: their next collective does not end
};

struct Failure {
    std::int64_t first_rank = 0, lost = 0;  // the node's ranks are first_rank .. first_rank + lost - 1
    std::vector<AxisFailure> axes;          // every kind with more than one rank a group, dense axes first
    std::int64_t waiting = 0;               // surviving GPUs: a synchronous step ends for none of them
    std::int64_t replicas_hit = 0,
                 replicas = 0;  // model replicas (data-parallel coordinates) that lose a member
    // True if a surviving rank still holds every shard that was lost: dp_replicate keeps copies of all state;
    // with zero = 0 dp_shard does too. Otherwise the run goes back to its last checkpoint.
    bool state_survives = false;
};

// Returns the GPUs of one node: the first tier's domain, at most the world.
[[nodiscard]] std::int64_t node_size(const Mesh& mesh, const Cluster& cluster);
// Describes the loss of node `node` (ranks node * size ...; the last may be smaller). It is empty where there
// is no such node. It takes time in node size x kinds.
[[nodiscard]] Failure lose_node(const Plan& plan, const Mesh& mesh, std::int64_t node);

}  // namespace pentamesh
