// Finds how a group lies on a torus of chips that are joined to their neighbours (TPU pods), and how long the
// collectives take there. docs/communication.md has the rules and sources.
#pragma once

#include "core/mesh/mesh.h"
#include "core/plan/plan.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace pentamesh {

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

}  // namespace pentamesh
