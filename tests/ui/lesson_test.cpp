// Tests lessons in the window: every step of every lesson is walked, its question answered wrong and right.
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

namespace {

using test::fresh_folder;

void write(const std::filesystem::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
}

Vec2 middle_of_cell(Driver& d, std::int64_t rank) {
    const MeshViewState& mesh = d.shell.views().mesh;
    const CellGrid grid = seen(*mesh.layout, mesh.camera, mesh.cells);
    return cell_position(grid, rank) + grid.cell * 0.5f;
}

// Answers by the panel's own controls: option or tier by a click, numbers and ranks typed.
void give(Driver& d, bool right) {
    LessonSession& l = d.shell.lesson();
    const LessonQuestion& q = *l.current()->question;
    const Solution s = l.solution;
    if (q.kind == QuestionKind::choose || q.kind == QuestionKind::tier) {
        const bool tier = q.kind == QuestionKind::tier;
        const int correct = tier ? s.tier : s.option;
        const auto n =
            tier ? static_cast<int>(d.plan().cluster.tiers.size()) : static_cast<int>(q.options.size());
        const int pick = right || n < 2 ? correct : (correct + 1) % n;
        const auto r = d.shell.ui_state().rect_of(tier ? "lesson.tier" : "lesson.option",
                                                  static_cast<std::uint64_t>(pick));
        REQUIRE(r);
        if (!right) {  // the right one is pressed; a wrong one takes the same way
            l.state().given.option = pick;
            if (n > 2 || tier) {  // of two the other one is right: no second try
                CHECK_FALSE(judge(l));
                CHECK(std::exchange(l.state().missed, n == 2 ? -1 : pick) == pick);
                l.state().given.option = n > 2 ? (correct + 2) % n : pick;
            }
            CHECK(judge(l));
            return;
        }
        // A control that is out of sight is scrolled to, as a person would.
        for (int i = 0; i < 40; ++i) {
            const auto at = d.shell.ui_state().rect_of(tier ? "lesson.tier" : "lesson.option",
                                                       static_cast<std::uint64_t>(pick));
            if (at->bottom() < d.foot_y()) break;
            d.wheel({at->center().x, 300}, -1);
        }
        REQUIRE(d.click(tier ? "lesson.tier" : "lesson.option", static_cast<std::uint64_t>(pick)));
        return;
    }
    std::string& typed = l.state().typed;
    if (q.kind == QuestionKind::number) {
        typed = std::to_string(right ? s.answer.number : s.answer.number * 3 + 7);
    } else if (q.kind == QuestionKind::curve) {
        typed.clear();
        for (const Answer& a : s.options)
            typed += (typed.empty() ? "" : ", ") + std::to_string(right ? a.number : a.number * 3 + 7);
    } else {
        typed = right ? "" : "0";
        for (const std::int64_t rank : s.answer.ranks)
            if (right) typed += std::to_string(rank) + " ";
    }
    CHECK(judge(l) == right);  // the first wrong answer has a second try
    CHECK((right || l.state().remark.find("Try once more") != std::string::npos));
    CHECK((right || judge(l)));
    if (right) d.frame();
}

// Goes through a lesson to a step, counted from 0.
LessonSession& at_step(Driver& d, const std::string& lesson, int step) {
    d.shell.open_lesson(lesson_file(lesson));
    d.settle();
    for (int i = 0; i < step; ++i) d.press({Key::page_down});
    return d.shell.lesson();
}

}  // namespace

