// Tables say who talks to whom: the groups of each axis, every collective of a step, and what some ranks
// share.
#pragma once

#include "app/tables/table.h"
#include "core/evaluate.h"
#include "core/explain/blame.h"
#include "core/explain/traffic.h"
#include "core/mesh/rank_list.h"

#include <span>
#include <string>
#include <string_view>

namespace pentamesh {

[[nodiscard]] Table comm_table(const Plan& plan, const Evaluation& e);
// Returns a table with a row for each pair of blocks that talk: bytes per step from one block of ranks to
// another.
[[nodiscard]] Table traffic_table(const TrafficMatrix& matrix);
// Lists the phases of one call, in order; `operation` is its place in comm.operations.
[[nodiscard]] Table phases_table(const Plan& plan, const Evaluation& e, int operation);

// "ranks that have the same part of the batch and of the sequence" ...: a caption for the names of Megatron
// and torchtitan that are not an axis' own. `zero`: the stage of ZeRO in force.
[[nodiscard]] std::string_view meaning_of(GroupKind kind, int zero);

// Returns the kinds that the plan has: the dense mesh's, and the expert mesh's where there are experts.
[[nodiscard]] std::vector<GroupKind> kinds_of(const Evaluation& e);

// Returns a table with a row for each kind. With `alone` false, kinds whose groups are single ranks are left
// out.
[[nodiscard]] Table groups_table(const Plan& plan, const Evaluation& e, std::span<const GroupKind> kinds,
                                 bool alone);
// Returns a table with a row for each group of more than one rank: its axis, its number and its ranks, folded
// where they are many. It has at most `most` rows, and a column of hosts where they are named.
[[nodiscard]] Table ranks_table(const Evaluation& e, std::span<const GroupKind> kinds, std::size_t most,
                                const Hosts& hosts = {});

// Returns a table with a row for each group that holds all of the ranks, the smallest first.
[[nodiscard]] Table shared_groups_table(const Plan& plan, const Blame& blame);
// Returns a table with a row for each collective of those groups.
[[nodiscard]] Table waits_table(const Plan& plan, const Evaluation& e, const Blame& blame);
// Returns a table with a row for each kind: over how many groups the ranks are spread.
[[nodiscard]] Table spread_table(const Blame& blame);

}  // namespace pentamesh
