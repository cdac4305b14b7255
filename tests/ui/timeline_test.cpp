// Tests the timeline's controls: play and step, zoom, a slow stage, two steps, a second schedule, and what
// the mesh shows at the cursor.
#include "app/ui/kit/format.h"
#include "app/ui/views/timeline/timeline_parts.h"
#include "app/ui/views/timeline/timeline_windows.h"
#include "core/pipeline/timeline.h"
#include "tests/near.h"
#include "tests/ui/driver.h"
#include "tests/ui/press.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace pentamesh;
using pentamesh::test::near;
using namespace pentamesh::ui;

namespace {

Rect place(Driver& d, std::string_view name, std::uint64_t index = 0) {
    const auto r = d.shell.ui_state().rect_of(name, index);
    REQUIRE(r);
    return *r;
}

const Timeline& shown(Driver& d) {
    const Timeline* t = d.shell.views().timeline.current(d.shell.evaluation(), d.shell.document().revision());
    REQUIRE(t != nullptr);
    return *t;
}

std::size_t pixels_apart(const Image& a, const Image& b, Rect r) {
    std::size_t n = 0;
    for (int y = static_cast<int>(r.y); y < static_cast<int>(r.bottom()); ++y)
        for (int x = static_cast<int>(r.x); x < static_cast<int>(r.right()); ++x) {
            const auto i = (static_cast<std::size_t>(y) * static_cast<std::size_t>(a.width)
                            + static_cast<std::size_t>(x))
                           * 4;
            n += a.pixels[i] != b.pixels[i] || a.pixels[i + 1] != b.pixels[i + 1] ? 1 : 0;
        }
    return n;
}

// Returns the time that the timeline shows: the step's.
double whole_s(const Driver& d) {
    return d.shell.evaluation().step->time_s;
}

}  // namespace

TEST_CASE("play moves the cursor on, pause holds it, and the keys do the same") {
    Driver d("llama-3-70b-3d");
    CHECK(d.shell.views().timeline.cursor_s < 0);
    REQUIRE(d.click("timeline.play"));
    const double first = d.shell.views().timeline.cursor_s;
    CHECK(first == near(4.0 / 60 / 12 * whole_s(d)));  // of the 12 seconds that a timeline takes, four frames
    for (int i = 0; i < 5; ++i) d.frame();
    CHECK(d.shell.views().timeline.cursor_s > first);
    CHECK(d.shell.wants_frame());
    d.press({Key::p});
    const double held = d.shell.views().timeline.cursor_s;
    for (int i = 0; i < 5; ++i) d.frame();
    CHECK(d.shell.views().timeline.cursor_s == held);
    d.press({Key::escape});
    CHECK(d.shell.views().timeline.cursor_s < 0);
}

TEST_CASE("stepping goes from one start or end of an op to the next, and back") {
    Driver d("gpt-175b-a100");
    REQUIRE(d.click("timeline.forward"));
    CHECK(d.shell.views().timeline.cursor_s == 0);  // the first op starts there
    for (int i = 0; i < 4; ++i) {
        const double before = d.shell.views().timeline.cursor_s;
        d.press({Key::period});
        CHECK(d.shell.views().timeline.cursor_s == next_boundary(shown(d), before).value());
    }
    const double before = d.shell.views().timeline.cursor_s;
    d.press({Key::comma});
    CHECK(d.shell.views().timeline.cursor_s == previous_boundary(shown(d), before).value());
    REQUIRE(d.click("timeline.back"));
    // With a stage selected, its own ops are stepped through.
    REQUIRE(d.click("timeline.row", 5));
    CHECK(d.shell.selection().stage == 5);
    const double from = d.shell.views().timeline.cursor_s;
    d.press({Key::period});
    CHECK(d.shell.views().timeline.cursor_s == next_boundary(shown(d), from, 5).value());
}

