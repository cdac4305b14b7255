// Tests what a lesson does to the picture: an answer shows the plan that was asked about, a step names a
// page.
#include "app/ui/shell/lesson_sheet.h"
#include "app/ui/views/table.h"
#include "core/base/files.h"
#include "core/base/text.h"
#include "tests/folder.h"
#include "tests/near.h"
#include "tests/ui/press.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <set>
#include <string>

using namespace pentamesh;
using namespace pentamesh::ui;
using pentamesh::test::near;

namespace {

std::filesystem::path lesson_of(const std::string& name, const std::string& steps) {
    const auto file = test::fresh_folder("lesson-" + name) / "mine.md";
    write_file(file, "---\ntitle: Mine\n---\n\n" + steps);
    return file;
}

constexpr const char* kAsks = "## One\nopen: mesh-8\nview: memory\naxis: tp\n\nWords.\n\n"
                              "```ask\nchoose: lowest\nprompt: Which?\n"
                              "option: a => with dp_replicate=4: memory fullest\n"
                              "option: b => with tp=4: memory fullest\nwhy: So.\n```\n\n"
                              "## Two\nview: mesh\n\nMore words.\n";

}  // namespace

TEST_CASE("after each question that ships about a changed plan the views are on that plan, and nothing is an "
          "edit") {
    Driver d("mesh-8", {1040, 640});
    int changed = 0;
    for (const LessonEntry& entry : d.shell.lessons()) {
        CAPTURE(entry.id);
        d.shell.open_lesson(entry.file);
        d.settle();
        LessonSession& l = d.shell.lesson();
        for (std::size_t i = 0; i < l.lesson.steps.size(); ++i, d.press({Key::page_down})) {
            if (!l.lesson.steps[i].question || l.asked.first < 0) continue;
            CAPTURE(l.lesson.steps[i].title);
            const Plan own = d.plan();
            CHECK(l.asked_shown == -1);
            CHECK_FALSE(d.drawn("lesson.asked"));
            d.shell.lesson().state().revealed = true;
            run_id(d, "lesson.asked");
            REQUIRE(l.asked_shown == l.asked.first);
            Plan asked =
                plan_with(own, l.asked.plans[static_cast<std::size_t>(l.asked.first)].sets, d.presets);
            asked.name = own.name;
            CHECK(d.plan() == asked);
            CHECK_FALSE(d.shell.document().can_undo());
            CHECK_FALSE(d.shell.document().modified());
            run_id(d, "lesson.asked");
            CHECK(d.plan() == own);
            l.state() = {};
            ++changed;
        }
    }
    CHECK(changed >= 40);
}

TEST_CASE("an answer shows the plan of the right option beside the step's own; chips, V and Escape go back") {
    Driver d("mesh-8", {1440, 900});
    run_id(d, "edit.pin");
    const Plan pinned = *d.shell.views().compare.pinned()->plan;
    d.shell.open_lesson(lesson_of("asked", kAsks));
    d.settle();
    LessonSession& l = d.shell.lesson();
    const Plan own = d.plan();
    REQUIRE(d.click("lesson.reveal"));
    CHECK(d.plan().layout.tp == 4);
    CHECK(*d.shell.views().compare.pinned()->plan == own);
    CHECK(says(d, "as it was"));
    CHECK_FALSE(says(d, "You changed the plan"));
    REQUIRE(d.click("lesson.asked", 1));
    CHECK(d.plan().layout.dp_replicate == 4);
    CHECK(d.shell.selection().group == GroupKind::dp_replicate);
    REQUIRE(d.click("lesson.asked", 0));
    CHECK(d.plan() == own);
    CHECK(d.shell.selection().group == GroupKind::tp);
    d.press({Key::v});
    CHECK(d.plan().layout.tp == 4);
    d.press({Key::escape});
    d.press({Key::escape});
    CHECK(d.plan() == own);
    d.press({Key::v});
    d.press({Key::page_down});
    CHECK(l.step == 1);
    CHECK(d.plan().layout.tp == own.layout.tp);
    CHECK_FALSE(d.shell.document().can_undo());
    d.press({Key::page_up});
    d.press({Key::v});
    REQUIRE(d.click("lesson.retry"));
    CHECK(d.plan() == own);
    REQUIRE(d.click("lesson.reveal"));
    d.shell.leave_lesson();
    d.settle();
    CHECK(*d.shell.views().compare.pinned()->plan == pinned);
}

