// A second window stands on a screen of its own. It is plain, with the keys and the left mouse button,
// without text fields.
#pragma once

#include "render/surface.h"

#include <functional>
#include <memory>
#include <string>

namespace pentamesh {

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