TEST_CASE("the wheel zooms about the mouse down to a nanosecond, dragging pans and Home fits again") {
    Driver d("llama-3.1-405b-16k");  // too few micro-batches for windows
    d.press({Key::n5});
    const Rect plot = place(d, "timeline.plot");
    const Vec2 at{plot.x + plot.w * 0.3f, plot.y + 20};
    d.wheel(at, 4);
    const double span = d.shell.views().timeline.to_s - d.shell.views().timeline.from_s;
    const double whole = d.shell.views().timeline.shown->whole_s(d.shell.evaluation());
    CHECK(span == near(whole * 0.8 * 0.8 * 0.8 * 0.8));
    CHECK(d.shell.views().timeline.from_s + 0.3 * span == near(0.3 * whole, 0.001));
    const double from = d.shell.views().timeline.from_s;
    d.drag({plot.x + 300, plot.y + 20}, {plot.x + 200, plot.y + 20});
    CHECK(d.shell.views().timeline.from_s == near(from + 100 / static_cast<double>(plot.w) * span, 1e-6));
    for (int i = 0; i < 40; ++i) d.wheel(at, 5);
    CHECK(d.shell.views().timeline.to_s - d.shell.views().timeline.from_s == near(1e-9, 1e-3));
    d.press({Key::home});
    CHECK(d.shell.views().timeline.to_s == 0);
}

TEST_CASE("an injected slow stage makes the step longer, is named, moves with a click and is removed") {
    Driver d("llama-3-70b-3d");
    d.press({Key::n5});
    const Plan plan = d.plan();
    const double makespan = shown(d).makespan;
    REQUIRE(d.click("timeline.slow.plus"));
    CHECK(d.shell.views().timeline.choice.slow == SlowDevice{0, 1.25});
    REQUIRE(d.click("timeline.slow.plus"));
    CHECK(d.shell.views().timeline.choice.slow.factor == 1.5);
    const ShownTimeline& s = *d.shell.views().timeline.shown;
    CHECK(shown(d).makespan > 1.3 * makespan);
    CHECK(s.step_before_s == d.shell.evaluation().step->time_s);
    CHECK(s.step_s - s.step_before_s == near(shown(d).makespan - makespan));
    CHECK(d.plan() == plan);  // the plan itself has not changed
    CHECK(d.shell.evaluation().timeline.makespan == makespan);
    REQUIRE(d.click("timeline.row", 2));
    CHECK(d.shell.views().timeline.choice.slow == SlowDevice{2, 1.5});
    CHECK(shown(d).device[2].busy == near(1.5 * d.shell.evaluation().timeline.device[2].busy));
    REQUIRE(d.click("timeline.slow.remove"));
    CHECK_FALSE(d.shell.views().timeline.choice.slow.any());
    CHECK(shown(d).makespan == makespan);
    for (int i = 0; i < 9; ++i) d.click("timeline.slow.plus");
    CHECK(d.shell.views().timeline.choice.slow.factor == 5);
    for (int i = 0; i < 9; ++i) d.click("timeline.slow.minus");
    CHECK_FALSE(d.shell.views().timeline.choice.slow.any());
}

TEST_CASE("a stage that is slowed by hand is said wherever the step is, with what it was without it") {
    Driver d("llama-3-70b-3d", {1600, 1000});
    d.press({Key::n5});
    REQUIRE(d.click("timeline.slow.plus"));
    const Step& own = *d.shell.evaluation().step;
    const double longer = d.shell.views().timeline.shown->step_s;
    REQUIRE(longer > own.time_s);
    CHECK(says(d, "injected; else " + ui::time_text(own.time_s)));
    CHECK(says(d, "else " + ui::percent(own.mfu)));
    d.press({Key::n5});  // the dashboard: the band and "Where the step goes"
    CHECK(says(d, "injected; else " + ui::time_text(own.time_s)));
    CHECK(says(d, "stage 0 × 1.25"));
    CHECK(says(d, "+ " + ui::time_text(longer - own.time_s)));
    // Another plan's step follows at once, without the timeline being drawn first.
    REQUIRE(d.click("layout.pp.minus"));
    CHECK(says(d, "else " + ui::time_text(d.shell.evaluation().step->time_s)));
    d.press({Key::n5});
    REQUIRE(d.click("timeline.slow.remove"));
    CHECK_FALSE(says(d, "else " + ui::time_text(d.shell.evaluation().step->time_s)));
}

