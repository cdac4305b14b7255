#include "render/key_queue.h"

namespace pentamesh {

namespace {

// The numbers are from GLFW/glfw3.h: codes below 256 are the characters printed on the keys; then come the
// modifiers' keys, and the bits of modifiers.
constexpr int kFirstPrinted = 32, kLastPrinted = 255, kLeftShift = 340, kRightShift = 344,
              kLastModifier = 347;
constexpr int kRelease = 0, kControl = 2, kAlt = 4, kSuper = 8;
// A field that never opens does not hold the keyboard for ever.
constexpr std::size_t kMostHeld = 4096;

enum class Sort { passes, writes, modifier, command };

Sort sort_of(const KeyQueue::Event& e) {
    if (e.letter) return Sort::writes;
    if (e.action == kRelease || e.key == kLeftShift || e.key == kRightShift) return Sort::passes;
    if (e.key > kRightShift - 4 && e.key <= kLastModifier) return Sort::modifier;
    const bool plain = (e.modifiers & (kControl | kAlt | kSuper)) == 0;
    return plain && e.key >= kFirstPrinted && e.key <= kLastPrinted ? Sort::writes : Sort::command;
}

}  // namespace

std::vector<KeyQueue::Event> KeyQueue::next_frame(bool field_opens) {
    bool wrote = false, commanded = false;
    std::size_t n = 0;
    for (; n < events_.size(); ++n) {
        const Sort sort = sort_of(events_[n]);
        if (sort == Sort::writes && commanded) break;
        if (sort == Sort::modifier && (wrote || commanded)) break;
        if (sort == Sort::command && (wrote || commanded)) break;
        if (sort == Sort::command && field_opens && events_.size() < kMostHeld) break;
        wrote = wrote || sort == Sort::writes;
        commanded = commanded || sort == Sort::command;
    }
    const auto end = events_.begin() + static_cast<std::ptrdiff_t>(n);
    std::vector<Event> out(events_.begin(), end);
    events_.erase(events_.begin(), end);
    return out;
}

}  // namespace pentamesh
