// On a phone's screen one pane is shown at a time, and a finger's movement scrolls what can be scrolled.
#include "tests/near.h"
#include "tests/ui/driver.h"

#include <optional>

namespace pentamesh::ui {

using test::near;

namespace {

constexpr Vec2 kPhone{390, 844};
enum { kFirst, kPlan, kView };  // of the switch: advice or lesson, plan, view

void swipe(Driver& d, Vec2 at, float by) {
    d.shell.ui_state().swipe = {at, by};
    d.settle();
}

}  // namespace

TEST_CASE("a phone shows plan, view or advice, each from edge to edge") {
    Driver d("llama-3-70b-3d", kPhone);
    CHECK_FALSE(d.shell.ui_state().rect_of("plan.model"));
    d.click("side.tab", kPlan);
    const auto model = d.shell.ui_state().rect_of("plan.model");
    REQUIRE(model);
    CHECK(model->w > kPhone.x * 0.8f);
    const std::int64_t tp = d.plan().layout.tp;
    d.click("layout.tp.minus");
    CHECK(d.plan().layout.tp < tp);
    d.click("side.tab", kFirst);
    CHECK_FALSE(d.shell.ui_state().rect_of("plan.model"));
    d.shell.show_full(ViewId::memory);  // as a link does, or a key
    d.settle();
    CHECK_FALSE(d.shell.ui_state().rect_of("plan.model"));
    for (const std::string_view menu : {"menu.File", "menu.Edit", "menu.View", "menu.Learn", "menu.Help"}) {
        const auto r = d.shell.ui_state().rect_of(menu);
        REQUIRE(r);
        CHECK(r->right() <= kPhone.x);
    }
}

TEST_CASE("on a phone a lesson takes the whole width, and plan and view its place") {
    Driver d("llama-3-70b-3d", kPhone);
    d.shell.open_link("#lesson=03");
    d.settle();
    const auto next = d.shell.ui_state().rect_of("lesson.next");
    REQUIRE(next);
    CHECK(next->right() > kPhone.x * 0.9f);
    d.click("lesson.next");
    CHECK(d.shell.lesson().step == 1);
    d.click("side.tab", kPlan);
    CHECK(d.shell.ui_state().rect_of("plan.model"));
    d.click("side.tab", kView);
    CHECK_FALSE(d.shell.ui_state().rect_of("lesson.next"));
}

TEST_CASE("a finger scrolls the plan and changes no figure under it") {
    Driver d("llama-3-70b-3d", kPhone);
    d.click("side.tab", kPlan);
    const auto before = d.shell.ui_state().rect_of("layout.tp");
    REQUIRE(before);
    CHECK(d.shell.ui_state().scrolls_at(before->center()));
    CHECK_FALSE(d.shell.ui_state().scrolls_at({kPhone.x / 2, 10}));  // the menu bar
    const Plan plan = d.plan();
    swipe(d, before->center(), -40);
    const auto after = d.shell.ui_state().rect_of("layout.tp");
    REQUIRE(after);
    CHECK(after->y == near(before->y - 40));
    CHECK(d.plan() == plan);
    swipe(d, before->center(), 1000);
    CHECK(d.shell.ui_state().rect_of("layout.tp")->y == near(before->y));
    swipe(d, {kPhone.x / 2, 10}, -60);  // where nothing scrolls nothing does
    CHECK(d.shell.ui_state().rect_of("layout.tp")->y == near(before->y));
}

TEST_CASE("a table goes on by whole rows under a finger, and keeps the rest") {
    Driver d("deepseek-v3-2048", kPhone);
    d.press({.key = Key::n3, .shift = true});
    d.settle();
    const Vec2 middle = kPhone * 0.5f;
    REQUIRE(d.shell.ui_state().scrolls_at(middle));
    swipe(d, middle, -10);
    CHECK(d.shell.ui_state().swipe.by == near(-10));
    swipe(d, middle, -200);
    CHECK(d.shell.ui_state().swipe.by > -40);
}

}  // namespace pentamesh::ui
