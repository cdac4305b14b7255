// Tables say what some ranks share: the groups that hold them all, the calls they wait in, how they are
// spread.
#pragma once

#include "app/tables/table.h"
#include "core/explain/blame.h"

namespace pentamesh {

// Returns the kinds that have this group: "tp", "dp_cp = dp".
[[nodiscard]] std::string kinds_text(const SharedGroup& group);

// Returns a table with a row for each group that holds all of the ranks, the smallest first.
[[nodiscard]] Table shared_groups_table(const Plan& plan, const Blame& blame);
// Returns a table with a row for each collective of those groups.
[[nodiscard]] Table waits_table(const Plan& plan, const Evaluation& e, const Blame& blame);
// Returns a table with a row for each kind: over how many groups the ranks are spread.
[[nodiscard]] Table spread_table(const Blame& blame);

}  // namespace pentamesh
