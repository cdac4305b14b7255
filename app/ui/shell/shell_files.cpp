// Files that are asked for: by a dialog of the desktop's where there is one, else by one of the window's own;
// and those that were open last.
#include "app/ui/shell/dialog_parts.h"
#include "app/ui/shell/shell.h"
#include "core/base/error.h"
#include "render/page.h"

#include <algorithm>
#include <string>
#include <utility>

namespace pentamesh::ui {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kRecentInDialog = 8;

bool is_there(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

bool is_folder(const fs::path& path) {
    std::error_code ignored;
    return !path.empty() && fs::is_directory(path, ignored);
}

// The others read one.
bool saves(DialogKind kind) {
    return kind != DialogKind::open && kind != DialogKind::review_second && kind != DialogKind::runs;
}

std::vector<std::string> endings_of(DialogKind kind) {
    if (kind == DialogKind::runs) return {".json", ".log", ".txt", ".out"};
    if (!saves(kind)) return incoming_endings();
    if (kind == DialogKind::picture_file || kind == DialogKind::results) return {".png", ".svg", ".pdf"};
    if (kind == DialogKind::table) return {".csv", ".md", ".json", ".html", ".txt"};
    if (kind == DialogKind::review_file) return {".pdf", ".html"};
    if (kind == DialogKind::handout) return {".html", ".pdf"};
    if (kind == DialogKind::settings) return {".sh", ".py", ".json", ".yaml", ".toml"};
    return {".json"};
}

std::string kind_of_files(DialogKind kind) {
    if (kind == DialogKind::open) return "Plans, models, settings, pictures, lessons";
    if (kind == DialogKind::review_second) return "Plans, and pictures and reviews with a plan inside";
    if (kind == DialogKind::table) return "Tables";
    if (kind == DialogKind::review_file) return "Reviews";
    if (kind == DialogKind::handout) return "Handouts";
    if (kind == DialogKind::results) return "Pictures";
    if (kind == DialogKind::runs) return "Measured runs";
    return kind == DialogKind::picture_file ? "Pictures"
           : kind == DialogKind::settings   ? "Settings"
                                            : "Plans";
}

}  // namespace

// ---- asking -------------------------------------------------------------------------------------------

// Where somebody would begin to look: where the plan lies, or the file that was open last, or at home.
fs::path Shell::first_folder() const {
    std::error_code ignored;
    fs::path folder = document_.path().parent_path();
    if (!is_folder(folder) && !settings_.recent.empty()) folder = fs::path(settings_.recent[0]).parent_path();
    if (!is_folder(folder)) folder = host_.home;
    return is_folder(folder) ? folder : fs::current_path(ignored);
}

// The desktop is asked first. What was refused is corrected in the window, which can say why.
void Shell::begin_file_dialog() {
    native_dialog_.reset();
    if (host_.file_dialog && dialog_.error.empty()) {
        FileQuestion q;
        q.saves = saves(dialog_.kind);
        q.title = head_of_file(dialog_.kind);
        q.start = dialog_.text.empty() ? first_folder() : fs::path(dialog_.text);
        q.kind = kind_of_files(dialog_.kind);
        q.endings = endings_of(dialog_.kind);
        native_dialog_ = host_.file_dialog(q);
    }
    if (!native_dialog_) begin_browsing();
}

void Shell::begin_browsing() {
    browser_.saves = saves(dialog_.kind);
    browser_.endings = endings_of(dialog_.kind);
    browser_.fence = host_.fence;
    browser_.begin(first_folder());
    if (dialog_.text.empty()) browser_.go_to(browser_.folder, dialog_.text);  // so that it can be read where
    browser_.follow(dialog_.text, host_.home);
    dialog_.fresh = true;
}

void Shell::poll_native_dialog() {
    if (!native_dialog_) return;
    const std::optional<FileAnswer> answer = native_dialog_->poll();
    if (!answer) return;
    native_dialog_.reset();
    dirty_ = true;
    switch (answer->kind) {
    case FileAnswer::Kind::cancelled: close_dialog(); return;
    case FileAnswer::Kind::failed:
        begin_browsing();
        dialog_.error =
            "The desktop's dialog failed" + (answer->reason.empty() ? "." : ": " + answer->reason);
        return;
    case FileAnswer::Kind::picked:
        dialog_.text = answer->path.string();
        begin_browsing();                  // for what is refused
        dialog_.confirmed = answer->path;  // it asked before it gave a file that is there
        later("", [this] { finish_file_dialog(); });
    }
}

bool Shell::draw_waiting_dialog(Ui& ui, Rect buttons) {
    if (dialog_button(ui, buttons, "dialog.here", "Ask here instead", true, 150)) {
        native_dialog_.reset();
        begin_browsing();
    }
    return dialog_button(ui, buttons, "dialog.cancel", "Cancel");
}

// True: the dialog is done.
bool Shell::draw_file_dialog(Ui& ui, Rect room, Rect buttons) {
    if (!dialog_.error.empty()) {
        const float h = ui.canvas().paragraph_height(room.w, dialog_.error, ui.small(), 18) + 6;
        dialog_error_text(ui, room.cut_bottom(h), dialog_.error);
    }
    const std::string before = dialog_.text;
    const std::vector<FilePlace> shown = places();
    const BrowserAction action =
        draw_file_browser(ui, room, browser_, dialog_.text, shown, host_.home, dialog_.fresh);
    if (dialog_.text != before) dialog_.confirmed.clear(), dialog_.error.clear();
    if (action.forget >= 0)
        std::erase(settings_.recent, shown[static_cast<std::size_t>(action.forget)].path.string());
    const bool opens = !saves(dialog_.kind);
    const char* label = opens ? "Open" : dialog_.confirmed.empty() ? "Save" : "Replace";
    const bool go = dialog_button(ui, buttons, "dialog.ok", label) || action.go;
    if (go && !leaf_of_typed(dialog_.text).empty()) later("", [this] { finish_file_dialog(); });
    return dialog_button(ui, buttons, "dialog.cancel", "Cancel");
}

// What was typed, with "~", the folder that is shown and the ending that is missing.
fs::path Shell::typed_path(DialogKind kind) const {
    std::string text = dialog_.text;
    const auto ends = [&](std::string_view ending) { return text.ends_with(ending); };
    if (kind == DialogKind::save && !ends(".json")) text += ends(".plan") ? ".json" : ".plan.json";
    const bool picture = kind == DialogKind::picture_file || kind == DialogKind::results;
    if (picture && !ends(".png") && !ends(".svg") && !ends(".pdf")) text += ".png";
    if (kind == DialogKind::review_file && review_form_of(text) == ReviewForm::folder)
        text += pages_available() ? ".pdf" : ".html";
    if (kind == DialogKind::handout && !ends(".html") && !ends(".pdf")) text += ".html";
    const std::vector<std::string> endings = endings_of(kind);
    if (kind == DialogKind::table && std::none_of(endings.begin(), endings.end(), ends)) text += ".csv";
    return typed_in(text, browser_.anchor, host_.home);
}

// Done between frames.
void Shell::finish_file_dialog() {
    browser_.read_again();
    try_in_dialog([&] {
        const fs::path path = typed_path(dialog_.kind);
        std::error_code ignored;
        if (!lies_in(path, host_.fence))
            throw Error(ErrorKind::usage, path.string(), "", "lies out of reach");
        const bool own =
            dialog_.kind == DialogKind::save && path == document_.path() && !document_.changed_elsewhere();
        if (saves(dialog_.kind) && !own && path != dialog_.confirmed && fs::is_regular_file(path, ignored)) {
            dialog_.confirmed = path;
            throw Error(ErrorKind::usage, path.string(), "", "is there already. Save again to replace it.");
        }
        if (dialog_.kind == DialogKind::open) load_file(path);
        if (dialog_.kind == DialogKind::runs) add_runs(path);
        if (dialog_.kind == DialogKind::save) save(path);
        if (dialog_.kind == DialogKind::settings) save_settings_text(path);
        if (dialog_.kind == DialogKind::table) save_table(path);
        if (dialog_.kind == DialogKind::picture_file && host_.save_picture)
            host_.save_picture({PictureOrder::Use::file, pictured_view(), picture_.choice, path});
        if (dialog_.kind == DialogKind::review_file && host_.save_review)
            host_.save_review(review_.request, reviewed_plans(), path);
        if (dialog_.kind == DialogKind::handout && host_.save_handout) host_.save_handout(path);
        if (dialog_.kind == DialogKind::results && host_.save_results) host_.save_results(path);
        if (dialog_.kind == DialogKind::table) return wrote(path);
        if (dialog_.kind == DialogKind::review_second) return take_review_second(path);
        const auto after = std::move(dialog_.after);
        close_dialog();
        if (after) after();
    });
}

// ---- places and recent files --------------------------------------------------------------------------

std::vector<FilePlace> Shell::places() const {
    std::vector<FilePlace> out;
    if (is_folder(host_.home)) out.push_back({"Home", host_.home});
    if (const fs::path own = document_.path().parent_path(); is_folder(own) && own != host_.home)
        out.push_back({"The plan's folder", own});
    if (const fs::path root = host_.home.root_path(); is_folder(root)) out.push_back({"Computer", root});
    for (std::size_t i = 0; i < std::min(kRecentInDialog, settings_.recent.size()); ++i) {
        const fs::path file = settings_.recent[i];
        out.push_back({file.filename().string(), file, true, !is_there(file)});
    }
    return out;
}

// The file's name, and where it lies if another has the same name; "": there is no such one.
std::string Shell::recent_label(std::size_t index) const {
    if (index >= settings_.recent.size()) return {};
    const fs::path file = settings_.recent[index];
    std::string label = file.filename().string();
    const auto same =
        std::count_if(settings_.recent.begin(), settings_.recent.end(),
                      [&](const std::string& r) { return fs::path(r).filename() == file.filename(); });
    if (same > 1) label += ", in " + file.parent_path().filename().string();
    return label + (is_there(file) ? "" : " (gone)");
}

bool Shell::has_missing_files() const {
    return std::any_of(settings_.recent.begin(), settings_.recent.end(),
                       [](const std::string& r) { return !is_there(r); });
}

void Shell::open_recent(const fs::path& file) {
    if (is_there(file)) {
        open_file(file);
        return;
    }
    ask(DialogKind::missing, file.string() + " was moved or deleted. Drop it from the recent files?",
        [this, text = file.string()] { std::erase(settings_.recent, text); });
}

void Shell::drop_missing_files() {
    const std::size_t before = settings_.recent.size();
    std::erase_if(settings_.recent, [](const std::string& r) { return !is_there(r); });
    const std::size_t dropped = before - settings_.recent.size();
    say("Dropped " + std::to_string(dropped) + (dropped == 1 ? " file that is" : " files that are")
        + " gone");
}

bool Shell::draw_missing_dialog(Ui& ui, Rect buttons) {
    const bool drops = dialog_button(ui, buttons, "dialog.drop", "Drop it");
    if (drops) later("", std::move(dialog_.after));
    return dialog_button(ui, buttons, "dialog.cancel", "Keep it") || drops;
}

}  // namespace pentamesh::ui
