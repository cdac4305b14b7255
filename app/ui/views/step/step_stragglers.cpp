// Draws the page of stragglers: steps as lanes of GPUs, which all wait for the slowest, and what that costs
// over their number.
#include "app/tables/review.h"
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/kit/plot.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/step/view.h"
#include "core/base/text.h"
#include "core/plan/edits.h"
#include "core/runs/run_file.h"
#include "core/step/step.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr std::string_view kSpread = "step.sigma";
constexpr double kSupposedSpread = 0.05;  // of step times, where the plan has none
constexpr std::array<std::int64_t, 4> kGroups{8, 64, 1024, 16000};
constexpr int kMostDoublings = 20;
constexpr float kLaneLabel = 84, kLaneResult = 96, kLaneGap = 8, kLeastLane = 1.5f;

// Draws the spread, stepped by whole per cents or typed, within the field's range.
std::optional<double> spread_box(Ui& ui, Rect box, double cv, StragglerState& state) {
    const FieldRange range = range_of("/training/straggler_cv").value_or(FieldRange{0, 1});
    const auto refuse = [&](double value) {
        return range.allows(value) ? ""
                                   : "is refused: it must be from " + percent(range.least) + " to "
                                         + percent(range.most) + ".";
    };
    const NumberEdit edit = number_box(ui, box,
                                       {.name = kSpread,
                                        .shown = percent(cv),
                                        .typed = percent(cv),
                                        .can_down = cv > range.least,
                                        .can_up = cv < range.most,
                                        .dimension = Dimension::share,
                                        .unit = "%",
                                        .refuse = refuse},
                                       state.numbers);
    if (edit.typed || edit.by == 0) return edit.typed;
    return std::clamp(std::round(cv * 100 + edit.by) / 100, range.least, range.most);
}

// Returns when the lanes that are drawn are done, in spreads from the mean: quantiles, evenly apart, in a
// scattered order. The last is the slowest of all `n`, where it is expected.
std::vector<double> ends_of(std::int64_t n, std::int64_t drawn) {
    std::vector<double> out(static_cast<std::size_t>(drawn));
    const auto stride = static_cast<std::size_t>(drawn) * 5 / 8 | 1U;  // odd: it meets each of 2^k
    const bool scattered = (drawn & (drawn - 1)) == 0;
    for (std::size_t i = 0; i < out.size(); ++i)
        out[scattered ? i * stride % out.size() : i] =
            i + 1 == out.size()
                ? expected_maximum(n)
                : normal_quantile((static_cast<double>(i) + 0.5) / static_cast<double>(drawn));
    return out;
}

// Returns how many lanes have room: a power of two, at most all.
std::int64_t lanes_in(float h, std::int64_t n) {
    std::int64_t drawn = 8;
    while (drawn * 2 <= n && static_cast<float>(drawn * 2) <= h / kLeastLane) drawn *= 2;
    return std::min(drawn, n);
}

std::vector<LaneGroup> groups_of(std::int64_t own, std::int64_t most_lanes) {
    std::vector<std::int64_t> sizes(kGroups.begin(), kGroups.end());
    if (own > 1 && std::find(sizes.begin(), sizes.end(), own) == sizes.end()) sizes.push_back(own);
    std::sort(sizes.begin(), sizes.end());
    std::vector<LaneGroup> out;
    for (const std::int64_t n : sizes)
        out.push_back({n, n == own, expected_maximum(n),
                       ends_of(n, lanes_in(static_cast<float>(most_lanes) * kLeastLane, n))});
    return out;
}

// Each group takes one moment: at its end the bar falls.
Film film_of(std::size_t groups) {
    const auto end = static_cast<double>(groups);
    return {.end = end,
            .telling = end,
            .a_second = 0.8,
            .after = [end](double at) { return std::min(end, std::floor(at + 1e-9) + 1); },
            .before = [](double at) { return std::max(0.0, std::ceil(at - 1e-9) - 1); }};
}

