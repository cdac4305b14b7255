// Tests the view Search: it shows what core/decide found, and offers its actions.
#include "app/tables/decide_tables.h"
#include "app/ui/kit/format.h"
#include "core/decide/bounds.h"
#include "core/rules/software_runs.h"
#include "tests/near.h"
#include "tests/ui/press.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <random>

using namespace pentamesh;
using pentamesh::test::near;
using namespace pentamesh::ui;

namespace {

const SearchViewState& search_of(const Driver& d) {
    return d.shell.views().search;
}

// Draws frames until the search has its report.
void finish(Driver& d) {
    d.until([&] {
        const SearchViewState& s = search_of(d);
        return s.found && s.found->report && !s.found->running && !d.shell.wants_frame();
    });
}

void look(Driver& d) {
    d.press({.key = Key::n9});
    finish(d);
}

}  // namespace

TEST_CASE("view Search lists what the search of core/decide finds, to the last digit") {
    Driver d("mesh-8");
    look(d);
    const SearchFound& found = *search_of(d).found;
    std::optional<SpaceError> error;
    const SearchReport expected =
        search(d.plan(), search_space(d.plan(), {}, error), {.top = 12, .threads = 1});
    REQUIRE(found.report->results.size() == expected.results.size());
    for (std::size_t i = 0; i < expected.results.size(); ++i) {
        CHECK(found.report->results[i].choice == expected.results[i].choice);
        CHECK(found.report->results[i].step_s == expected.results[i].step_s);
        CHECK(found.report->results[i].memory_bytes == expected.results[i].memory_bytes);
    }
    CHECK(says(d, ui::time_text(expected.results[0].step_s)));
    CHECK(says(d, thousands(expected.counts.layouts) + " layouts"));
    // The line of the plot is the Pareto line of the report.
    std::size_t pareto = 0;
    for (const SearchResult& r : expected.results) pareto += r.pareto ? 1 : 0;
    CHECK(found.front.size() == pareto);
}

TEST_CASE("a click on a result opens it as an edit, its search stays, and undo takes it back") {
    Driver d("mesh-8");
    look(d);
    const Plan before = d.plan();
    const SearchFound* found = search_of(d).found.get();
    const SearchResult best = found->report->results.front();
    REQUIRE(d.click("search.row", 0));
    CHECK(d.plan().layout == best.plan.layout);
    CHECK(d.plan().training == best.plan.training);
    CHECK(d.shell.evaluation().step->time_s == best.step_s);
    CHECK(d.shell.evaluation().memory.peak() == best.memory_bytes);
    d.settle();
    CHECK(search_of(d).found.get() == found);
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.plan() == before);
}

TEST_CASE("layers of the stages that are set after a layout was opened are searched around anew") {
    Driver d("mesh-8");
    look(d);
    const SearchFound before = *search_of(d).found;
    const std::vector<FoundLayout>& all = before.points;
    const auto other = std::find_if(all.begin(), all.end(), [&](const FoundLayout& x) {
        return x.choice.pp > 1 && x.choice.pp != d.plan().layout.pp && x.choice.virtual_stages == 1;
    });
    REQUIRE(other != all.end());
    Plan opened = with_choice(before, d.plan(), other->choice);
    CHECK(still_holds(before, opened));
    std::vector<std::int64_t> layers(static_cast<std::size_t>(opened.layout.pp), 1);
    layers.back() = opened.model.layers - opened.layout.pp + 1;
    opened.layout.stage_layers = layers;
    CHECK_FALSE(still_holds(before, opened));
}

TEST_CASE("the dots of a search show the degree of tp, or of pp") {
    Driver d("mesh-8");
    look(d);
    REQUIRE(d.click("search.color", 1));
    CHECK(search_of(d).colored_by == Axis::pp);
    d.move({2, 2});
    const Image by_pp = d.surface.read();
    REQUIRE(d.click("search.color", 0));
    d.move({2, 2});
    CHECK(d.surface.read().pixels != by_pp.pixels);
}

TEST_CASE("a click on a dot opens the layout under it") {
    Driver d("mesh-8");
    look(d);
    const SearchDots& dots = *search_of(d).dots;
    REQUIRE_FALSE(dots.dots.empty());
    const SearchFound& found = *search_of(d).found;
    // This dot has no near neighbour.
    std::size_t pick = 0;
    for (std::size_t i = 0; i < dots.dots.size(); ++i) {
        const auto near = std::count_if(dots.dots.begin(), dots.dots.end(), [&](const SearchDots::Dot& o) {
            return std::abs(o.at.x - dots.dots[i].at.x) + std::abs(o.at.y - dots.dots[i].at.y) < 30;
        });
        if (near == 1) pick = i;
    }
    const FoundLayout expected = found.points[dots.dots[pick].point];
    d.click_at(dots.dots[pick].at);
    CHECK(d.shell.evaluation().step->time_s == expected.step_s);
    CHECK(d.shell.evaluation().memory.peak() == expected.memory_bytes);
}