TEST_CASE("what the room changes in a plan that was asked about is kept for redo, and the lesson goes on") {
    Driver d("mesh-8", {1440, 900});
    d.shell.open_lesson(lesson_of("edited", kAsks));
    d.settle();
    const Plan own = d.plan();
    REQUIRE(d.click("lesson.reveal"));
    REQUIRE(d.click("layout.tp.plus"));
    CHECK(d.plan().layout.tp == 8);
    REQUIRE(d.click("lesson.asked", 0));
    CHECK(d.plan() == own);
    d.press({.key = Key::z, .ctrl = true, .shift = true});
    CHECK(d.plan().layout.tp == 8);
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.plan() == own);
}

TEST_CASE("show: no leaves the picture, show: names a plan of its own") {
    std::string none = kAsks;
    none.replace(none.find("why: So."), 8, "show: no\nwhy: So.");
    Driver d("mesh-8", {1440, 900});
    d.shell.open_lesson(lesson_of("show-no", none));
    d.settle();
    const Plan own = d.plan();
    REQUIRE(d.click("lesson.reveal"));
    CHECK(d.plan() == own);
    CHECK_FALSE(d.drawn("lesson.asked"));
    std::string other = kAsks;
    other.replace(other.find("why: So."), 8, "show: tp = 8\nwhy: So.");
    d.shell.open_lesson(lesson_of("show-own", other));
    d.settle();
    REQUIRE(d.click("lesson.reveal"));
    CHECK(d.plan().layout.tp == 8);
}

TEST_CASE("an answer's own page comes with it, and the step's comes back with the question") {
    std::string text = kAsks;
    text.replace(text.find("why: So."), 8, "picture: shards, cp alone\nwhy: So.");
    Driver d("mesh-8", {1440, 900});
    d.shell.open_lesson(lesson_of("picture", text));
    d.settle();
    const ViewStates& views = d.shell.views();
    CHECK(d.drawn("memory.mode"));
    REQUIRE(d.click("lesson.reveal"));
    d.settle();
    CHECK_FALSE(d.drawn("memory.mode"));
    CHECK(views.shards.picker.strategy == Strategy::cp);
    CHECK(d.plan().layout.tp == 4);  // the plan that was asked about
    REQUIRE(d.click("lesson.retry"));
    d.settle();
    CHECK(d.drawn("memory.mode"));
    std::string wrong = kAsks;
    wrong.replace(wrong.find("why: So."), 8, "picture: shards, cpalone\nwhy: So.");
    d.shell.open_lesson(lesson_of("picture-wrong", wrong));
    d.settle();
    const auto& errors = d.shell.lesson().errors;
    REQUIRE_FALSE(errors.empty());
    CHECK(errors[0].message.find("view shards has no page \"cpalone\"") != std::string::npos);
}

TEST_CASE("each page of a view has a name, and each name shows a page of its own") {
    for (const LessonView& view : lesson_views()) {
        CAPTURE(view.name);
        const auto id = view_named(view.name);
        if (!id || view_of(*id).name != view.name) continue;  // the dashboard, a page that has a name
        const ViewPages& pages = view_of(*id).pages;
        if (pages.count > 1 || !view.pages.empty()) CHECK(static_cast<int>(view.pages.size()) >= pages.count);
        std::set<int> shown;
        for (const std::string_view page : view.pages) {
            ViewStates states;
            CHECK_MESSAGE(show_named_page(states, *id, page), page);
            if (pages.shown != nullptr) shown.insert(pages.shown(states));
        }
        CHECK(static_cast<int>(shown.size())
              == (view.pages.empty() || pages.shown == nullptr ? 0 : pages.count));
        ViewStates states;
        CHECK_FALSE(show_named_page(states, *id, "no such page"));
    }
}

