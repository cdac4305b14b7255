#include "app/ui/shell/shell.h"

#include "app/ui/kit/data_table.h"
#include "app/ui/lesson/lesson_session.h"
#include "app/ui/panels/inspector.h"
#include "app/ui/views/mesh/mesh_menu.h"
#include "app/ui/views/shards/shards_sheets.h"
#include "app/ui/views/table.h"
#include "core/base/files.h"
#include "core/io/plan_json.h"
#include "core/plan/names.h"
#include "core/plan/stand_in.h"
#include "render/canvas.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pentamesh::ui {

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
    window_.parts = {&dialogs_, &files_, &sheets_, &runs_, &menus_};
    using Path = std::filesystem::path;
    dialogs_.when_picked(DialogKind::open, [this](const Path& path) { files_.load(path); });
    dialogs_.when_picked(DialogKind::save, [this](const Path& path) { files_.save(path); });
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
    return window_.host.searches && !bare_ && !window_.peeks && !desk_.lesson().open && !desk_.presenter().on
           && !welcome_ && !is_stand_in(window_.document.plan());
}

std::string Shell::title() const {
    return title_of(window_.document.plan()) + (window_.document.modified() ? " *" : "") + " – Pentamesh";
}

// Each part says when it is due, at the earliest of which a frame is drawn without input.
double Shell::idle_s() const {
    if (wants_frame()) return 0;
    constexpr double kNever = std::numeric_limits<double>::infinity(), kSoon_s = 0.05;
    const double now_s = window_.now_s;
    const double due_s = std::min({
        desk_.lesson().open || desk_.presenter().on ? now_s + 1
                                                    : kNever,  // its file is looked at; a clock ticks
        dialogs_.due_s(),
        decider_.due_s(may_advise()),
        works_beside() ? now_s + kSoon_s : kNever,
        window_.state.motion.due_s(),
        window_.toast.empty() ? kNever : std::max(window_.toast_until_s, now_s + kSoon_s),
    });
    return std::max(0.0, due_s - now_s);
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
    scene.flags = flags_tool(window_.settings, window_.document.plan().training.software);
    scene.pinned = pinned_.get();
    if (const LessonSession& lesson = desk_.lesson(); lesson.open) {
        scene.axes = lesson.axes;
        if (lesson.asked_shown >= 0) scene.outlined = pinned_.get();
        if (lesson.plan_changed) keep_outline(scene, lesson.start_evaluation);
        scene.guess_bytes = drawn_bytes(lesson);
        scene.guess_zero = drawn_zero(lesson);
        if (scene.guess_zero >= 0 && lesson.waits_for_answer())
            scene.move_guess = [this](double bytes) { draw_bytes(desk_.lesson(), bytes); };
        scene.axes.bytes = std::max(scene.axes.bytes, scene.guess_bytes);
    }
    scene.changed = decider_.changed();
    scene.change = decider_.change();
    put_beside_scale(a);
    scene.another_model = a != nullptr && !(a->plan->model == window_.document.plan().model);
    scene.has_before = window_.document.before_last_edit() != nullptr;
    scene.better = decider_.better();
    return scene;
}

// View Scale keeps the plan before the shown one: until a lesson's step ends, or until the next edit.
// While a question is open, what its answer shows counts for the scales where `axis_plan` says that it may.
void Shell::put_beside_scale(const KeptPlan* a) {
    ScaleViewState& scale = window_.views.scale;
    const std::uint64_t revision = window_.document.revision();
    if (const LessonSession& lesson = desk_.lesson(); lesson.open) {
        const bool asked = lesson.asked_shown >= 0 && a != nullptr;
        const bool outlined = asked || lesson.plan_changed;
        const Plan* plan = lesson.plan_changed ? &lesson.start
                           : asked             ? a->plan.get()
                                               : lesson.axis_plan.get();
        scale.put_beside(plan, outlined, revision);
    } else if (decider_.change() != nullptr) {
        scale.put_beside(window_.document.before_last_edit(), true, revision);
    } else if (scale.beside_of != revision) {
        scale.put_beside(nullptr, false, revision);
    }
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
    const bool free = !bare_ && info.focused && !text_field_active() && state.layers_open == 0;
    if (window_.peeks) {
        if (!free || !key_down(Key::space)) window_.end_peek();
        window_.toast_until_s = window_.now_s + 1;  // it is said for as long as it holds
        return;
    }
    const auto plays = [&](ViewId view) { return plays_with_space(window_.views, view); };
    const bool taken =
        window_.full ? plays(*window_.full) : std::ranges::any_of(window_.views.in_pane, plays);
    // In a lesson the plan before is one of this step: where nothing was changed in it, there is no other.
    const bool edited = !desk_.lesson().open || desk_.lesson().plan_changed;
    if (free && !state.focus_visible && !taken && edited && pressed({Key::space})) window_.peek();
}

