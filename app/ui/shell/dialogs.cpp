// What is asked in the middle of the window: whether changes are kept, what becomes of plans that were left;
// and what this program is. Files are asked for in shell_files.cpp, presets of one's own in
// shell_presets.cpp.
#include "app/ui/panels/preset_menu.h"
#include "app/ui/shell/dialog_parts.h"
#include "app/ui/shell/file_browser.h"
#include "app/ui/shell/shell.h"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr float kLeftRow = 36;
constexpr std::size_t kMostLeft = 6;  // rows; the others come up as these go

std::string head_of(DialogKind kind, PresetKind preset) {
    switch (kind) {
    case DialogKind::open: return "Open a plan, a config.json, settings or a picture of ours";
    case DialogKind::save: return "Save the plan as";
    case DialogKind::picture: return "A picture of this view";
    case DialogKind::picture_file: return "Save a picture as";
    case DialogKind::table: return "Save the table as";
    case DialogKind::review_second: return "The plan to compare with";
    case DialogKind::written: return "Written";
    case DialogKind::review: return "Export a design review";
    case DialogKind::review_file: return "Save the review as";
    case DialogKind::handout: return "Save the handout as";
    case DialogKind::results: return "Save the results as a picture";
    case DialogKind::runs: return "Add measured runs";
    case DialogKind::settings: return "Save the settings as";
    case DialogKind::close: return "Keep the changes to this plan?";
    case DialogKind::recover: return "Plans that were not saved";
    case DialogKind::about: return "Pentamesh " PENTAMESH_VERSION;
    case DialogKind::missing: return "This file is not there any more";
    case DialogKind::preset: return "Save the " + std::string(word_of(preset)) + " as a preset";
    case DialogKind::presets: return "Presets of your own";
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

}  // namespace

bool asks_for_file(DialogKind kind) {
    return kind == DialogKind::open || kind == DialogKind::save || kind == DialogKind::picture_file
           || kind == DialogKind::table || kind == DialogKind::settings || kind == DialogKind::review_file
           || kind == DialogKind::review_second || kind == DialogKind::handout || kind == DialogKind::results
           || kind == DialogKind::runs;
}

std::string head_of_file(DialogKind kind) {
    return kind == DialogKind::open ? "Open" : head_of(kind, PresetKind::model);
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

void Shell::ask(DialogKind kind, std::string text, std::function<void()> after, std::string error) {
    dialog_ = {.kind = kind, .text = std::move(text), .error = std::move(error), .after = std::move(after)};
    if (asks_for_file(kind)) begin_file_dialog();
    dirty_ = true;
}

void Shell::close_dialog() {
    dialog_ = {};
    native_dialog_.reset();
    dirty_ = true;
}

// Of what stands between a dialog's words and its buttons.
float Shell::dialog_body_height(Ui& ui, float width) const {
    if (dialog_.kind == DialogKind::preset) return preset_dialog_height(ui, width);
    if (dialog_.kind == DialogKind::picture) return picture_dialog_height(ui, width);
    if (dialog_.kind == DialogKind::review) return review_dialog_height(ui, width);
    if (dialog_.kind == DialogKind::presets) return presets_dialog_height(ui, width);
    if (dialog_.kind != DialogKind::recover) return 0;
    const std::size_t left = left_names_.size();
    return kLeftRow * static_cast<float>(std::min(left, kMostLeft) + (left > kMostLeft ? 1 : 0));
}

// True: the dialog is done.
bool Shell::draw_dialog_body(Ui& ui, Rect room, Rect buttons) {
    switch (dialog_.kind) {
    case DialogKind::recover: return draw_recovery_dialog(ui, room, buttons);
    case DialogKind::about: return dialog_button(ui, buttons, "dialog.ok", "Close");
    case DialogKind::close: return draw_close_dialog(ui, buttons);
    case DialogKind::missing: return draw_missing_dialog(ui, buttons);
    case DialogKind::preset: return draw_preset_dialog(ui, room, buttons);
    case DialogKind::presets: return draw_presets_dialog(ui, room, buttons);
    case DialogKind::picture: return draw_picture_dialog(ui, room, buttons);
    case DialogKind::written: return draw_written_dialog(ui, room, buttons);
    case DialogKind::review: return draw_review_dialog(ui, room, buttons);
    case DialogKind::open:
    case DialogKind::save:
    case DialogKind::picture_file:
    case DialogKind::table:
    case DialogKind::review_second:
    case DialogKind::review_file:
    case DialogKind::handout:
    case DialogKind::results:
    case DialogKind::runs:
    case DialogKind::settings:
        return native_dialog_ ? draw_waiting_dialog(ui, buttons) : draw_file_dialog(ui, room, buttons);
    case DialogKind::none: break;
    }
    return true;
}

void Shell::draw_dialog(Ui& ui) {
    const Vec2 size = ui.frame().size;
    const bool files = asks_for_file(dialog_.kind), browses = files && !native_dialog_;
    const bool rows = dialog_.kind == DialogKind::recover || dialog_.kind == DialogKind::presets;
    const bool shows = dialog_.kind == DialogKind::review || dialog_.kind == DialogKind::picture;
    const float wide = shows ? 920.0f : browses ? 820.0f : rows ? 680.0f : 480.0f;
    const float w = std::min(wide, size.x - 32);
    const auto height = [&](std::string_view text, const TextStyle& style, float line) {
        return text.empty() ? 0 : ui.canvas().paragraph_height(w - 2 * kDialogPad.x, text, style, line) + 6;
    };
    const bool says = dialog_.kind == DialogKind::close || dialog_.kind == DialogKind::missing
                      || dialog_.kind == DialogKind::written;
    const std::string_view words = says                      ? dialog_.text
                                   : files && native_dialog_ ? "The desktop's own dialog asks for it."
                                                             : words_of(dialog_.kind);
    const float needed = 2 * kDialogPad.y + kDialogHead + height(words, ui.style(13, Tone::secondary), 20)
                         + dialog_body_height(ui, w - 2 * kDialogPad.x)
                         + height(dialog_.error, ui.small(), 18) + kAboveButtons + kButtonHeight;
    const float h = std::min(browses ? 580.0f : needed, size.y - 32);
    const Rect box{(size.x - w) / 2, (size.y - h) / 2, w, h};
    const auto layer = ui.open_layer("dialog", box, true);
    Rect room = box.inset(kDialogPad.x, kDialogPad.y);
    const Rect buttons = room.cut_bottom(kButtonHeight);
    room.cut_bottom(kAboveButtons);
    ui.canvas().text_in(room.cut_top(kDialogHead - 8), head_of(dialog_.kind, dialog_.preset),
                        {Face::semibold, 14, ui.theme().text, 0});
    room.cut_top(8);
    if (!words.empty())
        room.cut_top(ui.canvas().paragraph(room, words, ui.style(13, Tone::secondary), 20) + 6);
    const bool escaped = !layer.stays();
    if (draw_dialog_body(ui, room, buttons) || escaped) close_dialog();
}

// True: the dialog is done.
bool Shell::draw_close_dialog(Ui& ui, Rect buttons) {
    if (dialog_button(ui, buttons, "dialog.save", "Save"))
        later("Save", [this] { save_or_ask(std::move(dialog_.after)); });
    const bool several = document_.unsaved().size() > 1;
    const bool discards = dialog_button(ui, buttons, "dialog.discard", several ? "Discard all" : "Discard");
    if (discards) later("Discard", [this] { quit_ = true; });
    return dialog_button(ui, buttons, "dialog.cancel", "Cancel") || discards;
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
        const bool asks = dialog_.asks == static_cast<int>(i);
        if (ui.button("recover.delete", row.cut_right(82), asks ? "Delete" : "Delete…", i)) {
            dialog_.asks = asks ? -1 : static_cast<int>(i);
            if (asks) later("Delete", [this, i] { try_in_dialog([&] { forget_left(i); }); });
        }
        row.cut_right(kDialogGap);
        if (asks && ui.button("recover.keep", row.cut_right(74), "Keep", i)) dialog_.asks = -1;
        if (!asks && ui.button("recover.open", row.cut_right(74), "Open", i))
            later("Open", [this, i] { try_in_dialog([&] { open_left(i); }); });
        row.cut_right(kDialogGap);
        const std::string about =
            asks ? "for good?"
                 : age_text(left[i].written) + ", " + std::to_string((left[i].bytes + 1023) / 1024) + " KiB";
        ui.canvas().text_in(row.cut_right(ui.canvas().text_width(about, ui.small()) + 8), about, ui.small(),
                            Align::right);
        if (ui.canvas().text_in(row, left_names_[i], ui.style()) && ui.hovers(row))
            ui.tooltip(left_names_[i]);
    }
    if (left.size() > kMostLeft)
        ui.canvas().text_in(room.cut_top(kLeftRow),
                            "and " + std::to_string(left.size() - kMostLeft) + " more", ui.small());
    dialog_error_text(ui, room, dialog_.error);
    return dialog_button(ui, buttons, "dialog.cancel", "Later");
}

}  // namespace pentamesh::ui
