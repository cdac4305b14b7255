// Which tasks are done and what came of the questions: the page in the window, and the picture of it.
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
// "Ada, 23 November 2026"; the day alone where nobody is named.
[[nodiscard]] std::string results_of_whom(const std::string& learner);

// "pentamesh-results-Ada-Lovelace.png": many send theirs to one teacher.
[[nodiscard]] std::string results_file(const std::string& learner);

// "Tasks: 3 of 24 done".
[[nodiscard]] std::string results_head(const Results& results);
// As text: the head, then each lesson with its tasks.
[[nodiscard]] std::string results_text(const Results& results);
// Of the columns in a room that wide.
[[nodiscard]] float results_height(Ui& ui, const Results& results, float width);
struct PickedTask {
    std::size_t lesson = 0, task = 0;
};
// Draws the columns; a task that was pressed, where they can be.
std::optional<PickedTask> draw_results_columns(Ui& ui, Rect room, const Results& results);
// The bytes of a PNG, SVG or PDF file by the file's ending. Errors: another ending (usage), no EGL (io).
[[nodiscard]] std::string make_results_picture(const Results& results, const std::string& of_whom,
                                               ThemeId theme, std::string_view ending,
                                               const FontFiles& fonts);

}  // namespace pentamesh::ui
