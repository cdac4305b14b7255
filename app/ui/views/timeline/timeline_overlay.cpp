#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/kit/plot.h"
#include "app/ui/scene/colors.h"
#include "app/ui/views/timeline/timeline_parts.h"
#include "app/ui/views/timeline/view.h"
#include "core/pipeline/timeline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

void arrow(Ui& ui, const Timeline& t, std::size_t from, std::size_t to, const RowPlace& rows,
           const TimeScale& scale, Color color, float width) {
    const int a_device = device_of_op(t, from), b_device = device_of_op(t, to);
    if (a_device == b_device) return;
    const float far = rows.plot.w * 2;
    const auto near = [&](float x) { return std::clamp(x, rows.plot.x - far, rows.plot.right() + far); };
    const Vec2 a{near(scale.x(t.end[from])), rows.middle(a_device)};
    const Vec2 b{near(scale.x(t.start[to])), rows.middle(b_device)};
    const float bend = std::max(8.0f, std::abs(b.x - a.x) / 2);
    ui.canvas().curve(a, a + Vec2{bend, 0}, b - Vec2{bend, 0}, b, color, width);
    ui.canvas().polygon({b, {b.x - 6, b.y - 3.5f}, {b.x - 6, b.y + 3.5f}}, color);
}

}  // namespace

std::vector<TailPart> tail_parts(const Theme& theme, const StepTail& tail, const FadedParts& fades) {
    std::vector<TailPart> parts;
    for (const GroupKind axis : all_of<GroupKind>())
        if (tail.exposed_s[axis] > 0)
            parts.push_back(
                {axis_label(axis), color_of(theme, axis), tail.exposed_s[axis], true, fades.axis[axis]});
    if (tail.slowed_s > 0)
        parts.push_back({std::string(name_of(kSlowed.part)), color_of_part(theme, kSlowed), tail.slowed_s,
                         false, fades.work});
    if (tail.optimizer_s > 0)
        parts.push_back({"optimizer", theme.memory[2], tail.optimizer_s, false, fades.optimizer});
    if (tail.straggler_s > 0)
        parts.push_back({"stragglers", theme.bad, tail.straggler_s, true, fades.stragglers});
    return parts;
}

void draw_arrows(Ui& ui, const Timeline& t, const TimelineCosts& costs, std::size_t op, const RowPlace& rows,
                 const TimeScale& scale) {
    const Color strong = ui.theme().text, weak = ui.theme().secondary;
    const std::ptrdiff_t last = waited_for(t, costs, op);
    for (const std::ptrdiff_t from : inputs_of(t, op))
        if (from >= 0)
            arrow(ui, t, static_cast<std::size_t>(from), op, rows, scale, from == last ? strong : weak,
                  from == last ? 2.0f : 1.25f);
    for (const std::ptrdiff_t to : outputs_of(t, op))
        if (to >= 0) arrow(ui, t, op, static_cast<std::size_t>(to), rows, scale, weak, 1.25f);
}

void draw_critical(Ui& ui, const Timeline& t, const std::vector<std::size_t>& path, const RowPlace& rows,
                   const TimeScale& scale) {
    Canvas& c = ui.canvas();
    const Color color = ui.theme().bad;
    const double pixel = (scale.to_s - scale.from_s) / std::max(1.0f, scale.plot.w);
    const auto x = [&](double s) { return std::clamp(scale.x(s), rows.plot.x - 8, rows.plot.right() + 8); };
    for (std::size_t i = 0; i < path.size();) {
        // Ops in a row on one device are one line.
        const int d = device_of_op(t, path[i]);
        std::size_t last = i;
        while (last + 1 < path.size() && device_of_op(t, path[last + 1]) == d) ++last;
        const double from = t.start[path[i]], to = t.end[path[last]];
        if (to >= scale.from_s && from <= scale.to_s) {
            const Rect row = rows.row(d);
            c.rect({x(from), row.y, std::max(1.0f, x(to) - x(from)), std::clamp(row.h * 0.12f, 1.0f, 3.0f)},
                   color);
            if (last + 1 < path.size()) {
                const double next = t.start[path[last + 1]];
                const Rect other = rows.row(device_of_op(t, path[last + 1]));
                if (std::max(next - to, t.end[path[last]] - t.start[path[last]]) > 2 * pixel)
                    c.line({x(to), row.y + 1}, {x(next), other.y + 1}, color, 1.5f);
            }
        }
        i = last + 1;
    }
}

