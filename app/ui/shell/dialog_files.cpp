// Files that are asked for: by a dialog of the desktop's where there is one, else by one of the window's own;
// and those that were open last.
#include "app/ui/shell/dialog_parts.h"
#include "app/ui/shell/dialogs.h"
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
    if (!native_dialog_) begin_browsing();
}

void Dialogs::begin_browsing() {
    browser_.saves = row_of(dialog_.kind).saves;
    browser_.endings = row_of(dialog_.kind).endings;
    browser_.fence = window_.host.fence;
    browser_.begin(window_.first_folder());
    if (dialog_.text.empty()) browser_.go_to(browser_.folder, dialog_.text);  // so that it can be read where
    browser_.follow(dialog_.text, window_.host.home);
    dialog_.fresh = true;
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
        begin_browsing();
        dialog_.error =
            "The desktop's dialog failed" + (answer->reason.empty() ? "." : ": " + answer->reason);
        return;
    case FileAnswer::Kind::picked:
        dialog_.text = answer->path.string();
        begin_browsing();                  // for what is refused
        dialog_.confirmed = answer->path;  // it asked before it gave a file that is there
        window_.later("", [this] { finish_file(); });
    }
}

bool Dialogs::draw_waiting(Ui& ui, Rect buttons) {
    if (dialog_button(ui, buttons, "dialog.here", "Ask here instead", true, 150)) {
        native_dialog_.reset();
        begin_browsing();
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
    const std::vector<FilePlace> shown = places();
    const BrowserAction action =
        draw_file_browser(ui, room, browser_, dialog_.text, shown, window_.host.home, dialog_.fresh);
    if (dialog_.text != before) dialog_.confirmed.clear(), dialog_.error.clear();
    if (action.forget >= 0)
        std::erase(window_.settings.recent, shown[static_cast<std::size_t>(action.forget)].path.string());
    const bool opens = !row_of(dialog_.kind).saves;
    const char* label = opens ? "Open" : dialog_.confirmed.empty() ? "Save" : "Replace";
    const bool go = dialog_button(ui, buttons, "dialog.ok", label) || action.go;
    if (go && !leaf_of_typed(dialog_.text).empty()) window_.later("", [this] { finish_file(); });
    return dialog_button(ui, buttons, "dialog.cancel", "Cancel");
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
    return typed_in(text, browser_.anchor, window_.host.home);
}

// Done between frames.
void Dialogs::finish_file() {
    browser_.read_again();
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

// ---- places and recent files --------------------------------------------------------------------------

std::vector<FilePlace> Dialogs::places() const {
    std::vector<FilePlace> out;
    if (is_folder(window_.host.home)) out.push_back({"Home", window_.host.home});
    if (const fs::path own = window_.document.path().parent_path();
        is_folder(own) && own != window_.host.home)
        out.push_back({"The plan's folder", own});
    if (const fs::path root = window_.host.home.root_path(); is_folder(root))
        out.push_back({"Computer", root});
    for (std::size_t i = 0; i < std::min(kRecentInDialog, window_.settings.recent.size()); ++i) {
        const fs::path file = window_.settings.recent[i];
        out.push_back({file.filename().string(), file, true, !is_there(file)});
    }
    return out;
}

}  // namespace pentamesh::ui