TEST_CASE("all lessons are walked step by step, every question answered wrong and right") {
    Driver d("mesh-8", {1040, 640});
    REQUIRE(d.shell.lessons().size() == 24);
    for (const LessonEntry& entry : d.shell.lessons()) {
        CAPTURE(entry.id);
        d.shell.open_lesson(entry.file);
        d.settle();
        LessonSession& l = d.shell.lesson();
        CHECK(l.errors.empty());
        const std::size_t steps = l.lesson.steps.size();
        for (std::size_t i = 0; i < steps; ++i) {
            const LessonStep& step = l.lesson.steps[i];
            CAPTURE(step.title);
            REQUIRE(l.step == i);
            CHECK_MESSAGE(l.scene_error.empty(), l.scene_error);
            if (!step.scene.broken) CHECK(d.shell.evaluation().valid);
            CHECK_MESSAGE(l.words.find("(not in this plan)") == std::string::npos, l.words);
            if (step.scene.view == "dashboard") CHECK_FALSE(d.shell.full_view());
            for (const auto& name : step.scene.highlight) {
                CAPTURE(name);
                const ControlName control = control_of(name);
                if (!l.hidden_answer.covers(kPlanPlace)) CHECK(d.drawn(control.name, control.index));
            }
            for (const auto rank : step.scene.ranks) CHECK(rank < d.shell.evaluation().mesh.world);
            if (step.task) {
                CHECK_FALSE(l.task.passed);
                CHECK(l.hints.size() == 3);
            }
            if (step.question) {
                CHECK_MESSAGE(l.solution.solvable(step.question->kind), l.solution.answer.working);
                CHECK_FALSE(l.state().shown());
                give(d, false);
                CHECK(l.state().answered);
                CHECK_FALSE(l.state().right);
                l.state() = {};
                l.follow = l.refocus = false;
                give(d, true);
                CHECK(l.state().answered);
                CHECK(l.state().right);
                CHECK(l.prompt.find("(not in this plan)") == std::string::npos);
                CHECK(l.why.find("(not in this plan)") == std::string::npos);
                // Controls that the open question covered are there to be used.
                for (const auto& name : step.scene.highlight)
                    CHECK(d.drawn(control_of(name).name, control_of(name).index));
            }
            d.press({Key::page_down});
        }
    }
}

TEST_CASE("a guess that is no number is named, Tab leaves its field, and a lesson leads to the next") {
    Driver d("mesh-8", {1280, 720});
    d.shell.open_lesson(lesson_file("03-tensor-parallel"));
    d.settle();
    d.press({Key::page_down});
    REQUIRE(d.click("lesson.entry"));
    d.type("many");
    d.press({Key::enter});
    CHECK_FALSE(d.shell.lesson().state().answered);
    CHECK(d.shell.lesson().state().remark.find("many") != std::string::npos);
    REQUIRE(d.click("lesson.entry"));
    d.press({Key::tab});
    d.settle();
    CHECK(d.shell.ui_state().focus == id_of("lesson.check"));
    for (int i = 0; i < 4; ++i) d.press({Key::page_down});
    REQUIRE(d.click("lesson.next"));
    d.settle();
    CHECK(d.shell.lesson().file.stem() == "04-pipeline");
    CHECK(d.shell.lesson().step == 0);
}

TEST_CASE("what a step asks for is not read off its words before it is answered") {
    Driver d("mesh-8", {1280, 720});
    LessonSession& l = at_step(d, "03-tensor-parallel", 3);
    REQUIRE(l.current()->question->query == "exposed tp");
    const std::string answer = l.solution.answer.text;
    CHECK(l.words.find(answer) == std::string::npos);
    CHECK(l.words.find("**?**") != std::string::npos);
    d.click("lesson.reveal");
    d.frame();
    CHECK(l.words.find(answer) != std::string::npos);
}

TEST_CASE("a lesson sets the open plan aside and gives it back with its history") {
    Driver d("llama-3.1-405b-16k");
    d.click("layout.tp.minus");
    const Plan mine = d.plan();
    REQUIRE(d.shell.document().modified());
    d.shell.open_lesson(lesson_file("08-mesh"));
    d.settle();
    CHECK(d.plan().name == d.shell.lesson().lesson.steps[0].title);  // the preset's may be an answer
    d.click("layout.tp.minus");
    d.click("lesson.leave");
    CHECK(d.plan() == mine);
    CHECK(d.shell.document().modified());
    CHECK(d.shell.evaluation().mesh.world == 16384);
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.plan().layout.tp == 8);
    CHECK_FALSE(d.shell.lesson().open);
}

