// Editable text of one line or several, and the layers that lie over the frame: for these the window uses
// Dear ImGui's own windows.
#pragma once

#include "render/surface.h"

#include <functional>
#include <string>
#include <string_view>

namespace pentamesh {

struct TextFieldStyle {
    Color text, hint, selection;
    Face face = Face::regular;
    float size = 13;
};
struct TextFieldResult {
    bool active = false;  // has the keyboard
    bool changed = false;
    bool entered = false;    // Enter was pressed
    bool completed = false;  // Tab was pressed and `complete` knew more
};
// `box` is in logical pixels, text is centred vertically in it, and no ground or frame is drawn. With
// `enabled` false it takes no mouse (a layer lies over it). It is called inside the frame window or a front
// layer. `complete` returns the text that Tab makes, or the text itself where it knows no more; null means
// that Tab is not asked for.
using TextCompletion = std::function<std::string(const std::string&)>;
TextFieldResult text_field(std::string_view id, Rect box, float scale, std::string& utf8,
                           std::string_view hint, const TextFieldStyle& style, bool focus_now, bool enabled,
                           const TextCompletion* complete = nullptr);

// Lines of editable text fill `box` and scroll in it; long ones are wrapped, Enter begins a new one. Undo is
// the caller's: `utf8` may differ from the text that the box left, and is shown then. The caller keeps
// `known` from frame to frame, empty at first. `entered` is never set.
TextFieldResult text_box(std::string_view id, Rect box, float scale, std::string& utf8, std::string& known,
                         const TextFieldStyle& style, bool focus_now, bool enabled);

// The frame window covers the frame: frame_canvas() draws in it. It begins once a frame before anything else.
void begin_frame_window(const FrameInfo& info);
void end_frame_window();
// Begins a transparent window over everything before it; text fields called until end_front_layer() belong to
// it.
[[nodiscard]] Canvas begin_front_layer(std::string_view name, const FrameInfo& info, Page* page = nullptr);
void end_front_layer();

}  // namespace pentamesh
