// The page of the mesh on which one token goes to its experts.
#include "app/tables/token_table.h"
#include "app/ui/views/mesh/mesh_token.h"
#include "app/ui/views/table.h"
#include "tests/ui/press.h"

#include "core/base/text.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

constexpr int kTokenSegment = 5;  // behind dense, experts, both, fold, zoom

void open_token(Driver& d) {
    d.press({.key = Key::n2});
    REQUIRE(d.click("mesh.which", kTokenSegment));
    d.rest();
    REQUIRE(d.shell.views().mesh.token.shown);
}

TokenWay way_now(Driver& d) {
    return token_way(d.plan(), d.shell.evaluation(), std::max<std::int64_t>(0, d.shell.selection().rank), {});
}

// Goes to the step that deals out the experts, in the lesson that begins with five cuts.
LessonSession& at_experts(Driver& d) {
    d.shell.open_lesson(lesson_file("00-five-cuts"));
    d.settle();
    LessonSession& l = d.shell.lesson();
    for (int i = 0; i < 30 && l.current()->title != "Deal out the experts"; ++i) d.press({Key::page_down});
    REQUIRE(l.current()->title == "Deal out the experts");
    d.rest();
    return l;
}

}  // namespace

TEST_CASE("a row is a GPU of the token's group, and a click shows that GPU's token") {
    Driver d("mixtral-8x7b-ep", {1440, 900});
    open_token(d);
    const Evaluation& e = d.shell.evaluation();
    CHECK(says(d, "To 2 of 8 experts, wherever they are, and home again."));
    for (std::uint64_t rank = 0; rank < 8; ++rank) CHECK(d.shell.ui_state().rect_of("mesh.token.row", rank));
    CHECK_FALSE(d.shell.ui_state().rect_of("mesh.token.row", 8));
    CHECK(says(d, "56"));
    const TokenCosts costs = token_costs(d.plan(), e);
    CHECK(says(d, bytes_text(costs.sent_bytes, Zeros::kept)));
    CHECK(says(d, time_text(costs.call_s, Zeros::kept)));
    CHECK(says(d, time_text(e.step->exposed_comm_s[GroupKind::ep], Zeros::kept)));
    CHECK(says(d, "made up"));
    REQUIRE(d.click("mesh.token.row", 3));
    CHECK(d.shell.selection().rank == 3);
    CHECK(way_now(d).own == 3);
    d.press({Key::down});
    CHECK(d.shell.selection().rank == 4);
    d.press({Key::up});
    CHECK(d.shell.selection().rank == 3);
    REQUIRE(d.click("mesh.which", 0));
    CHECK_FALSE(d.shell.views().mesh.token.shown);
    CHECK(d.drawn("mesh.cells"));
}

TEST_CASE("the fullest drawer is named, and the others wait for it") {
    Driver d("mixtral-8x7b-ep", {1440, 900});
    open_token(d);
    CHECK(says(d, "waits then"));  // the plan is even: what 1.5 times the mean would do
    Plan p = d.plan();
    p.training.router_imbalance = 1.5;
    d.shell.edit_plan(p, "uneven");
    d.rest();
    CHECK(says(d, "1.5 times the mean"));
    CHECK(says_just(d, "waits"));
    CHECK_FALSE(says(d, "waits then"));
    d.move(d.shell.ui_state().rect_of("mesh.token.row", 0)->center());
    d.rest();
    CHECK(says(d, "the other 7 wait for it"));
}

TEST_CASE("of many GPUs the token's, those that it reaches and how many more there are are drawn") {
    Driver d("deepseek-v3-2048", {1440, 900});
    open_token(d);
    const TokenWay way = way_now(d);
    REQUIRE(way.size() > 16);
    std::size_t drawn = 0;
    for (std::size_t i = 0; i < way.size(); ++i) {
        const bool there = d.shell.ui_state()
                               .rect_of("mesh.token.row", static_cast<std::uint64_t>(way.drawers[i].rank))
                               .has_value();
        CHECK(there == (i == way.own || way.reaches(i)));
        drawn += there ? 1 : 0;
    }
    CHECK(says(d, "and " + with_commas(static_cast<std::int64_t>(way.size() - drawn)) + " more GPUs"));
    CHECK(says(d, "on at most 4 of"));
}

