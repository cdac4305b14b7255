// Finds how long one collective takes: alpha-beta per tier of the fabric, hierarchical over the tiers that a
// group crosses. docs/communication.md has the rules and sources.
#pragma once

#include "core/comm/comm.h"
#include "core/mesh/mesh.h"
#include "core/mesh/places.h"
#include "core/plan/plan.h"

namespace pentamesh {

// Says how one kind of group lies on the fabric, as a collective sees it. Part i is for tier i: `ways`
// sub-groups of the next faster tier meet there, so that ways multiply to the group's degree.
struct RoutePart {
    double ways = 1;
    double members = 1;           // ranks of the group inside one domain of this tier
    double bytes_per_s = 0;       // per GPU, after oversubscription and the share that rings reach
    double link_bytes_per_s = 0;  // the same before that share
    double latency_s = 0;
    bool in_network_reduction = false;
    TorusWays torus;  // of the first tier, where it is one
};
struct Route {
    double degree = 1;
    int parts = 0;  // tiers up to the slowest that any group of the kind crosses
    double gpus_per_nic = 1;
    // So many ranks next to each other send from a node at once, where each rank sends to its neighbour.
    double senders = 1;
    std::array<RoutePart, kMaxTiers> part{};
};
[[nodiscard]] Route find_route(const Plan& plan, const Mesh& mesh, const GroupSummary& summary);

// Keeps the route of the axis asked for last: operations come axis by axis.
class Routes {
  public:
    Routes(const Plan& plan, const Mesh& mesh, const GroupSummaries& summary)
        : plan_(plan), mesh_(mesh), summary_(summary) {}

    const Route& of(GroupKind k) {
        if (!known_ || k != kind_) route_ = find_route(plan_, mesh_, summary_[k]);
        known_ = true;
        kind_ = k;
        return route_;
    }

  private:
    const Plan& plan_;
    const Mesh& mesh_;
    const GroupSummaries& summary_;
    Route route_;
    GroupKind kind_ = GroupKind::tp;
    bool known_ = false;
};

// Return the first `inner` ranks of each group, and one rank of each such set: for the two halves of a group
// that no kind names (heads are exchanged inside a part of cp, the ring closes outside).
[[nodiscard]] Route within(const Route& route, double inner);
[[nodiscard]] Route beyond(const Route& route, double inner);
// Returns the seconds in which the part's ranks gather a buffer from each other, or scatter it back.
[[nodiscard]] double pass_time(const RoutePart& part, double buffer);
// Returns the slowest tier that the route crosses, as an index into cluster.tiers.
[[nodiscard]] int slowest_tier(const Route& route);

// Share of a tier's bandwidth that rings reach, in the first tier and beyond it.
[[nodiscard]] double link_share(const Efficiency& e, int tier);
// Share of a tier's bandwidth that an all-to-all reaches. In the first tier it is bound by the protocol, as
// rings are (NCCL on H100: 370 of 450 GB/s in all but all-reduces by NVLink SHARP, nccl-tests issue 212), and
// reaches 0.9 of their rate (8 B200: 0.60 against 0.67, SimuMax b200_bf16_ceperm). Beyond it, the fitted one.
[[nodiscard]] double all_to_all_share(const Efficiency& e, int tier);

// Returns the seconds of one call over the route with the given buffer (Operation::message_bytes).
// `slow_share` is the share of an all-to-all's bytes beyond the first tier that really crosses it: the kernel
// sends a token once to a node that holds several of its experts. With `forwarded` the first tier there
// spreads the bytes that have come in, so that it carries all of the buffer's copies.
[[nodiscard]] double collective_time(const Route& route, const Efficiency& efficiency, Collective c,
                                     double buffer_bytes, double slow_share = 1, bool forwarded = false);

// Returns the seconds of one call of this operation; `whole` is the route of its group kind, of which the
// call may use a part.
[[nodiscard]] double call_time(const Plan& plan, const Route& whole, const Operation& o);

}  // namespace pentamesh
