#include "app/ui/shell/dialogs.h"

#include "app/ui/panels/plan_panel.h"
#include "core/base/files.h"
#include "core/io/presets.h"
#include "core/teach/lesson.h"
#include "render/page.h"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

namespace pentamesh::ui {
namespace {

constexpr float kLeftRow = 36, kFileDialog = 820;
constexpr float kMostLeft = 6.5f;  // rows that are seen at once; half a row says that more come

}  // namespace

const Dialogs::Row& Dialogs::row_of(DialogKind kind) {
    static const auto file = [](std::string_view head, std::string_view files, bool saves,
                                std::vector<std::string> endings) {
        return Row{.head = head,
                   .width = kFileDialog,
                   .draw = &Dialogs::draw_file,
                   .files = files,
                   .saves = saves,
                   .endings = std::move(endings)};
    };
    static const auto run = [] {
        Row row =
            file("Open a run: one of its dumps or traces, a log, or a folder", "Files of runs", false, {});
        row.folders = true;
        return row;
    };
    // In the order of DialogKind.
    static const std::array<Row, kDialogKinds> rows{{
        {},
        file("Open a plan, a config.json, settings or a picture of ours",
             "Plans, models, settings, pictures, lessons", false, incoming_endings()),
        file("Save the plan as", "Plans", true, {".json"}),
        {.head = "A picture of this view",
         .width = 920,
         .height = &Dialogs::picture_height,
         .draw = &Dialogs::draw_picture},
        file("Save a picture as", "Pictures", true, {".png", ".svg", ".pdf"}),
        file("Save the table as", "Tables", true, {".csv", ".md", ".json", ".html", ".txt"}),
        {.head = "Export a design review",
         .width = 920,
         .height = &Dialogs::review_height,
         .draw = &Dialogs::draw_review},
        file("Save the review as", "Reviews", true,
             pages_available() ? std::vector<std::string>{".pdf", ".html", ".md"}
                               : std::vector<std::string>{".html", ".md", ".pdf"}),
        file("The plan to compare with", "Plans, and pictures and reviews with a plan inside", false,
             incoming_endings()),
        {.head = "Written", .draw = &Dialogs::draw_written},
        file("Save the handout as", "Handouts", true, {".html", ".pdf"}),
        file("Save the results", "Pictures, and answers to hand in", true, {".png", ".svg", ".pdf", ".json"}),
        run(),
        file("Save the settings as", "Settings", true, {".sh", ".py", ".json", ".yaml", ".toml"}),
        {.head = "Keep the changes to this plan?", .draw = &Dialogs::draw_close},
        {.head = "Plans that were not saved",
         .words = "Pentamesh ended before these were saved.",
         .width = 680,
         .height = &Dialogs::recovery_height,
         .draw = &Dialogs::draw_recovery},
        {.head = "Pentamesh " PENTAMESH_VERSION,
         .words = "Lays a training run over a cluster: who talks to whom, over which wire, what each GPU "
                  "holds, when it works, how long a step takes, and what is wrong with the layout.\nFonts: "
                  "Inter and JetBrains Mono.",
         .draw = &Dialogs::draw_about},
        {.head = "This file is not there any more", .draw = &Dialogs::draw_missing},
        {.head = "Save the part as a preset",
         .height = &Dialogs::preset_height,
         .draw = &Dialogs::draw_preset},
        {.head = "Presets of your own",
         .width = 680,
         .height = &Dialogs::presets_height,
         .draw = &Dialogs::draw_presets},
        {.head = "Open a preset",
         .width = 920,
         .height = &Dialogs::gallery_height,
         .draw = &Dialogs::draw_gallery},
        {.head = "What do you run?",
         .words = "The file names no software. What is sent and kept, and what a search may propose, hang on "
                  "it. Later takes Megatron-LM; the sheet of all fields (training.software) names another.",
         .width = 620,
         .height = &Dialogs::run_by_height,
         .draw = &Dialogs::draw_run_by},
    }};
    return rows[static_cast<std::size_t>(kind)];
}

Dialogs::Dialogs(Window& window, Files& files) : window_(window), files_(files) {
    when_picked(DialogKind::picture_file, [this](const std::filesystem::path& path) {
        if (window_.host.save_picture)
            window_.host.save_picture({PictureOrder::Use::file, pictured_view(), picture_.choice, path});
    });
    when_picked(DialogKind::review_file, [this](const std::filesystem::path& path) {
        if (window_.host.save_review) window_.host.save_review(review_.request, reviewed_plans(), path);
    });
    when_picked(DialogKind::review_second,
                [this](const std::filesystem::path& path) { take_review_second(path); });
}

Dialogs::~Dialogs() = default;

void Dialogs::when_picked(DialogKind kind, std::function<void(const std::filesystem::path&)> act) {
    picked_[static_cast<std::size_t>(kind)] = std::move(act);
}

std::string Dialogs::head() const {
    if (dialog_.kind == DialogKind::preset)
        return "Save the " + std::string(word_of(dialog_.preset)) + " as a preset";
    return std::string(row_of(dialog_.kind).head);
}

bool dialog_button(Ui& ui, Rect& row, std::string_view name, std::string_view label, bool enabled,
                   float width) {
    const Rect r = row.cut_right(width);
    row.cut_right(kDialogGap);
    return ui.button(name, r, label, 0, enabled);
}

void dialog_error_text(Ui& ui, Rect room, const std::string& error) {
    if (error.empty()) return;
    TextStyle s = ui.small();
    s.color = ui.theme().bad;
    room.cut_top(6);
    ui.canvas().paragraph(room, error, s, 18);
}

Rect dialog_row(Ui& ui, Rect& room, std::string_view name, float label) {
    Rect line = room.cut_top(kDialogRow);
    line.cut_bottom(kDialogRow - kDialogField);
    ui.canvas().text_in(line.cut_left(label), name, ui.style(13, Tone::secondary));
    return line;
}

void Dialogs::ask(DialogKind kind, std::string text, std::function<void()> after, std::string error) {
    dialog_ = {.kind = kind, .text = std::move(text), .error = std::move(error), .after = std::move(after)};
    // The error says that another program wrote the file: to save again replaces it.
    if (kind == DialogKind::save && !dialog_.error.empty() && window_.document.changed_elsewhere())
        dialog_.confirmed = window_.document.path();
    if (!row_of(kind).files.empty()) begin_file();
    window_.dirty = true;
}

void Dialogs::close() {
    dialog_ = {};
    native_dialog_.reset();
    window_.dirty = true;
}

float Dialogs::recovery_height(Ui& /*ui*/, float /*width*/) const {
    const std::size_t left = files_.left_names().size();
    return kLeftRow * std::min(static_cast<float>(left), kMostLeft);
}

void Dialogs::draw(Ui& ui) {
    if (dialog_.kind == DialogKind::none) return;
    const Row& row = row_of(dialog_.kind);
    const Vec2 size = ui.frame().size;
    const bool waits = native_dialog_ != nullptr, asks_here = !row.files.empty() && !waits;
    const float w = std::min(waits ? 480.0f : row.width, size.x - 32);
    const auto height = [&](std::string_view text, const TextStyle& style, float line) {
        return text.empty() ? 0 : ui.canvas().paragraph_height(w - 2 * kDialogPad.x, text, style, line) + 6;
    };
    const bool says = dialog_.kind == DialogKind::close || dialog_.kind == DialogKind::missing
                      || dialog_.kind == DialogKind::written;
    const std::string_view words = says    ? dialog_.text
                                   : waits ? "The desktop's own dialog asks for it."
                                           : row.words;
    const float body = row.height != nullptr ? (this->*row.height)(ui, w - 2 * kDialogPad.x) : 0;
    const float needed = 2 * kDialogPad.y + kDialogHead + height(words, ui.style(13, Tone::secondary), 20)
                         + body + height(dialog_.error, ui.small(), 18) + kAboveButtons + kButtonHeight;
    const float h = std::min(asks_here ? 460.0f : needed, size.y - 32);
    const Rect box{(size.x - w) / 2, (size.y - h) / 2, w, h};
    const auto layer = ui.open_layer("dialog", box, true);
    Rect room = box.inset(kDialogPad.x, kDialogPad.y);
    const Rect buttons = room.cut_bottom(kButtonHeight);
    room.cut_bottom(kAboveButtons);
    ui.canvas().text_in(room.cut_top(kDialogHead - 8), head(), {Face::semibold, 14, ui.theme().text, 0});
    room.cut_top(8);
    if (!words.empty())
        room.cut_top(ui.canvas().paragraph(room, words, ui.style(13, Tone::secondary), 20) + 6);
    const bool escaped = !layer.stays();
    if ((this->*row.draw)(ui, room, buttons) || escaped) close();
}

bool Dialogs::draw_about(Ui& ui, Rect /*room*/, Rect buttons) {
    return dialog_button(ui, buttons, "dialog.ok", "Close");
}

bool Dialogs::draw_missing(Ui& ui, Rect /*room*/, Rect buttons) {
    const bool drops = dialog_button(ui, buttons, "dialog.drop", "Drop it");
    if (drops) window_.later("", std::move(dialog_.after));
    return dialog_button(ui, buttons, "dialog.cancel", "Keep it") || drops;
}

bool Dialogs::draw_close(Ui& ui, Rect /*room*/, Rect buttons) {
    if (dialog_button(ui, buttons, "dialog.save", "Save"))
        window_.later("Save", [this] { files_.save_or_ask(std::move(dialog_.after)); });
    const bool several = window_.document.unsaved().size() > 1;
    const bool discards = dialog_button(ui, buttons, "dialog.discard", several ? "Discard all" : "Discard");
    if (discards) window_.later("Discard", [this] { window_.quit = true; });
    return dialog_button(ui, buttons, "dialog.cancel", "Cancel") || discards;
}

float Dialogs::run_by_height(Ui& /*ui*/, float /*width*/) const {
    return kButtonHeight;
}

bool Dialogs::draw_run_by(Ui& ui, Rect room, Rect buttons) {
    constexpr float kWide = 300;
    bool done = dialog_button(ui, buttons, "dialog.cancel", "Later");
    if (ui.button("dialog.run_by.any", room.cut_top(kButtonHeight).cut_left(std::min(kWide, room.w)),
                  "Not decided: layouts of any software")) {
        done = true;
        window_.views.search.request.any_software = true;
        window_.say("A search takes layouts of any software. Figures are Megatron-LM's until one is named.");
    }
    for (std::size_t i = kRoomSoftware.size(); i-- > 0;) {  // from the right
        const RoomSoftware& r = kRoomSoftware[i];
        const std::string name(r.name);
        if (!dialog_button(ui, buttons, "dialog.run_by." + name, name)) continue;
        done = true;
        window_.later("", [this, software = r.software, name] {
            Plan plan = window_.document.plan();
            plan.training.software = software;
            window_.edit_plan(std::move(plan), "run by " + name);
        });
    }
    return done;
}

// If `act` throws, the dialog stays and shows the error.
void Dialogs::try_in_dialog(const std::function<void()>& act) {
    window_.dirty = true;
    try {
        act();
    } catch (const std::exception& e) {
        dialog_.error = e.what();
        dialog_.fresh = true;
    }
}

bool Dialogs::draw_recovery(Ui& ui, Rect room, Rect buttons) {
    const auto& left = files_.left();
    const Rect list = room.cut_top(recovery_height(ui, room.w));
    ScrollArea area(ui, "recover.list", list, dialog_.scroll, {.wheel_step = kLeftRow});
    for (std::size_t i = 0; i < left.size(); ++i) {
        Rect row = area.room.cut_top(kLeftRow).inset(0, 3);
        if (!area.sees(row)) continue;
        if (recovery_height(ui, room.w) < kLeftRow * static_cast<float>(left.size())) row.cut_right(10);
        const bool asks = dialog_.asks == static_cast<int>(i);
        if (ui.button("recover.delete", row.cut_right(82), asks ? "Delete" : "Delete…", i)) {
            dialog_.asks = asks ? -1 : static_cast<int>(i);
            if (asks) window_.later("Delete", [this, i] { try_in_dialog([&] { files_.forget_left(i); }); });
        }
        row.cut_right(kDialogGap);
        if (asks && ui.button("recover.keep", row.cut_right(74), "Keep", i)) dialog_.asks = -1;
        if (!asks && ui.button("recover.open", row.cut_right(74), "Open", i))
            window_.later("Open", [this, i] { try_in_dialog([&] { files_.open_left(i); }); });
        row.cut_right(kDialogGap);
        const std::string about =
            asks ? "for good?"
                 : age_text(left[i].written) + ", " + std::to_string((left[i].bytes + 1023) / 1024) + " KiB";
        ui.canvas().text_in(row.cut_right(ui.canvas().text_width(about, ui.small()) + 8), about, ui.small(),
                            Align::right);
        if (ui.canvas().text_in(row, files_.left_names()[i], ui.style()) && ui.hovers(row))
            ui.tooltip(files_.left_names()[i]);
    }
    dialog_error_text(ui, room, dialog_.error);
    return dialog_button(ui, buttons, "dialog.cancel", "Later");
}

// ---- files that are asked for: by the desktop's dialog where there is one, else by a path ------
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kRecentInDialog = 8;

}  // namespace

