// Tests pinning a plan, and the view Compare: its figures are core/decide's own.
#include "app/tables/decide_tables.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/colors.h"
#include "app/ui/shell/picture.h"
#include "app/ui/views/compare/move_page.h"
#include "app/ui/views/compare/view.h"
#include "core/decide/compare.h"
#include "core/decide/decision.h"
#include "core/decide/search.h"
#include "core/io/presets.h"
#include "core/plan/edits.h"
#include "tests/near.h"
#include "tests/ui/press.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <filesystem>

using namespace pentamesh;
using pentamesh::test::near;
using namespace pentamesh::ui;

namespace {

const CompareViewState& compare_of(const Driver& d) {
    return d.shell.views().compare;
}

Plan other_plan(const Driver& d) {
    Plan p = with_factor(d.plan(), Axis::tp, 4, true);
    REQUIRE(evaluate(p).step);
    return p;
}

void pin(Driver& d) {
    d.press({.key = Key::d, .ctrl = true});
    REQUIRE(compare_of(d).pinned() != nullptr);
}

// Pins Llama 3 70B's plan as A, makes B of it and shows the page that says what moves.
void show_page_move(Driver& d) {
    pin(d);
    Plan b = d.plan();
    b.layout.tp = 4, b.layout.pp = 2, b.layout.dp_shard = 32;
    d.shell.edit_plan(b, "tp 4, pp 2");
    d.press({.key = Key::n0});
    REQUIRE(d.click("compare.page", kMovePage));
    d.settle();
}

void wait_for_path(Driver& d) {
    d.settle();
    d.until([&] { return !compare_of(d).path.running(); });
}

}  // namespace

TEST_CASE("Compare without a pinned plan says how to pin one, and its button does") {
    Driver d("llama-3-70b-3d");
    d.press({.key = Key::n0});
    CHECK(says(d, "Nothing is pinned yet."));
    CHECK(says(d, "Ctrl+D"));
    REQUIRE(d.click("compare.pin"));
    REQUIRE(compare_of(d).pinned() != nullptr);
    CHECK(*compare_of(d).pinned()->plan == d.plan());
    CHECK(says(d, "A and B take the same time."));
    REQUIRE(d.click("compare.remove", 0));
    CHECK(compare_of(d).pinned() == nullptr);
    CHECK(says(d, "Nothing is pinned yet."));
}

TEST_CASE("without a pinned plan Compare proposes what a search found better, and it is opened or pinned") {
    Driver d("mesh-8");
    d.press({.key = Key::n9});
    d.until([&] { return d.shell.views().search.found && d.shell.views().search.found->report; });
    const double best_s = d.shell.views().search.found->report->results.front().step_s;
    d.press({.key = Key::n0});
    d.settle();
    REQUIRE(compare_of(d).pinned() == nullptr);
    REQUIRE(compare_of(d).proposal);
    CHECK(compare_of(d).proposal->evaluation->step->time_s == best_s);
    CHECK(says(d, "B is a proposal"));
    CHECK(says(d, ui::time_text(d.shell.evaluation().step->time_s - best_s) + " faster"));
    CHECK(d.shell.evaluation().step->time_s > best_s);  // the open plan is as it was
    REQUIRE(d.click("compare.take"));
    d.settle();
    CHECK(d.shell.evaluation().step->time_s == best_s);
    CHECK_FALSE(compare_of(d).proposal);
}

TEST_CASE("after an edit Compare keeps its proposal until a search has answered, and does not open it") {
    Driver d("mesh-8", {1600, 900}, 1, {}, {}, {}, true);
    d.press({.key = Key::n0});
    d.time_s += 10;  // the plan rests: better layouts are looked for
    d.until([&] { return compare_of(d).proposal.has_value(); });
    REQUIRE(compare_of(d).proposal);
    d.settle();
    CHECK(says(d, "B is a proposal"));
    Plan larger = d.plan();  // what the search found holds no more
    larger.training.global_batch *= 2;
    d.shell.edit_plan(larger, "batch");
    d.settle();
    CHECK(compare_of(d).proposal);
    CHECK(says(d, "B was proposed before the edit"));
    CHECK_FALSE(d.shell.ui_state().rect_of("compare.take"));
    d.time_s += 10;
    d.until([&] { return !compare_of(d).awaits_proposal; });
    d.settle();
    CHECK_FALSE(says(d, "before the edit"));
}

