// Plays the timeline, injects a slow stage, chooses a second schedule, and says what waits.
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/kit/plot.h"
#include "app/ui/scene/colors.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/timeline/timeline_parts.h"
#include "app/ui/views/timeline/view.h"
#include "core/pipeline/follow.h"
#include "core/pipeline/timeline.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr std::array<double, 6> kSlowFactors{1.1, 1.25, 1.5, 2, 3, 5};

// Returns the stage to use where no stage is picked: the selected one, or the selected GPU's.
int meant_stage(const Scene& scene) {
    return std::max(0, chosen_stage(scene));
}

void slow_switch(Ui& ui, Rect box, const Scene& scene, TimelineViewState& state) {
    const SlowDevice& slow = state.choice.slow;
    const std::string label = !slow.any() ? "slow stage: none" : words_of(slow);
    const bool can_up = slow.factor < kSlowFactors.back() || !slow.any();
    const Ui::Step step = ui.stepper("timeline.slow", box, label, slow.any(), can_up, slow.any(), false);
    const int devices = scene.evaluation.timeline.shape.devices;
    if (step.by != 0)
        inject(state, slow.any() ? slow.device : std::min(meant_stage(scene), devices - 1), step.by);
    else if (step.edit_requested)
        inject(state, slow.any() ? (slow.device + 1) % devices : std::min(meant_stage(scene), devices - 1),
               slow.any() ? 0 : 1);
    if (ui.hovers(box))
        ui.tooltip("inject a slow stage\nOne GPU that is slower holds up its tensor and context peers in "
                   "every layer, so its whole stage runs at its pace.\n+ and − set the factor; a click on "
                   "the middle or on a stage's name moves it. It is not part of the plan.");
}

// Chooses the schedule that is set next to the plan's own: it is stepped through.
void second_switch(Ui& ui, Rect box, const Scene& scene, TimelineViewState& state, std::uint64_t revision) {
    const std::string label = state.second < 0
                                  ? "compare: none"
                                  : "with " + std::string(name_of(static_cast<Schedule>(state.second)));
    step_choice(ui, "timeline.second", box, label, kScheduleCount, state.second);
    if (state.second < 0) return;
    state.other.update({revision, state.second}, [&](OtherPlan& other) {
        const auto schedule = static_cast<Schedule>(state.second);
        const Layout& l = scene.plan.layout;
        other.plan = schedule == l.schedule ? scene.plan
                                            : with_schedule_and_rest(scene.plan, schedule,
                                                                     chunks_for(schedule, l.virtual_stages));
        evaluate(other.plan, other.evaluation);
    });
}

// Writes text piece by piece in one row, until there is no room.
struct Line {
    Ui& ui;
    Rect rest;
    bool cut = false;
    void put(const std::string& text, const TextStyle& s) {
        cut = cut || rest.w < 20;
        if (cut) return;
        cut = ui.canvas().text_in(rest, text, s);
        rest.cut_left(std::min(rest.w, ui.canvas().text_width(text, s) + 4));
    }
};

std::string form_text(const Bubble& b) {
    // The first figure is the share of the time, as the figure before it: the overhead is only of the work
    // and larger.
    const std::string figures = percent(b.form_fraction())
                                + (b.form.span_measure ? " of a stage's span (" : " of it (")
                                + percent(b.form_overhead) + " of the work)";
    if (b.form_holds()) return std::string(b.form.formula) + " = " + figures + ", as measured";
    std::string needs;
    if (!b.equal_stages) needs = "stages were equal";
    if (!b.form.exact) needs += (needs.empty() ? "" : " and ") + std::string(b.form.exact_when);
    return std::string(b.form.formula) + " would be " + figures + " if " + needs;
}

std::string measures_text(const Bubble& b) {
    std::string s = "makespan bubble " + time_text(b.makespan) + ": fraction " + percent(b.fraction)
                    + " of the makespan, overhead " + percent(b.overhead) + " of the work · span bubble "
                    + time_text(b.span);
    if (b.steady) s += " · back to back " + time_text(*b.steady) + " a step";
    return s;
}