// ---- asking -------------------------------------------------------------------------------------------

// The desktop is asked first. What was refused is corrected in the window, which can say why.
void Dialogs::begin_file() {
    native_dialog_.reset();
    if (window_.host.file_dialog && dialog_.error.empty()) {
        FileQuestion q;
        q.saves = row_of(dialog_.kind).saves;
        q.title = dialog_.kind == DialogKind::open ? "Open" : head();
        q.start = dialog_.text.empty() ? window_.first_folder() : fs::path(dialog_.text);
        q.kind = row_of(dialog_.kind).files;
        q.endings = row_of(dialog_.kind).endings;
        native_dialog_ = window_.host.file_dialog(q);
    }
    if (!native_dialog_) ask_here();
}

void Dialogs::ask_here() {
    path_field_.saves = row_of(dialog_.kind).saves;
    path_field_.folders = row_of(dialog_.kind).folders;
    path_field_.endings = row_of(dialog_.kind).endings;
    path_field_.fence = window_.host.fence;
    path_field_.begin(window_.first_folder(), dialog_.text, window_.host.home);
    dialog_.fresh = true;
}

double Dialogs::due_s() const {
    constexpr double kAsked_s = 0.1, kSoon_s = 0.02;
    double due = std::numeric_limits<double>::infinity();
    if (waits_for_desktop()) due = window_.now_s + kAsked_s;
    if (dialog_.kind == DialogKind::picture && picture_.due_s >= 0)
        due = std::min(due, std::max(picture_.due_s, window_.now_s + kSoon_s));
    return due;
}