void Shell::frame(const FrameInfo& info, Page* page) {
    window_.now_s = info.time_s;
    window_.width = info.size.x;
    window_.state.reduced_motion = window_.settings.reduced_motion;
    if (decider_.forget_change() || window_.dirty || welcome_) window_.state.redraw_all = true;
    window_.dirty = false;
    // It goes before the frame that is due then: no other one may come.
    if (!window_.toast.empty() && window_.now_s >= window_.toast_until_s) window_.toast.clear();
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
    window_.guarded("The run", [&] { runs_.update(); });
    keep_settings(info);
    if (!window_.peeks) files_.keep_unsaved();
}

// A number that is being typed when a command is given is taken first: the field is left, and the next frame
// makes an edit of it.
void Shell::run_queue() {
    if (!window_.has_queue()) return;
    const bool typing = panel_.numbers.types() || window_.views.step.typing()
                        || window_.views.shards.loads.numbers.types() || sheets_.types_number();
    if (typing && window_.state.edit != 0) {
        leave_text_field();
        window_.dirty = true;
    } else {
        window_.run_queue();
    }
}

void Shell::draw_frame(const FrameInfo& info, Page* page) {
    UiState& state = window_.state;
    window_.typed = state.edit != 0 || state.focus_visible;
    Ui ui(state, info, theme_of(window_.settings.theme), frame_canvas(info, page));
    Hover next;
    Scene scene = scene_of(next);
    fill_frame(info, page, ui.theme().window);
    Effects effects = draw_content(ui, scene, {0, 0, info.size.x, info.size.y});
    take(std::move(effects));
    const bool view_took_escape = scene.keys.took_escape;
    desk_.end_frame();
    // After a click the mouse must move before a tooltip lies over what the click has changed.
    if (desk_.lesson().open && (info.clicked[0] || info.released[0])) state.tooltips_rest_at = info.mouse;
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
}

Effects Shell::draw_content(Ui& ui, Scene& scene, Rect room) {
    Effects out;
    window_.draw_guarded(ui, "The window", room, [&] {
        out.add(bare_                  ? draw_bare(ui, room, scene)
                : desk_.presenter().on ? draw_presenter(ui, room, scene)
                                       : draw_panels(ui, room, scene));
    });
    if (bare_) {
        draw_mesh_menu(ui, scene, window_.views.mesh);
        draw_toast(ui);
        return std::move(out.edit);  // there is no sheet, dialog or other view to open
    }
    if (!window_.draw_guarded(ui, "A menu of the plan", {}, [&] { out.add(draw_sheets(ui, scene)); }))
        panel_.menu.clear(), window_.views.mesh.menu = MeshMenu::none, sheets_.close();
    if (!window_.draw_guarded(ui, "A menu or dialog", {}, [&] { out.add(draw_layers(ui, scene)); })) {
        menus_.close();
        desk_.close_results();
        welcome_ = glossary_state_.open = false;
        dialogs_.close();
    }
    return out;
}

void Shell::take(Effects effects) {
    using Opens = Effects::Opens;
    using Pins = Effects::Pins;
    window_.apply(std::move(effects.edit));
    switch (effects.opens) {
    case Opens::nothing: break;
    case Opens::fields: sheets_.open_fields(effects.topic); break;
    case Opens::stages: sheets_.open_stages(); break;
    case Opens::own_presets: dialogs_.ask_own_presets(); break;
    case Opens::preset_name: dialogs_.ask_preset_name(effects.preset); break;
    case Opens::lanes:
        window_.views.comm.part = CommViewState::kLanes;
        window_.show_full(ViewId::comm);
        break;
    }
    switch (effects.pins) {
    case Pins::nothing: break;
    case Pins::open: window_.later("", [this] { decider_.flip_pinned(); }); break;
    case Pins::before_last_edit: window_.later("", [this] { decider_.compare_with_before(); }); break;
    }
    if (effects.opens != Opens::nothing) window_.dirty = true;
}

Effects Shell::draw_sheets(Ui& ui, Scene& scene) {
    Effects out = draw_plan_menus(ui, scene, panel_);
    draw_mesh_menu(ui, scene, window_.views.mesh);
    out.add(draw_problems_layer(ui, scene, inspector_));
    out.add(sheets_.draw(ui, scene));
    return out;
}

Effects Shell::draw_layers(Ui& ui, Scene& scene) {
    menus_.draw_open(ui);
    draw_glossary(ui, scene, glossary_state_);
    desk_.draw_end(ui);
    desk_.draw_results(ui);
    Effects out = sheets_.draw_notes(ui);
    dialogs_.draw(ui);
    if (welcome_) draw_welcome(ui);
    if (ui.state().layers_open == 0 && !desk_.presenter().on && !window_.hidden_answer.open
        && !window_.hidden_answer.covers(kFiguresPlace)) {
        if (scene.change != nullptr && ui.state().motion.has_outlines())
            draw_change_card(ui, *scene.change);
        else
            draw_axis_card(ui, scene, axis_card_, window_.document.revision());
    }
    draw_hint(ui, scene);
    draw_toast(ui);
    desk_.draw_presenter_cover(ui);
    return out;
}

