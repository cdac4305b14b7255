#include "app/ui/views/timeline/timeline_windows.h"

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/colors.h"
#include "app/ui/views/timeline/timeline_parts.h"
#include "core/pipeline/timeline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr double kLeastHidden = 0.15;  // share of the step that the windows must leave out to be worth it
constexpr double kDrain = 0.06;        // share of the step that the last window holds at least
constexpr double kSame = 1e-9;         // relative, of two lengths that are the same

// Holds the lengths of the three windows in seconds.
struct Lengths {
    double fill_s = 0, steady_s = 0, drain_s = 0;
    [[nodiscard]] double sum() const { return fill_s + steady_s + drain_s; }
};

// Cuts the longest so far that all three have room in so many seconds.
void shrink(Lengths& l, double room_s) {
    std::array<double*, 3> by_length{&l.fill_s, &l.steady_s, &l.drain_s};
    std::ranges::sort(by_length, {}, [](const double* s) { return *s; });
    double left = 3;
    for (double* s : by_length) {
        *s = std::min(*s, room_s / left--);
        room_s -= *s;
    }
}

// Makes the windows longer: first the two ends, up to where periods begin and end, then the middle by whole
// periods.
void grow(Lengths& l, double by_s, const SteadyPart& steady, double whole_s) {
    const double fill = std::max(0.0, steady.from_s - l.fill_s),
                 drain = std::max(0.0, whole_s - steady.to_s() - l.drain_s);
    const double share = fill + drain > 0 ? std::min(1.0, by_s / (fill + drain)) : 0;
    l.fill_s += share * fill;
    l.drain_s += share * drain;
    const double middle = (l.steady_s + by_s - share * (fill + drain)) / steady.period_s;
    if (middle >= 1) l.steady_s = std::min(std::floor(middle), double{1} * steady.periods) * steady.period_s;
}

// `seconds(px)` is how long a time has room where a median block has so many pixels.
template <typename F>
Lengths lengths_of(const WindowFacts& facts, double whole_s, float numbered_px, const F& seconds) {
    constexpr float kRoomy = 1.5f;  // times the room that a number needs
    const SteadyPart& steady = *facts.steady;
    Lengths l{facts.round_s, steady.period_s / 2, kDrain * whole_s};
    if (l.fill_s + steady.period_s + l.drain_s <= seconds(numbered_px)) l.steady_s = steady.period_s;
    if (const double spare = seconds(kRoomy * numbered_px) - l.sum(); spare > 0)
        grow(l, spare, steady, whole_s);
    else if (const double most = seconds(kLeastBlock_px); l.sum() > most)
        shrink(l, most);
    return l;
}

}  // namespace

int TimelineWindows::periods() const {
    return static_cast<int>(std::floor((window[1].to_s - window[1].from_s) / steady.period_s + 1e-6));
}

WindowFacts window_facts(const Timeline& t) {
    return {steady_part(t), median_op_s(t), first_round_s(t)};
}

std::optional<TimelineWindows> find_windows(const Timeline& t, const WindowFacts& facts, double whole_s,
                                            Rect room, const WindowsForm& form, float numbered_px,
                                            double steady_at_s) {
    const float room_px = room.w - 2 * form.gap;
    if (facts.median_s <= 0 || !facts.steady || room_px < 300 || t.iterations > 1) return std::nullopt;
    const float numbered = std::max(kLeastBlock_px, numbered_px),
                worth = form == kLargeWindows ? numbered : kLeastBlock_px;
    if (static_cast<double>(room.w) * facts.median_s >= whole_s * double{worth}) return std::nullopt;
    const auto seconds = [&](float px) { return static_cast<double>(room_px / px) * facts.median_s; };
    const Lengths l = lengths_of(facts, whole_s, numbered, seconds);
    if (l.sum() > whole_s * (1 - kLeastHidden)) return std::nullopt;
    TimelineWindows out{
        .form = form, .steady = *facts.steady, .window = {}, .whole_s = whole_s, .strip_s = whole_s};
    const SteadyPart& steady = out.steady;
    // The middle window begins where a period does.
    const int shown = std::max(1, static_cast<int>(std::floor(l.steady_s / steady.period_s + kSame)));
    const int last_period = steady.periods - shown;
    const double wanted = steady_at_s < 0 ? std::floor(last_period / 2.0)
                                          : std::round((steady_at_s - steady.from_s) / steady.period_s);
    const double at = steady.from_s + std::clamp(wanted, 0.0, double{1} * last_period) * steady.period_s;
    // Half of the last window at least is of micro-batches, however long the end of the step is.
    const double last = std::min(whole_s - l.drain_s, std::max(steady.to_s(), t.makespan - l.drain_s / 2));
    const double px_per_s = static_cast<double>(room_px) / l.sum();
    float x = room.x;
    const auto window = [&](double from, double length) {
        const auto w = static_cast<float>(length * px_per_s);
        const TimeScale scale{from, from + length, {x, room.y, w, room.h}};
        x += w + form.gap;
        return scale;
    };
    out.window = {window(0, l.fill_s), window(at, l.steady_s), window(last, l.drain_s)};
    return out;
}

