// The view Memory draws bars by pipeline stage against the HBM line.
#include "app/ui/views/memory/view.h"

#include "app/tables/plan_tables.h"
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/panels/inspector.h"
#include "app/ui/scene/colors.h"
#include "app/ui/scene/scene.h"
#include "core/explain/verdict.h"
#include "core/memory/state_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr float kLegendGap = 12;
float legend_width(Ui& ui, std::size_t category) {
    return ui.canvas().text_width(category_name(category), ui.small()) + 18;
}

// Draws a category's name and mark. On a ground that is no panel's its mark has an edge.
void draw_name(Ui& ui, Rect item, std::size_t i, const MemoryViewState& state, const Hit& hit,
               std::optional<Color> ground = std::nullopt) {
    const bool off = ((state.hidden >> i) & 1U) != 0;
    const Rect mark{item.x, item.center().y - 5, 10, 10};
    TextStyle s = ui.small();
    if (hit.hovered) s.color = ui.theme().text;
    if (ground) {
        s.color = ink_on(*ground);
        ui.canvas().rect(mark.inset(-1), ui.theme().window, 2);
    }
    swatch(ui, mark, i, off ? 0.4f : 1.0f);
    if (off) s.color = s.color.alpha(0.45f);
    ui.canvas().text_in({item.x + 15, item.y, item.w - 15, item.h}, category_name(i), s);
    if (hit.focused) ui.focus_ring(item, 3);
}

// A click on a category's name hides it.
Hit name_switch(Ui& ui, Rect item, std::size_t i, MemoryViewState& state) {
    const Hit hit = ui.area("memory.legend", item, i);
    if (hit.clicked) state.hidden ^= 1U << i;
    return hit;
}

void legend_item(Ui& ui, Rect item, std::size_t i, MemoryViewState& state) {
    draw_name(ui, item, i, state, name_switch(ui, item, i, state));
}

constexpr float kLeastWithLegend = 90;

// Draws the first categories, right aligned in the head's row. Returns false where that has no room for them.
bool legend_in_head(Ui& ui, Rect row, MemoryViewState& state, std::size_t categories = kCategoryCount) {
    float all = -kLegendGap;
    for (std::size_t i = 0; i < categories; ++i) all += legend_width(ui, i) + kLegendGap;
    if (row.w < all) return false;
    row.cut_left(std::floor(row.w - all));
    for (std::size_t i = 0; i < categories; ++i) {
        const float w = legend_width(ui, i);
        legend_item(ui, row.cut_left(std::min(w, row.w)), i, state);
        row.cut_left(std::min(row.w, kLegendGap));
    }
    return true;
}

// Draws them in rows of their own, from the left.
void legend_rows(Ui& ui, Rect& room, MemoryViewState& state, std::size_t categories = kCategoryCount) {
    if (room.h < kLeastWithLegend) return;  // a lower pane's colours are on hover
    Rect row = room.h < 110 ? room.cut_bottom(16) : room.cut_top(20);
    for (std::size_t i = 0; i < categories; ++i) {
        const float w = legend_width(ui, i);
        if (row.w + 1 < w) row = room.cut_top(20);
        legend_item(ui, row.cut_left(std::min(w, row.w)), i, state);
        row.cut_left(std::min(row.w, kLegendGap));
    }
}

// Returns "338 GiB too much: in all 5.53 × what the GPU has".
std::string times_text(const Memory& m, const StageMemory& s, std::string_view whose) {
    return "in all " + significant(s.total() / m.hbm) + " × what " + std::string(whose) + " has";
}
std::string overflow_text(const Memory& m, const StageMemory& s) {
    if (m.fit() == MemoryFit::if_small)
        return std::string(name_of(m.fit())) + ": " + memory_text(s.least()) + " with the smallest buffers";
    return memory_text(s.total() - m.hbm) + " too much: " + times_text(m, s, "the GPU");
}

constexpr float kRow = 24, kFiguresWidth = 352, kAgainst = 76;

