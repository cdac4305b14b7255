// What some ranks share, as tables: the groups that hold them all, what they wait in, how they are spread.
#pragma once

#include "app/tables/table.h"
#include "core/explain/blame.h"

namespace pentamesh {

// "tp", "dp_cp = dp": the kinds that have this group.
[[nodiscard]] std::string kinds_text(const SharedGroup& group);

// A row a group that holds all of the ranks, the smallest first.
[[nodiscard]] Table shared_groups_table(const Plan& plan, const Blame& blame);
// A row a collective of those groups.
[[nodiscard]] Table waits_table(const Plan& plan, const Evaluation& e, const Blame& blame);
// A row a kind: over how many groups the ranks are spread.
[[nodiscard]] Table spread_table(const Blame& blame);

}  // namespace pentamesh
