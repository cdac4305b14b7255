// Draws the memory of GPUs as bars: their parts, what is over the line of what a GPU has, and figures.
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/panels/inspector.h"
#include "app/ui/scene/colors.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/memory/view.h"
#include "core/explain/verdict.h"
#include "core/memory/state_words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

namespace {

double shown_total(const StageMemory& s, std::uint32_t hidden) {
    double sum = 0;
    for (std::size_t i = 0; i < kCategoryCount; ++i)
        if (((hidden >> i) & 1U) == 0) sum += bytes_at(s, i);
    return sum;
}

}  // namespace

void fill_memory(Canvas& canvas, const Theme& theme, Rect bar, MemoryCategory category, float alpha,
                 float radius) {
    if (category == MemoryCategory::buffers)
        canvas.pattern(bar, Pattern::cross_hatched, theme.secondary.alpha(alpha));
    else
        canvas.rect(bar, theme.memory[static_cast<std::size_t>(category)].alpha(alpha), radius);
}

MemoryParts memory_parts(Rect bar, const StageMemory& s, double px_per_byte, bool upright,
                         std::uint32_t hidden) {
    MemoryParts out;
    double at = 0;
    const auto px = [&](double bytes) { return static_cast<float>(bytes * px_per_byte); };
    for (std::size_t i = 0; i < kCategoryCount; ++i) {
        const double bytes = ((hidden >> i) & 1U) == 0 ? bytes_at(s, i) : 0;
        const float from = px(at), size = px(at + bytes) - from;
        at += bytes;
        out[i] = upright ? Rect{bar.x, bar.bottom() - from - size, bar.w, size}
                         : Rect{bar.x + from, bar.y, size, bar.h};
    }
    return out;
}

void fill_memory(Canvas& canvas, const Theme& theme, const MemoryParts& parts, float alpha) {
    for (std::size_t i = 0; i < kCategoryCount; ++i)
        if (parts[i].w > 0 && parts[i].h > 0)
            fill_memory(canvas, theme, parts[i], static_cast<MemoryCategory>(i), alpha);
}

double memory_axis(double own, double before, double hbm, float length, bool pair) {
    constexpr double kMost = 4, kSliver = 1.5, kBeyond = 1.3;
    const float least = pair ? 4 : 24;  // of the plan's own bar
    const double needed = std::max(own, hbm);
    if (before <= needed) return needed;
    const bool short_bar = own * static_cast<double>(length) < least * before;
    const bool cut = before > kMost * needed || (short_bar && before > kSliver * needed);
    return cut ? std::max(own, kBeyond * hbm) : before;
}

double single_bar_bytes(const Scene& scene, const MemoryViewState& state, float width) {
    constexpr double kBehind = 1.02;  // the end of the bar is seen
    const Memory& m = shown_memory(scene.evaluation);
    const StageMemory& s = m.stage.front();
    const double own = state.hidden == 0 ? s.most() : shown_total(s, state.hidden);
    return kBehind * memory_axis(own, scene.axes.bytes, m.hbm, width, scene.axes.of_pair);
}

void hatch_over(Canvas& canvas, const Theme& theme, Rect over) {
    canvas.rect(over, theme.window.alpha(0.35f));
    canvas.pattern(over, Pattern::hatched, theme.bad);
    canvas.frame(over, theme.bad, 1);
}