void draw_step_end(Ui& ui, const Timeline& t, const RowPlace& rows, const TimeScale& scale) {
    std::vector<Vec2> stair;
    for (std::size_t d = 0; d < t.device.size(); ++d) {
        const std::size_t each =
            (t.order.begin[d + 1] - t.order.begin[d]) / static_cast<std::size_t>(t.iterations);
        if (each == 0) continue;
        const float x =
            std::clamp(scale.x(t.end[t.order.begin[d] + each - 1]), rows.plot.x - 64, rows.plot.right() + 64);
        const float y = rows.plot.y + static_cast<float>(d) * rows.row_h - rows.scroll;
        stair.push_back({x, y});
        stair.push_back({x, y + rows.row_h});
    }
    ui.canvas().polyline(stair, ui.theme().window, 4);
    ui.canvas().polyline(stair, ui.theme().text, 2);
}

void draw_tail(Ui& ui, const StepTail& tail, double from_s, Rect plot, const TimeScale& scale,
               const FadedParts& fades) {
    Canvas& c = ui.canvas();
    double at = from_s;
    for (const TailPart& part : tail_parts(ui.theme(), tail, fades)) {
        const auto x = [&](double s) { return std::clamp(scale.x(s), plot.x - 8, plot.right() + 8); };
        const Rect r{x(at), plot.y, x(at + part.seconds) - x(at), plot.h};
        at += part.seconds;
        if (r.w < 0.5f || r.x > plot.right() || r.right() < plot.x) continue;
        const float strength = part.faded ? 0.35f : 1;
        c.rect(r, part.color.alpha(0.22f * strength));
        if (part.hatched) c.pattern(r, Pattern::cross_hatched, part.color.alpha(0.6f * strength));
        if (ui.hovers(r))
            ui.tooltip(
                part.name + " " + time_text(part.seconds)
                + (part.hatched ? "\nafter the pipeline, exposed: nothing is left to hide it behind" : ""));
        const TextStyle s = ui.style(11);
        const float w = c.text_width(part.name, s);
        if (w + 8 > r.w) continue;
        write_plate(ui, {r.center().x - w / 2 - 3, r.y + 3, w + 6, 16}, part.name, s, ui.theme().window);
    }
}

void draw_ruler(Ui& ui, Rect row, const TimeScale& scale) {
    Canvas& c = ui.canvas();
    constexpr double kLeast_px = 88;  // between two labels
    const double step = round_step((scale.to_s - scale.from_s) * kLeast_px / std::max(1.0f, scale.plot.w));
    const double first = std::ceil(scale.from_s / step - 1e-9) * step;
    // If three digits are the same for neighbours, the first tick has all digits and the others the
    // difference.
    const bool relative = first > 0 && step < first * 0.004;
    const TextStyle s = ui.style(11, Tone::secondary);
    float free = row.x - 1;
    for (int i = 0; i < 64; ++i) {
        const double at = first + i * step;
        if (at > scale.to_s + step * 1e-6) break;
        const float x = scale.x(at);
        c.line({x, row.y}, {x, row.y + 4}, ui.theme().faint);
        std::string label = i * step == 0 && first == 0 ? "0" : time_text(at);
        if (relative) label = i == 0 ? significant(first * 1e3, 12) + " ms" : "+" + time_text(i * step);
        const float w = c.text_width(label, s);
        const float from = held_between(x - w / 2, row.x, row.right() - w);
        if (from <= free) continue;
        c.text({from, row.y + 4}, label, s);
        free = from + w + 8;
    }
}

