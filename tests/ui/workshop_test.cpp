// Tests tasks, courses and handouts by the window's own controls.
#include "app/ui/shell/lesson_sheet.h"
#include "core/base/files.h"
#include "tests/folder.h"
#include "tests/ui/press.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::ui;

TEST_CASE("a task is judged while the plan is changed, gives three hints and then its solution, and is "
          "remembered") {
    const auto folder = test::fresh_folder("tasks");
    {
        Driver d("mesh-8", {1600, 900}, 1, folder);
        d.shell.open_lesson(lesson_file("20-tasks-fit"));
        d.settle();
        for (int i = 0; i < 4; ++i) d.press({Key::page_down});
        LessonSession& l = d.shell.lesson();
        REQUIRE(l.current()->task);
        CHECK_FALSE(l.task.passed);
        CHECK(l.task.edits == 0);
        CHECK(d.shell.ui_state().rect_of("lesson.restart") == std::nullopt);
        const Plan start = d.plan();
        d.shell.edit_plan(plan_with(start, {"ep=4"}, d.presets), "ep");
        d.settle();
        CHECK(l.task.edits == 1);
        CHECK_FALSE(l.task.passed);
        REQUIRE(d.click("lesson.restart"));
        CHECK(d.plan() == start);
        for (std::size_t i = 1; i <= 3; ++i) {
            CHECK(d.shell.ui_state().rect_of("lesson.solve") == std::nullopt);
            REQUIRE(d.click("lesson.hint"));
            CHECK(l.state().hints == i);
        }
        REQUIRE(d.click("lesson.solve"));
        CHECK(l.task.passed);
        CHECK(d.shell.settings().tasks_done == std::vector<std::string>{l.current()->title});
        d.press({.key = Key::z, .ctrl = true});
        CHECK(d.plan() == start);
        CHECK_FALSE(l.task.passed);
    }
    // Another day: the page of results knows it, and leads to a task that is open.
    Driver d("mesh-8", {1600, 900}, 1, folder);
    CHECK(d.shell.settings().tasks_done.size() == 1);
    run_id(d, "lesson.results");
    REQUIRE(d.click("results.copy"));
    CHECK(d.clipboard.find("Tasks: 1 of ") == 0);
    CHECK(d.clipboard.find("  done  Experts that are everywhere") != std::string::npos);
    REQUIRE(d.click("results.close"));
    CHECK_FALSE(d.click("results.copy"));
    // The file has what was done, and is judged again: the solution was shown, and the plan passes.
    d.shell.settings().learner = "Ada";
    d.shell.settings().recent = {(folder / "mine.plan.json").string()};
    run_id(d, "lesson.results");
    REQUIRE(d.click("results.hand_in"));
    REQUIRE(d.click("dialog.ok"));
    const auto handed = folder / "pentamesh-results-Ada.json";
    const HandIn read = read_hand_in(read_file(handed.string()), handed.string());
    CHECK(read.learner == "Ada");
    REQUIRE(read.lessons.size() == 1);
    const AnswerKey key =
        answer_key(read_lesson(lesson_file("20-tasks-fit"), &d.presets).lesson, nullptr, d.presets);
    CHECK(read.helped == std::vector<std::string>{key.steps.at(4).title});
    const MarkedLesson marked = mark_lesson(read.lessons[0], key, d.presets);
    CHECK(marked.refused.empty());
    CHECK(marked.count(Mark::done) == 1);
    d.press({Key::escape});  // where it was written to
    run_id(d, "lesson.results");
    const Results shown = d.shell.results();
    const auto at =
        std::find_if(shown.begin(), shown.end(), [](const auto& e) { return e.tasks.size() == 8; });
    REQUIRE(at != shown.end());
    REQUIRE(d.click("results.task", static_cast<std::uint64_t>(at - shown.begin()) * 100 + 2));
    CHECK(d.shell.lesson().open);
    CHECK(d.shell.lesson().step == 2);
}

