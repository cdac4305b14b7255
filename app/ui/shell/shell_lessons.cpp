// Lessons in the window: the plan that is set aside, scenes, picks in the mesh, the welcome.
#include "app/ui/lesson/lesson_panel.h"
#include "app/ui/shell/shell.h"
#include "core/advice/advice.h"
#include "core/base/error.h"

#include <algorithm>
#include <charconv>
#include <tuple>
#include <utility>

namespace pentamesh::ui {

// The workshop goes by file name; the tour, which is no part of it, leads to its first lesson.
const LessonEntry* Shell::lesson_after(const std::filesystem::path& file) const {
    const auto at = std::find_if(lessons_.begin(), lessons_.end(), [&](const LessonEntry& e) {
        std::error_code ignored;
        return e.file == file || std::filesystem::equivalent(e.file, file, ignored);
    });
    if (at == lessons_.end()) return nullptr;
    const LessonEntry* next = at->id == "tour"          ? &lessons_.front()
                              : at + 1 < lessons_.end() ? &*(at + 1)
                                                        : nullptr;
    return next == nullptr || next->id == "tour" ? nullptr : next;
}

void Shell::open_lesson(const std::filesystem::path& file) {
    if (!set_aside_) {
        set_aside_ = document_;
        replaced_ = true;
        document_ = Document(set_aside_->plan());  // with a history of its own, and no file
        document_.continue_after(set_aside_->revision());
    }
    keep_answers();
    begin_lesson(lesson_, file, now_s_);
    if (const LessonProgress* kept = progress_of(lesson_.lesson.title)) {
        for (std::size_t i = 0; i < std::min(lesson_.states.size(), kept->marks.size()); ++i)
            lesson_.states[i].before = kept->marks[i] == ' ' ? Mark::none : static_cast<Mark>(kept->marks[i]);
        if (kept->step < std::max<std::size_t>(lesson_.states.size(), 1) - 1) lesson_.reached = kept->step;
    }
    side_ = SidePane::lesson;
    if (const LessonEntry* next = lesson_after(file)) lesson_.next_title = next->title;
    dirty_ = true;
}

const LessonProgress* Shell::progress_of(const std::string& title) const {
    const auto at = std::find_if(settings_.lessons.begin(), settings_.lessons.end(),
                                 [&](const LessonProgress& p) { return p.title == title; });
    return at == settings_.lessons.end() ? nullptr : &*at;
}

// How far one came, and what came of each step, is kept between runs of the program. A lesson that is opened
// again asks its questions again: what was answered before stays until it is answered anew.
void Shell::keep_answers() {
    if (!lesson_.open || lesson_.states.empty()) return;
    LessonProgress now{lesson_.lesson.title, lesson_.step, marks_of(lesson_)};
    bool any = now.step > 0;
    for (std::size_t i = 0; i < now.marks.size(); ++i) {
        const Mark before = lesson_.states[i].before;
        if (now.marks[i] == static_cast<char>(Mark::none) || (now.marks[i] == ' ' && before == Mark::done))
            now.marks[i] = static_cast<char>(before);
        any = any || (now.marks[i] != ' ' && now.marks[i] != static_cast<char>(Mark::none));
    }
    if (now.step == 0) now.step = lesson_.reached;  // it was looked at again, no more
    if (progress_of(now.title) == nullptr && !any) return;
    std::erase_if(settings_.lessons, [&](const LessonProgress& p) { return p.title == now.title; });
    settings_.lessons.push_back(std::move(now));
}

void Shell::leave_lesson() {
    set_presenting(false);
    presenter_ = {};
    task_.reset();
    views_.mesh.outlined.clear();
    views_.mesh.asked = -1;
    views_.mesh.plain = false;
    keep_answers();
    lesson_ = {};
    veil_ = {};
    unpin_lesson();
    if (!set_aside_) return;
    replaced_ = true;
    const std::uint64_t seen = document_.revision();
    std::optional<Plan> changed;
    if (document_.modified()) changed = document_.plan();
    document_ = std::move(*set_aside_);
    document_.continue_after(seen);
    set_aside_.reset();
    if (changed) {
        document_.looked_at(std::move(*changed), "the lesson's plan");
        say("Your own plan is back; Ctrl+Shift+Z shows the lesson's, as you changed it");
    }
    selection_ = {};
    full_.reset();
    dirty_ = true;
}

// Before a frame is drawn: the file may have changed, the step may want its scene.
void Shell::begin_lesson_frame() {
    state_.page_keys = !lesson_.open && !presenter_.on;  // there they turn its steps
    if (!lesson_.open) return;
    if (reload_lesson(lesson_, now_s_)) dirty_ = true;
    if (lesson_.scene_wanted) {
        apply_lesson_scene();
        guarded("The step's plan", [&] { begin_step(); });
    }
    const LessonStep* current = lesson_.current();
    const bool task = current != nullptr && current->task;
    const bool other = task != task_.has_value() || (task && task_->line != current->task->line);
    task_ = task ? current->task : std::nullopt;
    if (evaluated_ != document_.revision() || other) evaluate_now();
    const auto shown = [this] { return std::tuple{lesson_.made_of, lesson_.made_step, lesson_.made_asked}; };
    const auto before = shown();
    make_texts(lesson_, document_.plan(), evaluation_, presets_, evaluated_);
    if (before != shown()) state_.redraw_all = true;  // another question hides other words
    veil_ = lesson_.veil;
    note_task();
    const LessonStep* step = lesson_.current();
    const bool asks = lesson_.asks_for_ranks();
    views_.mesh.plain = asks;
    views_.mesh.asked = asks ? lesson_.asked_rank() : -1;
    if (asks)
        views_.mesh.outlined = lesson_.state().picked;
    else
        views_.mesh.outlined = step != nullptr ? step->scene.ranks : std::vector<std::int64_t>{};
}

void Shell::apply_lesson_scene() {
    lesson_.scene_wanted = false;
    lesson_.scene_error.clear();
    const LessonStep* step = lesson_.current();
    if (step == nullptr) return;
    try {
        Plan plan = plan_of(lesson_, set_aside_ ? set_aside_->plan() : document_.plan(), presets_);
        if (!(plan == document_.plan())) show_lesson_plan(std::move(plan));
    } catch (const Error& e) {
        lesson_.scene_error = e.what();
    }
    const LessonScene& scene = step->scene;
    show_lesson_view();
    begin_lesson_scene(views_);
    guarded("The pinned plan", [&] { pin_for_lesson(scene.against); });
    selection_ = selection_.cleared();
    if (const auto kind = axis_named(scene.axis)) selection_.choose(*kind);
    if (scene.rank >= 0) {
        selection_.rank = scene.rank;
        selection_.topic = Selection::Topic::rank;
    }
    int stage = -1;
    const auto parsed = std::from_chars(scene.stage.data(), scene.stage.data() + scene.stage.size(), stage);
    if (parsed.ec == std::errc() && stage >= 0) selection_.stage = stage;
    dirty_ = true;
}

// What a step compares with is pinned while it is shown; what was pinned before the lesson comes back.
void Shell::pin_for_lesson(const std::vector<std::string>& sets) {
    if (sets.empty()) {
        unpin_lesson();
        return;
    }
    if (!pinned_before_) pinned_before_ = views_.compare.kept;
    Plan plan = plan_with(document_.plan(), sets, presets_);
    plan.name.clear();  // the step's, which it no longer is
    views_.compare.kept.clear();
    views_.compare.pin(plan, assess(plan));
}

void Shell::unpin_lesson() {
    if (!pinned_before_) return;
    views_.compare.kept = std::move(*pinned_before_);
    ++views_.compare.version;
    pinned_before_.reset();
}

// The plan of a step. What was changed in the last step's comes back with undo.
void Shell::show_lesson_plan(Plan plan) {
    replaced_ = true;  // no edit of the plan that stood there
    if (!document_.modified()) {
        document_.replace_unmodified({std::move(plan)});
        return;
    }
    document_.replace({std::move(plan)}, "another step's plan");
    say("This step shows a plan of its own; Ctrl+Z brings your changes back");
}

void Shell::show_lesson_view() {
    const LessonStep* step = lesson_.current();
    if (step == nullptr) return;
    if (const auto view = view_named(step->scene.view)) {
        full_ = *view;
        views_.as_data[static_cast<std::size_t>(*view)] = false;
    } else if (step->scene.view == kDashboardName) {
        full_.reset();
    }
}

bool Shell::shows_lesson_view() const {
    const LessonStep* step = lesson_.current();
    if (!lesson_.open || step == nullptr) return true;
    if (const auto view = view_named(step->scene.view)) return full_ == *view;
    return step->scene.view != kDashboardName || !full_;
}

// A click on a cell, while GPUs are asked for, picks it or takes it back; nothing else is selected by it.
void Shell::take_lesson_picks() {
    if (!lesson_.asks_for_ranks() || selection_.rank < 0) return;
    const std::int64_t rank = selection_.rank;
    auto& picked = lesson_.state().picked;
    if (std::erase(picked, rank) == 0 && rank != lesson_.asked_rank()) {
        if (lesson_.solution.answer.ranks.size() == 1)
            picked.clear();  // one is asked for: the last click counts
        picked.push_back(rank);
        std::sort(picked.begin(), picked.end());
    }
    selection_.rank = -1;
    selection_.topic = Selection::Topic::none;
    dirty_ = true;
}

std::optional<PlanEdit> Shell::draw_plan(Ui& ui, Rect room, Scene& scene) {
    const Rewording words = words_under(veil_, Veil::Place::plan);
    const Reworded under_veil(words);
    return draw_plan_panel(ui, room, scene, panel_);
}

void Shell::draw_lesson(Ui& ui, Rect room, const Scene& scene, float size, bool bare) {
    const Rewording as_it_is;  // the question itself
    const Reworded plain(as_it_is);
    const LessonAction action = draw_lesson_panel(ui, room, scene, lesson_, size, bare);
    if (action.kind != LessonAction::Kind::none) lesson_action_ = action;
}

// Page Down on the last step says what comes, and, while that is read, goes there.
void Shell::pass_last_step() {
    if (toast_.empty() || last_step_of_ != lesson_.file) {
        say(lesson_.next_title.empty() ? "The last step"
                                       : "The last step. Once more for lesson " + lesson_.next_title);
        last_step_of_ = lesson_.file;
        return;
    }
    toast_.clear();
    if (const LessonEntry* next = lesson_after(lesson_.file)) open_lesson(next->file);
}

void Shell::do_lesson(const LessonAction& action) {
    using Kind = LessonAction::Kind;
    if (action.kind == Kind::none || !lesson_.open) return;
    dirty_ = true;
    const bool turns = action.kind == Kind::next || action.kind == Kind::back || action.kind == Kind::jump
                       || action.kind == Kind::go_on;
    if (turns && side_ == SidePane::plan) side_ = SidePane::lesson;  // another step's words are wanted
    state_.tooltips_rest_at = state_.mouse;  // a new picture came under a mouse that did not move
    switch (action.kind) {
    case Kind::next:
        if (lesson_.step + 1 >= lesson_.lesson.steps.size())
            pass_last_step();
        else
            go_to_step(lesson_, lesson_.step + 1);
        break;
    case Kind::back:
        if (lesson_.step > 0)
            go_to_step(lesson_, lesson_.step - 1);
        else
            show_lesson_view();  // what one looked at meanwhile is left
        break;
    case Kind::jump: go_to_step(lesson_, action.step); break;
    case Kind::go_on:
        lesson_.continued = true;
        go_to_step(lesson_, action.step);
        break;
    case Kind::leave: {
        const std::string summary = summary_of(lesson_), title = lesson_.lesson.title;
        results_ = lesson_.step > 0 && lesson_.step + 1 == lesson_.lesson.steps.size() && !summary.empty();
        leave_lesson();
        if (!summary.empty()) say(title + ": " + summary);
        break;
    }
    case Kind::next_lesson:
        if (const LessonEntry* next = lesson_after(lesson_.file)) open_lesson(next->file);
        break;
    case Kind::reveal:
        if (lesson_.current() != nullptr) lesson_.state().revealed = true;
        break;
    case Kind::retry:
        if (lesson_.current() != nullptr) {
            const Mark before = lesson_.state().before;
            lesson_.state() = {};
            lesson_.state().before = before;
        }
        lesson_.follow = lesson_.refocus = false;
        if (state_.focus_visible && lesson_.current() != nullptr && lesson_.current()->question)
            state_.focus = first_of_question(lesson_.current()->question->kind);
        break;
    case Kind::solve: solve_task(); break;
    case Kind::restart: restart_task(); break;
    case Kind::show_plan: show_side(SidePane::plan); break;
    case Kind::judged:
    case Kind::none: break;
    }
    keep_answers();
    // A new question is the next thing that Tab comes to.
    const LessonStep* now = lesson_.current();
    if (turns && state_.edit == id_of("lesson.entry")) leave_text_field();  // it holds the last step's guess
    if (turns && now != nullptr && now->question && !lesson_.state().shown()) state_.focus = 0;
    if (action.kind == Kind::judged || action.kind == Kind::reveal) {
        lesson_.follow = true;
        // The control that was used is gone: the keyboard goes on from where the lesson does.
        if (state_.focus_visible) state_.focus = id_of("lesson.next");
    }
    // What was asked of the mesh is shown in it: the axis' colours and the rank's links.
    const LessonStep* step = lesson_.current();
    if ((action.kind == Kind::judged || action.kind == Kind::reveal) && step != nullptr && step->question
        && step->question->kind == QuestionKind::ranks) {
        const std::string& query = step->question->query;
        const std::size_t first = query.find(' ') + 1;
        if (const auto kind = axis_named(query.substr(first, query.find(' ', first) - first)))
            selection_.choose(*kind);
        selection_.rank = lesson_.asked_rank();
    }
}

namespace {

// "Lesson Who talks to whom (8 min)", as the menu and the command palette say it.
std::string lesson_label(const LessonEntry& e) {
    std::string out = (e.id == "tour" || e.only_tasks ? "" : "Lesson ") + e.title;
    if (e.only_tasks) out += " (" + std::to_string(e.tasks.size()) + " tasks)";
    return e.minutes > 0 ? out + ", " + std::to_string(e.minutes) + " min" : out;
}

}  // namespace

// What can be opened. The lessons of the workshop are many: the menu has one entry for them all.
void Shell::make_opening_commands() {
    const auto opens = [this](const LessonEntry& e, std::string id, std::string title, bool listed,
                              bool first) {
        add({.id = std::move(id),
             .title = std::move(title),
             .menu = listed ? "Learn" : "",
             .separator = first,
             .run = [this, file = e.file] { open_lesson(file); },
             .checked = [this, file = e.file] { return lesson_.open && lesson_.file == file; }});
    };
    for (const LessonEntry& e : courses_)
        opens(e, "course." + e.id, "Course: " + e.title + ", " + std::to_string(e.minutes) + " min", true,
              &e == courses_.data());
    add({.id = "lesson.choose", .title = "Lessons one by one…", .menu = "Learn", .run = [this] {
             palette_ = true;
             palette_state_ = {.filter = "Lesson "};
         }});
    for (const LessonEntry& e : lessons_)
        opens(e, "lesson." + e.id, lesson_label(e), e.only_tasks || e.id == "tour", false);
}

void Shell::make_lesson_commands() {
    const auto open = [this] { return lesson_.open; };
    const auto step = [this](LessonAction::Kind kind) { do_lesson({kind, 0}); };
    make_present_command();
    add({.id = "lesson.results", .title = "Results of the tasks…", .menu = "Learn", .run = [this] {
             results_ = true;
         }});
    add({.id = "lesson.handout",
         .title = "Save the handout…",
         .menu = "Learn",
         .run =
             [this] {
                 ask(DialogKind::handout, proposed_file(lesson_.file.stem().string() + ".html"), nullptr);
             },
         .enabled = [this] { return lesson_.open && static_cast<bool>(host_.save_handout); }});
    make_opening_commands();
    add({.id = "lesson.forward",
         .title = "Next step",
         .menu = "Learn",
         .chord = {.key = Key::page_down},
         .separator = true,
         .run = [step] { step(LessonAction::Kind::next); },
         .enabled = open});
    add({.id = "lesson.backward",
         .title = "Step before",
         .menu = "Learn",
         .chord = {.key = Key::page_up},
         .run = [step] { step(LessonAction::Kind::back); },
         .enabled = open});
    add({.id = "lesson.after",
         .title = "Next lesson",
         .menu = "Learn",
         .run = [step] { step(LessonAction::Kind::next_lesson); },
         .enabled = [this] { return lesson_.open && lesson_after(lesson_.file) != nullptr; }});
    add({.id = "lesson.question",
         .title = "Go to the question",
         .menu = "Learn",
         .chord = {.key = Key::q},
         .run =
             [this] {
                 const LessonStep* now = lesson_.current();
                 if (now == nullptr || !now->question) return;
                 state_.focus =
                     lesson_.state().shown() ? id_of("lesson.retry") : first_of_question(now->question->kind);
                 state_.focus_visible = true;
             },
         .enabled = open});
    add({.id = "lesson.close",
         .title = "Leave the lesson",
         .menu = "Learn",
         .run = [this] { leave_lesson(); },
         .enabled = open});
    make_side_commands();
    make_presenter_commands();
}

}  // namespace pentamesh::ui
