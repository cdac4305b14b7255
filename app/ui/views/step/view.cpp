#include "app/ui/views/step/view.h"

#include "app/tables/decide_tables.h"
#include "app/tables/review.h"
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/colors.h"
#include "app/ui/scene/scene.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/explain/verdict.h"
#include "core/plan/names.h"
#include "core/plan/problem.h"
#include "core/plan/software.h"
#include "core/step/constants.h"
#include "core/step/step.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr float kTall = 400;  // room for everything at once

// ---- where the time goes ------------------------------------------------------------------------------

constexpr float kBar = 0.64f;  // height of a bar in rows
constexpr float kTicks = 18, kMostRow = 36;

// Draws a part of the step, and the line that leads from its end to the next one.
void paint_slice(Canvas& c, const Theme& theme, Rect bar, const StepSlice& s, bool last) {
    fill_part(c, theme, bar, s);
    const float below = bar.h * (1 - kBar) / kBar;
    if (!last) c.line({bar.right(), bar.bottom()}, {bar.right(), bar.bottom() + below}, theme.hairline);
}

// Lets a part be reached by the mouse and the keyboard, and draws what lies under its row.
void reach_slice(Ui& ui, Rect row, float name_w, Rect clear, RowChart::Row& of, const StepSlice& s,
                 Scene& scene) {
    const Hit hit = ui.area("step.slice", row, index_of(s));
    Selection& sel = scene.selection;
    const bool picked = sel.topic == Selection::Topic::step && sel.step_part == static_cast<int>(s.part)
                        && (s.part != StepPart::exposed || sel.group == s.group);
    const auto measured = selected_part(scene);  // of a real run: all slices that belong to it light up
    const bool selected = picked || (measured && run_part_of(*scene.run, s.part, s.group) == measured);
    row_ground(ui, row, hit, selected);
    if (selected) of.cells[0].style = ui.style(12);
    if (s.part == StepPart::exposed)
        names_axis(ui, s.group, {row.x, row.y, name_w, row.h}, "click to explain",
                   ui.id("step.slice", index_of(s)), row);
    if (hit.hovered)
        ui.tooltip(label_of(s) + "\n" + time_text(s.time_s) + ", "
                       + percent(s.time_s / scene.evaluation.step->time_s) + " of the step; click to explain",
                   clear);
    if (!hit.clicked) return;
    sel.topic = Selection::Topic::step;
    sel.step_part = static_cast<int>(s.part);
    if (s.part == StepPart::exposed) sel.choose(s.group);
}

// Returns round times along the step, from its start on.
std::vector<double> step_ticks(double end_s) {
    constexpr int kMost = 8;
    return round_ticks({.low = 0, .high = end_s}, kMost);
}

void draw_waterfall(Ui& ui, Rect room, Scene& scene) {
    const Step& step = *scene.evaluation.step;
    const std::vector<StepSlice> slices = waterfall(step);
    const Ink ink = ink_of(ui);
    RowChart chart =
        step_rows(ink, step, std::max(ui.kept_scale("step.end", step.time_s), scene.axes.time_s));
    chart.columns[0].gap = 4;
    const PlacedChart at = place_chart(ink, {room.x, room.y, room.w - 4, room.h}, chart);
    if (at.column[1].w < 40) return;
    constexpr float kLeastRow = 14;
    const auto n = static_cast<float>(chart.rows.size());
    const float high = std::clamp((room.h - (room.h > n * 20 ? kTicks : 0)) / n, kLeastRow, kMostRow);
    const auto row_of = [&](std::size_t i) {
        return Rect{room.x, room.y + static_cast<float>(i) * high, room.w, high};
    };
    const Rect all{room.x, room.y, room.w, row_of(slices.size()).bottom() - room.y};
    for (std::size_t i = 0; i < slices.size(); ++i) {
        const StepSlice& s = slices[i];
        const Rect row = row_of(i);
        reach_slice(ui, row, at.column[0].w + 2, all, chart.rows[i], s, scene);
        // After an edit the bar glides, and leaves its outline.
        const DrawnSlice drawn = drawn_slice(ui, "step.slice", s);
        RowChart::Mark& mark = chart.rows[i].cells[1].marks[0];
        mark.from = drawn.now.from_s, mark.to = drawn.now.from_s + drawn.now.time_s;
        if (drawn.before)
            mark.paint = [&, plain = mark.paint](Rect bar) {
                const auto bar_of = [&](const StepSlice& of) {
                    const float x = at.x(chart, 1, of.from_s);
                    return Rect{x, bar.y, std::max(1.5f, at.x(chart, 1, of.from_s + of.time_s) - x), bar.h};
                };
                plain(bar);
                const Canvas::Clip clip =
                    ink.canvas.clip({at.column[1].x - 2, row.y, at.column[1].w + 4, row.h});
                ui.outline(bar_of(*drawn.before), bar_of(s));
            };
        draw_chart_row(ink, at, row, chart, i);
    }
    const Rect last = row_of(slices.size());
    if (last.bottom() <= room.bottom() + 2) draw_chart_row(ink, at, last, chart, slices.size());
    if (last.bottom() + kTicks > room.bottom() + 2) return;
    const TextStyle style = ui.style(11, Tone::secondary);
    float free = -1e9f;
    for (const double tick : step_ticks(chart.columns[1].high)) {
        const std::string words = time_text(tick);
        const float w = ink.canvas.text_width(words, style) + 2, from = at.x(chart, 1, tick) - w / 2;
        if (from < free) continue;
        ink.canvas.text_in({from, last.bottom(), w, kTicks}, words, style);
        free = from + w + 8;
    }
}

