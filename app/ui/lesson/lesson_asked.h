// After an answer: which plan the picture shows, the step's own or one that the question was about.
#pragma once

#include "app/ui/lesson/lesson_panel.h"

namespace pentamesh::ui {

// Draws from the top of `room` and returns the height used; with `draw` false, it only measures. `size` is
// that of the running text.
float draw_asked(Ui& ui, Rect room, const LessonSession& session, float size, LessonAction& action,
                 bool draw = true);

}  // namespace pentamesh::ui
