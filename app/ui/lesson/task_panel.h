// A task under its step's words: what is wanted, what is still missing, hints.
#pragma once

#include "app/ui/lesson/lesson_panel.h"

namespace pentamesh::ui {

// Draws from the top of `room` (draw false: measures alone) and returns the height used. `size` of the
// running text.
float draw_task(Ui& ui, Rect room, LessonSession& session, float size, LessonAction::Kind& action,
                bool draw = true);

}  // namespace pentamesh::ui
