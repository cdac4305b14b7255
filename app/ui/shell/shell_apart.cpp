// The notes of whoever presents, on a screen that the room does not see.
#include "app/ui/shell/shell.h"
#include "core/advice/advice.h"
#include "core/base/error.h"

#include <utility>

namespace pentamesh::ui {

namespace {

constexpr float kApartSize = 15;

}  // namespace

// The step that comes, its queries answered for its own plan; made once for each step.
void Shell::make_next_step() {
    const std::size_t next = lesson_.step + 1;
    const std::string of =
        lesson_.file.string() + " " + std::to_string(next) + " " + std::to_string(evaluated_);
    if (next_of_ == of) return;
    next_of_ = of;
    page_ = {.scroll = lesson_.step == page_step_ ? page_.scroll : 0};
    page_step_ = lesson_.step;
    if (next >= lesson_.lesson.steps.size()) return;
    const LessonStep& step = lesson_.lesson.steps[next];
    page_.next_title = step.title;
    page_.next_asks = step.question.has_value();
    page_.next_task = step.task.has_value();
    const LessonPlan p = plan_of_step(lesson_.lesson, next);
    const Plan& base = p.open.empty() ? own_document().plan() : presets_.plan(p.open);
    const Plan plan = plan_with(base, p.sets, presets_);
    const Evaluation evaluation = assess(plan);
    page_.next_words = expand(step.words, plan, evaluation, presets_);
    page_.next_notes = expand(step.notes, plan, evaluation, presets_);
}

void Shell::presenter_frame(const FrameInfo& info) {
    second_.reduced_motion = settings_.reduced_motion;
    second_.redraw_all = true;
    guarded("The next step", [&] { make_next_step(); });
    page_.spent_s = now_s_ - presenter_.begun_s;
    page_.blank = presenter_.blank;
    const Rewording as_it_is;
    const Reworded plain(as_it_is);
    Ui ui(second_, info, theme_of(settings_.theme), frame_canvas(info));
    fill_frame(info, nullptr, ui.theme().window);
    PresenterAction action;
    draw_guarded(ui, "The page of notes", {0, 0, info.size.x, info.size.y}, [&] {
        action = draw_presenter_page(ui, {0, 0, info.size.x, info.size.y}, lesson_, page_, kApartSize);
    });
    ui.move_focus();
    do_lesson(action.lesson);
    if (action.blank) presenter_.blank = !presenter_.blank;
    if (action.leave) set_presenting(false);
    if (action.blank || action.leave) dirty_ = true;
}

void Shell::second_window_closed(const std::string& reason) {
    presenter_.apart = false;
    dirty_ = true;
    if (!reason.empty()) say("The notes have no screen of their own: " + reason + ". N shows them here");
}

void Shell::toggle_apart() {
    if (!presenter_.apart && !(host_.has_second_screen && host_.has_second_screen())) {
        say("There is one screen. N shows the notes here, where the room sees them too");
        return;
    }
    presenter_.apart = !presenter_.apart;
}

void Shell::make_apart_commands() {
    add({.id = "present.apart",
         .title = "Present: notes on the second screen",
         .menu = "Learn",
         .run = [this] { toggle_apart(); },
         .enabled = [this] { return presenter_.on && lesson_.open; },
         .checked = [this] { return presenter_.apart; }});
}

}  // namespace pentamesh::ui