void draw_time(Ui& ui, Rect room, Scene& scene, StepViewState& state) {
    constexpr float kSideBySide = 700;  // else bars would be shorter than their words
    if (room.w < kSideBySide) {         // one under the other; in a low room only the waterfall
        const float slices = static_cast<float>(waterfall(*scene.evaluation.step).size() + 1);
        const bool both = room.h > slices * 14 + 160;
        draw_waterfall(ui, both ? room.cut_top(room.h - 152) : room, scene);
        room.cut_top(12);
        if (both) draw_figures(ui, room, scene, state.budget);
        return;
    }
    // In a narrow room the ranges give way to the waterfall; hovering a figure still shows them.
    constexpr float kRanges = 960;
    const Rect right =
        room.cut_right(room.w < kRanges ? kFiguresBareWidth : std::min(kFiguresWidth, room.w * 0.42f));
    room.cut_right(24);
    draw_waterfall(ui, room, scene);
    draw_figures(ui, right, scene, state.budget);
}

// ---- software -----------------------------------------------------------------------------------------

void draw_software(Ui& ui, Rect room, const Scene& scene, SoftwareState& state, std::uint64_t revision) {
    const Software software = scene.plan.training.software;
    const Table& figures =
        state.figures.get(revision, [&] { return without(software_table(software), {"key"}); });
    const std::string words =
        facts_of(software).name
        + ": what it keeps, reserves and reaches beyond what the plan says. Fit: fitted to "
          "measured runs; else read at the source.";
    Canvas& c = ui.canvas();
    const float h = c.paragraph_height(room.w, words, ui.small(), 18);
    if (h + 90 < room.h) room.cut_top(c.paragraph(room, words, ui.small(), 18) + 6);
    draw_table(ui, "step.software_figure", room, figures, state.rows);
}

}  // namespace

