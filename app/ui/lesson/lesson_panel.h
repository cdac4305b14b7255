// Draws the lesson next to the view: words, question, progress. It draws a session; the caller does what was
// pressed.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/lesson/lesson_session.h"

#include <cstddef>
#include <cstdint>

namespace pentamesh::ui {

struct LessonAction {
    enum class Kind : std::uint8_t {
        none,
        next,
        back,
        jump,
        leave,
        next_lesson,
        judged,
        reveal,
        retry,
        show_plan,
        solve,    // the plan becomes the task's sample solution
        restart,  // the plan becomes again the one that the task, or the step, begins with
        go_on,    // to the step where the lesson was left last time
        more,     // unfolds the rest of the words, or folds it
        ask_plan  // the picture shows the step's plan (0), or one that the question was about (from 1)
    } kind = Kind::none;
    std::size_t step = 0;  // jump, go_on, ask_plan
};
// `size` is that of the running text: 13 next to the window, more on a projector. `bare` leaves out head and
// foot.
LessonAction draw_lesson_panel(Ui& ui, Rect room, const Scene& scene, LessonSession& session, float size,
                               bool bare = false);
// Returns the height of words and question in that width; nothing is drawn.
[[nodiscard]] float lesson_height(Ui& ui, float width, const Scene& scene, const LessonSession& session,
                                  float size);
// Returns the control that answering begins at.
[[nodiscard]] Id first_of_question(QuestionKind kind);
// Returns the controls that the step marks by name: those of its scene, or what its task may change.
[[nodiscard]] std::vector<std::string> marked_controls(const LessonStep& step);
// Returns where such a control is drawn; all of its segments where the name has no index.
[[nodiscard]] std::optional<Rect> rect_of_marked(const UiState& state, const std::string& name);
// Outlines the step's controls by name where they are drawn, and only there.
void draw_highlights(Ui& ui, const LessonSession& session);
// Splits "mod.zero 3" into a name and the index after it.
struct ControlName {
    std::string name;
    std::uint64_t index = 0;
};
[[nodiscard]] ControlName control_of(const std::string& text);

// Draws over the place of a picture that would be the answer.
void draw_cover(Ui& ui, Rect room);

}  // namespace pentamesh::ui
