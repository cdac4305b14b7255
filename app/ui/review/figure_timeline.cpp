// Draws the pipeline's timeline on paper: devices downwards, time to the right. Where blocks would be too
// narrow for their numbers, it is in three windows, as in the window: how it fills, a few of its equal
// periods, how it drains.
#include "app/ui/kit/format.h"
#include "app/ui/review/figures.h"
#include "app/ui/scene/colors.h"
#include "app/ui/views/timeline/timeline_parts.h"
#include "app/ui/views/timeline/view.h"
#include "core/pipeline/timeline_blocks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr float kMostBlocks_px = 6000;                 // blocks of a whole figure
constexpr float kStrip = 1, kBeam = 0.5f, kNames = 1;  // over three windows, in lines

// Returns the place of a time inside the scale's plot.
float x_in(const TimeScale& scale, double t) {
    return std::clamp(scale.x(t), scale.plot.x, scale.plot.right());
}

void draw_merged(ReviewSheet& sheet, const TimeScale& scale, Rect row, const Block& b) {
    const Theme& t = sheet.theme();
    const double all = std::max(b.work.all(), 1e-300);
    const auto strength = static_cast<float>(std::clamp(b.density(), 0.0, 1.0));
    const float x0 = x_in(scale, b.from), w = std::max(0.5f, x_in(scale, b.to) - x0);
    float y = row.y;
    const auto part = [&](double work, Color color) {
        const float h = row.h * static_cast<float>(work / all);
        if (h > 0) sheet.canvas().rect({x0, y, w, h}, mix(t.panel, color, strength));
        y += h;
    };
    part(b.work.forward, t.forward);
    part(b.work.backward, t.backward);
    part(b.work.weight, t.weight_grad);
}

// Writes a micro-batch's number in a block, where it has room.
void number_block(ReviewSheet& sheet, Rect r, int microbatch, Color ground) {
    const TextStyle style{Face::regular, sheet.paper().small, ink_on(ground), 0};
    const std::string number = std::to_string(microbatch);
    if (r.h >= style.size * 1.1f && sheet.canvas().text_width(number, style) + 3 <= r.w)
        sheet.label(r, number, style, Align::center);
}

void draw_op(ReviewSheet& sheet, const TimeScale& scale, Rect row, const Timeline& t, std::size_t i) {
    Canvas& c = sheet.canvas();
    const Op& op = t.order.ops[i];
    const int chunks = chunks_of(t.shape), batches = t.shape.microbatches;
    const float x0 = x_in(scale, t.start[i]), x1 = x_in(scale, t.end[i]);
    const Rect r{x0, row.y, std::max(0.8f, x1 - x0 - (x1 - x0 > 4 ? 1.0f : 0.0f)), row.h};
    if (op.kind == OpKind::FB) {
        Op forth = op, back = op;
        forth.kind = OpKind::F;
        back.kind = OpKind::B, back.chunk = op.backward_chunk, back.microbatch = op.backward_microbatch;
        for (const Op& half : {forth, back}) {
            const Rect of{r.x, half.kind == OpKind::F ? r.y : r.y + r.h / 2, r.w, r.h / 2};
            const Color color = shade_of(sheet.theme(), half, chunks);
            c.rect(of, color);
            number_block(sheet, of, half.microbatch % batches, color);
        }
        return;
    }
    const Color color = shade_of(sheet.theme(), op, chunks);
    c.rect(r, color);
    number_block(sheet, r, op.microbatch % batches, color);
}

// Draws the marks of the kinds of work, and when it ends.
void draw_timeline_foot(ReviewSheet& sheet, Rect row, const Timeline& t) {
    Canvas& c = sheet.canvas();
    const TextStyle style = sheet.faint();
    sheet.label(row, time_text(t.makespan), style, Align::right);
    std::array<bool, 5> has{};
    for (const Op& op : t.order.ops) has[static_cast<std::size_t>(op.kind)] = true;
    const bool pairs = has[static_cast<std::size_t>(OpKind::FB)];
    if (pairs) has[static_cast<std::size_t>(OpKind::F)] = has[static_cast<std::size_t>(OpKind::B)] = true;
    const float mark = sheet.paper().small * 0.8f;
    const auto words = [&](const std::string& text) {
        const float w = c.text_width(text, style);
        sheet.label(row.cut_left(w + 1), text, style);
        row.cut_left(sheet.paper().small * 1.2f);
    };
    const auto item = [&](const std::string& text, auto&& draw) {
        draw(Rect{row.x, row.center().y - mark / 2, mark, mark});
        row.cut_left(mark + 6);
        words(text);
    };
    for (const OpKind kind : {OpKind::F, OpKind::B, OpKind::I, OpKind::W})
        if (has[static_cast<std::size_t>(kind)])
            item(std::string(name_of(kind)), [&](Rect r) { c.rect(r, color_of(sheet.theme(), kind)); });
    item("idle", [&](Rect r) { c.pattern(r, Pattern::hatched, sheet.theme().bad.alpha(0.55f)); });
    if (pairs) words("pairs: forward above backward");
}