RowChart step_rows(const Ink& ink, const Step& step, double end_s) {
    constexpr double kLarge = 0.05;  // parts from this share on are what one reads first
    const auto figure = [&](double s) { return time_text(s) + "  " + percent(s / step.time_s); };
    RowChart out{.columns = {{.align = Align::right, .most = 0.4f},
                             {.share = 1, .gap = 10, .high = end_s, .bar = kBar, .least = 1.5f},
                             {.gap = 0}},
                 .measured = ink.strong};
    const std::vector<StepSlice> slices = waterfall(step);
    Canvas* c = &ink.canvas;
    const Theme* theme = &ink.theme;
    // Figures stand at the ends of the bars; the last column is their room behind the longest.
    float figures = 0;
    for (const StepSlice& s : slices)
        figures = std::max(figures, c->text_width(figure(s.time_s), ink.strong));
    const Band range = band_of(step.time_s, step.error);
    const std::string whole =
        time_text(step.time_s) + ", " + time_text(range.low) + " to " + time_text(range.high);
    figures = std::max(figures, c->text_width(whole, ink.strong));
    out.columns[2].width = figures + 16;
    const auto write = [c, h = ink.line](Rect bar, const std::string& words, const TextStyle& style) {
        c->text_in({bar.right() + 8, bar.center().y - h / 2, c->text_width(words, style) + 2, h}, words,
                   style);
    };
    for (const StepSlice& s : slices) {
        const TextStyle style = s.time_s >= kLarge * step.time_s ? ink.strong : ink.faint;
        const auto paint = [=, last = &s == &slices.back(), words = figure(s.time_s)](Rect bar) {
            paint_slice(*c, *theme, bar, s, last);
            write(bar, words, style);
        };
        out.rows.push_back({.cells = {{.words = label_of(s), .style = style},
                                      {.marks = {{s.from_s, s.from_s + s.time_s, paint}}},
                                      {}}});
    }
    for (const double tick : step_ticks(end_s))
        out.columns[1].rules.push_back({.at = tick, .color = theme->hairline.alpha(0.6f), .below = true});
    // The step is the sum, with its range.
    RowChart::Row sum{.cells = {{"the step"}, {}, {}}, .style = ink.strong};
    for (const StepSlice& s : slices)
        sum.cells[1].marks.push_back(
            {s.from_s, s.from_s + s.time_s, [=](Rect bar) { fill_part(ink, bar, s); }});
    sum.cells[1].marks.push_back({range.low, range.high, [=, style = ink.strong](Rect bar) {
                                      const float y = bar.center().y;
                                      for (const auto& [color, wide] :
                                           {std::pair{theme->window, 4.0f}, std::pair{theme->text, 1.6f}}) {
                                          c->line({bar.x, y}, {bar.right(), y}, color, wide);
                                          for (const float x : {bar.x, bar.right()})
                                              c->line({x, y - 5}, {x, y + 5}, color, wide);
                                      }
                                      write(bar, whole, style);
                                  }});
    out.rows.push_back(std::move(sum));
    return out;
}

void fill_part(const Ink& ink, Rect bar, const StepSlice& slice) {
    if (ink.paper && slice.part == StepPart::exposed)
        fill_axis(ink.canvas, ink.theme, bar, slice.group);
    else
        fill_part(ink.canvas, ink.theme, bar, slice);
}

std::vector<DrawnPart> draw_step_bar(const Ink& ink, Rect bar, const std::vector<StepSlice>& parts,
                                     double longest) {
    Canvas& c = ink.canvas;
    std::vector<DrawnPart> out;
    for (const StepSlice& s : parts) {
        const auto x = [&](double t) { return bar.x + static_cast<float>(t / longest) * bar.w; };
        const Rect r{x(s.from_s), bar.y, x(s.from_s + s.time_s) - x(s.from_s), bar.h};
        out.push_back({s, r});
        const Color color = color_of_part(ink.theme, s);
        fill_part(ink, r, s);
        if (r.w > 3) c.line({r.right(), r.y}, {r.right(), r.bottom()}, ink.theme.window);
        if (ink.paper) continue;  // a legend names them
        const std::string words = label_of(s) + " " + significant(s.time_s);
        const TextStyle style = ink.strong.in(ink_on(color));
        const float w = c.text_width(words, style);
        if (w + 16 > r.w) continue;
        if (s.part == StepPart::bubble || s.part == StepPart::uneven)  // hatching is no ground for type
            c.rect({r.x + 4, r.center().y - 9, w + 8, 18}, color, 2);
        c.text_in(r.inset(8, 0), words, style);
    }
    return out;
}

std::string value_words(const SensitivityRow& row, const std::string& value) {
    const auto number = parse_double(value);
    return row.unit && number ? constant_text(*row.unit, *number) : value;
}

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
    case StepViewState::kRuns: draw_near_runs(ui, room, scene, state, revision); return std::nullopt;
    case StepViewState::kStragglers: return draw_stragglers(ui, room, scene, state.stragglers, space);
    case StepViewState::kMeasured: draw_measured(ui, room, scene, state); return std::nullopt;
    case StepViewState::kSoftware:
        draw_software(ui, room, scene, state.software, revision);
        return std::nullopt;
    case StepViewState::kSensitivity: return draw_tornado(ui, room, state.tornado, revision);
    default: return draw_constants(ui, room, scene, state.constants, revision);
    }
}

