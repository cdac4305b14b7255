// Parts that a window keeps from frame to frame are, to the pixel, as it would draw them anew.
#include "tests/ui/press.h"

#include <doctest/doctest.h>
#include <filesystem>

using namespace pentamesh;
using namespace pentamesh::ui;

TEST_CASE("while only the mouse moves, the other parts are shown as they were, to the pixel") {
    for (const float scale : {1.0f, 1.5f}) {
        Driver d("llama-3.1-405b-16k", {1600, 900}, scale);
        d.surface.draw_when_read(false);
        d.shell.ui_state().check_parts = false;
        for (const Vec2 from : {Vec2{700, 220}, Vec2{140, 420}, Vec2{700, 800}}) {
            for (int i = 0; i < 8; ++i) {
                d.input.mouse = {from.x + static_cast<float>(i), from.y};
                d.frame();
            }
            d.time_s += 1;  // a tooltip that was about to appear has
            for (int i = 0; i < 3; ++i) d.frame();
            const int kept_vertices = d.surface.last_cost().vertices;
            const std::size_t areas = d.shell.ui_state().areas.size();
            const Image kept = d.surface.read();
            d.shell.ui_state().redraw_all = true;
            d.frame();
            CHECK(d.shell.ui_state().areas.size() == areas);
            CHECK(kept_vertices < d.surface.last_cost().vertices * 3 / 4);
            CHECK(d.surface.read().pixels == kept.pixels);
        }
    }
}

TEST_CASE(
    "with two orders side by side the words are kept over both halves, and the picture stays the same") {
    Driver d("llama-3-70b-3d");
    run_command(d, "compare the mesh with the order of torchtitan");
    const Rect left = *d.shell.ui_state().rect_of("mesh.cells"),
               right = *d.shell.ui_state().rect_of("mesh.cells.second");
    CHECK(left.right() < right.x);
    const float gap = (left.right() + right.x) / 2;
    d.surface.draw_when_read(false);
    d.shell.ui_state().check_parts = false;
    for (const Vec2 at : {left.center(), right.center(), Vec2{gap, left.center().y}, Vec2{gap, left.y - 10},
                          Vec2{left.x + 30, left.y - 6}, Vec2{right.x + 30, right.y - 6}}) {
        d.input.mouse = at;
        d.rest();
        const Image kept = d.surface.read();
        d.shell.ui_state().redraw_all = true;
        d.frame();
        CHECK(d.surface.read().pixels == kept.pixels);
    }
}

TEST_CASE("the first frames of a window that is left alone are all the same picture") {
    const std::filesystem::path source(SOURCE_DIR);
    const Presets presets(source / "presets");
    Offscreen surface({1600, 900}, 1, find_fonts(source / "assets"));
    Shell shell(presets, presets.plan("llama-3.1-405b-16k"), {});
    Image second;  // it draws what the first found out
    for (int i = 0; i < 8; ++i) {
        surface.frame({}, i / 60.0, [&](const FrameInfo& info) { shell.frame(info); });
        if (i == 1) second = surface.read();
        if (i > 1) CHECK(surface.read().pixels == second.pixels);
    }
}

TEST_CASE("what is shown as it was comes anew with an edit, a key, another theme and another plan") {
    Driver d("zoom-1024");
    d.surface.draw_when_read(false);
    d.shell.ui_state().check_parts = false;
    const auto rest = [&] {
        d.input.mouse = {700, 230};
        d.rest();
        return d.surface.read().pixels;
    };
    const auto as_drawn_anew = [&] {
        const auto shown = rest();
        d.shell.ui_state().redraw_all = true;
        d.frame();
        return d.surface.read().pixels == shown;
    };
    const auto before = rest();
    d.click("layout.tp.minus");
    CHECK(rest() != before);
    CHECK(as_drawn_anew());
    d.press({.key = Key::z, .ctrl = true});
    CHECK(as_drawn_anew());
    d.shell.settings().theme = ThemeId::light;
    CHECK(as_drawn_anew());
    d.shell.open_plan(d.presets.plan("mesh-8"));
    CHECK(as_drawn_anew());
    d.surface.resize({1280, 720}, 1);
    CHECK(as_drawn_anew());
    d.surface.resize({1280, 720}, 2);
    CHECK(as_drawn_anew());
}
