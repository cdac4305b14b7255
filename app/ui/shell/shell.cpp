#include "app/ui/shell/shell.h"

#include "app/ui/kit/format.h"
#include "app/ui/lesson/lesson_cover.h"
#include "app/ui/views/frame.h"
#include "app/ui/views/search/search_runner.h"
#include "core/advice/advice.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/io/own_presets.h"
#include "core/io/plan_json.h"
#include "core/plan/title.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr double kToast_s = 6;
constexpr double kPast_s = 0.05;  // behind the time for which a frame is drawn

}  // namespace

Shell::Shell(const Presets& presets, Plan plan, Host host)
    : presets_(presets), document_(std::move(plan)), host_(std::move(host)) {
    if (!host_.config_folder.empty()) {
        std::string warning;
        settings_ = load_settings(host_.config_folder, warning);
        saved_settings_ = settings_;
        if (!warning.empty()) say(warning);
        // A preset of one's own may be gone when the plan is looked for.
        const auto text = [this](const Plan& p) { return write_plan(without_own_presets(p, presets_)); };
        recovery_ = std::make_unique<Recovery>(host_.config_folder / "unsaved", text);
    }
    try {
        const std::filesystem::path file = presets_.root().parent_path() / "assets" / "glossary.json";
        glossary_ = load_glossary(read_file(file), file.string());
    } catch (const Error& e) {
        say(e.what());
    }
    lessons_ = list_lessons(presets_.root().parent_path() / "assets" / "lessons");
    courses_ = list_lessons(presets_.root().parent_path() / "assets" / "lessons" / "courses");
    make_commands();
    evaluate_now();
    show_scene_of_plan();
    welcome_ = host_.first_run && !settings_.welcomed;
}

void Shell::evaluate_now() {
    const double begun = host_.now_s ? host_.now_s() : 0;
    assess(document_.plan(), evaluation_);
    if (task_) keep_to_task(*task_, evaluation_.problems);
    evaluate_s_ = host_.now_s ? host_.now_s() - begun : -1;
    note_change(std::exchange(evaluated_, document_.revision()) != document_.revision());
    if (evaluation_.valid && lost_selection_ && selection_ == lost_selection_->left)
        selection_ = lost_selection_->whole;
    const Selection before = selection_;
    if (selection_.rank >= evaluation_.mesh.world) selection_.rank = -1;
    if (!selection_.ranks.empty() && selection_.ranks.back() >= evaluation_.mesh.world)
        selection_ = selection_.cleared();
    if (selection_.stage >= static_cast<int>(evaluation_.memory.stage.size())) selection_.stage = -1;
    selected_.find(document_.plan(), evaluation_, selection_);
    // What an impossible plan does not have is selected again in the next possible one.
    if (evaluation_.valid) {
        lost_selection_.reset();
        selected_.note(document_.plan(), evaluation_, selection_);
    } else if (!lost_selection_) {
        lost_selection_ = {before, selection_};
    }
}

void Shell::apply(std::optional<PlanEdit> edit) {
    if (!edit) return;
    edit->plan = with_true_title(document_.plan(), std::move(edit->plan));
    const std::string title = document_.plan().name;
    // A model of one's own that no file has is kept as a plan is that another one replaces.
    if (edit->other_model && document_.modified() && is_own_model(document_.plan())) {
        const std::string name = title_of(edit->plan);
        return replace_plan({std::move(edit->plan), {}, false}, name);
    }
    document_.edit(std::move(edit->plan), std::move(edit->what), std::move(edit->merge_key));
    if (!title.empty() && document_.plan().name.empty())
        say("The title \"" + title + "\" no longer holds and is gone; Ctrl+Z brings it back");
    dirty_ = true;
}

void Shell::say(std::string text) {
    toast_ = std::move(text);
    last_step_of_.clear();
    toast_until_s_ = now_s_ + kToast_s;
}

std::string Shell::title() const {
    return title_of(document_.plan()) + (document_.modified() ? " *" : "") + " – Pentamesh";
}