namespace {

// A stage as it is drawn now, and its total before the last edit, where that was another.
struct DrawnStage {
    StageMemory now;
    std::optional<double> before;
};
DrawnStage drawn_of(Ui& ui, const StageMemory& s, const MemoryViewState& state, const Scene& scene) {
    DrawnStage out{s, std::nullopt};
    std::uint64_t index = static_cast<std::uint64_t>(s.stage) * 8;
    for (double* x : {&out.now.parameters, &out.now.gradients, &out.now.optimizer, &out.now.activations,
                      &out.now.buffers, &out.now.buffers_low, &out.now.buffers_high})
        *x = ui.glide("memory.bytes", *x, index++);
    (void)ui.glide("memory.total", shown_total(s, state.hidden), static_cast<std::uint64_t>(s.stage));
    out.before = ui.before("memory.total", static_cast<std::uint64_t>(s.stage));
    if (!out.before && scene.outlined != nullptr)
        for (const StageMemory& a : scene.outlined->memory.stage)
            if (a.stage == s.stage) out.before = shown_total(a, state.hidden);
    return out;
}

// Says what a room drew as the answer; an arrow where it lies behind the end of the plot.
std::string guess_words(const Scene& scene, double end_bytes) {
    return "guess " + memory_text(scene.guess_bytes) + (scene.guess_bytes > end_bytes ? " →" : "");
}

// Marks that the outline of what was there before goes on behind the end of the plot, and writes how far: two
// strokes over each of its edges.
void mark_cut(Ui& ui, const DrawnStage& drawn, std::array<Vec2, 2> edges, Rect words) {
    constexpr float kLong = 5, kApart = 5;
    const bool upright = edges[0].y == edges[1].y;
    for (const Vec2 at : edges)
        for (const float by : {-kApart / 2, kApart / 2}) {
            const Vec2 on = upright ? Vec2{at.x, at.y + by} : Vec2{at.x + by, at.y};
            ui.canvas().line({on.x - kLong, on.y + kLong / 2}, {on.x + kLong, on.y - kLong / 2},
                             ui.theme().text, 1.5f);
        }
    write_whole(ui, words, "before " + memory_text(*drawn.before), ui.small(), Align::center);
}

std::string stage_tooltip(const Plan& plan, const Memory& m, const StageMemory& s) {
    std::string t = (m.stage.size() > 1 ? "stage " + std::to_string(s.stage) : std::string("each GPU")) + ": "
                    + memory_text(s.total()) + " of " + capacity_text(m.hbm);
    t += "\n" + plural(s.layers, "layer", "layers") + ", "
         + count_text(static_cast<double>(s.parameters_held)) + " parameters";
    if (s.in_flight > 0) t += ", " + significant(s.in_flight) + " micro-batches in flight";
    const std::size_t known = s.in_flight > 0 ? kCategoryCount : kStates;
    for (std::size_t i = 0; i < known; ++i)
        t += "\n" + std::string(category_name(i)) + "  " + memory_text(bytes_at(s, i)) + "  ("
             + thousands(static_cast<std::int64_t>(std::llround(bytes_at(s, i)))) + " bytes)";
    t += "\n" + state_words(plan);
    if (s.in_flight > 0)
        t += "\nbuffers range " + memory_text(s.buffers_low) + " – " + memory_text(s.buffers_high);
    return t;
}

// Explains how the part under the mouse came about; empty: no part is under it.
std::string explained(const Scene& scene, int stage, std::size_t category) {
    if (category >= kCategoryCount) return {};
    const Explanation e = explain_memory(scene.plan, scene.evaluation.mesh, shown_memory(scene.evaluation),
                                         stage, static_cast<MemoryCategory>(category));
    return "\n" + std::string(category_name(category)) + " = " + e.formula + "\n= " + e.substituted;
}

// The bytes in the segment, as much as fits: behind the category's name, in a high one under it, or without
// their unit. On a pattern they have a ground of their own, and one of the part's colour over an outline
// whose edge at `crossed` would go through them.
void segment_figure(Ui& ui, Rect part, std::size_t category, double bytes, bool on_pattern,
                    std::optional<float> crossed = std::nullopt) {
    constexpr float kNamed = 80, kEdge = 9;
    const auto ground = [&](Rect box) {
        if (on_pattern)  // hatching is no ground for type
            ui.canvas().rect(box, ui.theme().window);
        else if (crossed && *crossed > box.x - 1 && *crossed < box.right() + 1)
            ui.canvas().rect(box, ui.theme().memory[category]);
    };
    if (part.h >= kNamed) {
        TextStyle name = ui.style(13), value = ui.style(17, Tone::text, Face::semibold);
        const std::string words(category_name(category)), amount = memory_text(bytes);
        const float w = std::max(ui.canvas().text_width(words, name), ui.canvas().text_width(amount, value));
        if (w + 2 * kEdge <= part.w) {
            const Rect box{part.x + kEdge, part.center().y - 24, w + 2, 44};
            ground(box.inset(-4, -2));
            if (!on_pattern) name.color = value.color = ink_on(ui.theme().memory[category]);
            ui.canvas().text_in({box.x, box.y, box.w, 18}, words, name);
            ui.canvas().text_in({box.x, box.y + 19, box.w, 24}, amount, value);
            return;
        }
    }
    TextStyle style = ui.style(11);
    const std::array<std::string, 3> wordings{std::string(category_name(category)) + " " + memory_text(bytes),
                                              memory_text(bytes), gib(bytes)};
    const std::string_view figure = wording(ui, part.w - 6, wordings, style);
    if (part.h < kLeastFigure || figure.empty()) return;
    const float w = ui.canvas().text_width(figure, style);
    ground({part.center().x - w / 2 - 3, part.center().y - 7, w + 6, 14});
    if (!on_pattern) style.color = ink_on(ui.theme().memory[category]);
    ui.canvas().text_in(part, figure, style, Align::center);
}

// Writes the figures of a bar, over all that is drawn on it: below the line of what the GPU has where there
// is room, else on a ground of their own. `drawn` is what is drawn of the stage now, `s` what its figures
// say.
void draw_bar_figures(Ui& ui, Rect column, double px_per_byte, float line_y, const StageMemory& drawn,
                      const StageMemory& s, const MemoryViewState& state) {
    const MemoryParts parts = memory_parts(column, drawn, px_per_byte, true, state.hidden);
    for (std::size_t i = 0; i < kCategoryCount; ++i) {
        Rect part = parts[i];
        const float foot = part.bottom(), below = std::max(part.y, line_y);
        const bool has_room = part.y >= line_y || foot - below >= kLeastFigure;
        if (part.h <= 0) continue;
        if (has_room)
            part.y = below, part.h = foot - below;
        else if (line_y < foot && line_y - part.y >= kLeastFigure)
            part.h = line_y - part.y;
        segment_figure(ui, part, i, bytes_at(s, i), i == kBuffers || !has_room);
    }
}

void draw_bar(Ui& ui, Rect column, double px_per_byte, const StageMemory& drawn, const MemoryViewState& state,
              const Selection& sel, StageRun run, std::size_t* hovered) {
    Canvas& c = ui.canvas();
    const MemoryParts parts = memory_parts(column, drawn, px_per_byte, true, state.hidden);
    for (std::size_t i = 0; i < kCategoryCount; ++i) {
        const Rect part = parts[i];
        if (part.h <= 0) continue;
        fill_memory(c, ui.theme(), part, static_cast<MemoryCategory>(i));
        if (part.h > 3) c.line({part.x, part.y}, {part.right(), part.y}, ui.theme().window, 1);
        if (ui.hovers(part)) *hovered = i;
        if (sel.stage >= run.first && sel.stage <= run.last && sel.memory_category == static_cast<int>(i))
            c.frame(part, ui.theme().text, 1.5f);
    }
}

constexpr float kTotalsFrom = 54;  // of the plot's height: a row of totals stands over it
constexpr float kMarked = 14;      // width of a bar that has room for its range and its free room
constexpr double kGib = 1024.0 * 1024 * 1024;
constexpr double kOver = 0.05 * kGib, kClose = 0.5 * kGib;  // over the line, and close below it

// Stages in a row whose categories are equal to a hundredth of a GiB are drawn as one bar.
std::vector<StageRun> runs_of(const Memory& m) {
    const auto alike = [&](const StageMemory& a, const StageMemory& b) {
        for (std::size_t i = 0; i < kCategoryCount; ++i)
            if (std::abs(bytes_at(a, i) - bytes_at(b, i)) > 0.005 * kGib) return false;
        return true;
    };
    std::vector<StageRun> out;
    for (int i = 0; i < static_cast<int>(m.stage.size()); ++i) {
        const StageMemory& s = m.stage[static_cast<std::size_t>(i)];
        if (!out.empty() && alike(m.stage[static_cast<std::size_t>(out.back().first)], s))
            out.back().last = i;
        else
            out.push_back({i, i});
    }
    return out;
}

// The total over a bar. Its colour says how near the line is.
void draw_total(Ui& ui, Rect place, const Memory& m, const StageMemory& s, bool several) {
    Canvas& c = ui.canvas();
    TextStyle style = ui.style(13, Tone::text, Face::semibold);
    const double over = s.total() - m.hbm;
    if (over >= kOver)
        style.color = s.least() <= m.hbm ? ui.theme().amber : ui.theme().bad;
    else if (over > -kClose)
        style.color = ui.theme().amber;
    // From a TiB on it has the unit that the head's sentence has.
    const bool large = s.total() >= kTebibyte;
    std::string text = large ? memory_text(s.total()) : gib(s.total());
    const std::string more =
        large ? ", " + memory_text(over) + " over the line" : " GiB, " + gib(over) + " over the line";
    if (over >= kOver && several && c.text_width(text + more, style) + 8 <= place.w) text += more;
    if (c.text_width(text, style) + 2 <= place.w) c.text_in(place, text, style, Align::center);
}

void select_category(Selection& selection, int stage, std::size_t category) {
    selection.stage = stage;
    selection.memory_category = category < kCategoryCount ? static_cast<int>(category) : -1;
    selection.topic = Selection::Topic::memory;
}

// Marks what of a bar is over the line, the room that is left below it, and the range of the buffers.
void draw_line_marks(Ui& ui, Rect column, double px_per_byte, float line_y, const Memory& m,
                     const StageMemory& s) {
    Canvas& c = ui.canvas();
    const auto y_of = [&](double bytes) { return column.bottom() - static_cast<float>(bytes * px_per_byte); };
    const float top = y_of(s.total());
    if (s.total() - m.hbm >= kOver) {
        const float h = std::max(4.0f, line_y - top);
        hatch_over(ui.canvas(), ui.theme(), {column.x, line_y - h, column.w, h});
    } else if (column.w >= kMarked && top - line_y > 3) {
        const Color ghost = ui.theme().faint;
        c.line({column.x, top}, {column.x, line_y}, ghost, 1, Dash::dotted);
        c.line({column.right(), top}, {column.right(), line_y}, ghost, 1, Dash::dotted);
    }
    if (column.w < kMarked || s.most() - s.least() < kOver) return;
    const float x = column.right() - std::min(10.0f, column.w / 4), low = y_of(s.least()),
                high = y_of(s.most());
    const Color ink = ui.theme().text;
    c.line({x, low}, {x, high}, ink, 1.2f);
    c.line({x - 3, low}, {x + 3, low}, ink, 1.2f);
    c.line({x - 3, high}, {x + 3, high}, ink, 1.2f);
}

}  // namespace

