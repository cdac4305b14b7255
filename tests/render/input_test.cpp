#include "render/input.h"
#include "surface_fixture.h"

#include <doctest/doctest.h>
#include <set>
#include <string>

using namespace pentamesh;
using namespace pentamesh::test;

TEST_CASE("A chord is pressed once, in the frame in which its key goes down, with exactly its modifiers") {
    Offscreen surface({100, 100}, 1, fonts());
    SyntheticInput held;
    held.keys_down = {Key::z};
    held.ctrl = true;
    const Chord undo{Key::z, true, false, false}, redo{Key::z, true, true, false}, plain{Key::z};
    int undone = 0, redone = 0, typed = 0;
    double time_s = 0;
    const auto frame = [&](const SyntheticInput& input) {
        surface.frame(input, time_s += 0.01, [&](const FrameInfo&) {
            undone += pressed(undo) ? 1 : 0;
            redone += pressed(redo) ? 1 : 0;
            typed += pressed(plain) ? 1 : 0;
        });
    };
    frame({});
    frame(held);
    frame(held);
    CHECK(undone == 1);
    frame({});
    held.shift = true;
    frame(held);
    CHECK(undone == 1);
    CHECK(redone == 1);
    CHECK(typed == 0);
}

TEST_CASE("A click is told once, at its place in logical pixels, with its release and its double") {
    Offscreen surface({100, 100}, 2, fonts());
    SyntheticInput input;
    input.mouse = {30, 40};
    int clicks = 0, releases = 0, doubles = 0;
    double time_s = 0;
    const auto frame = [&](bool down) {
        input.down[0] = down;
        surface.frame(input, time_s += 0.02, [&](const FrameInfo& info) {
            CHECK(info.mouse == Vec2{30, 40});
            CHECK(info.size == Vec2{100, 100});
            clicks += info.clicked[0] ? 1 : 0;
            releases += info.released[0] ? 1 : 0;
            doubles += info.double_clicked ? 1 : 0;
        });
    };
    for (const bool down : {false, true, true, false, true, false}) frame(down);
    CHECK(clicks == 2);
    CHECK(releases == 2);
    CHECK(doubles == 1);
}

TEST_CASE("Ctrl and + is Ctrl and =, with Shift or without") {
    Offscreen surface({100, 100}, 1, fonts());
    int larger = 0;
    double time_s = 0;
    const auto frame = [&](const SyntheticInput& input) {
        surface.frame(input, time_s += 0.01, [&](const FrameInfo&) {
            larger += pressed({Key::equal, true}) ? 1 : 0;
        });
    };
    SyntheticInput plus;
    plus.keys_down = {Key::equal};
    plus.ctrl = true;
    for (const bool shift : {false, true}) {
        plus.shift = shift;
        frame({});
        frame(plus);
    }
    CHECK(larger == 2);
    plus.ctrl = false;  // a plus that is typed
    frame({});
    frame(plus);
    CHECK(larger == 2);
}

TEST_CASE("Every chord has a text") {
    CHECK(chord_text({Key::z, true, true, false}) == "Ctrl+Shift+Z");
    CHECK(chord_text({Key::f5}) == "F5");
    CHECK(chord_text({Key::n0, true}) == "Ctrl+0");
    std::set<std::string> texts{""};
    for (int k = 1; k < static_cast<int>(Key::count); ++k)
        CHECK(texts.insert(chord_text({static_cast<Key>(k)})).second);  // each key has another
}

TEST_CASE("The demo window of Dear ImGui costs something: the yardstick measures") {
    Offscreen surface({800, 600}, 1, fonts());
    Offscreen::Cost cost;
    for (int i = 0; i < 5; ++i) cost = draw_demo(surface, i / 60.0);
    CHECK(cost.vertices > 500);
    CHECK(cost.build_s > 0);
}