std::string measures_explained(const Bubble& b) {
    std::string s = measures_text(b) + "\n" + form_text(b);
    s += "\nwork: what a stage is busy on average, m(F + B) where stages are equal, " + time_text(b.work);
    s += "\nmakespan bubble: first start to last end, less the work";
    s += "\nspan bubble: the longest of the stages' own spans, less the work: what is lost where the next "
         "step may slide into the slanted end of this one";
    if (b.steady)
        s += "\nback to back: what one more step adds, less the work. Where it is zero the schedule is a "
             "zero-bubble one, whatever its makespan says";
    else
        s += "\n\"2 steps\" shows them back to back";
    return s;
}

}  // namespace

void inject(TimelineViewState& state, int device, int by) {
    SlowDevice& slow = state.choice.slow;
    int at = -1;  // place of the factor in force
    if (slow.any())
        for (std::size_t i = 0; i < kSlowFactors.size(); ++i)
            if (kSlowFactors[i] <= slow.factor + 1e-9) at = static_cast<int>(i);
    if (by > 0 && at < 0) at = 1;  // the first is hardly seen: begin with the second
    if (by < 0 || (by > 0 && slow.any())) at += by < 0 ? -1 : 1;
    at = std::min(at, static_cast<int>(kSlowFactors.size()) - 1);
    if (at < 0)
        slow = {};
    else
        slow = {device, kSlowFactors[at]};
}

std::string comparison_text(const Timeline& own, const Timeline& other) {
    const auto idle = [](const Timeline& t) { return t.makespan * t.bubble_fraction(); };
    const double before = idle(own), after = idle(other);
    const std::string name(name_of(other.shape.schedule)), mine(name_of(own.shape.schedule));
    std::string s = name + " over " + mine + ": ";
    const double less = before > 0 ? 1 - after / before : 0;
    if (std::abs(less) < 5e-4)
        s += "as much idle";
    else
        s += percent(std::abs(less)) + (less > 0 ? " less idle" : " more idle");
    s += " (" + time_text(before) + " to " + time_text(after) + " a stage)";
    const double change = other.makespan / own.makespan - 1;
    if (std::abs(change) < 5e-4)
        s += ", as long";
    else
        s += ", " + percent(std::abs(change)) + (change < 0 ? " shorter" : " longer");
    const auto peak = [](const Timeline& t) {
        double most = 0;
        for (const DeviceTime& d : t.device) most = std::max(most, d.peak_in_flight);
        return most;
    };
    const std::string held = trimmed(peak(other)), held_before = trimmed(peak(own));
    s += "; holds up to " + held + (held == "1" ? " micro-batch" : " micro-batches");
    return s + (held == held_before ? ", as before" : " instead of " + held_before);
}

void draw_transport(Ui& ui, Rect row, const Timeline& t, TimelineViewState& state, int stage) {
    const PlayerClick clicked = player_buttons(
        ui, row, "timeline", state.playing,
        {"back to the last start or end  (,)", "P", "on to the next start or end  (.)"}, row.w / 3);
    if (clicked == PlayerClick::play) state.playing = !state.playing;
    if (clicked == PlayerClick::back || clicked == PlayerClick::forward)
        step_cursor(t, state, clicked == PlayerClick::back ? -1 : 1, stage);
}

void draw_critical_switch(Ui& ui, Rect box, TimelineViewState& state) {
    if (ui.button("timeline.critical", box, "critical path", 0, true, !state.critical))
        state.critical = !state.critical;
    if (ui.hovers(box))
        ui.tooltip("critical path\nThe chain of ops, each starting the moment the one before it is there, "
                   "that the makespan hangs on: red, at the top of its rows.");
}

void draw_controls(Ui& ui, Rect row, const Scene& scene, TimelineViewState& state, std::uint64_t revision) {
    const Timeline& t = state.shown->timeline(scene.evaluation);
    draw_transport(ui, row.cut_left(84), t, state, scene.selection.stage);
    row.cut_left(8);
    draw_critical_switch(ui, row.cut_left(92), state);
    row.cut_left(8);
    static constexpr std::string_view kSteps[] = {"1 step", "2 steps"};
    const Rect steps = row.cut_left(116);
    state.choice.steps = ui.segments("timeline.steps", steps, kSteps, state.choice.steps - 1) + 1;
    if (ui.hovers(steps))
        ui.tooltip("two steps back to back\nWithout a barrier between them the next step slides into the "
                   "slanted end of the last, as zero-bubble schedules do by checking the optimizer step "
                   "afterwards.");
    row.cut_left(8);
    const float wide = std::clamp((row.w - 8) / 2, 144.0f, 176.0f);
    if (row.w >= wide) slow_switch(ui, row.cut_left(wide), scene, state);
    row.cut_left(8);
    if (row.w >= wide) second_switch(ui, row.cut_left(wide), scene, state, revision);
}