// Names the largest part of what is no useful work, and the largest that the plan can mend, which is the
// verdict's.
std::string most_to_win_back(const Step& s) {
    std::vector<StepSlice> lost = waterfall(s);
    std::erase_if(lost, [](const StepSlice& x) { return x.part == StepPart::ideal; });
    if (lost.empty()) return {};
    const StepSlice& most = *std::ranges::max_element(lost, {}, &StepSlice::time_s);
    const auto words = [](const StepSlice& x) { return label_of(x) + ", " + time_text(x.time_s); };
    const std::optional<StepSlice> mended = largest_loss(s);
    std::string out = " Most is lost to " + words(most);
    if (mended && (mended->part != most.part || mended->group != most.group))
        out += "; of what the plan can mend to " + words(*mended);
    return out + ".";
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
                                  + percent(s.ideal_s / s.time_s) + " of the step; MFU " + percent(s.mfu)
                                  + "." + most_to_win_back(s);
        head_sentence(ui, head_row, room, words, 200);
    }
    const bool valid = scene.evaluation.valid && scene.evaluation.step.has_value();
    if (!valid && (tall || state.part == StepViewState::kTime)) {
        const Rect text = tall ? room.cut_top(room.h * 0.4f) : room;
        c.paragraph(text, "— No step time: " + first_error(scene.evaluation.problems),
                    ui.style(13, Tone::secondary), 20);
        if (!tall) return std::nullopt;
    } else if (tall) {
        // The lanes need more room than what else stands below, a few runs less.
        const bool lanes = state.part == StepViewState::kStragglers,
                   runs = state.part <= StepViewState::kRuns;
        constexpr float kHead = 46;
        const float rows = static_cast<float>(waterfall(*scene.evaluation.step).size() + 1),
                    most = std::max(210.0f, rows * kMostRow + kTicks);
        Rect top = room.cut_top(lanes  ? std::clamp(room.h * 0.32f, 170.0f, 280.0f)
                                : runs ? std::clamp(room.h - kHead - near_runs_height(), 210.0f, most)
                                       : std::clamp(room.h * 0.48f, 210.0f, 280.0f));
        draw_time(ui, top, scene, state);
    }
    if (tall) {
        room.cut_top(12);
        if (!ui.state().for_picture)
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
    if (part >= StepViewState::kMeasuredTable) return measured_data(scene);
    if (part < 2 && !scene.evaluation.step) return {};
    if (part == 0) return step_table(*scene.evaluation.step);
    if (part == 1)
        return rates_table(*scene.evaluation.step, state.budget.tokens, count_text(state.budget.tokens));
    if (part == 3) return software_table(scene.plan.training.software);
    if (part == StepViewState::kSensitivityTable) return tornado_data(scene, state.tornado);
    return constants_table(list_constants(scene.plan, scene.presets));
}

