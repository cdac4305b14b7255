// Tests a lesson before a room: what it runs is asked once, what was asked about stands on the scale of what
// was, and a course leads to the lesson that follows it.
#include "app/ui/views/table.h"
#include "core/plan/names.h"
#include "core/teach/hand_in.h"
#include "tests/folder.h"
#include "tests/ui/press.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

// Walks to the step of that title.
void walk_to(Driver& d, std::string_view title) {
    LessonSession& l = d.shell.lesson();
    for (std::size_t i = 0; i < l.lesson.steps.size() && l.current()->title != title; ++i)
        d.press({Key::page_down});
    REQUIRE(l.current()->title == title);
    d.settle();
}

}  // namespace

TEST_CASE("a lesson asks once what the room runs; plans, answers and what is handed in follow") {
    const auto home = test::fresh_folder("lesson-software");
    Driver d("mesh-8", {1440, 900}, 1, home);
    d.shell.open_lesson(lesson_file("00-five-cuts"));
    d.settle();
    CHECK(says(d, "WHAT DO YOU RUN?"));
    CHECK(d.plan().training.software == Software::megatron);
    REQUIRE(d.click("lesson.software", 0));  // PyTorch
    d.settle();
    CHECK(d.plan().training.software == Software::torchtitan);
    walk_to(d, "Cut the batch");
    CHECK_FALSE(says(d, "WHAT DO YOU RUN?"));
    LessonSession& l = d.shell.lesson();
    REQUIRE(l.solution.option >= 0);
    CHECK(l.current()->question->options[static_cast<std::size_t>(l.solution.option)].value == "more");
    REQUIRE(d.click("lesson.option", static_cast<std::uint64_t>(l.solution.option)));
    CHECK(l.state().right);
    CHECK(l.why.find("torchtitan reduces it") != std::string::npos);
    // Another software is chosen from the lesson's head: what was answered is asked again.
    REQUIRE(d.click("lesson.run_by"));
    d.settle();
    REQUIRE(d.click("lesson.software", 1));
    d.settle();
    CHECK(l.current()->title == "Cut the batch");
    CHECK(d.plan().training.software == Software::megatron);
    CHECK_FALSE(l.state().shown());
    CHECK(l.current()->question->options[static_cast<std::size_t>(l.solution.option)].value == "same");
    // It stays for the next lesson, and a lesson that is read anew keeps it.
    CHECK(d.shell.settings().lesson_software == name_of(Software::megatron));
    d.shell.open_lesson(lesson_file("02-data-parallel"));
    d.settle();
    CHECK(d.shell.lesson().lesson.software == Software::megatron);
    // A command chooses it too, also while no lesson is open.
    for (const RoomSoftware& room : kRoomSoftware) {
        run_id(d, "lesson.run_by." + std::string(name_of(room.software)));
        CHECK(d.shell.lesson().lesson.software == room.software);
        CHECK(d.shell.settings().lesson_software == name_of(room.software));
    }
    d.shell.leave_lesson();
    d.settle();
    run_id(d, "lesson.run_by.torchtitan");
    d.shell.open_lesson(lesson_file("02-data-parallel"));
    d.settle();
    CHECK(d.shell.lesson().lesson.software == Software::torchtitan);
}

TEST_CASE(
    "after the answer the gap stands once more from 0, as long as before, under the rows of both plans") {
    Driver d("mesh-8", {1440, 900});
    d.shell.open_lesson(lesson_file("00-five-cuts"));
    d.settle();
    walk_to(d, "The gap has a name");
    CHECK_FALSE(says(d, "as long as before"));
    d.shell.lesson().state().revealed = true;
    run_id(d, "lesson.asked");
    d.rest();
    CHECK(says(d, "as long as before"));
    CHECK(says(d, "of the step"));
    run_id(d, "lesson.asked");
    d.rest();
    CHECK_FALSE(says(d, "as long as before"));
}

TEST_CASE("the map in 40 minutes leads to six predictions, whose score closes them") {
    Driver d("mesh-8", {1440, 900});
    d.shell.open_lesson(lesson_file("courses/40-minutes"));
    d.settle();
    LessonSession& l = d.shell.lesson();
    CHECK(l.next_title == "23 Six predictions");
    for (std::size_t i = 1; i < l.lesson.steps.size(); ++i) d.press({Key::page_down});
    REQUIRE(d.click("lesson.next"));
    d.settle();
    REQUIRE(l.lesson.title == "23 Six predictions");
    CHECK(l.lesson.steps.size() == 6);
    for (std::size_t i = 0; i < l.lesson.steps.size(); ++i) {
        CAPTURE(l.current()->title);
        const bool tier = l.current()->question->kind == QuestionKind::tier;
        if (tier) {
            l.state().given.option = l.solution.tier;
        } else {
            l.state().typed = std::to_string(l.solution.answer.number);
        }
        CHECK(judge(l));
        CHECK(l.state().right);
        d.settle();
        if (i + 1 < l.lesson.steps.size()) d.press({Key::page_down});
    }
    CHECK(summary_of(l) == "6 of 6 questions right");
}