TEST_CASE("hovering a result says what it comes to") {
    Driver d("mesh-8");
    look(d);
    const SearchResult& best = search_of(d).found->report->results.front();
    d.move(d.shell.ui_state().rect_of("search.row", 0)->center());
    CHECK(says(d, "MFU " + percent(best.mfu)));
    CHECK(says(d, "click: open"));
}

TEST_CASE(
    "a row that was clicked says no more once the mouse is elsewhere, and one that has the focus stays") {
    Driver d("mesh-8");
    look(d);
    d.click("search.row", 0);
    finish(d);
    const Vec2 outside{40, d.shell.ui_state().size.y - 12};
    d.move(outside);
    d.settle();
    CHECK_FALSE(says(d, "click: open"));
    d.press({.key = Key::tab});  // to the next row
    d.rest();
    CHECK(says(d, "click: open"));
    for (int i = 1; i < 6; ++i) {  // kept parts stay right: see ~Driver
        d.move({40, outside.y - 60.0f * static_cast<float>(i)});
        d.settle();
    }
    CHECK(says(d, "click: open"));
    // The mouse on another row goes before the focus.
    const SearchResult& last = search_of(d).found->report->results[3];
    const auto row = d.shell.ui_state().rect_of("search.row", 3);
    REQUIRE(row);
    d.move(row->center());
    CHECK(says(d, "MFU " + percent(last.mfu)));
}

TEST_CASE("Shift+click pins the open plan and adds the layout to Compare") {
    Driver d("mesh-8");
    look(d);
    const Plan before = d.plan();
    const double step_s = search_of(d).found->report->results[1].step_s;
    d.input.shift = true;
    REQUIRE(d.click("search.row", 1));
    d.input.shift = false;
    d.settle();
    CHECK(d.plan() == before);
    const CompareViewState& compare = d.shell.views().compare;
    REQUIRE(compare.kept.size() == 2);
    CHECK(*compare.kept[0].plan == before);
    CHECK(compare.kept[1].evaluation->step->time_s == step_s);
}

TEST_CASE("a chip holds a field at the plan's value, and varies it again") {
    Driver d("mesh-8");
    look(d);
    REQUIRE(d.click("search.vary", static_cast<std::uint64_t>(Varied::tp)));
    finish(d);
    CHECK(search_of(d).found->space.tp == std::vector<std::int64_t>{d.plan().layout.tp});
    for (const SearchResult& r : search_of(d).found->report->results)
        CHECK(r.choice.tp == d.plan().layout.tp);
    CHECK(says(d, "held: tp 2"));
    REQUIRE(d.click("search.vary", static_cast<std::uint64_t>(Varied::tp)));
    finish(d);
    CHECK(search_of(d).found->space.tp.size() > 1);
}

TEST_CASE("a chip says for which software the search is, and takes the layouts of any") {
    Driver d("mesh-8");
    look(d);
    CHECK(says(d, "for Megatron-LM"));
    CHECK(search_of(d).found->report->counts.left_out > 0);
    const auto strange = [&] {
        const auto& results = search_of(d).found->report->results;
        return std::any_of(results.begin(), results.end(),
                           [](const SearchResult& r) { return lacks_of(r.plan, Software::megatron).any(); });
    };
    CHECK_FALSE(strange());
    REQUIRE(d.click("search.software"));
    finish(d);
    CHECK(says(d, "for any software"));
    CHECK(search_of(d).found->report->counts.left_out == 0);
    CHECK(search_of(d).found->space.software == std::nullopt);
    REQUIRE(d.click("search.software"));
    finish(d);
    CHECK_FALSE(strange());
    // The list behind the chip chooses another software: the plan names it then.
    CHECK_FALSE(d.drawn("search.software.of", static_cast<std::uint64_t>(Software::torchtitan)));
    REQUIRE(d.click("search.software.list"));
    REQUIRE(d.click("search.software.of", static_cast<std::uint64_t>(Software::torchtitan)));
    finish(d);
    CHECK(d.plan().training.software == Software::torchtitan);
    CHECK(search_of(d).found->space.software == Software::torchtitan);
    CHECK(says(d, "for torchtitan"));
    CHECK_FALSE(d.drawn("search.software.of", static_cast<std::uint64_t>(Software::torchtitan)));
    // It also takes any: each layout then says who runs it.
    REQUIRE(d.click("search.software.list"));
    REQUIRE(d.click("search.software.any"));
    finish(d);
    CHECK(d.plan().training.software == Software::torchtitan);
    CHECK(search_of(d).found->space.software == std::nullopt);
    CHECK(says(d, "for any software"));
    Plan plan = d.presets.plan("llama-3-70b-3d");
    CHECK(run_by_words(plan).find("Megatron-LM") != std::string::npos);
    plan.layout.schedule = Schedule::zb_v;  // Megatron-LM has 1f1b and interleaved
    CHECK(run_by_words(plan).find("Megatron-LM") == std::string::npos);
}

