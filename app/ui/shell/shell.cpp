#include "app/ui/shell/shell.h"

#include "app/ui/lesson/lesson_session.h"
#include "app/ui/panels/change_card.h"
#include "app/ui/panels/first_hints.h"
#include "core/base/error.h"
#include "core/plan/title.h"
#include "render/reworded.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr double kPast_s = 0.05;  // behind the time for which a frame is drawn

}  // namespace

Shell::Shell(const Presets& presets, Plan plan, Host host)
    : window_(presets, std::move(plan), std::move(host)), desk_(window_), sheets_(window_), runs_(window_),
      files_(window_, desk_, sheets_, runs_), dialogs_(window_, files_), menus_(window_, commands_),
      decider_(window_) {
    connect();
    if (!window_.host.config_folder.empty()) {
        std::string warning;
        window_.settings = load_settings(window_.host.config_folder, warning);
        saved_settings_ = window_.settings;
        if (!warning.empty()) window_.say(warning);
    }
    make_commands();
    files_.show_scene_of_plan();
    note_change();
    welcome_ = window_.host.first_run && !window_.settings.welcomed;
    window_.views.zoom.tour_asked = window_.host.flies && !window_.settings.zoom_flown;
}

void Shell::connect() {
    window_.ask_dialog = [this](DialogKind kind, std::string text, std::function<void()> after,
                                std::string error) {
        dialogs_.ask(kind, std::move(text), std::move(after), std::move(error));
    };
    window_.close_dialog = [this] { dialogs_.close(); };
    window_.replace_plan = [this](OpenedPlan opened, const std::string& named) {
        files_.replace_plan(std::move(opened), named);
    };
    window_.import_settings = [this](const std::filesystem::path& log) {
        sheets_.import(log_text(log), log.filename().string());
    };
    window_.open_run = [this](const std::filesystem::path& file) { runs_.add(file); };
    window_.search_commands = [this](std::string filter) { menus_.search(std::move(filter)); };
    using Path = std::filesystem::path;
    dialogs_.when_picked(DialogKind::open, [this](const Path& path) { files_.load(path); });
    dialogs_.when_picked(DialogKind::save, [this](const Path& path) { files_.save(path); });
    dialogs_.when_picked(DialogKind::runs, [this](const Path& path) { sheets_.add_runs(path); });
    dialogs_.when_picked(DialogKind::run, [this](const Path& path) { runs_.add(path); });
    dialogs_.when_picked(DialogKind::settings,
                         [this](const Path& path) { sheets_.save_settings_text(path); });
    dialogs_.when_picked(DialogKind::table, [this](const Path& path) {
        save_table(path);
        dialogs_.wrote(path);
    });
    dialogs_.when_picked(DialogKind::handout, [this](const Path& path) {
        if (window_.host.save_handout) window_.host.save_handout(path);
    });
    dialogs_.when_picked(DialogKind::results, [this](const Path& path) {
        if (desk_.hand_in(path))
            dialogs_.wrote(path);
        else if (window_.host.save_results)
            window_.host.save_results(path);
    });
}

void Shell::open_plan(Plan plan) {
    const std::string name = title_of(plan);
    files_.replace_plan({std::move(plan)}, name);
}

bool Shell::offer_recovery() {
    if (!files_.offer_recovery()) return false;
    welcome_ = false;
    return true;
}

bool Shell::wants_frame() const {
    const UiState& state = window_.state;
    return state.wants_frame || state.motion.moves() || state.tooltip_pending || window_.dirty || hover_moved_
           || window_.has_queue();
}

float Shell::scale() const {
    return window_.settings.scale * (desk_.presenter().on ? window_.settings.present : 1);
}

// Better layouts are looked for while the user looks at the plan and nothing else.
bool Shell::may_advise() const {
    return window_.host.searches && !window_.peeks && !desk_.lesson().open && !desk_.presenter().on
           && !welcome_;
}

std::string Shell::title() const {
    return title_of(window_.document.plan()) + (window_.document.modified() ? " *" : "") + " – Pentamesh";
}

