// The view Step shows where the time of a step goes, its figures, and the constants and runs on which they
// rest.
#pragma once

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/kept.h"
#include "app/ui/kit/ui.h"
#include "app/ui/panels/constants_panel.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/step/step_parts.h"
#include "core/explain/published.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::runs {
struct WhatIf;
}  // namespace pentamesh::runs

namespace pentamesh::ui {

inline constexpr std::array<std::string_view, 7> kStepPages{
    "time", "runs", "stragglers", "constants", "sensitivity", "software", "measured"};

struct StepViewState {
    enum Part { kTime, kRuns, kStragglers, kConstants, kSensitivity, kSoftware, kMeasured };
    static constexpr int kSensitivityTable = 4, kMeasuredTable = 5;  // of its tables
    int part = kTime;                                                // shown where there is no room for all
    BudgetState budget;
    TableState runs_table, measured_table;
    std::ptrdiff_t worker = -1;  // of a run, stage by stage: if it were healthy; -1: the slowest
    ConstantsState constants;
    TornadoState tornado;
    SoftwareState software;
    StragglerState stragglers;
    [[nodiscard]] bool typing() const { return stragglers.typing || !constants.editing.empty(); }
    // These are made from the evaluation and kept as long as it stays.
    Kept<Table> near;  // by revision
    std::optional<NearestRuns> runs;
};
[[nodiscard]] std::optional<PlanEdit> draw_step(Ui& ui, Rect head_row, Rect room, Scene& scene,
                                                StepViewState& state, std::uint64_t revision);
// Returns true if files of a real run stand next to the plan: then there is a page of it.
[[nodiscard]] bool has_measured(const Scene& scene);
[[nodiscard]] std::optional<PlanEdit> draw_measured(Ui& ui, Rect room, Scene& scene, StepViewState& state);
// Returns the parts, or what the workers lose (`workers`), as a table.
[[nodiscard]] Table measured_data(const Scene& scene, bool workers);
[[nodiscard]] std::optional<PlanEdit> draw_workers(Ui& ui, Rect room, const Scene& scene,
                                                   const runs::WhatIf& workers, StepViewState& state);
// Reads the list of published runs when it is first asked for; one that cannot be read is empty.
[[nodiscard]] NearestRuns& published_runs(StepViewState& state, const Presets& presets);
// `part` is one of the tables that app/ui/views/table.cpp names.
[[nodiscard]] Table step_data(const Scene& scene, const StepViewState& state, int part);

}  // namespace pentamesh::ui
