// Tests the view Scale: it shows what core/decide evaluated, and a click on a value makes it the plan's.
#include "app/ui/kit/format.h"
#include "app/ui/review/review.h"
#include "app/ui/shell/picture.h"
#include "app/ui/views/scale/view.h"
#include "app/ui/views/table.h"
#include "core/plan/edits.h"
#include "tests/near.h"
#include "tests/ui/press.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <string>

using namespace pentamesh;
using pentamesh::test::near;
using namespace pentamesh::ui;

namespace {

const ScaleViewState& scale_of_view(const Driver& d) {
    return d.shell.views().scale;
}

void finish_scale(Driver& d) {
    d.until([&] {
        const ScaleViewState& s = scale_of_view(d);
        return s.of.is_of({d.shell.document().revision(), s.page}) && !d.shell.wants_frame();
    });
}

void look_at_scale(Driver& d) {
    d.press({.key = Key::n9, .shift = true});
    finish_scale(d);
}

std::size_t point_index(const Scale& s, std::int64_t value) {
    const ScalePoint* p = s.at(value);
    REQUIRE(p);
    return static_cast<std::size_t>(p - s.points.data());
}

FontFiles scale_fonts() {
    return find_fonts(std::filesystem::path(SOURCE_DIR) / "assets");
}

}  // namespace

TEST_CASE("Scale has a tab among the views over the mesh") {
    Driver d("mesh-8");
    REQUIRE(d.click("view.scale"));
    d.settle();
    CHECK(d.drawn("view.scale"));
    CHECK(std::find(d.shell.views().in_pane.begin(), d.shell.views().in_pane.end(), ViewId::scale)
          != d.shell.views().in_pane.end());
}

TEST_CASE("view Scale says what core/decide says, and a click on a number of GPUs is an edit") {
    Driver d("llama-3.1-405b-16k", {1600, 1000});
    look_at_scale(d);
    const Scale expected = scale_of(d.plan());
    const Scale& shown = (*scale_of_view(d).of)->scale;
    // All that is possible is shown, and the nearest refusal.
    REQUIRE(shown.points.size() < expected.points.size());
    for (std::size_t i = 0; i < expected.points.size(); ++i) {
        if (i >= shown.points.size()) {
            CHECK_FALSE(expected.points[i].possible());
            continue;
        }
        CHECK(shown.points[i].at == expected.points[i].at);
        CHECK(shown.points[i].step_s == expected.points[i].step_s);
    }
    CHECK(says(d, "this plan: 16,384 GPUs"));
    for (const NamedTurn& t : named_turns(expected)) CHECK(says(d, t.of->what));
    const ScalePoint& half = expected.points[point_index(expected, 8192)];
    REQUIRE(half.possible());
    CHECK(says(d, percent_text(half.of_best)));
    REQUIRE(d.click("scale.point", point_index(expected, 8192)));
    CHECK(d.plan().cluster.gpus == 8192);
    CHECK(d.shell.evaluation().step->time_s == half.step_s);
    CHECK(d.shell.evaluation().memory.peak() == half.memory_bytes);
    finish_scale(d);
    CHECK(says(d, "this plan: 8,192 GPUs"));
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.plan().cluster.gpus == 16384);
}

TEST_CASE("Scale asks the same of batch, sequence and factors, strong and weak") {
    Driver d("deepseek-v3-2048", {1600, 1000});
    look_at_scale(d);
    CHECK(scale_of_view(d).page == 0);
    REQUIRE(d.click("scale.batch", 1));
    finish_scale(d);
    CHECK((*scale_of_view(d).of)->scale.request.weak);
    REQUIRE(d.click("scale.batch", 0));
    // The switch has GPUs, batch, sequence, tp, cp, ep, pp.
    const ScaleOver over[] = {ScaleOver::gpus, ScaleOver::batch, ScaleOver::sequence, ScaleOver::tp,
                              ScaleOver::cp,   ScaleOver::ep,    ScaleOver::pp};
    for (std::uint64_t i = 0; i < std::size(over); ++i) {
        REQUIRE(d.click("scale.over", i));
        finish_scale(d);
        CAPTURE(name_of(over[i]));
        CHECK((*scale_of_view(d).of)->scale.request.over == over[i]);
    }
    const Scale& s = (*scale_of_view(d).of)->scale;
    const auto other = std::find_if(s.points.begin(), s.points.end(),
                                    [&](const ScalePoint& p) { return p.possible() && p.at != s.own; });
    REQUIRE(other != s.points.end());
    const std::int64_t pp = other->at;
    REQUIRE(d.click("scale.point", point_index(s, pp)));
    CHECK(d.plan().layout.pp == pp);
    CHECK(d.plan().cluster.gpus == 2048);
}