TEST_CASE("clusters of different sizes are compared by what a GPU does") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const std::vector<Plan> plans{presets.plan("llama-3.1-405b-16k"), presets.plan("llama-3.1-405b-8k")};
    std::vector<Evaluation> e;
    for (const Plan& p : plans) e.push_back(evaluate(p));
    const std::vector<FigureRow> rows = compared_figures(plans, e);
    const auto row = [&](std::string_view key) {
        const auto it =
            std::find_if(rows.begin(), rows.end(), [&](const FigureRow& r) { return r.key == key; });
        REQUIRE(it != rows.end());
        return *it;
    };
    CHECK_FALSE(row("step.tokens_per_s").better());
    CHECK_FALSE(row("step.time_s").better());
    const FigureRow each = row("step.tokens_per_gpu_s"), hours = row("step.gpu_hours_per_billion");
    CHECK(*each.values[0] == e[0].step->tokens_per_s / 16384);
    CHECK(*hours.values[1] == near(1e9 / *each.values[1] / 3600));
    CHECK(each.better() == hours.better());
    const std::string words = why_words(e[0], e[1], why_steps_differ(plans, e));
    CHECK(words.find("GPU-hours") != std::string::npos);
    const std::vector<Plan> alike{plans[0], plans[0]};
    const std::vector<Evaluation> same{e[0], e[0]};
    CHECK(compared_figures(alike, same).size() + 2 == rows.size());
    CHECK(why_words(e[0], e[0], why_steps_differ(alike, same)).find("GPU-hours") == std::string::npos);
}

TEST_CASE("with a plan pinned the status line and the step's figures carry the difference to it") {
    Driver d("llama-3-70b-3d");
    const Evaluation a = d.shell.evaluation();
    pin(d);
    CHECK(difference_text(0, ui::time_text).empty());
    CHECK(difference_text(-0.48, ui::time_text) == "−480 ms");
    CHECK(difference_text(0.0498, points_text) == "+4.98 points");
    const Theme& theme = theme_of(ThemeId::dark);
    for (const bool less_is_better : {true, false}) {
        CHECK(color_of_difference(theme, less_is_better ? -1 : 1, less_is_better) == theme.good);
        CHECK(color_of_difference(theme, less_is_better ? 1 : -1, less_is_better) == theme.bad);
    }
    d.shell.edit_plan(other_plan(d), "tp 4");
    d.settle();
    d.time_s += 20;  // the edit's effect is no longer shown
    d.settle();
    const Evaluation& b = d.shell.evaluation();
    CHECK(says(d, difference_text(b.step->time_s - a.step->time_s, ui::time_text)));
    CHECK(says(d, difference_text(b.memory.peak() - a.memory.peak(), ui::memory_text)));
    CHECK(says(d, difference_text(b.step->mfu - a.step->mfu, points_text)));
    d.press({.key = Key::n7});
    CHECK(says(d, difference_text(b.step->tflops_per_gpu - a.step->tflops_per_gpu,
                                  [](double x) { return significant(x); })));
}