// Less memory than A's is green.
TextStyle colored(Ui& ui, double by) {
    const TextStyle s = ui.small().in(by < 0 ? ui.theme().good : ui.theme().bad);
    return s;
}

// Returns the stage of the pinned plan A to compare with: the same stage where both have as many, else the
// fullest for the fullest, or null.
const StageMemory* pinned_stage(const Scene& scene, const StageMemory& of) {
    if (scene.pinned == nullptr || scene.pinned->memory.stage.empty()) return nullptr;
    const Memory &a = scene.pinned->memory, &b = scene.evaluation.memory;
    if (a.stage.size() == b.stage.size()) return &a.stage[static_cast<std::size_t>(of.stage)];
    return of.stage == b.peak_stage ? &a.stage[static_cast<std::size_t>(a.peak_stage)] : nullptr;
}

// Right of few bars there is room for figures of one of them.
// `was` is the same stage of the pinned plan A, whose difference follows each figure; it may be null.
void draw_figures(Ui& ui, Rect room, const Scene& scene, const StageMemory& s) {
    const Memory& m = scene.evaluation.memory;
    const StageMemory* was = pinned_stage(scene, s);
    if (room.w < kFiguresWidth || room.h < 8 * kRow) return;
    const float width = was == nullptr ? kFiguresWidth : std::min(room.w, kFiguresWidth + kAgainst);
    Canvas& c = ui.canvas();
    Rect list{room.x, room.bottom() - 8 * kRow, width, 8 * kRow};
    const auto line = [&](std::string_view name, const std::string& figure, const std::string& beside,
                          Tone tone, double by = 0) {
        const auto [swatch_at, name_at, figure_at, gap, rest] =
            columns(list.cut_top(kRow), {px(20), px(96), px(80), px(12), share()});
        c.text_in(name_at, name, ui.style(13, tone));
        c.text_in(figure_at, figure, ui.style(13, Tone::text), Align::right);
        c.text_in(rest, beside, ui.small());
        const std::string against = difference_text(by, memory_text);
        const float used = c.text_width(beside, ui.small()) + c.text_width(against, ui.small()) + 8;
        if (!against.empty() && used <= rest.w) c.text_in(rest, against, colored(ui, by), Align::right);
    };
    const auto by = [&](double now, double before) { return was == nullptr ? 0 : difference(now, before); };
    line(m.stage.size() > 1 ? "stage " + std::to_string(s.stage) : "each GPU", "",
         three_digits(bytes_per_parameter(scene.plan)) + " bytes a parameter", Tone::text);
    for (std::size_t i = kCategoryCount; i-- > 0;) {
        swatch(ui, {list.x, list.y + kRow / 2 - 5, 10, 10}, i, 1);
        const double bytes = bytes_at(s, i);
        line(category_name(i), memory_text(bytes),
             i == kBuffers ? memory_text(s.buffers_low) + " – " + memory_text(s.buffers_high)
                           : percent(bytes / s.total()),
             Tone::secondary, by(bytes, was == nullptr ? 0 : bytes_at(*was, i)));
    }
    c.line({list.x, list.y}, {list.right(), list.y}, ui.theme().hairline, 1);
    line("total", memory_text(s.total()), "of " + memory_text(m.hbm), Tone::secondary,
         by(s.total(), was == nullptr ? 0 : was->total()));
    if (s.total() <= m.hbm)
        line("left", memory_text(m.hbm - s.total()), percent((m.hbm - s.total()) / m.hbm), Tone::secondary);
    else
        line("too much", memory_text(s.total() - m.hbm), times_text(m, s, "it"), Tone::secondary);
}

// Returns the distance from bar to bar: bars take the whole width, less that of figures next to them, which
// are left out where a bar would have less than 120.
float bar_step(Rect room, std::size_t bars) {
    const auto n = static_cast<float>(bars);
    const float all = room.w / n;
    const float beside = room.h < 8 * kRow ? 0 : kFiguresWidth + 32;
    return std::max((room.w - beside) / n, std::min(120.0f, all));
}