// Hints are of the plan that the window began with: they go with the third edit, another plan or view, and
// Esc.
void Shell::draw_hint(Ui& ui, const Scene& scene) {
    if (!looking_) return;
    constexpr int kMostEdits = 3;
    const bool elsewhere = looking_->file != window_.document.file() || looking_->full != window_.full
                           || looking_->in_pane != window_.views.in_pane;
    if (elsewhere || window_.edits - looking_->edits >= kMostEdits || pressed({Key::escape})
        || window_.settings.hints >= kFirstHints)
        return looking_.reset();
    if (ui.state().layers_open == 0 && !desk_.lesson().open && !desk_.presenter().on)
        window_.settings.hints = draw_first_hint(ui, scene, window_.settings.hints);
}

// Over the sheets of fields and of stages edits are taken back as in the window.
void Shell::take_undo_keys() {
    const Command* command = pressed_command(commands_);
    if (command != nullptr && (command->id == "edit.undo" || command->id == "edit.redo")) run(*command);
}

void Shell::take_keys(bool view_took_escape) {
    if (window_.peeks) return;
    if (bare_) {
        take_undo_keys();
        if (pressed({Key::escape}) && !view_took_escape) take_escape();
        return;
    }
    // While a room is asked, digits are its votes or a guess: no view is turned by them.
    const auto is_digit = [](const Chord& c) { return c.key >= Key::n0 && c.key <= Key::n9 && !c.ctrl; };
    const LessonSession& lesson = desk_.lesson();
    const bool counts = lesson.open && lesson.current() != nullptr && lesson.state().counting;
    const bool asks = counts || (desk_.presenter().on && lesson.open && lesson.waits_for_answer());
    if (const Command* command = pressed_command(commands_))
        if (!asks || !is_digit(command->chord)) run(*command);
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
    else if (!bare_)
        window_.full.reset();
    window_.dirty = true;
}

void Shell::keep_settings(const FrameInfo& info) {
    if (window_.views.zoom.tours) window_.settings.zoom_flown = true;
    if (window_.host.config_folder.empty() || window_.settings == saved_settings_ || info.down[0]) return;
    window_.guarded("Settings", [&] { save_settings(window_.host.config_folder, window_.settings); });
    saved_settings_ = window_.settings;
}

// Places the panels: plan, views and lesson or inspector stand side by side; in a small window some give way
// to others.

namespace {

constexpr float kMenuBar = 40, kStatus = 30, kSplitter = 6, kOnePaneSwitch = 44;
constexpr float kPresenterFoot = 40, kPresenterFigures = 28;
constexpr float kLeastPresented = 420;  // of a picture that a room reads
// Below: a lesson and the plan share a place; below: the view may take the lesson's place too.
constexpr float kWithPlan = 1000, kBesideView = 760;
// Below: one of them at a time, as on a phone.
constexpr float kOnePane = 560;
constexpr float kSwitch = 200;  // of lesson, plan and view

// A line between two panes that the mouse drags. Returns the pixels that it moves in this frame.
float splitter(Ui& ui, std::string_view name, Rect r, bool vertical) {
    const Hit hit = ui.area(name, r, 0, true, false);
    const Color color = hit.hovered || hit.held ? ui.theme().text : ui.theme().hairline;
    const Vec2 c = r.center();
    if (vertical)
        ui.canvas().line({c.x, r.y}, {c.x, r.bottom()}, color);
    else
        ui.canvas().line({r.x, c.y}, {r.right(), c.y}, color);
    if (!hit.held) return 0;
    return vertical ? ui.frame().mouse.x - c.x : ui.frame().mouse.y - c.y;
}

}  // namespace

namespace {

// Returns the presenter's foot between its buttons: the steps and the time. Empty where they are not drawn.
Rect between_buttons(const Ui& ui) {
    const auto left = ui.rect_of("present.next"), blank = ui.rect_of("present.blank");
    const auto right = blank ? blank : ui.rect_of("present.side");
    if (!left || !right) return {};
    return {left->right() + 8, ui.frame().size.y - kPresenterFoot + 3, right->x - left->right() - 16,
            kPresenterFoot - 6};
}

}  // namespace

