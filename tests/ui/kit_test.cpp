// Tests only the toolkit, on a surface of its own: no plan, no shell.
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/kit/job.h"
#include "app/ui/kit/menu.h"
#include "app/ui/kit/plot.h"
#include "tests/near.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>

using namespace pentamesh;
using pentamesh::test::near;
using namespace pentamesh::ui;

namespace {

struct Bench {
    UiState state;
    SyntheticInput input;
    double time_s = 0;

    static Offscreen& surface() {
        static Offscreen one({400, 300}, 1, find_fonts(std::filesystem::path(SOURCE_DIR) / "assets"));
        return one;
    }
    void frame(const std::function<void(Ui&)>& draw) {
        surface().frame(input, time_s += 1.0 / 60, [&](const FrameInfo& info) {
            Ui ui(state, info, theme_of(ThemeId::dark), frame_canvas(info));
            draw(ui);
            ui.move_focus();
        });
        input.wheel = 0;
        input.keys_down.clear();
    }
    void press(Key key, const std::function<void(Ui&)>& draw) {
        input.keys_down = {key};
        frame(draw);
        frame(draw);
    }
    void press_at(Vec2 at, const std::function<void(Ui&)>& draw) {
        input.mouse = at;
        frame(draw);
        input.down[0] = true;
        frame(draw);
    }
    void release(const std::function<void(Ui&)>& draw) {
        input.down[0] = false;
        frame(draw);
        frame(draw);
    }
    void click(Vec2 at, const std::function<void(Ui&)>& draw) {
        press_at(at, draw);
        release(draw);
    }
};

}  // namespace

TEST_CASE("two of the same widget have ids of their own in two scopes") {
    Bench b;
    int left = 0, right = 0;
    const auto draw = [&](Ui& ui) {
        const auto both = [&](Rect r, int& count) { count += ui.button("go", r, "Go") ? 1 : 0; };
        both({0, 0, 50, 20}, left);
        const auto scope = ui.scope("b");
        both({100, 0, 50, 20}, right);
        CHECK(ui.id("go") == id_of("b/go"));
    };
    b.frame(draw);
    b.frame(draw);
    REQUIRE(b.state.rect_of("go"));
    REQUIRE(b.state.rect_of("b/go"));
    CHECK(b.state.rect_of("go")->x == 0);
    CHECK(b.state.rect_of("b/go")->x == 100);
    b.click({110, 10}, draw);
    CHECK(left == 0);
    CHECK(right == 1);
    CHECK(id_of("go", 1) != id_of("go", 2));
}

TEST_CASE("a frame left by an exception, inside a layer and a part, leaves the next one whole") {
    Bench b;
    bool fails = false;
    int clicked = 0;
    const auto draw = [&](Ui& ui) {
        if (const auto part = ui.part("part", 0, {0, 0, 200, 200}, 0, rgb(0x101010))) {
            const auto clip = ui.canvas().clip({0, 0, 100, 100});
            const auto scope = ui.scope("inner");
            clicked += ui.button("go", {0, 0, 50, 20}, "Go") ? 1 : 0;
            if (fails) {
                const auto layer = ui.open_layer("dialog", {10, 10, 50, 50});
                throw std::runtime_error("broken");
            }
        }
        CHECK(ui.layer() == 0);
        CHECK(ui.id("x") == id_of("x"));
    };
    for (int i = 0; i < 5; ++i) b.frame(draw);
    const Image before = Bench::surface().read();
    fails = true;
    b.state.redraw_all = true;
    CHECK_THROWS_AS(b.frame(draw), std::runtime_error);
    fails = false;
    for (int i = 0; i < 5; ++i) b.frame(draw);
    CHECK(Bench::surface().read().pixels == before.pixels);
    b.click({10, 10}, draw);
    CHECK(clicked == 1);
}

