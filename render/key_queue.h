// Keys and letters wait here in the order in which they came. A slow frame has many of them; Dear ImGui takes
// the letters of a frame as one text and its keys as one set. So a frame gets as many as it can tell apart:
// letters, or one key that is a command, never letters and then Tab.
#pragma once

#include <deque>
#include <vector>

namespace pentamesh {

class KeyQueue {
  public:
    // A key went down (press: first, or repeated), or up; or a letter came. Codes and modifiers are GLFW's.
    struct Event {
        bool letter = false;
        unsigned character = 0;  // of a letter, Unicode
        int key = -1, scancode = 0, action = 0, modifiers = 0;
    };
    void add(const Event& event) { events_.push_back(event); }
    // Returns the events of the next frame, removed from the queue. `field_opens` says that a text field is
    // about to have the keyboard, so that commands wait for it.
    [[nodiscard]] std::vector<Event> next_frame(bool field_opens);
    [[nodiscard]] bool empty() const { return events_.empty(); }

  private:
    std::deque<Event> events_;
};

}  // namespace pentamesh
