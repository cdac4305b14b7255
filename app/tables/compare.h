// Plans beside each other: what differs, the figures, why, and the way from one to the other.
#pragma once

#include "app/tables/table.h"
#include "core/decide/compare.h"

namespace pentamesh {

// Column titles of the plans: "A", "B" ... with their names above the table.
[[nodiscard]] std::string plan_letter(std::size_t index);

[[nodiscard]] Table fields_table(const PlanComparison& c);
// Memory in GiB; every row has its unit.
[[nodiscard]] Table figures_table(const PlanComparison& c);
// The same as people read it: each figure with its unit.
[[nodiscard]] Table worded_figures_table(const PlanComparison& c);
// Seconds of each plan, the difference of each to A, and why; the last row is the whole step.
[[nodiscard]] Table why_table(const PlanComparison& c);
[[nodiscard]] Table path_table(const PlanComparison& c);
// All of these in one, as CSV wants it: table, row, unit, a column a plan, note.
[[nodiscard]] Table comparison_table(const PlanComparison& c);

// "s", "GiB", "USD"; of money that no plan names, or each another: "its price's currency".
[[nodiscard]] std::string unit_words(const FigureRow& row);

}  // namespace pentamesh
