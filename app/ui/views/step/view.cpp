#include "app/ui/views/step/view.h"
#include "app/tables/constants.h"
#include "app/tables/review.h"
#include "app/tables/step.h"

#include "app/ui/kit/format.h"
#include "app/ui/kit/plot.h"
#include "app/ui/kit/rows.h"
#include "app/ui/scene/difference.h"
#include "app/ui/scene/drawn_slice.h"
#include "app/ui/scene/view_head.h"
#include "core/base/error.h"
#include "core/base/number.h"
#include "core/base/quantity.h"
#include "core/plan/names.h"
#include "core/plan/problem.h"
#include "core/plan/ranges.h"
#include "core/step/straggler.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr float kTall = 400;  // room for everything at once
constexpr int kMostDoublings = 20;
constexpr std::size_t kNearest = 6;

// ---- where the time goes ------------------------------------------------------------------------------

void draw_waterfall(Ui& ui, Rect room, Scene& scene) {
    const Step& step = *scene.evaluation.step;
    const std::vector<StepSlice> slices = waterfall(step);
    Canvas& c = ui.canvas();
    constexpr float figure = 112;
    float label = 60;
    for (const StepSlice& s : slices) label = std::max(label, c.text_width(label_of(s), ui.style(12)) + 16);
    label = std::min(label, room.w * 0.4f);
    const float row_h = std::clamp(room.h / static_cast<float>(slices.size() + 1), 14.0f, 26.0f);
    const float w = room.w - label - figure;
    if (w < 40) return;
    const double end_s = ui.kept_scale("step.end", step.time_s);
    const auto x_of = [&](double t) { return room.x + label + static_cast<float>(t / end_s) * w; };
    const auto row_of = [&](std::size_t i) {
        return Rect{room.x, room.y + static_cast<float>(i) * row_h, room.w, row_h};
    };
    for (std::size_t i = 0; i < slices.size(); ++i) {
        const StepSlice& s = slices[i];
        const Rect row = row_of(i);
        const Hit hit = ui.area("step.slice", row, index_of(s));
        const Selection& sel = scene.selection;
        const bool selected = sel.topic == Selection::Topic::step && sel.step_part == static_cast<int>(s.part)
                              && (s.part != StepPart::exposed || sel.group == s.group);
        row_ground(ui, row, hit, selected);
        c.text_in({row.x + 4, row.y, label - 12, row.h}, label_of(s),
                  ui.style(12, selected ? Tone::text : Tone::secondary));
        const auto bar_of = [&](const StepSlice& of) {
            return Rect{x_of(of.from_s), row.y + row.h * 0.18f, std::max(1.5f, x_of(of.time_s) - x_of(0)),
                        row.h * 0.64f};
        };
        const DrawnSlice drawn = drawn_slice(ui, "step.slice", s);
        const Rect bar = bar_of(drawn.now);
        fill_part(c, ui.theme(), bar, s);
        if (drawn.before) {
            const Canvas::Clip clip = c.clip({room.x + label - 2, row.y, w + 4, row.h});
            ui.outline(bar_of(*drawn.before), bar_of(s));
        }
        if (i + 1 < slices.size())
            c.line({bar.right(), bar.bottom()}, {bar.right(), row_of(i + 1).y + row.h * 0.18f},
                   ui.theme().hairline);
        c.text_in({row.right() - figure, row.y, figure - 4, row.h},
                  time_text(s.time_s) + "  " + percent(s.time_s / step.time_s), ui.small(), Align::right);
        if (hit.hovered)
            ui.tooltip(label_of(s) + "\n" + time_text(s.time_s) + ", " + percent(s.time_s / step.time_s)
                           + " of the step; click to explain",
                       {room.x, room.y, room.w, row_h * static_cast<float>(slices.size() + 1)});
        if (hit.clicked) {
            scene.selection.topic = Selection::Topic::step;
            scene.selection.step_part = static_cast<int>(s.part);
            if (s.part == StepPart::exposed) scene.selection.choose(s.group);
        }
    }
    const Rect last = row_of(slices.size());
    if (last.bottom() > room.bottom() + 2) return;
    c.line({x_of(0), last.y + 1}, {x_of(step.time_s), last.y + 1}, ui.theme().secondary);
    c.text_in({last.x + 4, last.y, label - 12, last.h}, "step", ui.style(12, Tone::text, Face::semibold));
    c.text_in({last.right() - figure, last.y, figure - 4, last.h}, time_text(step.time_s) + "  100 %",
              ui.style(12, Tone::text, Face::semibold), Align::right);
}

