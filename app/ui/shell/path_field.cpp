#include "app/ui/shell/path_field.h"

#include "app/ui/kit/rows.h"

#include <algorithm>
#include <functional>

namespace pentamesh::ui {

namespace {

namespace fs = std::filesystem;

constexpr float kNameRow = 24, kFieldHeight = 30, kRecentWidth = 230;

std::string with_separator(const fs::path& folder) {
    std::string text = folder.string();
    if (!text.empty() && text.back() != '/' && text.back() != '\\') text += '/';
    return text;
}

struct Asking {
    Ui& ui;
    PathField& f;
    std::string& typed;
    const fs::path& home;
    bool& fresh;
    PathPicked picked{};

    // The field takes its new text once it has been left.
    void go_to(const fs::path& folder) {
        leave_text_field();
        f.go_to(folder, typed);
        fresh = true;
    }

    void enter(const FolderName& n) {
        const fs::path to = (f.folder / n.name).lexically_normal();
        if (n.folder) return go_to(to.has_filename() ? to : to.parent_path());
        leave_text_field();
        typed = to.string();
        picked.go = true;
    }

    void path_row(Rect row) {
        const std::function<std::string(const std::string&)> complete = [&](const std::string& text) {
            f.follow(text, home);
            f.look(text);
            return completed(text, f.list);
        };
        bool changed = false;
        const bool entered = ui.text_field("dialog.path", row, typed, "path of a file; Tab completes it",
                                           std::exchange(fresh, false), &changed, &complete);
        if (changed) f.follow(typed, home);
        f.look(typed);
        if (!entered) return;
        if (f.cursor >= 0 && f.cursor < static_cast<int>(f.list.names.size()))
            return enter(f.list.names[static_cast<std::size_t>(f.cursor)]);
        std::error_code ignored;
        const fs::path path = typed_in(typed, f.base, home);
        if (!typed.empty() && fs::is_directory(path, ignored))
            go_to(path.has_filename() ? path : path.parent_path());
        else
            picked.go = true;
    }

    bool move_cursor() {
        const int n = static_cast<int>(f.list.names.size()), before = f.cursor;
        if (n == 0) return false;
        if (pressed({Key::down}, true)) f.cursor = std::min(n - 1, f.cursor + 1);
        if (pressed({Key::up}, true)) f.cursor = f.cursor < 0 ? n - 1 : std::max(0, f.cursor - 1);
        return f.cursor != before;
    }

    void name_row(Rect row, std::size_t i, bool matches) {
        const FolderName& n = f.list.names[i];
        const Hit hit = ui.area("dialog.file", row, i, true, false);
        const bool chosen = static_cast<int>(i) == f.cursor;
        row_ground(ui, row, hit, chosen || matches);
        if (chosen) ui.canvas().frame(row, ui.theme().text, 1, 4);
        ui.label(row.inset(8, 0), n.name + (n.folder ? "/" : ""), ui.style());
        if (hit.double_clicked) {
            ui.state().active = 0;  // its release means nothing in the folder that comes
            enter(n);
        } else if (hit.clicked) {
            f.cursor = static_cast<int>(i);
            if (!n.folder) typed = (f.folder / n.name).string();
        }
    }

    void names(Rect room) {
        const bool moved = move_cursor();
        ui.label(room.cut_top(22).inset(8, 0), f.folder.string(), ui.small());
        TextStyle style = ui.small();
        if (!f.list.error.empty()) style.color = ui.theme().bad;
        if (const std::string& why = f.list.error; !why.empty()) {
            ui.canvas().paragraph(room.inset(8, 4), why, style, 18);
            return;
        }
        ScrollArea area(ui, "dialog.files", room, f.scroll, {.wheel_step = 3 * kNameRow});
        const int match = f.cursor < 0 ? first_match(f.list, leaf_of_typed(typed)) : -1;
        for (std::size_t i = 0; i < f.list.names.size(); ++i) {
            Rect row = area.room.cut_top(kNameRow);
            row.w -= 10;  // of the thumb
            const bool matches = static_cast<int>(i) == match;
            if (static_cast<int>(i) == f.cursor && moved) area.show(row);
            if (matches && std::exchange(f.shown_match, match) != match) area.show(row);
            if (!area.sees(row)) continue;
            name_row(row, i, matches);
            if (f.listed.first.empty()) return;  // another folder was gone to
        }
        const bool empty = std::none_of(f.list.names.begin(), f.list.names.end(),
                                        [](const FolderName& n) { return n.name != ".."; });
        if (empty || f.list.cut)
            ui.canvas().text_in(area.room.cut_top(kNameRow).inset(8, 0),
                                empty ? "nothing that serves is here" : "and more: type the name", style);
    }

    void recent_files(Rect room, const std::vector<std::string>& labels) {
        ui.section(room.cut_top(22).inset(8, 0), "RECENT");
        ScrollArea area(ui, "dialog.places", room, f.recent_scroll);
        for (std::size_t i = 0; i < labels.size(); ++i) {
            Rect row = area.room.cut_top(kNameRow);
            row.w -= 10;
            const Hit hit = ui.area("dialog.place", row, i);
            row_ground(ui, row, hit);
            ui.label(row.inset(8, 0), labels[i], ui.style(13, Tone::secondary));
            if (hit.clicked) picked.recent = static_cast<int>(i);
        }
    }
};

}  // namespace

void PathField::begin(fs::path at, std::string& typed, const fs::path& home) {
    folder = base = std::move(at);
    cursor = -1;
    scroll = recent_scroll = {};
    read_again();
    if (typed.empty()) go_to(folder, typed);  // so that it can be read where
    follow(typed, home);
}

void PathField::go_to(fs::path to, std::string& typed) {
    if (!lies_in(to, fence)) return;
    const std::string leaf(leaf_of_typed(typed));
    folder = base = std::move(to);
    typed = saves ? (folder / leaf).string() : with_separator(folder);
    cursor = -1;
    scroll = {};
    read_again();
}

void PathField::follow(std::string_view typed, const fs::path& home) {
    cursor = -1;
    const fs::path to = folder_of_typed(typed, base, home);
    std::error_code ignored;
    if (to == folder || to.empty() || !lies_in(to, fence) || !fs::is_directory(to, ignored)) return;
    folder = to;
    scroll = {};
}

void PathField::look(std::string_view typed) {
    const std::pair now(folder, leaf_of_typed(typed).starts_with('.'));
    if (listed == now && !folder.empty()) return;
    list = list_folder(folder, endings, now.second);
    listed = now;
    cursor = std::min(cursor, static_cast<int>(list.names.size()) - 1);
}

PathPicked draw_path_field(Ui& ui, Rect room, PathField& field, std::string& typed,
                           const std::vector<std::string>& recent, const fs::path& home, bool& fresh) {
    Asking a{ui, field, typed, home, fresh};
    a.path_row(room.cut_top(kFieldHeight));
    room.cut_top(10);
    if (room.w > 520 && !recent.empty()) {
        a.recent_files(room.cut_left(kRecentWidth), recent);
        room.cut_left(16);
    }
    a.names(room);
    return a.picked;
}

}  // namespace pentamesh::ui
