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
            parts.push_back({axis_label(axis), color_of(theme, axis), tail.exposed_s[axis],
                             TimelineMark::waits, axis, fades.axis[axis]});
    const auto put = [&](std::string_view name, Color color, double seconds, TimelineMark mark, bool faded) {
        if (seconds > 0) parts.push_back({std::string(name), color, seconds, mark, GroupKind::tp, faded});
    };
    put(name_of(kSlowed.part), color_of_part(theme, kSlowed), tail.slowed_s, TimelineMark::slowed,
        fades.work);
    put(name_of(kHostMemory.part), color_of_part(theme, kHostMemory), tail.offload_s, TimelineMark::offload,
        fades.optimizer);
    put("optimizer", color_of_part(theme, kOptimizer), tail.optimizer_s, TimelineMark::optimizer,
        fades.optimizer);
    put("stragglers", theme.bad, tail.straggler_s, TimelineMark::stragglers, fades.stragglers);
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

namespace {

// Names a part of the step's end, with its time where there is room for a second line.
void name_tail(Ui& ui, Rect r, const TailPart& part) {
    constexpr float kLine = 15, kEdge = 5;
    Canvas& c = ui.canvas();
    const TextStyle name = ui.style(11, Tone::text, Face::semibold), plain = ui.style(11);
    const std::string takes = time_text(part.seconds);
    const float w = c.text_width(part.name, name);
    if (w + 2 * kEdge > r.w || r.h < kLine + 2) return;
    const float both = std::max(w, c.text_width(takes, plain));
    const bool two = both + 2 * kEdge <= r.w && r.h >= 2 * kLine + 8;
    const float width = (two ? both : w) + 2 * kEdge, height = two ? 2 * kLine + 4 : kLine + 1;
    Rect box{r.center().x - width / 2, r.center().y - height / 2, width, height};
    c.rect(box, ui.theme().window.alpha(0.85f), 4);
    box = box.inset(kEdge - 1, two ? 2 : 0);
    c.text_in(box.cut_top(two ? kLine : box.h), part.name, name);
    if (two) c.text_in(box, takes, plain);
}

}  // namespace

TimelineMarks draw_tail(Ui& ui, const StepTail& tail, double from_s, Rect plot, const TimeScale& scale,
                        const FadedParts& fades) {
    Canvas& c = ui.canvas();
    TimelineMarks drawn;
    double at = from_s;
    for (const TailPart& part : tail_parts(ui.theme(), tail, fades)) {
        const auto x = [&](double s) { return std::clamp(scale.x(s), plot.x - 8, plot.right() + 8); };
        const Rect r{x(at), plot.y, x(at + part.seconds) - x(at), plot.h};
        at += part.seconds;
        if (r.w < kLeastMark_px || r.x > plot.right() || r.right() < plot.x) continue;
        part.mark_in(drawn);
        const float strength = part.faded ? 0.35f : 1;
        c.rect(r, part.color.alpha((part.hatched() ? 0.22f : 1.0f) * strength));
        if (part.hatched()) c.pattern(r, Pattern::cross_hatched, part.color.alpha(0.6f * strength));
        if (ui.hovers(r))
            ui.tooltip(
                part.name + " " + time_text(part.seconds)
                + (part.hatched() ? "\nafter the pipeline, exposed: nothing is left to hide it behind" : ""));
        name_tail(ui, r, part);
    }
    return drawn;
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

void draw_moved_end(Ui& ui, double before_s, double now_s, const TimeScale& scale, const RowPlace* rows) {
    Canvas& c = ui.canvas();
    const Rect plot = scale.plot;
    constexpr float kPlate = 14;
    const float from = scale.x(before_s), to = scale.x(now_s);
    float y = plot.center().y;
    if (rows != nullptr && rows->row_h > 0) {
        // Between two rows: numbers stand in the middle of each.
        const float row = std::max(1.0f, std::round((y - rows->top(0)) / rows->row_h));
        y = rows->top(0) + row * rows->row_h + (rows->above - rows->row_h + row_height(rows->row_h)) / 2;
        y = held_between(y, plot.y + kPlate / 2, plot.bottom() - kPlate / 2);
    }
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
    float x = (from + to - w) / 2;
    if (rows != nullptr && std::abs(to - from) < w + 24) {  // the arrow is shorter than its words
        constexpr float kBeside = 6;
        const float right = std::max(from, to) + kBeside;
        x = right + w <= plot.right() ? right : std::min(from, to) - kBeside - w;
    }
    x = held_between(x, plot.x, plot.right() - w);
    const Rect box = rows != nullptr ? Rect{x, y - kPlate / 2, w, kPlate} : Rect{x, y + 5, w, 18};
    write_plate(ui, box, text, style, ui.theme().window);
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

}  // namespace pentamesh::ui