double Shell::idle_s() const {
    if (wants_frame()) return 0;
    // An open lesson's file is looked at once a second; the presenter's clock ticks.
    double wait = lesson_.open || presenter_.on ? 1 : std::numeric_limits<double>::infinity();
    if (native_dialog_) wait = std::min(wait, 0.1);  // it is asked whether it is done
    if (now_s_ < advice_due_s()) wait = std::min(wait, advice_due_s() + kPast_s - now_s_);
    if (dialog_.kind == DialogKind::picture && picture_.due_s >= 0)
        wait = std::min(wait, std::max(0.02, picture_.due_s - now_s_));
    if (!changed_.empty()) wait = std::min(wait, std::max(0.05, changed_until_s_ - now_s_));
    if (works_beside()) wait = std::min(wait, 0.05);
    if (!toast_.empty()) wait = std::min(wait, std::max(0.05, toast_until_s_ - now_s_));
    return wait;
}

bool Shell::due() const {
    const bool other = wants_frame() || presenter_.on || native_dialog_ || !changed_.empty()
                       || !toast_.empty() || works_beside();
    return other || !lesson_.open || file_changed(lesson_);
}

// ---- views --------------------------------------------------------------------------------------------

void Shell::toggle_full(ViewId view) {
    if (full_ == view)
        full_.reset();
    else
        full_ = view;
    alone_ = SidePane::view;
    dirty_ = true;
}

Scene Shell::scene_of(Hover& next) {
    const KeptPlan* a = views_.compare.pinned();
    pinned_ = a != nullptr ? a->evaluation : nullptr;
    return {.plan = document_.plan(),
            .evaluation = evaluation_,
            .presets = presets_,
            .selection = selection_,
            .hover = hover_,
            .next_hover = next,
            .time_cursor_s = views_.timeline.cursor_s,
            .shown_timeline = views_.timeline.current(evaluation_, evaluated_),
            .glossary = &glossary_,
            .hosts = &host_names_.of(document_.plan(), evaluation_.mesh),
            .flags = flags_framework(),
            .pinned = pinned_.get(),
            .changed = changed_,
            .another_model = a != nullptr && !(a->plan->model == document_.plan().model),
            .has_before = document_.before_last_edit() != nullptr,
            .better = better_};
}

Screen Shell::screen() const {
    return {views_, selection_, settings_, full_, document_.revision(), veil_, task_};
}

void Shell::show(const Screen& screen) {
    views_ = screen.views;
    if (views_.search.found && views_.search.found->running) {  // by another window: it has what is there
        auto found = std::make_shared<SearchFound>(*views_.search.found);
        found->running = false;
        views_.search.found = std::move(found);
    }
    selection_ = screen.selection;
    settings_ = screen.settings;
    full_ = screen.full;
    veil_ = screen.veil;
    task_ = screen.task;
    document_.continue_after(screen.revision);  // what the views keep is made anew
    evaluate_now();
}

// The view that fills the window has the keyboard; else the one with the focus, or under the mouse, or that
// had it last.
bool Shell::has_keys(const Ui& ui, Rect room, Pane pane) {
    if (ui.layer() != state_.top_layer || state_.keys_scroll) return false;
    if (full_) return true;
    bool focus = false;
    for (const UiState::Area& a : state_.last_areas)
        focus = focus || (a.id == state_.focus && room.contains(a.rect.center()));
    if (state_.focus_visible ? focus : ui.hovers(room)) keys_pane_ = pane;
    return keys_pane_ == pane;
}

void Shell::draw_view(Ui& ui, Rect room, Scene& scene, ViewId view) {
    if (room.w < 120 || room.h < 60) return;  // nothing could be read
    search_seen_ = search_seen_ || view == ViewId::search;
    compare_seen_ = compare_seen_ || view == ViewId::compare;
    scene.keys.here = has_keys(ui, room, view_of(view).pane);
    const std::string_view title = view_of(view).title;
    if (const auto part = ui.part("part.view", static_cast<std::uint64_t>(view), room, shown_key(view),
                                  ui.theme().window, moving_in_view(view, views_)))
        draw_guarded(ui, title, room, [&] { draw_kept_view(ui, room, scene, view); });
    if (veil_.covers_view != view_of(view).name)
        draw_guarded(ui, title, room, [&] { draw_view_moving(ui, scene, view, views_); });
}

