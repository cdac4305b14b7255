// Draws timelines of two plans on one time axis.
#include "app/ui/kit/format.h"
#include "app/ui/kit/plot.h"
#include "app/ui/views/compare/compare_parts.h"
#include "core/step/block_parts.h"

#include <algorithm>

namespace pentamesh::ui {

namespace {

constexpr float kLeastRow = 3, kLeastOp = 1.5f;

// Draws one device: ops of some pixels one by one, narrower ones as runs of the colour that most of them
// have.
void draw_device(Ui& ui, Rect row, const Timeline& t, std::size_t device, double px_per_s) {
    Canvas& c = ui.canvas();
    const float gap = row.h > 6 ? 1.0f : 0.0f;
    float from = -1, to = -1;
    Color run{};
    const auto end_run = [&] {
        if (from >= 0) c.rect({from, row.y, std::max(to - from, 1.0f), row.h - gap}, run);
        from = -1;
    };
    for (std::size_t i = t.order.begin[device]; i < t.order.begin[device + 1]; ++i) {
        const float x0 = row.x + static_cast<float>(t.start[i] * px_per_s),
                    x1 = row.x + static_cast<float>(t.end[i] * px_per_s);
        const Color color = color_of(ui.theme(), t.order.ops[i].kind);
        if (x1 - x0 >= kLeastOp) {
            end_run();
            c.rect({x0, row.y, std::max(x1 - x0 - (x1 - x0 > 4 ? 1.0f : 0.0f), 1.0f), row.h - gap}, color);
            continue;
        }
        if (from >= 0 && (x0 > to + 1 || x1 - from > kLeastOp * 2)) end_run();
        if (from < 0) from = x0, run = color;
        run = mix(run, color, 0.5f);
        to = x1;
    }
    end_run();
}

// Draws the time after the pipeline: transfers of data parallelism that do not hide, the optimizer,
// stragglers.
void draw_tail(Ui& ui, Rect rows, const Evaluation& e, double px_per_s) {
    const StepTail tail = step_tail(*e.step, e.comm);
    double at = e.timeline.makespan;
    const auto part = [&](double seconds, Color color, const std::string& name) {
        if (seconds <= 0) return;
        const Rect r{rows.x + static_cast<float>(at * px_per_s), rows.y,
                     std::max(1.0f, static_cast<float>(seconds * px_per_s)), rows.h};
        ui.canvas().rect(r, color);
        if (ui.hovers(r)) ui.tooltip(name + "\n" + time_text(seconds));
        at += seconds;
    };
    const Theme& t = ui.theme();
    for (int i = 0; i < kGroupKindCount; ++i) {
        const auto k = static_cast<GroupKind>(i);
        part(tail.exposed_s[k], color_of(t, k), std::string(name_of(k)) + " exposed");
    }
    part(tail.optimizer_s, color_of_part(t, {.part = StepPart::optimizer}), "optimizer");
    part(tail.straggler_s, color_of_part(t, {.part = StepPart::straggler}), "stragglers");
}

void draw_line(Ui& ui, Rect room, std::string_view letter, const Evaluation& e, double px_per_s) {
    Canvas& c = ui.canvas();
    c.text_in({room.x - 24, room.y, 20, std::min(room.h, 20.0f)}, letter, ui.title());
    if (!e.step) return;
    const std::size_t devices = e.timeline.device.size();
    if (devices == 0 || !e.timeline.complete) {
        c.text_in(room, "no replay: too many operations", ui.small());
        return;
    }
    const auto most = static_cast<std::size_t>(std::max(1.0f, room.h / kLeastRow));
    const std::size_t every = (devices + most - 1) / most, shown = (devices + every - 1) / every;
    const float h = std::min(room.h / static_cast<float>(shown), 22.0f);
    for (std::size_t k = 0; k < shown; ++k)
        draw_device(ui, {room.x, room.y + static_cast<float>(k) * h, room.w, h}, e.timeline, k * every,
                    px_per_s);
    draw_tail(ui, {room.x, room.y, room.w, h * static_cast<float>(shown)}, e, px_per_s);
    if (every > 1 && ui.hovers(room))
        ui.tooltip(std::to_string(devices) + " devices\neach " + ordinal(static_cast<std::int64_t>(every))
                   + " has a row");
}

}  // namespace

void draw_two_timelines(Ui& ui, Rect room, const ComparedPair& pair) {
    Canvas& c = ui.canvas();
    ui.section(room.cut_top(20), "TIMELINES ON ONE TIME AXIS");
    if (!pair.ea.step || !pair.eb.step || room.h < 60) return;
    room.cut_left(24);
    room.cut_right(56);
    const double a_s = pair.ea.step->time_s, b_s = pair.eb.step->time_s, longest = std::max(a_s, b_s);
    const Rect ticks = room.cut_bottom(20);
    const double px = static_cast<double>(room.w) / longest;
    const PlotScale scale{0, longest, ScaleKind::linear, room.x, room.right()};
    const std::vector<double> at = round_ticks(scale, std::max(2, static_cast<int>(room.w / 140)));
    for (const double t : at) {
        const float x = scale.at(t);
        c.line({x, room.y}, {x, room.bottom()}, ui.theme().hairline);
        c.text_in({x - 40, ticks.y, 80, 18}, t == 0 ? "0" : time_text(t), ui.small(), Align::center);
    }
    const float gap = 10;
    const Rect first = room.cut_top((room.h - gap) / 2);
    room.cut_top(gap);
    draw_line(ui, first, "A", pair.ea, px);
    draw_line(ui, room, "B", pair.eb, px);
    const auto end = [&](double s, Rect row, Color color) {
        const float x = scale.at(s);
        c.line({x, row.y}, {x, row.bottom()}, color, 1.5f, Dash::dashed);
        TextStyle style = ui.small();
        style.color = color;
        c.text_in({x + 4, row.bottom() - 16, 60, 16}, time_text(s), style);
    };
    end(a_s, first, ui.theme().secondary);
    end(b_s, room, b_s < a_s ? ui.theme().good : b_s > a_s ? ui.theme().bad : ui.theme().secondary);
}

}  // namespace pentamesh::ui