TEST_CASE("GPUs are picked by clicking cells, and the mesh gives nothing away before") {
    Driver d("mesh-8", {1600, 1000});
    LessonSession& l = at_step(d, "03-tensor-parallel", 2);
    REQUIRE(l.asks_for_ranks());
    CHECK(l.asked_rank() == 5);
    const auto cells = d.shell.ui_state().rect_of("mesh.cells");
    REQUIRE(cells);
    const Vec2 cell = middle_of_cell(d, 2);
    d.click_at(cell);
    REQUIRE(l.state().picked.size() == 1);
    CHECK(d.shell.selection().rank == -1);
    d.click_at(cell);
    CHECK(l.state().picked.empty());
    l.state().typed = "4";
    d.settle();
    REQUIRE(d.click("lesson.check"));
    CHECK(l.state().right);
    CHECK(d.shell.selection().rank == 5);
    CHECK(d.shell.selection().group == GroupKind::tp);
}

TEST_CASE("an axis is dragged to its tier") {
    Driver d("mesh-8", {1600, 1000});
    LessonSession& l = at_step(d, "12-real-layouts", 5);
    REQUIRE(l.current()->question->kind == QuestionKind::tier);
    const auto chip = d.shell.ui_state().rect_of("lesson.chip"),
               tier = d.shell.ui_state().rect_of("lesson.tier", static_cast<std::uint64_t>(l.solution.tier));
    REQUIRE(chip);
    REQUIRE(tier);
    d.drag(chip->center(), tier->center());
    CHECK(l.state().right);
}

TEST_CASE("a lesson is gone through by keyboard alone") {
    Driver d("mesh-8", {1600, 1000});
    d.press({.key = Key::p, .ctrl = true});
    d.type("1 the two walls");
    d.press({Key::enter});
    LessonSession& l = d.shell.lesson();
    REQUIRE(l.open);
    const Id right = id_of("lesson.option", static_cast<std::uint64_t>(l.solution.option));
    for (int i = 0; i < 120 && d.shell.ui_state().focus != right; ++i) d.press({Key::tab});
    REQUIRE(d.shell.ui_state().focus == right);
    d.press({Key::enter});
    CHECK(l.state().right);
    d.press({Key::page_down});
    CHECK(l.step == 1);
    d.press({Key::page_up});
    CHECK(l.step == 0);
    const Id leave = id_of("lesson.leave");
    for (int i = 0; i < 120 && d.shell.ui_state().focus != leave; ++i) d.press({Key::tab});
    d.press({Key::enter});
    CHECK_FALSE(l.open);
}

TEST_CASE("words, answer and what was judged are of the step's own plan, and a link goes back to it") {
    Driver d("mesh-8", {1600, 1000});
    LessonSession& l = at_step(d, "08-mesh", 2);
    const std::string words = l.words;
    const Plan own = d.plan();
    CHECK(l.solution.answer.number == 4);
    CHECK_FALSE(d.drawn("lesson.own_plan"));
    d.click("layout.tp.plus");
    d.settle();
    REQUIRE_FALSE(d.plan() == own);
    CHECK(l.solution.answer.number == 4);
    CHECK(l.words == words);
    l.state().typed = "4";
    d.settle();
    REQUIRE(d.click("lesson.check"));
    CHECK(l.state().right);
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.plan() == own);
    d.press({.key = Key::z, .ctrl = true, .shift = true});
    CHECK(l.state().right);
    REQUIRE(d.click("lesson.own_plan"));
    CHECK(d.plan() == own);
    CHECK_FALSE(d.drawn("lesson.own_plan"));
}

