// The view Memory draws bars by pipeline stage against the HBM line.
#include "app/ui/views/memory/view.h"

#include "app/tables/plan_tables.h"
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/panels/inspector.h"
#include "app/ui/scene/colors.h"
#include "app/ui/scene/scene.h"
#include "core/explain/verdict.h"

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

// Draws a category's switch; a click hides it.
void legend_item(Ui& ui, Rect item, std::size_t i, MemoryViewState& state) {
    const Hit hit = ui.area("memory.legend", item, i);
    const bool off = ((state.hidden >> i) & 1U) != 0;
    swatch(ui, {item.x, item.center().y - 5, 10, 10}, i, off ? 0.4f : 1.0f);
    TextStyle s = ui.small();
    if (hit.hovered) s.color = ui.theme().text;
    if (off) s.color = s.color.alpha(0.45f);
    ui.canvas().text_in({item.x + 15, item.y, item.w - 15, item.h}, category_name(i), s);
    if (hit.focused) ui.focus_ring(item, 3);
    if (hit.clicked) state.hidden ^= 1U << i;
}

constexpr float kLeastWithLegend = 90;

// Draws the first categories, right aligned in the head's row; where that is short, in rows of their own,
// from the left.
void legend(Ui& ui, Rect row, Rect& room, MemoryViewState& state, std::size_t categories = kCategoryCount) {
    float all = 0;
    for (std::size_t i = 0; i < categories; ++i) all += legend_width(ui, i) + kLegendGap;
    if (row.w >= all) {
        row.cut_left(std::max(0.0f, std::floor(row.w - all + kLegendGap)));
    } else {
        if (room.h < kLeastWithLegend) return;  // a lower pane's colours are on hover
        row = room.h < 110 ? room.cut_bottom(16) : room.cut_top(20);
    }
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
void draw_figures(Ui& ui, Rect room, const Memory& m, const StageMemory& s, const StageMemory* was) {
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
    line(m.stage.size() > 1 ? "stage " + std::to_string(s.stage) : "each GPU", "", "", Tone::text);
    for (std::size_t i = kCategoryCount; i-- > 0;) {
        swatch(ui, {list.x, list.y + kRow / 2 - 5, 10, 10}, i, 1);
        const double bytes = bytes_at(s, i);
        line(category_name(i), memory_text(bytes),
             i == kBuffers ? memory_text(s.buffers_low) + " – " + memory_text(s.buffers_high)
                           : percent(bytes / s.total()),
             Tone::secondary, by(bytes, was == nullptr ? 0 : bytes_at(*was, i)));
    }
    c.line({list.x, list.y}, {list.right(), list.y}, ui.theme().hairline, 1);
    line("total", memory_text(s.total()), "of " + capacity_text(m.hbm), Tone::secondary,
         by(s.total(), was == nullptr ? 0 : was->total()));
    if (s.total() <= m.hbm)
        line("left", memory_text(m.hbm - s.total()), percent((m.hbm - s.total()) / m.hbm), Tone::secondary);
    else
        line("too much", memory_text(s.total() - m.hbm), times_text(m, s, "it"), Tone::secondary);
}

// A bar is at most this part of the room, or 120 pixels where that is more.
constexpr float kWidestBar = 0.15f;
// Returns the distance from bar to bar: it leaves room for the figures next to them, but is not made less
// than 120 for them.
float bar_step(Rect room, std::size_t bars) {
    const auto n = static_cast<float>(bars);
    const float all = room.w / n, most = std::min(all, std::max(120.0f, room.w * kWidestBar));
    const float beside = room.h < 8 * kRow ? 0 : kFiguresWidth + 32;
    return std::clamp((room.w - beside) / n, std::min(120.0f, all), most);
}

// Draws the way from the whole model on one GPU to this plan, one axis or modifier at a time. The ruler is
// logarithmic: the first bar may be a thousand times the last.
void draw_savings(Ui& ui, Rect head_row, Rect room, const Scene& scene,
                  const std::vector<SavingStep>& steps) {
    Canvas& c = ui.canvas();
    const Memory& m = scene.evaluation.memory;
    if (steps.empty()) return;
    const std::string words = "the fullest GPU, from the whole model on one to this plan: "
                              + memory_text(steps.front().fullest.total()) + " to "
                              + memory_text(steps.back().fullest.total()) + " of " + memory_text(m.hbm)
                              + " (logarithmic)";
    head_sentence(ui, head_row, room, words);
    double most = m.hbm, least = m.hbm;
    for (const SavingStep& s : steps) {
        most = std::max(most, s.fullest.total());
        least = std::min(least, s.fullest.total());
    }
    const double low = std::log(std::max(1.0, least * 0.25)), high = std::log(most * 1.1);
    room.cut_top(18);
    Rect labels = room.cut_bottom(20);
    const auto y_of = [&](double bytes) {
        const double k = (std::log(std::max(1.0, bytes)) - low) / std::max(1e-9, high - low);
        return room.bottom() - static_cast<float>(std::clamp(k, 0.0, 1.0)) * room.h;
    };
    const float step =
        std::min(std::max(150.0f, room.w * kWidestBar), room.w / static_cast<float>(steps.size()));
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const SavingStep& s = steps[i];
        const float x = room.x + static_cast<float>(i) * step, top = y_of(s.fullest.total());
        const float bar = step * 0.62f;
        if (i > 0) {  // the saved part: hatched, from the bar before
            const float before = y_of(steps[i - 1].fullest.total());
            if (before < top)
                c.pattern({x, before, bar, top - before}, Pattern::hatched, ui.theme().good.alpha(0.7f));
        }
        const double total = s.fullest.total();
        const Rect column{x, top, bar, room.bottom() - top};  // the categories have shares of its height
        fill_memory(
            c, ui.theme(),
            memory_parts(column, s.fullest, total > 0 ? static_cast<double>(column.h) / total : 0, true));
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

// Writes "fullest: stage 3, 66.1 GiB of 79.6 GiB (85.5 GB)", the excess, and the legend. Where the row is
// short the capacity is only in GiB, then the stage's name is dropped. After it comes the difference to the
// fullest GPU of the pinned plan A.
void draw_head(Ui& ui, Rect head_row, Rect& room, const Scene& scene, const StageMemory& peak,
               MemoryViewState& state) {
    const Memory& m = scene.evaluation.memory;
    Canvas& c = ui.canvas();
    const TextStyle plain = ui.style(13, Tone::secondary);
    const std::string whose =
        m.stage.size() > 1 ? "fullest: stage " + std::to_string(m.peak_stage) + ", " : "each GPU: ";
    std::string figure = memory_text(peak.total()) + " of " + memory_text(m.hbm);
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
        figure = gib(peak.total()) + " of " + memory_text(m.hbm);
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
    legend(ui, text, room, state);
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
    legend(ui, head_row, room, state, kStates);
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
    constexpr float kBar = 160, kLeastPitch = 46, kMostPitch = 84, kLine = 18, kGap = 26, kMostScale = 1.2f;
    const Memory& m = scene.evaluation.memory;
    const std::vector<BatchRoom>& rooms = state.rooms.get(revision, [&] { return batch_rooms(scene.plan); });
    double scale = 1.02 * m.hbm;
    for (const BatchRoom& r : rooms)
        scale = std::max(scale, std::min(1.02 * r.fullest.total(), static_cast<double>(kMostScale) * m.hbm));
    const Rect bar = room.cut_top(std::min(kBar, room.h * 0.4f));
    draw_single_bar(ui, bar, scene, state, {scale, bar.h});
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
        c.text_in(room.cut_top(kRow), words + ".", ui.title());
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
            c.text_in(line, memory_text(r.fullest.total()) + (fit.empty() ? "" : ", " + fit), figure);
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
        draw_figures(ui, room, m, m.stage.front(), pinned_stage(scene, m.stage.front()));
    }
    return edit;
}

std::optional<PlanEdit> draw_stages(Ui& ui, Rect head_row, Rect room, Scene& scene, MemoryViewState& state,
                                    std::uint64_t revision) {
    const Memory& m = scene.evaluation.memory;
    Canvas& c = ui.canvas();
    const auto& peak = m.stage[static_cast<std::size_t>(m.peak_stage)];
    draw_head(ui, head_row, room, scene, peak, state);
    if (m.stage.size() == 1 && room.h < 8 * kRow)
        return draw_single_bar(ui, room, scene, state), std::nullopt;
    if (m.stage.size() == 1) return draw_one_stage(ui, room, scene, state, revision);
    Rect axis = room.cut_left(60);
    const auto n = m.stage.size();
    const float step = bar_step(room, n);
    const StageBars bars = draw_stage_bars(ui, room, step, scene, state);
    const float line_y = bars.line_y;
    const Rect labels = bars.labels;
    room = bars.plot;
    const int highlighted_stage = chosen_stage(scene) >= 0 ? chosen_stage(scene) : scene.hover.stage;
    const bool chosen = highlighted_stage >= 0 && highlighted_stage < static_cast<int>(n);
    Rect beside = room;
    beside.cut_left(std::max(step * static_cast<float>(n), 200.0f) + 32);
    const StageMemory& told = chosen ? m.stage[highlighted_stage] : peak;
    draw_figures(ui, beside, m, told, pinned_stage(scene, told));
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

void hatch_over(Canvas& canvas, const Theme& theme, Rect over) {
    canvas.rect(over, theme.window.alpha(0.35f));
    canvas.pattern(over, Pattern::hatched, theme.bad);
    canvas.frame(over, theme.bad, 1);
}

namespace {

double shown_total(const StageMemory& s, std::uint32_t hidden) {
    double sum = 0;
    for (std::size_t i = 0; i < kCategoryCount; ++i)
        if (((hidden >> i) & 1U) == 0) sum += bytes_at(s, i);
    return sum;
}

// A stage as it is drawn now, and its total before the last edit, where that was another.
struct DrawnStage {
    StageMemory now;
    std::optional<double> before;
};
DrawnStage drawn_of(Ui& ui, const StageMemory& s, const MemoryViewState& state) {
    DrawnStage out{s, std::nullopt};
    std::uint64_t index = static_cast<std::uint64_t>(s.stage) * 8;
    for (double* x : {&out.now.parameters, &out.now.gradients, &out.now.optimizer, &out.now.activations,
                      &out.now.buffers, &out.now.buffers_low, &out.now.buffers_high})
        *x = ui.glide("memory.bytes", *x, index++);
    (void)ui.glide("memory.total", shown_total(s, state.hidden), static_cast<std::uint64_t>(s.stage));
    out.before = ui.before("memory.total", static_cast<std::uint64_t>(s.stage));
    return out;
}

std::string stage_tooltip(const Memory& m, const StageMemory& s) {
    std::string t = (m.stage.size() > 1 ? "stage " + std::to_string(s.stage) : std::string("each GPU")) + ": "
                    + memory_text(s.total()) + " of " + capacity_text(m.hbm);
    t += "\n" + plural(s.layers, "layer", "layers") + ", "
         + count_text(static_cast<double>(s.parameters_held)) + " parameters";
    if (s.in_flight > 0) t += ", " + significant(s.in_flight) + " micro-batches in flight";
    const std::size_t known = s.in_flight > 0 ? kCategoryCount : kStates;
    for (std::size_t i = 0; i < known; ++i)
        t += "\n" + std::string(category_name(i)) + "  " + memory_text(bytes_at(s, i)) + "  ("
             + thousands(static_cast<std::int64_t>(std::llround(bytes_at(s, i)))) + " bytes)";
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

// The bytes in the segment, where they fit; in a high one under the category's name. On a pattern they have a
// ground of their own.
void segment_figure(Ui& ui, Rect part, std::size_t category, double bytes, bool on_pattern) {
    constexpr float kNamed = 64, kEdge = 9;
    if (part.h >= kNamed) {
        TextStyle name = ui.style(13), value = ui.style(17, Tone::text, Face::semibold);
        const std::string words(category_name(category)), amount = memory_text(bytes);
        const float w = std::max(ui.canvas().text_width(words, name), ui.canvas().text_width(amount, value));
        if (w + 2 * kEdge <= part.w) {
            const Rect box{part.x + kEdge, part.center().y - 24, w + 2, 44};
            if (on_pattern)
                ui.canvas().rect(box.inset(-4, -2), ui.theme().window);
            else
                name.color = value.color = ink_on(ui.theme().memory[category]);
            ui.canvas().text_in({box.x, box.y, box.w, 18}, words, name);
            ui.canvas().text_in({box.x, box.y + 19, box.w, 24}, amount, value);
            return;
        }
    }
    TextStyle style = ui.style(11);
    const std::string figure = memory_text(bytes);
    const float w = ui.canvas().text_width(figure, style);
    if (part.h < 15 || w + 6 > part.w) return;
    if (on_pattern)  // hatching is no ground for type
        ui.canvas().rect({part.center().x - w / 2 - 3, part.center().y - 7, w + 6, 14}, ui.theme().window);
    else
        style.color = ink_on(ui.theme().memory[category]);
    ui.canvas().text_in(part, figure, style, Align::center);
}

// Writes the figures of a bar, over all that is drawn on it: below the line of what the GPU has where there
// is room, else on a ground of their own. `drawn` is what is drawn of the stage now, `s` what its figures
// say.
void draw_bar_figures(Ui& ui, Rect column, double px_per_byte, float line_y, const StageMemory& drawn,
                      const StageMemory& s, const MemoryViewState& state) {
    constexpr float kLeast = 15;
    const MemoryParts parts = memory_parts(column, drawn, px_per_byte, true, state.hidden);
    for (std::size_t i = 0; i < kCategoryCount; ++i) {
        Rect part = parts[i];
        const float foot = part.bottom(), below = std::max(part.y, line_y);
        const bool has_room = part.y >= line_y || foot - below >= kLeast;
        if (part.h <= 0) continue;
        if (has_room) part.y = below, part.h = foot - below;
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
    std::string text = gib(s.total());
    const std::string more = " GiB, " + gib(over) + " over the line";
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

void draw_memory_bar(const Ink& ink, Rect bar, const StageMemory& s, double hbm, double whole) {
    Canvas& c = ink.canvas;
    const auto x_of = [&](double bytes) { return bar.x + static_cast<float>(bytes / whole) * bar.w; };
    const MemoryParts parts = memory_parts(bar, s, static_cast<double>(bar.w) / whole, false);
    for (std::size_t i = 0; i < kCategoryCount; ++i) {
        const Rect part = parts[i];
        if (part.w <= 0.2f) continue;
        fill_memory(c, ink.theme, part, static_cast<MemoryCategory>(i));
        c.line({part.x, part.y}, {part.x, part.bottom()}, ink.theme.window, 1);
        if (i == kBuffers) continue;  // a whisker lies over them
        const TextStyle style = ink.faint.in(ink_on(ink.theme.memory[i]));
        const std::string figure = memory_text(bytes_at(s, i));
        if (c.text_width(figure, style) + 8 <= part.w && style.size * 1.1f <= part.h)
            c.text_in(part, figure, style, Align::center);
    }
    if (s.total() - hbm >= kOver)
        hatch_over(c, ink.theme, {x_of(hbm), bar.y, std::max(4.0f, x_of(s.total()) - x_of(hbm)), bar.h});
    if (s.most() - s.least() >= kOver) {
        const float y = bar.center().y, low = x_of(s.least()), high = x_of(s.most());
        c.line({low, y}, {high, y}, ink.theme.text, 1.2f);
        for (const float x : {low, high}) c.line({x, y - 4}, {x, y + 4}, ink.theme.text, 1.2f);
    }
    c.line({x_of(hbm), bar.y - 3}, {x_of(hbm), bar.bottom() + 3}, ink.theme.bad, 1, Dash::dashed);
}

void draw_single_bar(Ui& ui, Rect room, Scene& scene, const MemoryViewState& state, BarSize size) {
    const Memory& m = shown_memory(scene.evaluation);
    const StageMemory& s = m.stage.front();
    Canvas& c = ui.canvas();
    const double most = std::max(
        size.bytes, std::max(m.hbm, state.hidden == 0 ? s.most() : shown_total(s, state.hidden)) * 1.02);
    const Rect whole{room.x, room.y + 22, room.w, held_between(room.h - 44, 12.0f, size.height)};
    const auto x_of = [&](double bytes) { return whole.x + static_cast<float>(bytes / most) * whole.w; };
    std::size_t hovered = kCategoryCount;
    const DrawnStage drawn = drawn_of(ui, s, state);
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
    for (std::size_t i = 0; i < kCategoryCount; ++i)
        if (parts[i].w > 0)
            segment_figure(ui, parts[i], i, bytes_at(s, i), i == kBuffers || parts[i].right() > line + 1);
    if (state.hidden == 0 && s.most() - s.least() >= kOver) {
        const float low = x_of(drawn.now.least()), high = x_of(drawn.now.most());
        c.line({low, middle}, {high, middle}, ui.theme().text, 1.2f);
        for (const float x : {low, high}) c.line({x, middle - 4}, {x, middle + 4}, ui.theme().text, 1.2f);
    }
    c.line({line, whole.y - 6}, {line, whole.bottom() + 4}, ui.theme().bad, 1, Dash::dashed);
    if (drawn.before) {
        const Canvas::Clip clip = c.clip(whole.inset(-2, -3));
        const auto to = [&](double bytes) {
            return Rect{whole.x, whole.y, x_of(bytes) - whole.x, whole.h}.inset(0, -2);
        };
        ui.outline(to(*drawn.before), to(shown_total(s, state.hidden)));
    }
    draw_total(ui, {whole.x, room.y, std::max(80.0f, end - whole.x), 20}, m, s, true);
    const float label = c.text_width(memory_text(m.hbm), ui.small()) + 2;
    c.text_in({std::max(room.x, line - label), whole.bottom() + 4, label, 16}, memory_text(m.hbm), ui.small(),
              Align::right);
    const Hit hit = ui.area("memory.stage", whole, 0);
    if (hit.hovered) ui.tooltip(stage_tooltip(m, s) + explained(scene, 0, hovered));
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
            ui.tooltip(stage_tooltip(m, m.stage[i]) + explained(scene, stage, category));
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
    const Rect room = scale.room, slots = scale.slots(first, count);
    const Rect column{slots.x + scale.gap / 2, room.y, std::max(1.0f, slots.w - scale.gap), room.h};
    std::size_t hovered = kCategoryCount;
    for (std::size_t i = first; i < first + count; ++i) {
        const Rect slot = scale.slots(i, 1);
        if (is_highlighted(scene, static_cast<int>(i)))
            c.rect({slot.x, room.y, slot.w, room.h}, ui.theme().raised);
    }
    const DrawnStage drawn = drawn_of(ui, s, state);
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
    }
    if (scale.totals.h > 0)
        draw_total(ui, {slots.x, scale.totals.y, slots.w, scale.totals.h}, m, s, count > 1);
    if (m.stage.size() > 1) label_run(ui, scale, run, slots, scene);
    reach_stages(ui, scale, run, hovered, scene);
}

}  // namespace

StageBars draw_stage_bars(Ui& ui, Rect room, float step, Scene& scene, const MemoryViewState& state) {
    const Memory& m = shown_memory(scene.evaluation);
    double top = m.hbm;
    for (const auto& s : m.stage)
        top = std::max(top, state.hidden == 0 ? s.most() : shown_total(s, state.hidden));
    StageScale scale{.labels = room.cut_bottom(20), .step = step};
    scale.totals = room.cut_top(room.h > kTotalsFrom ? 20.0f : 0.0f);
    room.cut_top(4);
    scale.room = room;
    scale.gap = step > 10 ? std::min(std::max(12.0f, step * 0.1f), step * 0.24f) : 0;
    scale.px_per_byte = room.h / (ui.glide("memory.top", top) * 1.02);
    scale.line_y = static_cast<float>(room.bottom() - m.hbm * scale.px_per_byte);
    for (const StageRun run : runs_of(m)) draw_run(ui, scale, run, scene, state);
    return {room, scale.labels, scale.line_y};
}

}  // namespace pentamesh::ui
