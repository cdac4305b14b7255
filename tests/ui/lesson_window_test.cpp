// Tests lessons where the window is small or the room large: presenter mode, large type, the keyboard.
#include "core/base/files.h"
#include "render/png.h"
#include "tests/folder.h"
#include "tests/ui/press.h"

#include <algorithm>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <utility>

using namespace pentamesh;
using namespace pentamesh::ui;

TEST_CASE("presenter mode: remote keys walk, answers wait, B blanks, Escape leaves") {
    Driver d("mesh-8", {1280, 720});
    d.shell.open_lesson(lesson_file("01-two-walls"));
    d.settle();
    d.press({Key::f5});
    REQUIRE(d.shell.presenting());
    CHECK_FALSE(d.drawn("layout.tp"));
    LessonSession& l = d.shell.lesson();
    d.press({Key::page_down});
    CHECK(l.step == 1);
    CHECK_FALSE(l.state().shown());
    d.press({Key::r});
    CHECK(l.state().revealed);
    d.press({Key::n});
    CHECK(d.drawn("layout.tp"));
    d.press({Key::b});
    d.press({Key::escape});
    CHECK(d.shell.presenting());
    REQUIRE(d.click("present.step", 3));
    CHECK(l.step == 3);
    d.press({Key::page_up});
    CHECK(l.step == 2);
    d.press({Key::escape});
    CHECK_FALSE(d.shell.presenting());
    CHECK(l.open);
}

TEST_CASE("presented at 1280x720 the words have a third of the window, before an answer and after it") {
    Driver d("mesh-8", {1280, 720});
    for (const std::string_view course : {"40-minutes", "know-ddp"}) {
        d.shell.open_lesson(lesson_file("courses/" + std::string(course)));
        d.settle();
        if (!d.shell.presenting()) d.press({Key::f5});
        LessonSession& l = d.shell.lesson();
        for (; l.step + 1 < l.lesson.steps.size(); d.press({Key::page_down})) {
            CAPTURE(l.current()->title);
            if (!l.current()->question) continue;
            const auto rect = [&](std::string_view name) {
                const auto r = d.shell.ui_state().rect_of(name);
                REQUIRE_MESSAGE(r.has_value(), name);
                return *r;
            };
            const float width = rect("present.leave").right() + 16, foot = rect("present.leave").y;
            CHECK(rect("lesson.reveal").x > width * 2 / 3);
            CHECK(rect("lesson.reveal").bottom() < foot);
            d.press({Key::r});
            d.settle();
            CHECK(rect("lesson.retry").x > width * 2 / 3);
            if (l.asked.first >= 0) CHECK(rect("lesson.asked").right() < width * 2 / 3);  // at the picture
        }
    }
}

TEST_CASE("what a task may change is marked in the plan, and in view") {
    Driver d("mesh-8", {1280, 720});
    d.shell.open_lesson(lesson_file("20-tasks-fit"));
    d.settle();
    d.press({Key::page_down});
    REQUIRE(d.shell.lesson().current()->task->allow == std::vector<std::string>{"layout.zero"});
    for (const bool presented : {false, true}) {
        CAPTURE(presented);
        if (presented) d.press({Key::f5});
        d.settle();
        const auto all = rect_of_marked(d.shell.ui_state(), "mod.zero"),
                   last = d.shell.ui_state().rect_of("mod.zero", 3);
        REQUIRE(all);
        REQUIRE(last);
        CHECK(all->right() == last->right());
        CHECK(all->w > 2 * last->w);
        // Above the presenter's bar, or the window's line of keys.
        CHECK(last->bottom() <= (presented ? d.shell.ui_state().rect_of("present.leave")->y : 720.0f - 30));
    }
}

TEST_CASE("the first task is done by a control that it marks") {
    Driver d("mesh-8", {1280, 720});
    d.shell.open_lesson(lesson_file("20-tasks-fit"));
    d.settle();
    const LessonStep* step = d.shell.lesson().current();
    REQUIRE(step != nullptr);
    CHECK(marked_controls(*step) == std::vector<std::string>{"mod.offload", "mod.recompute"});
    const auto marked = d.shell.ui_state().rect_of("mod.offload");
    REQUIRE(marked);
    CHECK(marked->bottom() <= 720.0f - 30);
    REQUIRE_FALSE(d.shell.evaluation().memory.fits());
    REQUIRE(d.click("mod.offload"));
    REQUIRE(d.click("offload.optimizer", 1));
    CHECK(d.plan().training.offload.optimizer == 1);
    CHECK(d.shell.evaluation().memory.fits());
}

TEST_CASE("a lesson fits small windows and large type") {
    Driver d("mesh-8", {640, 360}, 2);
    for (const auto& [size, scale] : std::initializer_list<std::pair<Vec2, float>>{
             {{640, 360}, 2}, {{1280, 720}, 2}, {{400, 900}, 1}, {{1, 1}, 1}}) {
        d.surface.resize(size, scale);
        d.shell.open_lesson(lesson_file("05-context"));
        d.settle();
        if (size.x >= 400) CHECK(d.drawn("lesson.next"));
        d.press({Key::f5});
        d.settle();
        d.press({Key::f5});
    }
}