// Draws the parts of one timeline, each on its scale.
class TimelineFigure {
  public:
    TimelineFigure(ReviewSheet& sheet, const Timeline& t, Rect room)
        : sheet_(sheet), t_(t), pixels_(static_cast<float>(t.device.size()) * room.w) {
        build_work_index(t, index_);
    }
    // The row is a device's, as wide as the figure.
    void row(const TimeScale& scale, Rect row, int device) {
        row.x = scale.plot.x, row.w = scale.plot.w;
        const float end = x_in(scale, t_.makespan);
        sheet_.canvas().pattern({row.x, row.y, end - row.x, row.h}, Pattern::hatched,
                                sheet_.theme().bad.alpha(0.55f));
        visible_blocks(t_, index_, device, scale.from_s, scale.to_s, static_cast<double>(row.w), blocks_,
                       {.least_px = std::clamp(static_cast<double>(pixels_ / kMostBlocks_px), 1.5, 16.0)});
        for (const Block& b : blocks_)
            if (b.merged())
                draw_merged(sheet_, scale, row, b);
            else
                draw_op(sheet_, scale, row, t_, b.first);
    }
    // Draws the whole step as a strip, and how the windows below come out of it.
    void overview(Rect strip, float beam_to, const TimelineWindows& w) {
        Canvas& c = sheet_.canvas();
        const TimeScale scale{0, w.whole_s, strip};
        for (const TimeScale& window : w.window) draw_beam(c, sheet_.theme(), scale, window, beam_to);
        const auto n = static_cast<int>(t_.device.size());
        Rect left = strip;
        for (int d = 0; d < n; ++d) row(scale, left.cut_top(strip.h / static_cast<float>(n)), d);
        for (const TimeScale& window : w.window) draw_window_frame(c, sheet_.theme(), scale, window);
    }

  private:
    ReviewSheet& sheet_;
    const Timeline& t_;
    float pixels_;
    WorkIndex index_;
    std::vector<Block> blocks_;
};

}  // namespace

float timeline_height(const ReviewSheet& sheet, const Timeline& timeline) {
    const auto rows = static_cast<float>(timeline.device.size());
    const float room = sheet.whole() * 0.72f;
    return std::clamp(room / rows, 3.0f, sheet.paper().line() * 1.3f) * rows + sheet.paper().line() * 1.4f;
}

void draw_timeline_figure(ReviewSheet& sheet, Rect room, const Timeline& t) {
    Canvas& c = sheet.canvas();
    const auto n = static_cast<int>(t.device.size());
    if (n == 0 || t.makespan <= 0) return;
    const TextStyle style = sheet.faint();
    const float line = sheet.paper().line();
    draw_timeline_foot(sheet, room.cut_bottom(line * 1.3f), t);
    Rect plot = room;
    plot.cut_left(c.text_width("stage " + std::to_string(n - 1), style) + sheet.paper().body * 0.6f);
    TimelineFigure figure(sheet, t, plot);
    const TextStyle number{Face::regular, sheet.paper().small, {}, 0};
    const std::string widest(std::to_string(t.shape.microbatches - 1).size(), '0');
    const float over = line * (kStrip + kBeam + kNames);
    std::optional<TimelineWindows> windows;
    if (plot.h > 2 * over) windows = find_windows(t, t.makespan, plot, c.text_width(widest, number) + 5, -1);
    if (windows) {
        const Rect strip = plot.cut_top(line * kStrip);
        figure.overview(strip, strip.bottom() + line * kBeam, *windows);
        room.cut_top(over);
        for (std::size_t i = 0; i < windows->window.size(); ++i) {
            const auto [name, words] = window_words(*windows, i, t);
            Rect row{windows->window[i].plot.x, room.y - line * kNames, windows->window[i].plot.w,
                     line * kNames};
            const float w = c.text_width(name, sheet.strong()) + sheet.paper().body * 0.6f;
            if (w > row.w + sheet.paper().body) continue;
            sheet.label(row.cut_left(w), name, sheet.strong());
            if (c.text_width(words, style) <= row.w) sheet.label(row, words, style);
        }
    }
    const float row_h = room.h / static_cast<float>(n);
    const int every = std::max(1, static_cast<int>(std::ceil(line * 0.95f / row_h)));
    for (int d = 0; d < n; ++d) {
        Rect row{room.x, room.y + static_cast<float>(d) * row_h, plot.right() - room.x, row_h};
        if (d % every == 0)
            sheet.label({row.x, row.y + (row_h >= line ? (row_h - line) / 2 : 0.0f), plot.x - row.x, line},
                        "stage " + std::to_string(d), style);
        row.h -= row_h > 6 ? 2.0f : row_h * 0.15f;
        if (!windows) {
            figure.row({0, t.makespan, plot}, row, d);
            continue;
        }
        for (const TimeScale& window : windows->window) figure.row(window, row, d);
    }
    if (windows) draw_breaks(c, sheet.theme(), room, *windows);
}

}  // namespace pentamesh::ui