namespace {

struct BarEnds {
    float end = 0, line = 0;  // of what is seen of the bar; where hatching begins
};
// Writes what a part of a lying bar holds: before the line of what the GPU has where it has room there, else
// on a ground of its own, for type cannot be read on hatching.
void write_part_of_bar(const Ink& ink, Rect part, std::size_t category, double bytes, BarEnds at) {
    constexpr float kEdges = 8;
    const std::string figure = memory_text(bytes);
    TextStyle style = ink.faint.in(ink_on(ink.theme.memory[category]));
    const float w = ink.canvas.text_width(figure, style) + kEdges, right = std::min(part.right(), at.end);
    Rect seen{part.x, part.y, std::min(right, at.line) - part.x, part.h};
    const bool clear = w <= seen.w;
    if (!clear) seen.w = right - part.x;
    if (w > seen.w || style.size * 1.1f > seen.h) return;
    if (!clear) {
        const float high = std::min(part.h, style.size * 1.3f);
        ink.canvas.rect({seen.center().x - w / 2, seen.center().y - high / 2, w, high}, ink.theme.window);
        style.color = ink.theme.text;
    }
    ink.canvas.text_in(seen, figure, style, Align::center);
}

}  // namespace

void draw_memory_bar(const Ink& ink, Rect bar, const StageMemory& s, double hbm, double whole) {
    Canvas& c = ink.canvas;
    const auto x_of = [&](double bytes) { return bar.x + static_cast<float>(bytes / whole) * bar.w; };
    const MemoryParts parts = memory_parts(bar, s, static_cast<double>(bar.w) / whole, false);
    for (std::size_t i = 0; i < kCategoryCount; ++i) {
        const Rect part = parts[i];
        if (part.w <= 0.2f) continue;
        fill_memory(c, ink.theme, part, static_cast<MemoryCategory>(i));
        c.line({part.x, part.y}, {part.x, part.bottom()}, ink.theme.window, 1);
    }
    const bool over = s.total() - hbm >= kOver;
    if (over)
        hatch_over(c, ink.theme, {x_of(hbm), bar.y, std::max(4.0f, x_of(s.total()) - x_of(hbm)), bar.h});
    if (x_of(s.total()) > bar.right() + 1) {  // the bar goes on: two cuts say so
        constexpr float kFromEnd = 20, kSlant = 5;
        for (const float x : {bar.right() - kFromEnd, bar.right() - kFromEnd + 8})
            c.line({x - kSlant, bar.bottom() + 3}, {x + kSlant, bar.y - 3}, ink.theme.window, 3);
    }
    c.line({x_of(hbm), bar.y - 3}, {x_of(hbm), bar.bottom() + 3}, ink.theme.bad, 1, Dash::dashed);
    for (std::size_t i = 0; i < kBuffers; ++i)  // a whisker lies over the buffers
        write_part_of_bar(ink, parts[i], i, bytes_at(s, i), {bar.right(), over ? x_of(hbm) : bar.right()});
    if (s.most() - s.least() >= kOver) {
        const float y = bar.center().y, low = x_of(s.least()), high = x_of(s.most());
        c.line({low, y}, {high, y}, ink.theme.text, 1.2f);
        for (const float x : {low, high}) c.line({x, y - 4}, {x, y + 4}, ink.theme.text, 1.2f);
    }
}