TEST_CASE(
    "of one stage the timeline draws what a GPU holds, with Memory's figure, and the gradients that add up") {
    Driver d("mesh-8", {1600, 1000});
    d.press({Key::n5});
    const Memory& memory = d.shell.evaluation().memory;
    CHECK(says(d, "each GPU holds at most " + ui::memory_text(memory.peak()) + " of "
                      + ui::memory_text(memory.hbm)));
    CHECK(says(d, "optimizer " + ui::memory_text(memory.stage.front().optimizer)));
    CHECK(says(d, "8 micro-batches one after another, no bubble"));
    CHECK(says(d, "each one's gradients are reduced, and add up in the shards"));
    d.press({Key::backslash});
    REQUIRE(d.click("mod.zero", 1));
    CHECK(says(d, "their gradients add up, and are reduced once"));
    const Rect ruler = place(d, "timeline.ruler");
    d.drag(ruler.center(), ruler.center() + Vec2{40, 0});
    CHECK(says(d, "at the cursor each GPU holds "));
}

TEST_CASE("a stage that was slowed by hand stays with its plan") {
    Driver d("gpt-175b-a100");
    d.press({Key::n5});
    REQUIRE(d.click("timeline.slow.plus"));
    REQUIRE(d.shell.views().timeline.choice.slow.any());
    d.shell.open_plan(d.presets.plan("llama-3-70b-3d"));
    d.settle();
    CHECK_FALSE(d.shell.views().timeline.choice.slow.any());
    CHECK(shown(d).makespan == d.shell.evaluation().timeline.makespan);
}

TEST_CASE("a slow stage that the next plan does not have is no stage") {
    Driver d("gpt-175b-a100");
    d.press({Key::n5});
    REQUIRE(d.click("timeline.slow.plus"));
    REQUIRE(d.click("timeline.row", 7));
    REQUIRE(d.shell.views().timeline.choice.slow.device == 7);
    d.press({Key::n5});
    REQUIRE(d.click("layout.pp.minus"));
    REQUIRE(d.shell.evaluation().timeline.device.size() < 8);
    d.settle();
    CHECK(shown(d).makespan == d.shell.evaluation().timeline.makespan);
}

TEST_CASE("two steps back to back, and what one more costs") {
    Driver d("llama-3-70b-3d");
    d.press({Key::n5});
    REQUIRE(d.click("timeline.steps", 1));
    CHECK(shown(d).iterations == 2);
    REQUIRE(d.shell.views().timeline.shown->bubble.steady.has_value());
    CHECK(*d.shell.views().timeline.shown->bubble.steady
          <= d.shell.views().timeline.shown->bubble.makespan + 1e-9);
    // A block of the second step is the same op of the plan as that of the first.
    const Rect plot = place(d, "timeline.plot");
    const Timeline& t = shown(d);
    const double whole = d.shell.views().timeline.shown->whole_s(d.shell.evaluation());
    d.wheel({plot.x + plot.w * 0.75f, plot.y + 10}, 16);
    const Timeline& own = d.shell.evaluation().timeline;
    for (int i = 0; i < 20 && d.shell.selection().op < 0; ++i)
        d.click_at({plot.x + plot.w * 0.75f + static_cast<float>(i) * 7, plot.y + 10});
    REQUIRE(d.shell.selection().op >= 0);
    CHECK(static_cast<std::size_t>(d.shell.selection().op) < own.order.begin[1]);
    CHECK(t.makespan <= whole);
    REQUIRE(d.click("timeline.steps", 0));
    CHECK(shown(d).iterations == 1);
}

