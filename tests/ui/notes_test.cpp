// Tests the plan's notes, written in the window.
#include "tests/ui/press.h"

#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

void pause(Driver& d) {
    d.time_s += 2;
    d.settle();
}

}  // namespace

TEST_CASE("notes are typed in lines, a pause makes a step of undo, and the field follows undo") {
    Driver d("mesh-8");
    d.shell.edit_plan(
        [&] {
            Plan p = d.plan();
            p.notes.clear();
            return p;
        }(),
        "no notes");
    run_command(d, "notes of the plan");
    REQUIRE(d.drawn("edit.notes"));
    d.settle();
    d.type("first line");
    d.press({Key::enter});
    d.type("second");
    CHECK(d.plan().notes.empty());  // not in the middle of a word
    pause(d);
    CHECK(d.plan().notes == "first line\nsecond");
    d.type(" and more");
    pause(d);
    CHECK(d.plan().notes == "first line\nsecond and more");
    CHECK(d.shell.document().undo_text() == "Notes");
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.plan().notes == "first line\nsecond");
    d.type("!");  // it goes on with the text that came back
    pause(d);
    CHECK(d.plan().notes == "first line\nsecond!");
    d.press({.key = Key::z, .ctrl = true});
    d.press({.key = Key::z, .ctrl = true, .shift = true});
    CHECK(d.plan().notes == "first line\nsecond!");
    d.type("?");
    REQUIRE(d.click("notes.close"));
    CHECK(d.plan().notes == "first line\nsecond!?");  // text typed without a pause, too
    CHECK_FALSE(d.drawn("edit.notes"));
}

TEST_CASE("long notes are wrapped, and what is written into them has no breaks that nobody typed") {
    Driver d("llama-3-70b-3d");
    std::string words;
    for (int i = 0; i < 120; ++i) words += "word" + std::to_string(i) + " ";
    Plan p = d.plan();
    p.notes = words;
    d.shell.edit_plan(p, "notes");
    run_command(d, "notes of the plan");
    d.settle();
    d.press({.key = Key::home, .ctrl = true});
    d.type("x ");
    pause(d);
    CHECK(d.plan().notes == "x " + words);
    for (int i = 0; i < 3; ++i)
        d.press({Key::down});  // into the middle, then only the letters next to a break are deleted
    d.press({Key::home});
    d.press({Key::backspace});
    pause(d);
    CHECK(d.plan().notes.size() == words.size() + 1);
    CHECK(d.plan().notes.find('\r') == std::string::npos);
    CHECK(d.plan().notes.find('\n') == std::string::npos);
    d.press({Key::end});
    d.press({Key::del});
    pause(d);
    CHECK(d.plan().notes.size() == words.size());
    CHECK(d.plan().notes.find_first_of("\r\n") == std::string::npos);
    d.type("never lost");
    d.press({Key::escape});
    d.settle();
    CHECK_FALSE(d.drawn("edit.notes"));
    CHECK(d.plan().notes.find("never lost") != std::string::npos);
}

TEST_CASE("letters without a pause are the plan's within a second, and one step of undo") {
    Driver d("mesh-8");
    const std::string before = d.plan().notes;
    run_command(d, "notes of the plan");
    d.settle();
    std::string typed;
    double unsaved_s = 0;
    for (int i = 0; i < 12; ++i) {
        d.type("a");
        typed += "a";
        d.time_s += 0.4;
        d.frame();
        unsaved_s = d.plan().notes == before ? unsaved_s + 0.4 : 0;
        CHECK(unsaved_s < 1.3);
    }
    CHECK(d.plan().notes.size() > before.size() + 6);
    pause(d);
    CHECK(d.plan().notes.find(typed) != std::string::npos);
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.plan().notes == before);
}

TEST_CASE("notes that are still typed are asked about when the window closes") {
    Driver d("mesh-8");
    run_command(d, "notes of the plan");
    d.settle();
    d.type("why");
    CHECK_FALSE(d.shell.may_close());
    CHECK(d.shell.dialog() == DialogKind::close);
}
