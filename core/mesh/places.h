// Says where a rank is: nodes, pods and GPUs in words.
#pragma once

#include "core/plan/plan.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace pentamesh {

// Returns the word for a fast domain: a node, or a rack where it is as large as one (NVL72).
[[nodiscard]] std::string_view domain_name(const Cluster& cluster);
// Returns "NVLink"; "the network" for a tier that the cluster does not have.
[[nodiscard]] std::string_view tier_name(const Cluster& cluster, int tier);
// Returns "NVLink", "spine 1:7"; empty for a tier that the cluster does not have.
[[nodiscard]] std::string tier_label(const Cluster& cluster, int tier);
// Returns what a GPU has of a tier, oversubscription counted in.
[[nodiscard]] double bytes_per_s_of(const Tier& tier);
// Returns "pod 1, node 512, GPU 3".
[[nodiscard]] std::string place_of(const Cluster& cluster, std::int64_t rank);

}  // namespace pentamesh
