#include "app/ui/shell/shell.h"

#include "core/advice/advice.h"
#include "core/base/error.h"
#include "core/base/files.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr double kToast_s = 6;

}  // namespace

Shell::Shell(const Presets& presets, Plan plan, Host host)
    : presets_(presets), document_(std::move(plan)), host_(std::move(host)) {
    if (!host_.config_folder.empty()) {
        std::string warning;
        settings_ = load_settings(host_.config_folder, warning);
        saved_settings_ = settings_;
        if (!warning.empty()) say(warning);
        recovery_ = std::make_unique<Recovery>(host_.config_folder / "unsaved");
    }
    try {
        const std::filesystem::path file = presets_.root().parent_path() / "assets" / "glossary.json";
        glossary_ = load_glossary(read_file(file), file.string());
    } catch (const Error& e) {
        say(e.what());
    }
    lessons_ = list_lessons(presets_.root().parent_path() / "assets" / "lessons");
    make_commands();
    evaluate_now();
    welcome_ = host_.first_run && !settings_.welcomed;
}

void Shell::evaluate_now() {
    const double begun = host_.now_s ? host_.now_s() : 0;
    assess(document_.plan(), evaluation_);
    evaluate_s_ = host_.now_s ? host_.now_s() - begun : -1;
    evaluated_ = document_.revision();
    if (selection_.rank >= evaluation_.mesh.world) selection_.rank = -1;
    if (selection_.stage >= static_cast<int>(evaluation_.memory.stage.size())) selection_.stage = -1;
    if (selection_.operation >= static_cast<int>(evaluation_.comm.operations.size()))
        selection_.operation = -1;
    if (selection_.op >= static_cast<std::ptrdiff_t>(evaluation_.timeline.order.ops.size()))
        selection_.op = -1;
}

void Shell::apply(std::optional<PlanEdit> edit) {
    if (!edit) return;
    document_.edit(std::move(edit->plan), std::move(edit->what), std::move(edit->merge_key));
    dirty_ = true;
}

void Shell::say(std::string text) {
    toast_ = std::move(text);
    toast_until_s_ = now_s_ + kToast_s;
}

std::string Shell::title() const {
    const std::string name = document_.plan().name.empty() ? "unnamed plan" : document_.plan().name;
    return name + (document_.modified() ? " *" : "") + " – Pentamesh";
}

double Shell::idle_s() const {
    if (wants_frame()) return 0;
    // An open lesson's file is looked at once a second; the presenter's clock ticks.
    double wait = lesson_.open || presenter_.on ? 1 : std::numeric_limits<double>::infinity();
    if (!toast_.empty()) wait = std::min(wait, std::max(0.05, toast_until_s_ - now_s_));
    return wait;
}

// ---- views --------------------------------------------------------------------------------------------

DataTable Shell::data_of(ViewId view, const Scene& scene) const {
    switch (view) {
    case ViewId::mesh: return mesh_data(scene);
    case ViewId::shards: return shards_data(scene, shards_);
    case ViewId::memory: return memory_data(scene);
    case ViewId::timeline: return timeline_data(scene);
    case ViewId::comm: return comm_data(scene);
    case ViewId::tensors: return tensors_data(scene);
    case ViewId::map: return map_data(scene, map_);
    case ViewId::step: return step_data(scene, step_.budget_tokens);
    case ViewId::zoom: return zoom_data(scene, zoom_);
    default: return {};
    }
}

void Shell::toggle_full(ViewId view) {
    if (full_ == view)
        full_.reset();
    else
        full_ = view;
    dirty_ = true;
}

void Shell::copy_table(TableFormat format) {
    if (!host_.set_clipboard) return;
    Hover none;
    const Scene scene{document_.plan(),   evaluation_, presets_,  selection_, hover_, none,
                      timeline_.cursor_s, nullptr,     &glossary_};
    const ViewId view = full_.value_or(top_);
    host_.set_clipboard(write_table(data_of(view, scene), format));
    say("Copied the data of " + std::string(title_of(view)));
}

void Shell::draw_view(Ui& ui, Rect room, Scene& scene, ViewId view, std::span<const ViewId> siblings,
                      ViewId* place) {
    const auto i = static_cast<std::size_t>(view);
    if (room.w < 120 || room.h < 60) return;  // nothing could be read
    // Asked again once the part is drawn: its head switches between picture and table.
    const auto has_cells = [&] { return view == ViewId::mesh && !as_data_[i]; };
    const Rect moving = has_cells() ? moving_in_mesh(mesh_) : Rect{};
    if (const auto part = ui.part("part.view", i, room, shown_key(view), ui.theme().window, moving)) {
        draw_guarded(ui, title_of(view), room,
                     [&] { draw_kept_view(ui, room, scene, view, siblings, place); });
    }
    if (has_cells()) draw_guarded(ui, title_of(view), room, [&] { draw_mesh_cells(ui, scene, mesh_); });
}