TEST_CASE("a step's page is the same whatever was open before, and what was open comes back") {
    const auto file = lesson_of("pages", "## One\nopen: mesh-8\nview: memory\n\nWords.\n\n"
                                         "## Two\nview: memory\npage: saved\n\nWords.\n\n"
                                         "## Three\nview: shards\npage: tp alone\n\nWords.\n\n"
                                         "## Four\nview: shards\n\nWords.\n\n"
                                         "## Five\nview: layer\npage: tp alone\n\nWords.\n\n"
                                         "## Six\nview: layer\npage: tp steps\n\nWords.\n");
    Driver d("mesh-8", {1440, 900});
    const ViewStates& views = d.shell.views();
    const auto press = [&](Key view, std::string_view control, std::uint64_t index) {
        d.press({view});
        REQUIRE(d.click(control, index));
    };
    press(Key::n4, "memory.mode", 1);
    press(Key::n1, "map.page", static_cast<std::uint64_t>(MapPage::wires));
    press(Key::n3, "shards.scope", 2);
    const Strategy strategy = views.shards.picker.strategy;
    REQUIRE(views.memory.page == MemoryPage::saved);
    REQUIRE(views.shards.shows == ShardsViewState::Shows::one_axis);
    REQUIRE(strategy != Strategy::tp);
    d.shell.open_lesson(file);
    d.settle();
    CHECK(views.memory.page == MemoryPage::stages);
    CHECK(views.map.page == MapPage::axes);
    d.press({Key::page_down});
    CHECK(views.memory.page == MemoryPage::saved);
    d.press({Key::page_down});
    CHECK(views.memory.page == MemoryPage::stages);
    CHECK(views.shards.shows == ShardsViewState::Shows::one_axis);
    CHECK(views.shards.picker.strategy == Strategy::tp);
    d.press({Key::page_down});
    CHECK(views.shards.shows == ShardsViewState::Shows::loaf);
    d.press({Key::page_down});
    CHECK(views.layer.choice.alone);
    CHECK(views.layer.choice.axis == AloneAxis::tp);
    CHECK(shows_matrices(views.layer.choice));
    CHECK(says(d, "Why does tensor parallelism need one sum?"));
    CHECK_FALSE(d.drawn("layer.whose"));  // a lesson has no switches
    d.press({Key::page_down});
    CHECK_FALSE(shows_matrices(views.layer.choice));
    CHECK_FALSE(d.drawn("layer.notation"));
    const LayerOp op = views.layer.shown->list.steps[static_cast<std::size_t>(views.layer.at)].op;
    CHECK((op == LayerOp::all_reduce || op == LayerOp::reduce_scatter));  // where summands are added up
    d.shell.leave_lesson();
    d.settle();
    CHECK(views.memory.page == MemoryPage::saved);
    CHECK(views.shards.shows == ShardsViewState::Shows::one_axis);
    CHECK(views.shards.picker.strategy == strategy);
    CHECK(views.map.page == MapPage::wires);
    CHECK_FALSE(views.layer.choice.alone);
}

TEST_CASE("what is folded is read with M, and stands on paper") {
    const auto file = lesson_of(
        "more", "## One\nopen: mesh-8\nview: mesh\n\nFirst words.\n\nmore:\n\nFolded words of {{world}}.\n");
    Driver d("mesh-8", {1440, 900});
    d.shell.open_lesson(file);
    d.settle();
    CHECK(says(d, "First"));
    CHECK_FALSE(says(d, "Folded"));
    d.press({Key::m});
    CHECK(says(d, "Folded"));
    REQUIRE(d.click("lesson.more"));
    CHECK_FALSE(says(d, "Folded"));
    const std::string text = lesson_text(read_lesson(file).lesson, d.plan(), d.presets);
    CHECK(text.find("Folded words of 8.") != std::string::npos);
}

TEST_CASE("a lesson's plans are checked where they are written") {
    Driver d("mesh-8", {1440, 900});
    d.shell.open_lesson(lesson_of("faults", "## One\nopen: mesh-9\nview: memory\npage: shed\n\nWords.\n\n"
                                            "## Two\nopen: mesh-8\nset: tp = four\nview: mesh\n\nWords.\n"));
    d.settle();
    const auto& errors = d.shell.lesson().errors;
    REQUIRE(errors.size() == 3);
    CHECK(errors[0].line == 6);
    CHECK(errors[0].message.find("the closest is \"mesh-8\"") != std::string::npos);
    CHECK(errors[1].line == 8);
    CHECK(errors[1].message.find("view memory has no page \"shed\"") != std::string::npos);
    CHECK(errors[2].line == 14);
    CHECK(errors[2].message.find("\"four\"") != std::string::npos);
}

