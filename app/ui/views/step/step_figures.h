// Shows the figures of a step: its rates, and days, money and energy of the training. It is part of the Step
// view.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"

#include <string>

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

}  // namespace pentamesh::ui
