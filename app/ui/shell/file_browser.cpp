#include "app/ui/shell/file_browser.h"

#include "app/ui/kit/format.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace pentamesh::ui {

namespace {

namespace fs = std::filesystem;

constexpr float kFileRow = 24, kPathField = 30, kPlaces = 190, kDateColumn = 120, kSizeColumn = 76,
                kThumbGap = 10;

std::string with_separator(const fs::path& folder) {
    std::string text = folder.string();
    if (!text.empty() && text.back() != '/' && text.back() != '\\') text += '/';
    return text;
}

std::string size_text(std::uintmax_t bytes) {
    return bytes < 1000 ? std::to_string(bytes) + " B" : bytes_text(static_cast<double>(bytes));
}

std::int64_t minutes_since(fs::file_time_type time) {
    const auto age = fs::file_time_type::clock::now() - time;
    return std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::minutes>(age).count());
}

// A folder's tab, or a sheet with a folded corner.
void draw_icon(Ui& ui, Vec2 at, bool folder) {
    Canvas& c = ui.canvas();
    const Color ink = ui.theme().secondary;
    if (folder) {
        c.rect({at.x, at.y + 1, 6, 3}, ink, 1);
        c.rect({at.x, at.y + 3, 13, 8}, ink, 1.5f);
        return;
    }
    c.frame({at.x + 2, at.y, 9, 12}, ink, 1, 1);
    c.line({at.x + 4, at.y + 4}, {at.x + 9, at.y + 4}, ink);
    c.line({at.x + 4, at.y + 7}, {at.x + 9, at.y + 7}, ink);
}

struct Browsing {
    Ui& ui;
    FileBrowser& b;
    std::string& typed;
    const fs::path& home;
    bool& fresh;
    BrowserAction action{};

    // The field takes its new text once it has been left.
    void go_to(const fs::path& folder) {
        leave_text_field();
        b.go_to(folder, typed);
        fresh = true;
    }

    void enter(const FolderEntry& e) {
        if (e.folder) return go_to(b.folder / e.name);
        leave_text_field();
        typed = (b.folder / e.name).string();
        action.go = true;
    }

    void up() {
        if (b.folder.has_parent_path() && b.folder.parent_path() != b.folder) go_to(b.folder.parent_path());
    }

    // The path, with Tab to complete it.
    void path_row(Rect row) {
        if (ui.button("dialog.up", row.cut_left(44), "Up")) up();
        row.cut_left(8);
        const std::function<std::string(const std::string&)> complete = [&](const std::string& text) {
            b.follow(text, home);
            b.look();
            return completed(text, b.list);
        };
        bool changed = false;
        const bool entered = ui.text_field("dialog.path", row, typed, "path of a file; Tab completes it",
                                           std::exchange(fresh, false), &changed, &complete);
        if (changed) b.follow(typed, home);
        b.look();
        if (!entered) return;
        if (b.cursor >= 0 && b.cursor < static_cast<int>(b.list.entries.size())) {
            enter(b.list.entries[static_cast<std::size_t>(b.cursor)]);
            return;
        }
        std::error_code ignored;
        const fs::path path = typed_in(typed, b.anchor, home);
        if (!typed.empty() && fs::is_directory(path, ignored)) {
            go_to(path.has_filename() ? path : path.parent_path());
        } else {
            action.go = true;
        }
    }

    bool move_cursor() {
        const int n = static_cast<int>(b.list.entries.size()), before = b.cursor;
        if (pressed({.key = Key::up, .alt = true})) up();
        if (n == 0) return false;
        if (pressed({Key::down}, true)) b.cursor = std::min(n - 1, b.cursor + 1);
        if (pressed({Key::up}, true)) b.cursor = b.cursor < 0 ? n - 1 : std::max(0, b.cursor - 1);
        return b.cursor != before;
    }