void Dialogs::poll() {
    if (!native_dialog_) return;
    const std::optional<FileAnswer> answer = native_dialog_->poll();
    if (!answer) return;
    native_dialog_.reset();
    window_.dirty = true;
    switch (answer->kind) {
    case FileAnswer::Kind::cancelled: close(); return;
    case FileAnswer::Kind::failed:
        ask_here();
        dialog_.error =
            "The desktop's dialog failed" + (answer->reason.empty() ? "." : ": " + answer->reason);
        return;
    case FileAnswer::Kind::picked:
        dialog_.text = answer->path.string();
        ask_here();                        // for what is refused
        dialog_.confirmed = answer->path;  // it asked before it gave a file that is there
        window_.later("", [this] { finish_file(); });
    }
}

bool Dialogs::draw_waiting(Ui& ui, Rect buttons) {
    if (dialog_button(ui, buttons, "dialog.here", "Ask here instead", true, 150)) {
        native_dialog_.reset();
        ask_here();
    }
    return dialog_button(ui, buttons, "dialog.cancel", "Cancel");
}

bool Dialogs::draw_file(Ui& ui, Rect room, Rect buttons) {
    if (native_dialog_) return draw_waiting(ui, buttons);
    if (!dialog_.error.empty()) {
        const float h = ui.canvas().paragraph_height(room.w, dialog_.error, ui.small(), 18) + 6;
        dialog_error_text(ui, room.cut_bottom(h), dialog_.error);
    }
    const std::string before = dialog_.text;
    std::vector<std::string> recent;
    for (std::size_t i = 0; i < std::min(kRecentInDialog, window_.settings.recent.size()); ++i)
        recent.push_back(files_.recent_label(i));
    const PathPicked picked =
        draw_path_field(ui, room, path_field_, dialog_.text, recent, window_.host.home, dialog_.fresh);
    if (dialog_.text != before) dialog_.confirmed.clear(), dialog_.error.clear();
    if (picked.recent >= 0) pick_recent(static_cast<std::size_t>(picked.recent));
    const bool opens = !row_of(dialog_.kind).saves;
    const char* label = opens ? "Open" : dialog_.confirmed.empty() ? "Save" : "Replace";
    const bool go = dialog_button(ui, buttons, "dialog.ok", label) || picked.go;
    if (go && (row_of(dialog_.kind).folders || !leaf_of_typed(dialog_.text).empty()))
        window_.later("", [this] { finish_file(); });
    else if (go)
        dialog_.error = "This is a folder: name a file in it.";
    return dialog_button(ui, buttons, "dialog.cancel", "Cancel");
}