TEST_CASE("a guess is drawn on a scale that does not give the answer away, and the true bar comes after it") {
    const auto file = lesson_of("guess", "## One\nopen: mesh-8\nview: mesh\n\nWords.\n\n"
                                         "```ask\nguess: with tp=4: memory fullest\nprompt: How far?\n```\n");
    Driver d("mesh-8", {1440, 900});
    d.shell.open_lesson(file);
    d.settle();
    LessonSession& l = d.shell.lesson();
    const double right = l.solution.answer.number, end = guess_scale(l.solution, "One");
    CHECK(end > l.solution.own);  // today's figure lies on it too: its end gives no direction away
    CHECK(l.solution.own == near(d.shell.lesson().start_evaluation.memory.peak() / 1073741824.0, 0.01));
    CHECK(l.current()->question->drawn);
    const auto bar = d.shell.ui_state().rect_of("lesson.guess");
    REQUIRE(bar);
    d.drag({bar->x + 20, bar->center().y}, {bar->x + 2 + (bar->w - 16) / 2, bar->center().y});
    const double drawn = parse_guess(l.state().typed, "GiB").value_or(0);
    CHECK(drawn > 0.48 * end);
    CHECK(drawn < 0.52 * end);
    CHECK_FALSE(says(d, "times"));
    l.state().typed = std::to_string(right * 1.2);  // within a quarter
    d.settle();
    REQUIRE(d.click("lesson.check"));
    CHECK(l.state().right);
    CHECK(says(d, "times"));
    CHECK_FALSE(d.drawn("lesson.guess"));
    CHECK(d.plan().layout.tp == 4);
    const std::string text = lesson_text(l.lesson, d.plan(), d.presets);
    CHECK(text.find("Draw it on a line from 0 to " + three_digits(end) + " GiB.") != std::string::npos);
}

TEST_CASE("a curve is drawn point by point, and the true one comes after it") {
    const auto file = lesson_of("curve", "## One\nopen: llama-3-70b-3d\nview: step\n\nWords.\n\n"
                                         "```ask\nguess: step time over tp 4, 8, 16, 32\ngiven: 8\n"
                                         "prompt: Draw it.\n```\n");
    Driver d("mesh-8", {1440, 900});
    d.shell.open_lesson(file);
    d.settle();
    LessonSession& l = d.shell.lesson();
    const double end = curve_scale(l.solution, "One");
    const auto points = [&] { return parse_points(l.state().typed, "s", 4); };
    CHECK_FALSE(d.drawn("lesson.point", 1));  // it is given
    CHECK(says(d, "given: "));
    CHECK_FALSE(says(d, l.solution.options[3].text));
    const auto column = d.shell.ui_state().rect_of("lesson.point", 3);
    REQUIRE(column);
    d.drag({column->center().x, column->y + 10}, {column->center().x, column->y + column->h * 0.8f});
    REQUIRE(points().size() == 4);
    CHECK(points()[3] == near(end * 0.2, 0.05));
    CHECK(points()[1] == near(l.solution.options[1].number, 0.01));
    for (int i = 0; i < 2; ++i) d.press({Key::down});
    CHECK(points()[3] == near(end * 0.18, 0.05));
    REQUIRE(d.click("lesson.check"));  // two more are wrong: once more
    std::string truth;
    for (const Answer& a : l.solution.options) truth += (truth.empty() ? "" : ", ") + a.text;
    d.press({.key = Key::a, .ctrl = true});  // the field has the keyboard
    d.type(truth);
    d.settle();
    REQUIRE(d.click("lesson.check"));
    CHECK(l.state().right);
    CHECK(says(d, "3 of 3 points within 25"));
    CHECK_FALSE(d.drawn("lesson.point", 3));
    REQUIRE(d.click("lesson.asked", 3));  // the plan of a point; the first is the step's own
    CHECK(d.plan().layout.tp == 16);
}

