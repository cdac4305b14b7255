// Frameworks' own settings in and out of the window, and which framework's flags the plan's fields show.
#include "app/ui/shell/sheets.h"

#include "app/ui/panels/plan_panel.h"
#include "core/base/files.h"
#include "core/calibrate/calibrate.h"
#include "core/io/own_presets.h"
#include "core/plan/changes.h"

#include <algorithm>
#include <string>
#include <utility>

namespace pentamesh::ui {
namespace {

// Settings::flags is one of these or a framework's name.
constexpr std::string_view kBySoftware = "software", kNoFlags = "none";

std::string flags_label(std::string_view flags) {
    if (flags == kBySoftware) return "of the plan's software";
    const auto target = interop::target_of(flags);
    return target ? "of " + std::string(target_words(*target)) : "none";
}

}  // namespace

std::optional<interop::Framework> flags_framework(const Settings& settings, Software software) {
    if (settings.flags == kBySoftware) return interop::framework_of(software);
    const auto at =
        std::find(interop::kFrameworkNames.begin(), interop::kFrameworkNames.end(), settings.flags);
    if (at == interop::kFrameworkNames.end()) return std::nullopt;
    return static_cast<interop::Framework>(at - interop::kFrameworkNames.begin());
}

std::optional<PlanEdit> Sheets::draw(Ui& ui, Scene& scene) {
    const std::string hosts = window_.host_names.list;
    draw_blame_panel(ui, scene, blame_, window_.host_names);
    if (hosts != window_.host_names.list) window_.state.redraw_all = true;
    draw_interop(ui, scene);
    draw_calibrate(ui);
    const std::uint64_t revision = window_.document.revision();
    std::optional<PlanEdit> edit = draw_plan_editor(ui, scene, editor_, revision);
    if (auto e = draw_stage_editor(ui, scene, stages_, revision)) edit = std::move(e);
    return edit;
}

void Sheets::begin_new_model() {
    window_.apply(new_model_edit(window_.document.plan()));
    open_fields(FieldTopic::size);
}

std::optional<PresetKind> Sheets::take_wanted_preset() {
    return std::exchange(editor_.wants_preset, std::nullopt);
}

void Sheets::close() {
    editor_ = {}, stages_ = {}, blame_ = {}, import_ = {}, export_ = {}, calibrate_ = {};
}

void Sheets::draw_interop(Ui& ui, const Scene& scene) {
    if (auto imported = draw_import_sheet(ui, scene, import_))
        window_.later("Import", [this, in = std::move(*imported)]() mutable {
            if (!in.run.empty()) return window_.open_run(in.run);
            if (in.edits)
                window_.edit_plan(std::move(in.plan), in.what);
            else
                window_.replace_plan({std::move(in.plan), {}, false}, in.what);
            if (!in.hosts.empty()) window_.host_names.list = in.hosts;
        });
    switch (draw_export_sheet(ui, scene, export_, window_.document.revision())) {
    case ExportAction::none: break;
    case ExportAction::copy:
        if (!window_.host.set_clipboard) break;
        window_.host.set_clipboard(export_.made.text);
        window_.say("Copied the settings of " + std::string(target_words(export_.target)));
        break;
    case ExportAction::save:
        window_.ask(DialogKind::settings,
                    window_.proposed_file(std::string(interop::name_of(export_.target))
                                          + std::string(ending_of(export_.target))),
                    nullptr);
        break;
    }
}

void Sheets::save_settings_text(const std::filesystem::path& path) {
    write_file(path.string(), export_.made.text);
    window_.say(window_.host.in_page ? "Downloaded " + path.filename().string() : "Saved " + path.string());
}

void Sheets::add_interop_commands(std::vector<Command>& commands) {
    for (std::size_t i = 0; i < interop::kTargetNames.size(); ++i) {
        const auto target = static_cast<interop::Target>(i);
        commands.push_back({.id = "export.to." + std::string(interop::kTargetNames[i]),
                            .title = "As " + std::string(target_words(target)) + "…",
                            .menu = "Export",
                            .separator = i == 0,
                            .run = [this, target] { export_.open_at(target); },
                            .enabled = [this] { return window_.evaluation.valid; }});
    }
}

// One line in the menu goes from choice to choice; the palette has each.
void Sheets::add_flags_commands(std::vector<Command>& commands) {
    std::vector<std::string> choices{std::string(kBySoftware), std::string(kNoFlags)};
    for (const std::string_view name : interop::kFrameworkNames) choices.emplace_back(name);
    commands.push_back(
        {.id = "flags.next",
         .title = "Next framework whose flags are shown on hover",
         .menu = "View",
         .run =
             [this, choices] {
                 const auto at = std::find(choices.begin(), choices.end(), window_.settings.flags);
                 const auto next = at == choices.end() ? 0 : (at - choices.begin() + 1) % std::ssize(choices);
                 window_.settings.flags = choices[static_cast<std::size_t>(next)];
                 window_.say("Flags on hover: " + flags_label(window_.settings.flags));
             },
         .label = [this] { return "Flags on hover: " + flags_label(window_.settings.flags); }});
    for (const std::string& choice : choices)
        commands.push_back({.id = "flags." + choice,
                            .title = "Show on hover the flags: " + flags_label(choice),
                            .run = [this, choice] { window_.settings.flags = choice; },
                            .checked = [this, choice] { return window_.settings.flags == choice; }});
}

// ---- measured runs --------------------------------------------------------------------------------------
void Sheets::add_runs(const std::filesystem::path& path) {
    calibrate_.add(path.string(), read_file(path));
    window_.dirty = true;
}

void Sheets::draw_calibrate(Ui& ui) {
    if (!calibrate_.open) return;
    read_calibrate_files(calibrate_, window_.document.plan(), window_.presets);
    switch (draw_calibrate_sheet(ui, calibrate_)) {
    case CalibrateAction::none: break;
    case CalibrateAction::add_file:
        window_.later("", [this] { window_.ask(DialogKind::runs, "", nullptr); });
        break;
    case CalibrateAction::save: window_.later("", [this] { use_calibrated(true); }); break;
    case CalibrateAction::use: window_.later("", [this] { use_calibrated(false); }); break;
    }
}

void Sheets::update() {
    const bool wanted = calibrate_.has_work();
    if (!fit_ && wanted) fit_ = std::make_unique<Fit>(window_.host.wake);
    if (!fit_) return;
    const auto work = [this]() -> Fit::Work {
        return [own = calibrate_.own, on = calibrate_.on](const std::atomic<bool>&) {
            return pentamesh::calibrate(own.runs, own.links, on, own.from);
        };
    };
    if (fit_->tend(wanted, calibrate_.version, calibrate_.made, work)) window_.dirty = true;
}

// Keeps the cluster among the user's own, and chooses it for the plan if that has the same GPU. `save` false:
// only the plan gets the constants.
void Sheets::use_calibrated(bool save) {
    window_.dirty = true;
    try {
        const Calibrated& made = calibrate_.made.value;
        if (!save) {
            window_.edit_plan(with_constants_of(window_.document.plan(), made.cluster, window_.presets),
                              "calibrated constants");
            window_.say("The plan's constants are calibrated now; Ctrl+Z takes that back");
            calibrate_ = {};
            return;
        }
        const std::filesystem::path file = save_calibrated(made, calibrate_.name, window_.presets);
        window_.own_presets_changed();
        const std::string id = preset_id_of(calibrate_.name);
        const Cluster kept = window_.presets.cluster(id);
        if (kept.gpu.flops == window_.document.plan().cluster.gpu.flops) {
            window_.edit_plan(with_cluster(window_.document.plan(), kept, id), "the cluster " + kept.name);
            window_.say("Saved and chosen: " + kept.name + ". The list of clusters has it");
        } else {
            window_.say("Saved " + file.string()
                        + ". The list of clusters has it; this plan has another GPU");
        }
        calibrate_ = {};
    } catch (const Error& e) {
        calibrate_.error = e.message();
    }
}

void Sheets::add_calibrate_command(std::vector<Command>& commands) {
    commands.push_back(in_menu("File", "calibrate", "Calibrate from measured runs…", {}, [this] {
        calibrate_ = {};
        calibrate_.open = true;
    }));
}

// ---- notes ----------------------------------------------------------------------------------------------
namespace {
constexpr double kPause_s = 0.9, kLongest_s = 1;
constexpr const char* kTyping = "notes";  // merge key: one step of undo while it lasts
}  // namespace

// Returns the edit of notes that were typed and are not in the plan yet.
std::optional<PlanEdit> Sheets::typed_notes() {
    if (!notes_ || notes_->changed_s < 0) return std::nullopt;
    notes_->changed_s = -1;
    if (notes_->text == window_.document.plan().notes) return std::nullopt;
    PlanEdit edit{window_.document.plan(), "Notes", kTyping};
    edit.plan.notes = notes_->text;
    return edit;
}

// Returns true if there was no pause since the last letter.
bool Sheets::types_notes() const {
    return notes_ && window_.now_s < notes_->letter_s + kPause_s;
}

std::optional<PlanEdit> Sheets::draw_notes(Ui& ui) {
    if (!notes_) return std::nullopt;
    const Vec2 size = ui.frame().size;
    const float w = std::min(640.0f, size.x - 32), h = std::min(420.0f, size.y - 32);
    const Rect box{(size.x - w) / 2, (size.y - h) / 2, w, h};
    const auto layer = ui.open_layer("notes", box, true);
    Rect room = box.inset(20, 16);
    Rect head = room.cut_top(28);
    bool close = ui.button("notes.close", head.cut_right(72), "Close") || (!layer.stays() && !notes_->fresh);
    ui.canvas().text_in(head, "Notes of the plan", {Face::semibold, 14, ui.theme().text, 0});
    room.cut_top(8);
    const Rect foot = room.cut_bottom(20);
    room.cut_bottom(6);
    ui.label(foot, "Saved with the plan, shown in its reports.", ui.small());
    // Undo, or another plan, brings other notes.
    if (notes_->changed_s < 0) notes_->text = window_.document.plan().notes;
    if (ui.text_box("edit.notes", room, notes_->text, notes_->known, "Why this layout? What was tried?",
                    notes_->fresh)) {
        notes_->letter_s = window_.now_s;
        if (notes_->changed_s < 0) notes_->changed_s = window_.now_s;
    }
    if (ui.state().edit == ui.id("edit.notes")) notes_->fresh = false;
    const bool undo = key_down(Key::z) && ui.frame().ctrl && !ui.frame().alt;
    const bool wants_undo = undo && !std::exchange(notes_->undo_held, undo);
    notes_->undo_held = undo;
    if (notes_->changed_s >= 0 || types_notes()) ui.state().wants_frame = true;
    std::optional<PlanEdit> edit;
    const bool due = !types_notes() || window_.now_s >= notes_->changed_s + kLongest_s;
    if (close || wants_undo || (notes_->changed_s >= 0 && due)) edit = typed_notes();
    if (wants_undo)
        window_.later("Notes", [this, redo = ui.frame().shift] {
            redo ? window_.document.redo() : window_.document.undo();
        });
    if (close) {
        notes_.reset();
        window_.dirty = true;
    }
    return edit;
}

void Sheets::open_notes() {
    notes_ = NotesEdit{.text = window_.document.plan().notes};
    window_.dirty = true;
}

}  // namespace pentamesh::ui
