#include "app/ui/views/timeline/view.h"

#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "app/ui/views/timeline/timeline_parts.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace pentamesh::ui {

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
