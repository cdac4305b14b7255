// The presenter sees this page on a screen of their own while the room sees the view: notes, the answer, the
// next step, and a clock that goes on.
#pragma once

#include "app/ui/lesson/lesson_panel.h"

#include <string>

namespace pentamesh::ui {

struct PresenterPage {
    double spent_s = 0;  // since the presentation began
    bool blank = false;  // the room sees a blank screen
    // These are of the next step, its queries answered for its own plan; all are empty after the last step.
    std::string next_title{}, next_words{}, next_notes{};
    bool next_asks = false, next_task = false;
    float scroll = 0;  // of the notes, kept by the caller
};
struct PresenterAction {
    LessonAction lesson{};
    bool blank = false, leave = false;
};
// Fills `room`; `size` is that of the running text. The session has its texts made (make_texts).
PresenterAction draw_presenter_page(Ui& ui, Rect room, const LessonSession& session, PresenterPage& page,
                                    float size);
// Returns "12:05", "1:12:05".
[[nodiscard]] std::string clock_text(double seconds);

}  // namespace pentamesh::ui
