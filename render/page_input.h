// A page's events become one state of keys and mouse a frame, and no change is lost.
#pragma once

#include "render/input.h"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace pentamesh {

struct PageEvent {
    enum class Kind : std::uint8_t { pointer, wheel, key, text, leave };
    Kind kind = Kind::leave;
    Vec2 at{-1, -1};  // of a pointer, in pixels of the canvas
    std::array<bool, 3> down{};
    float wheel = 0;
    Key key = Key::none;
    bool key_down = false;
    bool ctrl = false, shift = false, alt = false;
    std::string text{};
};

// Returns a key by the character that the browser says is printed on it, or, where that is no key of ours
// (another alphabet), by its place.
[[nodiscard]] Key key_of_page(std::string_view printed, std::string_view place);

class PageInput {
  public:
    void add(PageEvent event) { waiting_.push_back(std::move(event)); }
    [[nodiscard]] bool waiting() const { return !waiting_.empty(); }
    // Takes the events that fit into one frame: a button or a key changes once, and typing stays in order.
    // Positions are divided by `scale`.
    [[nodiscard]] SyntheticInput take(float scale);

  private:
    struct Taken {
        bool moved = false, button = false, key = false, text = false;
    };
    [[nodiscard]] bool fits(const PageEvent& e, const Taken& taken) const;
    void apply(const PageEvent& e, SyntheticInput& input, Taken& taken);

    std::deque<PageEvent> waiting_;
    Vec2 at_{-1, -1};
    std::array<bool, 3> down_{};
    std::vector<Key> keys_;
    bool ctrl_ = false, shift_ = false, alt_ = false;
};

}  // namespace pentamesh