namespace {

std::vector<std::string> period_names(const TimelineWindows& w) {
    const std::string all = thousands(w.steady.periods), takes = time_text(w.steady.period_s);
    const double drawn = (w.window[1].to_s - w.window[1].from_s) / w.steady.period_s;
    if (w.periods() == 0) {
        const std::string part = std::abs(drawn - 0.5) < 0.01 ? "half of one period" : "part of one period";
        return {part + "; " + all + " of them, " + takes + " each", part + " of " + takes, part};
    }
    if (w.periods() == 1)
        return {"one period of " + all + " equal ones: " + takes, "one period: " + takes, "one period"};
    const std::string some = thousands(w.periods()) + " periods";
    return {some + " of " + all + " equal ones, " + takes + " each", some + " of " + all, some};
}

}  // namespace

std::vector<std::string> window_names(const TimelineWindows& w, std::size_t part, const StepTail& tail,
                                      const Theme& theme) {
    if (part == 0) return {"fill"};
    if (part == 1) return period_names(w);
    if (w.window[2].to_s < w.whole_s * (1 - kSame)) return {"drain; the step ends later", "drain"};
    const std::vector<TailPart> parts = tail_parts(theme, tail);
    if (parts.empty()) return {"drain"};
    const TailPart& longest = *std::ranges::max_element(parts, {}, &TailPart::seconds);
    return {"drain, then " + longest.name, "drain"};
}

namespace {

void draw_step_strip(Ui& ui, const TimeScale& scale, const TimelineWindows& w, const Timeline& t,
                     const ShownTimeline& shown, SeenBlocks& blocks) {
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    const Rect strip = scale.plot;
    const float end = scale.x(t.makespan);
    c.rect({strip.x, strip.y, end - strip.x, strip.h}, mix(theme.window, theme.bad, 0.3f));
    const auto devices = static_cast<int>(t.device.size());
    const float row_h = strip.h / static_cast<float>(devices), pixels = c.scale();
    blocks.look(shown.version, 0, w.strip_s, static_cast<double>(strip.w * pixels),
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
        if (strip.w * w.steady.period_s / w.strip_s < 6) break;
        c.line({x, strip.y}, {x, strip.bottom()}, theme.window.alpha(0.5f), 1);
    }
    (void)draw_tail(ui, shown.tail, t.makespan, strip, scale);
}

}  // namespace

void draw_windows_head(Ui& ui, Rect names, Rect room, const TimelineWindows& w, const Timeline& t,
                       const ShownTimeline& shown, SeenBlocks& blocks, double& steady_at_s) {
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    const Rect strip = room.cut_top(w.form.strip);
    const TimeScale scale{0, w.strip_s, strip};
    write_whole(ui, {names.x, strip.center().y - 8, names.w, 16}, "the step", ui.style(11, Tone::secondary));
    const float to = room.cut_top(w.form.beam).bottom(), from = strip.bottom();
    for (const TimeScale& window : w.window)
        c.polygon({{scale.x(window.from_s), from},
                   {scale.x(window.to_s), from},
                   {window.plot.right(), to},
                   {window.plot.x, to}},
                  theme.beam);
    draw_step_strip(ui, scale, w, t, shown, blocks);
    for (const TimeScale& window : w.window) {
        const float x0 = scale.x(window.from_s), x1 = scale.x(window.to_s);
        c.frame({x0, strip.y - 1, std::max(3.0f, x1 - x0), strip.h + 2}, theme.text, 1.5f, 2);
    }
    const Hit hit = ui.area("timeline.overview", strip, 0, true, false);
    if (hit.held)
        steady_at_s =
            std::max(0.0, scale.time(ui.frame().mouse.x) - (w.window[1].to_s - w.window[1].from_s) / 2);
    else if (hit.hovered)
        ui.tooltip(
            "The whole step\nThe frames are drawn large below. Drag to move the middle one; Home puts it "
            "back.");
    const TextStyle bold = ui.style(w.form.type, Tone::text, Face::semibold);
    for (std::size_t i = 0; i < w.window.size(); ++i) {
        const Rect r = w.window[i].plot;
        const std::vector<std::string> wordings = window_names(w, i, shown.tail, theme);
        const Rect row{r.x, room.y, r.w, w.form.heads};
        c.text_in(row, wording(ui, row.w - 2, wordings, bold), bold);
    }
}

void draw_breaks(Canvas& c, const Theme& theme, Rect rows, const TimelineWindows& w) {
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
        draw_break(c, theme, rows, w.window[i].plot.right() + w.form.gap / 2, 3);
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
    const std::string words = "one period: " + time_text(w.steady.period_s);
    const float width = c.text_width(words, style) + 4;
    c.text_in({std::max(row.x, std::min((x0 + x1 - width) / 2, row.right() - width)), row.y + 7, width, 16},
              words, style, Align::center);
}

}  // namespace pentamesh::ui