void draw_moved_end(Ui& ui, double before_s, double now_s, const TimeScale& scale) {
    Canvas& c = ui.canvas();
    const Rect plot = scale.plot;
    const float from = scale.x(before_s), to = scale.x(now_s), y = plot.center().y;
    if (from > plot.right() + 1) return;
    c.line({from, plot.y}, {from, plot.bottom()}, ui.theme().text, 1.3f, Dash::dashed);
    const float by = to < from ? -1.0f : 1.0f;
    if (std::abs(to - from) < 8) return;
    const Color color = by < 0 ? ui.theme().good : ui.theme().bad;
    c.line({from, y}, {to - 5 * by, y}, ui.theme().window, 5);
    c.line({from, y}, {to - 5 * by, y}, color, 1.5f);
    c.polygon({{to, y}, {to - 7 * by, y - 4}, {to - 7 * by, y + 4}}, color);
    const TextStyle style = ui.style(12, Tone::text, Face::semibold).in(color);
    const std::string text = difference_text(now_s - before_s, time_text);
    const float w = c.text_width(text, style) + 8;
    const Rect box{held_between((from + to - w) / 2, plot.x, plot.right() - w), y + 5, w, 18};
    write_plate(ui, box, text, style, ui.theme().window.alpha(0.85f));
}

void draw_cursor(Ui& ui, double at_s, Rect plot, Rect ruler, const TimeScale& scale) {
    if (at_s < scale.from_s || at_s > scale.to_s) return;
    Canvas& c = ui.canvas();
    const float x = scale.x(at_s);
    c.line({x, plot.y}, {x, plot.bottom()}, ui.theme().text, 1);
    if (ruler.empty()) return;
    const std::string label = time_text(at_s);
    const TextStyle s{Face::semibold, 11, ui.theme().window, 0};
    const float w = c.text_width(label, s) + 10;
    const Rect box{held_between(x - w / 2, ruler.x, ruler.right() - w), ruler.y + 3, w, 16};
    write_plate(ui, box, label, s, ui.theme().text);
}

namespace {

constexpr float kBreak = 26, kStrip = 24, kBeam = 22;
constexpr double kLeastHidden = 0.15;  // share of the step that the windows must leave out to be worth it

// Shares the seconds that have room among the three parts: the periods get what filling and draining leave.
struct Shares {
    double fill_s = 0, steady_s = 0, drain_s = 0;
    int periods = 0;
};
Shares share_out(const SteadyPart& s, double whole_s, double room_s) {
    const double fill = s.from_s, drain = whole_s - s.to_s();
    Shares out;
    out.periods =
        std::clamp(static_cast<int>(std::floor((room_s - fill - drain) / s.period_s)), 1, s.periods);
    // A period that is as long as half of the room is drawn in part.
    out.steady_s = std::min(out.periods * s.period_s, std::max(room_s - fill - drain, room_s / 2));
    const double ends = fill + drain, room = std::max(room_s - out.steady_s, 0.0);
    const double k = ends > room ? room / ends : 1;
    out.fill_s = fill * k;
    out.drain_s = drain * k;
    return out;
}

void draw_step_strip(Ui& ui, Rect strip, const TimelineWindows& w, const Timeline& t,
                     const ShownTimeline& shown, SeenBlocks& blocks) {
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    const TimeScale scale{0, w.whole_s, strip};
    const float end = scale.x(t.makespan);
    c.rect({strip.x, strip.y, end - strip.x, strip.h}, mix(theme.window, theme.bad, 0.3f));
    const auto devices = static_cast<int>(t.device.size());
    const float row_h = strip.h / static_cast<float>(devices), pixels = c.scale();
    blocks.look(shown.version, 0, w.whole_s, static_cast<double>(strip.w * pixels),
                {.least_px = static_cast<double>(2 * pixels)});
    const Color busy = mix(theme.window, theme.backward, 0.8f);
    for (int d = 0; d < devices; ++d)
        for (const Block& b : blocks.row(t, shown.index, d)) {
            const float x0 = scale.x(b.from), x1 = scale.x(b.to);
            c.rect({x0, strip.y + static_cast<float>(d) * row_h, std::max(0.5f, x1 - x0), row_h},
                   busy.alpha(static_cast<float>(std::clamp(b.density(), 0.0, 1.0))));
        }
    for (int k = 0; k <= w.steady.periods; ++k) {
        const float x = scale.x(w.steady.from_s + k * w.steady.period_s);
        if (strip.w * w.steady.period_s / w.whole_s < 6) break;
        c.line({x, strip.y}, {x, strip.bottom()}, theme.window.alpha(0.5f), 1);
    }
    draw_tail(ui, shown.tail, t.makespan, strip, scale);
}

}  // namespace

