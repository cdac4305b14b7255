// Draws a task under its step's words: the goals, those still missing, hints.
#pragma once

#include "app/ui/lesson/lesson_panel.h"

namespace pentamesh::ui {

// Draws from the top of `room` and returns the height used; with `draw` false, it only measures. `size` is
// that of the running text.
float draw_task(Ui& ui, Rect room, LessonSession& session, float size, LessonAction::Kind& action,
                bool draw = true);

}  // namespace pentamesh::ui
