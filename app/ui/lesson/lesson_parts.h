// Parts of the lesson panel. Each draws from the top of `room` and returns the height used; with `draw`
// false, it only measures. `size` is that of the running text.
#pragma once

#include "app/ui/lesson/lesson_panel.h"

namespace pentamesh::ui {

// Draws, after an answer, which plan the picture shows: the step's own or one that the question was about.
float draw_asked(Ui& ui, Rect room, const LessonSession& session, float size, LessonAction& action,
                 bool draw = true);

// Draws a task under its step's words: the goals, those still missing, hints.
float draw_task(Ui& ui, Rect room, LessonSession& session, float size, LessonAction::Kind& action,
                bool draw = true);

// Draws a number before it is known as a bar on a scale, dragged by its end; then the true one below it. An
// arrow moves what is drawn by such a part of the scale: without Shift, with it.
inline constexpr double kFineSteps = 100, kCoarseSteps = 10;
float draw_guess(Ui& ui, Rect room, LessonSession& session, float size, bool draw = true);
// Draws a curve in the same way, point by point.
float draw_curve(Ui& ui, Rect room, LessonSession& session, bool draw = true);

// Draws the way to count a room's votes by raised hands: the counts are typed, and a bar stands at each
// option.
float draw_counting(Ui& ui, Rect room, StepState& state, std::size_t options, bool draw);
// Draws the count of one option at the right of its row.
void draw_votes(Ui& ui, Rect row, const StepState& state, std::size_t option);
// Returns the width that the counts need; 0: nobody was counted.
[[nodiscard]] float votes_width(const StepState& state);

}  // namespace pentamesh::ui
