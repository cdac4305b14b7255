// Windows ask GLFW here: which screens there are, and which character a key has. GLFW must be started.
#pragma once

#include "render/input.h"
#include "render/surface_state.h"

#include <functional>

struct GLFWwindow;
struct GLFWmonitor;

namespace pentamesh {

// Returns the screen that shows most of a window; the first one where none does; null without any.
[[nodiscard]] GLFWmonitor* screen_under(GLFWwindow* window);
// Returns the first screen that is not that one; null where there is no other.
[[nodiscard]] GLFWmonitor* screen_beside(GLFWwindow* window);
// Returns the factor by which the system enlarges the window's content; 1 where it gives none.
[[nodiscard]] float scale_of_window(GLFWwindow* window);
// Returns that factor times the user's own, within bounds, in sixteenths.
[[nodiscard]] float drawn_scale(GLFWwindow* window, float user_scale);
// Draws a frame of a window's context, after its input was fed, and shows it.
void show_frame(GLFWwindow* window, FrameContext& context, double now_s, int width, int height,
                const std::function<void(const FrameInfo&)>& draw);
// GLFW names a key by its place on an American keyboard. A chord means the character on the key: letters and
// punctuation by the layout, digits too where it has them without Shift. Returns one of GLFW's numbers.
[[nodiscard]] int labelled_key(int key, int scancode);
// Returns the same as our key; Key::none where we have no such key.
[[nodiscard]] Key key_of_glfw(int key, int scancode);

}  // namespace pentamesh