// A message lies on the strip at the window's foot, never on a picture, as long as its words have room there.
// While one presents, it lies between the foot's buttons; where it is too long for that, on the line of
// figures above them.
void Shell::draw_toast(Ui& ui) {
    if (window_.toast.empty()) return;
    constexpr float kToastLine = 14, kToastPad = 32;
    Canvas front = frame_canvas(ui.frame(), ui.canvas().page(), true);
    const bool presents = desk_.presenter().on;
    bool above_foot = presents && !window_.peeks;
    if (const Rect between = between_buttons(ui); above_foot && between.w > 0) {
        const TextStyle s = ui.style(12);
        const Rect room = between.inset(8, 3);
        const float text = front.paragraph_height(room.w, window_.toast, s, kToastLine);
        above_foot = text > room.h;
        if (!above_foot) {
            front.rect(between, ui.theme().raised);
            front.frame(between, ui.theme().hairline, 1);
            front.paragraph({room.x, room.center().y - text / 2, room.w, text}, window_.toast, s, kToastLine);
            return;
        }
    }
    const float strip = above_foot ? kPresenterFigures
                        : presents ? kPresenterFoot
                                   : kStatus,
                bottom = ui.frame().size.y - (above_foot ? kPresenterFoot : 0),
                most = ui.frame().size.x - kToastPad;
    const float wide = front.text_width(window_.toast, ui.style(13)) + kToastPad;
    const bool one = wide <= most;
    const TextStyle s = ui.style(one ? 13 : 12);
    const float w = std::min(wide, most),
                text = one ? 0 : front.paragraph_height(w - kToastPad, window_.toast, s, kToastLine),
                h = std::max(strip, text + 2);
    const Rect box{(ui.frame().size.x - w) / 2, bottom - h, w, h};
    front.rect(box, ui.theme().raised);
    front.frame(box, ui.theme().hairline, 1);
    if (one)
        front.text_in(box, window_.toast, s, Align::center);
    else
        front.paragraph({box.x + kToastPad / 2, box.y + (h - text) / 2, w - kToastPad, text}, window_.toast,
                        s, kToastLine);
}

// The view that fills the window has the keyboard; else the one with the focus, or under the mouse, or that
// had it last.
bool Shell::has_keys(const Ui& ui, Rect room, Pane pane) {
    if (ui.layer() != window_.state.top_layer || window_.state.keys_scroll) return false;
    if (window_.full) return true;
    bool focus = false;
    for (const UiState::Area& a : window_.state.last_areas)
        focus = focus || (a.id == window_.state.focus && room.contains(a.rect.center()));
    if (window_.state.focus_visible ? focus : ui.hovers(room)) keys_pane_ = pane;
    return keys_pane_ == pane;
}

Effects Shell::draw_view(Ui& ui, Rect room, Scene& scene, ViewId view) {
    Effects out;
    if (room.w < 120 || room.h < 60) return out;  // nothing could be read
    if (!is_stand_in(scene.plan)) decider_.saw(view);
    scene.keys.here = has_keys(ui, room, view_of(view).pane);
    const std::string_view title = view_of(view).title;
    // A line that somebody draws is drawn anew in each frame.
    const bool draws_curve = view == ViewId::scale && desk_.lesson().curve_in_view;
    const std::uint64_t key = draws_curve ? ++curve_frames_ : shown_key(view);
    if (const auto part = ui.part("part.view", static_cast<std::uint64_t>(view), room, key, ui.theme().window,
                                  moving_in_view(view, window_.views)))
        window_.draw_guarded(ui, title, room, [&] { out = draw_kept_view(ui, room, scene, view); });
    if (!is_covered(window_.hidden_answer, view, window_.views))
        window_.draw_guarded(ui, title, room, [&] { draw_view_moving(ui, scene, view, window_.views); });
    return out;
}

// All of it that stays while the mouse moves elsewhere, or where it changes the view each frame.
Effects Shell::draw_kept_view(Ui& ui, Rect room, Scene& scene, ViewId view) {
    room = {room.x + 16, room.y + 8, room.w - 32, room.h - 16};
    const bool free = !bare_ && !desk_.lesson().open && !desk_.presenter().on && !one_pane();
    const bool first = window_.full || small_room(ui) || view_of(view).pane == Pane::top;
    const ViewHead head = view_head(ui, room, view, window_.views.as_data[static_cast<std::size_t>(view)],
                                    {.every = small_room(ui),
                                     .dashboard = free && window_.full,
                                     .panels = free && first && !panels_shown(),
                                     .bare = desk_.presenter().on || bare_,
                                     .quiet = !window_.full});
    if (head.full && !bare_) window_.toggle_full(view);
    if (head.panels) panels_shown() = true;
    if (head.switch_to) {
        if (window_.full)
            window_.full = *head.switch_to;
        else if (small_room(ui))
            window_.alone_view = *head.switch_to;
        else
            window_.views.in_pane[static_cast<std::size_t>(view_of(view).pane)] = *head.switch_to;
        window_.dirty = true;
    }
    if (view == ViewId::scale && desk_.lesson().curve_in_view) {
        draw_curve_view(ui, room, desk_.lesson());
        return {};
    }
    if (is_covered(window_.hidden_answer, view, window_.views)) {
        draw_cover(ui, room);
        return {};
    }
    if (wants_plan(scene, view, window_.views)) {
        ask_for_plan(ui, room, view);
        return {};
    }
    return draw_view_body(ui, head.row, room, scene, view, window_.views, window_.evaluated);
}