// Draws the lanes of a group as far as they are at `part` of its slowest GPU's time.
void draw_group(Ui& ui, Rect row, const LaneGroup& group, double spread, double longest, double part) {
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    Rect label = row.cut_left(kLaneLabel);
    const float right = row.right();
    row.cut_right(kLaneResult);
    const auto x_of = [&](double spreads) {
        return row.x + row.w * static_cast<float>((1 + spreads * spread) / longest);
    };
    const float pitch = row.h / static_cast<float>(group.ends.size()), h = pitch >= 4 ? pitch - 1 : pitch;
    const float bar = x_of(group.slowest), now = row.x + (bar - row.x) * static_cast<float>(part);
    const bool done = part >= 1;
    for (std::size_t i = 0; i < group.ends.size(); ++i) {
        const float y = row.y + pitch * static_cast<float>(i), x = std::min(now, x_of(group.ends[i]));
        const bool last = group.ends[i] >= group.slowest;
        if (x > row.x) c.rect({row.x, y, x - row.x, h}, last && done ? theme.amber : theme.secondary);
        if (now > x) c.rect({x, y, now - x, h}, theme.bad.alpha(0.7f));
    }
    if (done) c.line({bar, row.y - 2}, {bar, row.bottom() + 2}, theme.text, 2);
    const TextStyle bold = ui.style(13, Tone::text, Face::semibold);
    c.text_in({label.x, label.y, label.w, 17}, thousands(group.n) + (group.own ? " here" : ""), bold);
    const auto drawn = static_cast<std::int64_t>(group.ends.size());
    if (row.h >= 32)
        c.text_in({label.x, label.y + 16, label.w, 16},
                  drawn == group.n ? "GPUs" : thousands(drawn) + " drawn", ui.small());
    if (done)
        c.text_in({bar + 10, row.center().y - 9, right - bar - 10, 18}, "+" + percent(group.slowest * spread),
                  bold);
    if (ui.hovers({label.x, row.y, right - label.x, row.h}))
        ui.tooltip(thousands(group.n) + " GPUs\nthe slowest is expected " + significant(group.slowest)
                   + " σ after the mean, " + percent(group.slowest * spread)
                   + " of it; the textbook's bound says "
                   + percent(expected_maximum_bound(group.n) * spread));
}

void draw_gpus(Ui& ui, Rect room, double spread, std::int64_t own, StragglerState& state, bool space,
               const Scene& scene) {
    constexpr float kHead = 20, kFoot = 24;
    Rect head = room.cut_top(kHead);
    Rect foot = ui.state().for_picture ? Rect{} : room.cut_bottom(kFoot);
    const auto count =
        static_cast<float>(kGroups.size() + (own > 1 && std::ranges::find(kGroups, own) == kGroups.end()));
    const float h = (room.h + kLaneGap) / count;
    const std::vector<LaneGroup>& groups =
        state.groups.get({own, lanes_in(h - kLaneGap, kGroups.back())},
                         [&] { return groups_of(own, lanes_in(h - kLaneGap, kGroups.back())); });
    const Film film = film_of(groups.size());
    answer_player_keys(ui, scene, state.played, film, space);
    const double at = moment_of(state.played, film), longest = 1 + groups.back().slowest * spread;
    const float mean =
        room.x + kLaneLabel + (room.w - kLaneLabel - kLaneResult) * static_cast<float>(1 / longest);
    ui.canvas().line({mean, head.bottom() - 3}, {mean, room.bottom()}, ui.theme().secondary, 1, Dash::dashed);
    ui.canvas().text_in({mean - 66, head.y, 62, head.h}, "the mean", ui.small(), Align::right);
    ui.label({room.x, head.y, mean - 70 - room.x, head.h}, "A step takes as long as its slowest GPU",
             ui.title());
    for (std::size_t i = 0; i < groups.size(); ++i) {
        Rect row = room.cut_top(h);
        row.h -= kLaneGap;
        draw_group(ui, row, groups[i], spread, longest, std::clamp(at - static_cast<double>(i), 0.0, 1.0));
    }
    if (foot.w <= 0) return;
    draw_player(ui, foot, "step.lanes", state.played, film);
    foot.cut_left(8);
    ui.label(foot, "a lane is a GPU; red is waiting; Space plays, left and right step",
             ui.style(11, Tone::secondary));
}

