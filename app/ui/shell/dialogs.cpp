// What is asked: a file to open or to write, whether changes are kept, what becomes of plans that were left;
// and what this program is.
#include "app/ui/shell/shell.h"
#include "core/base/error.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr float kButton = 104, kButtonGap = 8;
constexpr Vec2 kPad{24, 20};
constexpr float kHead = 28, kField = 30, kAboveButtons = 14, kButtonHeight = 30, kLeftRow = 36;
constexpr std::size_t kMostLeft = 6;  // rows; the others come up as these go

bool asks_for_file(DialogKind kind) {
    return kind == DialogKind::open || kind == DialogKind::save || kind == DialogKind::picture
           || kind == DialogKind::settings;
}

std::string_view head_of(DialogKind kind) {
    switch (kind) {
    case DialogKind::open: return "Open a plan, a config.json, settings or a picture of ours";
    case DialogKind::save: return "Save the plan as";
    case DialogKind::picture: return "Save a picture as";
    case DialogKind::settings: return "Save the settings as";
    case DialogKind::close: return "Keep the changes to this plan?";
    case DialogKind::recover: return "Plans that were not saved";
    case DialogKind::about: return "Pentamesh " PENTAMESH_VERSION;
    case DialogKind::none: break;
    }
    return {};
}

std::string_view words_of(DialogKind kind) {
    if (kind == DialogKind::recover) return "Pentamesh ended before these were saved.";
    if (kind == DialogKind::about)
        return "Lays a training run over a cluster: who talks to whom, over which wire, what each GPU holds, "
               "when it works, how long a step takes, and what is wrong with the layout.\nFonts: Inter and "
               "JetBrains Mono.";
    return {};
}

// "3 minutes ago"
std::string age_text(std::filesystem::file_time_type time) {
    using std::chrono::duration_cast;
    const auto age = std::filesystem::file_time_type::clock::now() - time;
    const auto minutes = std::max<std::int64_t>(0, duration_cast<std::chrono::minutes>(age).count());
    const auto said = [](std::int64_t n, const char* unit) {
        return std::to_string(n) + " " + unit + (n == 1 ? " ago" : "s ago");
    };
    if (minutes < 1) return "less than a minute ago";
    if (minutes < 120) return said(minutes, "minute");
    return minutes < 2880 ? said(minutes / 60, "hour") : said(minutes / 1440, "day");
}

// Of what stands between a dialog's words and its buttons.
float body_height(DialogKind kind, std::size_t left) {
    if (asks_for_file(kind)) return kField;
    if (kind != DialogKind::recover) return 0;
    return kLeftRow * static_cast<float>(std::min(left, kMostLeft) + (left > kMostLeft ? 1 : 0));
}

// Buttons of a dialog's last row, from the right.
bool button(Ui& ui, Rect& row, std::string_view name, std::string_view label) {
    const Rect r = row.cut_right(kButton);
    row.cut_right(kButtonGap);
    return ui.button(name, r, label);
}

void draw_error(Ui& ui, Rect room, const std::string& error) {
    if (error.empty()) return;
    TextStyle s = ui.small();
    s.color = ui.theme().bad;
    room.cut_top(6);
    ui.canvas().paragraph(room, error, s, 18);
}

}  // namespace

void Shell::ask(DialogKind kind, std::string text, std::function<void()> after) {
    dialog_ = {.kind = kind, .text = std::move(text), .after = std::move(after)};
    dirty_ = true;
}

void Shell::close_dialog() {
    dialog_ = {};
    dirty_ = true;
}

void Shell::draw_dialog(Ui& ui) {
    const Vec2 size = ui.frame().size;
    const float wide = dialog_.kind == DialogKind::recover ? 680.0f : 480.0f;  // plans' names beside buttons
    const float w = std::min(wide, size.x - 32);
    const auto height = [&](std::string_view text, const TextStyle& style, float line) {
        return text.empty() ? 0 : ui.canvas().paragraph_height(w - 2 * kPad.x, text, style, line) + 6;
    };
    const std::string_view words = dialog_.kind == DialogKind::close ? dialog_.text : words_of(dialog_.kind);
    const float needed = 2 * kPad.y + kHead + height(words, ui.style(13, Tone::secondary), 20)
                         + body_height(dialog_.kind, left_names_.size())
                         + height(dialog_.error, ui.small(), 18) + kAboveButtons + kButtonHeight;
    const float h = std::min(needed, size.y - 32);
    const Rect box{(size.x - w) / 2, (size.y - h) / 2, w, h};
    const auto layer = ui.open_layer("dialog", box, true);
    Rect room = box.inset(kPad.x, kPad.y);
    Rect buttons = room.cut_bottom(kButtonHeight);
    room.cut_bottom(kAboveButtons);
    ui.canvas().text_in(room.cut_top(kHead - 8), head_of(dialog_.kind),
                        {Face::semibold, 14, ui.theme().text, 0});
    room.cut_top(8);
    if (!words.empty())
        room.cut_top(ui.canvas().paragraph(room, words, ui.style(13, Tone::secondary), 20) + 6);
    bool close = !layer.stays();
    if (asks_for_file(dialog_.kind)) close = draw_file_dialog(ui, room, buttons) || close;
    if (dialog_.kind == DialogKind::recover) close = draw_recovery_dialog(ui, room, buttons) || close;
    if (dialog_.kind == DialogKind::about) close = button(ui, buttons, "dialog.ok", "Close") || close;
    if (dialog_.kind == DialogKind::close) close = draw_close_dialog(ui, buttons) || close;
    if (close) close_dialog();
}

