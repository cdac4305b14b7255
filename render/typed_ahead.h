// Keeps letters that are typed before their text field has the keyboard. A field opens some frames after the
// click or the key that asks for it, and slow frames hold several letters each: none of them is lost, and
// none is a shortcut.
#pragma once

#include <vector>

namespace pentamesh {

// Each Dear ImGui context has one (SurfaceState).
struct TypedAhead {
    std::vector<unsigned> letters;  // Unicode, in the order in which they were typed
    bool entered = false;           // Enter came after them
    bool expected = false;          // a field was announced in this frame
    bool was_expected = false;      // a field was announced in the last frame
    bool focus_takes_text = false;  // a letter now begins to edit what has the keyboard
};

// Says inside a frame that a text field is about to open. Letters of this frame are kept for it; plain keys
// are no shortcuts. It is called in each frame until the field is drawn with `focus_now`.
void expect_text();
// Returns true if a field is about to get the keyboard, so that another frame is needed.
[[nodiscard]] bool text_expected();
// Returns true if a letter that begins a value was typed in this frame, and no text field has the keyboard;
// or letters are kept for a field that is about to open.
[[nodiscard]] bool letter_typed();
// Says that in this frame the control with the keyboard focus takes letters: letters, digits and signs are no
// shortcuts then, other keys are.
void focus_takes_text(bool takes);

// Text fields use it before and after Dear ImGui's own: it gives the kept letters back once the field has the
// keyboard.
class KeepTyped {
  public:
    // `label` is the field's name for Dear ImGui, in the current window; `wanted` says that it is to get the
    // keyboard.
    KeepTyped(const char* label, bool wanted);
    ~KeepTyped();
    KeepTyped(const KeepTyped&) = delete;
    KeepTyped& operator=(const KeepTyped&) = delete;
    // Returns true if Enter was typed after the letters that were given back now.
    [[nodiscard]] bool entered() const { return entered_; }

  private:
    bool wanted_, had_keyboard_, entered_ = false;
    std::vector<unsigned> held_;
    unsigned id_;
};

// FrameContext calls it once a frame begins.
void begin_typed_ahead();

}  // namespace pentamesh