void draw_gpu_bar(Ui& ui, Rect bar, const StageMemory& s, double hbm) {
    constexpr double kSmall = 0.35;  // of what the GPU has: parts of less have no room for their names
    Canvas& c = ui.canvas();
    const double scale = s.total() < kSmall * hbm ? s.total() : std::max(hbm, s.total());
    const MemoryParts parts = memory_parts(bar, s, static_cast<double>(bar.w) / scale, false);
    const auto x_of = [&](double bytes) { return bar.x + static_cast<float>(bytes / scale) * bar.w; };
    for (std::size_t i = 0; i < kCategoryCount; ++i) {
        if (parts[i].w <= 0) continue;
        fill_memory(c, ui.theme(), parts[i], static_cast<MemoryCategory>(i));
        c.line({parts[i].x, parts[i].y}, {parts[i].x, parts[i].bottom()}, ui.theme().window, 1);
    }
    const float end = x_of(s.total()), line = x_of(hbm);
    const auto write_figures = [&] {  // over the hatching and the line, on a ground
        for (std::size_t i = 0; i < kCategoryCount; ++i)
            if (parts[i].w > 0)
                segment_figure(ui, parts[i], i, bytes_at(s, i), i == kBuffers || parts[i].right() > line + 1);
    };
    if (scale < hbm) return write_figures();
    if (s.total() > hbm)
        hatch_over(c, ui.theme(), {line, bar.y, end - line, bar.h});
    else if (const std::string free = memory_text(hbm - s.total()) + " free";
             c.text_width(free, ui.small()) + 12 < line - end)
        c.text_in({end, bar.y, line - end, bar.h}, free, ui.small(), Align::center);
    c.line({line, bar.y - 3}, {line, bar.bottom() + 3}, ui.theme().bad, 1, Dash::dashed);
    write_figures();
}

