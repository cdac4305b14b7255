#include "render/input.h"

#include "render/imgui_compat.h"
#include "render/surface_state.h"

#include <algorithm>
#include <imgui_internal.h>
#include <initializer_list>

namespace pentamesh {

namespace {

// The numbers are from GLFW/glfw3.h: codes below 256 are the characters printed on the keys; then come the
// modifiers' keys, and the bits of modifiers.
constexpr int kFirstPrinted = 32, kLastPrinted = 255, kLeftShift = 340, kRightShift = 344,
              kLastModifier = 347;
constexpr int kRelease = 0, kControl = 2, kAlt = 4, kSuper = 8;
// A field that never opens does not hold the keyboard for ever.
constexpr std::size_t kMostHeld = 4096;

enum class Sort { passes, writes, modifier, command, button };

Sort sort_of(const KeyQueue::Event& e) {
    if (e.button >= 0) return Sort::button;
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
        if (sort == Sort::button) {  // it has a frame of its own, once a field that opens has what was typed
            // A field that is pressed opens when the button is let go: that never waits for the field.
            const bool goes = !field_opens || events_[n].action == kRelease || events_.size() >= kMostHeld;
            if (n == 0 && goes) n = 1;
            break;
        }
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

namespace {

constexpr unsigned kSpace = 32, kDelete = 127;

std::vector<unsigned> take_letters() {
    ImVector<ImWchar>& queue = ImGui::GetIO().InputQueueCharacters;
    std::vector<unsigned> letters(queue.begin(), queue.end());
    queue.resize(0);
    return letters;
}

// The space that pressed a control is not part of the text typed into it.
void keep_letters(const std::vector<unsigned>& letters) {
    std::vector<unsigned>& kept = surface_state().typed_ahead.letters;
    for (const unsigned letter : letters)
        if (letter > kSpace || (letter == kSpace && !kept.empty())) kept.push_back(letter);
}

}  // namespace

void expect_text() {
    surface_state().typed_ahead.expected = true;
    keep_letters(take_letters());
}

bool text_expected() {
    const TypedAhead& ahead = surface_state().typed_ahead;
    return ahead.expected || ahead.was_expected;
}

bool letter_typed() {
    const ImGuiIO& io = ImGui::GetIO();
    const TypedAhead& ahead = surface_state().typed_ahead;
    if (ahead.was_expected && !ahead.letters.empty()) return true;
    // A field that Tab left in this frame still wants text by Dear ImGui's account.
    if (io.WantTextInput && ImGui::GetActiveID() != 0) return false;
    if (io.KeyCtrl != io.KeyAlt) return false;  // both: AltGr
    const ImVector<ImWchar>& queue = io.InputQueueCharacters;
    return std::any_of(queue.begin(), queue.end(), [](ImWchar c) { return c > kSpace && c != kDelete; });
}

void focus_takes_text(bool takes) {
    surface_state().typed_ahead.focus_takes_text = takes;
}

KeepTyped::KeepTyped(const char* label, bool wanted) : wanted_(wanted), id_(ImGui::GetID(label)) {
    TypedAhead& ahead = surface_state().typed_ahead;
    had_keyboard_ = ImGui::GetActiveID() == id_;
    if (!had_keyboard_) {
        if (text_expected() && enter_went_down()) ahead.entered = true;
        held_ = take_letters();
        return;
    }
    if (!ahead.was_expected || ahead.letters.empty()) return;
    entered_ = ahead.entered;
    const std::vector<unsigned> now = take_letters();
    ImVector<ImWchar>& queue = ImGui::GetIO().InputQueueCharacters;
    for (const auto* letters : std::initializer_list<const std::vector<unsigned>*>{&ahead.letters, &now})
        for (const unsigned letter : *letters) queue.push_back(static_cast<ImWchar>(letter));
    ahead.letters.clear();
    ahead.entered = false;
}

KeepTyped::~KeepTyped() {
    if (had_keyboard_) return;
    if (wanted_ || ImGui::GetActiveID() == id_) {
        surface_state().typed_ahead.expected = true;
        keep_letters(held_);
        return;
    }
    for (const unsigned letter : held_)
        ImGui::GetIO().InputQueueCharacters.push_back(static_cast<ImWchar>(letter));
}

void begin_typed_ahead() {
    TypedAhead& ahead = surface_state().typed_ahead;
    ahead.was_expected = ahead.expected;
    ahead.expected = false;
    if (ahead.was_expected) return;
    ahead.letters.clear();
    ahead.entered = false;
}

}  // namespace pentamesh
