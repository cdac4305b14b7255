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
#include "core/plan/software.h"

#include <algorithm>
#include <span>

namespace pentamesh::ui {

namespace {

constexpr float kTall = 400;  // room for everything at once
constexpr std::size_t kNearest = 6;

// ---- where the time goes ------------------------------------------------------------------------------

// Places the parts of a step, a row each, along its time.
struct Waterfall {
    static constexpr float kFigure = 112;
    Rect room;
    std::size_t parts = 0;
    float label = 60, row_h = 14;
    double end_s = 0;

    [[nodiscard]] float width() const { return room.w - label - kFigure; }
    [[nodiscard]] float x_of(double t) const {
        return room.x + label + static_cast<float>(t / end_s) * width();
    }
    [[nodiscard]] Rect row(std::size_t i) const {
        return {room.x, room.y + static_cast<float>(i) * row_h, room.w, row_h};
    }
    [[nodiscard]] Rect bar(Rect row, const StepSlice& of) const {
        return {x_of(of.from_s), row.y + row.h * 0.18f, std::max(1.5f, x_of(of.time_s) - x_of(0)),
                row.h * 0.64f};
    }
};

Waterfall waterfall_in(Ui& ui, Rect room, const std::vector<StepSlice>& slices, double step_s) {
    Waterfall out{.room = room, .parts = slices.size()};
    for (const StepSlice& s : slices)
        out.label = std::max(out.label, ui.canvas().text_width(label_of(s), ui.style(12)) + 16);
    out.label = std::min(out.label, room.w * 0.4f);
    out.row_h = std::clamp(room.h / static_cast<float>(slices.size() + 1), 14.0f, 26.0f);
    if (out.width() >= 40) out.end_s = ui.kept_scale("step.end", step_s);
    return out;
}

void draw_slice(Ui& ui, const Waterfall& w, std::size_t place, const StepSlice& s, Scene& scene) {
    Canvas& c = ui.canvas();
    const Rect row = w.row(place);
    const double step_s = scene.evaluation.step->time_s;
    const Hit hit = ui.area("step.slice", row, index_of(s));
    Selection& sel = scene.selection;
    const bool picked = sel.topic == Selection::Topic::step && sel.step_part == static_cast<int>(s.part)
                        && (s.part != StepPart::exposed || sel.group == s.group);
    const auto measured = selected_part(scene);  // of a real run: all slices that belong to it light up
    const bool selected = picked || (measured && run_part_of(*scene.run, s.part, s.group) == measured);
    row_ground(ui, row, hit, selected);
    const Rect name{row.x + 4, row.y, w.label - 12, row.h};
    c.text_in(name, label_of(s), ui.style(12, selected ? Tone::text : Tone::secondary));
    if (s.part == StepPart::exposed)
        names_axis(ui, s.group, {row.x, row.y, name.w, row.h}, "click to explain",
                   ui.id("step.slice", index_of(s)), row);
    const DrawnSlice drawn = drawn_slice(ui, "step.slice", s);
    const Rect bar = w.bar(row, drawn.now);
    fill_part(c, ui.theme(), bar, s);
    if (drawn.before) {
        const Canvas::Clip clip = c.clip({row.x + w.label - 2, row.y, w.width() + 4, row.h});
        ui.outline(w.bar(row, *drawn.before), w.bar(row, s));
    }
    if (place + 1 < w.parts)
        c.line({bar.right(), bar.bottom()}, {bar.right(), row.bottom() + row.h * 0.18f}, ui.theme().hairline);
    const std::string share = percent(s.time_s / step_s);
    c.text_in({row.right() - Waterfall::kFigure, row.y, Waterfall::kFigure - 4, row.h},
              time_text(s.time_s) + "  " + share, ui.small(), Align::right);
    if (hit.hovered)
        ui.tooltip(label_of(s) + "\n" + time_text(s.time_s) + ", " + share + " of the step; click to explain",
                   {w.room.x, w.room.y, w.room.w, w.row(w.parts).bottom() - w.room.y});
    if (!hit.clicked) return;
    sel.topic = Selection::Topic::step;
    sel.step_part = static_cast<int>(s.part);
    if (s.part == StepPart::exposed) sel.choose(s.group);
}

void draw_waterfall(Ui& ui, Rect room, Scene& scene) {
    const Step& step = *scene.evaluation.step;
    const std::vector<StepSlice> slices = waterfall(step);
    const Waterfall w = waterfall_in(ui, room, slices, step.time_s);
    if (w.width() < 40) return;
    for (std::size_t i = 0; i < w.parts; ++i) draw_slice(ui, w, i, slices[i], scene);
    const Rect last = w.row(w.parts);
    if (last.bottom() > room.bottom() + 2) return;
    Canvas& c = ui.canvas();
    const TextStyle strong = ui.style(12, Tone::text, Face::semibold);
    c.line({w.x_of(0), last.y + 1}, {w.x_of(step.time_s), last.y + 1}, ui.theme().secondary);
    c.text_in({last.x + 4, last.y, w.label - 12, last.h}, "step", strong);
    c.text_in({last.right() - Waterfall::kFigure, last.y, Waterfall::kFigure - 4, last.h},
              time_text(step.time_s) + "  100 %", strong, Align::right);
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

void draw_software(Ui& ui, Rect room, const Scene& scene, SoftwareState& state, std::uint64_t revision) {
    const Software software = scene.plan.training.software;
    const Table& figures =
        state.figures.get(revision, [&] { return without(software_table(software), {"key"}); });
    const std::string words =
        facts_of(software).name
        + ": what it keeps, reserves and reaches besides what the plan says. Fit: fitted to "
          "measured runs; else read at the source.";
    Canvas& c = ui.canvas();
    const float h = c.paragraph_height(room.w, words, ui.small(), 18);
    if (h + 90 < room.h) room.cut_top(c.paragraph(room, words, ui.small(), 18) + 6);
    draw_table(ui, "step.software_figure", room, figures, state.rows);
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

namespace {

// Switches what stands below the times; `pages` are all but that of the times.
void switch_below(Ui& ui, Rect row, std::span<const std::string_view> pages, bool measured,
                  StepViewState& state) {
    const int below = std::max(state.part, static_cast<int>(StepViewState::kRuns));
    const Rect place = row.cut_left(std::min(measured ? 540.0f : 440.0f, row.w));
    const int picked = ui.segments("step.part_below", place, pages, below - 1) + 1;
    if (picked != below) state.part = picked;
}

std::optional<PlanEdit> draw_part(Ui& ui, Rect room, Scene& scene, StepViewState& state, int part, bool space,
                                  std::uint64_t revision) {
    switch (part) {
    case StepViewState::kTime: draw_time(ui, room, scene, state); return std::nullopt;
    case StepViewState::kRuns: draw_runs(ui, room, scene, state, revision); return std::nullopt;
    case StepViewState::kStragglers: return draw_stragglers(ui, room, scene, state.stragglers, space);
    case StepViewState::kMeasured: return draw_measured(ui, room, scene, state);
    case StepViewState::kSoftware:
        draw_software(ui, room, scene, state.software, revision);
        return std::nullopt;
    case StepViewState::kSensitivity: return draw_tornado(ui, room, state.tornado, revision);
    default: return draw_constants(ui, room, scene, state.constants, revision);
    }
}

}  // namespace

std::optional<PlanEdit> draw_step(Ui& ui, Rect head_row, Rect room, Scene& scene, StepViewState& state,
                                  std::uint64_t revision) {
    Canvas& c = ui.canvas();
    const Rect whole{room.x, head_row.y, room.w, room.bottom() - head_row.y};  // with its tabs and switches
    const bool space = state.part == StepViewState::kStragglers && takes_space(ui, whole, scene);
    const bool tall = room.h >= kTall;
    const auto pages = std::span(kStepPages).first(kStepPages.size() - (has_measured(scene) ? 0 : 1));
    const auto below_time = pages.subspan(1);
    if (state.part >= static_cast<int>(pages.size())) state.part = StepViewState::kTime;
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
        if (!tall) return std::nullopt;
    } else if (tall) {
        // The lanes need more room than what else stands below.
        const bool lanes = state.part == StepViewState::kStragglers;
        Rect top = room.cut_top(lanes ? std::clamp(room.h * 0.32f, 170.0f, 280.0f)
                                      : std::clamp(room.h * 0.48f, 210.0f, 280.0f));
        draw_time(ui, top, scene, state);
    }
    if (tall) {
        room.cut_top(12);
        switch_below(ui, room.cut_top(24), below_time, has_measured(scene), state);
        room.cut_top(10);
    }
    const int part = tall ? std::max(state.part, static_cast<int>(StepViewState::kRuns)) : state.part;
    // Runs and stragglers compare figures of the plan with others: a plan with errors has no figures.
    if (!valid && part != StepViewState::kMeasured && part != StepViewState::kConstants
        && part != StepViewState::kSoftware) {
        c.paragraph(room, "— There is no step to set beside others.", ui.style(13, Tone::secondary), 20);
        return std::nullopt;
    }
    return draw_part(ui, room, scene, state, part, space, revision);
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