std::optional<TimelineWindows> find_windows(const Timeline& t, double whole_s, Rect plot, float least_px,
                                            double steady_at_s) {
    const double median = median_op_s(t);
    const float room_px = plot.w - 2 * kBreak;
    if (median <= 0 || room_px < 300 || t.iterations > 1) return std::nullopt;
    const double room_s = static_cast<double>(room_px / least_px) * median;
    if (room_s > whole_s * (1 - kLeastHidden)) return std::nullopt;
    const std::optional<SteadyPart> steady = steady_part(t);
    if (!steady) return std::nullopt;

    const Shares shares = share_out(*steady, whole_s, room_s);
    const double shown_s = shares.fill_s + shares.steady_s + shares.drain_s;
    if (shown_s > whole_s * (1 - kLeastHidden) || shares.steady_s <= 0) return std::nullopt;
    TimelineWindows out;
    out.steady = *steady;
    out.whole_s = whole_s;
    out.shown_periods = std::max(1, static_cast<int>(std::lround(shares.steady_s / steady->period_s)));
    // A window begins where a period does.
    const int before = (steady->periods - out.shown_periods) / 2;
    const double middle = steady->from_s + before * steady->period_s;
    const double wanted = steady_at_s < 0 ? middle : steady_at_s;
    const double at = steady->from_s
                      + std::clamp(std::round((wanted - steady->from_s) / steady->period_s), 0.0,
                                   static_cast<double>(steady->periods - out.shown_periods))
                            * steady->period_s;
    const double px_per_s = static_cast<double>(room_px) / shown_s;
    const auto place = [&](double seconds, float x) {
        return Rect{x, plot.y, static_cast<float>(seconds * px_per_s), plot.h};
    };
    const Rect fill = place(shares.fill_s, plot.x),
               steady_rect = place(shares.steady_s, fill.right() + kBreak),
               drain = place(shares.drain_s, steady_rect.right() + kBreak);
    // Half of the last window at least is of micro-batches, however long the end of the step is.
    const double last =
        std::min(whole_s - shares.drain_s, std::max(steady->to_s(), t.makespan - shares.drain_s / 2));
    out.window = {TimeScale{0, shares.fill_s, fill}, TimeScale{at, at + shares.steady_s, steady_rect},
                  TimeScale{last, last + shares.drain_s, drain}};
    return out;
}

std::array<std::string, 2> window_words(const TimelineWindows& w, std::size_t part, const Timeline& t) {
    switch (part) {
    case 0: {
        double last = 0;
        for (const DeviceTime& d : t.device) last = std::max(last, d.first_start);
        return {"fill", "the last stage starts at " + time_text(last)};
    }
    case 1:
        return {"steady", w.shown_periods < w.steady.periods
                              ? plural(w.shown_periods, "period of ", "periods of ")
                                    + thousands(w.steady.periods) + " equal ones"
                              : std::string("all periods")};
    default:
        return {"drain", w.window.back().to_s < w.whole_s * (1 - 1e-9)
                             ? "the last micro-batches; the step ends later, see above"
                             : "the last micro-batches, then the end of the step"};
    }
}

