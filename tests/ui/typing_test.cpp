// Typed letters go where the user expects them: by Tab, after a click, in slow frames.
#include "render/input.h"
#include "tests/ui/driver.h"

#include <cctype>
#include <cstdint>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

constexpr Chord kEveryField{.key = Key::e, .ctrl = true, .shift = true};

// Types a letter as a keyboard gives it: the key and its text in one frame.
void strike(Driver& d, Key key, std::string_view text) {
    d.input.keys_down = {key};
    d.input.text = text;
    d.frame();
    d.input.keys_down.clear();
    d.frame();
}

void tab_to(Driver& d, Id id) {
    for (int i = 0; i < 400 && d.shell.ui_state().focus != id; ++i) d.press({Key::tab});
    REQUIRE(d.shell.ui_state().focus == id);
}

// Gives press, release and letters in frames without a pause between them, as a slow machine has them.
void click_and_type(Driver& d, std::string_view name, std::string_view text, int letters_a_frame) {
    const auto r = d.shell.ui_state().rect_of(name);
    REQUIRE(r);
    d.move(r->center());
    const auto letters = [&] {
        const auto n = std::min(text.size(), static_cast<std::size_t>(letters_a_frame));
        d.input.text = text.substr(0, n);
        text.remove_prefix(n);
    };
    d.input.down[0] = true;
    if (letters_a_frame > 1) letters();  // the press and letters in one frame
    d.frame();
    d.input.down[0] = false;
    while (!text.empty()) {
        letters();
        d.frame();
    }
    d.settle();
    d.press({Key::enter});
}

}  // namespace

TEST_CASE("a letter typed on a field of the sheet that Tab reached begins its value anew") {
    Driver d("llama-3-70b-3d");
    d.press(kEveryField);
    const Id layers = id_of("editor/model/layers");
    tab_to(d, layers);
    strike(d, Key::n4, "4");
    strike(d, Key::n8, "8");
    d.settle();
    CHECK(d.drawn("editor.edit"));
    d.press({Key::enter});
    CHECK(d.plan().model.layers == 48);
    CHECK(d.shell.ui_state().focus == layers);  // Tab goes on from here
    strike(d, Key::n6, "6");
    d.settle();
    d.press({Key::escape});
    CHECK(d.plan().model.layers == 48);
    CHECK(d.drawn("editor.section"));
}

TEST_CASE("a digit typed on a number of the plan panel that Tab reached is its value and switches no view") {
    Driver d("llama-3-70b-3d");
    const auto view = d.shell.screen().full;
    tab_to(d, id_of("plan.gpus"));
    strike(d, Key::n1, "1");
    strike(d, Key::n0, "0");
    strike(d, Key::n2, "2");
    strike(d, Key::n4, "4");
    d.settle();
    CHECK(d.drawn("edit.gpus"));
    d.press({Key::enter});
    CHECK(d.plan().cluster.gpus == 1024);
    CHECK(d.shell.screen().full == view);
    d.press({Key::tab});
    d.press({Key::escape});
    strike(d, Key::n5, "5");  // with nothing focused it is the view's again
    d.settle();
    CHECK(d.shell.screen().full != view);
}

TEST_CASE("a space presses a value and is no part of what is typed") {
    Driver d("llama-3-70b-3d");
    tab_to(d, id_of("plan.gpus"));
    strike(d, Key::space, " ");
    d.settle();
    REQUIRE(d.drawn("edit.gpus"));
    d.press({Key::enter});
    CHECK(d.plan().cluster.gpus == Driver("llama-3-70b-3d").plan().cluster.gpus);
}

TEST_CASE("what is typed between a click and the field's opening is kept, however slow the frames") {
    for (const int letters : {1, 2, 5, 10}) {
        CAPTURE(letters);
        Driver d("llama-3-70b-3d");
        const auto view = d.shell.screen().full;
        click_and_type(d, "plan.gpus", "19456", letters);
        CHECK(d.plan().cluster.gpus == 19456);
        CHECK(d.shell.screen().full == view);
        d.press(kEveryField);
        click_and_type(d, "editor/model/hidden", "19456", letters);
        CHECK(d.plan().model.hidden == 19456);
    }
}

TEST_CASE("letters typed while Tab brings a field of text to the keyboard are its own") {
    Driver d("llama-3-70b-3d");
    REQUIRE(d.click("view.step"));
    const auto view = d.shell.screen().full;
    tab_to(d, id_of("step.budget"));
    d.press({.key = Key::tab, .shift = true});
    REQUIRE(d.shell.ui_state().focus != id_of("step.budget"));
    d.input.keys_down = {Key::tab};
    d.frame();
    strike(d, Key::n1, "1");
    strike(d, Key::n2, "2");
    d.settle();
    CHECK(d.shell.views().step.budget.text.find("12") != std::string::npos);
    CHECK(d.shell.screen().full == view);
}

