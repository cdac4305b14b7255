#include "app/ui/scene/scene.h"

#include "app/ui/kit/format.h"

namespace pentamesh::ui {

std::string axis_label(GroupKind kind) {
    switch (kind) {
    case GroupKind::dp_cp: return "dp × cp";
    case GroupKind::tp_cp: return "tp × cp";
    case GroupKind::mp: return "tp × pp";
    case GroupKind::fsdp: return "dp_shard × cp";
    case GroupKind::etp_ep: return "etp × ep";
    default: return std::string(name_of(kind));
    }
}

std::string tier_label(const Cluster& cluster, int tier) {
    if (tier < 0 || static_cast<std::size_t>(tier) >= cluster.tiers.size()) return "";
    const Tier& t = cluster.tiers[tier];
    return t.oversubscription > 1 ? t.name + " 1:" + trimmed(t.oversubscription) : t.name;
}

}  // namespace pentamesh::ui