// Cuts a bar that goes beyond the end of its scale: a slanted gap below its top.
void draw_bar_break(Canvas& c, Color ground, Rect bar) {
    constexpr float kBelow = 12, kGap = 5, kSlant = 8;
    const float y = bar.y + kBelow;
    c.polygon({Vec2{bar.x - 1, y + kSlant}, Vec2{bar.right() + 1, y}, Vec2{bar.right() + 1, y + kGap},
               Vec2{bar.x - 1, y + kSlant + kGap}},
              ground);
}

// Names the parts of the bars: there are no switches, each bar is of another plan.
void savings_legend(Ui& ui, Rect& room) {
    constexpr float kLeast = 220;
    if (room.h < kLeast) return;
    Rect row = room.cut_top(20);
    for (std::size_t i = 0; i < kCategoryCount; ++i) {
        const float w = legend_width(ui, i);
        if (row.w < w) return;
        Rect item = row.cut_left(w);
        swatch(ui, {item.x, item.center().y - 5, 10, 10}, i, 1);
        item.cut_left(15);
        ui.canvas().text_in(item, category_name(i), ui.small());
        row.cut_left(std::min(row.w, kLegendGap));
    }
    write_whole(ui, row, "hatched: saved", ui.small());
}

// Draws the way from the whole model on one GPU to this plan, one axis or modifier at a time. The scale is
// linear, so that a half is half as high; the first bars may go far beyond it, and are cut.
void draw_savings(Ui& ui, Rect head_row, Rect room, const Scene& scene,
                  const std::vector<SavingStep>& steps) {
    Canvas& c = ui.canvas();
    const Memory& m = scene.evaluation.memory;
    if (steps.empty()) return;
    const std::string words = "the fullest GPU, from the whole model on one to this plan: "
                              + memory_text(steps.front().fullest.total()) + " to "
                              + memory_text(steps.back().fullest.total()) + " of " + memory_text(m.hbm);
    head_sentence(ui, head_row, room, words);
    savings_legend(ui, room);
    constexpr double kWhole = 6, kCut = 3;  // of what a GPU has
    double most = m.hbm;
    for (const SavingStep& s : steps) most = std::max(most, s.fullest.total());
    const double end_bytes = most <= kWhole * m.hbm ? most : kCut * m.hbm;
    room.cut_top(18);
    Rect labels = room.cut_bottom(20);
    const auto y_of = [&](double bytes) {
        return room.bottom() - static_cast<float>(std::clamp(bytes / end_bytes, 0.0, 1.0)) * room.h;
    };
    constexpr float kWidest = 0.15f;  // of a bar, of the room
    const float step =
        std::min(std::max(150.0f, room.w * kWidest), room.w / static_cast<float>(steps.size()));
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const SavingStep& s = steps[i];
        const float x = room.x + static_cast<float>(i) * step, top = y_of(s.fullest.total());
        const float bar = step * 0.62f;
        if (i > 0) {  // the saved part: hatched, from the bar before
            const float before = y_of(steps[i - 1].fullest.total());
            if (before < top)
                c.pattern({x, before, bar, top - before}, Pattern::hatched, ui.theme().good.alpha(0.7f));
            if (before < top && steps[i - 1].fullest.total() > end_bytes)
                draw_bar_break(c, ui.theme().window, {x, before, bar, top - before});
        }
        const double total = s.fullest.total();
        const Rect column{x, top, bar, room.bottom() - top};  // the categories have shares of its height
        fill_memory(
            c, ui.theme(),
            memory_parts(column, s.fullest, total > 0 ? static_cast<double>(column.h) / total : 0, true));
        if (total > end_bytes) draw_bar_break(c, ui.theme().window, column);
        const std::string held = memory_text(total);  // hatching is no ground for type
        write_plate(ui, {x, top - 18, c.text_width(held, ui.small()) + 6, 16}, held, ui.small(Tone::text),
                    ui.theme().window);
        c.text_in({x, labels.y, step - 6, labels.h}, label_of(s), ui.small());
        if (ui.hovers({x, room.y - 18, step, room.h + 38}))
            ui.tooltip(label_of(s) + "\n" + std::string(reason_of(s))
                       + (i > 0 ? "\nsaves " + memory_text(s.saved) + " a GPU" : ""));
    }
    const float line = y_of(m.hbm), end = room.x + step * static_cast<float>(steps.size());
    c.line({room.x, line}, {end, line}, ui.theme().bad, 1, Dash::dashed);
    // Behind the line where there is room, else over its end.
    const std::string has = memory_text(m.hbm);
    const TextStyle style = ui.style(11.5f).in(ui.theme().bad);
    const float has_w = c.text_width(has, style) + 6;
    if (end + 4 + has_w <= room.right())
        c.text_in({end + 4, line - 9, has_w, 18}, has, style);
    else
        write_plate(ui, {end - has_w, line - 18, has_w, 16}, has, style, ui.theme().window);
}