TEST_CASE("a second schedule runs on the same time axis, slowed and repeated alike") {
    Driver d("gpt-175b-a100");
    d.press({Key::n5});
    REQUIRE(d.click("timeline.second.plus"));
    REQUIRE(d.click("timeline.second.plus"));
    CHECK(d.shell.views().timeline.second == static_cast<int>(Schedule::one_f_one_b));
    REQUIRE(d.click("timeline.slow.plus"));
    REQUIRE(d.click("timeline.steps", 1));
    const TimelineViewState& s = d.shell.views().timeline;
    const Timeline& other = s.second_shown->timeline(s.other->evaluation);
    CHECK(other.iterations == 2);
    CHECK(other.shape.schedule == Schedule::one_f_one_b);
    CHECK(other.makespan > 2 * s.other->evaluation.timeline.makespan * 1.05);
    for (int i = 0; i < 8; ++i) {  // none of the others harms, the refused ones say why
        d.click("timeline.second.plus");
        d.settle();
    }
}

TEST_CASE("a second schedule is what the panel would make of the plan") {
    Driver d("llama-3.1-405b-16k");
    Plan p = d.plan();
    p.layout.schedule = Schedule::one_f_one_b;
    p.layout.virtual_stages = 1;
    p.layout.stage_layers.clear();
    p.layout.microbatch_group = 32;
    d.shell.edit_plan(p, "1F1B");
    d.settle();
    REQUIRE(d.shell.evaluation().valid);
    d.press({Key::n5});
    const TimelineViewState& s = d.shell.views().timeline;
    while (s.second != static_cast<int>(Schedule::interleaved)) REQUIRE(d.click("timeline.second.plus"));
    CHECK(s.other->evaluation.valid);
    CHECK_FALSE(s.other->plan.layout.microbatch_group.has_value());
}

TEST_CASE("the ruler sets the cursor, and the mesh shows which GPUs work then until it goes") {
    Driver d("llama-3-70b-3d");
    const Image groups = d.surface.read();
    const Rect ruler = place(d, "timeline.ruler"), cells = place(d, "mesh.cells");
    d.drag({ruler.x + 10, ruler.center().y}, {ruler.x + ruler.w * 0.5f, ruler.center().y});
    REQUIRE(d.shell.views().timeline.windows.has_value());  // the first window's ruler
    CHECK(d.shell.views().timeline.cursor_s
          == near(d.shell.views().timeline.windows->window[0].to_s / 2, 0.02));
    d.move({5, 5});
    const Image working = d.surface.read();
    CHECK(pixels_apart(groups, working, cells) > 20000);
    d.press({Key::escape});
    d.settle();
    CHECK(pixels_apart(groups, d.surface.read(), cells) < 100);
}

TEST_CASE("hovering a stage's name in the timeline dims the other stages' GPUs") {
    Driver d("llama-3-70b-3d");
    d.move({5, 5});
    d.settle();
    const Image plain = d.surface.read();
    d.move(place(d, "timeline.row", 1).center());
    d.settle();
    CHECK(pixels_apart(plain, d.surface.read(), place(d, "mesh.cells")) > 20000);
}

TEST_CASE("many micro-batches are shown in three windows, which the wheel leaves and Home brings back") {
    Driver d("llama-3-70b-3d");
    d.press({Key::n5});
    const auto windows = [&] { return d.drawn("timeline.plot", 2); };
    REQUIRE(windows());
    const TimelineWindows kept = *d.shell.views().timeline.windows;
    CHECK(kept.window[0].from_s == 0);
    CHECK(kept.window[2].to_s == near(d.shell.views().timeline.shown->whole_s(d.shell.evaluation())));
    // They are on one scale, and the middle one begins where a period does.
    for (const TimeScale& w : kept.window)
        CHECK(static_cast<double>(w.plot.w) / (w.to_s - w.from_s)
              == near(static_cast<double>(kept.window[0].plot.w) / kept.window[0].to_s, 1e-4));
    const double periods = (kept.window[1].from_s - kept.steady.from_s) / kept.steady.period_s;
    CHECK(std::abs(periods - std::round(periods)) < 1e-6);
    const double middle = kept.window[1].from_s;
    const Rect strip = place(d, "timeline.overview");
    d.drag(strip.center(), {strip.x + strip.w * 0.75f, strip.center().y});
    CHECK(d.shell.views().timeline.windows->window[1].from_s > middle);
    d.press({Key::home});
    CHECK(d.shell.views().timeline.windows->window[1].from_s == middle);
    const Rect steady = *d.shell.ui_state().rect_of("timeline.plot", 1);
    d.wheel(steady.center(), 2);
    CHECK_FALSE(windows());
    d.press({Key::home});
    CHECK(windows());
}