// A recent file is what is asked for; a dialog that saves goes to its folder.
void Dialogs::pick_recent(std::size_t index) {
    const fs::path file = window_.settings.recent[index];
    leave_text_field();
    if (row_of(dialog_.kind).saves) {
        path_field_.go_to(file.parent_path(), dialog_.text);
        dialog_.fresh = true;
        return;
    }
    dialog_.text = file.string();
    window_.later("", [this] { finish_file(); });
}

// Adds what the typed name lacks: the folder for "~", the folder that is shown, an ending.
fs::path Dialogs::typed_path() const {
    std::string text = dialog_.text;
    const Row& row = row_of(dialog_.kind);
    const auto ends = [&](std::string_view ending) { return text.ends_with(ending); };
    if (dialog_.kind == DialogKind::save) {
        if (!ends(".json")) text += ends(".plan") ? ".json" : ".plan.json";
    } else if (dialog_.kind == DialogKind::review_file) {  // another ending is refused with the reason
        if (review_form_of(text) == ReviewForm::folder) text += row.endings.front();
    } else if (row.saves && dialog_.kind != DialogKind::settings
               && std::none_of(row.endings.begin(), row.endings.end(), ends)) {
        text += row.endings.front();
    }
    const fs::path path = typed_in(text, path_field_.base, window_.host.home);
    return row.folders && !path.has_filename() ? path.parent_path() : path;
}

