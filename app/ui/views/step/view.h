// The view Step shows where the time of a step goes, its figures, and the constants and runs on which they
// rest.
#pragma once

#include "app/tables/review.h"
#include "app/tables/table.h"
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/job.h"
#include "app/ui/kit/plot.h"
#include "app/ui/kit/row_chart.h"
#include "app/ui/kit/ui.h"
#include "app/ui/panels/inspector.h"
#include "app/ui/scene/scene.h"
#include "core/decide/scale.h"
#include "core/explain/verdict.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pentamesh::ui {

// Holds the tokens for which days are counted.
struct BudgetState {
    std::string text = "15 T";
    double tokens = 15e12;
    double tokens_of_plan = 0;  // the plan's own number when `tokens` was taken from it; 0: the plan names
                                // none
};
inline constexpr float kFiguresWidth = 316, kFiguresBareWidth = 206;  // with ranges, and without
void draw_figures(Ui& ui, Rect room, const Scene& scene, BudgetState& state);

struct SoftwareState {
    Kept<Table> figures;  // by revision
    TableState rows;
};

// A step of `n` GPUs as lanes: when each that is drawn is done, in spreads from the mean.
struct LaneGroup {
    std::int64_t n = 0;
    bool own = false;  // the plan's number
    double slowest = 0;
    std::vector<double> ends;
};
struct StragglerState {
    TypedNumbers numbers;  // the spread of step times
    Playback played;       // groups whose bar fell
    Kept<std::vector<LaneGroup>, std::pair<std::int64_t, std::int64_t>>
        groups;                    // by the GPUs and the most lanes
    std::vector<double> expected;  // E[max] of 2^k ranks
};
// `space`: it was pressed to play or pause.
[[nodiscard]] std::optional<PlanEdit> draw_stragglers(Ui& ui, Rect room, const Scene& scene,
                                                      StragglerState& state, bool space);

struct TornadoState {
    Kept<Sensitivity> of;                // by revision
    std::optional<std::uint64_t> asked;  // the revision that was to be drawn and is not there
    ScrollState scroll;
};
// Returns a value of a row as it is read: a constant in its unit, a setting as it is written.
[[nodiscard]] std::string value_words(const SensitivityRow& row, const std::string& value);
// Returns the rows that move the step, the widest first.
[[nodiscard]] std::vector<std::size_t> tornado_rows(const Sensitivity& s);
// Precondition: the plan has a step.
[[nodiscard]] std::optional<PlanEdit> draw_tornado(Ui& ui, Rect room, TornadoState& state,
                                                   std::uint64_t revision);

// Returns the chart's rows, or a row that says that they are being worked out.
[[nodiscard]] Table tornado_data(const Scene& scene, const TornadoState& state);

inline constexpr std::array<std::string_view, 7> kStepPages{
    "time", "runs", "stragglers", "constants", "sensitivity", "software", "measured"};

struct StepViewState {
    enum Part { kTime, kRuns, kStragglers, kConstants, kSensitivity, kSoftware, kMeasured };
    static constexpr int kSensitivityTable = 4, kMeasuredTable = 5;  // of its tables
    int part = kTime;                                                // shown where there is no room for all
    BudgetState budget;
    TableState measured_table;
    ConstantsState constants;
    TornadoState tornado;
    SoftwareState software;
    StragglerState stragglers;
    [[nodiscard]] bool typing() const { return stragglers.numbers.types() || constants.numbers.types(); }
    // These are made from the evaluation and kept as long as it stays.
    Kept<std::vector<NearRunRow>> near;  // by revision
    std::optional<NearestRuns> runs;
};
[[nodiscard]] std::optional<PlanEdit> draw_step(Ui& ui, Rect head_row, Rect room, Scene& scene,
                                                StepViewState& state, std::uint64_t revision);
// Returns the height that all of them need.
[[nodiscard]] float near_runs_height();
void draw_near_runs(Ui& ui, Rect room, const Scene& scene, StepViewState& state, std::uint64_t revision);
// Returns true if files of a real run stand next to the plan: then there is a page of it.
[[nodiscard]] bool has_measured(const Scene& scene);
void draw_measured(Ui& ui, Rect room, Scene& scene, StepViewState& state);
// Returns its parts as a table.
[[nodiscard]] Table measured_data(const Scene& scene);
// Returns the parts of a step, a row each along its time, and the whole step below them.
[[nodiscard]] RowChart step_rows(const Ink& ink, const Step& step, double end_s);
// Fills a bar of a part of the step; an axis has its hatch on paper.
void fill_part(const Ink& ink, Rect bar, const StepSlice& slice);
struct DrawnPart {
    StepSlice of;
    Rect at;
};
// Draws parts of a step one after the other as a lying bar whose width stands for `longest` seconds, each
// with its name and seconds where they fit; on paper a legend names them.
std::vector<DrawnPart> draw_step_bar(const Ink& ink, Rect bar, const std::vector<StepSlice>& parts,
                                     double longest);
// Reads the list of published runs when it is first asked for; one that cannot be read is empty.
[[nodiscard]] NearestRuns& published_runs(StepViewState& state, const Presets& presets);
// `part` is one of the tables that app/ui/views/table.cpp names.
[[nodiscard]] Table step_data(const Scene& scene, const StepViewState& state, int part);

}  // namespace pentamesh::ui
