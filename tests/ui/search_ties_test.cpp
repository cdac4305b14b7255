// Tests the view Search where layouts are tied, and ranges of its chips.
#include "app/ui/kit/format.h"
#include "tests/ui/press.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

const SearchViewState& tied_search(const Driver& d) {
    return d.shell.views().search;
}

void finish_ties(Driver& d) {
    d.until([&] {
        const SearchViewState& s = tied_search(d);
        return s.found && s.found->report && !s.found->running && !d.shell.wants_frame();
    });
}

void look_at_ties(Driver& d) {
    d.press({.key = Key::n9});
    finish_ties(d);
}

}  // namespace

TEST_CASE("layouts that cannot be told apart are one group, ordered by a second goal, and none is the best") {
    Driver d("mesh-8", {1600, 1000});
    look_at_ties(d);
    const SearchReport& r = *tied_search(d).found->report;
    REQUIRE(r.ties.count > 1);
    CHECK(says(d, "CANNOT BE TOLD APART"));
    CHECK_FALSE(says(d, "BEST, MOST"));
    const auto first = [&] { return tied_search(d).found->report->results.front(); };
    const auto tied = [&](auto&& figure) {
        double least = 1e300;
        for (const SearchResult& x : tied_search(d).found->report->results)
            if (x.tied) least = std::min(least, static_cast<double>(figure(x)));
        return least;
    };
    CHECK(first().step_s == tied([](const SearchResult& x) { return x.step_s; }));
    REQUIRE(d.click("search.then", 1));
    CHECK(first().memory_bytes == tied([](const SearchResult& x) { return x.memory_bytes; }));
    const Plan leanest = first().plan;
    REQUIRE(d.click("search.row", 0));
    CHECK(d.plan().layout == leanest.layout);
    d.press({.key = Key::z, .ctrl = true});
    REQUIRE(d.click("search.then", 2));
    const auto slowed = [](const SearchResult& x) { return std::max(x.slow_link_s, x.slow_stage_s); };
    CHECK(slowed(first()) == tied(slowed));
    CHECK(says(d, ui::time_text(slowed(first()))));
    REQUIRE(d.click("search.then", 3));
    CHECK(static_cast<double>(first().changes) == tied([](const SearchResult& x) { return x.changes; }));
    REQUIRE(d.click("search.then", 0));
}

TEST_CASE("a plan that is not listed stands where its step belongs, and the figures of a search add up") {
    Driver d("mesh-8", {1600, 1000});
    look_at_ties(d);
    d.surface.record_text(true);
    d.frame();
    const std::vector<TextRun> runs = d.surface.text_runs();
    d.surface.record_text(false);
    const SearchFound& found = *tied_search(d).found;
    const std::string own = ui::time_text(d.shell.evaluation().step->time_s);
    const SearchCounts& n = found.counts;
    CHECK(n.layouts == n.fit + n.invalid + n.too_big + n.skipped);
    CHECK(says(d, thousands(n.layouts - n.fit)));
    if (n.left_out > 0) CHECK(says(d, thousands(n.left_out) + " that are not run"));
    // Rows below the plan's own are no faster than it.
    std::size_t slower = 0;
    while (slower < found.report->results.size()
           && found.report->results[slower].step_s <= d.shell.evaluation().step->time_s)
        ++slower;
    if (slower >= found.report->results.size() || !d.drawn("search.row", slower)) return;
    const float row = d.shell.ui_state().rect_of("search.row", slower)->y;
    const auto at = std::find_if(runs.begin(), runs.end(), [&](const TextRun& run) {
        return run.text == own && run.at.y < row && run.at.x > 800;
    });
    CHECK(at != runs.end());
}

TEST_CASE("chips free what is held by default: recomputation of some layers and modules, types of states") {
    Driver d("mesh-8", {1600, 1000});
    look_at_ties(d);
    const auto layouts = [&] { return tied_search(d).found->report->counts.layouts; };
    const auto before = layouts();
    REQUIRE(d.click("search.finer"));
    finish_ties(d);
    CHECK(tied_search(d).request.finer);
    const auto finer = layouts();
    CHECK(finer > before);
    REQUIRE(d.click("search.vary", static_cast<std::uint64_t>(Varied::gradients)));
    finish_ties(d);
    CHECK(layouts() > finer);
}

TEST_CASE("a field's chip takes a range: layouts outside of it are not tried") {
    Driver d("mesh-8", {1600, 1000});
    look_at_ties(d);
    const auto pp = static_cast<std::uint64_t>(Varied::pp);
    const std::vector<std::int64_t> all = numbers_of(d.plan(), {}, Varied::pp);
    REQUIRE(all.size() > 2);
    REQUIRE(d.click("search.range", pp));
    REQUIRE(d.click("search.to.minus"));
    finish_ties(d);
    const std::int64_t most = all[all.size() - 2];
    for (const FoundLayout& x : tied_search(d).found->points) CHECK(x.choice.pp <= most);
    CHECK(says(d, "pp " + thousands(all.front()) + " to " + thousands(most)));
    REQUIRE(d.click("search.from.plus"));
    finish_ties(d);
    for (const FoundLayout& x : tied_search(d).found->points) CHECK(x.choice.pp >= all[1]);
    REQUIRE(d.click("search.to.plus"));
    REQUIRE(d.click("search.from.minus"));
    finish_ties(d);
    CHECK(tied_search(d).request.ranges.empty());  // it is the whole again
    REQUIRE(d.click("search.to.minus"));
    for (const char* number : {"search.from", "search.to"})
        REQUIRE(d.click(number));  // they are stepped only
    finish_ties(d);
    CHECK(tied_search(d).request.ranges.size() == 1);
    REQUIRE(d.click("search.whole"));
    finish_ties(d);
    CHECK(tied_search(d).request.ranges.empty());
    CHECK_FALSE(says(d, "pp " + thousands(all.front()) + " to "));
    REQUIRE(d.click("search.range", pp));
    CHECK_FALSE(d.drawn("search.from.plus"));
}