double Shell::idle_s() const {
    if (wants_frame()) return 0;
    const double now_s = window_.now_s;
    // An open lesson's file is looked at once a second; the presenter's clock ticks.
    double wait = desk_.lesson().open || desk_.presenter().on ? 1 : std::numeric_limits<double>::infinity();
    if (dialogs_.waits_for_desktop()) wait = std::min(wait, 0.1);  // it is asked whether it is done
    if (may_advise() && now_s < decider_.advice_due_s())
        wait = std::min(wait, decider_.advice_due_s() + kPast_s - now_s);
    if (dialogs_.preview_due_s() >= 0)
        wait = std::min(wait, std::max(0.02, dialogs_.preview_due_s() - now_s));
    if (decider_.change() != nullptr)
        wait = std::min(wait, std::max(0.05, decider_.changed_until_s() - now_s));
    if (works_beside()) wait = std::min(wait, 0.05);
    wait = std::min(wait, std::max(0.0, window_.state.motion.due_s() - now_s));
    if (!window_.toast.empty()) wait = std::min(wait, std::max(0.05, window_.toast_until_s - now_s));
    return wait;
}

bool Shell::due() const {
    const bool other = wants_frame() || desk_.presenter().on || dialogs_.waits_for_desktop()
                       || decider_.change() != nullptr || !window_.toast.empty() || works_beside();
    return other || !desk_.lesson().open || file_changed(desk_.lesson());
}

Scene Shell::scene_of(Hover& next) {
    const KeptPlan* a = window_.views.compare.pinned();
    pinned_ = a != nullptr ? a->evaluation : nullptr;
    Scene scene = window_.scene(next);
    scene.hosts = &window_.host_names.of(window_.document.plan(), window_.evaluation.mesh);
    scene.flags = flags_framework(window_.settings, window_.document.plan().training.software);
    scene.pinned = pinned_.get();
    scene.changed = decider_.changed();
    scene.change = decider_.change();
    scene.another_model = a != nullptr && !(a->plan->model == window_.document.plan().model);
    scene.has_before = window_.document.before_last_edit() != nullptr;
    scene.better = decider_.better();
    return scene;
}

// After an edit figures glide to their new value; a room that looks on has twice the time.
void Shell::note_change() {
    const PlanEdited& edited = window_.edited;
    if (!decider_.note_change(edited)) return;
    Motion& motion = window_.state.motion;
    if (decider_.change() == nullptr) {
        motion.end();
    } else {
        constexpr double kHoldsWithout_s = 4;
        MotionPace pace{.goes_on = edited.goes_on};
        if (desk_.lesson().open) pace.glides_s *= 2;
        if (window_.settings.reduced_motion) pace.holds_s = kHoldsWithout_s;
        if (window_.settings.reduced_motion || edited.drags) pace.glides_s = 0;
        motion.begin(pace);
    }
    window_.edited = {};
}

// While Space is held and nothing else wants it, the window shows the plan before the last edit.
void Shell::take_peek(const FrameInfo& info) {
    const UiState& state = window_.state;
    const bool free = info.focused && !text_field_active() && state.layers_open == 0;
    if (window_.peeks) {
        if (!free || !key_down(Key::space)) window_.end_peek();
        window_.toast_until_s = window_.now_s + 1;  // it is said for as long as it holds
        return;
    }
    const auto plays = [&](ViewId view) { return plays_with_space(window_.views, view); };
    const bool taken =
        window_.full ? plays(*window_.full) : std::ranges::any_of(window_.views.in_pane, plays);
    if (free && !state.focus_visible && !taken && !desk_.lesson().open && !desk_.presenter().on
        && pressed({Key::space}))
        window_.peek();
}