// In the place of a plan's figures stand the ways to give the plan of the run.
void Shell::ask_for_plan(Ui& ui, Rect room, ViewId view) {
    Rect row = draw_plan_wanted(ui, room);
    if (row.w < 270 || bare_) return;
    const auto key = static_cast<std::uint64_t>(view);
    if (ui.button("plan.wanted.open", row.cut_left(120), "Open a plan…", key))
        window_.later("", [this] { window_.ask(DialogKind::open, "", nullptr); });
    row.cut_left(8);
    if (ui.button("plan.wanted.paste", row.cut_left(130), "Paste a script", key,
                  static_cast<bool>(window_.host.clipboard)))
        window_.later("Paste", [this] { open_text(window_.host.clipboard(), "the clipboard"); });
}

std::uint64_t Shell::shown_key(ViewId view) const {
    const std::uint64_t key = window_.evaluated * 0x9e3779b97f4a7c15ULL;
    const ViewEntry& entry = view_of(view);
    return entry.highlighted_by != nullptr ? key ^ entry.highlighted_by(window_.hover, window_.views) : key;
}

namespace {

// Returns the lower pane that a task asks less of. Where it asks as much of both, the line of figures below
// says how long a step takes.
Pane asked_less(const LessonTask& task) {
    const auto asks = [&](std::string_view of) {
        return std::count_if(task.goals.begin(), task.goals.end(),
                             [&](const TaskGoal& g) { return g.field.starts_with(of); });
    };
    return asks("step.") > asks("memory.") ? Pane::middle : Pane::bottom;
}

}  // namespace

// Between the plan and the words of a task a room would read little of three panes: two stand there.
std::optional<Pane> Shell::left_out(Rect middle) const {
    constexpr float kLow = 420;
    const LessonStep* step = desk_.presenter().on ? desk_.lesson().current() : nullptr;
    if (step == nullptr || !step->task || middle.h >= kLow) return std::nullopt;
    return asked_less(*step->task);
}

Effects Shell::draw_middle(Ui& ui, Rect middle, Scene& scene) {
    if (window_.full) return draw_view(ui, middle, scene, *window_.full);
    if (small_room(ui)) return draw_view(ui, middle, scene, window_.alone_view);
    const float h = middle.h;
    if (const std::optional<Pane> out_of_it = left_out(middle)) {
        const Pane low = *out_of_it == Pane::middle ? Pane::bottom : Pane::middle;
        const Rect lower = middle.cut_bottom(h * 0.5f);
        const std::array<ViewId, kPaneCount> in_pane = window_.views.in_pane;
        Effects out = draw_view(ui, middle, scene, in_pane[static_cast<std::size_t>(Pane::top)]);
        out.add(draw_view(ui, lower, scene, in_pane[static_cast<std::size_t>(low)]));
        ui.canvas().line({lower.x, lower.y}, {lower.right(), lower.y}, ui.theme().hairline);
        return out;
    }
    float memory_h = held_between(h * window_.settings.memory, 96.0f, h * 0.5f);
    float timeline_h = held_between(h * window_.settings.timeline, 120.0f, h * 0.6f);
    if (h < 560) {  // a low window keeps the mesh and one pane below it
        memory_h = std::min(memory_h, h * 0.27f);
        timeline_h = std::min(timeline_h, h * 0.3f);
    }
    const Rect timeline = middle.cut_bottom(timeline_h);
    const Rect memory = middle.cut_bottom(memory_h);
    const std::array<Rect, kPaneCount> place{middle, memory, timeline};
    const std::array<ViewId, kPaneCount> shown =
        window_.views.in_pane;  // a click on a tab counts from the next frame
    Effects out;
    for (std::size_t i = 0; i < place.size(); ++i) out.add(draw_view(ui, place[i], scene, shown[i]));
    if (const float d =
            splitter(ui, "split.memory", {memory.x, memory.y - kSplitter / 2, memory.w, kSplitter}, false);
        d != 0)
        window_.settings.memory = std::clamp((memory_h - d) / h, 0.08f, 0.5f);
    if (const float d = splitter(ui, "split.timeline",
                                 {timeline.x, timeline.y - kSplitter / 2, timeline.w, kSplitter}, false);
        d != 0) {
        window_.settings.timeline = std::clamp((timeline_h - d) / h, 0.08f, 0.6f);
        window_.settings.memory =
            std::clamp(window_.settings.memory, 0.08f, 0.9f - window_.settings.timeline);
    }
    return out;
}

bool Shell::small_room(const Ui& ui) const {
    return is_small_room(ui.frame().size) && !one_pane() && !desk_.lesson().open && !desk_.presenter().on;
}

// A view in the whole window has it all; one key brings the panels back, and is remembered for each of the
// two.
bool& Shell::panels_shown() {
    return window_.full ? window_.settings.panels_in_full : window_.settings.panels;
}

bool Shell::one_pane() const {
    return window_.width > 0 && window_.width < kOnePane && !desk_.presenter().on;
}

// In a narrow window the plan takes the lesson's place, in a smaller one the view may take both.
SidePane Shell::side() const {
    if (one_pane()) return desk_.lesson().open ? window_.side : window_.alone;
    if (!desk_.lesson().open || desk_.presenter().on || window_.width >= kWithPlan) return SidePane::lesson;
    return window_.side == SidePane::view && window_.width >= kBesideView ? SidePane::lesson : window_.side;
}