// Draws what the slowest is behind the mean over the number of GPUs, and the bound; a point for each group
// whose bar fell, or, where none are drawn, for the plan's own GPUs.
void draw_curve(Ui& ui, Rect room, double spread, std::int64_t own, StragglerState& state,
                std::optional<std::size_t> fallen) {
    if (room.w < 140 || room.h < 66) return;
    Canvas& c = ui.canvas();
    const auto gpus = [](int k) { return static_cast<double>(std::int64_t{1} << k); };
    if (state.expected.empty())
        for (int k = 0; k <= kMostDoublings; ++k)
            state.expected.push_back(expected_maximum(std::int64_t{1} << k));
    int last = 15;  // beyond the largest group
    while (last < kMostDoublings && gpus(last) < static_cast<double>(own)) ++last;
    const double most = gpus(last), top = expected_maximum_bound(std::int64_t{1} << last) * spread * 1.04;
    PlotAxis x{.low = 1, .high = most, .kind = ScaleKind::logarithmic, .ticks = {1}, .grid = false};
    x.label = [](double v) { return thousands(std::llround(v)); };
    for (const std::int64_t n : kGroups) x.ticks.push_back(static_cast<double>(n));
    const PlotAxis y{.high = top, .label = [](double v) { return trimmed(v * 100) + " %"; }, .spacing = 24};
    const Plot plot = draw_axes(ui, room, x, y);
    std::vector<Vec2> line, bound;
    for (int k = 0; k <= last; ++k) {
        line.push_back(plot.at(gpus(k), state.expected[static_cast<std::size_t>(k)] * spread));
        bound.push_back(plot.at(gpus(k), expected_maximum_bound(std::int64_t{1} << k) * spread));
    }
    c.polyline(bound, ui.theme().secondary, 1.5f, false, Dash::dashed);
    c.polyline(line, ui.theme().text, 2);
    const std::string name = "the bound σ √(2 ln N)";
    const float w = c.text_width(name, ui.small()) + 2;
    const auto middle = bound[bound.size() / 2];
    c.text_in({std::max(plot.area.x + 4, middle.x - w - 6), middle.y - 22, w, 16}, name, ui.small());
    const auto point = [&](std::int64_t n, double slowest, bool here) {
        const Vec2 at = plot.at(std::clamp(static_cast<double>(n), 1.0, most), slowest * spread);
        if (here) c.line({at.x, plot.area.y}, {at.x, plot.area.bottom()}, ui.theme().text);
        c.circle(at, here ? 5 : 4, here ? ui.theme().text : ui.theme().amber);
        if (!here)
            c.text_in({at.x + 2, at.y + 5, 60, 16}, trimmed(slowest * spread * 100), ui.small(Tone::text));
    };
    if (!fallen) return point(own, expected_maximum(own), true);
    for (std::size_t i = 0; i < std::min(*fallen, state.groups->size()); ++i) {
        const LaneGroup& g = (*state.groups)[i];
        point(g.n, g.slowest, g.own);
    }
}

