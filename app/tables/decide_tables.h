// Tables set plans side by side: the differences, the figures, the reasons, and the way from one to the
// other.
#pragma once

#include "app/tables/table.h"
#include "core/decide/choose.h"
#include "core/decide/compare.h"
#include "core/decide/scale.h"
#include "core/decide/search.h"
#include "core/pipeline/timeline.h"
#include "core/plan/plan.h"
#include "core/runs/calibrate.h"
#include "core/step/constants.h"
#include "core/step/step.h"

#include <span>
#include <string>
#include <vector>

namespace pentamesh {

// The column title of a plan is its letter (plan_letter); its name stands above the table.
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

// Tables list the layouts that a search found and those that it turned down.

// Returns a table with a column for each field that the space varies, then the figures.
[[nodiscard]] Table results_table(const SearchReport& r);
// Returns "Megatron-LM, torchtitan": who runs a layout.
[[nodiscard]] std::string run_by_words(const Plan& plan);
[[nodiscard]] Table rejected_table(const SearchReport& r);
// Holds the best layout so far while a search runs, or a layout to compare it with.
struct FoundRow {
    std::string layout;
    double step_s = 0, memory_bytes = 0;
};
[[nodiscard]] Table found_table(std::span<const FoundRow> rows);
// Returns "tp 8 cp 1 pp 16 ...", for an example.
[[nodiscard]] std::string choice_words(const Layout& l, const Training& t);

// The tables of how far a plan scales.

// Returns true if the axis talks at any point.
[[nodiscard]] bool in_use(const Scale& s, GroupKind k);
// One row a point.
[[nodiscard]] Table scale_table(const Scale& scale);
// One row a place where something turns.
[[nodiscard]] Table turns_table(const Scale& scale);

// Tables say what the estimates rest on: constants, a software's figures, how much each choice is worth,
// and what measured runs say.

[[nodiscard]] Table constants_table(const std::vector<Constant>& constants);

// Returns a table with a row for each figure, in the order of its file: its meaning, its value, whether it
// was read or fitted, its source.
[[nodiscard]] Table software_table(Software software);

// Returns a table with a row for each nudge: the changed field, its old and new value, step, tokens/s,
// memory, and how much longer or shorter as many tokens take as the plan's step has. With `moving_only`, it
// has those that change something, the widest reach first; else all, and why an impossible one is.
[[nodiscard]] Table sensitivity_table(const Sensitivity& s, bool moving_only);

// Returns a table with a row for each run: the measured time, and how far the estimate is off before, after,
// and when fitted only to the other runs.
[[nodiscard]] Table calibrated_runs_table(const Calibrated& made);
// Returns a table with a row for each constant: before, after, its limits, and the source.
[[nodiscard]] Table calibrated_constants_table(const Calibrated& made);
// Says how far off the runs are before and after, how many got nearer, and whether they are enough; a
// sentence each.
[[nodiscard]] std::vector<std::string> calibrated_lines(const Calibrated& made);

// Tables say how long a step is, what the training costs, and what each stage does when.

// Returns "tp exposed", "useful work".
[[nodiscard]] std::string label_of(const StepSlice& slice);

// Returns the parts of the step and the whole, each with its share and its range.
[[nodiscard]] Table step_table(const Step& step);
// Returns MFU, tokens/s ... with their ranges; and the days that `budget_tokens` take, which are written as
// `budget_words`. Where it is 0, that row is left out.
[[nodiscard]] Table rates_table(const Step& step, double budget_tokens, std::string_view budget_words);

// Returns a table with a row for each figure that the plan gives enough for; without any, the table is empty.
// `step` is null where the plan has no step.
[[nodiscard]] Table cost_table(const Plan& plan, const Step* step);

[[nodiscard]] Table devices_table(const Timeline& timeline);
// Returns at most `most` rows, device by device in the order in which they run.
[[nodiscard]] Table operations_table(const Timeline& timeline, std::size_t most);

}  // namespace pentamesh
