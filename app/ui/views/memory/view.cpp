// The view Memory draws bars by pipeline stage against the HBM line.
#include "app/ui/views/memory/view.h"
#include "app/tables/memory.h"
#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "app/ui/scene/difference.h"
#include "app/ui/scene/view_head.h"

#include <algorithm>
#include <cmath>

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
        return std::string(kFitsIfSmall) + ": from " + memory_text(s.least()) + " on";
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

std::vector<SavingStep> savings_of(const Scene& scene) {
    std::vector<double> in_flight;
    for (const StageMemory& s : scene.evaluation.memory.stage) in_flight.push_back(s.in_flight);
    return savings(scene.plan, in_flight);
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
                              + memory_text(steps.back().fullest.total()) + " (logarithmic)";
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
        float y = room.bottom();
        const double total = s.fullest.total();
        for (int k = 0; k < kMemoryCategoryCount; ++k) {  // shares of the bar's height
            const auto share = static_cast<float>(
                total > 0 ? bytes_of(s.fullest, static_cast<MemoryCategory>(k)) / total : 0);
            const float h = share * (room.bottom() - top);
            y -= h;
            fill_memory(c, ui.theme(), {x, y, bar, h}, static_cast<MemoryCategory>(k));
        }
        c.text_in({x - 4, top - 17, step, 16}, memory_text(total), ui.small(Tone::text));
        c.text_in({x, labels.y, step - 6, labels.h}, label_of(s), ui.small());
        const Rect column{x, room.y - 18, step, room.h + 38};
        if (ui.hovers(column))
            ui.tooltip(label_of(s) + "\n" + std::string(reason_of(s))
                       + (i > 0 ? "\nsaves " + memory_text(s.saved) + " a GPU" : ""));
    }
    const float line = y_of(m.hbm);
    c.line({room.x, line}, {room.x + step * static_cast<float>(steps.size()), line}, ui.theme().bad, 1,
           Dash::dashed);
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
    std::string figure = memory_text(peak.total()) + " of " + capacity_text(m.hbm);
    const std::string over = m.fits() ? "" : overflow_text(m, peak);
    TextStyle bold = ui.title();
    if (!m.fits()) bold.color = m.may_fit() ? ui.theme().amber : ui.theme().bad;
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

void draw_stages(Ui& ui, Rect head_row, Rect room, Scene& scene, MemoryViewState& state) {
    const Memory& m = scene.evaluation.memory;
    Canvas& c = ui.canvas();
    const auto& peak = m.stage[static_cast<std::size_t>(m.peak_stage)];
    draw_head(ui, head_row, room, scene, peak, state);
    if (m.stage.size() == 1 && room.h < 8 * kRow) return draw_single_bar(ui, room, scene, state);
    Rect axis = room.cut_left(60);
    const auto n = m.stage.size();
    const float step = bar_step(room, n);
    const StageBars bars = draw_stage_bars(ui, room, step, scene, state);
    const float line_y = bars.line_y;
    const Rect labels = bars.labels;
    room = bars.plot;
    const int lit_stage = chosen_stage(scene) >= 0 ? chosen_stage(scene) : scene.hover.stage;
    const bool chosen = lit_stage >= 0 && lit_stage < static_cast<int>(n);
    Rect beside = room;
    beside.cut_left(std::max(step * static_cast<float>(n), 200.0f) + 32);
    const StageMemory& told = chosen ? m.stage[lit_stage] : peak;
    draw_figures(ui, beside, m, told, pinned_stage(scene, told));
    c.line({room.x - 6, line_y}, {room.x + std::max(step * static_cast<float>(n), 200.0f), line_y},
           ui.theme().bad, 1, Dash::dashed);
    c.text_in({axis.x, line_y - 9, axis.w - 8, 18}, memory_text(m.hbm), ui.small(), Align::left);
    if (line_y + 25 < room.bottom())
        c.text_in({axis.x, line_y + 7, axis.w - 8, 18}, bytes_text(m.hbm), ui.small(), Align::left);
    c.text_in({axis.x, labels.y, axis.w - 8, labels.h}, n > 1 ? "stage" : "GPU", ui.small());
}

}  // namespace

std::optional<PlanEdit> draw_memory(Ui& ui, Rect head_row, Rect room, Scene& scene, MemoryViewState& state,
                                    std::uint64_t revision) {
    if (scene.evaluation.valid || state.page == MemoryPage::sheds) {
        static constexpr std::array<std::string_view, kMemoryPages.size()> kLabels{"stages", "saved", "ZeRO"};
        const int page = static_cast<int>(state.page);
        const Rect place = head_place(head_row, room, segments_width(ui, kLabels, 172, page));
        choose(ui, "memory.mode", place, kLabels, state.page);
    }
    if (state.page == MemoryPage::sheds) return draw_sheds(ui, head_row, room, scene, state, revision);
    if (!scene.evaluation.valid)
        draw_states(ui, head_row, room, scene, state);
    else if (state.page == MemoryPage::saved)
        draw_savings(ui, head_row, room, scene,
                     state.savings.get(revision, [&] { return savings_of(scene); }));
    else
        draw_stages(ui, head_row, room, scene, state);
    return std::nullopt;
}

Table memory_data(const Scene& scene, int part) {
    switch (static_cast<MemoryPage>(part)) {
    case MemoryPage::saved: return savings_table(savings_of(scene));
    case MemoryPage::sheds: return zero_table(zero_rungs(scene.plan, scene.evaluation));
    case MemoryPage::stages: break;
    }
    return memory_table(scene.evaluation.memory);
}

}  // namespace pentamesh::ui
