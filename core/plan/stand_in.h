// A run that is given without its plan says its layout at most. Its model and its cluster are then stand-ins:
// they are called so, and no figure that rests on them is shown.
#pragma once

#include "core/plan/plan.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace pentamesh {

// Such a model, such a cluster and its tiers have this name.
inline constexpr std::string_view kNotKnown = "not known";

[[nodiscard]] inline bool is_known(const Model& model) {
    return model.name != kNotKnown;
}
[[nodiscard]] inline bool is_known(const Cluster& cluster) {
    return cluster.name != kNotKnown;
}
// Returns true until somebody names both the model and the cluster: by another plan, or by an edit of each.
[[nodiscard]] inline bool is_stand_in(const Plan& plan) {
    return !is_known(plan.model) || !is_known(plan.cluster);
}

// Returns "the run's model and its cluster are not known", with what of them is not; empty: both are.
[[nodiscard]] inline std::string not_known_words(const Plan& plan) {
    const bool model = !is_known(plan.model), cluster = !is_known(plan.cluster);
    if (!model && !cluster) return {};
    const std::string_view what = model && cluster ? "model and its cluster are"
                                  : model          ? "model is"
                                                   : "cluster is";
    return "the run's " + std::string(what) + " not known";
}

// Returns the plan with a model and a cluster that are not known. All GPUs are in one tier, since nobody said
// where a node ends; of more than `most_apart` GPUs those of 8 ranks next to each other are drawn as one.
[[nodiscard]] inline Plan stand_in_of(Plan plan, std::int64_t most_apart = 1024) {
    plan.model.name = plan.cluster.name = kNotKnown;
    plan.model_source = plan.cluster_source = {};
    plan.cluster.calibration.reset();
    Tier tier = plan.cluster.tiers.empty() ? Tier{} : plan.cluster.tiers.front();
    tier.name = kNotKnown;
    tier.torus.clear();
    tier.domain = 0;
    plan.cluster.tiers.assign(1, tier);
    if (plan.cluster.gpus > most_apart) {
        tier.domain = 8;
        plan.cluster.tiers.insert(plan.cluster.tiers.begin(), std::move(tier));
    }
    return plan;
}

}  // namespace pentamesh