TEST_CASE("a bar of another number makes its value the plan's") {
    Driver d("llama-3.1-405b-16k", {1600, 1000});
    look_at_scale(d);
    const ScalePicture& picture = **scale_of_view(d).of;
    std::uint64_t index = 0;
    for (const Scale& s : picture.others)
        for (const ScalePoint& p : s.points) {
            if (s.request.over == ScaleOver::cp && p.possible() && p.at == 2 * s.own) {
                REQUIRE(d.click("scale.bar", index));
                CHECK(d.plan().layout.cp == 2 * s.own);
                return;
            }
            ++index;
        }
    FAIL("no bar of cp");
}

TEST_CASE("Scale as data has a row for each value, and one for each turn") {
    Driver d("llama-3-70b-3d", {1600, 1000});
    look_at_scale(d);
    const Scale s = scale_of(d.plan());
    REQUIRE_FALSE(s.crossings.empty());
    REQUIRE(d.click("view.data", static_cast<std::uint64_t>(ViewId::scale)));
    run_id(d, "export.csv");
    CHECK(std::count(d.clipboard.begin(), d.clipboard.end(), '\n')
          == static_cast<std::ptrdiff_t>(scale_picture_of(d.plan(), {}).scale.points.size()) + 1);
    REQUIRE(d.click("data.part", 1));
    run_id(d, "export.csv");
    CHECK(d.clipboard.find(s.crossings.front().what) != std::string::npos);
}

TEST_CASE("a picture of Scale, the dashboard with it, and its page of a review show the same figures") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const Plan plan = presets.plan("llama-3.1-405b-16k");
    const Scale s = scale_of(plan);
    PictureRequest r;
    r.view = "scale";
    r.size = {1600, 1000};
    const std::string svg = make_picture(presets, plan, r, "svg", scale_fonts());
    CHECK(svg.find("this plan: 16,384 GPUs") != std::string::npos);
    CHECK(svg.find(percent_text(s.at(8192)->of_best)) != std::string::npos);
    ReviewRequest review;
    review.pages = {ReviewPage::scale};
    std::vector<TextRun> runs;
    review.text_runs = &runs;
    (void)make_review(presets, {&plan, 1}, review, ReviewForm::html, scale_fonts());
    const auto says_run = [&](const std::string& words) {
        return std::any_of(runs.begin(), runs.end(),
                           [&](const TextRun& run) { return run.text.find(words) != std::string::npos; });
    };
    CHECK(says_run("this plan: 16,384 GPUs"));
    CHECK(says_run(percent_text(s.at(8192)->of_best)));
    for (const NamedTurn& t : named_turns(s)) CHECK(says_run(t.of->place));
    r.view = "dashboard";
    r.screen = Screen{};
    r.screen->views.in_pane[static_cast<std::size_t>(Pane::top)] = ViewId::scale;
    const std::string dashboard = make_picture(presets, plan, r, "svg", scale_fonts());
    CHECK(dashboard.find("this plan: 16,384 GPUs") != std::string::npos);
}