namespace {

// Returns how far below `top` the next row of a panel begins: what scrolls there does not begin within a row.
float to_next_row(const UiState& state, Rect panel, float top) {
    constexpr float kMostRow = 40, kOver = 4;
    float next = kMostRow;
    for (const UiState::Area& a : state.last_areas)
        if (a.rect.x >= panel.x && a.rect.right() <= panel.right() && a.rect.h <= kMostRow
            && a.rect.y - kOver >= top)
            next = std::min(next, a.rect.y - kOver - top);
    return next < kMostRow ? next : 0;
}

}  // namespace

// Once the plan is drawn, what the step marks in it is brought into view.
void Shell::seek_marked(Rect panel) {
    const LessonStep* step = desk_.lesson().current();
    if (!window_.seek_marked || step == nullptr) return;
    window_.dirty = true;
    if (!window_.state.rect_of("plan.model")) return;  // not drawn yet
    window_.seek_marked = false;
    for (const std::string& name : marked_controls(*step)) {
        const auto r = rect_of_marked(window_.state, name);
        if (!r) continue;
        if (r->y >= panel.y && r->bottom() <= panel.bottom()) return;
        const float by = r->center().y - panel.center().y;
        panel_.scroll.at += by + to_next_row(window_.state, panel, panel.y + by);
        return;
    }
}

void Shell::make_side_commands() {
    struct Side {
        const char *id, *title;
        SidePane pane;
        float below;
    };
    static constexpr std::array<Side, 3> kSides{
        {{"side.lesson", "Show the lesson", SidePane::lesson, kWithPlan},
         {"side.plan", "Show the plan in the lesson's place", SidePane::plan, kWithPlan},
         {"side.view", "Show only the view", SidePane::view, kBesideView}}};
    for (const Side& s : kSides)
        add({.id = s.id,
             .title = s.title,
             .menu = "Learn",
             .group = "Next to the lesson",
             .separator = s.pane == SidePane::lesson,
             .run = [this, pane = s.pane] { show_side(pane); },
             .enabled =
                 [this, below = s.below] {
                     return desk_.lesson().open && !desk_.presenter().on && window_.width < below;
                 },
             .checked = [this, pane = s.pane] { return desk_.lesson().open && side() == pane; }});
}

// "lesson | plan | view": the switch chooses what stands next to the view, or in its place.
void Shell::draw_side_switch(Ui& ui, Rect row) {
    static constexpr std::string_view kPanes[] = {"lesson", "plan", "view"};
    const std::size_t n = window_.width < kBesideView ? 3 : 2;
    const int shown = static_cast<int>(side());
    const int picked = ui.segments("side.tab", row, std::span(kPanes).first(n), shown);
    if (picked != shown) show_side(static_cast<SidePane>(picked));
}

// Over a view that takes the whole width: the switch, and the lesson's place and buttons.
void Shell::draw_side_strip(Ui& ui, Rect row) {
    using Kind = LessonAction::Kind;
    ui.canvas().rect(row, ui.theme().panel);
    ui.canvas().line({row.x, row.bottom() - 1}, {row.right(), row.bottom() - 1}, ui.theme().hairline);
    row = row.inset(16, 4);
    draw_side_switch(ui, row.cut_left(std::min(kSwitch, row.w * 0.5f)));
    row.cut_left(16);
    const std::size_t n = desk_.lesson().lesson.steps.size();
    if (row.w > 160) {
        if (ui.button("lesson.next", row.cut_right(56), "Next", 0, n > 0)) desk_.want({Kind::next, 0});
        row.cut_right(8);
        if (ui.button("lesson.back", row.cut_right(56), "Back", 0, desk_.lesson().can_go_back()))
            desk_.want({Kind::back, 0});
        row.cut_right(12);
    }
    const LessonStep* step = desk_.lesson().current();
    if (step == nullptr || row.w < 40) return;
    const std::string place = std::to_string(desk_.lesson().step + 1) + " of " + std::to_string(n) + "  ";
    row.cut_left(ui.canvas().text(row.min() + Vec2{0, (row.h - 16) / 2}, place, ui.small()));
    if (ui.canvas().text_in(row, step->title, ui.small(Tone::text)) && ui.hovers(row))
        ui.tooltip(step->title);
}

// The lesson, or the plan in its place, under their switch.
Effects Shell::draw_side(Ui& ui, Rect right, Scene& scene) {
    if (window_.width < kWithPlan) {
        Rect row = right.cut_top(34);
        row = {row.x + 16, row.y + 8, std::min(row.w - 32, kSwitch), 24};
        draw_side_switch(ui, row);
    }
    if (side() == SidePane::plan) {
        right.cut_top(6);  // what scrolls stays clear of the switch
        seek_marked(right);
        return draw_plan(ui, right, scene);
    }
    desk_.draw(ui, right, scene, 13, false);
    return {};
}