TEST_CASE(
    "with a plan pinned the heads of Memory, Timeline and Communication carry the difference to it too") {
    Driver d("llama-3-70b-3d");
    const Evaluation a = d.shell.evaluation();
    pin(d);
    d.shell.edit_plan(other_plan(d), "tp 4");
    d.settle();
    d.time_s += 20;
    const Evaluation& b = d.shell.evaluation();
    d.press({Key::n4});
    REQUIRE(a.memory.stage.size() == b.memory.stage.size());
    CHECK(says(d, difference_text(b.memory.peak() - a.memory.peak(), ui::memory_text)));
    const auto i = static_cast<std::size_t>(b.memory.peak_stage);  // its figures are right of the bars
    CHECK(says(
        d, difference_text(b.memory.stage[i].parameters - a.memory.stage[i].parameters, ui::memory_text)));
    d.press({Key::n5});
    CHECK(says(d, difference_text(schedule_bubble_s(*b.step) - schedule_bubble_s(*a.step), ui::time_text)));
    const auto bubble = [](const Evaluation& e) { return schedule_bubble_s(*e.step) / e.step->time_s; };
    CHECK(says(d, difference_text(bubble(b) - bubble(a), points_text)));
    d.press({Key::n6});
    double exposed = 0;
    for (const AxisTraffic& t : b.comm.by_axis) exposed += t.exposed_s;
    for (const AxisTraffic& t : a.comm.by_axis) exposed -= t.exposed_s;
    CHECK(says(d, "(" + difference_text(exposed, ui::time_text) + " to A)"));
}

TEST_CASE("after an edit the status line says for some seconds what it changed, pinned or not") {
    Driver d("llama-3-70b-3d");
    const double before_s = d.shell.evaluation().step->time_s, before = d.shell.evaluation().memory.peak();
    d.shell.edit_plan(other_plan(d), "tp 4");
    d.settle();
    const std::string words = "step " + ui::time_text(before_s) + " → "
                              + ui::time_text(d.shell.evaluation().step->time_s) + ", memory " + gib(before)
                              + " → " + gib(d.shell.evaluation().memory.peak()) + " GiB";
    CHECK(says(d, words));
    d.time_s += 20;
    d.settle();
    CHECK_FALSE(says(d, words));
    d.press({.key = Key::z, .ctrl = true});
    CHECK(says(d, "→ " + ui::time_text(before_s)));
    // Another plan that is opened is no edit of this one.
    d.time_s += 20;
    d.settle();
    d.shell.open_plan(d.presets.plan("mesh-8"));
    d.settle();
    CHECK_FALSE(says(d, " → "));
}

TEST_CASE("X flips A and B in place, and undo brings B back") {
    Driver d("llama-3-70b-3d");
    const Plan a = d.plan();
    pin(d);
    d.shell.edit_plan(other_plan(d), "tp 4");
    d.settle();
    const Plan b = d.plan();
    d.press({.key = Key::x});
    CHECK(d.plan() == a);
    CHECK(*compare_of(d).pinned()->plan == b);
    d.press({.key = Key::n0});
    REQUIRE(d.click("compare.flip"));
    d.settle();
    CHECK(d.plan() == b);
    CHECK(*compare_of(d).pinned()->plan == a);
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.plan() == a);
    // An impossible plan has no figures to become A.
    Plan impossible = d.plan();
    impossible.layout.tp = 7;
    d.shell.edit_plan(impossible, "tp 7");
    d.settle();
    const Plan shown = d.plan(), pinned = *compare_of(d).pinned()->plan;
    d.press({.key = Key::x});
    CHECK(d.plan() == shown);
    CHECK(*compare_of(d).pinned()->plan == pinned);
    run_command(d, "Unpin A");
    CHECK(compare_of(d).pinned() == nullptr);
}

TEST_CASE("the comparison in the window is core/decide's own, path and words included") {
    Driver d("llama-3-70b-3d", {1280, 1300});
    const Plan a = d.plan();
    pin(d);
    d.shell.edit_plan(other_plan(d), "tp 4");
    d.press({.key = Key::n0});
    wait_for_path(d);
    const std::vector<Plan> plans{a, d.plan()};
    const std::vector<Evaluation> evaluations{evaluate(plans[0]), evaluate(plans[1])};
    const PlanComparison expected = compare(plans, evaluations);
    REQUIRE(compare_of(d).path->size() == expected.path.size());
    for (std::size_t i = 0; i < expected.path.size(); ++i) {
        CHECK((*compare_of(d).path)[i].edit == expected.path[i].edit);
        CHECK((*compare_of(d).path)[i].step_s == expected.path[i].step_s);
        CHECK(says(d, typeset(expected.path[i].edit)));
    }
    for (const PartRow& r : expected.why) {
        CAPTURE(r.part);
        CHECK(says(d, r.part));
        const double delta_s = without_noise(r.delta_s[1], evaluations[0].step->time_s);
        CHECK(says(d, delta_s == 0 ? "0" : difference_text(delta_s, ui::time_text)));
    }
    const double by = evaluations[1].step->time_s - evaluations[0].step->time_s;
    CHECK(says(d, "B is " + ui::time_text(std::abs(by)) + (by < 0 ? " faster: " : " slower: ")));
}