TEST_CASE("goal and headroom are asked of the search") {
    Driver d("mesh-8");
    look(d);
    REQUIRE(d.click("search.goal", 1));
    finish(d);
    const auto& results = search_of(d).found->report->results;
    CHECK(search_of(d).found->report->goal == Goal::memory);
    CHECK(std::is_sorted(results.begin(), results.end(),
                         [](const auto& a, const auto& b) { return a.memory_bytes < b.memory_bytes; }));
    for (int i = 0; i < 3; ++i) REQUIRE(d.click("search.headroom.plus"));
    REQUIRE(d.click("search.headroom.minus"));
    finish(d);
    CHECK(search_of(d).found->request.headroom == near(0.07));
    for (const SearchResult& r : search_of(d).found->report->results) CHECK(r.headroom >= 0.07 - 1e-12);
    REQUIRE(d.click("search.headroom"));
    CHECK(search_of(d).request.headroom == 0.05);
}

TEST_CASE("all results are listed on request, and an example of what was rejected can be looked at") {
    Driver d("mesh-8");
    look(d);
    const std::size_t rows = search_of(d).found->report->results.size();
    CHECK_FALSE(d.drawn("search.row", rows - 1));
    REQUIRE(d.click("search.all"));
    CHECK(d.drawn("search.row", rows - 1));
    d.wheel(d.shell.ui_state().rect_of("search.row", 2)->center(), -100);
    REQUIRE(d.click("search.reason", 0));
    CHECK(std::any_of(search_of(d).found->report->rejected.begin(),
                      search_of(d).found->report->rejected.end(),
                      [&](const Rejection& r) { return r.example.layout == d.plan().layout; }));
}

TEST_CASE("a search stops when nobody looks, by hand, and when another job is opened") {
    Driver d("llama-3.1-405b-16k");
    d.press({.key = Key::n9});
    d.settle();
    REQUIRE(search_of(d).found);
    REQUIRE(search_of(d).found->running);
    d.press({.key = Key::n2});
    CHECK_FALSE(search_of(d).found->running);
    CHECK_FALSE(search_of(d).found->report);
    d.press({.key = Key::n9});
    d.settle();
    REQUIRE(search_of(d).found->running);
    REQUIRE(d.click("search.stop"));
    finish(d);
    CHECK(search_of(d).found->report->cancelled);
    CHECK(says(d, "Stopped after"));
    REQUIRE(d.click("search.stop"));
    d.settle();
    REQUIRE(search_of(d).found->running);
    d.shell.open_plan(d.presets.plan("mesh-8"));
    finish(d);
    CHECK(search_of(d).found->base->cluster.gpus == 8);
}

TEST_CASE("a million layouts are as few dots as ten thousand, and their Pareto line is exact") {
    SearchFound found;
    found.base = std::make_shared<const Plan>();
    std::mt19937 random(7);
    std::uniform_real_distribution<double> any(0, 1);
    std::vector<FoundLayout> all;
    for (int i = 0; i < 1000000; ++i) {
        FoundLayout x;
        x.memory_bytes = any(random) * 70e9;
        x.step_s = 1 + any(random) * 3 + 30e9 / (x.memory_bytes + 1e9);
        x.choice.tp = i;
        found.add(x);
        if (i < 200000) all.push_back(x);
    }
    CHECK(found.fit == 1000000);
    CHECK(found.points.size() <= SearchFound::kMostPoints);
    for (std::size_t i = 1; i < found.front.size(); ++i) {
        CHECK(found.front[i].memory_bytes > found.front[i - 1].memory_bytes);
        CHECK(found.front[i].step_s < found.front[i - 1].step_s);
    }
    // No found layout is better than the line in both.
    for (const FoundLayout& x : all) {
        const auto after =
            std::upper_bound(found.front.begin(), found.front.end(), x.memory_bytes,
                             [](double m, const FoundLayout& p) { return m < p.memory_bytes; });
        REQUIRE(after != found.front.begin());
        REQUIRE((after - 1)->step_s <= x.step_s);
    }
    Plot plot;
    plot.area = {0, 0, 1800, 1400};
    plot.x = {0, 80e9, ScaleKind::linear, 0, 1800};
    plot.y = {0, 1, ScaleKind::linear, 1400, 0};
    SearchDots dots;
    make_dots(found, 1, plot, dots);
    CHECK(dots.dots.size() > 500);
    CHECK(dots.dots.size() <= static_cast<std::size_t>(SearchDots::kMost));
    for (const Rect none : {Rect{0, 0, -40, 300}, Rect{0, 0, 300, -40}, Rect{0, 0, 0, 0}}) {
        plot.area = none;  // the view is made so small
        make_dots(found, 1, plot, dots);
        CHECK(dots.dots.empty());
    }
}