void draw_time(Ui& ui, Rect room, Scene& scene, StepViewState& state) {
    if (room.w < 420) {  // one under the other; in a low room only the waterfall
        const float slices = static_cast<float>(waterfall(*scene.evaluation.step).size() + 1);
        const bool both = room.h > slices * 14 + 160;
        draw_waterfall(ui, both ? room.cut_top(room.h - 152) : room, scene);
        room.cut_top(12);
        if (both) draw_figures(ui, room, scene, state.budget);
        return;
    }
    // In a narrow room the ranges give way to the waterfall; hovering a figure still shows them.
    const Rect right =
        room.cut_right(room.w < 640 ? kFiguresBareWidth : std::min(kFiguresWidth, room.w * 0.42f));
    room.cut_right(24);
    draw_waterfall(ui, room, scene);
    draw_figures(ui, right, scene, state.budget);
}

// ---- runs ---------------------------------------------------------------------------------------------

Table near_table(const Scene& scene, StepViewState& state) {
    return near_runs_table(published_runs(state, scene.presets), scene.plan, kNearest);
}

void draw_runs(Ui& ui, Rect room, const Scene& scene, StepViewState& state, std::uint64_t revision) {
    const Table& near = state.near.get(revision, [&] { return near_table(scene, state); });
    const std::string words =
        "Nearest of " + std::to_string(state.runs->runs().size()) + " published runs. "
        + (scene.evaluation.step ? near_runs_words(*scene.evaluation.step) : distance_words());
    Canvas& c = ui.canvas();
    const float h = c.paragraph_height(room.w, words, ui.small(), 18);
    if (h + 90 < room.h) put_paragraph(ui, room, words, ui.small(), 18, 6);
    if (ui.hovers(room)) ui.area("step.runs", room, 0, true, false);
    draw_table(ui, "step.run", room, near, state.runs_table);
}

// ---- stragglers ---------------------------------------------------------------------------------------

// Draws the spread, stepped by whole per cents or typed, within the field's range.
std::optional<double> spread_box(Ui& ui, Rect box, double cv, StepViewState& state) {
    const FieldRange range = range_of("/training/straggler_cv").value_or(FieldRange{0, 1});
    if (!state.typing_sigma) {
        const Ui::Step step =
            ui.stepper("step.sigma", box, percent(cv), cv > range.least, cv < range.most, true);
        if (step.edit_requested) {
            state.typing_sigma = state.sigma_fresh = true;
            state.sigma_text = percent(cv);
        }
        if (step.edit_requested || step.by != 0) state.sigma_refusal.clear();
        if (step.by == 0) return std::nullopt;
        return std::clamp(std::round(cv * 100 + step.by) / 100, range.least, range.most);
    }
    const bool fresh = std::exchange(state.sigma_fresh, false);
    const Ui::Typing typing = ui.typed_value("edit.step.sigma", box, state.sigma_text, fresh);
    if (typing == Ui::Typing::goes_on) return std::nullopt;
    state.typing_sigma = false;
    if (typing == Ui::Typing::dropped || state.sigma_text == percent(cv)) return std::nullopt;
    const Quantity typed = parse_quantity(state.sigma_text, Dimension::share, "%");
    if (typed.value && range.allows(*typed.value)) return typed.value;
    state.sigma_refusal = typed.value ? "\"" + state.sigma_text + "\" is refused: it must be from "
                                            + percent(range.least) + " to " + percent(range.most) + "."
                                      : typed.refusal + ".";
    return std::nullopt;
}

