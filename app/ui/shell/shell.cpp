#include "app/ui/shell/shell.h"

#include "app/ui/kit/format.h"
#include "app/ui/views/frame.h"
#include "core/advice/advice.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/io/plan_json.h"
#include "render/page.h"
#include "render/png.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace pentamesh::ui {

namespace {

bool is_page(std::string_view text) {  // PDF or SVG
    return text.starts_with("%PDF") || text.substr(0, 512).find("<svg") != std::string_view::npos;
}

constexpr double kToast_s = 6;

}  // namespace

Shell::Shell(const Presets& presets, Plan plan, Host host)
    : presets_(presets), document_(std::move(plan)), host_(std::move(host)) {
    if (!host_.config_folder.empty()) {
        std::string warning;
        settings_ = load_settings(host_.config_folder, warning);
        saved_settings_ = settings_;
        if (!warning.empty()) say(warning);
    }
    try {
        const std::string file = (presets_.root().parent_path() / "assets" / "glossary.json").string();
        glossary_ = load_glossary(read_file(file), file);
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

std::string Shell::plan_text() const {
    return write_plan(document_.plan());
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

// ---- files --------------------------------------------------------------------------------------------

void Shell::open_plan(Plan plan) {
    leave_lesson();
    document_.open(std::move(plan), {});
    selection_ = {};
    dirty_ = true;
}

void Shell::opened_from(const std::filesystem::path& path) {
    document_.open(document_.plan(), path);
    add_recent(settings_, path);
}

void Shell::closed() {
    std::error_code ignored;
    if (!host_.config_folder.empty()) std::filesystem::remove(autosave_file(), ignored);
}

void Shell::open_text(const std::string& text, const std::string& origin) {
    leave_lesson();
    try {
        std::string plan_text = text;
        if (text.starts_with("\x89PNG")) {
            const auto inside = read_png_text(text, "pentamesh.plan");
            if (!inside)
                throw Error(ErrorKind::invalid, origin, "",
                            "this picture has no plan inside; only Pentamesh's own do");
            plan_text = *inside;
        } else if (is_page(text)) {
            const auto inside = read_embedded(text);
            if (!inside)
                throw Error(ErrorKind::invalid, origin, "",
                            "this page has no plan inside; only Pentamesh's own do");
            plan_text = *inside;
        }
        const auto first = plan_text.find("\"pentamesh.plan/");
        if (first == std::string::npos && plan_text.find("\"model_type\"") != std::string::npos) {
            Plan p = document_.plan();  // a Hugging Face config: the model alone changes
            p.model = parse_model(plan_text, origin, presets_);
            if (p.model.name.empty()) p.model.name = std::filesystem::path(origin).stem().string();
            p.model_source = {};
            p.layout.stage_layers.clear();
            document_.edit(std::move(p), "model from " + origin);
        } else {
            Plan p = parse_plan(plan_text, origin, presets_);
            document_.edit(std::move(p), "plan from " + origin);
        }
        selection_ = {};
        dirty_ = true;
        say("Opened " + origin);
    } catch (const Error& e) {
        say(e.what());
    }
}

void Shell::open_file(const std::filesystem::path& path) {
    if (path.extension() == ".md") {
        open_lesson(path);
        return;
    }
    leave_lesson();
    try {
        const std::string text = read_file(path.string());
        const bool is_plan = !text.starts_with("\x89PNG") && !is_page(text)
                             && text.find("\"model_type\"") == std::string::npos;
        if (!is_plan) {
            open_text(text, path.string());
            return;
        }
        document_.open(parse_plan(text, path.string(), presets_), path);
        selection_ = {};
        add_recent(settings_, path);
        dirty_ = true;
        say("Opened " + path.filename().string());
    } catch (const Error& e) {
        say(e.what());
    }
}

void Shell::save(const std::filesystem::path& path) {
    try {
        document_.save_as(path);
        add_recent(settings_, path);
        autosave();
        say("Saved " + path.string());
        if (after_dialog_) after_dialog_();
        after_dialog_ = nullptr;
        dialog_.clear();
    } catch (const Error& e) {
        dialog_error_ = e.what();
        say(e.what());
    }
}

std::filesystem::path Shell::autosave_file() const {
    return host_.config_folder / "autosave.plan.json";
}

void Shell::autosave() {
    if (host_.config_folder.empty() || set_aside_
        || autosaved_ == document_.revision() * 2 + (document_.modified() ? 1 : 0))
        return;
    autosaved_ = document_.revision() * 2 + (document_.modified() ? 1 : 0);
    std::error_code ignored;
    try {
        if (document_.modified()) {
            std::filesystem::create_directories(host_.config_folder, ignored);
            write_file(autosave_file().string(), write_plan(document_.plan()));
        } else {
            std::filesystem::remove(autosave_file(), ignored);
        }
    } catch (const Error& e) {
        say(std::string("the plan could not be kept against a crash: ") + e.what());
    }
}

bool Shell::offer_recovery() {
    std::error_code ignored;
    if (host_.config_folder.empty() || !std::filesystem::exists(autosave_file(), ignored)) return false;
    try {
        Plan plan = parse_plan(read_file(autosave_file().string()), autosave_file().string(), presets_);
        document_.open_unsaved(std::move(plan), {});
        dirty_ = true;
        say("Recovered the plan that was not saved when Pentamesh last ended. Ctrl+S keeps it.");
        return true;
    } catch (const Error& e) {
        std::filesystem::rename(autosave_file(), host_.config_folder / "autosave.broken.json", ignored);
        say(std::string("what was kept of an unsaved plan could not be read: ") + e.what());
        return false;
    }
}

bool Shell::may_close() {
    leave_lesson();
    if (!document_.modified() || quit_) return true;
    ask("close", "", [this] { quit_ = true; });
    dirty_ = true;
    return false;
}

void Shell::ask(std::string dialog, std::string text, std::function<void()> after) {
    dialog_ = std::move(dialog);
    dialog_text_ = std::move(text);
    dialog_error_.clear();
    after_dialog_ = std::move(after);
}

// ---- views --------------------------------------------------------------------------------------------

void Shell::toggle_full(ViewId view) {
    if (full_ == view)
        full_.reset();
    else
        full_ = view;
    dirty_ = true;
}

Scene Shell::scene_of(Hover& next) {
    return {document_.plan(),
            evaluation_,
            presets_,
            selection_,
            hover_,
            next,
            views_.timeline.cursor_s,
            views_.timeline.current(evaluation_, evaluated_),
            &glossary_,
            {}};
}

void Shell::copy_table(TableFormat format) {
    if (!host_.set_clipboard) return;
    Hover none;
    const ViewEntry& view = view_of(full_.value_or(views_.in_pane.front()));
    host_.set_clipboard(write_table(data_of(scene_of(none), view.id, views_), format));
    say("Copied the data of " + std::string(view.title));
}

Screen Shell::screen() const {
    return {views_, selection_, settings_, full_, document_.revision()};
}

void Shell::show(const Screen& screen) {
    views_ = screen.views;
    selection_ = screen.selection;
    settings_ = screen.settings;
    full_ = screen.full;
    document_.come_after(screen.revision);  // what the views keep is made anew
    evaluate_now();
}

// The view that fills the window has the keyboard; else the one with the focus, or under the mouse, or that
// had it last.
bool Shell::has_keys(const Ui& ui, Rect room, Pane pane) {
    if (ui.layer() != state_.top_layer) return false;
    if (full_) return true;
    bool focus = false;
    for (const UiState::Area& a : state_.last_areas)
        focus = focus || (a.id == state_.focus && room.contains(a.rect.center()));
    if (state_.focus_visible ? focus : ui.hovers(room)) keys_pane_ = pane;
    return keys_pane_ == pane;
}

void Shell::draw_view(Ui& ui, Rect room, Scene& scene, ViewId view) {
    if (room.w < 120 || room.h < 60) return;  // nothing could be read
    scene.keys.here = has_keys(ui, room, view_of(view).pane);
    if (ui.begin_part("part.view", static_cast<std::uint64_t>(view), room, shown_key(view), ui.theme().window,
                      moving_in_view(view, views_))) {
        draw_kept_view(ui, room, scene, view);
        ui.end_part();
    }
    draw_view_moving(ui, scene, view, views_);
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
    if (auto edit = draw_view_body(ui, head.row, room, scene, view, views_, evaluated_))
        view_edit_ = std::move(edit);
}

// ---- the frame ----------------------------------------------------------------------------------------

void Shell::frame(const FrameInfo& info, Page* page) {
    now_s_ = info.time_s;
    width_ = info.size.x;
    // A lesson and a presentation change by the clock and from their file; what else does, says so.
    if (dirty_ || lesson_.open || presenter_.on || welcome_) state_.disturbed = true;
    dirty_ = false;
    begin_lesson_frame();
    const Theme& theme = theme_of(settings_.theme);
    {
        Ui ui(state_, info, theme, frame_canvas(info, page));
        Hover next;
        Scene scene = scene_of(next);
        Rect room{0, 0, info.size.x, info.size.y};
        fill_frame(info, page, theme.window);
        std::optional<PlanEdit> edit =
            presenter_.on ? draw_presenter(ui, room, scene) : draw_panels(ui, room, scene);
        if (auto e = draw_plan_menus(ui, scene, panel_)) edit = std::move(e);
        draw_layers(ui, scene);
        if (view_edit_) edit = std::move(view_edit_);
        view_edit_.reset();
        apply(std::move(edit));
        take_lesson_picks();
        do_lesson(std::exchange(lesson_action_, {}));
        if (!next.message.empty()) say(next.message);
        next.message.clear();
        hover_moved_ = !(next == hover_);
        hover_ = next;
        if (!info.down[0]) document_.end_merge();
        if (state_.layers_open == 0 || state_.top_layer == 0) {
            if (!run_pressed(commands_).empty()) dirty_ = true;
            if (presenter_.on) {
                present_keys();
            } else if (pressed({Key::escape}) && !scene.keys.took_escape) {
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
        }
        ui.move_focus();
        if (!toast_.empty() && now_s_ >= toast_until_s_) toast_.clear();
    }
    if (evaluated_ != document_.revision()) {
        evaluate_now();
        dirty_ = true;
    }
    if (!host_.config_folder.empty() && !(settings_ == saved_settings_) && !info.down[0]) {
        try {
            save_settings(host_.config_folder, settings_);
        } catch (const Error& e) {
            say(std::string("settings could not be kept: ") + e.what());
        }
        saved_settings_ = settings_;
    }
}

}  // namespace pentamesh::ui