TEST_CASE("a wrong answer says where it comes from, and the next guess is typed in its place") {
    Driver d("mesh-8", {1600, 1000});
    LessonSession& l = at_step(d, "03-tensor-parallel", 0);
    REQUIRE(d.click("lesson.entry"));
    d.type("8");
    d.press({Key::enter});
    d.settle();
    CHECK(l.state().tries == 1);
    CHECK(l.state().remark.find("That is with tp 8, as this plan has it.") != std::string::npos);
    d.press({.key = Key::a, .ctrl = true});
    d.type("4");
    d.press({Key::enter});
    CHECK(l.state().right);
    CHECK_FALSE(says(d, "That is with tp 8"));
    CHECK_FALSE(d.shell.full_view() == ViewId::map);  // "4" was no key of a view
}

TEST_CASE("where one GPU is asked for, the last click counts") {
    Driver d("mesh-8", {1600, 1000});
    LessonSession& l = at_step(d, "03-tensor-parallel", 2);
    d.click_at(middle_of_cell(d, 2));
    const std::vector<std::int64_t> first = l.state().picked;
    d.click_at(middle_of_cell(d, 6));
    CHECK(l.state().picked.size() == 1);
    CHECK(l.state().picked != first);
}

TEST_CASE("how far one came in a course is kept between runs, and gone on with") {
    const auto folder = fresh_folder("course-kept");
    const auto course =
        std::filesystem::path(SOURCE_DIR) / "assets" / "lessons" / "courses" / "40-minutes.md";
    {
        Driver d("mesh-8", {1600, 1000}, 1, folder / "config");
        d.shell.open_lesson(course);
        d.settle();
        give(d, true);
        d.press({Key::page_down});
        d.press({Key::page_down});
        d.settle();
        CHECK(d.shell.lesson().step == 2);
    }  // closed in the middle
    Driver d("mesh-8", {1600, 1000}, 1, folder / "config");
    d.shell.open_lesson(course);
    d.settle();
    LessonSession& l = d.shell.lesson();
    CHECK(l.step == 0);
    CHECK_FALSE(l.state().answered);  // it asks again
    CHECK(says(d, "You came to step 3: go on there"));
    REQUIRE(d.click("lesson.continue"));
    CHECK(l.step == 2);
    CHECK(summary_of(l) == "1 of 15 questions right; 0 of 4 tasks done");
    run_command(d, "results of the tasks");
    CHECK(says(d, "The map in 40 minutes"));
    CHECK(says(d, "1 of 15 questions right"));  // a task is no question
}

TEST_CASE("a task's hints are about the plan that it begins with") {
    Driver d("mesh-8", {1600, 1000});
    LessonSession& l = at_step(d, "14-model-to-layout", 2);
    REQUIRE(l.current()->task);
    const std::vector<std::string> hints = l.hints;
    REQUIRE(hints.size() == 3);
    d.shell.edit_plan(plan_with(d.plan(), {"tp=8", "pp=4", "layout.zero=1"}, d.presets), "a try");
    d.settle();
    CHECK(l.hints == hints);
    CHECK(l.task.passed);
}

TEST_CASE("which axis sends least is not read off the table of messages before it is answered") {
    Driver d("mesh-8", {1600, 1000});
    d.shell.open_lesson(lesson_file("04-pipeline"));
    d.settle();
    d.press({Key::n6});
    REQUIRE(d.shell.full_view() == ViewId::comm);
    CHECK(says(d, "The answer stands here"));
    REQUIRE(d.click("lesson.reveal"));
    CHECK_FALSE(says(d, "The answer stands here"));
}

TEST_CASE("a lesson that its author edits is read again, and mistakes are shown without losing it") {
    const auto folder = fresh_folder("lesson-reload");
    const auto file = folder / "mine.md";
    const std::string text = "---\ntitle: Mine\n---\n\n## One\nopen: mesh-8\nview: mesh\n\nWords.\n";
    write(file, text);
    Driver d("single-gpu");
    d.shell.open_file(file);
    d.settle();
    REQUIRE(d.shell.lesson().open);
    CHECK(d.shell.lesson().words == "Words.");
    const auto later = [&](int seconds) {
        std::filesystem::last_write_time(file, std::filesystem::last_write_time(file)
                                                   + std::chrono::seconds(seconds));
        d.time_s += 2;
        d.settle();
    };
    write(file, text + "More of them.\n");
    later(5);
    CHECK(d.shell.lesson().words.find("More") != std::string::npos);
    write(file, "---\ntitle: Mine\n---\n\n## One\nopen: mesh-8\nview: kitchen\n\nWords.\n");
    later(10);
    REQUIRE_FALSE(d.shell.lesson().errors.empty());
    CHECK(d.shell.lesson().errors[0].line == 7);
    CHECK(d.shell.lesson().words.find("More") != std::string::npos);
}