// Writes "fullest: stage 3, 66.1 GiB of 79.6 GiB", the excess, and the legend. Where the row is short the
// stage's name is dropped. After it comes the difference to the fullest GPU of the pinned plan A. Returns
// false where the legend has no room.
bool draw_head(Ui& ui, Rect head_row, Rect& room, const Scene& scene, const StageMemory& peak,
               MemoryViewState& state) {
    const Memory& m = scene.evaluation.memory;
    Canvas& c = ui.canvas();
    const TextStyle plain = ui.style(13, Tone::secondary);
    std::string whose = words_of(fullest_stages(m), m);  // "Stages 1 to 7", "Every GPU"
    whose[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(whose[0])));
    whose = whose == "every GPU" ? "each GPU: " : "fullest: " + whose + ", ";
    const std::string fit = m.fit() == MemoryFit::no ? "" : ", which " + std::string(name_of(m.fit()));
    std::string figure = memory_text(peak.total()) + " of " + memory_text(m.hbm) + fit;
    const std::string over = m.fits() ? "" : overflow_text(m, peak);
    TextStyle bold = ui.title();
    if (m.fit() != MemoryFit::yes) bold.color = color_of(ui.theme(), m.fit());
    const float words = c.text_width(whose, plain);
    float figures = c.text_width(figure, bold) + 2;
    const bool pinned = scene.pinned != nullptr && !scene.pinned->memory.stage.empty();
    const double by = pinned ? difference(peak.total(), scene.pinned->memory.peak()) : 0;
    const std::string against = difference_text(by, memory_text);
    const float behind = against.empty() ? 0 : c.text_width(against, ui.small()) + 14;
    const float excess = over.empty() ? 0 : c.text_width(over, plain) + 14;
    Rect text = head_words(head_row, room, words + figures + behind + excess);
    if (text.w < words + figures) {
        const double held = peak.total();
        figure = (held < kTebibyte ? gib(held) : memory_text(held)) + " of " + memory_text(m.hbm);
        figures = c.text_width(figure, bold) + 2;
    }
    if (text.w < figures) {  // the GPU's memory is written at the line
        figure = memory_text(peak.total());
        figures = c.text_width(figure, bold) + 2;
    }
    if (text.w >= words + figures) c.text_in(text.cut_left(words), whose, plain);
    c.text_in(text.cut_left(std::min(text.w, figures)), figure, bold);
    if (behind > 0 && text.w >= behind) {
        text.cut_left(10);
        c.text_in(text.cut_left(behind - 10), against, colored(ui, by));
    }
    if (excess > 0 && text.w >= excess) {
        text.cut_left(12);
        c.text_in(text.cut_left(excess - 12), over, plain);
    }
    text.cut_left(std::min(text.w, 24.0f));
    return legend_in_head(ui, text, state);
}

