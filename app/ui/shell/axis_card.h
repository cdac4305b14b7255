// The card of an axis: one sentence, a small loaf, what it costs in this plan, and the next factors tried.
#pragma once

#include "app/ui/kit/kept.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/shards/loaf_solid.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pentamesh::ui {

// A factor that one or two presses reach, and the step with it.
struct AxisTry {
    std::int64_t factor = 1;
    bool now = false;
    std::optional<double> memory, step_s;  // without a value: the plan is impossible
    double filled = 0;                     // share of a GPU that the fullest one holds
    std::string note;                      // "does not fit", or why it is impossible
};
struct AxisCardFigures {
    std::vector<MapRow> rows;
    std::vector<AxisTry> tries;
};
struct AxisCardState {
    std::optional<UiState::Named> asked;  // F1 was pressed on this name
    Vec2 asked_at;                        // the mouse then: the card goes when it moves
    Rect over;                            // the name that the mouse rests on,
    double since_s = 0;                   // and since when
    bool dismissed = false;               // by a click or Esc, until the mouse leaves the name
    bool shown = false;                   // in the last frame: Esc sends it away and does nothing else
    std::optional<MiniLoaves> loaves;
    Kept<AxisCardFigures, std::pair<std::uint64_t, Axis>> figures;  // by revision and axis
};

// Returns the name of an axis that has the mouse, or the keyboard where it was used last, or null.
[[nodiscard]] const UiState::Named* named_axis(const UiState& state);
// Draws the card over everything, next to the name that F1 asked for or that the mouse rests on. It takes no
// press itself.
void draw_axis_card(Ui& ui, Scene& scene, AxisCardState& state, std::uint64_t revision);

}  // namespace pentamesh::ui