namespace {

// Draws 0 to 100 % of the peak: MFU solid, the rest of HFU hatched.
void draw_gauge(Ui& ui, Rect bar, const Step& s) {
    Canvas& c = ui.canvas();
    const auto x = [&](double share) {
        return bar.x + static_cast<float>(std::clamp(share, 0.0, 1.0)) * bar.w;
    };
    c.rect(bar, ui.theme().raised);
    if (s.hfu > s.mfu)
        c.pattern({x(s.mfu), bar.y, x(s.hfu) - x(s.mfu), bar.h}, Pattern::hatched, ui.theme().secondary);
    c.rect({bar.x, bar.y, x(s.mfu) - bar.x, bar.h}, ui.theme().text);
    const Band r = band_of(s.mfu, s.error);
    const float y = bar.bottom() + 3;
    c.line({x(r.low), y}, {x(r.high), y}, ui.theme().secondary, 1.5f);
    for (const double edge : {r.low, r.high})
        c.line({x(edge), y - 3}, {x(edge), y + 3}, ui.theme().secondary, 1.5f);
    for (const double tick : {0.25, 0.5, 0.75})
        c.line({x(tick), bar.y}, {x(tick), bar.bottom()}, ui.theme().window);
}

std::string plain_text(double x) {
    return significant(x);
}

// Names a figure whose row has more than words.
enum class RowKind : std::uint8_t { plain, gauge, budget };

struct Figure {
    std::string name, value, range, about;
    double against = 0;  // the difference to the pinned plan
    std::string (*text)(double) = nullptr;
    bool less_is_better = false;
    std::string unit{};  // instead of the range
    RowKind kind = RowKind::plain;
};

// The plan's tokens are the budget until another one is typed.
void follow_plan(const Plan& plan, BudgetState& state) {
    const double tokens = plan.training.tokens_total;
    if (tokens == state.tokens_of_plan) return;
    const BudgetState usual;
    state.tokens_of_plan = tokens;
    state.tokens = tokens > 0 ? tokens : usual.tokens;
    state.text = tokens > 0 ? count_text(tokens) : usual.text;
}

// Adds the figures that the plan gives enough for: money, energy, and the time left after failures.
void add_cost(const Scene& scene, std::vector<Figure>& out) {
    const Cost cost = cost_of(scene.plan, scene.evaluation.step->tokens_per_s);
    const Cluster& c = scene.plan.cluster;
    const auto put = [&](std::string name, const std::optional<double>& value, std::string (*text)(double),
                         std::string unit, std::string about) {
        if (!value) return;
        Figure& f = out.emplace_back();
        f.name = std::move(name), f.value = text(*value), f.unit = std::move(unit),
        f.about = std::move(about);
    };
    put("cost", cost.money, count_text, c.currency.empty() ? "in the price's currency" : c.currency,
        "The tokens that the plan trains on, at the price of a GPU-hour that it gives; no failures.");
    put("energy", cost.kwh, count_text, "kWh", "Of the GPUs and, where the plan gives it, what PUE adds.");
    put("goodput", cost.goodput, percent, "of the time",
        "What checkpoints at the best interval and the work lost to failures leave (Daly 2006).");
    put("days with failures", cost.days_with_failures, plain_text, "days",
        "For the tokens that the plan trains on, with checkpoints and failures.");
}

std::vector<Figure> figures_of(const Scene& scene, double budget) {
    const Step& s = *scene.evaluation.step;
    const std::string peak(name_of(scene.plan.training.compute));
    const auto rate = [&](double x, std::string (*text)(double)) {
        const Band r = band_of(x, s.error);
        return text(r.low) + " – " + text(r.high);
    };
    std::vector<Figure> out{
        {"step", time_text(s.time_s), rate(s.time_s, time_text),
         "Time from one update of the weights to the next."},
        {"MFU", percent(s.mfu), rate(s.mfu, percent),
         "Model FLOPs utilisation: FLOPs that the model itself needs (forward, and twice that backward, "
         "causal attention not halved, nothing recomputed) over the dense "
             + peak + " peak. Without the half of attention that a causal mask leaves out: "
             + percent(mfu_causal(s)) + "."},
        {"HFU", percent(s.hfu), rate(s.hfu, percent),
         "Hardware FLOPs utilisation: MFU with the FLOPs that are recomputed."},
        {"tokens/s", count_text(s.tokens_per_s), rate(s.tokens_per_s, count_text), "Of the whole cluster."},
        {"TFLOP/s per GPU", significant(s.tflops_per_gpu), rate(s.tflops_per_gpu, plain_text),
         "Model FLOPs, as in MFU."},
        {"days for", significant(days_for(s, budget)), rate(days_for(s, budget), plain_text),
         "Days of steps like this one for the tokens at the left; no failures, no checkpoints."},
    };
    out[1].kind = RowKind::gauge;
    out[5].kind = RowKind::budget;
    if (scene.pinned != nullptr && scene.pinned->step) {
        const Step& a = *scene.pinned->step;
        const auto put = [&](std::size_t i, double by, std::string (*text)(double), bool less) {
            out[i].against = by, out[i].text = text, out[i].less_is_better = less;
        };
        put(0, difference(s.time_s, a.time_s), time_text, true);
        put(1, difference(s.mfu, a.mfu), points_text, false);
        put(2, difference(s.hfu, a.hfu), points_text, false);
        put(3, difference(s.tokens_per_s, a.tokens_per_s), count_text, false);
        put(4, difference(s.tflops_per_gpu, a.tflops_per_gpu), plain_text, false);
        put(5, difference(days_for(s, budget), days_for(a, budget)), plain_text, true);
    }
    if (shows_causal_mfu(s))
        out.insert(
            out.begin() + 2,
            Figure{"MFU (causal)", percent(mfu_causal(s)), rate(mfu_causal(s), percent),
                   "MFU without the attention that a causal mask leaves out, which no kernel computes."});
    return out;
}

// Draws the field for a number of tokens. Returns false, and says why, where no number is typed.
bool budget_field(Ui& ui, Rect box, Rect rest, BudgetState& state) {
    bool changed = false;
    ui.text_field("step.budget", box, state.text, "tokens", false, &changed);
    const Quantity typed = parse_quantity(state.text, Dimension::count);
    if (typed.value && *typed.value > 0) state.tokens = *typed.value;
    if ((typed.value && *typed.value > 0) || state.text.empty()) return true;
    const TextStyle bad = ui.small().in(ui.theme().bad);
    const std::string why = typed.value ? "must be above 0" : typed.refusal;
    if (ui.canvas().text_in(rest, why, bad) && ui.hovers(rest)) ui.tooltip(why);
    return false;
}

void draw_figure_row(Ui& ui, Rect row, const Figure& f, BudgetState& state) {
    Canvas& c = ui.canvas();
    const Rect name = row.cut_left(124);
    c.text_in(name, f.name, ui.small());
    const Rect box{name.x + 56, name.y, 64, std::min(row.h, 22.0f)};
    if (f.kind == RowKind::budget && !budget_field(ui, box, row, state)) return;
    c.text_in(row.cut_left(74), f.value, ui.style(13, Tone::text, Face::semibold));
    if (const std::string by = f.text ? difference_text(f.against, f.text) : ""; !by.empty()) {
        const TextStyle d =
            ui.style(12).in((f.against < 0) == f.less_is_better ? ui.theme().good : ui.theme().bad);
        const float w = c.text_width(by, d) + 10;
        if (w <= row.w) c.text_in(row.cut_left(w), by, d);
    }
    const std::string& beside = f.unit.empty() ? f.range : f.unit;
    if (row.w >= c.text_width(beside, ui.small())) c.text_in(row, beside, ui.small());
}

// Says what MFU counts, and what it counts too much of.
std::string rates_words(const Scene& scene) {
    const Step& s = *scene.evaluation.step;
    std::string words = "MFU: the model's own FLOPs (forward and twice that backward, attention not "
                        "halved, nothing recomputed) over the dense "
                        + std::string(name_of(scene.plan.training.compute))
                        + " peak. HFU adds what is recomputed. " + range_sentence(s);
    const double needed =
        s.ideal_s / s.time_s;  // a causal mask leaves half of the attention of long sequences
    if (percent(s.mfu) == percent(needed)) return words;
    return "Without the half of attention that the mask leaves out, which MFU counts, the work at the peak "
           "is "
           + percent(needed) + " of the step. " + words;
}

}  // namespace

