// Limits a search's space by what a person asks of it (space.h says how it is written).
#pragma once

#include "core/decide/space.h"
#include "core/plan/plan.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace pentamesh {

// Calls `use` with the member of SearchSpace that holds the field's values.
template <typename Use>
void with_list(Varied v, Use&& use) {
    switch (v) {
    case Varied::tp: return use(&SearchSpace::tp);
    case Varied::cp: return use(&SearchSpace::cp);
    case Varied::pp: return use(&SearchSpace::pp);
    case Varied::virtual_stages: return use(&SearchSpace::virtual_stages);
    case Varied::ep: return use(&SearchSpace::ep);
    case Varied::etp: return use(&SearchSpace::etp);
    case Varied::dp_shard: return use(&SearchSpace::dp_shard);
    case Varied::dp_replicate: return use(&SearchSpace::dp_replicate);
    case Varied::micro_batch: return use(&SearchSpace::micro_batch);
    case Varied::schedule: return use(&SearchSpace::schedule);
    case Varied::zero: return use(&SearchSpace::zero);
    case Varied::recompute: return use(&SearchSpace::recompute);
    case Varied::order: return use(&SearchSpace::order);
    case Varied::gradients: return use(&SearchSpace::gradients);
    case Varied::optimizer_state: return use(&SearchSpace::optimizer_state);
    case Varied::reshard: return use(&SearchSpace::reshard);
    case Varied::overlap_tp: return use(&SearchSpace::overlap_tp);
    case Varied::overlap_pp: return use(&SearchSpace::overlap_pp);
    case Varied::offload_layers: return use(&SearchSpace::offload_layers);
    case Varied::offload_optimizer: return use(&SearchSpace::offload_optimizer);
    }
}

template <typename T>
void add_once(std::vector<T>& list, const T& value) {
    if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

// Returns them in ascending order.
[[nodiscard]] std::vector<std::int64_t> divisors(std::int64_t n);

// `space` has the values by default, `own` those of the plan. Lists come first, limits after them.
void constrain(const Plan& plan, const SpaceRequest& request, const SearchSpace& own, SearchSpace& space,
               std::optional<SpaceError>& error);

}  // namespace pentamesh