// All of it that stays while the mouse moves elsewhere, or where it changes the view each frame.
void Shell::draw_kept_view(Ui& ui, Rect room, Scene& scene, ViewId view) {
    room = {room.x + 16, room.y + 8, room.w - 32, room.h - 16};
    const ViewHead head = view_head(ui, room, view, views_.as_data[static_cast<std::size_t>(view)]);
    if (head.full) toggle_full(view);
    if (head.switch_to) {
        if (full_)
            full_ = *head.switch_to;
        else
            views_.in_pane[static_cast<std::size_t>(view_of(view).pane)] = *head.switch_to;
        dirty_ = true;
    }
    if (veil_.covers_view == view_of(view).name) {
        draw_cover(ui, room);
        return;
    }
    if (auto edit = draw_view_body(ui, head.row, room, scene, view, views_, evaluated_))
        view_edit_ = std::move(edit);
}

// ---- the frame ----------------------------------------------------------------------------------------

void Shell::frame(const FrameInfo& info, Page* page) {
    now_s_ = info.time_s;
    width_ = info.size.x;
    state_.reduced_motion = settings_.reduced_motion;
    if (dirty_ || welcome_) state_.redraw_all = true;
    if (!changed_.empty() && now_s_ >= changed_until_s_) changed_.clear(), state_.redraw_all = true;
    dirty_ = false;
    guarded("The dialog", [&] { poll_native_dialog(); });
    guarded("The lesson", [&] { begin_lesson_frame(); });
    // A file that was dropped between two frames brought another plan.
    if (evaluated_ != document_.revision()) evaluate_now();
    draw_frame(info, page);
    run_queue();
    if (evaluated_ != document_.revision()) {
        evaluate_now();
        dirty_ = true;
    }
    selected_.note(document_.plan(), evaluation_, selection_);
    guarded("The search", [&] { tend_decide(); });
    guarded("The calibration", [&] { tend_calibrate(); });
    keep_settings(info);
    keep_unsaved();
}

void Shell::draw_frame(const FrameInfo& info, Page* page) {
    const Rewording words = words_under(veil_, Veil::Place::view);
    const Reworded under_veil(words);  // tooltips are drawn last of all
    typed_ = state_.edit != 0 || state_.focus_visible;
    Ui ui(state_, info, theme_of(settings_.theme), frame_canvas(info, page));
    Hover next;
    Scene scene = scene_of(next);
    fill_frame(info, page, ui.theme().window);
    draw_content(ui, scene, {0, 0, info.size.x, info.size.y});
    const bool view_took_escape = scene.keys.took_escape;
    take_lesson_picks();
    do_lesson(std::exchange(lesson_action_, {}));
    if (!next.message.empty()) say(next.message);
    next.message.clear();
    if (next.stage < 0) next.stage = stage_of_rank(evaluation_.mesh, next.rank);
    hover_moved_ = !(next == hover_);
    hover_ = next;
    if (!info.down[0] && !types_notes()) document_.end_merge();
    if (state_.layers_open == 0 || state_.top_layer == 0)
        take_keys(view_took_escape);
    else if ((editor_.open && editor_.editing.empty()) || (stages_.open && stages_.editing < 0))
        take_undo_keys();
    ui.move_focus();
    if (!toast_.empty() && now_s_ >= toast_until_s_) toast_.clear();
}

