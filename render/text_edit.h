// Editable text of one line or several, and the layers that lie over the frame: the things for which the
// window leans on Dear ImGui's own windows.
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
// `box` in logical pixels, text centred vertically in it, no ground or frame drawn. `enabled` false: takes no
// mouse (a layer lies over it). Call inside the frame window or a front layer. `complete`: what Tab makes of
// the text, the text itself where it knows no more; null: Tab is not asked for.
using TextCompletion = std::function<std::string(const std::string&)>;
TextFieldResult text_field(std::string_view id, Rect box, float scale, std::string& utf8,
                           std::string_view hint, const TextFieldStyle& style, bool focus_now, bool enabled,
                           const TextCompletion* complete = nullptr);

// Lines of editable text that fill `box` and scroll in it; long ones are wrapped, Enter begins a new one.
// What is undone is the caller's: `utf8` may be another text than the box left, and then is what it shows.
// `known`: the caller keeps it from frame to frame, empty at first. Never `entered`.
TextFieldResult text_box(std::string_view id, Rect box, float scale, std::string& utf8, std::string& known,
                         const TextFieldStyle& style, bool focus_now, bool enabled);

// The window that covers the frame: frame_canvas() draws in it. Begin once a frame before anything else.
void begin_frame_window(const FrameInfo& info);
void end_frame_window();
// A transparent window over everything before it; text fields called until end_front_layer() belong to it.
[[nodiscard]] Canvas begin_front_layer(std::string_view name, const FrameInfo& info, Page* page = nullptr);
void end_front_layer();

}  // namespace pentamesh