TEST_CASE("after an edit Scale keeps the plan before it as an outline, on axes that hold both") {
    Driver d("llama-3-8b-fsdp", {1600, 1000});
    look_at_scale(d);
    const std::shared_ptr<const ScalePicture> before = *scale_of_view(d).of;
    CHECK(before->beside == nullptr);
    CHECK_FALSE(says(d, "thin dashes: A, before"));
    Plan plan = d.plan();
    plan.training.global_batch *= 4;
    d.shell.edit_plan(plan, "a larger batch");
    d.settle();
    finish_scale(d);
    const ScalePicture& now = **scale_of_view(d).of;
    const Scale* a = now.outline_over(now.scale.request);
    REQUIRE(a != nullptr);
    REQUIRE(a->at(a->own) != nullptr);
    CHECK(a->at(a->own)->step_s == before->scale.at(before->scale.own)->step_s);
    CHECK(a->at(a->own)->step_s < 0.5 * now.scale.at(now.scale.own)->step_s);
    CHECK(says(d, "thin dashes: A, before"));
    CHECK(says(d, "A: step"));
    // Undone, the scale is the same: now the larger batch is the one before.
    d.press({.key = Key::z, .ctrl = true});
    finish_scale(d);
    CHECK((*scale_of_view(d).of)->scale.at(before->scale.own)->step_s
          == before->scale.at(before->scale.own)->step_s);
}

TEST_CASE("the axes of Scale are the same, whichever of two plans is shown") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const Plan a = presets.plan("llama-3-8b-fsdp");
    Plan b = a;
    b.training.global_batch *= 4;
    const auto ticks = [&](const Plan& shown, const Plan* beside) {
        PictureRequest r;
        r.view = "scale";
        r.size = {1600, 1000};
        if (beside != nullptr) r.compared = {*beside}, r.outlined = true;
        std::vector<TextRun> runs;
        r.text_runs = &runs;
        (void)make_picture(presets, shown, r, "svg", scale_fonts());
        std::vector<std::pair<std::string, float>> out;
        for (const TextRun& run : runs)
            if (run.at.x < 110 && (run.text.ends_with(" s") || run.text.ends_with(" ms")))
                out.emplace_back(run.text, run.at.y);
        return out;
    };
    CHECK(ticks(a, &b) == ticks(b, &a));
    CHECK_FALSE(ticks(a, &b).empty());
    CHECK(ticks(a, &b) != ticks(a, nullptr));
}

TEST_CASE("a lesson names what Scale is over") {
    ViewStates states;
    CHECK(show_named_page(states, ViewId::scale, "weak"));
    CHECK(scale_request(states.scale.page).weak);
    CHECK(show_named_page(states, ViewId::scale, "sequence"));
    CHECK(scale_request(states.scale.page).over == ScaleOver::sequence);
    CHECK_FALSE(show_named_page(states, ViewId::scale, "gpus"));
}

TEST_CASE("at most five crossings are named, in their order, and refusals have no number") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    for (const char* id : {"llama-3.1-405b-16k", "deepseek-v3-2048", "mesh-8", "llama-3-8b-fsdp"}) {
        CAPTURE(id);
        const Scale s = scale_of(presets.plan(id));
        const std::vector<NamedTurn> turns = named_turns(s);
        CHECK(turns.size() == std::min<std::size_t>(5, s.crossings.size()));
        int number = 0;
        for (std::size_t i = 0; i < turns.size(); ++i) {
            if (i > 0) CHECK(turns[i].of->at >= turns[i - 1].of->at);
            if (turns[i].of->turn == ScaleTurn::refused)
                CHECK(turns[i].number == 0);
            else
                CHECK(turns[i].number == ++number);
        }
    }
}

TEST_CASE("names of curves lie on no curve and on no other name") {
    NamePlaces places({0, 0, 400, 300}, 6);
    const std::vector<Vec2> falling{{0, 10}, {200, 120}, {400, 290}}, level{{0, 150}, {400, 150}};
    for (const auto* line : {&falling, &level})
        for (std::size_t i = 1; i < line->size(); ++i) places.add_line((*line)[i - 1], (*line)[i]);
    const Rect a = places.beside(falling, {60, 16}), b = places.beside(level, {60, 16});
    REQUIRE_FALSE(a.empty());
    REQUIRE_FALSE(b.empty());
    CHECK((a.right() <= b.x || b.right() <= a.x || a.bottom() <= b.y || b.bottom() <= a.y));
    CHECK((b.bottom() <= 150 || b.y >= 150));
    CHECK(places.beside(level, {500, 16}).empty());
}
