// Draws steps and memory of two plans, on one scale.
#include "app/tables/step.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/difference.h"
#include "app/ui/views/compare/compare_parts.h"
#include "app/ui/views/memory/bars.h"

#include <algorithm>

namespace pentamesh::ui {

namespace {

constexpr float kLetter = 92;
constexpr float kLettered = 8, kLetterRow = 14;  // a bar's least width for its letter, the letter's row

struct Slice {
    StepSlice of;
    Rect at;
};

std::vector<Slice> draw_step_bar(Ui& ui, Rect bar, const Step& step, double longest) {
    Canvas& c = ui.canvas();
    std::vector<Slice> out;
    for (const StepSlice& s : joined(waterfall(step), is_of_compute, StepPart::compute)) {
        const auto x = [&](double t) { return bar.x + static_cast<float>(t / longest) * bar.w; };
        const Rect r{x(s.from_s), bar.y, x(s.from_s + s.time_s) - x(s.from_s), bar.h};
        out.push_back({s, r});
        const Color color = color_of_part(ui.theme(), s);
        fill_part(c, ui.theme(), r, s);
        if (r.w > 3) c.line({r.right(), r.y}, {r.right(), r.bottom()}, ui.theme().window);
        const std::string words = label_of(s) + " " + significant(s.time_s);
        TextStyle style = ui.style(12, Tone::text, Face::semibold);
        style.color = ink_on(color);
        if (const float w = c.text_width(words, style); w + 16 <= r.w) {
            if (s.part == StepPart::bubble || s.part == StepPart::uneven)  // hatching is no ground for type
                c.rect({r.x + 4, r.center().y - 9, w + 8, 18}, color, 2);
            c.text_in(r.inset(8, 0), words, style);
        }
        if (ui.hovers(r))
            ui.tooltip(label_of(s) + "\n" + time_text(s.time_s) + ", " + percent(s.time_s / step.time_s)
                       + " of the step");
    }
    return out;
}

bool same_part(const StepSlice& a, const StepSlice& b) {
    return a.part == b.part && (a.part != StepPart::exposed || a.group == b.group);
}

// The letter stands below the bar, where no line runs through it.
void draw_memory_bar(Ui& ui, Rect column, double px_per_byte, const StageMemory& s, double hbm, bool b) {
    Canvas& c = ui.canvas();
    float y = column.bottom();
    for (std::size_t i = 0; i < kCategoryCount; ++i) {
        const auto h = static_cast<float>(bytes_at(s, i) * px_per_byte);
        const Rect part{column.x, y - h, column.w, h};
        y -= h;
        if (h <= 0) continue;
        fill_memory(c, ui.theme(), part, static_cast<MemoryCategory>(i), b ? 1.0f : 0.62f);
    }
    const float line = column.bottom() - static_cast<float>(hbm * px_per_byte);
    if (y < line - 0.5f) hatch_over(c, ui.theme(), {column.x, y, column.w, line - y});
    if (column.w >= kLettered) {
        TextStyle st = ui.style(11, b ? Tone::text : Tone::secondary);
        c.text_in({column.x - 4, column.bottom() + 1, column.w + 8, kLetterRow - 1}, b ? "B" : "A", st,
                  Align::center);
    }
}

}  // namespace

void draw_two_steps(Ui& ui, Rect room, const ComparedPair& pair) {
    Canvas& c = ui.canvas();
    ui.section(room.cut_top(20), "WHERE THE STEP GOES, SECONDS");
    if (!pair.ea.step || !pair.eb.step) return;
    const Step &a = *pair.ea.step, &b = *pair.eb.step;
    const double longest = std::max(a.time_s, b.time_s);
    room.cut_top(4);
    const float bar_h = std::clamp(room.h * 0.3f, 18.0f, 38.0f),
                between = std::min(64.0f, room.h - 2 * bar_h);
    const auto letter = [&](Rect row, std::string_view name, const Step& s) {
        c.text_in(row, name, ui.title());
        row.cut_left(22);
        c.text_in(row, time_text(s.time_s), ui.style(12, Tone::secondary));
    };
    const float after = 132;  // for the difference
    Rect bars{room.x + kLetter, room.y, room.w - kLetter - after, bar_h};
    letter({room.x, bars.y, kLetter, bar_h}, "A", a);
    const std::vector<Slice> upper = draw_step_bar(ui, bars, a, longest);
    bars.y += bar_h + between;
    letter({room.x, bars.y, kLetter, bar_h}, "B", b);
    const std::vector<Slice> lower = draw_step_bar(ui, bars, b, longest);
    for (const Slice& u : upper)
        for (const Slice& l : lower) {
            if (!same_part(u.of, l.of)) continue;
            const std::array<Vec2, 4> ribbon{Vec2{u.at.x, u.at.bottom()}, Vec2{u.at.right(), u.at.bottom()},
                                             Vec2{l.at.right(), l.at.y}, Vec2{l.at.x, l.at.y}};
            c.polygon(ribbon, color_of_part(ui.theme(), u.of).alpha(0.22f));
        }
    const double by = difference(b.time_s, a.time_s);
    if (by == 0) return;
    TextStyle s = ui.title();
    s.color = by < 0 ? ui.theme().good : ui.theme().bad;
    const float end = lower.empty() ? bars.x : lower.back().at.right();
    c.line({end + 6, bars.y - 6}, {end + 6, bars.bottom() + 6}, s.color, 1.5f);
    const std::string words = difference_text(by, time_text) + ", " + difference_text(by / a.time_s, percent);
    c.text_in({end + 12, bars.y, room.right() - end - 8, bar_h}, words, s);
}

void draw_two_memories(Ui& ui, Rect room, const ComparedPair& pair) {
    Canvas& c = ui.canvas();
    ui.section(room.cut_top(20), "MEMORY BY STAGE, A AND B");
    const Memory &a = pair.ea.memory, &b = pair.eb.memory;
    const std::size_t stages = std::max(a.stage.size(), b.stage.size());
    if (stages == 0 || room.h < 50) return;
    const double hbm = std::max(a.hbm, b.hbm);
    const double most = std::max({hbm * 1.02, a.peak(), b.peak()});
    Rect foot = room.cut_bottom(18);
    room.cut_bottom(kLetterRow);
    room.cut_top(6);
    const Rect plot{room.x, room.y, room.w - 62, room.h};
    const double px = static_cast<double>(plot.h) / most;
    // If there are more stages than pixels for two bars, only every `every`-th pair is drawn.
    const auto fit = static_cast<std::size_t>(std::max(1.0f, plot.w / 5));
    const std::size_t every = (stages + fit - 1) / fit, shown = (stages + every - 1) / every;
    const float step = std::min(plot.w / static_cast<float>(shown), 90.0f);
    for (std::size_t k = 0; k < shown; ++k) {
        const std::size_t i = k * every;
        const float w = step * 0.4f;
        const Rect ca{plot.x + static_cast<float>(k) * step, plot.y, w, plot.h},
            cb{ca.x + w + 1, ca.y, w, ca.h};
        if (i < a.stage.size()) draw_memory_bar(ui, ca, px, a.stage[i], a.hbm, false);
        if (i < b.stage.size()) draw_memory_bar(ui, cb, px, b.stage[i], b.hbm, true);
        if (ui.hovers({ca.x, ca.y, 2 * w + 1, ca.h})) {
            std::string words = stages > 1 ? "stage " + std::to_string(i) : "each GPU";
            if (i < a.stage.size()) words += "\nA " + memory_text(a.stage[i].total());
            if (i < b.stage.size()) words += "\nB " + memory_text(b.stage[i].total());
            ui.tooltip(words);
        }
    }
    const auto limit = [&](double bytes, const std::string& words) {
        const float y = plot.bottom() - static_cast<float>(bytes * px);
        c.line({plot.x, y}, {plot.right(), y}, ui.theme().bad, 1, Dash::dashed);
        TextStyle s = ui.small();
        s.color = ui.theme().bad;
        c.text_in({plot.right() + 4, y - 8, 58, 16}, words, s);
    };
    limit(a.hbm, memory_text(a.hbm));
    if (b.hbm != a.hbm) limit(b.hbm, memory_text(b.hbm));
    std::string words = "A: " + plural(static_cast<std::int64_t>(a.stage.size()), "stage", "stages")
                        + ", fullest " + memory_text(a.peak())
                        + "   B: " + plural(static_cast<std::int64_t>(b.stage.size()), "stage", "stages")
                        + ", fullest " + memory_text(b.peak());
    if (every > 1) words += "   (each " + ordinal(static_cast<std::int64_t>(every)) + " stage)";
    ui.label(foot, words, ui.small());
}

}  // namespace pentamesh::ui
