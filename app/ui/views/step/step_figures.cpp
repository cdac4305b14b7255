#include "app/ui/views/step/view.h"

#include "app/ui/kit/format.h"
#include "app/ui/scene/difference.h"
#include "app/ui/scene/view_head.h"
#include "core/base/quantity.h"
#include "core/plan/names.h"
#include "core/step/cost.h"
#include "core/step/step.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace pentamesh::ui {
namespace {

// Draws 0 to 100 % of the peak: MFU solid, the rest of HFU hatched.
void draw_gauge(Ui& ui, Rect bar, const Step& s) {
    Canvas& c = ui.canvas();
    const auto x = [&](double share) {
        return bar.x + static_cast<float>(std::clamp(share, 0.0, 1.0)) * bar.w;
    };
    c.rect(bar, ui.theme().raised);
    if (s.hfu > s.mfu)
        c.pattern({x(s.mfu), bar.y, x(s.hfu) - x(s.mfu), bar.h}, Pattern::hatched, ui.theme().secondary);
    c.rect({bar.x, bar.y, x(s.mfu) - bar.x, bar.h}, ui.theme().text);
    const Band r = band_of(s.mfu, s.error);
    const float y = bar.bottom() + 3;
    c.line({x(r.low), y}, {x(r.high), y}, ui.theme().secondary, 1.5f);
    for (const double edge : {r.low, r.high})
        c.line({x(edge), y - 3}, {x(edge), y + 3}, ui.theme().secondary, 1.5f);
    for (const double tick : {0.25, 0.5, 0.75})
        c.line({x(tick), bar.y}, {x(tick), bar.bottom()}, ui.theme().window);
}

std::string plain_text(double x) {
    return significant(x);
}

// Names a figure whose row has more than words.
enum class RowKind : std::uint8_t { plain, gauge, budget };

struct Figure {
    std::string name, value, range, about;
    double against = 0;  // the difference to the pinned plan
    std::string (*text)(double) = nullptr;
    bool less_is_better = false;
    std::string unit{};  // instead of the range
    RowKind kind = RowKind::plain;
};

// The plan's tokens are the budget until another one is typed.
void follow_plan(const Plan& plan, BudgetState& state) {
    const double tokens = plan.training.tokens_total;
    if (tokens == state.tokens_of_plan) return;
    const BudgetState usual;
    state.tokens_of_plan = tokens;
    state.tokens = tokens > 0 ? tokens : usual.tokens;
    state.text = tokens > 0 ? count_text(tokens) : usual.text;
}

// Adds the figures that the plan gives enough for: money, energy, and the time left after failures.
void add_cost(const Scene& scene, std::vector<Figure>& out) {
    const Cost cost = cost_of(scene.plan, scene.evaluation.step->tokens_per_s);
    const Cluster& c = scene.plan.cluster;
    const auto put = [&](std::string name, const std::optional<double>& value, std::string (*text)(double),
                         std::string unit, std::string about) {
        if (!value) return;
        Figure& f = out.emplace_back();
        f.name = std::move(name), f.value = text(*value), f.unit = std::move(unit),
        f.about = std::move(about);
    };
    put("cost", cost.money, count_text, c.currency.empty() ? "in the price's currency" : c.currency,
        "The tokens that the plan trains on, at the price of a GPU-hour that it gives; no failures.");
    put("energy", cost.kwh, count_text, "kWh", "Of the GPUs and, where the plan gives it, what PUE adds.");
    put("goodput", cost.goodput, percent, "of the time",
        "What checkpoints at the best interval and the work lost to failures leave (Daly 2006).");
    put("days with failures", cost.days_with_failures, plain_text, "days",
        "For the tokens that the plan trains on, with checkpoints and failures.");
}

std::vector<Figure> figures_of(const Scene& scene, double budget) {
    const Step& s = *scene.evaluation.step;
    const std::string peak(name_of(scene.plan.training.compute));
    const auto rate = [&](double x, std::string (*text)(double)) {
        const Band r = band_of(x, s.error);
        return text(r.low) + " – " + text(r.high);
    };
    std::vector<Figure> out{
        {"step", time_text(s.time_s), rate(s.time_s, time_text),
         "Time from one update of the weights to the next."},
        {"MFU", percent(s.mfu), rate(s.mfu, percent),
         "Model FLOPs utilisation: FLOPs that the model itself needs (forward, and twice that backward, "
         "causal attention not halved, nothing recomputed) over the dense "
             + peak + " peak. Without the half of attention that a causal mask leaves out: "
             + percent(mfu_causal(s)) + "."},
        {"HFU", percent(s.hfu), rate(s.hfu, percent),
         "Hardware FLOPs utilisation: MFU with the FLOPs that are recomputed."},
        {"tokens/s", count_text(s.tokens_per_s), rate(s.tokens_per_s, count_text), "Of the whole cluster."},
        {"TFLOP/s per GPU", significant(s.tflops_per_gpu), rate(s.tflops_per_gpu, plain_text),
         "Model FLOPs, as in MFU."},
        {"days for", significant(days_for(s, budget)), rate(days_for(s, budget), plain_text),
         "Days of steps like this one for the tokens at the left; no failures, no checkpoints."},
    };
    out[1].kind = RowKind::gauge;
    out[5].kind = RowKind::budget;
    if (scene.pinned != nullptr && scene.pinned->step) {
        const Step& a = *scene.pinned->step;
        const auto put = [&](std::size_t i, double by, std::string (*text)(double), bool less) {
            out[i].against = by, out[i].text = text, out[i].less_is_better = less;
        };
        put(0, difference(s.time_s, a.time_s), time_text, true);
        put(1, difference(s.mfu, a.mfu), points_text, false);
        put(2, difference(s.hfu, a.hfu), points_text, false);
        put(3, difference(s.tokens_per_s, a.tokens_per_s), count_text, false);
        put(4, difference(s.tflops_per_gpu, a.tflops_per_gpu), plain_text, false);
        put(5, difference(days_for(s, budget), days_for(a, budget)), plain_text, true);
    }
    if (shows_causal_mfu(s))
        out.insert(
            out.begin() + 2,
            Figure{"MFU (causal)", percent(mfu_causal(s)), rate(mfu_causal(s), percent),
                   "MFU without the attention that a causal mask leaves out, which no kernel computes."});
    return out;
}

// Draws the field for a number of tokens. Returns false, and says why, where no number is typed.
bool budget_field(Ui& ui, Rect box, Rect rest, BudgetState& state) {
    bool changed = false;
    ui.text_field("step.budget", box, state.text, "tokens", false, &changed);
    const Quantity typed = parse_quantity(state.text, Dimension::count);
    if (typed.value && *typed.value > 0) state.tokens = *typed.value;
    if ((typed.value && *typed.value > 0) || state.text.empty()) return true;
    const TextStyle bad = ui.small().in(ui.theme().bad);
    const std::string why = typed.value ? "must be above 0" : typed.refusal;
    if (ui.canvas().text_in(rest, why, bad) && ui.hovers(rest)) ui.tooltip(why);
    return false;
}

void draw_figure_row(Ui& ui, Rect row, const Figure& f, BudgetState& state) {
    Canvas& c = ui.canvas();
    const Rect name = row.cut_left(124);
    c.text_in(name, f.name, ui.small());
    const Rect box{name.x + 56, name.y, 64, std::min(row.h, 22.0f)};
    if (f.kind == RowKind::budget && !budget_field(ui, box, row, state)) return;
    c.text_in(row.cut_left(74), f.value, ui.style(13, Tone::text, Face::semibold));
    if (const std::string by = f.text ? difference_text(f.against, f.text) : ""; !by.empty()) {
        const TextStyle d =
            ui.style(12).in((f.against < 0) == f.less_is_better ? ui.theme().good : ui.theme().bad);
        const float w = c.text_width(by, d) + 10;
        if (w <= row.w) c.text_in(row.cut_left(w), by, d);
    }
    const std::string& beside = f.unit.empty() ? f.range : f.unit;
    if (row.w >= c.text_width(beside, ui.small())) c.text_in(row, beside, ui.small());
}

// Says what MFU counts, and what it counts too much of.
std::string rates_words(const Scene& scene) {
    const Step& s = *scene.evaluation.step;
    std::string words = "MFU: the model's own FLOPs (forward and twice that backward, attention not "
                        "halved, nothing recomputed) over the dense "
                        + std::string(name_of(scene.plan.training.compute))
                        + " peak. HFU adds what is recomputed. " + range_sentence(s);
    const double needed =
        s.ideal_s / s.time_s;  // a causal mask leaves half of the attention of long sequences
    if (percent(s.mfu) == percent(needed)) return words;
    return "Without the half of attention that the mask leaves out, which MFU counts, the work at the peak "
           "is "
           + percent(needed) + " of the step. " + words;
}

}  // namespace

