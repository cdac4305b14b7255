// Presets of one's own in the window: a part of the plan is kept under a name, the list of them, taking one
// away.
#include "app/ui/panels/preset_menu.h"
#include "app/ui/shell/dialogs.h"
#include "core/base/error.h"
#include "core/io/own_presets.h"

#include <algorithm>
#include <string>
#include <utility>

namespace pentamesh::ui {

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
