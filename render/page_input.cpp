#include "render/page_input.h"

#include <utility>

namespace pentamesh {

namespace {

constexpr std::array<std::pair<std::string_view, Key>, 26> kNamed{{
    {"ArrowLeft", Key::left},
    {"ArrowRight", Key::right},
    {"ArrowUp", Key::up},
    {"ArrowDown", Key::down},
    {"Home", Key::home},
    {"End", Key::end},
    {"PageUp", Key::page_up},
    {"PageDown", Key::page_down},
    {"Insert", Key::insert},
    {"Delete", Key::del},
    {"Backspace", Key::backspace},
    {"Enter", Key::enter},
    {"Escape", Key::escape},
    {"Tab", Key::tab},
    {" ", Key::space},
    {"-", Key::minus},
    {"=", Key::equal},
    {"+", Key::equal},
    {",", Key::comma},
    {".", Key::period},
    {"/", Key::slash},
    {";", Key::semicolon},
    {"[", Key::left_bracket},
    {"]", Key::right_bracket},
    {"\\", Key::backslash},
    {"_", Key::minus},
}};

Key offset(Key from, char c, char first) {
    return static_cast<Key>(static_cast<int>(from) + (c - first));
}

}  // namespace

Key key_of_page(std::string_view printed, std::string_view place) {
    if (printed.size() == 1) {
        const char c = printed[0];
        if (c >= 'a' && c <= 'z') return offset(Key::a, c, 'a');
        if (c >= 'A' && c <= 'Z') return offset(Key::a, c, 'A');
        if (c >= '0' && c <= '9') return offset(Key::n0, c, '0');
    }
    for (const auto& [name, key] : kNamed)
        if (printed == name) return key;
    if (printed.size() >= 2 && printed.size() <= 3 && printed[0] == 'F') {
        int number = 0;
        for (const char c : printed.substr(1)) number = c >= '0' && c <= '9' ? number * 10 + (c - '0') : 99;
        if (number >= 1 && number <= 12) return static_cast<Key>(static_cast<int>(Key::f1) + number - 1);
    }
    if (place.size() == 4 && place.starts_with("Key")) return key_of_page(place.substr(3), {});
    if (place.size() == 6 && place.starts_with("Digit")) return key_of_page(place.substr(5), {});
    return Key::none;
}

bool PageInput::fits(const PageEvent& e, const Taken& taken) const {
    switch (e.kind) {
    case PageEvent::Kind::pointer: {
        // A press is seen where the mouse stood in the frame before it, and a move after it is a drag.
        const bool presses = e.down != down_;
        return presses ? !taken.button && !taken.moved : !taken.button;
    }
    case PageEvent::Kind::key: return !taken.key && !taken.text;
    case PageEvent::Kind::wheel: return !taken.button;
    case PageEvent::Kind::text:
    case PageEvent::Kind::leave: return true;
    }
    return true;
}

void PageInput::apply(const PageEvent& e, SyntheticInput& input, Taken& taken) {
    const auto modifiers = [&] { ctrl_ = e.ctrl, shift_ = e.shift, alt_ = e.alt; };
    switch (e.kind) {
    case PageEvent::Kind::pointer:
        taken.moved = taken.moved || e.at.x != at_.x || e.at.y != at_.y;
        taken.button = taken.button || e.down != down_;
        at_ = e.at, down_ = e.down;
        modifiers();
        break;
    case PageEvent::Kind::wheel:
        input.wheel += e.wheel;
        modifiers();
        break;
    case PageEvent::Kind::key:
        taken.key = true;
        std::erase(keys_, e.key);
        if (e.key_down && e.key != Key::none) keys_.push_back(e.key);
        modifiers();
        break;
    case PageEvent::Kind::text:
        taken.text = true;
        input.text += e.text;
        break;
    case PageEvent::Kind::leave:
        keys_.clear();
        down_ = {};
        at_ = {-1, -1};
        ctrl_ = shift_ = alt_ = false;
        break;
    }
}

SyntheticInput PageInput::take(float scale) {
    SyntheticInput input;
    Taken taken;
    while (!waiting_.empty() && fits(waiting_.front(), taken)) {
        apply(waiting_.front(), input, taken);
        waiting_.pop_front();
    }
    input.mouse = at_.x >= 0 ? at_ * (1 / scale) : Vec2{-1, -1};
    input.down = down_;
    input.keys_down = keys_;
    input.ctrl = ctrl_, input.shift = shift_, input.alt = alt_;
    return input;
}

}  // namespace pentamesh