void draw_figures(Ui& ui, Rect room, const Scene& scene, BudgetState& state) {
    const Step& s = *scene.evaluation.step;
    Canvas& c = ui.canvas();
    follow_plan(scene.plan, state);
    std::vector<Figure> figures = figures_of(scene, state.tokens);
    const std::size_t rates = figures.size();
    add_cost(scene, figures);
    constexpr float kLeastRow = 18;
    const auto most = static_cast<std::size_t>(std::max(room.h - 18, 0.0f) / kLeastRow);
    if (figures.size() > most) figures.resize(std::max(rates, most));
    const float row_h = std::clamp((room.h - 18) / static_cast<float>(figures.size()), 18.0f, 24.0f);
    for (std::size_t i = 0; i < figures.size(); ++i) {
        const Figure& f = figures[i];
        const Rect row = room.cut_top(row_h);
        const Hit hit = ui.area("step.figure", row, i, true, false);
        if (hit.hovered)
            ui.tooltip(f.name + "\n" + f.about
                       + (f.unit.empty() ? "\nRange " + f.range + ". " + range_sentence(s) : ""));
        draw_figure_row(ui, row, f, state);
        if (f.kind == RowKind::gauge) {
            draw_gauge(ui, {room.x, room.y + 2, std::min(room.w, kFiguresWidth - 16), 7}, s);
            room.cut_top(17);
        }
    }
    const std::string words = rates_words(scene);
    if (c.paragraph_height(room.w, words, ui.small(), 18) + 8 <= room.h) {
        room.cut_top(8);
        c.paragraph(room, words, ui.small(), 18);
    }
}