TEST_CASE("Compare holds up to eight plans, which can be opened, removed and made A") {
    Driver d("mesh-8");
    pin(d);
    const Plan own = d.plan();
    d.press({.key = Key::n9});
    d.until([&] { return d.shell.views().search.found && d.shell.views().search.found->report; });
    d.input.shift = true;
    for (std::uint64_t i = 0; i < 8; ++i) REQUIRE(d.click("search.row", i));
    d.input.shift = false;
    CHECK(compare_of(d).kept.size() == 7);  // the open plan is the eighth
    CHECK(d.shell.message().find("remove one first") != std::string::npos);
    d.press({.key = Key::n0});
    CHECK(d.drawn("compare.open", 7));
    const Plan third = *compare_of(d).kept[1].plan;
    REQUIRE(d.click("compare.open", 2));
    CHECK(d.plan().layout == third.layout);
    REQUIRE(d.click("compare.first", 2));
    CHECK(*compare_of(d).pinned()->plan == third);
    CHECK(*compare_of(d).kept[1].plan == own);
    REQUIRE(d.click("compare.remove", 2));
    CHECK(compare_of(d).kept.size() == 6);
    d.wheel({700, 600}, -3);
}

TEST_CASE("the groups that the two meshes of Compare show are picked over them") {
    Driver d("mesh-8", {2000, 1200});  // wide: the meshes are seen without scrolling
    pin(d);
    d.shell.edit_plan(other_plan(d), "tp 4");
    d.press({.key = Key::n0});
    const GroupKind before = d.shell.screen().selection.group;
    REQUIRE(d.click("compare.axis", 1));
    CHECK(d.shell.screen().selection.group != before);
    REQUIRE(d.click("compare.axis", 0));
    CHECK(d.shell.screen().selection.group == GroupKind::tp);
}

TEST_CASE("a picture of Compare has the words, letters and figures of both plans, also small and as SVG") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const Plan a = presets.plan("llama-3.1-405b-16k");
    const Plan b = with_factor(a, Axis::pp, 8, true);
    for (const Vec2 size : {Vec2{1280, 720}, Vec2{1920, 1080}}) {
        PictureRequest r;
        r.view = "compare";
        r.size = size;
        r.compared = {a};
        std::vector<TextRun> runs;
        r.text_runs = &runs;
        (void)make_picture(presets, b, r, "png", find_fonts(std::filesystem::path(SOURCE_DIR) / "assets"));
        const auto has = [&](std::string_view words) {
            return std::any_of(runs.begin(), runs.end(),
                               [&](const TextRun& x) { return x.text.find(words) != std::string::npos; });
        };
        CHECK(has("WHERE THE STEP GOES"));
        CHECK(has("TIMELINES ON ONE TIME AXIS"));
        CHECK(has(ui::time_text(evaluate(a).step->time_s)));
        CHECK(has(ui::time_text(evaluate(b).step->time_s)));
        CHECK(has("WHAT DIFFERS"));
    }
}