namespace {

// Lists what a keyboard reports, in order: letters as they are, "\t" and "\n" as keys, "^" before a chord of
// Ctrl and Shift.
std::vector<KeyQueue::Event> reports_of(std::string_view typed) {
    constexpr int kTab = 258, kEnter = 257, kShiftAndControl = 3;
    std::vector<KeyQueue::Event> out;
    for (std::size_t i = 0; i < typed.size(); ++i) {
        const bool chord = typed[i] == '^';
        if (chord) ++i;
        const bool key = typed[i] == '\t' || typed[i] == '\n';
        const int code = key ? (typed[i] == '\t' ? kTab : kEnter) : std::toupper(typed[i]);
        const int modifiers = chord ? kShiftAndControl : 0;
        out.push_back({.key = code, .action = 1, .modifiers = modifiers});
        if (!chord && !key) out.push_back({.letter = true, .character = static_cast<unsigned>(typed[i])});
        out.push_back({.key = code, .action = 0, .modifiers = modifiers});
    }
    return out;
}

Key key_of(int code) {
    return code == 258 ? Key::tab : code == 257 ? Key::enter : code == 'E' ? Key::e : Key::none;
}

// Gives the window these reports as the platform does, `at_once` of them before each frame.
void report(Driver& d, const std::vector<KeyQueue::Event>& reports, std::size_t at_once) {
    KeyQueue keys;
    bool field_opens = false;
    for (std::size_t i = 0; i < reports.size() || !keys.empty();) {
        for (std::size_t n = 0; n < at_once && i < reports.size(); ++n) keys.add(reports[i++]);
        for (const KeyQueue::Event& e : keys.next_frame(field_opens)) {
            if (e.button >= 0) {
                d.input.mouse = e.mouse;
                d.input.down[static_cast<std::size_t>(e.button)] = e.action == 1;
                continue;
            }
            if (e.letter) d.input.text += static_cast<char>(e.character);
            if (!e.letter && e.action == 1) d.input.keys_down = {key_of(e.key)};
            d.input.ctrl = d.input.shift = d.input.ctrl || e.modifiers != 0;
        }
        d.time_s += 1.0 / 60;
        d.surface.frame(d.input, d.time_s, [&](const FrameInfo& info) {
            d.shell.frame(info);
            field_opens = text_expected();
        });
        d.input.text.clear();
        d.input.keys_down.clear();
        d.input.ctrl = d.input.shift = false;
    }
    d.settle();
}

}  // namespace

TEST_CASE(
    "the sheet opens on its first field, and each Tab's text goes into the next one, in slow frames too") {
    for (const std::size_t at_once : {1, 2, 3, 5, 8, 1000}) {
        CAPTURE(at_once);
        Driver d("single-gpu");
        const auto view = d.shell.screen().full;
        report(d, reports_of("^eours 38b\t64\t6656\t52\t4\t128\t23k\t152k\t\n"), at_once);
        const Model& m = d.plan().model;
        CHECK(m.name == "ours 38b");
        CHECK(m.layers == 64);
        CHECK(m.hidden == 6656);
        CHECK(m.heads == 52);
        CHECK(m.kv_heads == 4);
        CHECK(m.head_dim == 128);
        CHECK(m.ffn == 23 * 1024);
        CHECK(m.vocab == 152 * 1024);
        CHECK(d.shell.screen().full == view);
    }
}

TEST_CASE("a number that is clicked takes what is typed next, and the next click is the window's") {
    for (const std::size_t at_once : {1, 2, 3, 1000}) {
        CAPTURE(at_once);
        Driver d("llama-3-70b-3d");
        const auto clicked = [&](std::string_view name) {
            const auto r = d.shell.ui_state().rect_of(name);
            REQUIRE(r);
            d.move(r->center());
            std::vector<KeyQueue::Event> out;
            for (const int action : {1, 0})
                out.push_back({.action = action, .button = 0, .mouse = r->center()});
            return out;
        };
        std::vector<KeyQueue::Event> reports = clicked("plan.gpus");
        for (const KeyQueue::Event& e : reports_of("512\n")) reports.push_back(e);
        report(d, reports, at_once);
        CHECK(d.plan().cluster.gpus == 512);
        const std::int64_t stages = d.plan().layout.pp;
        report(d, clicked("layout.pp.plus"), at_once);
        CHECK(d.plan().layout.pp > stages);
    }
}