std::optional<PlanEdit> draw_stragglers(Ui& ui, Rect room, const Scene& scene, StepViewState& state) {
    std::optional<PlanEdit> edit;
    Canvas& c = ui.canvas();
    const double cv = scene.plan.training.straggler_cv;
    const std::int64_t n = scene.evaluation.mesh.world;
    if (state.expected.empty())
        for (int k = 0; k <= kMostDoublings; ++k)
            state.expected.push_back(expected_maximum(std::int64_t{1} << k));
    Rect left = room.cut_left(room.w < 420 ? room.w : std::min(300.0f, room.w * 0.5f));
    room.cut_left(24);
    const auto row = [&](std::string_view name) {
        Rect r = left.cut_top(24);
        c.text_in(r.cut_left(140), name, ui.small());
        return r;
    };
    Rect spread = row("σ of a GPU's step time");
    if (const auto sigma = spread_box(ui, spread.cut_left(110).inset(0, 1), cv, state)) {
        Plan p = scene.plan;
        p.training.straggler_cv = *sigma;
        edit = PlanEdit{p, "straggler σ " + percent(p.training.straggler_cv), ""};
    }
    if (!state.sigma_refusal.empty()) {
        TextStyle bad = ui.small();
        bad.color = ui.theme().bad;
        put_paragraph(ui, left, state.sigma_refusal, bad, 16, 4);
    }
    const double exact = expected_maximum(n), bound = expected_maximum_bound(n);
    const TextStyle strong = ui.style(13, Tone::text, Face::semibold);
    c.text_in(row("everyone waits for"), "the slowest of " + thousands(n), ui.style(12));
    c.text_in(row("expected, exact"), significant(exact) + " σ = " + percent(cv * exact), strong);
    c.text_in(row("bound √(2 ln N)"), significant(bound) + " σ = " + percent(cv * bound), ui.style(12));
    if (scene.evaluation.step && left.h >= 24)
        c.text_in(row("costs"),
                  (cv > 0 ? time_text(scene.evaluation.step->straggler_s) : std::string("nothing")) + " of "
                      + time_text(scene.evaluation.step->time_s),
                  ui.style(12));

    // The plot shows E[max] and the bound over the number of GPUs, in multiples of sigma.
    if (room.w < 140 || room.h < 66) return edit;
    const auto ranks = [](int k) { return static_cast<double>(std::int64_t{1} << k); };
    const double most = ranks(kMostDoublings);
    const PlotAxis gpus{.low = 1,
                        .high = most,
                        .kind = ScaleKind::logarithmic,
                        .label = [](double v) { return thousands(std::llround(v)); },
                        .ticks = {1, ranks(5), ranks(10), most},
                        .grid = false};
    const PlotAxis sigmas{.low = 0,
                          .high = expected_maximum_bound(std::int64_t{1} << kMostDoublings) * 1.02,
                          .label = [](double v) { return trimmed(v) + " σ"; },
                          .spacing = 20};
    const Plot plot = draw_axes(ui, room, gpus, sigmas);
    std::vector<Vec2> line;
    for (int k = 0; k <= kMostDoublings; ++k) line.push_back(plot.at(ranks(k), state.expected[k]));
    c.polyline(line, ui.theme().text, 2);
    for (int k = 1; k <= kMostDoublings; ++k)
        c.line(plot.at(ranks(k - 1), expected_maximum_bound(std::int64_t{1} << (k - 1))),
               plot.at(ranks(k), expected_maximum_bound(std::int64_t{1} << k)), ui.theme().secondary, 1.5f,
               Dash::dashed);
    if (n >= 1) {
        const Vec2 here = plot.at(std::min(static_cast<double>(n), most), exact);
        c.line({here.x, plot.area.y}, {here.x, plot.area.bottom()}, ui.theme().text);
        c.circle(here, 4, ui.theme().text);
    }
    return edit;
}

}  // namespace

NearestRuns& published_runs(StepViewState& state, const Presets& presets) {
    if (!state.runs) {
        state.runs.emplace();
        try {
            state.runs.emplace(load_published_runs(presets));
        } catch (const std::exception&) {  // it stays empty
        }
    }
    return *state.runs;
}