TEST_CASE("advice names a layout that the search knows to be more than 5 % faster, and opens it") {
    Driver d("mesh-8");
    d.press({.key = Key::n9});
    d.until([&] { return d.shell.views().search.found && d.shell.views().search.found->report; });
    const double best_s = d.shell.views().search.found->report->results.front().step_s;
    REQUIRE(best_s < 0.95 * d.shell.evaluation().step->time_s);
    CHECK_FALSE(says(d, "Nothing to mend"));
    const SearchResult& best = d.shell.views().search.found->report->results.front();
    const std::string why = main_parts_text(*d.shell.evaluation().step, best.step);
    REQUIRE(why.find(" less in tp exposed") != std::string::npos);
    d.press({Key::backslash});  // the panels next to the search
    CHECK(says(d, "Why:"));
    CHECK(says(d, "less in"));  // the line may break behind it
    REQUIRE(d.click("problem.better"));
    CHECK(d.shell.evaluation().step->time_s == best_s);
    CHECK_FALSE(d.drawn("problem.better"));
}

TEST_CASE(
    "a little after an edit advice has the best layout and what two changes gain, and each click gives it") {
    Driver d("llama-3-8b-fsdp", {1600, 1000}, 1, {}, {}, {}, true);
    for (int i = 0; i < 20; ++i) d.frame();
    CHECK_FALSE(d.shell.views().search.found);  // nothing is worked on while edits follow one another
    const auto rests = [&] {
        return d.shell.views().search.found && d.shell.views().search.found->report
               && !d.shell.works_beside();
    };
    d.until(rests);
    const double before_s = d.shell.evaluation().step->time_s;
    const double best_s = d.shell.views().search.found->report->results.front().step_s;
    const std::optional<PlanDecision> decision = decide(d.plan(), d.shell.evaluation());
    REQUIRE(decision);
    REQUIRE(decision->proposal);
    const SearchResult* near = &*decision->proposal;
    REQUIRE(near->step_s < 0.96 * before_s);
    const auto changes = std::ranges::count_if(all_of<Varied>(), [&](Varied v) {
        return v != Varied::dp_shard && value_text(near->choice, v) != value_text(choice_of(d.plan()), v);
    });
    CHECK(says(d, changes == 1 ? "One change makes it" : "Two changes make it"));
    REQUIRE(d.click("problem.better", 0));
    CHECK(d.shell.evaluation().step->time_s == near->step_s);
    for (int i = 0; i < 60; ++i) d.frame();
    d.until(rests);
    const bool more = best_s < 0.95 * near->step_s;
    CHECK(d.drawn("problem.better") == more);
    if (!more) return;
    while (d.drawn("problem.better")) {
        REQUIRE(d.click("problem.better", 0));
        for (int i = 0; i < 60; ++i) d.frame();
        d.until(rests);
    }
    CHECK(d.shell.evaluation().step->time_s <= best_s / 0.95);
}

TEST_CASE("after an edit Compare offers the plan before it as A: by its button, by a link, by a command") {
    Driver d("llama-3-70b-3d");
    const Plan before = d.plan();
    d.press({.key = Key::n0});
    CHECK_FALSE(d.drawn("compare.before"));
    d.shell.edit_plan(other_plan(d), "tp 4");
    d.settle();
    REQUIRE(d.click("compare.before"));
    d.settle();
    REQUIRE(compare_of(d).pinned() != nullptr);
    CHECK(*compare_of(d).pinned()->plan == before);
    // A plan pinned after the edit is compared with itself, until the one before is asked for.
    pin(d);
    d.settle();
    REQUIRE(d.click("compare.instead"));
    d.settle();
    CHECK(*compare_of(d).pinned()->plan == before);
    d.press({.key = Key::p, .ctrl = true});
    d.type("plan before the last edit");
    d.press({Key::enter});
    d.settle();
    CHECK(*compare_of(d).pinned()->plan == before);
    wait_for_path(d);
    CHECK_FALSE(says(d, "->"));
    CHECK(says(d, "→"));
}

TEST_CASE("plans of the same title are told apart by what differs, and an order is no JSON") {
    Driver d("llama-3-70b-3d");
    Plan named = d.plan();
    named.name = "Ours";
    d.shell.edit_plan(named, "Title");
    d.settle();
    pin(d);
    named.layout.order = {Axis::dp_shard, Axis::tp, Axis::cp, Axis::ep, Axis::dp_replicate, Axis::pp};
    d.shell.edit_plan(named, "order");
    d.press({.key = Key::n0});
    wait_for_path(d);
    CHECK(says(d, "Ours (order dp_shard · tp"));
    CHECK(says(d, "Ours (order tp · cp"));
    CHECK_FALSE(says(d, "[\""));
}