    void sort_head(Rect head) {
        head.cut_right(kThumbGap);
        const Rect size = head.cut_right(kSizeColumn), date = head.cut_right(kDateColumn);
        const auto column = [&](Rect r, const char* label, FileOrder order) {
            const Hit hit = ui.area("dialog.sort", r, static_cast<std::uint64_t>(order));
            const bool on = b.options.order == order;
            const std::string arrow = !on ? "" : b.options.backwards ? " ↑" : " ↓";
            ui.canvas().text_in(r.inset(8, 0), label + arrow,
                                ui.small(on || hit.hovered ? Tone::text : Tone::secondary));
            if (hit.focused) ui.focus_ring(r, 3);
            if (!hit.clicked) return;
            b.options.backwards = on && !b.options.backwards;
            b.options.order = order;
            b.read_again();
        };
        column(head, "Name", FileOrder::name);
        column(date, "Changed", FileOrder::date);
        ui.canvas().text_in(size.inset(8, 0), "Size", ui.small(), Align::right);
    }

    void file_row(Rect row, std::size_t i) {
        const FolderEntry& e = b.list.entries[i];
        Canvas& c = ui.canvas();
        const Hit hit = ui.area("dialog.file", row, i, true, false);
        const bool chosen = static_cast<int>(i) == b.cursor;
        const bool matches = b.cursor < 0 && static_cast<int>(i) == first_match(b.list, leaf_of_typed(typed));
        if (chosen || matches || hit.hovered)
            c.rect(row, ui.theme().raised.alpha(chosen || matches ? 1 : 0.6f), 4);
        if (chosen) c.frame(row, ui.theme().text, 1, 4);
        Rect text = row.inset(8, 0);
        if (!e.folder)
            c.text_in(text.cut_right(kSizeColumn - 8), size_text(e.bytes), ui.small(), Align::right);
        if (e.folder) text.cut_right(kSizeColumn - 8);
        c.text_in(text.cut_right(kDateColumn).inset(8, 0), short_age(e.changed), ui.small());
        draw_icon(ui, {text.x, row.center().y - 6}, e.folder);
        text.cut_left(22);
        ui.label(text, e.name, ui.style());
        if (hit.double_clicked) {
            ui.state().active = 0;  // its release means nothing in the folder that comes
            enter(e);
        } else if (hit.clicked) {
            b.cursor = static_cast<int>(i);
            if (!e.folder) typed = (b.folder / e.name).string();
        }
    }

    void list(Rect room) {
        Canvas& c = ui.canvas();
        const bool moved = move_cursor();
        sort_head(room.cut_top(24));
        c.line({room.x, room.y}, {room.right(), room.y}, ui.theme().hairline);
        room.cut_top(4);
        TextStyle said = ui.small();
        if (!b.list.error.empty()) {
            said.color = ui.theme().bad;
            c.paragraph(room.inset(8, 4), b.list.error, said, 18);
            return;
        }
        if (b.list.entries.empty()) {
            c.paragraph(room.inset(8, 4),
                        b.every_file || b.endings.empty() ? "nothing is here" : "nothing that serves is here",
                        said, 18);
            return;
        }
        ScrollArea area(ui, "dialog.files", room, b.scroll, {.wheel_step = 3 * kFileRow});
        const int match = first_match(b.list, leaf_of_typed(typed));
        for (std::size_t i = 0; i < b.list.entries.size(); ++i) {
            Rect row = area.room.cut_top(kFileRow);
            row.w -= kThumbGap;
            if (static_cast<int>(i) == b.cursor && moved) area.show(row);
            if (static_cast<int>(i) == match && b.cursor < 0 && std::exchange(shown_match, match) != match)
                area.show(row);
            if (!area.sees(row)) continue;
            file_row(row, i);
            if (b.listed.empty()) return;  // another folder was gone to
        }
        if (b.list.cut)
            c.text_in(area.room.cut_top(kFileRow).inset(8, 0), "and more: type the name", ui.small());
    }
    int& shown_match;