TEST_CASE(
    "with view: scale a curve is drawn in the view, on one scale; a typed list leaves the given point out") {
    const auto file =
        lesson_of("curve-in-view", "## One\nopen: llama-3-70b-3d\nview: scale\npage: tp\n\nWords.\n\n"
                                   "```ask\nguess: step time over tp 1, 2, 4, 8, 16, 32\ngiven: 8\n"
                                   "prompt: Draw it.\nmistake: falls => Each layer waits for a sum.\n```\n");
    for (const Vec2 size : {Vec2{1440, 900}, Vec2{1280, 720}}) {
        Driver d("mesh-8", size);
        d.shell.open_lesson(file);
        d.settle();
        LessonSession& l = d.shell.lesson();
        CHECK(l.curve_in_view);
        CHECK(says(d, "One point is given."));
        for (std::size_t i = 0; i < l.solution.options.size(); ++i)
            CHECK(says(d, l.solution.options[i].text) == (i == 3));
        const auto column = d.shell.ui_state().rect_of("lesson.point", 5);
        REQUIRE(column);
        const double end = curve_scale(l.solution, "One");
        d.drag({column->center().x, column->y + 10}, {column->center().x, column->y + column->h * 0.5f});
        CHECK(typed_points(*l.current()->question, l.solution, l.state().typed)[5] == near(end * 0.5, 0.02));
        for (int tries = 0; tries < 2; ++tries) {
            l.state().typed = "20, 15.5, 12.5, 7.4, 5.8";
            d.settle();
            REQUIRE(d.click("lesson.check"));
        }
        CHECK(l.state().answered);
        CHECK_FALSE(l.state().right);
        CHECK(l.state().given.numbers.size() == 6);
        CHECK(l.state().mistake == "Each layer waits for a sum.");
        d.settle();
        for (const Answer& a : l.solution.options) CHECK(says(d, a.text));
        CHECK(says(d, "÷ " + three_digits(l.solution.options[5].number / 5.8)));
        CHECK(says(d, "does not fit: tp 4 wants "));
        CHECK(says(d, "of it tp"));
        CHECK_FALSE(d.drawn("lesson.point", 5));
    }
}

TEST_CASE("a lesson begins with views in which nothing is set, and gives back what was") {
    Driver d("llama-3-70b-3d", {1440, 900});
    d.shell.show_full(ViewId::timeline);
    d.settle();
    REQUIRE(d.click("timeline.slow"));
    REQUIRE(d.click("timeline.ruler"));      // a cursor
    d.press({.key = Key::d, .ctrl = true});  // it is pinned
    d.settle();
    REQUIRE(d.shell.views().compare.pinned() != nullptr);
    const auto slow = d.shell.views().timeline.choice.slow;
    const double cursor_s = d.shell.views().timeline.cursor_s;
    REQUIRE(slow.any());
    REQUIRE(cursor_s >= 0);
    d.shell.open_lesson(lesson_of("whole-scenes", kAsks));
    d.settle();
    CHECK_FALSE(d.shell.views().timeline.choice.slow.any());
    CHECK(d.shell.views().timeline.cursor_s < 0);
    CHECK(d.shell.views().compare.pinned() == nullptr);
    d.shell.show_full(ViewId::timeline);
    REQUIRE(d.click("lesson.reveal"));
    CHECK(d.shell.lesson().asked_shown >= 0);
    REQUIRE(d.click("lesson.retry"));
    d.settle();
    CHECK(d.drawn("memory.stage"));
    CHECK(d.shell.views().compare.pinned() == nullptr);
    REQUIRE(d.click("lesson.leave"));
    d.settle();
    CHECK(d.shell.views().timeline.choice.slow == slow);
    CHECK(d.shell.views().timeline.cursor_s == cursor_s);
    CHECK(d.shell.views().compare.pinned() != nullptr);
}

