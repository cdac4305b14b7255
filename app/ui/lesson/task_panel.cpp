#include "app/ui/lesson/lesson_parts.h"

#include "app/ui/kit/rich_text.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pentamesh::ui {

namespace {

struct TaskPen {
    Ui& ui;
    Rect room;
    float size;
    bool draw;

    [[nodiscard]] float line() const { return std::round(size * 1.5f); }
    void words(std::string_view text, Tone tone = Tone::text) {
        room.cut_top(rich_text(ui, room, text, {size, line(), std::round(size * 0.7f), tone}, draw));
    }
    bool link(std::string_view name, std::string_view label) {
        const bool pressed = draw && ui.link(name, room.min() + Vec2{0, 2}, label);
        room.cut_top(24);
        return pressed;
    }
};

// Draws a tick or a cross by shape; the words say it too.
void draw_goal(TaskPen& p, const GoalState& goal) {
    const Theme& t = p.ui.theme();
    Canvas& c = p.ui.canvas();
    const Vec2 at{p.room.x + 8, p.room.y + p.line() / 2};
    if (!p.draw) {
        // it is only measured
    } else if (goal.met) {
        const std::array<Vec2, 3> tick{Vec2{at.x - 5, at.y}, Vec2{at.x - 1, at.y + 4},
                                       Vec2{at.x + 6, at.y - 5}};
        c.polyline(tick, t.good, 2);
    } else {
        c.frame({at.x - 5, at.y - 5, 10, 10}, t.secondary, 1.5f, 2);
    }
    Rect text{p.room.x + 24, p.room.y, p.room.w - 24, p.room.h};
    const RichStyle style{p.size, p.line(), 4, goal.met ? Tone::secondary : Tone::text};
    p.room.cut_top(rich_text(p.ui, text, goal.text, style, p.draw) + 6);
}

void draw_state(TaskPen& p, const LessonTask& task, const LessonSession& session) {
    for (const GoalState& goal : session.task.goals) draw_goal(p, goal);
    p.room.cut_top(4);
    std::string changed = session.task.edits == 1 ? "1 choice changed"
                                                  : std::to_string(session.task.edits) + " choices changed";
    if (task.edits > 0) changed += " of at most " + std::to_string(task.edits);
    p.words(changed + ". You may change " + allowed_text(task) + ".", Tone::secondary);
    p.room.cut_top(8);
}

}  // namespace

float draw_task(Ui& ui, Rect room, LessonSession& session, float size, LessonAction::Kind& action,
                bool draw) {
    const LessonStep& step = *session.current();
    StepState& state = session.state();
    TaskPen p{ui, room, size, draw};
    p.room.cut_top(14);
    if (draw) ui.canvas().line({p.room.x, p.room.y}, {p.room.right(), p.room.y}, ui.theme().hairline);
    p.room.cut_top(12);
    const Rect head = p.room.cut_top(16);
    if (draw) ui.section(head, "YOUR TASK");
    p.room.cut_top(4);
    p.words(session.prompt);
    p.room.cut_top(8);
    draw_state(p, *step.task, session);
    if (session.task.passed) {
        TextStyle done = ui.style(size, Tone::text, Face::semibold);
        done.color = ui.theme().good;
        const Rect row = p.room.cut_top(p.line());
        const std::string words = state.helped      ? "Done, with the solution."
                                  : state.hints > 0 ? "Done, with hints."
                                                    : "Done.";
        if (draw) ui.canvas().text_in(row, words, done);
        p.words(session.why);
        p.room.cut_top(8);
    }
    for (std::size_t i = 0; i < std::min(state.hints, session.hints.size()); ++i)
        p.words("**Hint " + std::to_string(i + 1) + ".** " + session.hints[i], Tone::secondary);
    if (state.hints > 0) p.room.cut_top(6);
    if (!session.task.passed && state.hints < session.hints.size()
        && p.link("lesson.hint", state.hints == 0 ? "a hint" : "another hint"))
        ++state.hints, ui.state().wants_frame = true;
    if (!session.task.passed && state.hints >= session.hints.size()
        && p.link("lesson.solve", "show a solution"))
        action = LessonAction::Kind::solve;
    if (session.task.edits > 0 && p.link("lesson.restart", "start again"))
        action = LessonAction::Kind::restart;
    return p.room.y - room.y;
}

}  // namespace pentamesh::ui
