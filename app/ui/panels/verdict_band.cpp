#include "app/ui/panels/status_line.h"

#include "app/ui/kit/format.h"
#include "app/ui/panels/signs.h"
#include "app/ui/scene/difference.h"
#include "core/explain/verdict.h"
#include "core/step/step.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr float kHighBand = 76, kLowBand = 58;    // with and without the reason
constexpr float kLeastHeight = 560, kTall = 840;  // of the window: for a band, for the higher one
constexpr float kLeastWidth = 760;                // of the window
constexpr float kLeastFigure = 112, kMostFigure = 156;
constexpr float kSentence = 360;  // at least, before a figure is left out

struct Figure {
    std::string label{}, value{}, unit{}, context{};
    std::optional<Color> color{};  // the verdict's, where the figure is its cause
    std::string tip{};
    double by = 0;  // difference to A, drawn in the place of the context where it is not 0
    bool less_is_better = true;
    std::string by_text{};
    double amount = 0;  // what `value` says, and how it is written
    std::string (*text)(double) = nullptr;
};

// "7.34 s" -> {"7.34", "s"}
std::pair<std::string, std::string> split_unit(const std::string& text) {
    const std::size_t at = text.rfind(' ');
    return at == std::string::npos ? std::pair{text, std::string()}
                                   : std::pair{text.substr(0, at), text.substr(at + 1)};
}

std::string lower_first(std::string text) {
    if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] - 'A' + 'a');
    return text;
}

// `was` is the amount of A, `text` writes a difference.
void set_difference(Figure& f, double was, std::string (*text)(double)) {
    f.by = difference(f.amount, was);
    f.by_text = difference_text(f.by, text);
}

// The two axes that the step waits for most, in percent of it.
std::string exposed_axes(const Step& s) {
    std::vector<std::pair<double, GroupKind>> axes;
    for (const GroupKind kind : all_of<GroupKind>())
        if (s.exposed_comm_s[kind] >= 0.0005 * s.time_s) axes.emplace_back(s.exposed_comm_s[kind], kind);
    std::sort(axes.begin(), axes.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string out;
    for (std::size_t i = 0; i < std::min<std::size_t>(axes.size(), 2); ++i)
        out += (i == 0 ? "" : " · ") + axis_label(axes[i].second) + " "
               + significant(100 * axes[i].first / s.time_s, 2);
    return out;
}

std::vector<Figure> figures_of(const Theme& theme, const Scene& scene,
                               const std::optional<MeasuredMfu>& measured) {
    const Evaluation& e = scene.evaluation;
    const Evaluation* a = scene.pinned != nullptr && !scene.another_model ? scene.pinned : nullptr;
    std::vector<Figure> out;
    const Memory& m = e.memory;
    Figure memory{.label = "memory", .value = gib(m.peak()), .unit = "/ " + memory_text(m.hbm)};
    if (const auto fit = fit_of(m); fit != MemoryFit::yes) memory.color = color_of(theme, fit);
    memory.amount = m.peak(), memory.text = memory_text;
    const StageRun full = fullest_stages(m);
    memory.context = m.stage.size() == 1 ? "" : "fullest: " + lower_first(words_of(full, m));
    if (a != nullptr && !a->memory.stage.empty()) set_difference(memory, a->memory.peak(), memory_text);
    out.push_back(std::move(memory));
    if (!e.step) return out;
    const Step& s = *e.step;
    const Step* was = a != nullptr && a->step ? &*a->step : nullptr;
    Figure step{.label = "step"};
    std::tie(step.value, step.unit) = split_unit(time_text(s.time_s));
    const Band band = band_of(s.time_s, s.error);
    if (s.error > 0) step.context = split_unit(time_text(band.low)).first + " to " + time_text(band.high);
    step.tip = range_sentence(s);
    step.amount = s.time_s, step.text = time_text;
    if (was != nullptr) set_difference(step, was->time_s, time_text);
    out.push_back(std::move(step));
    Figure mfu{.label = "MFU", .value = split_unit(percent(s.mfu)).first, .unit = "%"};
    mfu.amount = s.mfu, mfu.text = percent, mfu.less_is_better = false;
    mfu.context = shows_causal_mfu(s) ? "causal: " + percent(mfu_causal(s)) : "HFU " + percent(s.hfu);
    if (measured) {
        mfu.context = "published run: " + percent(measured->mfu);
        mfu.tip = "Measured by a published run of this plan: " + measured->source;
    }
    if (was != nullptr) set_difference(mfu, was->mfu, points_text);
    out.push_back(std::move(mfu));
    Figure tokens{.label = "tokens/s", .value = count_text(s.tokens_per_s)};
    tokens.amount = s.tokens_per_s, tokens.text = count_text, tokens.less_is_better = false;
    tokens.context = count_text(s.tokens_per_step) + " a step";
    if (was != nullptr) set_difference(tokens, was->tokens_per_s, count_text);
    out.push_back(std::move(tokens));
    const double share = s.time_s > 0 ? exposed_of(s) / s.time_s : 0;
    Figure comm{.label = "exposed comm.", .value = split_unit(percent(share)).first, .unit = "%"};
    comm.context = exposed_axes(s);
    comm.amount = share, comm.text = percent;
    comm.tip = "Share of the step in which the GPUs wait for communication, and its largest axes in percent";
    out.push_back(std::move(comm));
    return out;
}

// Returns "↓ from 9.93 s", for as long as the last edit's outlines stay; empty where it is written the same.
std::string words_of_change(Ui& ui, const Figure& f) {
    if (f.text == nullptr) return {};
    const std::string name = "verdict." + f.label;
    (void)ui.glide(name, f.amount);
    const auto was = ui.before(name);
    if (!was || f.text(*was) == f.text(f.amount)) return {};
    return (*was > f.amount ? "↓ from " : "↑ from ") + f.text(*was);
}

void draw_figure(Ui& ui, Rect cell, const Figure& f) {
    Canvas& c = ui.canvas();
    const bool high = cell.h >= kHighBand;
    const float words_h = high ? 16 : 14, value_h = high ? 26 : 22;
    const float top = cell.y + (cell.h - 2 * words_h - value_h) / 2;
    c.line({cell.x, cell.y + 10}, {cell.x, cell.bottom() - 10}, ui.theme().hairline);
    cell.x += 12, cell.w -= 16;
    c.text_in({cell.x, top, cell.w, words_h}, f.label, ui.style(11, Tone::secondary));
    TextStyle value = ui.style(high ? 20 : 16, Tone::text, Face::semibold);
    if (f.color) value.color = *f.color;
    Rect line{cell.x, top + words_h, cell.w, value_h};
    c.text_in(line.cut_left(c.text_width(f.value, value) + 5), f.value, value);
    c.text_in({line.x, line.y + (high ? 3.0f : 1.0f), line.w, value_h}, f.unit,
              ui.style(12, Tone::secondary));
    TextStyle context = ui.style(11, Tone::secondary);
    std::string text = f.context;
    if (!f.by_text.empty()) {
        context.color = color_of_difference(ui.theme(), f.by, f.less_is_better);
        text = f.by_text + " to A";
    }
    if (const std::string was = words_of_change(ui, f); !was.empty()) {
        text = was;
        context.color = ui.theme().text;
    }
    const bool cut = c.text_in({cell.x, top + words_h + value_h, cell.w, words_h}, text, context);
    if (!ui.hovers(cell)) return;
    const std::string tip = cut && !f.tip.empty() ? text + "\n" + f.tip : cut ? text : f.tip;
    if (!tip.empty()) ui.tooltip(tip);
}

}  // namespace