    void places(Rect room, const std::vector<FilePlace>& all) {
        ScrollArea area(ui, "dialog.places", room, b.places_scroll);
        bool head = false;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const FilePlace& p = all[i];
            if (p.recent && !std::exchange(head, true)) {
                area.room.cut_top(10);
                ui.section(area.room.cut_top(22).inset(8, 0), "RECENT");
            }
            Rect row = area.room.cut_top(kFileRow);
            row.w -= 8;
            if (p.missing) {
                const Rect cross = row.cut_right(22);
                const Hit hit = ui.area("dialog.forget", cross, i);
                ui.canvas().text_in(cross, "×", ui.style(13, hit.hovered ? Tone::text : Tone::secondary),
                                    Align::center);
                if (hit.focused) ui.focus_ring(cross, 4);
                if (hit.hovered) ui.tooltip("Drop it from the recent files");
                if (hit.clicked) action.forget = static_cast<int>(i);
            }
            const Hit hit = ui.area("dialog.place", row, i, !p.missing);
            const bool here = !p.recent && p.path == b.folder;
            if (here || (hit.hovered && !p.missing))
                ui.canvas().rect(row, ui.theme().raised.alpha(here ? 1 : 0.6f), 4);
            if (hit.focused) ui.focus_ring(row, 4);
            TextStyle style = ui.style(13, p.missing ? Tone::faint : here ? Tone::text : Tone::secondary);
            ui.canvas().text_in(row.inset(8, 0), p.missing ? p.label + " (gone)" : p.label, style);
            if (ui.hovers(row))
                ui.tooltip(p.label + "\n" + p.path.string() + (p.missing ? "\nis not there any more" : ""));
            if (!hit.clicked) continue;
            if (p.recent && !b.saves) {
                typed = p.path.string();
                action.go = true;
            } else {
                go_to(p.recent ? p.path.parent_path() : p.path);
            }
        }
    }

    void foot(Rect row) {
        if (!b.endings.empty()) {
            static constexpr std::array<std::string_view, 2> kFiles{"what serves", "every file"};
            const int to = ui.segments("dialog.filter", row.cut_left(190), kFiles, b.every_file ? 1 : 0);
            if ((to == 1) != b.every_file) {
                b.every_file = to == 1;
                b.read_again();
            }
            row.cut_left(12);
        }
        static constexpr std::array<std::string_view, 2> kHidden{"no hidden files", "hidden files too"};
        const int to = ui.segments("dialog.hidden", row.cut_left(250), kHidden, b.options.hidden ? 1 : 0);
        if ((to == 1) != b.options.hidden) {
            b.options.hidden = to == 1;
            b.read_again();
        }
    }
};

}  // namespace

std::string age_text(fs::file_time_type time) {
    const std::int64_t minutes = minutes_since(time);
    const auto said = [](std::int64_t n, const char* unit) {
        return std::to_string(n) + " " + unit + (n == 1 ? " ago" : "s ago");
    };
    if (minutes < 1) return "less than a minute ago";
    if (minutes < 120) return said(minutes, "minute");
    return minutes < 2880 ? said(minutes / 60, "hour") : said(minutes / 1440, "day");
}

std::string short_age(fs::file_time_type time) {
    return minutes_since(time) < 1 ? "just now" : age_text(time);
}

void FileBrowser::go_to(fs::path to, std::string& typed) {
    if (!lies_in(to, fence)) return;
    const std::string leaf(leaf_of_typed(typed));
    folder = anchor = std::move(to);
    typed = saves ? (folder / leaf).string() : with_separator(folder);
    cursor = -1;
    scroll = {};
    read_again();
}

void FileBrowser::begin(fs::path at) {
    folder = anchor = std::move(at);
    cursor = -1;
    scroll = {};
    read_again();
}

void FileBrowser::follow(std::string_view typed, const fs::path& home) {
    cursor = -1;
    const fs::path to = folder_of_typed(typed, anchor, home);
    std::error_code ignored;
    if (to == folder || to.empty() || !lies_in(to, fence) || !fs::is_directory(to, ignored)) return;
    folder = to;
    scroll = {};
}

void FileBrowser::look() {
    if (listed == folder && !listed.empty()) return;
    options.endings = every_file ? std::vector<std::string>() : endings;
    list = list_folder(folder, options);
    listed = folder;
    cursor = std::min(cursor, static_cast<int>(list.entries.size()) - 1);
}

BrowserAction draw_file_browser(Ui& ui, Rect room, FileBrowser& browser, std::string& typed,
                                const std::vector<FilePlace>& places, const fs::path& home, bool& fresh) {
    Browsing b{ui, browser, typed, home, fresh, {}, browser.shown_match};
    b.path_row(room.cut_top(kPathField));
    room.cut_top(10);
    const Rect foot = room.cut_bottom(26);
    room.cut_bottom(10);
    if (room.w > 520) {
        b.places(room.cut_left(kPlaces), places);
        room.cut_left(16);
    }
    b.list(room);
    b.foot(foot);
    return b.action;
}

}  // namespace pentamesh::ui
