// Keys and mouse are the same for a window, a test and both releases of Dear ImGui. Positions are
// logical pixels.
#pragma once

#include "render/canvas.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pentamesh {

// clang-format off
enum class Key : std::uint8_t {
    none, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z,
    n0, n1, n2, n3, n4, n5, n6, n7, n8, n9,
    f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12,
    left, right, up, down, home, end, page_up, page_down, insert, del, backspace, enter, escape, tab, space,
    minus, equal, comma, period, slash, semicolon, left_bracket, right_bracket, count
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
// (render/typed_ahead.h).
[[nodiscard]] bool pressed(Chord chord, bool repeat = false);
[[nodiscard]] bool key_down(Key key);
[[nodiscard]] bool text_field_active();
void leave_text_field();  // the keyboard is free again

}  // namespace pentamesh