TEST_CASE("a scroll area goes with the wheel, its thumb and the keys, and no further than its content") {
    Bench b;
    ScrollState scroll;
    const auto draw = [&](Ui& ui) {
        ScrollArea area(ui, "list", {0, 0, 200, 100}, scroll);
        for (std::uint64_t i = 0; i < 20; ++i) ui.button("row", area.room.cut_top(20).inset(0, 1), "row", i);
    };
    b.frame(draw);
    CHECK(scroll.most == 300);
    b.input.mouse = {50, 50};
    b.input.wheel = -1;
    b.frame(draw);
    CHECK(scroll.at == 40);
    b.input.wheel = 3;
    b.frame(draw);
    CHECK(scroll.at == 0);
    b.press(Key::page_down, draw);
    CHECK(scroll.at == 60);
    b.press(Key::page_up, draw);
    CHECK(scroll.at == 0);
    b.press_at({195, 90}, draw);
    CHECK(scroll.at > 200);
    b.input.mouse = {195, 400};
    b.frame(draw);
    CHECK(scroll.at == 300);
    b.release(draw);
    CHECK(scroll.at == 300);

    // The wheel outside of it, and Page Down outside of it, do nothing.
    scroll = {};
    b.input.mouse = {50, 200};
    b.frame(draw);
    b.input.wheel = -1;
    b.frame(draw);
    b.press(Key::page_down, draw);
    CHECK(scroll.at == 0);
}

TEST_CASE("a scroll area follows the keyboard focus, and Home and End go to its ends") {
    Bench b;
    ScrollState scroll;
    bool view_home = false;
    const auto draw = [&](Ui& ui) {
        {
            ScrollArea area(ui, "list", {0, 0, 200, 100}, scroll);
            for (std::uint64_t i = 0; i < 20; ++i)
                ui.button("row", area.room.cut_top(20).inset(0, 1), "row", i);
        }
        view_home = view_home || (!ui.state().keys_scroll && pressed({Key::home}));
    };
    b.frame(draw);
    for (int i = 0; i < 10; ++i) b.press(Key::tab, draw);
    for (int i = 0; i < 3; ++i) b.frame(draw);  // it follows in the next frame, and is found in the one after
    REQUIRE(b.state.focus == id_of("row", 9));
    REQUIRE(b.state.rect_of("row", 9));
    CHECK(b.state.rect_of("row", 9)->bottom() <= 100);
    CHECK(b.state.rect_of("row", 9)->y >= 0);
    b.press(Key::end, draw);
    CHECK(scroll.at == scroll.most);
    b.press(Key::home, draw);
    CHECK(scroll.at == 0);
    CHECK_FALSE(view_home);
    b.state.focus = 0;
    b.frame(draw);
    b.frame(draw);
    b.press(Key::home, draw);
    CHECK(view_home);
}

TEST_CASE("a picture has no thumbs") {
    Bench b;
    b.state.for_picture = true;
    ScrollState scroll;
    const auto draw = [&](Ui& ui) {
        ScrollArea area(ui, "list", {0, 0, 200, 100}, scroll);
        area.room.cut_top(500);
    };
    b.frame(draw);
    b.frame(draw);
    CHECK(scroll.most == 400);
    const Image image = Bench::surface().read();
    for (std::size_t i = 0; i < image.pixels.size(); ++i) REQUIRE(image.pixels[i] == (i % 4 == 3 ? 255 : 0));
}

TEST_CASE("a label that is cut shows the whole text as a tooltip, one that fits has none") {
    Bench b;
    const auto shows = [&](float width) {
        b.input.mouse = {-1, -1};
        const auto draw = [&](Ui& ui) { ui.label({10, 10, width, 20}, "a long label", ui.style()); };
        b.frame(draw);
        const Image away = Bench::surface().read();
        b.input.mouse = {12, 15};
        for (int i = 0; i < 60; ++i) b.frame(draw);
        return Bench::surface().read().pixels != away.pixels;
    };
    CHECK(shows(40));
    CHECK_FALSE(shows(200));
}