void Shell::draw_pane_switch(Ui& ui, Rect row) {
    static constexpr std::array<std::string_view, 3> kInLesson{"lesson", "plan", "view"},
        kElse{"advice", "plan", "view"};
    ui.canvas().rect(row, ui.theme().panel);
    ui.canvas().line({row.x, row.y}, {row.right(), row.y}, ui.theme().hairline);
    const int shown = static_cast<int>(side());
    const int picked =
        ui.segments("side.tab", row.inset(16, 6), desk_.lesson().open ? kInLesson : kElse, shown);
    if (picked != shown) show_side(static_cast<SidePane>(picked));
}

// Draws the pane that the switch chose, from edge to edge.
Effects Shell::draw_one_pane(Ui& ui, Rect room, Scene& scene) {
    desk_.lesson().plan_hidden = desk_.lesson().open && side() != SidePane::plan;
    if (side() == SidePane::view) {
        return draw_middle(ui, room, scene);
    }
    if (side() == SidePane::plan) {
        seek_marked(room);
        if (const auto part = ui.part("part.plan", 0, room, window_.evaluated, ui.theme().panel))
            return draw_plan(ui, room, scene);
    } else if (const auto part = ui.part("part.right", 0, room, window_.evaluated, ui.theme().panel)) {
        if (desk_.lesson().open)
            desk_.draw(ui, room, scene, 13, false);
        else
            return draw_inspector(ui, room, scene, inspector_);
    }
    return {};
}

// The room sees one view, the step's words, and what an edit changed.
Effects Shell::draw_presenter(Ui& ui, Rect room, Scene& scene) {
    const Theme& theme = ui.theme();
    LessonSession& lesson = desk_.lesson();
    Effects out;
    lesson.plan_hidden = false;  // the presenter can show the side
    desk_.draw_presenter_foot(ui, room.cut_bottom(kPresenterFoot));
    const Rect figures = room.cut_bottom(kPresenterFigures);
    ui.canvas().rect(figures, theme.panel);
    ui.canvas().line({0, figures.y}, {figures.right(), figures.y}, theme.hairline);
    draw_status(ui, figures, scene, -1, &inspector_, window_.hidden_answer.covers(kFiguresPlace), true,
                window_.hidden_answer.memory_said);
    const bool task = lesson.current() != nullptr && lesson.current()->task;
    // A task cannot be done without the plan. Else the side stands next to the words, or, where the picture
    // would get too small to be read, in their place.
    bool words = lesson.open;
    if (desk_.presenter().side || task) {
        const float width = std::min(320.0f, room.w * 0.35f);
        Rect next_to_them = room;
        next_to_them.cut_left(width);
        const float words_w = words ? LessonDesk::presented_words_width(ui, next_to_them) : 0;
        const bool in_their_place = words && !task && next_to_them.w - words_w < kLeastPresented;
        if (in_their_place) words = false;
        Rect side = in_their_place ? room.cut_right(LessonDesk::presented_words_width(ui, room))
                                   : room.cut_left(width);
        const float edge = in_their_place ? side.x : side.right() - 1;
        ui.canvas().rect(side, theme.panel);
        ui.canvas().line({edge, side.y}, {edge, side.bottom()}, theme.hairline);
        // The room does not see notes that the presenter reads on another screen.
        if (!desk_.presenter().apart && desk_.presenter().side) desk_.draw_presenter_notes(ui, side);
        seek_marked(side);
        out.add(draw_plan(ui, side, scene));
    }
    if (words) desk_.draw_presented_words(ui, room, scene);
    if (lesson.open) desk_.draw_presented_plans(ui, room);
    out.add(draw_middle(ui, room, scene));
    draw_highlights(ui, lesson);
    return out;
}

namespace {

constexpr float kLeastLeft = 248, kLeastRight = 236;  // in a window of 1280 pixels

// A panel's width that nobody dragged follows the window's.
float panel_width(float dragged, float window, float least, float most) {
    return dragged > 0 ? dragged : std::clamp(least * window / 1280, least, most);
}

std::optional<MeasuredMfu> measured_of(Window& window) {
    if (!window.evaluation.step) return std::nullopt;
    return measured_mfu(window.document.plan(), *window.evaluation.step,
                        published_runs(window.views.step, window.presets).runs());
}

// Lets the mouse drag the edges of both sides. They lie over both, and so are drawn after both.
void move_edges(Ui& ui, Rect middle, Rect left, Rect right, Settings& settings) {
    const auto edge = [&](std::string_view name, float x) {
        return splitter(ui, name, {x - kSplitter / 2, middle.y, kSplitter, middle.h}, true);
    };
    if (left.w > 0)
        if (const float d = edge("split.left", left.right()); d != 0)
            settings.left = std::clamp(left.w + d, 240.0f, 560.0f);
    if (right.w > 0)
        if (const float d = edge("split.right", right.x); d != 0)
            settings.right = std::clamp(right.w - d, kLeastRight, 560.0f);
}

}  // namespace