// Draws what a GPU holds over the whole width, with a beam from its place on the scale of the GPU.
void draw_enlarged_bar(Ui& ui, Rect room, Rect from, const StageMemory& s) {
    Canvas& c = ui.canvas();
    constexpr float kBeam = 34;  // clears the label of the line
    const Rect beam = room.cut_top(kBeam);
    const std::array<Vec2, 4> shape{Vec2{from.x, beam.y}, Vec2{from.right(), beam.y},
                                    Vec2{room.right(), beam.bottom()}, Vec2{room.x, beam.bottom()}};
    c.polygon(shape, ui.theme().raised);
    draw_gpu_bar(ui, room, s, 1e300);
}

void draw_single_bar(Ui& ui, Rect room, Scene& scene, const MemoryViewState& state, BarSize size) {
    const Memory& m = shown_memory(scene.evaluation);
    const StageMemory& s = m.stage.front();
    Canvas& c = ui.canvas();
    const double most = std::max(size.bytes, single_bar_bytes(scene, state, room.w));
    const Rect whole{room.x, room.y + 22, room.w, held_between(room.h - 44, 12.0f, size.height)};
    const auto x_of = [&](double bytes) { return whole.x + static_cast<float>(bytes / most) * whole.w; };
    std::size_t hovered = kCategoryCount;
    const DrawnStage drawn = drawn_of(ui, s, state, scene);
    const double at = shown_total(drawn.now, state.hidden);
    const MemoryParts parts =
        memory_parts(whole, drawn.now, static_cast<double>(whole.w) / most, false, state.hidden);
    for (std::size_t i = 0; i < kCategoryCount; ++i) {
        const Rect part = parts[i];
        if (part.w <= 0) continue;
        fill_memory(c, ui.theme(), part, static_cast<MemoryCategory>(i));
        c.line({part.x, part.y}, {part.x, part.bottom()}, ui.theme().window, 1);
        if (ui.hovers(part)) hovered = i;
        if (scene.selection.stage == 0 && scene.selection.memory_category == static_cast<int>(i))
            c.frame(part, ui.theme().text, 1.5f);
    }
    const float line = x_of(m.hbm), end = x_of(at), middle = whole.bottom() - 7;
    if (at - m.hbm >= kOver) {
        hatch_over(ui.canvas(), ui.theme(), {line, whole.y, std::max(4.0f, end - line), whole.h});
    } else if (line - end > 3) {
        c.frame({end, whole.y, line - end, whole.h}, ui.theme().faint, 1, 0, Dash::dotted);
        const std::string free = memory_text(m.hbm - at) + " free";
        const TextStyle plain = ui.style(15, Tone::secondary);
        const float from = std::max(end, x_of(s.most())) + 12, w = c.text_width(free, plain) + 2;
        if (whole.h >= 64 && state.hidden == 0 && from + w < line - 8)
            c.text_in({from, whole.y, line - 8 - from, whole.h}, free, plain, Align::center);
    }
    // A figure over the line has a ground, which neither the line goes through nor the outline of before.
    c.line({line, whole.y - 6}, {line, whole.bottom() + 4}, ui.theme().bad, 1, Dash::dashed);
    std::optional<float> was;
    if (drawn.before) {
        was = x_of(*drawn.before);
        const Canvas::Clip clip = c.clip(whole.inset(-2, -3));
        const auto to = [&](double bytes) {
            return Rect{whole.x, whole.y, x_of(bytes) - whole.x, whole.h}.inset(0, -2);
        };
        ui.outline(to(*drawn.before), to(shown_total(s, state.hidden)));
        if (*drawn.before > most) {
            constexpr float kFromEnd = 14;
            const float from = std::max({line, end, x_of(drawn.now.most())}) + 8,
                        to_x = whole.right() - kFromEnd;
            mark_cut(ui, drawn, {Vec2{to_x, whole.y}, Vec2{to_x, whole.bottom()}},
                     {from, whole.y, whole.h < kLeastFigure ? 0 : std::max(0.0f, to_x - 8 - from), whole.h});
        }
    }
    for (std::size_t i = 0; i < kCategoryCount; ++i)
        if (parts[i].w > 0)
            segment_figure(ui, parts[i], i, bytes_at(s, i), i == kBuffers || parts[i].right() > line + 1,
                           was);
    if (state.hidden == 0 && s.most() - s.least() >= kOver) {
        const float low = x_of(drawn.now.least()), high = x_of(drawn.now.most());
        c.line({low, middle}, {high, middle}, ui.theme().text, 1.2f);
        for (const float x : {low, high}) c.line({x, middle - 4}, {x, middle + 4}, ui.theme().text, 1.2f);
    }
    draw_total(ui, {whole.x, room.y, std::max(80.0f, end - whole.x), 20}, m, s, true);
    const float label = c.text_width(memory_text(m.hbm), ui.small()) + 2;
    if (scene.guess_bytes > 0) {  // its words stand in the row of those of the line, clear of them
        const float x = x_of(std::min(scene.guess_bytes, most));
        c.line({x, whole.y - 7}, {x, whole.bottom() + 7}, ui.theme().text, 3);
        const std::string words = guess_words(scene, most);
        const float w = c.text_width(words, ui.title()) + 2, left = line - label - 8 - w;
        const float from = x < line && left >= room.x ? held_between(x - w / 2, room.x, left)
                                                      : held_between(x - w / 2, line + 8, room.right() - w);
        c.text_in({from, whole.bottom() + 6, w, 16}, words, ui.title());
    }
    c.text_in({std::max(room.x, line - label), whole.bottom() + 4, label, 16}, memory_text(m.hbm), ui.small(),
              Align::right);
    const Hit hit = ui.area("memory.stage", whole, 0);
    if (hit.hovered) ui.tooltip(stage_tooltip(scene.plan, m, s) + explained(scene, 0, hovered));
    if (hit.focused) ui.focus_ring(whole, 0);
    if (hit.clicked) select_category(scene.selection, 0, hovered);
}