float verdict_band_height(Vec2 window) {
    if (window.y < kLeastHeight || window.x < kLeastWidth) return 0;
    return window.y < kTall ? kLowBand : kHighBand;
}

void draw_verdict_band(Ui& ui, Rect room, const Scene& scene, bool covered,
                       const std::optional<MeasuredMfu>& measured) {
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    c.rect(room, theme.panel);
    c.line({room.x, room.bottom() - 1}, {room.right(), room.bottom() - 1}, theme.hairline);
    const bool high = room.h >= kHighBand;
    Rect row = room;
    row.cut_left(20);
    const PlanVerdict verdict = covered ? PlanVerdict{.sentence = "The lesson asks for this plan's figures."}
                                        : verdict_of(scene.evaluation);
    if (!covered && verdict.fit) {
        std::vector<Figure> figures = figures_of(theme, scene, measured);
        while (figures.size() > 1 && row.w - static_cast<float>(figures.size()) * kLeastFigure < kSentence)
            figures.pop_back();
        const auto n = static_cast<float>(figures.size());
        const float wide = std::clamp((row.w - kSentence) / n, kLeastFigure, kMostFigure);
        Rect right = row.cut_right(n * wide);
        for (const Figure& f : figures) draw_figure(ui, right.cut_left(wide), f);
        row.cut_right(16);
    } else {
        row.cut_right(20);
    }
    const TextStyle bold = ui.style(high ? 16 : 14, Tone::text, Face::semibold);
    const Rect text{row.x + 24, row.y, row.w - 24, row.h};
    // The sentence takes two lines where it must; the reason stands below if there is room for it.
    const float line_h = high ? 22.0f : 19.0f;
    const float sentence_h = std::min(2 * line_h, c.paragraph_height(text.w, verdict.sentence, bold, line_h));
    const bool reasons = !verdict.reason.empty() && sentence_h + 22 <= room.h - 8;
    const float top = room.y + (room.h - sentence_h - (reasons ? 20.0f : 0.0f)) / 2;
    const Vec2 sign{row.x + 7, top + line_h / 2};
    if (covered)
        draw_sign(c, sign, Sign::disc, theme.faint, 6);
    else
        draw_fit(c, theme, sign, verdict.sign(), 6);
    const Canvas::Clip clip = c.clip(room);
    c.paragraph({text.x, top, text.w, sentence_h}, verdict.sentence, bold, line_h);
    if (reasons
        && c.text_in({text.x, top + sentence_h + 1, text.w, 18}, verdict.reason,
                     ui.style(12, Tone::secondary))
        && ui.hovers(row))
        ui.tooltip(verdict.reason);
    if (!reasons && !verdict.reason.empty() && ui.hovers(row)) ui.tooltip(verdict.reason);
}

}  // namespace pentamesh::ui
