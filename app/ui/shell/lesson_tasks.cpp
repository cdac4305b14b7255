// Tasks in the window: their solution and start as edits, what was done before, the page of results.
#include "app/ui/kit/scroll.h"
#include "app/ui/shell/lesson_desk.h"
#include "core/advice/advice.h"
#include "core/base/date.h"
#include "core/base/files.h"

#include <algorithm>

namespace pentamesh::ui {

// Finds the step's own plan, which its words are about and its task begins with.
void LessonDesk::begin_step() {
    lesson_.start = window_.document.plan();
    if (lesson_.scene_error.empty() && lesson_.current() != nullptr)
        lesson_.start =
            plan_of(lesson_, window_.set_aside ? window_.set_aside->plan() : window_.document.plan(),
                    window_.presets);
    lesson_.start_evaluation = assess(lesson_.start);
    lesson_.made_of = 0;
}

// Remembers a task that holds now, also with help: by its title, so that it is the same in a course.
void LessonDesk::note_task() {
    const LessonStep* step = lesson_.current();
    if (step == nullptr || !step->task || !lesson_.task.passed) return;
    const LessonProgress* kept = progress_of(lesson_.lesson.title);
    if (kept == nullptr || lesson_.step >= kept->marks.size()
        || kept->marks[lesson_.step] != static_cast<char>(Mark::done))
        keep_answers();
    auto& done = window_.settings.tasks_done;
    if (std::find(done.begin(), done.end(), step->title) != done.end()) return;
    done.push_back(step->title);
    if (lesson_.state().helped || lesson_.state().hints > 0)
        window_.settings.tasks_helped.push_back(step->title);
}

void LessonDesk::solve_task() {
    const LessonStep* step = lesson_.current();
    if (step == nullptr || !step->task) return;
    lesson_.state().helped = true;
    window_.edit_plan(plan_with(lesson_.start, step->task->solution, window_.presets), "the task's solution");
}

void LessonDesk::restart_task() {
    const LessonStep* step = lesson_.current();
    if (step == nullptr) return;
    window_.edit_plan(lesson_.start, step->task ? "the task's start" : "the step's plan");
}

Results LessonDesk::results() const {
    Results out;
    const auto add_lesson = [&](const LessonEntry& e) {
        const LessonProgress* kept = progress_of(e.title);
        std::string said;
        if (kept != nullptr && e.tasks.empty()) said = summary_of(kept->marks, 0);
        if (e.tasks.empty() && said.empty()) return;
        ResultsOfLesson& lesson = out.emplace_back();
        lesson.title = e.title;
        lesson.questions = std::move(said);
        const auto& helped = window_.settings.tasks_helped;
        for (const std::string& title : e.tasks)
            lesson.tasks.push_back(
                {title, task_done(title), std::find(helped.begin(), helped.end(), title) != helped.end()});
    };
    for (const LessonEntry& e : courses_) add_lesson(e);
    for (const LessonEntry& e : lessons_) add_lesson(e);
    return out;
}

bool LessonDesk::task_done(const std::string& title) const {
    const auto& done = window_.settings.tasks_done;
    return std::find(done.begin(), done.end(), title) != done.end();
}

void LessonDesk::draw_results(Ui& ui) {
    if (!results_) return;
    const Results shown = results();
    const Vec2 size = ui.frame().size;
    const float w = std::min(1180.0f, size.x - 32);
    const float h = std::min(110 + results_height(ui, shown, w - 48), size.y - 32);
    const Rect box{(size.x - w) / 2, (size.y - h) / 2, w, h};
    const auto layer = ui.open_layer("results", box, true);
    const bool open = layer.stays();
    Rect room = box.inset(24, 20);
    ui.canvas().text_in(room.cut_top(24), results_head(shown), {Face::semibold, 16, ui.theme().text, 0});
    room.cut_top(10);
    Rect foot = room.cut_bottom(30);
    room.cut_bottom(6);
    std::optional<PickedTask> picked;
    {
        ScrollArea area(ui, "results.list", room, results_scroll_);
        picked = draw_results_columns(ui, area.room, shown);
        area.room.cut_top(results_height(ui, shown, area.room.w));
    }
    if (ui.button("results.close", foot.cut_right(90), "Close", 0, true, true) || !open) results_ = false;
    foot.cut_right(8);
    if (ui.button("results.copy", foot.cut_right(110), "Copy as text") && window_.host.set_clipboard) {
        window_.host.set_clipboard(results_text(shown));
        window_.say("The results are on the clipboard");
    }
    foot.cut_right(8);
    if (foot.w > 500)
        ui.text_field("results.name", foot.cut_left(200), window_.settings.learner, "Your name");
    const auto ask = [&](const char* ending) {
        results_ = false;
        window_.later("", [this, ending] {
            window_.ask(DialogKind::results,
                        window_.proposed_file(results_file(window_.settings.learner, ending)), nullptr);
        });
    };
    if (window_.host.save_results && ui.button("results.picture", foot.cut_right(130), "Save a picture…"))
        ask(".png");
    foot.cut_right(8);
    if (ui.button("results.hand_in", foot.cut_right(90), "Hand in…")) {
        if (window_.settings.learner.empty() && ui.state().rect_of("results.name")) {
            window_.say("Type your name first: the file is called by it");
            ui.give_keyboard("results.name", 0, true);
        } else {
            ask(".json");
        }
    }
    if (!picked) return;
    results_ = false;
    window_.later("", [this, title = shown[picked->lesson].tasks[picked->task].title] { open_task(title); });
}

bool LessonDesk::hand_in(const std::filesystem::path& file) {
    if (file.extension() != ".json") return false;
    keep_answers();
    const Settings& s = window_.settings;
    write_file(file.string(), write_hand_in({s.learner, today_in_words(), s.lessons, s.tasks_helped}));
    return true;
}

void LessonDesk::open_task(const std::string& title) {
    for (const LessonEntry& e : lessons_) {
        if (std::find(e.tasks.begin(), e.tasks.end(), title) == e.tasks.end()) continue;
        open(e.file);
        const auto& steps = lesson_.lesson.steps;
        const auto step =
            std::find_if(steps.begin(), steps.end(), [&](const auto& s) { return s.title == title; });
        if (step != steps.end()) go_to_step(lesson_, static_cast<std::size_t>(step - steps.begin()));
        return;
    }
}

}  // namespace pentamesh::ui