namespace {

// Says which stage is slow and what it costs; a link takes it away.
void slow_sentence(Line& line, TimelineViewState& state) {
    Ui& ui = line.ui;
    const ShownTimeline& shown = *state.shown;
    const SlowDevice& slow = shown.choice.slow;
    const TextStyle plain = ui.style(13, Tone::secondary);
    const float w = ui.canvas().text_width("remove", ui.style(12)) + 8;
    if (line.rest.w > w + 120) {
        const Rect at = line.rest.cut_right(w);
        if (ui.link("timeline.slow.remove", {at.x + 4, at.center().y - 9}, "remove")) state.choice.slow = {};
    }
    const TextStyle strong = ui.title().in(ui.theme().bad);
    line.put("injected:", strong);
    line.put(words_of(slow), plain);
    if (shown.step_before_s <= 0) return;
    line.put("· step", plain);
    line.put("+" + percent(shown.step_s / shown.step_before_s - 1), ui.title());
    line.put("(" + time_text(shown.step_before_s) + " to " + time_text(shown.step_s)
                 + "), idle on the average stage " + percent(shown.bubble.fraction),
             plain);
}

// Says what the blocks wait for most, an axis, the host's launches or its memory, and which part of the step
// that is; the mark is that at the blocks' feet. Nothing below `least` of the step, and nothing that has no
// room.
void waits_sentence(Line& line, const ShownTimeline& shown, const Step& step, const TimelineMarks& drawn,
                    double least) {
    constexpr float kMark = 10;
    const auto axis =
        static_cast<GroupKind>(std::ranges::max_element(step.exposed_comm_s) - step.exposed_comm_s.begin());
    const bool link = step.offload_s > std::max(step.below.starts, step.exposed_comm_s[axis]);
    const bool host = !link && step.below.starts > step.exposed_comm_s[axis];
    const double waits_s = link ? step.offload_s : host ? step.below.starts : step.exposed_comm_s[axis];
    if (waits_s < least * step.time_s) return;
    Canvas& c = line.ui.canvas();
    const Theme& theme = line.ui.theme();
    const TextStyle plain = line.ui.style(13, Tone::secondary);
    const bool in_blocks = host
                           || (link ? shown.tail.offload_s < waits_s / 2
                                    : shown.most.axis[axis] > 0 && shown.tail.exposed_s[axis] < waits_s / 2);
    const bool marked = link   ? drawn.has(TimelineMark::offload)
                        : host ? drawn.has(TimelineMark::host)
                               : drawn.has(TimelineMark::waits, axis);
    const bool one_stage = shown.places.size() == 1;
    const std::string who = link        ? "waits for host memory"
                            : host      ? "waits for the host's launches"
                            : one_stage ? axis_label(axis) + " waits"
                            : in_blocks ? axis_label(axis) + " waits in every block"
                                        : axis_label(axis) + " waits at the end";
    const std::string share = percent(waits_s / step.time_s) + (one_stage ? " of the step" : "");
    const float mark = in_blocks && marked ? kMark + 4 : 0;
    if (c.text_width(who + share, plain) + mark + 20 > line.rest.w) return;
    line.put("·", plain);
    if (mark > 0) {
        c.rect({line.rest.x, line.rest.center().y + 1, kMark, 4}, link   ? color_of_part(theme, kHostMemory)
                                                                  : host ? color_of_part(theme, kHostBound)
                                                                         : color_of(theme, axis));
        line.rest.cut_left(mark);
    }
    line.put(who, plain);
    line.put(share, line.ui.title());
}

constexpr double kSaid = 0.01, kSaidAxis = 0.03;  // of the step: what is less is not said

void bubble_sentence(Line& line, const Scene& scene, const ShownTimeline& shown, const TimelineMarks& drawn) {
    Ui& ui = line.ui;
    const Timeline& t = shown.timeline(scene.evaluation);
    const TextStyle plain = ui.style(13, Tone::secondary);
    const bool own = &t == &scene.evaluation.timeline;
    const Step* step = scene.evaluation.step ? &*scene.evaluation.step : nullptr;
    const bool of_step = step != nullptr && step->time_s > 0 && own;
    const auto share = [](const Step& of) { return schedule_bubble_s(of) / of.time_s; };
    line.put("bubble", plain);
    line.put(percent(of_step ? share(*step) : shown.bubble.fraction), ui.title());
    const Evaluation* a =
        scene.pinned == nullptr || scene.pinned->timeline.empty() || !own ? nullptr : scene.pinned;
    const auto against = [&](double by, std::string (*text)(double)) {
        const TextStyle s = ui.style(12).in(by < 0 ? ui.theme().good : ui.theme().bad);
        if (by != 0) line.put(difference_text(by, text), s);
    };
    if (a != nullptr && of_step && a->step && a->step->time_s > 0)
        against(difference(share(*step), share(*a->step)), points_text);
    const std::string of(of_step ? "of the step" : "of the pipeline's time");
    const std::string more =
        of + (of_step ? ", " + time_text(schedule_bubble_s(*step)) : " on the average stage");
    const auto has_room = [&](const std::string& words) {
        return ui.canvas().text_width(words, plain) <= line.rest.w;
    };
    const bool seconds = has_room(more);
    if (!seconds && !has_room(of)) return;  // the tooltip says of what it is a share
    line.put(seconds ? more : of, plain);
    if (!of_step) return;
    // The difference is of the seconds that stand before it.
    if (a != nullptr && a->step && seconds)
        against(difference(schedule_bubble_s(*step), schedule_bubble_s(*a->step)), time_text);
    waits_sentence(line, shown, *step, drawn, kSaidAxis);
    const std::string uneven = percent(step->uneven_s / step->time_s), words = "· uneven stages";
    if (step->uneven_s < kSaid * step->time_s) return;
    if (ui.canvas().text_width(words, plain) + ui.canvas().text_width(uneven, ui.title()) + 12 > line.rest.w)
        return;
    line.put(words, plain);
    line.put(uneven, ui.title());
}

// Says that micro-batches follow one another, and what becomes of their gradients.
void one_stage_sentence(Line& line, const Scene& scene, const ShownTimeline& shown,
                        const TimelineMarks& drawn) {
    const TextStyle plain = line.ui.style(13, Tone::secondary);
    const ScheduleShape& shape = shown.timeline(scene.evaluation).shape;
    const std::optional<Step>& step = scene.evaluation.step;
    const auto waits = [&] {
        if (step && step->time_s > 0) waits_sentence(line, shown, *step, drawn, kSaid);
    };
    if (shape.microbatches <= 1) {
        line.put("one micro-batch: no bubble", plain);
        return waits();
    }
    std::string sums;
    switch (gradient_reduction_of(scene.plan)) {
    case GradientReduction::micro_batch:
        sums = "· each one's gradients are reduced, and add up in the shards";
        break;
    case GradientReduction::run:
    case GradientReduction::step:
    case GradientReduction::by_software: sums = "· their gradients add up, and are reduced once"; break;
    }
    if (scene.evaluation.mesh.world <= 1) sums.clear();
    // Waits and the sum of gradients come first; that micro-batches follow one another takes the rest.
    constexpr float kWaits = 190;
    const std::string all = std::to_string(shape.microbatches) + " micro-batches";
    const std::array<std::string, 3> wordings{all + " one after another, no bubble", all + ", no bubble",
                                              "no bubble"};
    const float left = line.rest.w - line.ui.canvas().text_width(sums, plain) - kWaits;
    const std::string_view words = wording(line.ui, left, wordings, plain);
    line.put(words.empty() ? wordings.back() : std::string(words), plain);
    waits();
    if (!sums.empty() && line.ui.canvas().text_width(sums, plain) <= line.rest.w) line.put(sums, plain);
}

}  // namespace

void draw_sentence(Ui& ui, Rect row, const Scene& scene, TimelineViewState& state) {
    const ShownTimeline& shown = *state.shown;
    const ScheduleShape& shape = shown.timeline(scene.evaluation).shape;
    Line line{ui, row};
    if (shown.choice.slow.any()) {
        slow_sentence(line, state);
    } else if (shape.devices == 1) {
        one_stage_sentence(line, scene, shown, state.drawn);
        return;
    } else {
        bubble_sentence(line, scene, shown, state.drawn);
    }
    if (ui.hovers(row)) ui.tooltip(measures_explained(shown.bubble));
}

}  // namespace pentamesh::ui