namespace {

// Counts the ops of a stage that a window shows, and checks the blocks that are drawn there against them.
std::size_t check_row(const Driver& d, const Timeline& t, std::size_t part, int stage) {
    const TimelineViewState& s = d.shell.views().timeline;
    const TimeScale& w = s.windows->window[part];
    const auto row = static_cast<std::size_t>(stage);
    std::size_t first = 0, ops = 0;
    for (std::size_t i = t.order.begin[row]; i < t.order.begin[row + 1]; ++i) {
        if (t.end[i] <= w.from_s || t.start[i] >= w.to_s) continue;
        if (ops++ == 0) first = i;
    }
    SeenBlocks blocks = s.window_blocks[part];
    std::size_t drawn = 0;
    for (const pentamesh::Block& b : blocks.row(t, s.shown->index, stage)) {
        if (b.to <= w.from_s || b.from >= w.to_s) continue;
        CHECK(b.first == first + drawn);
        CHECK(b.from == t.start[b.first]);
        drawn += b.last - b.first + 1;
        CHECK(b.to == t.end[b.last]);
    }
    CHECK(drawn == ops);
    return ops;
}

}  // namespace

TEST_CASE("a pane of the dashboard and the full view show the same three parts of the schedule") {
    for (const char* plan : {"llama-3-70b-3d", "deepseek-v3-2048"}) {
        CAPTURE(plan);
        Driver d(plan, {1600, 1000});
        for (const bool full : {false, true}) {
            CAPTURE(full);
            if (full) d.press({Key::n5});
            d.settle();
            REQUIRE(d.shell.views().timeline.windows.has_value());
            const TimelineWindows w = *d.shell.views().timeline.windows;
            const Timeline& t = shown(d);
            CHECK((w.form == kLargeWindows) == full);
            // The pipeline fills from the start, the last window ends with the step.
            const double whole = whole_s(d);
            CHECK(w.window[0].from_s == 0);
            CHECK(w.window[0].to_s >= first_round_s(t) * (1 - 1e-9));
            CHECK(w.window[2].to_s == near(whole));
            CHECK(w.window[2].to_s - w.window[2].from_s >= 0.06 * whole * (1 - 1e-9));
            const double periods = (w.window[1].from_s - w.steady.from_s) / w.steady.period_s;
            CHECK(std::abs(periods - std::round(periods)) < 1e-6);
            // They share the width but for the two gaps.
            CHECK(w.window[0].plot.w + w.window[1].plot.w + w.window[2].plot.w + 2 * w.form.gap
                  == near(w.window[2].plot.right() - w.window[0].plot.x, 1e-3));
            for (std::size_t part = 0; part < 3; ++part)
                for (int stage = 0; stage < t.shape.devices; ++stage) {
                    CAPTURE(part);
                    CAPTURE(stage);
                    CHECK(check_row(d, t, part, stage) > 0);
                }
        }
    }
}