// Draws what half the GPUs, and half the spread, would take off.
void draw_halves(Ui& ui, Rect room, double spread, std::int64_t own) {
    constexpr std::int64_t kEnough = 64;  // few GPUs do not show that their number hardly matters
    const std::int64_t n = own >= kEnough ? own : kGroups.back();
    const double all = expected_maximum(n), half = expected_maximum(n / 2);
    put_paragraph(ui, room,
                  "Half the GPUs wait " + percent(1 - half / all) + " less, half the spread " + percent(0.5)
                      + " less.",
                  ui.title(), 18, 6);
    const std::array<std::pair<std::string, double>, 3> bars{
        {{thousands(n) + " GPUs, " + percent(spread), all * spread},
         {thousands(n / 2) + " GPUs, " + percent(spread), half * spread},
         {thousands(n) + " GPUs, " + percent(spread / 2), all * spread / 2}}};
    for (const auto& [words, share_of] : bars) {
        if (room.h < 20) return;
        const auto [name, bar, figure] = columns(room.cut_top(24), {px(142), share(), px(72)}, 10);
        ui.label(name, words, ui.style(12));
        ui.canvas().rect({bar.x, bar.y + 5, bar.w * static_cast<float>(share_of / bars[0].second), 14},
                         share_of == bars[0].second ? ui.theme().amber : ui.theme().secondary);
        ui.label(figure, "+" + percent(share_of), ui.style(12, Tone::text, Face::semibold));
    }
}

// Writes what stands in the place of the lanes where they have no room.
void write_figures(Ui& ui, Rect room, double spread, std::int64_t own) {
    const double exact = expected_maximum(own), bound = expected_maximum_bound(own);
    const TextStyle plain = ui.style(12), bold = ui.style(13, Tone::text, Face::semibold);
    const auto row = [&](std::string_view name, const std::string& words, const TextStyle& style) {
        Rect r = room.cut_top(24);
        ui.label(r.cut_left(140), name, ui.small());
        ui.label(r, words, style);
    };
    row("everyone waits for", "the slowest of " + thousands(own), plain);
    row("expected, exact", significant(exact) + " σ = " + percent(spread * exact), bold);
    row("bound √(2 ln N)", significant(bound) + " σ = " + percent(spread * bound), plain);
}

}  // namespace

std::optional<PlanEdit> draw_stragglers(Ui& ui, Rect room, const Scene& scene, StragglerState& state,
                                        bool space) {
    std::optional<PlanEdit> edit;
    const double cv = scene.plan.training.straggler_cv, spread = cv > 0 ? cv : kSupposedSpread;
    const std::int64_t own = scene.evaluation.mesh.world;
    Rect head = room.cut_top(24);
    ui.label(head.cut_left(140), "σ of a GPU's step time", ui.small());
    if (const auto sigma = spread_box(ui, head.cut_left(110).inset(0, 1), cv, state)) {
        Plan p = scene.plan;
        p.training.straggler_cv = *sigma;
        edit = PlanEdit{p, "straggler σ " + percent(p.training.straggler_cv), ""};
    }
    head.cut_left(14);
    std::string words = "The plan has no spread: drawn with " + percent(kSupposedSpread) + ".";
    if (cv > 0 && scene.evaluation.step)
        words = "Waiting for the slowest costs " + time_text(scene.evaluation.step->straggler_s) + " of "
                + time_text(scene.evaluation.step->time_s) + ".";
    head_sentence(ui, head, room, words);
    number_message(ui, room, kSpread, state.numbers);
    room.cut_top(6);
    std::optional<std::size_t> fallen;
    if (room.w >= 560 && room.h >= 190) {
        draw_gpus(ui, room.cut_left(std::floor(room.w * 0.58f)), spread, own, state, space, scene);
        fallen = static_cast<std::size_t>(moment_of(state.played, film_of(state.groups->size())) + 1e-9);
        room.cut_left(24);
        if (room.h >= 230) {
            draw_halves(ui, room.cut_bottom(100), spread, own);
            room.cut_bottom(10);
        }
    } else {
        write_figures(ui, room.cut_left(room.w < 420 ? room.w : std::min(300.0f, room.w * 0.5f)), spread,
                      own);
        room.cut_left(24);
    }
    draw_curve(ui, room, spread, own, state, fallen);
    return edit;
}