TEST_CASE("courses are in the menu with their minutes, and each opens as one lesson whose scenes fit") {
    Driver d("mesh-8", {1600, 900});
    REQUIRE(d.shell.courses().size() == 4);
    CHECK(std::any_of(d.shell.courses().begin(), d.shell.courses().end(), [](const LessonEntry& e) {
        return e.title == "The map in 40 minutes" && e.minutes == 40;
    }));
    for (const LessonEntry& e : d.shell.courses()) {
        CAPTURE(e.id);
        run_id(d, "course." + e.id);
        LessonSession& l = d.shell.lesson();
        CHECK(l.errors.empty());
        CHECK(l.lesson.minutes == e.minutes);
        CHECK(l.lesson.steps.size() >= 8);
        for (std::size_t i = 0; i < l.lesson.steps.size(); ++i) {
            CAPTURE(l.lesson.steps[i].title);
            CHECK(l.step == i);
            CHECK_MESSAGE(l.scene_error.empty(), l.scene_error);
            CHECK_MESSAGE(l.words.find("(not in this plan)") == std::string::npos, l.words);
            if (l.current()->question) CHECK(l.solution.solvable(l.current()->question->kind));
            if (l.current()->task) CHECK_FALSE(l.task.passed);
            d.press({Key::page_down});
        }
    }
}

TEST_CASE(
    "a course's minutes leave time to read aloud, to answer and to do its tasks, half a day is no longer "
    "than that with breaks, and no two parts have one name") {
    constexpr double kWordsAMinute = 130, kMostMinutes = 190;  // of three hours and a half
    const auto words = [](const std::string& text) {
        std::istringstream in(text);
        return static_cast<double>(std::distance(std::istream_iterator<std::string>(in), {}));
    };
    for (const std::string_view course : {"half-a-day", "know-ddp", "40-minutes", "closed-forms"}) {
        const Lesson lesson = read_lesson(lesson_file("courses/" + std::string(course))).lesson;
        CAPTURE(lesson.title);
        double needed = 0;
        std::set<std::string> parts;
        for (const LessonStep& s : lesson.steps) {
            needed += words_before(s) / kWordsAMinute;
            if (course == "half-a-day") needed += words(s.more) / kWordsAMinute;
            if (s.question) needed += 1 + words(s.question->why) / kWordsAMinute;
            if (s.task) needed += 2 + words(s.task->why) / kWordsAMinute;
            CAPTURE(s.part);
            CHECK((s.part.empty() || parts.insert(s.part).second));
        }
        CHECK(lesson.minutes >= needed);
        CHECK(lesson.minutes <= kMostMinutes);
    }
}

TEST_CASE("the half day ends with a flight that nobody touches") {
    Driver d("mesh-8", {1280, 720});
    run_id(d, "course.half-a-day");
    LessonSession& l = d.shell.lesson();
    CHECK(l.lesson.steps.size() <= 60);
    for (std::size_t i = 1; i < l.lesson.steps.size(); ++i) d.press({Key::page_down});
    REQUIRE(l.current()->covers == std::vector<std::string>{"C40"});
    const ZoomViewState& zoom = d.shell.views().zoom;
    d.frame();
    REQUIRE(zoom.tours);
    int deepest = -1;
    const double began_s = d.time_s;
    for (int i = 0; i < 1800 && zoom.tours; ++i, d.frame()) deepest = std::max(deepest, zoom.filled);
    CHECK(deepest == 5);
    CHECK(d.time_s - began_s > 9);
    CHECK(d.time_s - began_s < 14);
    CHECK(zoom.filled == -1);
    CHECK(says(d, "The columns are yours"));
    d.press({Key::page_up});
    d.press({Key::page_down});
    d.frame();
    CHECK(zoom.tours);
}

TEST_CASE("the handout of the open lesson is saved from the menu") {
    const auto folder = test::fresh_folder("handout");
    Driver d("mesh-8", {1600, 900}, 1, {}, folder);
    d.shell.open_lesson(lesson_file("02-data-parallel"));
    d.settle();
    run_id(d, "lesson.handout");
    CHECK(d.shell.dialog() == DialogKind::handout);
    REQUIRE(d.click("dialog.ok"));
    REQUIRE(d.handouts.size() == 1);
    CHECK(d.handouts[0].filename() == "02-data-parallel.html");
}

TEST_CASE("what a lesson compares with is pinned while its step is shown, and goes with it") {
    Driver d("mesh-8", {1600, 900});
    run_id(d, "edit.pin");
    const Plan own = *d.shell.views().compare.pinned()->plan;
    d.shell.open_lesson(lesson_file("16-why-faster"));
    d.settle();
    REQUIRE(d.shell.views().compare.pinned() != nullptr);
    CHECK(d.shell.views().compare.pinned()->plan->layout.tp == 16);
    CHECK(d.plan().layout.tp == 8);
    d.shell.leave_lesson();
    d.settle();
    REQUIRE(d.shell.views().compare.pinned() != nullptr);
    CHECK(*d.shell.views().compare.pinned()->plan == own);
}