// This is for a person: PENTAMESH_LESSON_PICTURES=FOLDER writes every step, asked and answered.
TEST_CASE("pictures of every step are written where they are asked for") {
    const char* folder = std::getenv("PENTAMESH_LESSON_PICTURES");
    if (folder == nullptr) return;
    const char* only = std::getenv("PENTAMESH_LESSON_ONLY");
    const bool light = std::getenv("PENTAMESH_LESSON_LIGHT") != nullptr,
               present = std::getenv("PENTAMESH_LESSON_PRESENT") != nullptr;
    Driver d("mesh-8", {1280, 720});
    if (light) d.shell.settings().theme = ThemeId::light;
    for (const LessonEntry& entry : d.shell.lessons()) {
        if (only != nullptr && !entry.id.starts_with(only)) continue;
        d.shell.open_lesson(entry.file);
        d.settle();
        if (present) d.press({Key::f5});
        for (std::size_t i = 0; i < d.shell.lesson().lesson.steps.size(); ++i) {
            const auto save = [&](const char* what) {
                write_file(std::string(folder) + "/" + entry.id + "-" + std::to_string(i + 1) + what + ".png",
                           encode_png(d.surface.read(), {}));
            };
            save("");
            if (d.shell.lesson().current()->question) {
                d.shell.lesson().state().revealed = true;
                d.settle();
                if (d.shell.lesson().asked.first >= 0) run_id(d, "lesson.asked");
                d.shell.lesson().scroll = 1e5f;
                d.settle();
                save("-answer");
            }
            d.press({Key::page_down});
        }
    }
}

TEST_CASE("where a window is too narrow for lesson and plan, one takes the other's place") {
    Driver d("mesh-8", {640, 360}, 2);
    d.shell.open_lesson(lesson_file("07-modifiers"));  // marks a control of the plan
    d.settle();
    CHECK(d.drawn("lesson.leave"));
    CHECK_FALSE(d.drawn("plan.model"));
    for (int i = 0; i < 40 && d.shell.ui_state().rect_of("lesson.show_plan")->bottom() > d.foot_y(); ++i)
        d.wheel({480, 200}, -1);
    REQUIRE(d.click("lesson.show_plan"));
    CHECK_FALSE(d.drawn("lesson.leave"));
    REQUIRE(d.drawn("mod.zero", 1));
    const auto marked = d.shell.ui_state().rect_of("mod.zero", 1);  // and it is in view
    CHECK(marked->y > 74);
    CHECK(marked->bottom() < 330);
    REQUIRE(d.click("mod.zero", 0));
    CHECK(d.plan().layout.zero == 0);

    d.press({Key::page_down});  // another step: its words
    CHECK(d.shell.lesson().step == 1);
    CHECK(d.drawn("lesson.leave"));
    REQUIRE(d.click("side.tab", 2));  // only the view is shown, and the steps go on
    CHECK_FALSE(d.drawn("lesson.leave"));
    d.press({Key::page_down});
    CHECK(d.shell.lesson().step == 2);
    REQUIRE(d.click("lesson.back"));
    CHECK(d.shell.lesson().step == 1);
    CHECK_FALSE(d.drawn("lesson.leave"));
    REQUIRE(d.click("side.tab", 0));
    CHECK(d.drawn("lesson.leave"));

    d.surface.resize({800, 600}, 1);  // room for a view and one panel, not for both panels
    d.settle();
    CHECK(d.drawn("side.tab", 1));
    CHECK_FALSE(d.drawn("side.tab", 2));
    d.surface.resize({1100, 700}, 1);
    d.settle();
    CHECK_FALSE(d.drawn("side.tab", 0));
    CHECK(d.drawn("plan.model"));
    CHECK(d.drawn("lesson.leave"));
}

TEST_CASE("in a lesson Tab comes to the question first, Escape to the step's view, Page Down past the end to "
          "the next") {
    Driver d("mesh-8", {1440, 900});
    d.shell.open_lesson(std::filesystem::path(SOURCE_DIR) / "assets" / "lessons" / "02-data-parallel.md");
    d.settle();
    const auto first = [&] {
        const LessonStep* step = d.shell.lesson().current();
        return step->question ? first_of_question(step->question->kind) : id_of("lesson.next");
    };
    d.press({.key = Key::tab});
    CHECK(d.shell.ui_state().focus == first());
    d.press({.key = Key::page_down});
    d.press({.key = Key::tab});
    CHECK(d.shell.ui_state().focus == first());
    const auto view = d.shell.full_view();
    d.press({.key = Key::n2});
    d.press({.key = Key::n6});
    d.press({.key = Key::escape});
    d.press({.key = Key::escape});
    CHECK(d.shell.full_view() == view);
    while (d.shell.lesson().step + 1 < d.shell.lesson().lesson.steps.size()) d.press({.key = Key::page_down});
    d.press({.key = Key::page_down});
    CHECK(d.shell.lesson().file.filename() == "02-data-parallel.md");
    d.press({.key = Key::page_down});
    d.settle();
    CHECK(d.shell.lesson().file.filename() == "03-tensor-parallel.md");
}