// Done between frames.
void Dialogs::finish_file() {
    path_field_.read_again();
    try_in_dialog([&] {
        const fs::path path = typed_path();
        std::error_code ignored;
        if (!lies_in(path, window_.host.fence))
            throw Error(ErrorKind::usage, path.string(), "", "lies out of reach");
        const bool own = dialog_.kind == DialogKind::save && path == window_.document.path()
                         && !window_.document.changed_elsewhere();
        if (row_of(dialog_.kind).saves && !own && path != dialog_.confirmed
            && fs::is_regular_file(path, ignored)) {
            dialog_.confirmed = path;
            throw Error(ErrorKind::usage, path.string(), "", "is there already. Save again to replace it.");
        }
        const DialogKind kind = dialog_.kind;
        if (const auto& act = picked_[static_cast<std::size_t>(kind)]) act(path);
        if (dialog_.kind != kind) return;  // it asks for something else now
        const auto after = std::move(dialog_.after);
        close();
        if (after) after();
    });
}

// Presets of one's own in the window: a part of the plan is kept under a name, the list of them, taking one
// away.

namespace {

constexpr float kPresetRow = 44, kMostListed = 330;

struct OwnPreset {
    PresetKind kind;
    const Presets::Entry* entry;
};

std::vector<OwnPreset> own_presets(const Presets& presets) {
    std::vector<OwnPreset> out;
    for (const PresetKind kind : {PresetKind::model, PresetKind::gpu, PresetKind::cluster})
        for (const Presets::Entry& e : presets.list(kind))
            if (e.own) out.push_back({kind, &e});
    return out;
}

std::string line_of(const OwnPreset& p) {
    const std::string kind(word_of(p.kind));
    if (!p.entry->broken.empty()) return kind + ", cannot be used: " + p.entry->broken;
    return kind + " · " + p.entry->id + (p.entry->source.empty() ? "" : " · " + p.entry->source);
}

float row_height(Ui& ui, const OwnPreset& p, float width) {
    const float lines = ui.canvas().paragraph_height(width - 190, line_of(p), ui.small(), 16);
    return std::max(kPresetRow, 30 + lines);
}

// Returns the name that is proposed for a preset: the plan's own, or "My ..." if that one is refused.
std::string proposed_name(const Presets& presets, PresetKind kind, const Plan& plan) {
    std::string name = kind == PresetKind::model     ? plan.model.name
                       : kind == PresetKind::cluster ? plan.cluster.name
                                                     : plan.cluster.gpu.name;
    if (name.empty()) name = word_of(kind);
    if (!refused_preset_name(presets, kind, name).empty()) name = "My " + name;
    return name;
}

}  // namespace

