// Keys and letters keep their order over frames.
#include "render/input.h"

#include <doctest/doctest.h>
#include <string>

using pentamesh::KeyQueue;
using pentamesh::Vec2;

namespace {

constexpr int kTab = 258, kControlKey = 341, kShiftKey = 340, kWithControl = 2;

void tap(KeyQueue& keys, int key, int modifiers = 0) {
    keys.add({.key = key, .action = 1, .modifiers = modifiers});
    if (key < 256 && modifiers == 0) keys.add({.letter = true, .character = static_cast<unsigned>(key)});
    keys.add({.key = key, .action = 0, .modifiers = modifiers});
}
void type(KeyQueue& keys, std::string_view text) {
    for (const char c : text) tap(keys, c);
}

// Returns the events of a frame as text: letters as they are, a press as "<code>".
std::string said(const std::vector<KeyQueue::Event>& events) {
    std::string out;
    for (const KeyQueue::Event& e : events) {
        if (e.letter) out += static_cast<char>(e.character);
        if (e.button >= 0) out += e.action == 1 ? "[down]" : "[up]";
        if (!e.letter && e.button < 0 && e.action == 1 && e.key > 255)
            out += "<" + std::to_string(e.key) + ">";
        if (!e.letter && e.button < 0 && e.action == 1 && e.modifiers == kWithControl)
            out += "^" + std::string(1, static_cast<char>(e.key));
    }
    return out;
}

}  // namespace

TEST_CASE("numbers and tabs typed within one slow frame come one after the other") {
    KeyQueue keys;
    type(keys, "5000");
    tap(keys, kTab);
    type(keys, "50");
    tap(keys, kTab);
    tap(keys, kTab);
    type(keys, "2");
    std::vector<std::string> frames;
    while (!keys.empty()) frames.push_back(said(keys.next_frame(false)));
    CHECK(frames == std::vector<std::string>{"5000", "<258>", "50", "<258>", "<258>", "2"});
}

TEST_CASE("commands wait for a field that opens, letters go to it") {
    KeyQueue keys;
    type(keys, "41");
    tap(keys, kTab);
    CHECK(said(keys.next_frame(true)) == "41");
    CHECK(said(keys.next_frame(true)).empty());
    CHECK(said(keys.next_frame(false)) == "<258>");
    CHECK(keys.empty());
}

TEST_CASE("a chord is one frame's, and letters after it are the next one's") {
    KeyQueue keys;
    type(keys, "a");
    keys.add({.key = kControlKey, .action = 1});
    tap(keys, 'S', kWithControl);
    keys.add({.key = kControlKey, .action = 0});
    keys.add({.key = kShiftKey, .action = 1});
    type(keys, "B");
    keys.add({.key = kShiftKey, .action = 0});
    type(keys, "c");
    CHECK(said(keys.next_frame(false)) == "a");
    CHECK(said(keys.next_frame(false)) == "<341>^S<340>");
    CHECK(said(keys.next_frame(false)) == "Bc");
    CHECK(keys.empty());
}

TEST_CASE("a click comes after what was typed before it, and before what was typed after it") {
    KeyQueue keys;
    type(keys, "50");
    tap(keys, kTab);
    type(keys, "2");
    keys.add({.action = 1, .button = 0, .mouse = {7, 9}});
    keys.add({.action = 0, .button = 0, .mouse = {7, 9}});
    type(keys, "x");
    std::vector<std::string> frames;
    // After the Tab a field opens for some frames: neither Tab nor click may come before it has its letters.
    frames.push_back(said(keys.next_frame(false)));
    frames.push_back(said(keys.next_frame(false)));
    frames.push_back(said(keys.next_frame(true)));
    frames.push_back(said(keys.next_frame(true)));
    while (!keys.empty()) frames.push_back(said(keys.next_frame(false)));
    CHECK(frames == std::vector<std::string>{"50", "<258>", "2", "", "[down]", "[up]", "x"});
}

TEST_CASE("a click without keys before it is not late, and a press and its release have a frame each") {
    KeyQueue keys;
    keys.add({.action = 1, .button = 0, .mouse = {7, 9}});
    keys.add({.action = 0, .button = 0, .mouse = {8, 9}});
    const auto first = keys.next_frame(false), second = keys.next_frame(false);
    REQUIRE(first.size() == 1);
    REQUIRE(second.size() == 1);
    CHECK(first[0].action == 1);
    CHECK(first[0].mouse == Vec2{7, 9});
    CHECK(second[0].action == 0);
    CHECK(second[0].mouse == Vec2{8, 9});
}

TEST_CASE("a field that is pressed opens when the button is let go: that does not wait for the field") {
    KeyQueue keys;
    keys.add({.action = 1, .button = 0});
    keys.add({.action = 0, .button = 0});
    type(keys, "4");
    keys.add({.action = 1, .button = 0});
    CHECK(said(keys.next_frame(false)) == "[down]");
    CHECK(said(keys.next_frame(true)) == "[up]");
    CHECK(said(keys.next_frame(true)) == "4");
    CHECK(said(keys.next_frame(true)).empty());  // the next click waits until the field has its letters
    CHECK(said(keys.next_frame(false)) == "[down]");
}
