#include "core/mesh/places.h"

#include "core/base/text.h"

#include <algorithm>

namespace pentamesh {

std::string_view domain_name(const Cluster& cluster) {
    constexpr std::int64_t kLargestNode = 16;
    return !cluster.tiers.empty() && domain_of(cluster, 0) > kLargestNode ? "rack" : "node";
}

std::string_view tier_name(const Cluster& cluster, int tier) {
    const auto i = static_cast<std::size_t>(tier);
    return tier >= 0 && i < cluster.tiers.size() ? std::string_view(cluster.tiers[i].name) : "the network";
}

std::string place_of(const Cluster& cluster, std::int64_t rank) {
    const std::int64_t domain = cluster.tiers.empty() ? 1 : std::max<std::int64_t>(1, domain_of(cluster, 0));
    std::string s;
    if (cluster.tiers.size() > 2)
        s = "pod " + with_commas(rank / std::max<std::int64_t>(1, domain_of(cluster, 1))) + ", ";
    return s + std::string(domain_name(cluster)) + " " + with_commas(rank / domain) + ", GPU "
           + std::to_string(rank % domain);
}

double bytes_per_s_of(const Tier& tier) {
    return tier.bytes_per_s / std::max(1.0, tier.oversubscription);
}

std::string tier_label(const Cluster& cluster, int tier) {
    if (tier < 0 || static_cast<std::size_t>(tier) >= cluster.tiers.size()) return "";
    const Tier& t = cluster.tiers[static_cast<std::size_t>(tier)];
    return t.oversubscription > 1 ? t.name + " 1:" + three_digits(t.oversubscription) : t.name;
}

}  // namespace pentamesh