TEST_CASE("a lesson is one of tasks only where every step is a task") {
    const auto folder = fresh_folder("lesson-tasks");
    const std::string head = "---\ntitle: Tasks\n---\n\n",
                      task = "## Faster\nopen: mesh-8\nview: step\n\nWords.\n\n"
                             "```task\nprompt: Make it fit.\ngoal: memory.fits\nwhy: It fits.\n```\n\n",
                      words = "## Words\nopen: mesh-8\nview: mesh\n\nWords.\n\n";
    write(folder / "all.md", head + task + task);
    write(folder / "none.md", head + words);
    write(folder / "some.md", head + task + words);
    const std::vector<LessonEntry> lessons = list_lessons(folder);
    REQUIRE(lessons.size() == 3);
    CHECK(lessons[0].only_tasks);
    CHECK(lessons[0].tasks.size() == 2);
    CHECK_FALSE(lessons[1].only_tasks);
    CHECK(lessons[1].tasks.empty());
    CHECK_FALSE(lessons[2].only_tasks);
    CHECK(lessons[2].tasks == std::vector<std::string>{"Faster"});
}

TEST_CASE("broken lessons stop nothing") {
    const auto folder = fresh_folder("lesson-broken");
    const char* const texts[] = {
        "",
        "no lesson at all",
        "---\n",
        "---\ntitle: x\n---\n## s\nopen: nothing-like-it\nview: mesh\n\nx\n",
        "---\ntitle: x\n---\n## s\nset: layout.tp = minus\nview: mesh\n\n{{memory fullest}}\n",
        ("---\ntitle: x\n---\n## s\nset: cluster.gpus = 1\nview: timeline\n\n```ask\nranks: peers tp "
         "99\nprompt: ?\n```\n")};
    int i = 0;
    for (const char* text : texts) {
        CAPTURE(text);
        const auto file = folder / (std::to_string(i++) + ".md");
        write(file, text);
        Driver d("mesh-8");
        d.shell.open_lesson(file);
        d.settle();
        d.press({Key::page_down});
        d.press({Key::f5});
        d.press({Key::f5});
        d.shell.leave_lesson();
        d.settle();
        CHECK(d.plan().name == "Two nodes of four");
    }
    Driver d("mesh-8");
    d.shell.open_lesson(folder / "not-there.md");
    d.settle();
    REQUIRE(d.shell.lesson().errors.size() == 1);
    CHECK(d.shell.lesson().errors[0].message.find("cannot be read") != std::string::npos);
}

TEST_CASE("behind the last step of a lesson that nothing follows stands its end") {
    const std::filesystem::path folder = fresh_folder("lesson-last-step");
    const auto lesson = [&](const char* name) {
        const std::filesystem::path file = folder / name;
        write(file, "---\ntitle: Mine\n---\n\n## One\nopen: mesh-8\nview: mesh\n\nWords.\n");
        return file;
    };
    const std::filesystem::path a = lesson("a.md"), b = lesson("b.md");
    Driver d("mesh-8", {1280, 720});
    for (const std::filesystem::path& file : {a, b}) {
        d.shell.open_lesson(file);
        d.settle();
        d.press({Key::page_down});
        CHECK(says(d, "The end of Mine"));
        CHECK(says(d, "Nothing was asked."));
        CHECK_FALSE(d.drawn("end.next"));
        d.press({Key::page_down});
        CHECK(d.drawn("end.back"));
        CHECK(d.shell.lesson().file == file);
    }
}
