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
        run_by,   // the room runs this: the index in kRoomSoftware
        ask_plan  // the picture shows the step's plan (0), or one that the question was about (from 1)
    } kind = Kind::none;
    std::size_t step = 0;  // jump, go_on, run_by, ask_plan
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
// Parts of the lesson panel. Each draws from the top of `room` and returns the height used; with `draw`
// false, it only measures. `size` is that of the running text.

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
// Returns how many bytes are drawn so; 0 where the question is of no bytes, or nothing is drawn.
[[nodiscard]] double drawn_bytes(const LessonSession& session);
// Draws the end of the bar there instead, as it would be typed, while the question waits for its answer.
void draw_bytes(LessonSession& session, double bytes);
// Returns the stage of ZeRO that such a question is about, with all else as the step has it; -1: of none.
[[nodiscard]] int drawn_zero(const LessonSession& session);
// Draws a curve in the same way, point by point.
float draw_curve(Ui& ui, Rect room, LessonSession& session, bool draw = true);

// Returns the points of the line as they were drawn or typed; untouched ones lie level with the one that is
// given.
[[nodiscard]] std::vector<double> drawn_points(const LessonQuestion& question, const Solution& solution,
                                               const StepState& state, double end);
// Moves point `i` by the mouse, which lies over the value `under_mouse`, or by the arrows while it has the
// keyboard, and writes all points as they would be typed.
void move_drawn_point(Ui& ui, const Hit& hit, double under_mouse, double end, std::size_t i,
                      std::vector<double>& points, StepState& state);
// Draws the same in the place of the view that will show it, over all of its room: the scale is that of the
// answer from the question on.
void draw_curve_view(Ui& ui, Rect room, LessonSession& session);
[[nodiscard]] bool asks_for_curve(const LessonSession& session);

// Draws the way to count a room's votes by raised hands: the counts are typed, and a bar stands at each
// option.
float draw_counting(Ui& ui, Rect room, StepState& state, std::size_t options, bool draw);
// Fills the row of one option as far as its share of the largest count goes, the first count as a
// dashed line below the second, and writes both into `figures`, at the row's right end.
void draw_votes(Ui& ui, Rect row, Rect figures, const StepState& state, std::size_t option, float size);
// Returns the width that the figures need next to words of that size; 0: nobody was counted.
[[nodiscard]] float votes_width(Ui& ui, const StepState& state, float size);

}  // namespace pentamesh::ui