// The page of Step that sets a real run next to the plan, part by part.

namespace {

using runs::RunPart;

// Draws two bars of one scale, the predicted one hollow above the measured one.
void draw_bars(Ui& ui, Rect cell, const runs::PartRow& row, double end_s) {
    Canvas& c = ui.canvas();
    const Color color = color_of(ui.theme(), row.part);
    const float high = std::min(7.0f, cell.h * 0.34f);
    const auto bar = [&](double seconds, float y) {
        const auto share = static_cast<float>(std::clamp(seconds / end_s, 0.0, 1.0));
        return Rect{cell.x, y, std::max(1.0f, cell.w * share), high};
    };
    if (row.predicted_s) c.frame(bar(*row.predicted_s, cell.center().y - high - 1), color, 1);
    const Rect measured = bar(row.time.measured_s, cell.center().y + 1);
    if (row.part == RunPart::idle || row.part == RunPart::pipeline)
        c.pattern(measured, Pattern::hatched, color), c.frame(measured, color, 1);
    else
        c.rect(measured, color);
}

std::string notes_of(const runs::Measured& m) {
    std::string out;
    for (const runs::RunProblem& p : m.problems) out += p.message + "\n";
    for (const std::string& w : m.warnings) out += w + "\n";
    return typeset(out);
}

void draw_parts(Ui& ui, Rect room, const runs::Measured& m, Scene& scene, StepViewState& state) {
    double end_s = 0;
    for (const runs::PartRow& r : m.parts)
        end_s = std::max({end_s, r.time.measured_s, r.predicted_s.value_or(0)});
    if (end_s <= 0) return;
    Table table =
        columns_of(as_read(measured_parts_table(m)), {"part", "predicted_s", "measured_s", "difference_s",
                                                      "constant", "is", "would_be", "step_would_be_s"});
    table.columns.insert(table.columns.begin() + 1, {m.predicted_s ? "predicted above, measured below" : ""});
    for (Table::Row& row : table.rows) row.insert(row.begin() + 1, Cell(""));
    const RowLooks looks{.paint =
                             [&](Rect cell, std::size_t row, std::size_t column) {
                                 if (column == 1) draw_bars(ui, cell, m.parts[row], end_s);
                                 return column == 1;
                             },
                         .drawn_column = 1};
    const auto highlighted = selected_part(scene);
    const auto row = std::find_if(m.parts.begin(), m.parts.end(), [&](const runs::PartRow& r) {
        return highlighted && r.part == *highlighted;
    });
    const int selected = row == m.parts.end() ? -1 : static_cast<int>(row - m.parts.begin());
    const int clicked = draw_table(ui, "step.measured", room, table, state.measured_table, selected, looks);
    if (clicked >= 0) select_part(scene, m.parts[static_cast<std::size_t>(clicked)].part);
}

}  // namespace

bool has_measured(const Scene& scene) {
    return scene.run != nullptr && !scene.run->files.empty();
}

Table measured_data(const Scene& scene) {
    const runs::Measured* const m = scene.run != nullptr ? scene.run->measured.get() : nullptr;
    return m != nullptr ? measured_parts_table(*m) : Table{};
}

void draw_measured(Ui& ui, Rect room, Scene& scene, StepViewState& state) {
    const runs::Measured* const m = scene.run->measured.get();
    if (m == nullptr) {
        ui.canvas().paragraph(room, scene.run->words(), ui.style(13, Tone::secondary), 20);
        return;
    }
    if (!m->summary.empty()) put_paragraph(ui, room, typeset(m->summary), ui.title(), 18, 4);
    if (const std::string notes = notes_of(*m); !notes.empty() && room.h > 120)
        put_paragraph(ui, room, notes, ui.small(), 16, 4);
    if (!m->parts.empty()) draw_parts(ui, room, *m, scene, state);
}

}  // namespace pentamesh::ui
