// Where does a rank sit? Nodes, pods and GPUs in words.
#pragma once

#include "core/plan/plan.h"

#include <string>
#include <string_view>

namespace pentamesh {

// What a fast domain is called: a node, or a rack where it is as large as one (NVL72).
[[nodiscard]] std::string_view domain_name(const Cluster& cluster);
// "NVLink"; a tier that the cluster has not: "the network".
[[nodiscard]] std::string_view tier_name(const Cluster& cluster, int tier);
// "NVLink", "spine 1:7"; empty: a tier that the cluster has not.
[[nodiscard]] std::string tier_label(const Cluster& cluster, int tier);
// "pod 1, node 512, GPU 3"
[[nodiscard]] std::string place_of(const Cluster& cluster, std::int64_t rank);

}  // namespace pentamesh