TEST_CASE("a dense plan says what the page needs, and with ep 1 all drawers are at home") {
    Driver d("mixtral-8x7b-ep", {1440, 900});
    open_token(d);
    Plan p = d.plan();
    p.layout.ep = 1;
    p.layout.zero = 3;
    d.shell.edit_plan(p, "ep 1");
    d.rest();
    REQUIRE(d.shell.evaluation().valid);
    CHECK(says(d, "all of them are at home"));
    CHECK_FALSE(says(d, "dispatch"));
    d.shell.edit_plan(d.presets.plan("mesh-8"), "dense");
    d.rest();
    CHECK(says(d, "No experts here"));
    REQUIRE(d.click("mesh.which", 0));
    CHECK_FALSE(d.shell.views().mesh.token.shown);
}

TEST_CASE("show as data lists the drawers, and a row of it is a GPU") {
    Driver d("mixtral-8x7b-ep", {1440, 900});
    open_token(d);
    REQUIRE(d.click("view.data", static_cast<std::uint64_t>(ViewId::mesh)));
    REQUIRE(d.click("data.part", 4));
    const TokenWay way = token_way(d.plan(), d.shell.evaluation(), 0, {});
    const Table t = token_table(way);
    REQUIRE(t.rows.size() == 8);
    std::size_t picked = 0;
    for (std::size_t i = 0; i < t.rows.size(); ++i) {
        CHECK(t.rows[i][0].whole() == way.drawers[i].rank);
        CHECK(t.rows[i][3].number() == way.drawers[i].tokens);
        picked += t.rows[i].back().words().empty() ? 0 : 1;
    }
    CHECK(picked == 2);
    CHECK(says(d, "of the token"));
    CHECK(says(d, "made up"));
    REQUIRE(d.click("data.mesh", 2));
    CHECK(d.shell.selection().rank == 2);
}

TEST_CASE("rows of the token's page answer a question for GPUs, and no way is drawn before") {
    Driver d("mesh-8", {1600, 1000});
    LessonSession& l = at_experts(d);
    REQUIRE(l.asks_for_ranks());
    REQUIRE(d.shell.views().mesh.token.shown);
    CHECK(l.asked_rank() == 0);
    CHECK_FALSE(says(d, "dispatch"));
    CHECK_FALSE(says(d, "made up"));
    CHECK_FALSE(says(d, "All pairs"));
    REQUIRE(d.shell.ui_state().rect_of("mesh.token.row", 8));  // it keeps the same experts
    std::int64_t drawn = 0;
    for (std::uint64_t rank = 0; rank < 64; ++rank)
        drawn += d.shell.ui_state().rect_of("mesh.token.row", rank) ? 1 : 0;
    REQUIRE(drawn < 64);
    CHECK(says(d, with_commas(drawn) + " of 64 GPUs"));
    REQUIRE(d.click("mesh.token.row", 8));
    CHECK(l.state().picked == std::vector<std::int64_t>{8});
    CHECK(d.shell.selection().rank == -1);
    REQUIRE(d.click("mesh.token.row", 8));
    CHECK(l.state().picked.empty());
    REQUIRE(d.click("mesh.token.row", 0));  // the one that is asked about is no answer
    CHECK(l.state().picked.empty());
    for (std::uint64_t rank = 1; rank < 8; ++rank) REQUIRE(d.click("mesh.token.row", rank));
    REQUIRE(d.click("lesson.check"));
    CHECK(l.state().right);
    CHECK(d.shell.views().mesh.token.grows_since_s >= 0);  // the ways grow
    d.rest();
    CHECK(d.shell.views().mesh.token.grows_since_s < 0);
    CHECK(d.shell.selection().rank == 0);
    CHECK(says(d, "dispatch"));
    CHECK(d.shell.ui_state().rect_of("mesh.token.row", 8));  // the rows of the question stay
}

TEST_CASE("the same question can be answered by typing, and reduced motion draws all ways at once") {
    Driver d("mesh-8", {1600, 1000});
    run_id(d, "view.reduced_motion");
    LessonSession& l = at_experts(d);
    l.state().typed = "1-7";
    d.settle();
    REQUIRE(d.click("lesson.check"));
    CHECK(l.state().right);
    d.frame();
    CHECK(d.shell.views().mesh.token.grows_since_s < 0);
    CHECK(says(d, "dispatch"));
}