namespace {

constexpr float kRow = 24, kName = 210, kFigure = 64;

struct Bars {
    float middle = 0, half = 0;  // where the step as it is stands, and how far a bar may reach
    double most_s = 1;           // the longest
    [[nodiscard]] float length(double by) const {
        return std::max(1.5f, static_cast<float>(std::abs(by) / most_s) * half);
    }
};

// Writes the change of time at the end of bars of that length, less time to the left.
void draw_words(Ui& ui, Rect row, const Bars& bars, double by, const std::string& words, float room) {
    const float length = bars.length(by), w = std::min(ui.canvas().text_width(words, ui.small()) + 2, room);
    const float x = by < 0 ? bars.middle - length - w - 5 : bars.middle + length + 5;
    ui.canvas().text_in({x, row.y, w, row.h}, words, ui.small());
}

// Draws one change: its bar, less time to the left. Returns true if it was clicked.
bool draw_nudge(Ui& ui, Rect row, const Bars& bars, const SensitivityRow& of, const Nudge& n, double step_s,
                std::uint64_t index) {
    Canvas& c = ui.canvas();
    const double by = n.same_tokens_s - step_s;
    const float length = bars.length(by);
    const Rect bar{by < 0 ? bars.middle - length : bars.middle, row.y + row.h / 6, length, row.h * 2 / 3};
    // The target is easier to hit than a bar of a pixel.
    const float least = std::max(length, 14.0f);
    const Rect target{by < 0 ? bars.middle - least : bars.middle, row.y, least, row.h};
    const Hit hit = ui.area("step.nudge", target, index);
    const Color color = by < 0 ? ui.theme().good : ui.theme().bad;
    if (fits(n.fit))
        c.rect(bar, hit.hovered ? color : color.alpha(0.75f), 2);
    else
        c.pattern(bar, Pattern::hatched, color);
    if (hit.focused) ui.focus_ring(target, 3);
    if (hit.hovered)
        ui.tooltip(of.name + " " + value_words(of, of.value) + " → " + value_words(of, n.value) + "\n"
                   + time_text(n.step_s) + " a step (" + difference_text(by / step_s, percent)
                   + (n.same_tokens_s == n.step_s ? "" : " for as many tokens") + "), "
                   + count_text(n.tokens_per_s) + " tokens/s, fullest GPU " + memory_text(n.memory_bytes)
                   + (n.fit == MemoryFit::yes ? "" : ", which " + std::string(name_of(n.fit)))
                   + "\nclick: make this change");
    return hit.clicked;
}

// Returns by how much a change moves the step, for as many tokens; 0: by nothing.
double moved_s(const std::optional<Nudge>& n, double step_s) {
    return n && n->valid() ? n->same_tokens_s - step_s : 0;
}

// Draws a choice with its bars. Returns the change that was clicked.
std::optional<PlanEdit> draw_choice(Ui& ui, Rect row, float name_w, const Bars& bars, const SensitivityRow& r,
                                    double step_s, std::uint64_t index) {
    Canvas& c = ui.canvas();
    const Rect left{row.x, row.y, name_w - 8, row.h};
    const float w = std::min(c.text_width(r.name, ui.style(12)) + 8, left.w);
    ui.label({left.x, left.y, w, left.h}, r.name, ui.style(12));
    std::string value = value_words(r, r.value);
    if (!r.down && r.up) {  // one of several choices: which one matters more than from where
        const std::string other = "→ " + value_words(r, r.up->value);
        value += " " + other;
        if (c.text_width(value, ui.small()) > left.w - w) value = other;
    }
    if (left.w - w > 24) ui.label({left.x + w, left.y, left.w - w, left.h}, value, ui.small());
    c.line({bars.middle, row.y}, {bars.middle, row.bottom()}, ui.theme().secondary);
    std::optional<PlanEdit> edit;
    const auto put = [&](const std::optional<Nudge>& n, std::uint64_t side, Rect room) {
        if (moved_s(n, step_s) != 0 && draw_nudge(ui, room, bars, r, *n, step_s, 2 * index + side))
            edit = PlanEdit{n->plan, r.name + " " + value_words(r, n->value), ""};
    };
    const double down = moved_s(r.down, step_s), up = moved_s(r.up, step_s);
    if (down * up > 0) {  // both one way: one above the other
        const double most = std::abs(down) > std::abs(up) ? down : up;
        Rect lower = row;
        put(r.down, 0, lower.cut_top(row.h / 2));
        put(r.up, 1, lower);
        const std::string both = difference_text(down, time_text) + ", " + difference_text(up, time_text);
        const float free = kFigure + bars.half - bars.length(most) - 5;
        const bool fits = c.text_width(both, ui.small()) + 2 <= free;
        draw_words(ui, row, bars, most, fits ? both : difference_text(most, time_text), free);
        return edit;
    }
    put(r.down, 0, row);
    put(r.up, 1, row);
    for (const double d : {down, up})
        if (d != 0) draw_words(ui, row, bars, d, difference_text(d, time_text), kFigure);
    return edit;
}

// Returns by how much a row moves the step at most, either way.
double most_moved_s(const Sensitivity& s, std::size_t row) {
    const SensitivityRow& r = s.rows[row];
    return std::max(std::abs(moved_s(r.down, s.step_s)), std::abs(moved_s(r.up, s.step_s)));
}

}  // namespace