TEST_CASE("a tooltip leaves the row that it explains, and nothing of it is covered") {
    Bench b;
    std::vector<TextRun> runs;
    const auto draw = [&](Ui& ui) {
        const Rect row{10, 100, 380, 24};
        if (ui.area("row", row).hovered) ui.tooltip("what the row means");
    };
    b.input.mouse = {30, 102};  // at the row's upper edge: a tooltip at the mouse would lie on it
    Bench::surface().record_text(true);
    for (int i = 0; i < 60; ++i) b.frame(draw);
    runs = Bench::surface().text_runs();
    Bench::surface().record_text(false);
    const auto tip = std::find_if(runs.begin(), runs.end(), [](const TextRun& r) {
        return r.text.find("what the row means") != std::string::npos;
    });
    REQUIRE(tip != runs.end());
    CHECK(tip->at.y >= 124);
}

TEST_CASE("a scale maps its ends to its ends and back, linear and logarithmic") {
    const PlotScale linear{0, 10, ScaleKind::linear, 200, 0}, log{1, 10000, ScaleKind::logarithmic, 0, 400};
    CHECK(linear.at(0) == 200);
    CHECK(linear.at(10) == 0);
    CHECK(linear.at(2.5) == near(150));
    CHECK(log.at(1) == 0);
    CHECK(log.at(100) == near(200));
    CHECK(log.at(10000) == near(400));
    for (const float px : {0.0f, 13.0f, 199.0f}) {
        CHECK(linear.at(linear.value(px)) == near(px));
        CHECK(log.at(log.value(px)) == near(px));
    }
}

TEST_CASE("ticks are 1, 2 or 5 times a power of ten, of the unit, and no more than asked for") {
    const auto linear = [](double low, double high, int n, double unit = 1) {
        return round_ticks({low, high, ScaleKind::linear, 0, 1}, n, unit);
    };
    CHECK(linear(0, 10, 5) == std::vector<double>{0, 2, 4, 6, 8, 10});
    CHECK(linear(0.5, 1.5, 4) == std::vector<double>{0.5, 1, 1.5});
    CHECK(linear(-3, 3, 3) == std::vector<double>{-2, 0, 2});
    const double gib = 1024.0 * 1024 * 1024;
    CHECK(linear(0, 80 * gib, 4, gib) == std::vector<double>{0, 20 * gib, 40 * gib, 60 * gib, 80 * gib});
    CHECK(linear(5, 5, 4) == std::vector<double>{5});
    const auto log = [](double low, double high, int n) {
        return round_ticks({low, high, ScaleKind::logarithmic, 0, 1}, n);
    };
    CHECK(log(1, 1000, 6) == std::vector<double>{1, 10, 100, 1000});
    CHECK(log(1, 1e8, 4).size() <= 5);
    CHECK(log(3, 60, 8) == std::vector<double>{5, 10, 20, 50});
    for (int n = 2; n < 20; ++n)
        for (const double high : {0.013, 1.0, 7.3, 99.0, 12345.0})
            CHECK(linear(0, high, n).size() <= static_cast<std::size_t>(n) + 1);
}

TEST_CASE("the nearest point is the nearest within reach") {
    const std::vector<Vec2> points{{10, 10}, {20, 10}, {100, 100}};
    CHECK(nearest_point(points, {14, 10}) == 0);
    CHECK(nearest_point(points, {17, 12}) == 1);
    CHECK_FALSE(nearest_point(points, {60, 60}).has_value());
    CHECK(nearest_point(points, {60, 60}, 80) == 2);
    CHECK_FALSE(nearest_point({}, {0, 0}).has_value());
}

