// The step view is put together from these parts: figures, the software's figures, and what each choice is
// worth.
#pragma once

#include "app/tables/table.h"
#include "app/ui/kit/beside.h"
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/kept.h"
#include "app/ui/kit/player.h"
#include "app/ui/kit/scroll.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "core/decide/sensitivity.h"

#include <cstdint>
#include <optional>
#include <string>
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
void draw_software(Ui& ui, Rect room, const Scene& scene, SoftwareState& state, std::uint64_t revision);

// A step of `n` GPUs as lanes: when each that is drawn is done, in spreads from the mean.
struct LaneGroup {
    std::int64_t n = 0;
    bool own = false;  // the plan's number
    double slowest = 0;
    std::vector<double> ends;
};
struct StragglerState {
    bool typing = false, fresh = false;
    std::string text, refusal;  // of the spread of step times
    Playback played;            // groups whose bar fell
    Kept<std::vector<LaneGroup>, std::pair<std::int64_t, std::int64_t>>
        groups;                    // by the GPUs and the most lanes
    std::vector<double> expected;  // E[max] of 2^k ranks
};
// `space`: it was pressed to play or pause.
[[nodiscard]] std::optional<PlanEdit> draw_stragglers(Ui& ui, Rect room, const Scene& scene,
                                                      StragglerState& state, bool space);

struct TornadoState {
    WorkedOut<Sensitivity, std::uint64_t> of;  // by revision
    std::optional<std::uint64_t> asked;        // the revision that was to be drawn and is not there
    ScrollState scroll;
};
// Precondition: the plan has a step.
[[nodiscard]] std::optional<PlanEdit> draw_tornado(Ui& ui, Rect room, TornadoState& state,
                                                   std::uint64_t revision);

// Returns the chart's rows, or a row that says that they are being worked out.
[[nodiscard]] Table tornado_data(const Scene& scene, const TornadoState& state);

}  // namespace pentamesh::ui