// True: the dialog is done.
bool Shell::draw_close_dialog(Ui& ui, Rect buttons) {
    if (button(ui, buttons, "dialog.save", "Save"))
        later("Save", [this] { save_or_ask(std::move(dialog_.after)); });
    const bool discards = button(ui, buttons, "dialog.discard", "Discard");
    if (discards && dialog_.after) later("Discard", dialog_.after);
    return button(ui, buttons, "dialog.cancel", "Cancel") || discards;
}

// The path of a file, and below it what was wrong with the last one. True: the dialog is done.
bool Shell::draw_file_dialog(Ui& ui, Rect room, Rect buttons) {
    const bool entered =
        ui.text_field("dialog.path", room.cut_top(kField), dialog_.text, "path of a file", dialog_.fresh);
    dialog_.fresh = false;
    draw_error(ui, room, dialog_.error);
    const bool go =
        button(ui, buttons, "dialog.ok", dialog_.kind == DialogKind::open ? "Open" : "Save") || entered;
    if (go && !dialog_.text.empty()) later("", [this] { finish_file_dialog(); });
    return button(ui, buttons, "dialog.cancel", "Cancel");
}

// Done between frames.
void Shell::finish_file_dialog() {
    const std::filesystem::path path = typed_path(dialog_.kind);
    try_in_dialog([&] {
        std::error_code ignored;
        const bool writes = dialog_.kind == DialogKind::save || dialog_.kind == DialogKind::picture
                            || dialog_.kind == DialogKind::settings;
        if (writes && path != document_.path() && path != dialog_.confirmed
            && std::filesystem::is_regular_file(path, ignored)) {
            dialog_.confirmed = path;
            throw Error(ErrorKind::usage, path.string(), "", "is there already. Save again to replace it.");
        }
        switch (dialog_.kind) {
        case DialogKind::open: load_file(path); break;
        case DialogKind::save: {
            save(path);
            const auto after = std::move(dialog_.after);
            close_dialog();
            if (after) after();
            return;
        }
        case DialogKind::picture:
            if (host_.save_picture)
                host_.save_picture(full_ ? std::string(view_of(*full_).name) : "dashboard", path);
            break;
        case DialogKind::settings: save_settings_text(path); break;
        case DialogKind::none:
        case DialogKind::close:
        case DialogKind::recover:
        case DialogKind::about: break;
        }
        close_dialog();
    });
}

// What throws is said in the dialog, which stays.
void Shell::try_in_dialog(const std::function<void()>& act) {
    dirty_ = true;
    try {
        act();
    } catch (const std::exception& e) {
        dialog_.error = e.what();
        dialog_.fresh = true;
    }
}

// A row for each plan that was left: its name, when and how large, and what can be done with it.
bool Shell::draw_recovery_dialog(Ui& ui, Rect room, Rect buttons) {
    const auto& left = recovery_->left();
    for (std::size_t i = 0; i < std::min(left.size(), kMostLeft); ++i) {
        Rect row = room.cut_top(kLeftRow).inset(0, 3);
        if (ui.button("recover.delete", row.cut_right(74), "Delete", i))
            later("Delete", [this, i] { try_in_dialog([&] { forget_left(i); }); });
        row.cut_right(kButtonGap);
        if (ui.button("recover.open", row.cut_right(74), "Open", i))
            later("Open", [this, i] { try_in_dialog([&] { open_left(i); }); });
        row.cut_right(kButtonGap);
        const std::string about =
            age_text(left[i].written) + ", " + std::to_string((left[i].bytes + 1023) / 1024) + " KiB";
        ui.canvas().text_in(row.cut_right(ui.canvas().text_width(about, ui.small()) + 8), about, ui.small(),
                            Align::right);
        if (ui.canvas().text_in(row, left_names_[i], ui.style()) && ui.hovers(row))
            ui.tooltip(left_names_[i]);
    }
    if (left.size() > kMostLeft)
        ui.canvas().text_in(room.cut_top(kLeftRow),
                            "and " + std::to_string(left.size() - kMostLeft) + " more", ui.small());
    draw_error(ui, room, dialog_.error);
    return button(ui, buttons, "dialog.cancel", "Later");
}

}  // namespace pentamesh::ui