TEST_CASE("axes leave the plot the room that their labels do not need") {
    Bench b;
    Plot with, without;
    b.frame([&](Ui& ui) {
        const auto label = [](double v) { return std::to_string(static_cast<int>(v)); };
        with = draw_axes(ui, {0, 0, 400, 300}, {.low = 0, .high = 100, .label = label},
                         {.low = 0, .high = 1000, .label = label});
        without = draw_axes(ui, {0, 0, 400, 300}, {.low = 0, .high = 100}, {.low = 0, .high = 1000});
    });
    CHECK(without.area == Rect{0, 0, 400, 300});
    CHECK(with.area.x > 20);
    CHECK(with.area.bottom() < 290);
    CHECK(with.at(0, 0) == Vec2{with.area.x, with.area.bottom()});
    CHECK(with.at(100, 1000).x == near(with.area.right()));
    CHECK(with.at(100, 1000).y == near(with.area.y));
}

TEST_CASE("a kept value is made once for a key") {
    Kept<std::string, std::pair<int, int>> kept;
    int made = 0;
    const auto get = [&](int a, int b) {
        return kept.get({a, b}, [&] { return ++made, std::to_string(a) + "," + std::to_string(b); });
    };
    CHECK(get(1, 2) == "1,2");
    CHECK(get(1, 2) == "1,2");
    CHECK(made == 1);
    CHECK(get(1, 3) == "1,3");
    CHECK(made == 2);
}

TEST_CASE("a kept value says whether it was made now, is filled anew in its place, and can be forgotten") {
    Kept<std::vector<int>> kept;
    CHECK(kept.key() == nullptr);
    CHECK(kept->empty());
    const auto fill = [](std::vector<int>& out) { out.push_back(static_cast<int>(out.size())); };
    CHECK(kept.update(7, fill));
    CHECK_FALSE(kept.update(7, fill));
    CHECK(kept->size() == 1);
    REQUIRE(kept.key() != nullptr);
    CHECK(*kept.key() == 7);
    CHECK(kept.update(8, fill));
    CHECK(*kept == std::vector<int>{0, 1});
    kept.forget();
    CHECK(kept.key() == nullptr);
    CHECK(kept.update(8, fill));
    CHECK(kept->size() == 3);
    CHECK_THROWS(kept.update(9, [](std::vector<int>&) { throw std::runtime_error("no"); }));
    CHECK(kept.key() == nullptr);  // a half-made value does not replace the old one
}

TEST_CASE("a menu moves by arrow keys over what can be chosen, and Enter picks it") {
    Bench b;
    const std::vector<MenuItem> items{
        {.label = "one"}, {.label = "two", .enabled = false}, {.label = "three", .separator = true}};
    MenuState menu;
    MenuResult result;
    const auto draw = [&](Ui& ui) { result = draw_menu(ui, "menu", {10, 10, 50, 20}, items, menu, false); };
    b.frame(draw);
    b.press(Key::down, draw);
    CHECK(menu.cursor == 0);
    b.press(Key::down, draw);
    CHECK(menu.cursor == 2);
    b.press(Key::down, draw);
    CHECK(menu.cursor == 2);
    b.press(Key::home, draw);
    CHECK(menu.cursor == 0);
    b.press(Key::end, draw);
    CHECK(menu.cursor == 2);
    b.input.keys_down = {Key::right};
    b.frame(draw);
    CHECK(result.beside == 1);
    b.frame(draw);
    b.input.keys_down = {Key::enter};
    b.frame(draw);
    CHECK(result.picked == 2);
}

TEST_CASE("the items that a filter leaves come best first, in their own order without one") {
    const std::vector<MenuItem> items{{.label = "spectral"}, {.label = "save as"}, {.label = "open"}};
    CHECK(matching(items, "") == std::vector<std::size_t>{0, 1, 2});
    CHECK(matching(items, "sa") == std::vector<std::size_t>{1});
    CHECK(matching(items, "xyz").empty());
}