TEST_CASE("a handout as PDF has words, questions and pictures, and its answers at the end") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const FontFiles fonts = find_fonts(std::filesystem::path(SOURCE_DIR) / "assets");
    const auto file = lesson_file("courses/40-minutes");
    const ParsedLesson read = read_lesson(file);
    REQUIRE(read.errors.empty());
    Lesson shortened = read.lesson;
    shortened.steps.resize(3);
    const std::string pdf = lesson_pdf(shortened, presets.plan("mesh-8"), presets, fonts);
    CHECK(pdf.starts_with("%PDF-"));
    CHECK(pdf.size() > 20000);
}

TEST_CASE("an answer that changes the plan has the picture before beside the one after, on one scale") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const FontFiles fonts = find_fonts(std::filesystem::path(SOURCE_DIR) / "assets");
    const Lesson lesson = read_lesson(lesson_file("00-five-cuts")).lesson;
    struct Case {
        std::string title, label;  // that both have: of the GPU's memory, of a time on the axis
    };
    for (const Case& c : std::vector<Case>{{"A wall", "79.6 GiB"}, {"The gap has a name", "1.00 s"}}) {
        CAPTURE(c.title);
        const auto at = std::find_if(lesson.steps.begin(), lesson.steps.end(),
                                     [&](const LessonStep& s) { return s.title == c.title; });
        REQUIRE(at != lesson.steps.end());
        const StepSheet s = sheet_of(lesson, static_cast<std::size_t>(at - lesson.steps.begin()),
                                     presets.plan("mesh-8"), presets);
        const StepPictures pictures = pictures_of(s, presets);
        CHECK(pictures.open);
        REQUIRE(pictures.answered.size() == 2);
        CHECK(pictures.answered[0].plan == s.plan);
        CHECK_FALSE(pictures.answered[0].request.outlined);
        CHECK(pictures.answered[1].request.outlined);
        std::vector<float> places;
        for (const StepPicture& p : pictures.answered) {
            std::vector<TextRun> runs;
            PictureRequest request = p.request;
            request.size = {691, 421};
            request.text_runs = &runs;
            (void)make_picture(presets, p.plan, request, "png", fonts);
            for (const TextRun& run : runs)
                if (run.text == c.label) places.push_back(run.at.x);
        }
        REQUIRE(places.size() == 2);
        CHECK(std::abs(places[0] - places[1]) < 1.5f);
    }
}

TEST_CASE("of a dashboard paper has the plan after the answer alone, and says in words what changed") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const Lesson lesson = read_lesson(lesson_file("14-model-to-layout")).lesson;
    const auto at = std::find_if(lesson.steps.begin(), lesson.steps.end(),
                                 [](const LessonStep& s) { return s.task && s.scene.view == "dashboard"; });
    REQUIRE(at != lesson.steps.end());
    const StepSheet s = sheet_of(lesson, static_cast<std::size_t>(at - lesson.steps.begin()),
                                 presets.plan("mesh-8"), presets);
    const StepPictures pictures = pictures_of(s, presets);
    CHECK(pictures.open);  // next to the question stands the plan before
    REQUIRE(pictures.answered.size() == 1);
    CHECK(pictures.answered[0].plan.layout.pp == 8);
    CHECK(pictures.answered[0].words.find(": memory 1.38 TiB → ") != std::string::npos);
}

TEST_CASE("paper asks for nothing that only a screen does, has the step's title over its picture, and keeps "
          "what Search found with the answers") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    for (const std::string_view course : {"half-a-day", "know-ddp", "40-minutes"}) {
        const ParsedLesson read = read_lesson(lesson_file("courses/" + std::string(course)));
        REQUIRE(read.errors.empty());
        for (std::size_t i = 0; i < read.lesson.steps.size(); ++i) {
            const StepSheet s = sheet_of(read.lesson, i, presets.plan("mesh-8"), presets);
            CHECK(s.plan.name == s.step.title);
            for (const std::string& text : {s.words, s.asked, s.prompt, s.why})
                for (const std::string_view only : {"[[", "]]", "Click", "Drag", "drag its", "Hover",
                                                    "Press ", "Ctrl+", "Escape", "tooltip"}) {
                    CAPTURE(s.step.title);
                    CAPTURE(only);
                    CHECK(text.find(only) == std::string::npos);
                }
            if (s.step.task && s.step.scene.view == "search") CHECK(picture_answers(s));
        }
    }
}
