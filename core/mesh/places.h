// Says where a rank is: nodes, pods and GPUs in words.
#pragma once

#include "core/mesh/mesh.h"
#include "core/plan/plan.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// Returns the word for a fast domain: a node, or a rack where it is as large as one (NVL72); "block" of a
// cluster that is not known.
[[nodiscard]] std::string_view domain_name(const Cluster& cluster);
// Returns "NVLink"; "the network" for a tier that the cluster does not have.
[[nodiscard]] std::string_view tier_name(const Cluster& cluster, int tier);
// Returns "NVLink", "spine 1:7"; empty for a tier that the cluster does not have.
[[nodiscard]] std::string tier_label(const Cluster& cluster, int tier);
// Returns what a GPU has of a tier, oversubscription counted in.
[[nodiscard]] double bytes_per_s_of(const Tier& tier);
// Returns "pod 1, node 512, GPU 3".
[[nodiscard]] std::string place_of(const Cluster& cluster, std::int64_t rank);

// Reads lists of ranks and of hosts, as people type them.

// Reads "0-7, 12 99": numbers and ranges between commas, semicolons or blanks, below `world`. Returns them
// ascending, each once. Throws Error (invalid) that names a part that is no rank; also for an empty list.
[[nodiscard]] std::vector<std::int64_t> parse_rank_list(std::string_view text, std::int64_t world);
// Returns "0-7, 12, 99"; beyond `most` parts "…" and how many ranks there are.
[[nodiscard]] std::string ranks_text(const std::vector<std::int64_t>& ranks,
                                     std::size_t most = static_cast<std::size_t>(-1));

// Reads a node list of SLURM: "gpu[01-04,7],login1" is gpu01 gpu02 gpu03 gpu04 gpu7 login1. Leading zeros are
// kept, several brackets in a name multiply, the last one fastest; names are between commas, blanks or line
// ends. Order and repeats stay. Throws Error (invalid) for a bracket that does not close, a range that falls,
// more than 2^20 hosts.
[[nodiscard]] std::vector<std::string> expand_hosts(std::string_view list);

// Holds the hosts of a job in the order of their ranks.
struct Hosts {
    std::vector<std::string> names;  // empty: they have no names
    std::int64_t gpus_each = 1;
    [[nodiscard]] const std::string& of(std::int64_t rank) const {
        return names[static_cast<std::size_t>(rank / gpus_each)];
    }
};
// Spreads `world` ranks over the hosts of the list, evenly; `domain` GPUs of the first tier hold whole hosts.
// Throws Error (invalid) where they do not come out even.
[[nodiscard]] Hosts hosts_of(std::string_view list, std::int64_t world, std::int64_t domain);
// Returns "node01, node02" for the hosts that have these ranks (ascending); beyond `most` "…" and how many.
[[nodiscard]] std::string hosts_text(const Hosts& hosts, const std::vector<std::int64_t>& ranks,
                                     std::size_t most = 8);

// Gives a layout its usual name, and the reason.

struct LayoutName {
    std::string name;    // "HSDP", "3D parallelism", "4D parallelism with folded experts"
    std::string reason;  // a sentence with the factors that make it so
};
[[nodiscard]] LayoutName layout_name(const Plan& plan, const Mesh& mesh);

// Finds how a group lies on a torus of chips that are joined to their neighbours (TPU pods), and how long the
// collectives take there. docs/communication.md has the rules and sources.

inline constexpr std::size_t kMaxTorusSizes = 3;

struct TorusSizes {
    std::array<std::int64_t, kMaxTorusSizes> size{1, 1, 1};  // the first is that of neighbouring ranks
    int count = 0;
    [[nodiscard]] std::int64_t gpus() const { return size[0] * size[1] * size[2]; }
};
// Reads "16x16" or "4x8x8"; nothing for any other text.
[[nodiscard]] std::optional<TorusSizes> torus_sizes(std::string_view text);

// Says how a group lies along one dimension of a torus: `ways` of its ranks, `hops` links from one to the
// next.
struct TorusWay {
    double ways = 1, hops = 1, size = 1;
    // A line of chips closes to a ring where the group goes all around: it sends both ways then. Groups that
    // lie between its ranks share the links, as many as there are hops.
    [[nodiscard]] double rate(double link) const {
        constexpr double kLeastRing = 3;  // two chips have one link
        return link * (size >= kLeastRing && ways * hops >= size ? 2 : 1) / hops;
    }
};

// Holds a group's ways in each dimension; count is 0 where the tier is no torus.
struct TorusWays {
    int count = 0;
    std::array<TorusWay, kMaxTorusSizes> way{};
};
[[nodiscard]] TorusWays torus_ways(std::string_view torus, std::span<const Factor> group);
// Return the ways of the first `inner` ranks of each group, and of one rank of each such set.
[[nodiscard]] TorusWays inner_ways(const TorusWays& ways, double inner);
[[nodiscard]] TorusWays outer_ways(const TorusWays& ways, double inner);

// Return the seconds in which a buffer of `bytes` is gathered (or scattered back), in which each rank sends
// its `bytes` to all of the group, and in which they reach the next rank. `chip_rate` is what all links of a
// chip carry in one direction.
[[nodiscard]] double torus_gather_s(const TorusWays& ways, double bytes, double chip_rate, double latency_s);
[[nodiscard]] double torus_exchange_s(const TorusWays& ways, double bytes, double chip_rate);
[[nodiscard]] double torus_send_s(const TorusWays& ways, double bytes, double chip_rate, double latency_s);

// Says who waits when a node is lost.

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
