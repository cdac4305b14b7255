// What is typed before its text field has the keyboard. A field opens some frames after the click or the key
// that asks for it, and slow frames hold several letters each: none of them is lost, and none is a shortcut.
#pragma once

#include <vector>

namespace pentamesh {

// One for each Dear ImGui context (SurfaceState).
struct TypedAhead {
    std::vector<unsigned> letters;  // Unicode, in the order in which they were typed
    bool entered = false;           // Enter came after them
    bool expected = false;          // a field was announced in this frame
    bool was_expected = false;      // or in the last one
    bool focus_takes_text = false;  // a letter now begins to edit what has the keyboard
};

// Inside a frame: a text field is about to open. Letters of this frame are kept for it; plain keys are no
// shortcuts. To be called in each frame until the field is drawn with `focus_now`.
void expect_text();
// A field is on its way to the keyboard: another frame is needed.
[[nodiscard]] bool text_expected();
// A letter that begins a value was typed in this frame, and no text field has the keyboard.
[[nodiscard]] bool letter_typed();
// In this frame what has the keyboard focus takes letters: letters, digits and signs alone are no shortcuts.
void focus_takes_text(bool takes);

// For text fields, before and after Dear ImGui's own: gives back what was kept once the field has the
// keyboard.
class KeepTyped {
  public:
    // `label` as Dear ImGui knows the field, in the current window; `wanted`: it is to get the keyboard.
    KeepTyped(const char* label, bool wanted);
    ~KeepTyped();
    KeepTyped(const KeepTyped&) = delete;
    KeepTyped& operator=(const KeepTyped&) = delete;
    // Enter was typed after the letters that were given back now.
    [[nodiscard]] bool entered() const { return entered_; }

  private:
    bool wanted_, had_keyboard_, entered_ = false;
    std::vector<unsigned> held_;
    unsigned id_;
};

// By FrameContext, once a frame begins.
void begin_typed_ahead();

}  // namespace pentamesh
