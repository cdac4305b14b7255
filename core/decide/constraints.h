// Limits a search's space by what a person asks of it (space.h says how it is written).
#pragma once

#include "core/decide/search.h"
#include "core/decide/space.h"

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

// Leaves of a report by Goal::tokens the layouts of the Pareto line that take at most `share` more time than
// the fastest, least memory first; the report's goal is memory then. It is exact: a layout that is within the
// share and not on the line is beaten in both by one of the line, which is within the share too.
void keep_within(SearchReport& report, double share);

}  // namespace pentamesh
