// A number that is drawn before it is known: a bar on a scale, dragged by its end; then the true one below
// it.
#pragma once

#include "app/ui/lesson/lesson_panel.h"

namespace pentamesh::ui {

// Parts of the scale by which an arrow moves what is drawn: without Shift, with it.
inline constexpr double kFineSteps = 100, kCoarseSteps = 10;

// Draws from the top of `room` and returns the height used; with `draw` false, it only measures. `size` is
// that of the running text.
float draw_guess(Ui& ui, Rect room, LessonSession& session, float size, bool draw = true);
// Draws a curve in the same way, point by point (drawn_curve.cpp).
float draw_curve(Ui& ui, Rect room, LessonSession& session, bool draw = true);

}  // namespace pentamesh::ui