namespace {

// Places the stages along the picture, and bytes above its lower edge.
struct StageScale {
    Rect room{}, labels{}, totals{};
    float step = 0, gap = 0;  // of a stage; between two bars
    double px_per_byte = 0;
    float line_y = 0;  // of a GPU's memory

    // Returns the room of some stages, with their labels.
    [[nodiscard]] Rect slots(std::size_t first, std::size_t count) const {
        return {room.x + step * static_cast<float>(first), room.y, step * static_cast<float>(count),
                room.h + labels.h};
    }
    // Returns the room of their bar.
    [[nodiscard]] Rect column(StageRun run) const {
        const Rect s =
            slots(static_cast<std::size_t>(run.first), static_cast<std::size_t>(run.last - run.first + 1));
        return {s.x + gap / 2, room.y, std::max(1.0f, s.w - gap), room.h};
    }
};

// Writes the stages' numbers below their bar, where there is room for them.
void label_run(Ui& ui, const StageScale& scale, StageRun run, Rect slots, const Scene& scene) {
    constexpr float kLeastLabel = 26;
    if (slots.w < kLeastLabel && run.first % static_cast<int>(std::ceil(kLeastLabel / scale.step)) != 0)
        return;
    Canvas& c = ui.canvas();
    const bool several = run.last > run.first;
    const bool highlighted = is_highlighted(scene, run.first) || is_highlighted(scene, run.last);
    const std::string first = std::to_string(run.first), last = std::to_string(run.last);
    const TextStyle label = ui.style(12, highlighted ? Tone::text : Tone::secondary);
    std::string name = several ? "stages " + first + " to " + last + ", each" : first;
    if (several && c.text_width(name, label) > slots.w) name = first + "–" + last;
    const float w = std::max(slots.w, 32.0f);
    c.text_in({slots.center().x - w / 2, scale.labels.y, w, scale.labels.h}, name, label, Align::center);
}

// Lets the mouse and the keyboard reach each stage of a bar.
void reach_stages(Ui& ui, const StageScale& scale, StageRun run, std::size_t category, Scene& scene) {
    const Memory& m = shown_memory(scene.evaluation);
    for (int stage = run.first; stage <= run.last; ++stage) {
        const auto i = static_cast<std::size_t>(stage);
        const Rect slot = scale.slots(i, 1);
        if (stage > run.first)
            ui.canvas().line({slot.x, scale.room.bottom()}, {slot.x, scale.room.bottom() + 4},
                             ui.theme().faint);
        const Hit hit = ui.area("memory.stage", slot, i, true, m.stage.size() <= 64);
        if (hit.hovered) {
            scene.next_hover.stage = stage;
            ui.tooltip(stage_tooltip(scene.plan, m, m.stage[i]) + explained(scene, stage, category));
        }
        if (hit.focused)
            ui.focus_ring({slot.x + scale.gap / 2, slot.y, std::max(1.0f, slot.w - scale.gap), scale.room.h},
                          0);
        if (hit.clicked) select_category(scene.selection, stage, category);
    }
}

// Draws the bar of stages that hold the same.
void draw_run(Ui& ui, const StageScale& scale, StageRun run, Scene& scene, const MemoryViewState& state) {
    const Memory& m = shown_memory(scene.evaluation);
    Canvas& c = ui.canvas();
    const auto first = static_cast<std::size_t>(run.first),
               count = static_cast<std::size_t>(run.last - run.first + 1);
    const StageMemory& s = m.stage[first];
    const Rect room = scale.room, slots = scale.slots(first, count), column = scale.column(run);
    std::size_t hovered = kCategoryCount;
    for (std::size_t i = first; i < first + count; ++i) {
        const Rect slot = scale.slots(i, 1);
        if (is_highlighted(scene, static_cast<int>(i)))
            c.rect({slot.x, room.y, slot.w, room.h}, ui.theme().raised);
    }
    const DrawnStage drawn = drawn_of(ui, s, state, scene);
    draw_bar(ui, column, scale.px_per_byte, drawn.now, state, scene.selection, run, &hovered);
    if (state.hidden == 0) draw_line_marks(ui, column, scale.px_per_byte, scale.line_y, m, drawn.now);
    draw_bar_figures(ui, column, scale.px_per_byte, scale.line_y, drawn.now, s, state);
    if (drawn.before && column.w > 4) {
        const Canvas::Clip clip = c.clip({slots.x, room.y, slots.w, room.h + 2});
        const auto to = [&](double bytes) {
            const auto h = static_cast<float>(bytes * scale.px_per_byte);
            return Rect{column.x, column.bottom() - h, column.w, h + 2}.inset(-2, 0);
        };
        ui.outline(to(*drawn.before), to(shown_total(s, state.hidden)));
        const Rect was = to(*drawn.before);
        if (was.y < room.y - 1) {
            constexpr float kBelow = 8, kLine = 16, kClear = kBelow + kLine + 8;
            const float free = std::min(scale.line_y, to(drawn.now.most()).y) - room.y;
            mark_cut(ui, drawn, {Vec2{was.x, room.y + kBelow}, Vec2{was.right(), room.y + kBelow}},
                     {column.x + 2, room.y + kBelow + 4, free > kClear ? column.w - 4 : 0.0f, kLine});
        }
    }
    if (scene.guess_bytes > 0 && s.total() >= m.peak()) {  // over the fullest one
        const float y =
            std::max(room.y + 1, column.bottom() - static_cast<float>(scene.guess_bytes * scale.px_per_byte));
        c.line({slots.x, y}, {slots.right(), y}, ui.theme().text, 3);
        const std::string words = guess_words(scene, room.h / scale.px_per_byte);
        const float w = c.text_width(words, ui.title()) + 8;
        const float at = y - 20 < room.y ? y + 4 : y - 20;
        write_plate(ui, {held_between(slots.x, scale.room.x, scale.room.right() - w), at, w, 17}, words,
                    ui.title(), ui.theme().window);
    }
    if (scale.totals.h > 0)
        draw_total(ui, {slots.x, scale.totals.y, slots.w, scale.totals.h}, m, s, count > 1);
    if (m.stage.size() > 1) label_run(ui, scale, run, slots, scene);
    reach_stages(ui, scale, run, hovered, scene);
}

}  // namespace

