#include "app/ui/views/step/view.h"
#include "app/tables/constants.h"
#include "app/tables/review.h"
#include "app/tables/step.h"

#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "app/ui/scene/axis_name.h"
#include "app/ui/scene/drawn_slice.h"
#include "app/ui/scene/real_run.h"
#include "app/ui/scene/view_head.h"
#include "core/plan/names.h"
#include "core/plan/problem.h"

#include <algorithm>
#include <span>

namespace pentamesh::ui {

namespace {

constexpr float kTall = 400;  // room for everything at once
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
    const auto measured = selected_part(scene);  // of a real run: all slices that belong to it light up
    for (std::size_t i = 0; i < slices.size(); ++i) {
        const StepSlice& s = slices[i];
        const Rect row = row_of(i);
        const Hit hit = ui.area("step.slice", row, index_of(s));
        const Selection& sel = scene.selection;
        const bool picked = sel.topic == Selection::Topic::step && sel.step_part == static_cast<int>(s.part)
                            && (s.part != StepPart::exposed || sel.group == s.group);
        const bool selected = picked || (measured && run_part_of(*scene.run, s.part, s.group) == measured);
        row_ground(ui, row, hit, selected);
        c.text_in({row.x + 4, row.y, label - 12, row.h}, label_of(s),
                  ui.style(12, selected ? Tone::text : Tone::secondary));
        if (s.part == StepPart::exposed)
            names_axis(ui, s.group, {row.x, row.y, label - 12, row.h}, "click to explain",
                       ui.id("step.slice", index_of(s)), row);
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
    const Rect whole{room.x, head_row.y, room.w, room.bottom() - head_row.y};  // with its tabs and switches
    const bool space = state.part == StepViewState::kStragglers && takes_space(ui, whole, scene);
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
        // The lanes need more room than what else stands below.
        const bool lanes = state.part == StepViewState::kStragglers;
        Rect top = room.cut_top(lanes ? std::clamp(room.h * 0.32f, 170.0f, 280.0f)
                                      : std::clamp(room.h * 0.48f, 210.0f, 280.0f));
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
    case StepViewState::kStragglers: edit = draw_stragglers(ui, room, scene, state.stragglers, space); break;
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