TEST_CASE("a question and its answer stand on one scale of memory, and the outline of before stays") {
    Driver d("mesh-8", {1440, 900});
    d.shell.open_lesson(lesson_of("one-scale",
                                  "## One\nopen: llama-3-8b-fsdp\nset: training.sequence_length = 32768\n"
                                  "set: training.global_batch = 128\nview: memory\n\nWords.\n\n"
                                  "```ask\nchoose: change\nquery: with cp=4: bytes tp per step\n"
                                  "prompt: P\noption: more => more\noption: same => same\n"
                                  "option: less => less\nwhy: So.\n```\n"));
    d.settle();
    const LessonSession& l = d.shell.lesson();
    const double before = l.start_evaluation.memory.stage.front().most();
    CHECK(l.axes.bytes == before);  // cp 4 holds less
    REQUIRE(d.click("lesson.reveal"));
    d.settle();
    CHECK(l.asked_shown >= 0);
    CHECK(l.axes.bytes == before);
    CHECK(d.shell.evaluation().memory.stage.front().most() < 0.5 * before);
}

TEST_CASE("arrows move the end of a guess by a hundredth of its scale, with Shift by a tenth") {
    const auto file = lesson_of("arrows", "## One\nopen: mesh-8\nview: mesh\n\nWords.\n\n"
                                          "```ask\nguess: memory fullest\nprompt: How far?\n```\n");
    Driver d("mesh-8", {1440, 900});
    d.shell.open_lesson(file);
    d.settle();
    LessonSession& l = d.shell.lesson();
    const double end = guess_scale(l.solution.answer.number, "GiB", "One");
    const auto drawn = [&] { return parse_guess(l.state().typed, "GiB").value_or(0); };
    d.press({Key::tab});  // to the field
    d.press({.key = Key::tab, .shift = true});
    REQUIRE(d.shell.ui_state().focus == id_of("lesson.guess"));
    for (int i = 0; i < 3; ++i) d.press({Key::right});
    CHECK(drawn() == near(0.03 * end, 0.02));
    d.press({.key = Key::right, .shift = true});
    CHECK(drawn() == near(0.13 * end, 0.02));
    d.press({Key::left});
    CHECK(drawn() == near(0.12 * end, 0.02));
}

TEST_CASE("a guess of bytes stands in the plot of the memory, before the answer and beside the true bar") {
    Driver d("mesh-8", {1440, 900});
    d.shell.open_lesson(lesson_file("00-five-cuts"));
    d.settle();
    LessonSession& l = d.shell.lesson();
    REQUIRE(l.current()->title == "A wall");
    CHECK_FALSE(says(d, "guess 130 GiB"));
    l.state().typed = "130";
    d.press({Key::tab});
    d.settle();
    CHECK(says(d, "guess 130 GiB"));
    REQUIRE(d.click("lesson.reveal"));
    d.settle();
    CHECK(says(d, "guess 130 GiB"));
    d.press({Key::page_down});
    d.settle();
    CHECK_FALSE(says(d, "guess 130 GiB"));
}

TEST_CASE("the votes of a room stand at the options, before the answer and after it, and stay when it is "
          "asked again") {
    Driver d("mesh-8", {1440, 900});
    d.shell.open_lesson(lesson_of("votes", kAsks));
    d.settle();
    LessonSession& l = d.shell.lesson();
    CHECK_FALSE(d.drawn("lesson.count"));  // there is no room that votes
    d.press({Key::v});
    REQUIRE(d.click("lesson.votes"));
    d.type("21");
    d.press({Key::enter});
    CHECK(l.state().votes.empty());
    CHECK(l.state().votes_refusal == "Type 2 counts, one for each option.");
    REQUIRE(d.click("lesson.votes"));
    d.press({.key = Key::a, .ctrl = true});
    d.type("21, 6");
    d.press({Key::enter});
    CHECK(l.state().votes == std::vector<int>{21, 6});
    CHECK(says(d, "21"));
    REQUIRE(d.click("lesson.reveal"));
    REQUIRE(d.click("lesson.count"));
    REQUIRE(d.click("lesson.votes"));
    d.type("4 23");
    d.press({Key::enter});
    CHECK(l.state().votes_after == std::vector<int>{4, 23});
    CHECK(says(d, "23"));
    REQUIRE(d.click("lesson.retry"));
    CHECK(l.state().votes == std::vector<int>{21, 6});
    d.press({Key::page_down});
    d.press({Key::page_up});
    CHECK(l.state().votes == std::vector<int>{21, 6});
    l.state() = {};
    d.press({Key::f5});
    CHECK(d.drawn("lesson.count"));
}
