// Tables set plans side by side: the differences, the figures, the reasons, and the way from one to the
// other.
#pragma once

#include "app/tables/table.h"
#include "core/decide/compare.h"

namespace pentamesh {

// Returns the column title of a plan, "A", "B" ...; its name stands above the table.
[[nodiscard]] std::string plan_letter(std::size_t index);

[[nodiscard]] Table fields_table(const PlanComparison& c);
// Memory is in GiB; every row has its unit.
[[nodiscard]] Table figures_table(const PlanComparison& c);
// Returns the same rows as people read them: each figure with its unit.
[[nodiscard]] Table worded_figures_table(const PlanComparison& c);
// Returns the seconds of each plan, the difference of each to A, and why; the last row is the whole step.
[[nodiscard]] Table why_table(const PlanComparison& c);
// Returns the same for reading: parts that differ from A by less than 0.1 % of its step in every plan are one
// row, which names them. An estimate knows no less.
[[nodiscard]] Table brief_why_table(const PlanComparison& c);
[[nodiscard]] Table path_table(const PlanComparison& c);
// Joins all of these in one, as CSV wants it: table, row, unit, a column a plan, note.
[[nodiscard]] Table comparison_table(const PlanComparison& c);

// Returns "s", "GiB", "USD"; for money of which no plan names the currency, or each another: "its price's
// currency".
[[nodiscard]] std::string unit_words(const FigureRow& row);

}  // namespace pentamesh
