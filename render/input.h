// Keys and mouse are the same for a window, a test and both releases of Dear ImGui. Positions are
// logical pixels.
#pragma once

#include "render/canvas.h"

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace pentamesh {

// clang-format off
enum class Key : std::uint8_t {
    none, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z,
    n0, n1, n2, n3, n4, n5, n6, n7, n8, n9,
    f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12,
    left, right, up, down, home, end, page_up, page_down, insert, del, backspace, enter, escape, tab, space,
    minus, equal, comma, period, slash, semicolon, left_bracket, right_bracket, backslash, count
};
// clang-format on

struct Chord {
    Key key = Key::none;
    bool ctrl = false, shift = false, alt = false;
    bool operator==(const Chord&) const = default;
};
[[nodiscard]] std::string chord_text(Chord c);  // "Ctrl+Shift+Z"

// One frame's input drives the program without a window.
struct SyntheticInput {
    Vec2 mouse{-1, -1};
    std::array<bool, 3> down{};
    float wheel = 0;
    std::vector<Key> keys_down;  // held in this frame
    bool ctrl = false, shift = false, alt = false;
    std::string text;  // typed, UTF-8
};

// It is called inside a frame. With `repeat` it is true also while the key is held. It is false while a text
// field has the keyboard, unless the chord has Ctrl or Alt or is a function key; so too while a field opens
//.
[[nodiscard]] bool pressed(Chord chord, bool repeat = false);
[[nodiscard]] bool key_down(Key key);
[[nodiscard]] bool text_field_active();
void leave_text_field();  // the keyboard is free again

// Keys, letters and clicks wait here in the order in which they came. A slow frame has many of them; Dear
// ImGui takes the letters of a frame as one text and its keys as one set. So a frame gets as many as it can
// tell apart: letters, or one key that is a command, or one press or release of a button; never letters and
// then Tab, and no click before the keys that were typed before it.

class KeyQueue {
  public:
    // A key or a button of the mouse went down (press: first, or repeated), or up; or a letter came. Codes
    // and modifiers are GLFW's.
    struct Event {
        bool letter = false;
        unsigned character = 0;  // of a letter, Unicode
        int key = -1, scancode = 0, action = 0, modifiers = 0;
        int button = -1;  // of the mouse; < 0: a key or a letter
        Vec2 mouse{};     // where it was then
    };
    void add(const Event& event) { events_.push_back(event); }
    // Returns the events of the next frame, removed from the queue. `field_opens` says that a text field is
    // about to have the keyboard, so that commands wait for it.
    [[nodiscard]] std::vector<Event> next_frame(bool field_opens);
    [[nodiscard]] bool empty() const { return events_.empty(); }

  private:
    std::deque<Event> events_;
};

// Keeps letters that are typed before their text field has the keyboard. A field opens some frames after the
// click or the key that asks for it, and slow frames hold several letters each: none of them is lost, and
// none is a shortcut.

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