void Shell::frame(const FrameInfo& info, Page* page) {
    window_.now_s = info.time_s;
    window_.width = info.size.x;
    window_.state.reduced_motion = window_.settings.reduced_motion;
    if (decider_.forget_change() || window_.dirty || welcome_) window_.state.redraw_all = true;
    window_.dirty = false;
    window_.guarded("The dialog", [&] { dialogs_.poll(); });
    window_.guarded("The lesson", [&] { desk_.begin_frame(); });
    // A file that was dropped between two frames brought another plan.
    if (window_.evaluated != window_.document.revision()) window_.evaluate();
    note_change();
    draw_frame(info, page);
    run_queue();
    if (window_.evaluated != window_.document.revision()) {
        window_.evaluate();
        window_.dirty = true;
    }
    note_change();
    window_.selected.note(window_.document.plan(), window_.evaluation, window_.selection);
    window_.guarded("The search", [&] {
        decider_.update(may_advise() && dialogs_.open().kind == DialogKind::none);
        dialogs_.update();
    });
    window_.guarded("The calibration", [&] { sheets_.update(); });
    window_.guarded("The run", [&] { runs_.update(); });
    keep_settings(info);
    if (!window_.peeks) files_.keep_unsaved();
}

// A number that is being typed when a command is given is taken first: the field is left, and the next frame
// makes an edit of it.
void Shell::run_queue() {
    if (!window_.has_queue()) return;
    const bool typing = !panel_.editing.empty() || window_.views.step.typing()
                        || window_.views.shards.loads.typing || sheets_.types_number();
    if (typing && window_.state.edit != 0) {
        leave_text_field();
        window_.dirty = true;
    } else {
        window_.run_queue();
    }
}

void Shell::draw_frame(const FrameInfo& info, Page* page) {
    const Rewording words = words_hiding(window_.hidden_answer, HiddenAnswer::Place::view);
    const Reworded hiding(words);  // tooltips are drawn last of all
    UiState& state = window_.state;
    window_.typed = state.edit != 0 || state.focus_visible;
    Ui ui(state, info, theme_of(window_.settings.theme), frame_canvas(info, page));
    Hover next;
    Scene scene = scene_of(next);
    fill_frame(info, page, ui.theme().window);
    draw_content(ui, scene, {0, 0, info.size.x, info.size.y});
    const bool view_took_escape = scene.keys.took_escape;
    desk_.end_frame();
    if (!next.message.empty()) window_.say(next.message);
    next.message.clear();
    if (next.stage < 0) next.stage = stage_of_rank(window_.evaluation.mesh, next.rank);
    hover_moved_ = !(next == window_.hover);
    window_.hover = next;
    if (!info.down[0] && !sheets_.types_notes()) window_.document.end_merge();
    if (state.layers_open == 0 || state.top_layer == 0)
        take_keys(view_took_escape);
    else if (sheets_.takes_undo())
        take_undo_keys();
    take_peek(info);
    ui.move_focus();
    if (!window_.toast.empty() && window_.now_s >= window_.toast_until_s) window_.toast.clear();
}

// Draws everything, and takes the edit of the plan that was made in it.
void Shell::draw_content(Ui& ui, Scene& scene, Rect room) {
    std::optional<PlanEdit> edit;
    const auto take = [&](std::optional<PlanEdit> made) {
        if (made) edit = std::move(made);
    };
    window_.draw_guarded(ui, "The window", room, [&] {
        take(desk_.presenter().on ? draw_presenter(ui, room, scene) : draw_panels(ui, room, scene));
    });
    if (!window_.draw_guarded(ui, "A menu of the plan", {}, [&] { take(draw_sheets(ui, scene)); }))
        panel_.menu.clear(), sheets_.close();
    const Rewording as_it_is;
    const Reworded plain(as_it_is);
    if (!window_.draw_guarded(ui, "A menu or dialog", {}, [&] { take(draw_layers(ui, scene)); })) {
        menus_.close();
        desk_.close_results();
        welcome_ = glossary_state_.open = false;
        dialogs_.close();
    }
    take(std::exchange(view_edit_, std::nullopt));
    window_.apply(std::move(edit));
}