std::vector<std::size_t> tornado_rows(const Sensitivity& s) {
    std::vector<std::size_t> out = s.by_reach();
    std::erase_if(out, [&](std::size_t i) { return most_moved_s(s, i) <= 0; });
    return out;
}

std::optional<PlanEdit> draw_tornado(Ui& ui, Rect room, TornadoState& state, std::uint64_t revision) {
    if (!state.of.is_of(revision) || !state.of.error().empty()) {
        if (state.of.error().empty()) state.asked = revision;
        ui.label(room.cut_top(24),
                 state.of.error().empty() ? "trying one step either way of each choice …"
                                          : "It could not be worked out: " + state.of.error(),
                 ui.small());
        return std::nullopt;
    }
    const Sensitivity& s = *state.of;
    const std::string about =
        "One step down and up, all else equal; hardware and constants by 20 %. Green: less time for as many "
        "tokens; hatched: "
        + std::string(name_of(MemoryFit::no)) + ", or fits only if buffers stay small.";
    if (room.h > 120) room.cut_top(ui.canvas().paragraph(room, about, ui.small(), 18) + 4);
    const std::vector<std::size_t> rows = tornado_rows(s);
    Bars bars{0, 0, 0};
    for (const std::size_t i : rows) bars.most_s = std::max(bars.most_s, most_moved_s(s, i));
    std::optional<PlanEdit> edit;
    ScrollArea area(ui, "step.tornado", room, state.scroll);
    const float name = std::min(kName, room.w * 0.4f), width = area.room.w - name - 2 * kFigure;
    if (width < 60) return edit;
    bars.half = width / 2;
    bars.middle = area.room.x + name + kFigure + bars.half;
    for (const std::size_t i : rows) {
        const Rect row = area.room.cut_top(kRow);
        if (!area.sees(row)) continue;
        if (auto made = draw_choice(ui, row, name, bars, s.rows[i], s.step_s, i)) edit = std::move(made);
    }
    return edit;
}

Table tornado_data(const Scene& scene, const TornadoState& state) {
    const auto& of = state.of;
    const bool there = of.key() != nullptr && of.error().empty() && scene.evaluation.step
                       && of->step_s == scene.evaluation.step->time_s;
    if (there) return sensitivity_table(*of, true);
    Table none;
    none.columns = {{"what each choice is worth"}};
    none.rows = {{!scene.evaluation.step ? "no step comes out of this plan"
                  : of.error().empty()   ? "trying one step either way of each choice …"
                                         : "It could not be worked out: " + of.error()}};
    return none;
}

}  // namespace pentamesh::ui