void draw_beam(Canvas& c, const Theme& theme, const TimeScale& scale, const TimeScale& window, float to) {
    const Rect r = window.plot;
    const float from = scale.plot.bottom();
    c.polygon({{scale.x(window.from_s), from}, {scale.x(window.to_s), from}, {r.right(), to}, {r.x, to}},
              theme.beam);
}

void draw_window_frame(Canvas& c, const Theme& theme, const TimeScale& scale, const TimeScale& window) {
    const float x0 = scale.x(window.from_s), x1 = scale.x(window.to_s);
    const Rect strip = scale.plot;
    c.frame({x0, strip.y - 1, std::max(3.0f, x1 - x0), strip.h + 2}, theme.text, 1.5f, 2);
}

void draw_windows_head(Ui& ui, Rect room, const TimelineWindows& w, const Timeline& t,
                       const ShownTimeline& shown, SeenBlocks& blocks, double& steady_at_s) {
    const Rect strip = room.cut_top(kStrip);
    const TimeScale scale{0, w.whole_s, strip};
    for (const TimeScale& window : w.window)
        draw_beam(ui.canvas(), ui.theme(), scale, window, strip.bottom() + kBeam);
    draw_step_strip(ui, strip, w, t, shown, blocks);
    for (const TimeScale& window : w.window) draw_window_frame(ui.canvas(), ui.theme(), scale, window);
    const Hit hit = ui.area("timeline.overview", strip, 0, true, false);
    if (hit.held)
        steady_at_s =
            std::max(0.0, scale.time(ui.frame().mouse.x) - (w.window[1].to_s - w.window[1].from_s) / 2);
    else if (hit.hovered)
        ui.tooltip(
            "The whole step\nThe frames are drawn large below. Drag to move the middle one; Home puts it "
            "back.");
    room.cut_top(kBeam);
    for (std::size_t i = 0; i < w.window.size(); ++i) {
        const Rect r = w.window[i].plot;
        const auto [name, words] = window_words(w, i, t);
        Rect row{r.x, room.y, r.w, 18};
        write_left(ui, row, name, ui.style(12, Tone::text, Face::semibold), 8);
        write_whole(ui, row, words, ui.small());
    }
}

void draw_breaks(Canvas& c, const Theme& theme, Rect rows, const TimelineWindows& w) {
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
        const float left = w.window[i].plot.right();
        for (const float x : {left + kBreak / 2 - 3, left + kBreak / 2 + 3}) {
            std::vector<Vec2> zigzag;
            int n = 0;
            for (float y = rows.y; y <= rows.bottom(); y += 6)
                zigzag.push_back({x + (n++ % 2 == 0 ? -2.0f : 2.0f), y});
            if (zigzag.size() > 1) c.polyline(zigzag, theme.secondary, 1);
        }
    }
}

void draw_period(Ui& ui, Rect row, const TimelineWindows& w) {
    Canvas& c = ui.canvas();
    const TimeScale& s = w.window[1];
    const float x0 = s.x(s.from_s), x1 = std::min(s.x(s.from_s + w.steady.period_s), s.plot.right());
    const Color color = ui.theme().text;
    c.line({x0, row.y}, {x0, row.y + 5}, color);
    c.line({x0, row.y + 5}, {x1, row.y + 5}, color);
    c.line({x1, row.y}, {x1, row.y + 5}, color);
    const TextStyle style = ui.style(12, Tone::text, Face::semibold);
    const std::string words =
        "one period of " + thousands(w.steady.periods) + " equal ones: " + time_text(w.steady.period_s);
    const float width = c.text_width(words, style) + 4;
    c.text_in({std::max(row.x, std::min((x0 + x1 - width) / 2, row.right() - width)), row.y + 7, width, 16},
              words, style, Align::center);
}

}  // namespace pentamesh::ui