// ---- a name for a new one -----------------------------------------------------------------------------

void Dialogs::ask_preset_name(PresetKind kind) {
    ask(DialogKind::preset, proposed_name(window_.presets, kind, window_.document.plan()), nullptr);
    dialog_.preset = kind;
}

// Says which id and file the name gives, or why it is refused.
Dialogs::PresetNote Dialogs::preset_note() const {
    const std::string refused = refused_preset_name(window_.presets, dialog_.preset, dialog_.text);
    if (!refused.empty()) return {refused, true};
    const std::string id = preset_id_of(dialog_.text);
    return {"Its id, on the command line and in plan files: " + id + ". Kept in "
                + own_preset_file(window_.presets, dialog_.preset, id).string(),
            false};
}

float Dialogs::preset_height(Ui& ui, float width) const {
    return kDialogField + 8 + ui.canvas().paragraph_height(width, preset_note().text, ui.small(), 18);
}

bool Dialogs::draw_preset(Ui& ui, Rect room, Rect buttons) {
    bool changed = false;
    const bool entered = ui.text_field("preset.name", room.cut_top(kDialogField), dialog_.text, "name",
                                       dialog_.fresh, &changed);
    dialog_.fresh = false;
    if (changed) dialog_.error.clear(), dialog_.confirmed.clear();
    const PresetNote note = preset_note();
    TextStyle style = ui.small();
    if (note.refused) style.color = ui.theme().bad;
    room.cut_top(8);
    room.cut_top(ui.canvas().paragraph(room, note.text, style, 18));
    dialog_error_text(ui, room, dialog_.error);
    const bool replaces = !dialog_.confirmed.empty();
    const bool go =
        dialog_button(ui, buttons, "preset.save", replaces ? "Replace" : "Save", !note.refused) || entered;
    if (entered && note.refused) dialog_.fresh = true;  // it is typed anew
    if (go && !note.refused) window_.later("", [this] { finish_preset(); });
    return dialog_button(ui, buttons, "dialog.cancel", "Cancel");
}