TEST_CASE("with another model than A's the status line says so") {
    Driver d("llama-3-70b-3d");
    pin(d);
    CHECK_FALSE(says(d, "another model"));
    Plan other = d.plan();
    other.model.layers = 60;
    d.shell.edit_plan(other, "layers");
    d.settle();
    CHECK(says(d, "another model"));
}

TEST_CASE("differences below the rounding of sums are none") {
    CHECK(difference(1.0, 1.0 - 1e-16) == 0);
    CHECK(difference(9.93, 9.93 + 2e-15) == 0);
    CHECK(difference(2.0, 1.0) == 1.0);
    CHECK(difference(0.0, 0.0) == 0);
}

TEST_CASE("to read, parts that differ by less than a thousandth of A's step are one row, and the sum stays") {
    std::vector<Plan> plans(2, Driver("llama-3.1-405b-16k").plan());
    plans[1].training.recompute = Recompute::full;
    const std::vector<Evaluation> evaluations{evaluate(plans[0]), evaluate(plans[1])};
    const PlanComparison c = compare(plans, evaluations);
    const Table all = why_table(c), brief = brief_why_table(c);
    REQUIRE(brief.rows.size() > 2);
    CHECK(brief.rows.size() < all.rows.size());
    CHECK(brief.rows.back() == all.rows.back());
    CHECK((brief.rows.end() - 2)->front().text() == "other parts, together");
    double sum = 0;
    for (auto row = brief.rows.begin(); row != brief.rows.end() - 1; ++row) {
        sum += (*row)[3].number();
        if (row != brief.rows.end() - 2)
            CHECK(std::abs((*row)[3].number()) >= 1e-3 * evaluations[0].step->time_s);
    }
    CHECK(sum == near(evaluations[1].step->time_s - evaluations[0].step->time_s));
}

TEST_CASE("the page `move` has a bar for each GPU of the node, and a bound on what it works out") {
    Driver d("llama-3-70b-3d", {1600, 1000});
    show_page_move(d);
    CHECK(says(d, "Of the 8 GPUs of this node 2 keep more than 1 %"));
    REQUIRE(d.click("compare.state", 1));
    d.settle();
    CHECK(says(d, "its optimizer states"));
    const ComparedPair pair{*compare_of(d).pinned()->plan, *compare_of(d).pinned()->evaluation, d.plan(),
                            d.shell.evaluation()};
    MoveShown shown;
    keep_move(shown, pair, {1, 1}, 0, {}, 512);
    CHECK(shown.why.empty());
    keep_move(shown, pair, {2, 1}, 0, {}, 511);
    CHECK(shown.why.find("A and B have 512 GPUs together") == 0);
    CHECK(shown.pieces.empty());
}

TEST_CASE("the page `move` of Compare says what goes from A to B, and of which GPU") {
    Driver d("llama-3-70b-3d");
    show_page_move(d);
    REQUIRE(compare_of(d).moved);
    CHECK(compare_of(d).moved->why.empty());
    CHECK(compare_of(d).moved->rank == 0);
    CHECK(says(d, "Which axis makes it move?"));
    CHECK(says(d, "tp 8 → 4"));
    CHECK(says(d, "The slowest wire sets the bound: InfiniBand"));
    const double weights = compare_of(d).moved->move.all.needed;
    REQUIRE(d.click("compare.state", 1));
    d.settle();
    CHECK(compare_of(d).moved->move.all.needed > weights);
    REQUIRE(d.click("compare.move.sheet"));  // its middle: layers of the second stage of B, ranks from 128 on
    d.settle();
    const std::int64_t rank = compare_of(d).moved->rank;
    CHECK(rank > 128);
    CHECK(rank < 132);
    CHECK(says(d, "what GPU " + std::to_string(rank) + " of B needs"));
}
