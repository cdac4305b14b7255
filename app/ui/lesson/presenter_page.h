// The presenter sees this page on a screen of their own while the room sees the view: notes, the answer, the
// next step, and a clock that goes on.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/lesson/lesson_panel.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// Shows which tasks are done and the results of the questions: the page in the window, and the picture of it.

struct ResultsOfLesson {
    struct Task {
        std::string title;
        bool done = false, helped = false;  // with hints or the solution
    };
    std::string title;
    std::string questions;  // "12 of 15 questions right, 10 at the first try"; empty: none was answered
    std::vector<Task> tasks;
};
using Results = std::vector<ResultsOfLesson>;
// Returns "Ada, 23 November 2026"; only the day where nobody is named.
[[nodiscard]] std::string results_of_whom(const std::string& learner);

// Returns "pentamesh-results-Ada-Lovelace.png": many send theirs to one teacher.
[[nodiscard]] std::string results_file(const std::string& learner, std::string_view ending);

// Returns "Tasks: 3 of 24 done".
[[nodiscard]] std::string results_head(const Results& results);
// Returns the text: the head, then each lesson with its tasks.
[[nodiscard]] std::string results_text(const Results& results);
// Returns the height of the columns in a room that wide.
[[nodiscard]] float results_height(Ui& ui, const Results& results, float width);
struct PickedTask {
    std::size_t lesson = 0, task = 0;
};
// Draws the columns; returns a task that was pressed, where they can be pressed.
std::optional<PickedTask> draw_results_columns(Ui& ui, Rect room, const Results& results);
// Returns the bytes of a PNG, SVG or PDF file by the file's ending. Throws Error for another ending (usage),
// or without EGL (io).
[[nodiscard]] std::string make_results_picture(const Results& results, const std::string& of_whom,
                                               ThemeId theme, std::string_view ending,
                                               const FontFiles& fonts);

}  // namespace pentamesh::ui