void Dialogs::finish_preset() {
    try_in_dialog([&] {
        const PresetKind kind = dialog_.preset;
        const std::string id = preset_id_of(dialog_.text);
        if (window_.presets.has_own(kind, id) && dialog_.confirmed != id) {
            dialog_.confirmed = id;
            throw Error(ErrorKind::usage, "", "",
                        "\"" + id
                            + "\" is there already. Save again to replace it; plans that are open keep what "
                              "they have.");
        }
        Plan plan = save_own_preset(window_.presets, kind, dialog_.text, window_.document.plan());
        window_.own_presets_changed();
        window_.edit_plan(std::move(plan), "preset " + id);
        window_.say("Kept as \"" + id + "\"; it is in the list of " + std::string(word_of(kind)) + "s");
        close();
    });
}

// ---- the list -----------------------------------------------------------------------------------------

void Dialogs::ask_own_presets() {
    window_.presets.reread();  // files may have come and gone
    window_.own_presets_changed();
    ask(DialogKind::presets, "", nullptr);
}

float Dialogs::presets_height(Ui& ui, float width) const {
    float h = 0;
    for (const OwnPreset& p : own_presets(window_.presets)) h += row_height(ui, p, width);
    return std::clamp(h, kPresetRow, kMostListed);
}

bool Dialogs::draw_presets(Ui& ui, Rect room, Rect buttons) {
    if (!dialog_.error.empty()) dialog_error_text(ui, room.cut_bottom(40), dialog_.error);
    if (own_presets(window_.presets).empty())
        ui.canvas().paragraph(room,
                              "None yet. The sheet of every field (Ctrl+Shift+E) keeps a model, a GPU or a "
                              "cluster as one.",
                              ui.style(13, Tone::secondary), 20);
    draw_own_presets(ui, room);
    return dialog_button(ui, buttons, "dialog.ok", "Close");
}

void Dialogs::draw_own_presets(Ui& ui, Rect room) {
    const std::vector<OwnPreset> all = own_presets(window_.presets);
    ScrollArea area(ui, "presets.list", room, dialog_.scroll);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const OwnPreset& p = all[i];
        Rect row = area.room.cut_top(row_height(ui, p, room.w));
        row.cut_right(10);
        ui.canvas().line({row.x, row.bottom() - 1}, {row.right(), row.bottom() - 1}, ui.theme().hairline);
        Rect controls = row.cut_right(170).inset(0, 8);
        controls.h = 28;
        const bool asks = dialog_.asks == static_cast<int>(i);
        if (ui.button("presets.remove", controls.cut_right(82), asks ? "Remove" : "Remove…", i)) {
            if (asks)
                window_.later("Remove", [this, entry = *p.entry] { remove_preset(entry); });
            else
                dialog_.asks = static_cast<int>(i);
        }
        controls.cut_right(8);
        if (asks && ui.button("presets.keep", controls.cut_right(72), "Keep", i)) dialog_.asks = -1;
        row.cut_right(12);
        row.cut_top(6);
        ui.label(row.cut_top(20), asks ? "Remove " + p.entry->name + " for good?" : p.entry->name,
                 ui.style());
        TextStyle style = ui.small();
        if (!p.entry->broken.empty()) style.color = ui.theme().bad;
        ui.canvas().paragraph(row, line_of(p), style, 16);
    }
}

void Dialogs::remove_preset(const Presets::Entry& entry) {
    try_in_dialog([&] {
        remove_own_preset(window_.presets, entry);
        window_.own_presets_changed();
        dialog_.asks = -1;
        dialog_.error.clear();
        window_.say("Removed \"" + entry.id + "\"; open plans keep what they took from it");
    });
}

}  // namespace pentamesh::ui
