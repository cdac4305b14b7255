// Lessons in the window: the plan that is set aside, scenes, picks in the mesh, the welcome.
#include "app/ui/shell/lesson_desk.h"

#include "app/ui/kit/data_table.h"
#include "app/ui/lesson/lesson_panel.h"
#include "core/advice/advice.h"
#include "core/base/files.h"
#include "core/io/presets.h"
#include "core/plan/names.h"
#include "render/canvas.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <tuple>
#include <utility>

namespace pentamesh::ui {

LessonDesk::LessonDesk(Window& window) : window_(window) {
    const LessonFolders folders = lesson_folders(window.presets, window.host.lessons_folder);
    lessons_ = list_lessons(folders);
    courses_ = list_courses(folders);
}

const LessonEntry* LessonDesk::after(const std::filesystem::path& file) const {
    return lesson_after(lessons_, courses_, file);
}

void LessonDesk::open(const std::filesystem::path& file) {
    window_.end_peek();
    if (!window_.set_aside) {
        window_.set_aside = window_.document;
        window_.replaced = true;
        window_.document = Document(window_.set_aside->plan());  // with a history of its own, and no file
        window_.document.continue_after(window_.set_aside->revision());
    }
    keep_answers();
    end_asked();
    ended_ = false;
    before_.reset();
    presenter_.begun_s = presenter_.on ? window_.now_s : 0;  // the clock is of this lesson
    presenter_.fits.clear();
    if (!pages_before_) pages_before_ = open_pages(window_.views);
    if (!pinned_before_) pinned_before_ = window_.views.compare.kept;
    unpin();
    begin_lesson(lesson_, file, window_.presets, window_.now_s);
    lesson_.lesson.software = parse_name<Software>(window_.settings.lesson_software);
    if (const LessonProgress* kept = progress_of(lesson_.lesson.title)) {
        for (std::size_t i = 0; i < std::min(lesson_.states.size(), kept->marks.size()); ++i)
            lesson_.states[i].before = kept->marks[i] == ' ' ? Mark::none : static_cast<Mark>(kept->marks[i]);
        if (kept->step < std::max<std::size_t>(lesson_.states.size(), 1) - 1) lesson_.reached = kept->step;
    }
    window_.side = SidePane::lesson;
    if (const LessonEntry* next = after(file)) lesson_.next_title = next->title;
    window_.dirty = true;
}

const LessonProgress* LessonDesk::progress_of(const std::string& title) const {
    const auto at = std::find_if(window_.settings.lessons.begin(), window_.settings.lessons.end(),
                                 [&](const LessonProgress& p) { return p.title == title; });
    return at == window_.settings.lessons.end() ? nullptr : &*at;
}

// Keeps between runs of the program how far one came and the result of each step. A lesson that is opened
// again asks its questions again: an old answer stays until its question is answered anew.
void LessonDesk::keep_answers() {
    if (!lesson_.open || lesson_.states.empty()) return;
    LessonProgress now{lesson_.lesson.title, lesson_.step, marks_of(lesson_)};
    const LessonProgress* kept = progress_of(now.title);
    now.version = version_of(lesson_.lesson);
    if (lesson_.lesson.software) now.software = name_of(*lesson_.lesson.software);
    now.given.resize(now.marks.size()), now.missed.resize(now.marks.size());
    const bool same = kept != nullptr && kept->version == now.version && kept->software == now.software
                      && kept->given.size() == now.given.size() && kept->missed.size() == now.missed.size();
    bool any = now.step > 0;
    for (std::size_t i = 0; i < now.marks.size(); ++i) {
        const Mark before = lesson_.states[i].before;
        if (now.marks[i] == static_cast<char>(Mark::none) || (now.marks[i] == ' ' && before == Mark::done))
            now.marks[i] = static_cast<char>(before);
        now.given[i] = lesson_.states[i].handed;
        now.missed[i] = lesson_.states[i].handed_first;
        if (now.given[i].empty() && same) now.given[i] = kept->given[i], now.missed[i] = kept->missed[i];
        any = any || (now.marks[i] != ' ' && now.marks[i] != static_cast<char>(Mark::none));
    }
    if (now.step == 0) now.step = lesson_.reached;  // it was looked at again, no more
    if (kept == nullptr && !any) return;
    std::erase_if(window_.settings.lessons, [&](const LessonProgress& p) { return p.title == now.title; });
    window_.settings.lessons.push_back(std::move(now));
}

void LessonDesk::leave() {
    window_.end_peek();
    set_presenting(false);
    presenter_ = {};
    ended_ = false;
    before_.reset();
    window_.task.reset();
    window_.views.mesh.outlined.clear();
    window_.views.mesh.asked = -1;
    window_.views.mesh.plain = false;
    keep_answers();
    end_asked();
    lesson_ = {};
    window_.hidden_answer = {};
    if (pinned_before_) {
        window_.views.compare.kept = std::move(*std::exchange(pinned_before_, std::nullopt));
        ++window_.views.compare.version;
    }
    if (pages_before_) show_open_pages(window_.views, *std::exchange(pages_before_, std::nullopt));
    if (!window_.set_aside) return;
    window_.replaced = true;
    const std::uint64_t seen = window_.document.revision();
    std::optional<Plan> changed;
    if (window_.document.modified()) changed = window_.document.plan();
    window_.document = std::move(*window_.set_aside);
    window_.document.continue_after(seen);
    window_.set_aside.reset();
    if (changed) {
        window_.document.looked_at(std::move(*changed), "the lesson's plan");
        window_.say("Your own plan is back; Ctrl+Shift+Z shows the lesson's, as you changed it");
    }
    window_.selection = {};
    window_.full.reset();
    window_.dirty = true;
}

// Before a frame is drawn: the file may have changed, the step may want its scene.
void LessonDesk::begin_frame() {
    window_.state.page_keys = !lesson_.open && !presenter_.on;  // there they turn its steps
    if (!lesson_.open) return;
    if (reload_lesson(lesson_, window_.presets, window_.now_s)) window_.dirty = true;
    if (lesson_.scene_wanted) {
        apply_scene();
        window_.guarded("The step's plan", [&] { begin_step(); });
    }
    const LessonStep* current = lesson_.current();
    const bool task = current != nullptr && current->task;
    const bool other =
        task != window_.task.has_value() || (task && window_.task->line != current->task->line);
    window_.task = task ? current->task : std::nullopt;
    if (window_.evaluated != window_.document.revision() || other) window_.evaluate();
    const auto shown = [this] { return std::tuple{lesson_.made_of, lesson_.made_step, lesson_.made_asked}; };
    const auto before = shown();
    make_texts(lesson_, window_.document.plan(), window_.evaluation, window_.presets, window_.evaluated);
    if (before != shown()) window_.state.redraw_all = true;  // another question covers other parts
    window_.hidden_answer = lesson_.hidden_answer;
    note_task();
    const LessonStep* step = lesson_.current();
    // The plot that will answer is the plot to draw in.
    lesson_.curve_in_view = asks_for_curve(lesson_) && step->scene.view == view_of(ViewId::scale).name
                            && window_.full == ViewId::scale;
    const bool asks = lesson_.asks_for_ranks();
    window_.views.mesh.plain = asks;
    window_.views.mesh.asked = asks ? lesson_.asked_rank() : -1;
    if (asks)
        window_.views.mesh.outlined = lesson_.state().picked;
    else
        window_.views.mesh.outlined = step != nullptr ? step->scene.ranks : std::vector<std::int64_t>{};
}

void LessonDesk::apply_scene() {
    end_asked();
    lesson_.scene_wanted = false;
    lesson_.scene_error.clear();
    const LessonStep* step = lesson_.current();
    if (step == nullptr) return;
    try {
        Plan plan = plan_of(lesson_, window_.set_aside ? window_.set_aside->plan() : window_.document.plan(),
                            window_.presets);
        if (!(plan == window_.document.plan())) show_plan(std::move(plan));
    } catch (const Error& e) {
        lesson_.scene_error = e.what();
    }
    const LessonScene& scene = step->scene;
    show_scene();
    window_.guarded("The pinned plan", [&] { pin(scene.against); });
    window_.seek_marked = true;
    window_.selection = window_.selection.cleared();
    if (const auto kind = axis_named(scene.axis)) window_.selection.choose(*kind);
    if (scene.rank >= 0) {
        window_.selection.rank = scene.rank;
        window_.selection.topic = Selection::Topic::rank;
    }
    int stage = -1;
    const auto parsed = std::from_chars(scene.stage.data(), scene.stage.data() + scene.stage.size(), stage);
    if (parsed.ec == std::errc() && stage >= 0) window_.selection.stage = stage;
    window_.dirty = true;
}

// Shows the step's view on its page, and nothing that was set in views before.
void LessonDesk::show_scene() {
    if (lesson_.current() == nullptr) return;
    const StepPage at = page_of_step();
    show_view();
    begin_lesson_scene(window_.views);
    window_.views.zoom.tour_asked = lesson_.current()->scene.flies;
    if (const auto view = show_named_view(window_.views, at.view); view && !at.page.empty())
        show_named_page(window_.views, *view, at.page);
}

// Pins the plan that a step compares with while it is shown, in the place of what the last step pinned.
void LessonDesk::pin(const std::vector<std::string>& sets) {
    unpin();
    if (sets.empty()) return;
    Plan plan = plan_with(window_.document.plan(), sets, window_.presets);
    plan.name = sets_text(sets);  // the step's is the other one
    window_.views.compare.pin(plan, assess(plan));
}

// Nothing that was pinned before the lesson stands in its steps.
void LessonDesk::unpin() {
    if (window_.views.compare.kept.empty()) return;
    window_.views.compare.kept.clear();
    ++window_.views.compare.version;
}

// Shows the plan of a step. What was changed in the last step's plan comes back with undo.
void LessonDesk::show_plan(Plan plan) {
    window_.replaced = true;  // no edit of the plan that stood there
    if (!window_.document.modified()) {
        window_.document.replace_unmodified({std::move(plan)});
        return;
    }
    window_.document.replace({std::move(plan)}, "another step's plan");
    constexpr double kShort_s = 3;  // a room has read on by then
    window_.say("This step shows a plan of its own; Ctrl+Z brings your changes back", kShort_s);
}

// An answer may have a page of its own.
LessonDesk::StepPage LessonDesk::page_of_step() const {
    if (const LessonQuestion* answered = lesson_.on_answer_page()) return {answered->view, answered->page};
    const LessonScene& scene = lesson_.current()->scene;
    return {scene.view, scene.page};
}

void LessonDesk::show_view() {
    if (lesson_.current() == nullptr) return;
    const StepPage at = page_of_step();
    if (const auto view = view_named(at.view)) {
        window_.full = *view;
        window_.views.as_data[static_cast<std::size_t>(*view)] = false;
    } else if (at.view == kDashboardName) {
        window_.full.reset();
    }
}

bool LessonDesk::shows_view() const {
    if (!lesson_.open || lesson_.current() == nullptr) return true;
    const StepPage at = page_of_step();
    if (const auto view = view_named(at.view)) return window_.full == *view;
    return at.view != kDashboardName || !window_.full;
}

// A click on a cell, while GPUs are asked for, picks it or takes it back; nothing else is selected by it.
void LessonDesk::take_picks() {
    if (!lesson_.asks_for_ranks() || window_.selection.rank < 0) return;
    const std::int64_t rank = window_.selection.rank;
    auto& picked = lesson_.state().picked;
    if (std::erase(picked, rank) == 0 && rank != lesson_.asked_rank()) {
        if (lesson_.solution.answer.ranks.size() == 1)
            picked.clear();  // one is asked for: the last click counts
        picked.push_back(rank);
        std::sort(picked.begin(), picked.end());
    }
    window_.selection.rank = -1;
    window_.selection.topic = Selection::Topic::none;
    window_.dirty = true;
}

void LessonDesk::draw(Ui& ui, Rect room, const Scene& scene, float size, bool bare) {
    const LessonAction action = draw_lesson_panel(ui, room, scene, lesson_, size, bare);
    if (action.kind != LessonAction::Kind::none) wanted_ = action;
}

// Behind the last step stands the score, behind the score the next lesson.
void LessonDesk::pass_last_step() {
    if (!std::exchange(ended_, !lesson_.lesson.steps.empty())) return;
    go_on_to_next();
}

void LessonDesk::go_on_to_next() {
    const LessonEntry* next = after(lesson_.file);
    if (next == nullptr) return;
    Before before{lesson_.file,      lesson_.states,          lesson_.step,
                  lesson_.continued, lesson_.lesson.software, presenter_.begun_s};
    open(next->file);
    before_ = std::move(before);
    lesson_.leads_back = true;
}

// Answers are as they were, except where the room runs another software now.
void LessonDesk::go_back_to_last() {
    if (!before_) return;
    Before before = *std::exchange(before_, std::nullopt);
    open(before.file);
    if (presenter_.on && before.begun_s > 0) presenter_.begun_s = before.begun_s;
    if (lesson_.states.size() != before.states.size()) return;
    const bool same = lesson_.lesson.software == before.software;
    lesson_.continued = before.continued || !same;
    if (same) lesson_.states = std::move(before.states);
    go_to_step(lesson_, before.step);
}

void LessonDesk::draw_end(Ui& ui) {
    if (!ended_ || !lesson_.open) return;
    const Vec2 size = ui.frame().size;
    const float w = std::min(480.0f, size.x - 32), h = 176;
    const Rect box{(size.x - w) / 2, (size.y - h) / 2, w, h};
    const auto layer = ui.open_layer("lesson.end", box, true);
    ended_ = layer.stays();
    Rect room = box.inset(24, 20);
    const auto row = [&](float height, const std::string& text, const TextStyle& style) {
        const Rect r = room.cut_top(height);
        if (ui.canvas().text_in(r, text, style) && ui.hovers(r)) ui.tooltip(text);
    };
    row(26, "The end of " + lesson_.lesson.title, {Face::semibold, 16, ui.theme().text, 0});
    room.cut_top(8);
    const std::string score = summary_of(lesson_);
    row(24, score.empty() ? "Nothing was asked." : score, ui.style(14));
    if (!lesson_.next_title.empty()) row(22, "Next: " + lesson_.next_title, ui.style(13, Tone::secondary));
    using Kind = LessonAction::Kind;
    Rect foot = box.inset(24, 20).cut_bottom(30);
    if (ui.button("end.back", foot.cut_left(72), "Back", 0, true, true)) ended_ = false;
    if (!lesson_.next_title.empty()) {
        if (ui.button("end.next", foot.cut_right(104), "Next lesson")) wanted_ = {Kind::next_lesson, 0};
        foot.cut_right(8);
    }
    if (ui.button("end.leave", foot.cut_right(72), "Done")) wanted_ = {Kind::leave, 0};
    if (ui.layer() != ui.state().top_layer) return;  // the key that opened it is no key of its own
    if (pressed({Key::page_down}) || pressed({Key::right})) wanted_ = {Kind::next, 0};
    if (pressed({Key::page_up}) || pressed({Key::left})) ended_ = false;
    if (!ended_) window_.dirty = true;  // it is gone in the next frame
}

void LessonDesk::end_frame() {
    take_picks();
    act(std::exchange(wanted_, {}));
}

void LessonDesk::act(const LessonAction& action) {
    using Kind = LessonAction::Kind;
    if (action.kind == Kind::none || !lesson_.open) return;
    window_.end_peek();
    // The answer to a task is its solution.
    if (action.kind == Kind::reveal && lesson_.current() != nullptr && lesson_.current()->task)
        return act({Kind::solve, 0});
    window_.dirty = true;
    const bool turns = action.kind == Kind::next || action.kind == Kind::back || action.kind == Kind::jump
                       || action.kind == Kind::go_on;
    const bool closes_end = ended_ && action.kind == Kind::back;
    if (action.kind != Kind::next) ended_ = false;
    if (closes_end) return;
    if (turns && window_.side == SidePane::plan)
        window_.side = SidePane::lesson;  // another step's words are wanted
    window_.state.tooltips_rest_at =
        window_.state.mouse;  // a new picture came under a mouse that did not move
    do_action(action);
    keep_answers();
    // A new question is the next thing that Tab comes to.
    const LessonStep* now = lesson_.current();
    if (turns && window_.state.edit == id_of("lesson.entry"))
        leave_text_field();  // it holds the last step's guess
    if (turns && now != nullptr && now->question && !lesson_.state().shown()) window_.state.focus = 0;
    if (action.kind == Kind::judged || action.kind == Kind::reveal) {
        lesson_.answered_s = window_.now_s;
        show_answered();
        show_first_asked();
    }
}

void LessonDesk::do_action(const LessonAction& action) {
    using Kind = LessonAction::Kind;
    switch (action.kind) {
    case Kind::next:
        if (lesson_.step + 1 >= lesson_.lesson.steps.size()) {
            pass_last_step();
        } else {
            ended_ = false;
            go_to_step(lesson_, lesson_.step + 1);
        }
        break;
    case Kind::back:
        if (lesson_.step > 0)
            go_to_step(lesson_, lesson_.step - 1);
        else if (before_)
            go_back_to_last();
        else
            show_view();  // what one looked at meanwhile is left
        break;
    case Kind::jump: go_to_step(lesson_, action.step); break;
    case Kind::go_on:
        lesson_.continued = true;
        go_to_step(lesson_, action.step);
        break;
    case Kind::leave: {
        const std::string summary = summary_of(lesson_), title = lesson_.lesson.title;
        results_ = lesson_.step > 0 && lesson_.step + 1 == lesson_.lesson.steps.size() && !summary.empty();
        leave();
        if (!summary.empty()) window_.say(title + ": " + summary);
        break;
    }
    case Kind::next_lesson: go_on_to_next(); break;
    case Kind::reveal:
        if (lesson_.current() != nullptr) lesson_.state().revealed = true;
        break;
    case Kind::more: lesson_.show_more = !lesson_.show_more; break;
    case Kind::ask_plan: show_asked(static_cast<int>(action.step) - 1); break;
    case Kind::retry:
        end_asked();
        if (lesson_.current() != nullptr) {
            const Mark now = mark_of(lesson_, lesson_.step), before = lesson_.state().before;
            StepState again;
            again.before = now == Mark::none ? before : now;
            again.votes = lesson_.state().votes;  // of the room, until the lesson is closed
            lesson_.state() = std::move(again);
        }
        lesson_.follow = lesson_.refocus = false;
        show_scene();
        if (window_.state.focus_visible && lesson_.current() != nullptr && lesson_.current()->question)
            window_.state.focus = first_of_question(lesson_.current()->question->kind);
        break;
    case Kind::solve: solve_task(); break;
    case Kind::restart: restart_task(); break;
    case Kind::run_by: run_by(kRoomSoftware[action.step].software); break;
    case Kind::show_plan: window_.show_side(SidePane::plan, true); break;
    case Kind::judged:
    case Kind::none: break;
    }
}

// The room runs this: the steps' plans are made anew. What was answered for another software counts as
// answered before.
void LessonDesk::run_by(Software software) {
    lesson_.asks_software = false;
    window_.settings.lesson_software = name_of(software);
    if (lesson_.lesson.software == software) return;
    end_asked();
    for (std::size_t i = 0; i < lesson_.states.size(); ++i) {
        StepState fresh;
        const Mark now = mark_of(lesson_, i);
        fresh.before = now == Mark::none ? lesson_.states[i].before : now;
        lesson_.states[i] = std::move(fresh);
    }
    lesson_.lesson.software = software;
    next_of_.clear();
    go_to_step(lesson_, lesson_.step);
}

// The mesh shows what was asked about it: the axis' colours and the rank's links.
void LessonDesk::show_answered() {
    lesson_.follow = true;
    // The control that was used is gone: the keyboard goes on from where the lesson does.
    if (window_.state.focus_visible) window_.state.focus = id_of("lesson.next");
    const LessonStep* step = lesson_.current();
    if (step == nullptr || !step->question || step->question->kind != QuestionKind::ranks) return;
    const std::string& query = step->question->query;
    const std::size_t first = query.find(' ') + 1;
    if (const auto kind = axis_named(query.substr(first, query.find(' ', first) - first)))
        window_.selection.choose(*kind);
    window_.selection.rank = lesson_.asked_rank();
}

namespace {

// Returns " (de)" for a lesson of one's own in that language.
std::string in_language(const LessonEntry& e) {
    return e.language.empty() ? "" : " (" + e.language + ")";
}

// Returns what the id of its command ends in: a translation has the id of the lesson.
std::string command_id_of(const LessonEntry& e) {
    return e.id + (e.language.empty() ? "" : "." + e.language);
}

// "Lesson Who talks to whom (8 min)", as the menu and the command palette say it.
std::string lesson_label(const LessonEntry& e) {
    std::string out = (e.id == "tour" || e.only_tasks ? "" : "Lesson ") + e.title;
    if (e.only_tasks) out += " (" + std::to_string(e.tasks.size()) + " tasks)";
    if (e.minutes > 0) out += ", " + std::to_string(e.minutes) + " min";
    return out + in_language(e);
}

}  // namespace

// Adds a command for each course and lesson. The workshop has many lessons: the menu has one entry for them.
void LessonDesk::add_opening_commands(std::vector<Command>& commands) {
    const auto opens = [&, this](const LessonEntry& e, std::string id, std::string title, bool listed,
                                 bool first) {
        commands.push_back(
            {.id = std::move(id),
             .title = std::move(title),
             .menu = listed ? "Learn" : "",
             .separator = first,
             .run = [this, file = e.file] { open(file); },
             .checked = [this, file = e.file] { return lesson_.open && lesson_.file == file; }});
    };
    for (const LessonEntry& e : courses_)
        opens(e, "course." + command_id_of(e),
              "Course: " + e.title + ", " + std::to_string(e.minutes) + " min" + in_language(e), true,
              &e == courses_.data());
    commands.push_back(in_menu("Learn", "lesson.choose", "Lessons one by one…", {},
                               [this] { window_.search_commands("Lesson "); }));
    const std::size_t first = commands.size();
    for (const LessonEntry& e : lessons_)
        opens(e, "lesson." + command_id_of(e), lesson_label(e), e.only_tasks || e.id == "tour", false);
    put_in_group(commands, first, "Tour and tasks");
}

void LessonDesk::add_commands(std::vector<Command>& commands) {
    const auto add = [&](std::string id, std::string title, std::function<void()> run,
                         std::function<bool()> enabled = nullptr, Chord chord = {}) -> Command& {
        return commands.emplace_back(
            in_menu("Learn", std::move(id), std::move(title), chord, std::move(run), std::move(enabled)));
    };
    const auto open = [this] { return lesson_.open; };
    const auto step = [this](LessonAction::Kind kind) { return [this, kind] { act({kind, 0}); }; };
    add("present", "Present", [this] { set_presenting(!presenter_.on); }, nullptr, {Key::f5}).checked =
        [this] { return presenter_.on; };
    add("lesson.results", "Results of the tasks…", [this] { results_ = true; });
    add(
        "lesson.handout", "Save the handout…",
        [this] {
            window_.ask(DialogKind::handout, window_.proposed_file(lesson_.file.stem().string() + ".html"));
        },
        [this] { return lesson_.open && static_cast<bool>(window_.host.save_handout); });
    add_opening_commands(commands);
    for (const RoomSoftware& r : kRoomSoftware)
        commands.push_back(
            {.id = "lesson.run_by." + std::string(name_of(r.software)),
             .title = "Lessons for " + std::string(r.name),
             .run = [this, &r] { run_by(r.software); },
             .checked = [this, &r] { return window_.settings.lesson_software == name_of(r.software); }});
    const std::size_t first = commands.size();
    add("lesson.forward", "Next step", step(LessonAction::Kind::next), open, {Key::page_down}).separator =
        true;
    add("lesson.backward", "Step before", step(LessonAction::Kind::back), open, {Key::page_up});
    add("lesson.after", "Next lesson", step(LessonAction::Kind::next_lesson),
        [this] { return lesson_.open && after(lesson_.file) != nullptr; });
    add("lesson.question", "Go to the question",
        [this] {
            const LessonStep* now = lesson_.current();
            if (now == nullptr || !now->question) return;
            bring_words();
            window_.state.focus =
                lesson_.state().shown() ? id_of("lesson.retry") : first_of_question(now->question->kind);
            window_.state.focus_visible = true;
        },
        open, {Key::q});
    add_step_commands(commands);
    add(
        "lesson.close", "Leave the lesson", [this] { leave(); }, open);
    put_in_group(commands, first, "This lesson");
}

// Tasks in the window: their solution and start as edits, what was done before, the page of results.

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

// After an answer the views show the plan that was asked about. It is no edit: the step's own plan waits with
// its history, is pinned as A, and comes back.

namespace {

// Returns the axis that the sets touch first: its groups are coloured then.
std::optional<GroupKind> touched_axis(const std::vector<std::string>& sets) {
    for (const std::string& set : sets) {
        std::string field = set.substr(0, set.find('='));
        if (field.starts_with("layout.")) field.erase(0, std::string("layout.").size());
        if (const auto kind = parse_name<Axis>(field) ? axis_named(field) : std::nullopt) return kind;
    }
    return std::nullopt;
}

}  // namespace

// Shows plan `index` of those that were asked about; -1: the step's own.
void LessonDesk::show_asked(int index) {
    if (!lesson_.open || index >= static_cast<int>(lesson_.asked.plans.size())) return;
    end_asked();
    if (index < 0) return;
    const AskedPlan& asked = lesson_.asked.plans[static_cast<std::size_t>(index)];
    Plan plan;
    try {
        plan = plan_with(lesson_.start, asked.sets, window_.presets);
    } catch (const Error& e) {
        window_.say(std::string("This plan cannot be shown: ") + e.what());
        return;
    }
    plan.name = lesson_.start.name;
    if (window_.views.compare.kept.empty()) {
        window_.views.compare.pin(lesson_.start, lesson_.start_evaluation);
        pinned_asked_ = true;
    }
    const Document own = window_.document;
    aside_ = own;
    window_.document = Document(std::move(plan));
    window_.document.continue_after(own.revision());
    lesson_.asked_shown = index;
    const Selection before = window_.selection;
    if (const auto kind = touched_axis(asked.sets)) {
        window_.selection.choose(*kind);
        group_before_ = before.group;
    }
    window_.dirty = window_.state.redraw_all = true;
}

// The step's own plan comes back. What was changed in the other one is kept for redo.
void LessonDesk::end_asked() {
    lesson_.asked_shown = -1;
    if (!aside_) return;
    const std::uint64_t seen = window_.document.revision();
    std::optional<Plan> changed;
    if (window_.document.modified()) changed = window_.document.plan();
    window_.document = std::move(*aside_);
    aside_.reset();
    window_.document.rewrite([this](const Plan& plan) { return with_same_meaning(plan, window_.presets); });
    window_.document.continue_after(seen);
    if (changed) window_.document.looked_at(std::move(*changed), "the plan that was asked about");
    if (std::exchange(pinned_asked_, false)) unpin();
    if (group_before_) window_.selection.choose(*std::exchange(group_before_, std::nullopt));
    window_.dirty = window_.state.redraw_all = true;
}

// Shows what was asked about, as soon as the answer is seen.
void LessonDesk::show_first_asked() {
    make_texts(lesson_, window_.document.plan(), window_.evaluation, window_.presets, window_.evaluated);
    if (lesson_.asked.first >= 0) show_asked(lesson_.asked.first);
    if (lesson_.on_answer_page() != nullptr) show_scene();
}

// The words that notes took the place of come back for what is done in them.
void LessonDesk::bring_words() {
    if (presenter_.on && presenter_.side && !window_.state.rect_of("lesson.words.scrolls"))
        presenter_.side = false, window_.dirty = true;
}

// V counts the votes of a room before the answer; after it, it goes there and back.
void LessonDesk::turn_asked() {
    // Before the answer, and once more behind it where a room was counted: then it types a count.
    const StepState& state = lesson_.state();
    if (!state.shown() || state.counting || (!state.votes.empty() && state.votes_after.empty())) {
        lesson_.state().counting = !lesson_.state().counting;
        if (lesson_.state().counting) bring_words();
        if (lesson_.state().counting) window_.state.focus = id_of("lesson.votes");
        window_.state.focus_visible = true;
        window_.dirty = true;
        return;
    }
    if (lesson_.asked_shown >= 0)
        show_asked(-1);
    else
        show_asked(std::max(0, lesson_.asked.first));
}

void LessonDesk::back_to_scene() {
    if (lesson_.asked_shown >= 0)
        end_asked();
    else
        show_view();
}

void LessonDesk::add_step_commands(std::vector<Command>& commands) {
    commands.push_back(in_menu(
        "Learn", "lesson.more", "Read more of the step", {Key::m},
        [this] {
            act({LessonAction::Kind::more, 0});
        },
        [this] { return lesson_.open && !lesson_.more.empty(); }, [this] { return lesson_.show_more; }));
    commands.push_back(in_menu(
        "Learn", "lesson.asked", "Count the votes, or show the plan that was asked about", {Key::v},
        [this] { turn_asked(); },
        [this] {
            const LessonStep* step = lesson_.open ? lesson_.current() : nullptr;
            if (step == nullptr || !step->question) return false;
            const QuestionKind kind = step->question->kind;
            return lesson_.state().shown() ? !lesson_.asked.plans.empty()
                                           : kind == QuestionKind::choose || kind == QuestionKind::tier;
        },
        [this] { return lesson_.asked_shown >= 0; }));
}

}  // namespace pentamesh::ui