void Shell::show_bare() {
    bare_ = true;
    welcome_ = false;
    dialogs_.close();
    window_.dirty = window_.state.redraw_all = true;
}

bool Shell::show_named(std::string_view view, std::string_view page) {
    const auto id = view_named(view);
    if (!id) return false;
    if (!page.empty()) {
        ViewStates unused;
        if (!show_named_page(unused, *id, page)) return false;
    }
    static_cast<void>(show_named_view(window_.views, view));
    if (!page.empty()) show_named_page(window_.views, *id, page);
    window_.show_full(*id);
    return true;
}

// There is always one view: it stays where a scene asks for the dashboard, or a lesson ends.
Effects Shell::draw_bare(Ui& ui, Rect room, Scene& scene) {
    bare_view_ = window_.full.value_or(bare_view_);
    window_.full = bare_view_;
    return draw_view(ui, room, scene, bare_view_);
}

Effects Shell::draw_plan(Ui& ui, Rect room, Scene& scene) {
    if (window_.hidden_answer.covers(kPlanPlace)) {
        draw_cover(ui, room);
        return {};
    }
    panel_.revision = window_.evaluated;
    panel_.file = window_.document.file();
    panel_.all_axes = desk_.lesson().open;
    return draw_plan_panel(ui, room, scene, panel_);
}

// Plan on the left, inspector or lesson on the right, views between, bar and status line around them.
Effects Shell::draw_panels(Ui& ui, Rect room, Scene& scene) {
    const Theme& theme = ui.theme();
    const float width = room.w;
    const bool small = small_room(ui);
    const Rect bar = room.cut_top(kMenuBar), band = room.cut_top(verdict_band_height(ui.frame().size, small)),
               status = room.cut_bottom(kStatus);
    Effects out;
    const bool one = one_pane();
    if (one) draw_pane_switch(ui, room.cut_bottom(kOnePaneSwitch));
    const bool alone = !one && side() == SidePane::view;
    const bool panels = !one && (desk_.lesson().open || panels_shown());
    const bool show_left =
        panels && (width >= 760 || !window_.full) && (!desk_.lesson().open || width >= kWithPlan);
    const bool show_right = panels && (width >= 940 || desk_.lesson().open) && !alone;
    desk_.lesson().plan_hidden = desk_.lesson().open && !show_left && side() != SidePane::plan;
    if (alone) draw_side_strip(ui, room.cut_top(32));
    const Rect run = runs_.shown() ? room.cut_top(32) : Rect{};
    Rect left, right;
    if (show_left && width >= kOnePane) {
        const float wide = panel_width(window_.settings.left, width, kLeastLeft, 296);
        left = room.cut_left(small ? kPlanRail : std::clamp(wide, 240.0f, width * 0.45f));
        seek_marked(left);
        if (const auto part = ui.part("part.plan", 0, left, window_.evaluated, theme.panel)) {
            out.add(small ? draw_plan_rail(ui, left, scene, panel_) : draw_plan(ui, left, scene));
            if (scene.flags) draw_flag_words(ui, left, *scene.flags);
        }
    }
    if (show_right) {
        const float least = desk_.lesson().open ? std::min(380.0f, width * 0.5f) : kLeastRight;
        const float wide = panel_width(window_.settings.right, width, kLeastRight, 290);
        right = room.cut_right(held_between(wide, least, width * 0.4f));
        if (const auto part = ui.part("part.right", 0, right, window_.evaluated, theme.panel))
            out.add(desk_.lesson().open ? draw_side(ui, right, scene)
                                        : draw_inspector(ui, right, scene, inspector_));
    }
    out.add(one ? draw_one_pane(ui, room, scene) : draw_middle(ui, room, scene));
    move_edges(ui, room, small ? Rect{} : left, right, window_.settings);
    if (const auto part = ui.part("part.bar", 0, bar, window_.evaluated, theme.panel)) {
        ui.canvas().line({0, bar.bottom() - 1}, {bar.right(), bar.bottom() - 1}, theme.hairline);
        out.add(menus_.draw(ui, bar));
    }
    if (band.h > 0)
        if (const auto part = ui.part("part.band", 0, band, window_.evaluated, theme.panel))
            draw_verdict_band(ui, band, scene,
                              window_.hidden_answer.covers(kFiguresPlace) || window_.hidden_answer.open,
                              measured_of(window_));
    if (run.h > 0) runs_.draw(ui, run);
    if (const auto part = ui.part("part.status", 0, status, window_.evaluated, theme.panel)) {
        ui.canvas().line({0, status.y}, {status.right(), status.y}, theme.hairline);
        draw_status(ui, status, scene, window_.evaluate_s, &inspector_,
                    window_.hidden_answer.covers(kFiguresPlace), band.h <= 0,
                    window_.hidden_answer.memory_said);
    }
    draw_highlights(ui, desk_.lesson());
    return out;
}

}  // namespace pentamesh::ui