// Draws of an impossible plan what each GPU holds that the broken rule does not bear on, and hatches the
// place of the rest.
void draw_states(Ui& ui, Rect head_row, Rect room, Scene& scene, MemoryViewState& state) {
    const Memory& m = scene.evaluation.states;
    if (m.stage.empty() || room.w < 480) return draw_void(ui, room, scene);
    const std::string words =
        "what still holds: the states, " + memory_text(m.peak()) + " of " + memory_text(m.hbm);
    head_sentence(ui, head_row, room, words);
    head_row.cut_left(std::min(head_row.w, ui.canvas().text_width(words, ui.style(13)) + 24));
    if (!legend_in_head(ui, head_row, state, kStates)) legend_rows(ui, room, state, kStates);
    const Rect rest = room.cut_right(std::max(room.w * 0.45f, std::min(560.0f, room.w - 240)));
    room.cut_right(24);
    draw_void(ui, rest, scene);
    const float step = std::min(120.0f, room.w / static_cast<float>(m.stage.size()));
    const StageBars bars = draw_stage_bars(ui, room, step, scene, state);
    ui.canvas().line({room.x, bars.line_y}, {room.right(), bars.line_y}, ui.theme().bad, 1, Dash::dashed);
}

// Draws the plan's GPU as one large bar, and under it what it would hold with another micro-batch, on one
// scale.
std::optional<PlanEdit> draw_one_stage(Ui& ui, Rect room, Scene& scene, MemoryViewState& state,
                                       std::uint64_t revision) {
    constexpr float kBar = 160, kLeastPitch = 46, kMostPitch = 84, kLine = 18, kGap = 26;
    constexpr double kMostScale = 2;  // of what the GPU has: longer bars are cut, unless the plan's own is
    const Memory& m = scene.evaluation.memory;
    const std::vector<BatchRoom>& rooms = state.rooms.get(revision, [&] { return batch_rooms(scene.plan); });
    double scale = single_bar_bytes(scene, state, room.w);
    for (const BatchRoom& r : rooms)
        scale = std::max(scale, std::min(1.02 * r.fullest.total(), kMostScale * m.hbm));
    const Rect bar = room.cut_top(std::min(kBar, room.h * 0.4f));
    draw_single_bar(ui, bar, scene, state, {scale, bar.h});
    constexpr double kSmall = 0.35;  // of the bar: narrower parts have no room for their names
    constexpr float kEnlarged = 114, kUnder = 22;
    const double held = m.stage.front().total();
    if (held < kSmall * scale && state.hidden == 0 && room.h > kEnlarged + kGap + kLeastPitch) {
        const float from = bar.bottom() - kUnder;
        draw_enlarged_bar(ui, {room.x, from, room.w, kEnlarged},
                          {room.x, from, room.w * static_cast<float>(held / scale), 0}, m.stage.front());
        room.cut_top(kEnlarged - kUnder);
    }
    const float pitch =
        held_between((room.h - kGap - 10 * kRow) / static_cast<float>(std::max<std::size_t>(rooms.size(), 1)),
                     kLeastPitch, kMostPitch);
    room.cut_top(kGap);
    std::optional<PlanEdit> edit;
    const auto others = std::count_if(rooms.begin(), rooms.end(), [&](const BatchRoom& r) {
        return r.micro_batch != scene.plan.training.micro_batch;
    });
    if (others > 0 && room.h > pitch + kRow) {
        Canvas& c = ui.canvas();
        std::string words = words_of(rooms);
        words[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(words[0])));
        room.cut_top(std::max(kRow, c.paragraph(room, words + ".", ui.title(), 18)));
        for (std::size_t i = 0; i < rooms.size() && room.h >= pitch; ++i) {
            const BatchRoom& r = rooms[i];
            Rect row = room.cut_top(pitch);
            const bool own = r.micro_batch == scene.plan.training.micro_batch;
            const Hit hit = ui.area("memory.batch", row, i, !own);
            Rect line = row.cut_top(kLine);
            row.cut_bottom(8);
            const std::string name =
                "micro-batch " + std::to_string(r.micro_batch) + (own ? ", this plan" : "");
            const TextStyle plain =
                own || hit.hovered ? ui.style(12, Tone::text) : ui.style(12, Tone::secondary);
            c.text_in(line, name, plain);
            line.cut_left(c.text_width(name, plain) + 14);
            TextStyle figure = ui.style(12, Tone::text, Face::semibold);
            if (r.fit != MemoryFit::yes) figure.color = color_of(ui.theme(), r.fit);
            const std::string fit(name_of(r.fit));
            const std::string total = memory_text(r.fullest.total());
            if (fit.empty() || !write_whole(ui, line, total + ", " + fit, figure))
                c.text_in(line, total, figure);
            const Canvas::Clip clip = c.clip({row.x, row.y - 4, row.w, row.h + 4});
            draw_memory_bar(ink_of(ui), row, r.fullest, m.hbm, scale);
            if (hit.focused) ui.focus_ring({row.x, row.y - kLine, row.w, pitch - 6}, 2);
            if (hit.hovered) ui.tooltip(name + "\nclick: the plan's");
            if (!hit.clicked) continue;
            Plan p = scene.plan;
            p.training.micro_batch = r.micro_batch;
            edit = PlanEdit{std::move(p), name, ""};
        }
        room.cut_top(8);
    }
    if (room.h >= 8 * kRow) {
        room.h = 8 * kRow;
        draw_figures(ui, room, scene, m.stage.front());
    }
    return edit;
}

