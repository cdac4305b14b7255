// The plan's notes, written in place. A pause in the typing makes a step of undo; without one the plan takes
// what was typed every second, as part of the same step, so that it is kept against a crash.
#include "app/ui/shell/sheets.h"

#include <algorithm>
#include <utility>

namespace pentamesh::ui {

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
