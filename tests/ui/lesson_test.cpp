// Lessons in the window: every step of every lesson is walked, its question answered wrong and right.
#include "core/base/files.h"
#include "render/png.h"
#include "tests/folder.h"
#include "tests/ui/driver.h"

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

std::filesystem::path shipped(const std::string& id) {
    return std::filesystem::path(SOURCE_DIR) / "assets" / "lessons" / (id + ".md");
}

// By the panel's own controls: option or tier by a click, numbers and ranks typed.
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
        // What is below the fold is scrolled to, as a person would.
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

}  // namespace

TEST_CASE("all lessons are walked step by step, every question answered wrong and right") {
    Driver d("mesh-8", {1040, 640});
    REQUIRE(d.shell.lessons().size() == 21);
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
                CHECK(d.drawn(control.name, control.index));
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
                give(d, true);
                CHECK(l.state().answered);
                CHECK(l.state().right);
                CHECK(l.prompt.find("(not in this plan)") == std::string::npos);
                CHECK(l.why.find("(not in this plan)") == std::string::npos);
            }
            d.press({Key::page_down});
        }
    }
}

TEST_CASE("a guess that is no number is named, Tab leaves its field, and a lesson leads to the next") {
    Driver d("mesh-8", {1280, 720});
    d.shell.open_lesson(shipped("03-tensor-parallel"));
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
    d.shell.open_lesson(shipped("03-tensor-parallel"));
    d.settle();
    for (int i = 0; i < 3; ++i) d.press({Key::page_down});
    LessonSession& l = d.shell.lesson();
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
    d.shell.open_lesson(shipped("08-mesh"));
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
    d.shell.open_lesson(shipped("03-tensor-parallel"));
    d.settle();
    d.press({Key::page_down});
    d.press({Key::page_down});
    LessonSession& l = d.shell.lesson();
    REQUIRE(l.asks_for_ranks());
    CHECK(l.asked_rank() == 5);
    const auto cells = d.shell.ui_state().rect_of("mesh.cells");
    REQUIRE(cells);
    d.click_at({cells->center().x - 100, cells->center().y - 30});
    REQUIRE(l.state().picked.size() == 1);
    CHECK(d.shell.selection().rank == -1);
    d.click_at({cells->center().x - 100, cells->center().y - 30});
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
    d.shell.open_lesson(shipped("12-real-layouts"));
    d.settle();
    for (int i = 0; i < 5; ++i) d.press({Key::page_down});
    LessonSession& l = d.shell.lesson();
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

TEST_CASE("an edit of the plan changes the words and the right answer at once") {
    Driver d("mesh-8", {1600, 1000});
    d.shell.open_lesson(shipped("08-mesh"));
    d.settle();
    LessonSession& l = d.shell.lesson();
    CHECK(l.solution.answer.number == 4);
    d.click("layout.tp.plus");
    d.settle();
    CHECK(l.solution.answer.number == 2);
    CHECK(l.words.find("tp 4") != std::string::npos);
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
    CHECK_FALSE(d.shell.lesson().errors.empty());
}

TEST_CASE("presenter mode: remote keys walk, answers wait, B blanks, Escape leaves") {
    Driver d("mesh-8", {1280, 720});
    d.shell.open_lesson(shipped("01-two-walls"));
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

TEST_CASE("a lesson fits small windows and large type") {
    Driver d("mesh-8", {640, 360}, 2);
    for (const auto& [size, scale] : std::initializer_list<std::pair<Vec2, float>>{
             {{640, 360}, 2}, {{1280, 720}, 2}, {{400, 900}, 1}, {{1, 1}, 1}}) {
        d.surface.resize(size, scale);
        d.shell.open_lesson(shipped("05-context"));
        d.settle();
        if (size.x >= 400) CHECK(d.drawn("lesson.next"));
        d.press({Key::f5});
        d.settle();
        d.press({Key::f5});
    }
}

// For looking at: PENTAMESH_LESSON_PICTURES=FOLDER writes every step, asked and answered.
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
    d.shell.open_lesson(shipped("07-modifiers"));  // marks a control of the plan
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
    REQUIRE(d.click("side.tab", 2));  // the view alone, and the steps go on
    CHECK_FALSE(d.drawn("lesson.leave"));
    d.press({Key::page_down});
    CHECK(d.shell.lesson().step == 2);
    REQUIRE(d.click("lesson.back"));
    CHECK(d.shell.lesson().step == 1);
    CHECK_FALSE(d.drawn("lesson.leave"));
    REQUIRE(d.click("side.tab", 0));
    CHECK(d.drawn("lesson.leave"));

    d.surface.resize({800, 600}, 1);  // room for a view beside, not for both panels
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
    d.press({.key = Key::n1});
    d.press({.key = Key::n7});
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
