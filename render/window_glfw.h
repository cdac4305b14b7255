// Windows ask GLFW here: which screens there are, and which character a key has. GLFW must be started.
#pragma once

#include "render/input.h"
#include "render/surface.h"
#include "render/surface_state.h"

#include <functional>
#include <memory>
#include <string>

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

// A second window stands on a screen of its own. It is plain, with the keys and the left mouse button,
// without text fields.

class SecondWindow {
  public:
    // Fills most of the screen that `beside` does not stand on. Throws Error (kind io) where there is no
    // other screen, or the window cannot be opened. `beside` outlives it.
    SecondWindow(const Window& beside, const std::string& title, const FontFiles& fonts);
    ~SecondWindow();
    SecondWindow(const SecondWindow&) = delete;
    SecondWindow& operator=(const SecondWindow&) = delete;
    // Draws one frame of the input since the last one; the other window's frame waits for both.
    WindowEvents frame(float user_scale, const std::function<void(const FrameInfo&)>& draw);

    [[nodiscard]] bool has_input() const;  // since the last frame

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pentamesh