void draw_figures(Ui& ui, Rect room, const Scene& scene, BudgetState& state) {
    const Step& s = *scene.evaluation.step;
    Canvas& c = ui.canvas();
    follow_plan(scene.plan, state);
    std::vector<Figure> figures = figures_of(scene, state.tokens);
    const std::size_t rates = figures.size();
    add_cost(scene, figures);
    constexpr float kLeastRow = 18;
    const auto most = static_cast<std::size_t>(std::max(room.h - 18, 0.0f) / kLeastRow);
    if (figures.size() > most) figures.resize(std::max(rates, most));
    const float row_h = std::clamp((room.h - 18) / static_cast<float>(figures.size()), 18.0f, 24.0f);
    for (std::size_t i = 0; i < figures.size(); ++i) {
        const Figure& f = figures[i];
        const Rect row = room.cut_top(row_h);
        const Hit hit = ui.area("step.figure", row, i, true, false);
        if (hit.hovered)
            ui.tooltip(f.name + "\n" + f.about
                       + (f.unit.empty() ? "\nRange " + f.range + ". " + range_sentence(s) : ""));
        draw_figure_row(ui, row, f, state);
        if (f.kind == RowKind::gauge) {
            draw_gauge(ui, {room.x, room.y + 2, std::min(room.w, kFiguresWidth - 16), 7}, s);
            room.cut_top(17);
        }
    }
    const std::string words = rates_words(scene);
    if (c.paragraph_height(room.w, words, ui.small(), 18) + 8 <= room.h) {
        room.cut_top(8);
        c.paragraph(room, words, ui.small(), 18);
    }
}

}  // namespace pentamesh::ui