TEST_CASE("a pane of 70B shows one chunk round, one period or half of it, and the last 6 % of the step") {
    for (const bool wide : {true, false}) {
        CAPTURE(wide);
        Driver d("llama-3-70b-3d", wide ? Vec2{1600, 1000} : Vec2{1280, 800});
        REQUIRE(d.shell.views().timeline.windows.has_value());
        const TimelineWindows w = *d.shell.views().timeline.windows;
        const auto length = [&](std::size_t part) { return w.window[part].to_s - w.window[part].from_s; };
        CHECK(length(0) == near(first_round_s(shown(d))));
        CHECK(length(1) == near(w.steady.period_s / (wide ? 1 : 2)));
        CHECK(length(2) == near(0.06 * whole_s(d)));
        const std::string takes = ui::time_text(w.steady.period_s);
        CHECK(says_just(d, wide ? "one period of 6 equal ones: " + takes
                                : "half of one period; 6 of them, " + takes + " each"));
        CHECK(says_just(d, "fill"));
        CHECK(says_just(d, "drain, then dp_shard"));
        CHECK(says_just(d, "31"));  // the last micro-batch's number in its blocks
        // No lanes below rows of this height: neither they nor their entries are there.
        CHECK_FALSE(d.shell.views().timeline.drawn.has(TimelineMark::sends));
        CHECK_FALSE(says(d, "sends"));
    }
}

TEST_CASE("the line over the timeline says the bubble and what is waited for; the formula is in its card") {
    Driver d("llama-3-70b-3d", {1600, 1000});
    const Step& step = *d.shell.evaluation().step;
    CHECK(says(d, "tp waits in every block"));
    CHECK(says_just(d, ui::percent(step.exposed_comm_s[GroupKind::tp] / step.time_s)));
    d.press({Key::n5});
    CHECK_FALSE(says(d, "(p-1)"));
    CHECK(says(d, "tp waits in every block"));
}

TEST_CASE("each mark of a timeline has an entry in its legend and each entry a mark, in every plan") {
    for (const char* plan :
         {"mesh-8", "single-gpu", "hsdp-64", "llama-3-8b-fsdp", "llama-3-70b-3d", "llama-3.1-405b-8k",
          "llama-3.1-405b-16k", "llama-3.1-405b-131k", "deepseek-v3-2048", "gpt-175b-a100", "gpt-1t-a100",
          "mixtral-8x7b-ep", "moe-nvl72", "zoom-1024"})
        for (const Vec2 size : {Vec2{1600, 1000}, Vec2{1280, 720}}) {
            CAPTURE(plan);
            CAPTURE(size.x);
            Driver d(plan, size);
            for (const bool full : {false, true}) {
                CAPTURE(full);
                if (full) d.shell.show_full(ViewId::timeline);
                d.settle();
                const TimelineViewState& s = d.shell.views().timeline;
                for (int i = 0; i < static_cast<int>(TimelineMark::waits); ++i) {
                    CAPTURE(i);
                    const auto mark = static_cast<TimelineMark>(i);
                    CHECK(s.drawn.has(mark) == s.named.has(mark));
                }
                for (const GroupKind axis : all_of<GroupKind>()) {
                    CAPTURE(ui::axis_label(axis));
                    CHECK(s.drawn.has(TimelineMark::waits, axis) == s.named.has(TimelineMark::waits, axis));
                    CHECK(s.drawn.has(TimelineMark::hides, axis) == s.named.has(TimelineMark::hides, axis));
                    if (s.named.has(TimelineMark::waits, axis))
                        CHECK(says_just(d, ui::axis_label(axis) + " waits"));
                    if (s.named.has(TimelineMark::hides, axis))
                        CHECK(says_just(d, ui::axis_label(axis) + ", hidden"));
                }
            }
        }
}

TEST_CASE("hovering a block lights its micro-batch and draws its arrows") {
    Driver d("gpt-175b-a100");
    d.press({Key::n5});
    const Rect first = place(d, "timeline.plot");
    d.wheel({first.x + 2, first.y + 10}, 12);
    const Rect plot = place(d, "timeline.plot");  // the wheel left the three windows
    d.move({5, 5});
    d.settle();
    const Image plain = d.surface.read();
    d.move({plot.x + 6, plot.y + 10});
    d.settle();
    REQUIRE(d.shell.views().timeline.hovered >= 0);
    CHECK(pixels_apart(plain, d.surface.read(), plot) > 2000);
}