// Everything that is drawn, and the edit of the plan that was made in it.
void Shell::draw_content(Ui& ui, Scene& scene, Rect room) {
    std::optional<PlanEdit> edit;
    draw_guarded(ui, "The window", room, [&] {
        edit = presenter_.on ? draw_presenter(ui, room, scene) : draw_panels(ui, room, scene);
    });
    if (!draw_guarded(ui, "A menu of the plan", {}, [&] {
            if (auto e = draw_plan_menus(ui, scene, panel_)) edit = std::move(e);
            if (auto e = draw_problems_layer(ui, scene, inspector_)) edit = std::move(e);
            const std::string hosts = host_names_.list;
            draw_blame_panel(ui, scene, blame_, host_names_);
            if (hosts != host_names_.list) state_.redraw_all = true;
            draw_interop(ui, scene);
            draw_calibrate(ui);
            if (panel_.wants_editor) editor_.open_at(*std::exchange(panel_.wants_editor, std::nullopt));
            if (std::exchange(panel_.wants_presets, false)) later("", [this] { ask_own_presets(); });
            if (auto e = draw_plan_editor(ui, scene, editor_, document_.revision())) edit = std::move(e);
            if (editor_.wants_preset) ask_preset_name(*std::exchange(editor_.wants_preset, std::nullopt));
            if (std::exchange(panel_.wants_stages, false)) stages_.open_now();
            if (auto e = draw_stage_editor(ui, scene, stages_, document_.revision())) edit = std::move(e);
        }))
        panel_.menu.clear(), editor_ = {}, stages_ = {}, blame_ = {}, import_ = {}, export_ = {},
                             calibrate_ = {};
    const Rewording as_it_is;
    const Reworded plain(as_it_is);
    if (!draw_guarded(ui, "A menu or dialog", {}, [&] { draw_layers(ui, scene); })) {
        menu_.clear();
        palette_ = keys_ = welcome_ = results_ = glossary_state_.open = false;
        close_dialog();
    }
    if (view_edit_) edit = std::move(view_edit_);
    view_edit_.reset();
    apply(std::move(edit));
}

// Over the sheets of fields and of stages edits are taken back as in the window.
void Shell::take_undo_keys() {
    const Command* command = pressed_command(commands_);
    if (command != nullptr && (command->id == "edit.undo" || command->id == "edit.redo")) run(*command);
}

void Shell::take_keys(bool view_took_escape) {
    if (const Command* command = pressed_command(commands_)) run(*command);
    if (presenter_.on)
        present_keys();
    else if (pressed({Key::escape}) && !view_took_escape)
        take_escape();
}

// Esc leaves what was entered last: a cursor, a selection, the full view.
void Shell::take_escape() {
    state_.focus = 0;
    state_.focus_visible = false;
    if (views_.timeline.cursor_s >= 0)
        views_.timeline.cursor_s = -1, views_.timeline.playing = false;
    else if (selection_.topic != Selection::Topic::none)
        selection_ = selection_.cleared();
    else if (lesson_.open)
        show_lesson_view();
    else
        full_.reset();
    dirty_ = true;
}

void Shell::keep_settings(const FrameInfo& info) {
    if (host_.config_folder.empty() || settings_ == saved_settings_ || info.down[0]) return;
    guarded("Settings", [&] { save_settings(host_.config_folder, settings_); });
    saved_settings_ = settings_;
}

// ---- between frames, and after a failure --------------------------------------------------------------

void Shell::later(std::string what, std::function<void()> run) {
    queue_.push_back({std::move(what), std::move(run)});
    dirty_ = true;
}

// A number that is being typed when a command is given is taken first: the field is left, and the next frame
// makes an edit of it.
bool Shell::leave_typed_number() {
    const bool typing =
        !panel_.editing.empty() || views_.step.typing() || views_.shards.loads.typing || stages_.editing >= 0;
    if (!typing || state_.edit == 0) return false;
    leave_text_field();
    dirty_ = true;
    return true;
}

void Shell::run_queue() {
    if (queue_.empty() || leave_typed_number()) return;
    for (const Queued& q : std::exchange(queue_, {})) {
        guarded(q.what, q.run);
        dirty_ = true;
    }
}

bool Shell::guarded(std::string_view what, const std::function<void()>& act) {
    try {
        act();
        return true;
    } catch (const std::exception& e) {
        say((what.empty() ? "" : std::string(what) + ": ") + e.what());
        dirty_ = true;
        return false;
    }
}

bool Shell::draw_guarded(Ui& ui, std::string_view what, Rect room, const std::function<void()>& draw) {
    const Ui::Mark begun = ui.mark();
    std::string reason;
    try {
        draw();
        return true;
    } catch (const std::exception& e) {
        reason = e.what();
    }
    ui.unwind(begun);
    const std::string text = std::string(what) + " could not be drawn: " + reason;
    if (room.w > 0) ui.canvas().paragraph(room.inset(16, 48), text, ui.style(13, Tone::secondary), 20);
    if (toast_ != text) say(text);
    return false;
}

}  // namespace pentamesh::ui