// All of it that stays while the mouse moves elsewhere, or over the cells of the Mesh.
void Shell::draw_kept_view(Ui& ui, Rect room, Scene& scene, ViewId view, std::span<const ViewId> siblings,
                           ViewId* place) {
    const auto i = static_cast<std::size_t>(view);
    room = {room.x + 16, room.y + 8, room.w - 32, room.h - 16};
    const ViewHead head = view_head(ui, room, view, siblings, as_data_[i]);
    if (head.full) toggle_full(view);
    if (head.switch_to) {
        if (full_ == view) full_ = *head.switch_to;
        if (place != nullptr) *place = *head.switch_to;
        dirty_ = true;
    }
    if (as_data_[i]) {
        const int row = draw_table(ui, title_of(view), room, data_of(view, scene), tables_[i]);
        if (row >= 0 && view == ViewId::comm) {
            selection_.operation = row;
            selection_.topic = Selection::Topic::operation;
        }
    } else {
        switch (view) {
        case ViewId::mesh: draw_mesh_words(ui, head.row, room, scene, mesh_, evaluated_); break;
        case ViewId::shards: draw_shards(ui, head.row, room, scene, shards_, evaluated_); break;
        case ViewId::memory: draw_memory(ui, head.row, room, scene, memory_); break;
        case ViewId::timeline: draw_timeline(ui, head.row, room, scene, timeline_, evaluated_); break;
        case ViewId::comm: draw_comm(ui, head.row, room, scene, comm_, evaluated_); break;
        case ViewId::tensors: draw_tensors(ui, head.row, room, scene, tensors_, evaluated_); break;
        case ViewId::step:
            if (auto e = draw_step(ui, head.row, room, scene, step_, evaluated_)) view_edit_ = std::move(e);
            break;
        case ViewId::zoom: draw_zoom(ui, head.row, room, scene, zoom_, evaluated_); break;
        case ViewId::map: draw_map(ui, head.row, room, scene, map_, evaluated_); break;
        default: break;
        }
    }
}

// ---- the frame ----------------------------------------------------------------------------------------

void Shell::frame(const FrameInfo& info, Page* page) {
    now_s_ = info.time_s;
    width_ = info.size.x;
    // A lesson and a presentation change by the clock and from their file; what else does, says so.
    if (dirty_ || lesson_.open || presenter_.on || welcome_) state_.disturbed = true;
    dirty_ = false;
    guarded("The lesson", [&] { begin_lesson_frame(); });
    // A file that was dropped between two frames brought another plan.
    if (evaluated_ != document_.revision()) evaluate_now();
    draw_frame(info, page);
    run_queue();
    if (evaluated_ != document_.revision()) {
        evaluate_now();
        dirty_ = true;
    }
    keep_settings(info);
    keep_unsaved();
}

void Shell::draw_frame(const FrameInfo& info, Page* page) {
    Ui ui(state_, info, theme_of(settings_.theme), frame_canvas(info, page));
    Hover next;
    Scene scene{document_.plan(), evaluation_, presets_,           selection_,
                hover_,           next,        timeline_.cursor_s, timeline_.current(evaluation_, evaluated_),
                &glossary_};
    fill_frame(info, page, ui.theme().window);
    zoom_.took_escape = false;
    draw_content(ui, scene, {0, 0, info.size.x, info.size.y});
    take_lesson_picks();
    do_lesson(std::exchange(lesson_action_, {}));
    if (!next.message.empty()) say(next.message);
    next.message.clear();
    hover_moved_ = !(next == hover_);
    hover_ = next;
    if (!info.down[0]) document_.end_merge();
    if (state_.layers_open == 0 || state_.top_layer == 0) take_keys();
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
        }))
        panel_.menu.clear();
    if (!draw_guarded(ui, "A menu or dialog", {}, [&] { draw_layers(ui, scene); })) {
        menu_.clear();
        palette_ = keys_ = welcome_ = glossary_state_.open = false;
        close_dialog();
    }
    if (view_edit_) edit = std::move(view_edit_);
    view_edit_.reset();
    apply(std::move(edit));
}

void Shell::take_keys() {
    if (const Command* command = pressed_command(commands_)) run(*command);
    if (presenter_.on)
        present_keys();
    else if (pressed({Key::escape}) && !zoom_.took_escape)
        take_escape();
}

// Esc leaves what was entered last: a cursor, a selection, the full view.
void Shell::take_escape() {
    state_.focus = 0;
    state_.focus_visible = false;
    if (timeline_.cursor_s >= 0)
        timeline_.cursor_s = -1, timeline_.playing = false;
    else if (selection_.topic != Selection::Topic::none)
        selection_ = {.axis = selection_.axis, .expert = selection_.expert};
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

void Shell::run_queue() {
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
