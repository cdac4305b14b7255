// Shows which tasks are done and the results of the questions: the page in the window, and the picture of it.
#pragma once

#include "app/ui/kit/ui.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

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