namespace {

StageScale place_stages(Ui& ui, Rect room, float step, const Scene& scene, const MemoryViewState& state) {
    const Memory& m = shown_memory(scene.evaluation);
    double own = 0;
    for (const auto& s : m.stage)
        own = std::max(own, state.hidden == 0 ? s.most() : shown_total(s, state.hidden));
    StageScale scale{.labels = room.cut_bottom(20), .step = step};
    scale.totals = room.cut_top(room.h > kTotalsFrom ? 20.0f : 0.0f);
    room.cut_top(4);
    scale.room = room;
    scale.gap = step > 10 ? std::min(std::max(12.0f, step * 0.1f), step * 0.24f) : 0;
    const double top = memory_axis(own, scene.axes.bytes, m.hbm, room.h, scene.axes.of_pair);
    scale.px_per_byte = room.h / (ui.glide("memory.top", top) * 1.02);
    scale.line_y = static_cast<float>(room.bottom() - m.hbm * scale.px_per_byte);
    return scale;
}

}  // namespace

MemoryParts widest_parts(Ui& ui, Rect room, float step, const Scene& scene, const MemoryViewState& state) {
    const StageScale scale = place_stages(ui, room, step, scene, state);
    const Memory& m = shown_memory(scene.evaluation);
    const std::vector<StageRun> runs = runs_of(m);
    const StageRun widest =
        *std::ranges::max_element(runs, {}, [](const StageRun& r) { return r.last - r.first; });
    return memory_parts(scale.column(widest), m.stage[static_cast<std::size_t>(widest.first)],
                        scale.px_per_byte, true, state.hidden);
}

StageBars draw_stage_bars(Ui& ui, Rect room, float step, Scene& scene, const MemoryViewState& state) {
    const StageScale scale = place_stages(ui, room, step, scene, state);
    for (const StageRun run : runs_of(shown_memory(scene.evaluation))) draw_run(ui, scale, run, scene, state);
    return {scale.room, scale.labels, scale.line_y};
}

}  // namespace pentamesh::ui