std::optional<PlanEdit> draw_step(Ui& ui, Rect head_row, Rect room, Scene& scene, StepViewState& state,
                                  std::uint64_t revision) {
    Canvas& c = ui.canvas();
    const bool tall = room.h >= kTall;
    const auto pages = std::span(kStepPages).first(kStepPages.size() - (has_measured(scene) ? 0 : 1));
    const auto below_time = pages.subspan(1);
    if (state.part >= static_cast<int>(pages.size())) state.part = StepViewState::kTime;
    std::optional<PlanEdit> edit;
    const auto switch_below = [&](Rect row) {
        const int below = std::max(state.part, static_cast<int>(StepViewState::kRuns));
        const int picked = ui.segments("step.part_below",
                                       row.cut_left(std::min(has_measured(scene) ? 540.0f : 440.0f, row.w)),
                                       below_time, below - 1)
                           + 1;
        if (picked != below) state.part = picked;
    };
    if (!tall) {
        const Rect place = head_place(head_row, room, segments_width(ui, pages, 288, state.part));
        state.part = ui.segments("step.view", place, pages, state.part);
    }
    if (scene.evaluation.valid && scene.evaluation.step) {
        const Step& s = *scene.evaluation.step;
        // Useful work leaves out the masked half of attention, which MFU counts.
        const std::string words = time_text(s.ideal_s) + " of " + time_text(s.time_s) + " is useful work, "
                                  + percent(s.ideal_s / s.time_s) + " of the step; MFU " + percent(s.mfu);
        head_sentence(ui, head_row, room, words, 200);
    }
    const bool valid = scene.evaluation.valid && scene.evaluation.step.has_value();
    if (!valid && (tall || state.part == StepViewState::kTime)) {
        const Rect text = tall ? room.cut_top(room.h * 0.4f) : room;
        c.paragraph(text, "— No step time: " + first_error(scene.evaluation.problems),
                    ui.style(13, Tone::secondary), 20);
        if (!tall) return edit;
    } else if (tall) {
        Rect top = room.cut_top(std::clamp(room.h * 0.48f, 210.0f, 280.0f));
        draw_time(ui, top, scene, state);
    }
    if (tall) {
        room.cut_top(12);
        switch_below(room.cut_top(24));
        room.cut_top(10);
    }
    const int part = tall ? std::max(state.part, static_cast<int>(StepViewState::kRuns)) : state.part;
    // Runs and stragglers compare figures of the plan with others: a plan with errors has no figures.
    if (!valid && part != StepViewState::kMeasured && part != StepViewState::kConstants
        && part != StepViewState::kSoftware) {
        c.paragraph(room, "— There is no step to set beside others.", ui.style(13, Tone::secondary), 20);
        return edit;
    }
    switch (part) {
    case StepViewState::kTime: draw_time(ui, room, scene, state); break;
    case StepViewState::kRuns: draw_runs(ui, room, scene, state, revision); break;
    case StepViewState::kStragglers: edit = draw_stragglers(ui, room, scene, state); break;
    case StepViewState::kMeasured: edit = draw_measured(ui, room, scene, state); break;
    case StepViewState::kSoftware: draw_software(ui, room, scene, state.software, revision); break;
    case StepViewState::kSensitivity: edit = draw_tornado(ui, room, state.tornado, revision); break;
    default: edit = draw_constants(ui, room, scene, state.constants, revision); break;
    }
    return edit;
}

Table step_data(const Scene& scene, const StepViewState& state, int part) {
    if (part >= StepViewState::kMeasuredTable)
        return measured_data(scene, part > StepViewState::kMeasuredTable);
    if (part < 2 && !scene.evaluation.step) return {};
    if (part == 0) return step_table(*scene.evaluation.step);
    if (part == 1)
        return rates_table(*scene.evaluation.step, state.budget.tokens, count_text(state.budget.tokens));
    if (part == 3) return software_table(scene.plan.training.software);
    if (part == StepViewState::kSensitivityTable) return tornado_data(scene, state.tornado);
    return constants_table(list_constants(scene.plan, scene.presets));
}

}  // namespace pentamesh::ui