std::optional<PlanEdit> Shell::draw_sheets(Ui& ui, Scene& scene) {
    std::optional<PlanEdit> edit = draw_plan_menus(ui, scene, panel_);
    if (auto e = draw_problems_layer(ui, scene, inspector_)) edit = std::move(e);
    if (panel_.wants_editor) sheets_.open_fields(*std::exchange(panel_.wants_editor, std::nullopt));
    if (std::exchange(panel_.wants_stages, false)) sheets_.open_stages();
    if (std::exchange(panel_.wants_presets, false)) window_.later("", [this] { dialogs_.ask_own_presets(); });
    if (auto e = sheets_.draw(ui, scene)) edit = std::move(e);
    if (const auto kind = sheets_.take_wanted_preset()) dialogs_.ask_preset_name(*kind);
    return edit;
}

std::optional<PlanEdit> Shell::draw_layers(Ui& ui, Scene& scene) {
    menus_.draw_open(ui);
    draw_glossary(ui, scene, glossary_state_);
    desk_.draw_results(ui);
    std::optional<PlanEdit> edit = sheets_.draw_notes(ui);
    dialogs_.draw(ui);
    if (welcome_) draw_welcome(ui);
    if (ui.state().layers_open == 0 && !desk_.presenter().on && !window_.hidden_answer.hides()
        && !window_.hidden_answer.covers_figures) {
        if (scene.change != nullptr && ui.state().motion.has_outlines())
            draw_change_card(ui, *scene.change);
        else
            draw_axis_card(ui, scene, axis_card_, window_.document.revision());
    }
    if (hints_ && ui.state().layers_open == 0 && !desk_.lesson().open && !desk_.presenter().on)
        window_.settings.hints = draw_first_hint(ui, scene, window_.settings.hints);
    hints_ = hints_ && window_.settings.hints < kFirstHints;
    draw_toast(ui);
    desk_.draw_presenter_cover(ui);
    return edit;
}

void Shell::draw_toast(Ui& ui) {
    if (window_.toast.empty()) return;
    Canvas front = frame_canvas(ui.frame(), ui.canvas().page(), true);
    const TextStyle s = ui.style(13);
    const float w = std::min(front.text_width(window_.toast, s), ui.frame().size.x - 96);
    const float h = front.paragraph_height(w + 1, window_.toast, s, 20);
    const float below = desk_.presenter().on ? 92 : 36;  // clear of the strip of figures
    const Rect box{(ui.frame().size.x - w - 32) / 2, ui.frame().size.y - 30 - h - below, w + 32, h + 20};
    front.rect(box, ui.theme().raised, 8);
    front.frame(box, ui.theme().hairline, 1, 8);
    front.paragraph(box.inset(16, 10), window_.toast, s, 20);
}

// Over the sheets of fields and of stages edits are taken back as in the window.
void Shell::take_undo_keys() {
    const Command* command = pressed_command(commands_);
    if (command != nullptr && (command->id == "edit.undo" || command->id == "edit.redo")) run(*command);
}

void Shell::take_keys(bool view_took_escape) {
    if (window_.peeks) return;
    if (const Command* command = pressed_command(commands_)) run(*command);
    if (desk_.presenter().on)
        desk_.present_keys();
    else if (pressed({Key::escape}) && !view_took_escape)
        take_escape();
}

// Esc leaves what was entered last: a cursor, a selection, the full view.
void Shell::take_escape() {
    window_.state.focus = 0;
    window_.state.focus_visible = false;
    if (window_.views.timeline.cursor_s >= 0)
        window_.views.timeline.cursor_s = -1, window_.views.timeline.playing = false;
    else if (window_.selection.topic != Selection::Topic::none)
        window_.selection = window_.selection.cleared();
    else if (desk_.lesson().open)
        desk_.back_to_scene();
    else
        window_.full.reset();
    window_.dirty = true;
}

void Shell::keep_settings(const FrameInfo& info) {
    if (window_.views.zoom.tours) window_.settings.zoom_flown = true;
    if (window_.host.config_folder.empty() || window_.settings == saved_settings_ || info.down[0]) return;
    window_.guarded("Settings", [&] { save_settings(window_.host.config_folder, window_.settings); });
    saved_settings_ = window_.settings;
}

}  // namespace pentamesh::ui