// Names of parts in the widest bar stand where a low pane would lose a row to the legend: what is too low for
// its own name is named in a line at the foot of the largest part.
constexpr float kNameLine = 18;

float width_of_names(Ui& ui, const MemoryParts& parts) {
    float all = 0;
    for (std::size_t i = 0; i < kCategoryCount; ++i)
        if (parts[i].h < kLeastFigure) all += legend_width(ui, i) + kLegendGap;
    return all;
}

std::size_t largest_part(const MemoryParts& parts) {
    return static_cast<std::size_t>(std::ranges::max_element(parts, {}, &Rect::h) - parts.begin());
}

// Returns true if the names have room in the widest bar.
bool names_fit(Ui& ui, const MemoryParts& parts) {
    constexpr float kLeast = 2 * kNameLine + kLeastFigure;
    const Rect largest = parts[largest_part(parts)];
    if (largest.h < kLeast) return false;
    for (std::size_t i = 0; i < kCategoryCount; ++i) {
        const std::string words = std::string(category_name(i)) + " 00.0 GiB";
        if (parts[i].h >= kLeastFigure && ui.canvas().text_width(words, ui.style(11)) + 6 > largest.w)
            return false;
    }
    return width_of_names(ui, parts) <= largest.w;
}

// Returns the places of the names: of parts that have their own, the middle of the part.
std::array<Rect, kCategoryCount> places_of_names(Ui& ui, const MemoryParts& parts) {
    constexpr float kWidth = 100, kHeight = 14;
    Rect line = parts[largest_part(parts)];
    line = line.cut_bottom(kNameLine);
    line.cut_left((line.w - width_of_names(ui, parts) + kLegendGap) / 2);
    std::array<Rect, kCategoryCount> out;
    for (std::size_t i = 0; i < kCategoryCount; ++i) {
        const Vec2 middle = parts[i].center();
        out[i] = {middle.x - kWidth / 2, middle.y - kHeight / 2, kWidth, kHeight};
        if (parts[i].h >= kLeastFigure) continue;
        out[i] = line.cut_left(legend_width(ui, i));
        line.cut_left(kLegendGap);
    }
    return out;
}

