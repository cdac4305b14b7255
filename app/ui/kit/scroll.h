// A scroll area is a window onto taller content. The wheel and its thumb scroll it; Page Up and Page Down do
// where the mouse or the keyboard focus is inside, Home and End where the focus is. It follows the focus.
#pragma once

#include "app/ui/kit/ui.h"

namespace pentamesh::ui {

struct ScrollState {
    float at = 0;    // logical pixels above the window's top edge
    float most = 0;  // largest `at`, as of the last frame
    Id focus = 0;    // the focused area when last drawn
};

// Clips to `window` while it lives. Draw downwards from `room`'s top and take the used height off it
// (cut_top): so the area learns the height of its content.
class ScrollArea {
  public:
    struct Options {
        float wheel_step = 40;  // logical pixels per notch
        Vec2 pad{};             // between the window's edges and the content
        bool keys = true;       // false: the owner of the area uses these keys
        bool wheel = true;      // false: the wheel means something else now
    };
    ScrollArea(Ui& ui, std::string_view name, Rect window, ScrollState& state, Options options);
    ScrollArea(Ui& ui, std::string_view name, Rect window, ScrollState& state)
        : ScrollArea(ui, name, window, state, Options{}) {}
    ~ScrollArea();
    ScrollArea(const ScrollArea&) = delete;
    ScrollArea& operator=(const ScrollArea&) = delete;

    Rect room;
    // Scrolls until `r`, a place of the content, is seen.
    void show(Rect r);
    [[nodiscard]] bool sees(Rect r) const { return r.bottom() > window_.y && r.y < window_.bottom(); }

  private:
    void take_keys();

    Ui& ui_;
    Rect window_;
    ScrollState& state_;
    Options options_;
    float top_;
    std::size_t first_area_;
    bool thumb_held_ = false, thumb_lit_ = false;
};

}  // namespace pentamesh::ui