TEST_CASE("a search of experts begins with fields held, so that it has few layouts, and says which") {
    Driver d("deepseek-v3-2048");
    const std::vector<Varied> held = held_at_first(d.plan(), true);
    SearchRequest r;
    r.held = held;
    r.any_software = true;
    const auto layouts = [&] { return nodes_of(d.plan(), space_of(d.plan(), r)).layouts; };
    CHECK(layouts() <= kUsualLayouts);
    REQUIRE(r.held.size() >= 1);
    CHECK(r.held.front() == Varied::order);
    r.held.pop_back();  // no more are held than it takes
    CHECK(layouts() > kUsualLayouts);
    CHECK(held_at_first(d.presets.plan("llama-3.1-405b-16k"), false).empty());
    d.press({.key = Key::n9});
    d.settle();
    CHECK(says(d, "held: "));
    d.press({.key = Key::n9});
}

TEST_CASE("the tabs of Search and Compare show them, and what is longer than its place scrolls") {
    Driver d("llama-3-70b-3d", {1600, 900});
    const auto drag_down = [&](const std::string& list) {
        CAPTURE(list);
        d.settle();
        const auto thumb = d.shell.ui_state().rect_of(list + ".thumb");
        REQUIRE(thumb);
        const Vec2 top{thumb->center().x, thumb->y + 4};
        d.drag(top, top + Vec2{0, thumb->h});
    };
    REQUIRE(d.click("view.search"));
    finish(d);
    drag_down("search.list");
    CHECK(d.shell.views().search.list_scroll.at == d.shell.views().search.list_scroll.most);
    d.surface.resize({1000, 640}, 1);  // plot and list one below the other
    drag_down("search.scroll");
    CHECK(d.shell.views().search.scroll.at == d.shell.views().search.scroll.most);
    d.surface.resize({1600, 900}, 1);
    d.settle();
    d.press({.key = Key::d, .ctrl = true});
    REQUIRE(d.click("view.compare"));
    drag_down("compare.scroll");
    CHECK(d.shell.views().compare.scroll.at == d.shell.views().compare.scroll.most);
    d.press({.key = Key::n7});
    REQUIRE(d.click("step.part_below", 3));
    d.until([&] { return d.shell.views().step.tornado.of.is_of(d.shell.document().revision()); });
    d.surface.resize({1600, 640}, 1);
    drag_down("step.tornado");
}

TEST_CASE("a plan whose layout is impossible is searched all the same, and the best is opened") {
    Driver d("mesh-8");
    Plan broken = d.plan();
    broken.layout.tp = 3, broken.layout.ep = 4;  // as it stands after another model was typed in
    d.shell.edit_plan(broken, "a layout that does not fit");
    d.settle();
    REQUIRE_FALSE(d.shell.evaluation().valid);
    look(d);
    const SearchFound& found = *search_of(d).found;
    REQUIRE_FALSE(found.report->results.empty());
    CHECK(says(d, "This plan is not possible"));
    CHECK(says(d, ui::time_text(found.report->results.front().step_s)));
    // The result is as good as the search of a plan that is possible.
    Plan sound = d.presets.plan("mesh-8");
    std::optional<SpaceError> error;
    const SearchReport expected = search(sound, search_space(sound, {}, error), {.top = 12, .threads = 1});
    CHECK(found.report->results.front().step_s == expected.results.front().step_s);
    REQUIRE(d.click("search.row", 0));
    CHECK(d.shell.evaluation().valid);
    CHECK(d.shell.evaluation().step->time_s == expected.results.front().step_s);
}