std::optional<PlanEdit> draw_stages(Ui& ui, Rect head_row, Rect room, Scene& scene, MemoryViewState& state,
                                    std::uint64_t revision) {
    const Memory& m = scene.evaluation.memory;
    Canvas& c = ui.canvas();
    const auto& peak = m.stage[static_cast<std::size_t>(m.peak_stage)];
    const bool named = draw_head(ui, head_row, room, scene, peak, state);
    if (m.stage.size() == 1) {
        if (!named) legend_rows(ui, room, state);
        if (room.h < 8 * kRow) return draw_single_bar(ui, room, scene, state), std::nullopt;
        return draw_one_stage(ui, room, scene, state, revision);
    }
    constexpr float kAxis = 60;
    const auto n = m.stage.size();
    Rect all = room;
    all.cut_left(kAxis);
    const MemoryParts parts = widest_parts(ui, all, bar_step(all, n), scene, state);
    const bool in_bar = !named && names_fit(ui, parts);
    if (!named && !in_bar) legend_rows(ui, room, state);
    const Rect axis = room.cut_left(kAxis);
    const float step = bar_step(room, n);
    // The names take the mouse before the bar below them does, and are drawn over it.
    const auto names = in_bar ? places_of_names(ui, parts) : std::array<Rect, kCategoryCount>{};
    std::array<Hit, kCategoryCount> hits;
    for (std::size_t i = 0; in_bar && i < kCategoryCount; ++i) hits[i] = name_switch(ui, names[i], i, state);
    const StageBars bars = draw_stage_bars(ui, room, step, scene, state);
    for (std::size_t i = 0; in_bar && i < kCategoryCount; ++i)
        if (parts[i].h < kLeastFigure)
            draw_name(ui, names[i], i, state, hits[i], ui.theme().memory[largest_part(parts)]);
    const float line_y = bars.line_y;
    const Rect labels = bars.labels;
    room = bars.plot;
    const int highlighted_stage = chosen_stage(scene) >= 0 ? chosen_stage(scene) : scene.hover.stage;
    const bool chosen = highlighted_stage >= 0 && highlighted_stage < static_cast<int>(n);
    Rect beside = room;
    beside.cut_left(std::max(step * static_cast<float>(n), 200.0f) + 32);
    const StageMemory& told = chosen ? m.stage[highlighted_stage] : peak;
    draw_figures(ui, beside, scene, told);
    c.line({room.x - 6, line_y}, {room.x + std::max(step * static_cast<float>(n), 200.0f), line_y},
           ui.theme().bad, 1, Dash::dashed);
    c.text_in({axis.x, line_y - 9, axis.w - 8, 18}, memory_text(m.hbm), ui.small(), Align::left);
    c.text_in({axis.x, labels.y, axis.w - 8, labels.h}, "stage", ui.small());
    return std::nullopt;
}

}  // namespace

std::optional<PlanEdit> draw_memory(Ui& ui, Rect head_row, Rect room, Scene& scene, MemoryViewState& state,
                                    std::uint64_t revision) {
    if (scene.evaluation.valid || state.page == MemoryPage::sheds) {
        static constexpr std::array<std::string_view, 3> kLabels{"stages", "saved", "ZeRO"};
        const int page = static_cast<int>(state.page);
        const Rect place = head_place(head_row, room, segments_width(ui, kLabels, 172, page));
        choose(ui, "memory.mode", place, kLabels, state.page);
    }
    if (state.page == MemoryPage::sheds) return draw_sheds(ui, head_row, room, scene, state, revision);
    if (!scene.evaluation.valid)
        draw_states(ui, head_row, room, scene, state);
    else if (state.page == MemoryPage::saved)
        draw_savings(ui, head_row, room, scene, state.savings.get(revision, [&] {
            return savings(scene.plan, scene.evaluation.memory);
        }));
    else
        return draw_stages(ui, head_row, room, scene, state, revision);
    return std::nullopt;
}

Table memory_data(const Scene& scene, int part) {
    switch (static_cast<MemoryPage>(part)) {
    case MemoryPage::saved: return savings_table(savings(scene.plan, scene.evaluation.memory));
    case MemoryPage::sheds: return zero_table(zero_rungs(scene.plan, scene.evaluation));
    case MemoryPage::stages: break;
    }
    return memory_table(scene.evaluation.memory);
}

}  // namespace pentamesh::ui