TEST_CASE(
    "items that stay are reached whatever is typed, after those that match, and Enter takes none alone") {
    Bench b;
    std::vector<MenuItem> items{
        {.label = "alpha"}, {.label = "beta"}, {.label = "Edit by hand", .stays = true}};
    MenuState state;
    MenuResult last;
    const auto draw = [&](Ui& ui) { last = draw_menu(ui, "m", {10, 10, 100, 20}, items, state, true); };
    for (int i = 0; i < 4; ++i) b.frame(draw);
    CHECK(b.state.rect_of("m", 2));
    b.input.text = "zzzz";
    b.frame(draw);
    b.input.text.clear();
    for (int i = 0; i < 3; ++i) b.frame(draw);
    CHECK_FALSE(b.state.rect_of("m", 0));
    CHECK(b.state.rect_of("m", 2));
    b.input.keys_down = {Key::enter};
    b.frame(draw);
    CHECK(last.picked == -1);
}

TEST_CASE("arrows and minus signs are set as people read them, names keep their hyphens") {
    CHECK(typeset("tp 8 -> 4, -4.65 s (-6 %)") == "tp 8 → 4, −4.65 s (−6 %)");
    CHECK(typeset("makespan - m (F + B)") == "makespan − m (F + B)");
    CHECK(typeset("zb-v, llama-3-70b, (--pipeline-model-parallel-layout)")
          == "zb-v, llama-3-70b, (--pipeline-model-parallel-layout)");
    CHECK(typeset("- a line") == "- a line");
    CHECK(typeset("").empty());
}

TEST_CASE("lengths of sequences are written by 1,024s, where they are some") {
    CHECK(sequence_text(0) == "0");
    CHECK(sequence_text(1000) == "1,000");
    CHECK(sequence_text(8192) == "8K");
    CHECK(sequence_text(131072) == "128K");
    CHECK(sequence_text(1048576) == "1M");
    CHECK(sequence_text(1572864) == "1,536K");
}

TEST_CASE("ordinals end as English ends them") {
    CHECK(ordinal(1) == "1st");
    CHECK(ordinal(2) == "2nd");
    CHECK(ordinal(3) == "3rd");
    CHECK(ordinal(4) == "4th");
    for (const std::int64_t n : {11, 12, 13, 111, 112, 113}) CHECK(ordinal(n) == std::to_string(n) + "th");
    CHECK(ordinal(21) == "21st");
    CHECK(ordinal(1002) == "1,002nd");
}

TEST_CASE(
    "running text is read once: paragraphs over lines, bullets, bold, code in bold, two stars in code") {
    const auto text = "Set **tp = `8`** now,\nand `a**b`.\n- one\n- **two\n  words**,\n\n- three\n \nLast";
    std::string read;
    for (const RichParagraph& p : read_rich(text)) {
        read += (p.apart ? "|" : "") + std::string(p.bullet ? "-" : "");
        for (const RichRun& r : p.runs)
            read += "[" + std::string(r.bold ? "b" : "") + (r.code ? "c" : "") + ":" + r.text + "]";
        read += "\n";
    }
    CHECK(read
          == "|[:Set ][b:tp = ][bc:8][: now, and ][c:a**b][:.]\n-[:one]\n-[b:two   words][:,]\n"
             "|-[:three]\n|[:Last]\n");
    CHECK(without_marks("**tp** is `8`,\nnot 4") == "tp is 8, not 4");
    CHECK(read_rich(" \n").empty());
}

TEST_CASE("a word keeps its pieces and a number its unit") {
    const std::vector<RichParagraph> read = read_rich("a **bold**, 5 GB");
    REQUIRE(read.size() == 1);
    const std::vector<RichWord> words = words_of(read[0]);
    REQUIRE(words.size() == 3);
    REQUIRE(words[1].size() == 2);
    CHECK(words[1][0].text == "bold");
    CHECK(words[1][0].face == Face::semibold);
    CHECK(words[1][1].text == ",");
    CHECK(words[2][0].text == "5 GB");
}