TEST_CASE("the critical path and every control are reached by the keyboard") {
    Driver d("llama-3-70b-3d");
    d.press({Key::n5});
    for (const char* name : {"timeline.back", "timeline.play", "timeline.forward", "timeline.critical",
                             "timeline.steps", "timeline.slow", "timeline.second", "timeline.plot"}) {
        CAPTURE(name);
        for (int i = 0; i < 120 && d.shell.ui_state().focus != id_of(name); ++i) d.press({Key::tab});
        CHECK(d.shell.ui_state().focus == id_of(name));
    }
    for (int i = 0; i < 120 && d.shell.ui_state().focus != id_of("timeline.critical"); ++i)
        d.press({Key::tab});
    d.press({Key::space});
    CHECK(d.shell.views().timeline.critical);
    for (int i = 0; i < 120 && d.shell.ui_state().focus != id_of("timeline.plot"); ++i) d.press({Key::tab});
    const auto shown_s = [&] { return d.shell.views().timeline.to_s - d.shell.views().timeline.from_s; };
    d.press({Key::up});
    const double first = shown_s();
    d.press({Key::up});
    CHECK(shown_s() == near(0.8 * first));
    const double from = d.shell.views().timeline.from_s;
    d.press({Key::right});
    CHECK(d.shell.views().timeline.from_s > from);
    d.press({Key::left});
    CHECK(d.shell.views().timeline.from_s == near(from));
}

TEST_CASE("two schedules are compared in words with the figures of their timelines") {
    const auto timeline = [](Schedule schedule) {
        ScheduleShape shape;
        shape.schedule = schedule, shape.devices = 4, shape.microbatches = 8;
        Timeline t;
        run_timeline(shape, uniform_costs(shape, 1, 1, 1, 0), t);
        return t;
    };
    const Timeline plain = timeline(Schedule::one_f_one_b), zero = timeline(Schedule::zb_h1),
                   gpipe = timeline(Schedule::gpipe);
    CHECK(comparison_text(plain, zero)
          == "zb-h1 over 1f1b: 66.7 % less idle (9.00 s to 3.00 s a stage), 18.2 % shorter; holds up to 4 "
             "micro-batches, as before");
    CHECK(comparison_text(plain, gpipe)
          == "gpipe over 1f1b: as much idle (9.00 s to 9.00 s a stage), as long; holds up to 8 micro-batches "
             "instead of 4");
}

TEST_CASE("half a million ops draw no more than a bound, at any depth") {
    Driver d("zoom-1024", {1280, 720});
    Plan plan = d.plan();
    plan.model.layers = 512;
    plan.layout.pp = 64, plan.layout.virtual_stages = 8, plan.layout.schedule = Schedule::interleaved;
    plan.layout.dp_shard = 1, plan.layout.dp_replicate = 1;
    plan.cluster.gpus = plan.layout.tp * 64;
    plan.training.global_batch = 512 * plan.training.micro_batch;
    d.shell.open_plan(plan);
    d.shell.show_full(ViewId::timeline);
    d.settle();
    REQUIRE(shown(d).order.ops.size() == 64 * 512 * 8 * 2);
    const Rect plot = place(d, "timeline.plot");
    d.input.mouse = plot.center();
    const auto span = [&] { return d.shell.views().timeline.to_s - d.shell.views().timeline.from_s; };
    double first = 0;  // after the first turn of the wheel, which leaves the three windows
    for (int depth = 0; depth < 14; ++depth) {
        CAPTURE(depth);
        CHECK(d.surface.last_cost().vertices < 200000);
        d.input.wheel = 2;
        d.frame();
        if (depth == 0) first = span();
    }
    REQUIRE(first > 0);
    CHECK(span() == near(std::pow(0.8, 26) * first, 1e-6));
}
