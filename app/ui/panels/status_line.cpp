#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/panels/inspector.h"
#include "app/ui/scene/colors.h"
#include "core/base/text.h"
#include "core/explain/verdict.h"
#include "core/mesh/mesh.h"
#include "core/plan/names.h"
#include "core/plan/problem.h"
#include "core/plan/stand_in.h"
#include "core/step/constants.h"
#include "core/step/step.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace pentamesh::ui {

void draw_sign(Canvas& canvas, Vec2 center, Sign sign, Color color, float radius) {
    const float r = radius;
    switch (sign) {
    case Sign::disc: canvas.circle(center, r, color); break;
    case Sign::square: canvas.rect({center.x - r, center.y - r, 2 * r, 2 * r}, color, 2); break;
    case Sign::triangle: {
        const std::array<Vec2, 3> corners{center + Vec2{0, -1.15f * r}, center + Vec2{1.2f * r, r},
                                          center + Vec2{-1.2f * r, r}};
        canvas.polygon(corners, color);
        break;
    }
    }
}

Color color_of(const Theme& theme, std::optional<MemoryFit> fit) {
    return fit == MemoryFit::yes ? theme.good : fit && may_not_fit(*fit) ? theme.amber : theme.bad;
}

void draw_fit(Canvas& canvas, const Theme& theme, Vec2 center, std::optional<MemoryFit> fit, float radius) {
    const Sign sign = fit == MemoryFit::yes      ? Sign::disc
                      : fit && may_not_fit(*fit) ? Sign::triangle
                                                 : Sign::square;
    draw_sign(canvas, center, sign, color_of(theme, fit), radius);
}

void draw_severity(Ui& ui, Vec2 at, Severity severity) {
    const Vec2 center = at + Vec2{5, 9};
    switch (severity) {
    case Severity::error: return draw_sign(ui.canvas(), center, Sign::square, ui.theme().bad, 5);
    case Severity::warning: return draw_sign(ui.canvas(), center, Sign::triangle, ui.theme().amber, 5);
    case Severity::info: return draw_sign(ui.canvas(), center, Sign::disc, ui.theme().secondary, 3.5f);
    }
}

namespace {

struct Hint {
    Rect control;
    std::string words;
    bool done = false;
};

// Returns nullopt where its control is not drawn, or it would not be true of the plan.
std::optional<Hint> hint_of(Ui& ui, const Scene& scene, int seen) {
    const UiState& state = ui.state();
    const Layout& layout = scene.plan.layout;
    const auto at = [&](std::string_view name, std::uint64_t index) { return state.rect_of(name, index); };
    if (seen == 0) {
        const auto plus = at("layout.tp.plus", 0);
        if (!plus) return std::nullopt;
        return Hint{*plus, "Press + here: tp cuts every layer into more parts.",
                    scene.change != nullptr && scene.change->touched == Axis::tp};
    }
    if (seen == 1) {
        // With ZeRO it says what is lost without; under a pipeline ZeRO-2 is not a choice to begin with.
        const bool shares = layout.zero > 0;
        const auto control = at("mod.zero", shares ? 0 : 2);
        const std::int64_t copies = layout.dp_shard;
        if (scene.change != nullptr && scene.change->what.starts_with("ZeRO")) return Hint{{}, "", true};
        if (!control || copies <= 1 || scene.change != nullptr || (!shares && layout.pp > 1))
            return std::nullopt;  // after the card of the edit
        return Hint{*control, shares
                                  ? "Press 0: each of " + thousands(copies)
                                        + " GPUs then keeps a copy of what they share out now."
                                  : "Press 2: " + thousands(copies)
                                        + " GPUs then share out gradients and optimizer, in place of a copy "
                                          "each."};
    }
    const auto name = at("layout.tp.toggle", 0);
    if (!name || scene.change != nullptr) return std::nullopt;
    return Hint{*name, "Hold Space: the plan before. F1 on any name says what it is.",
                pressed({Key::space}) || pressed({Key::f1})};
}

}  // namespace

int draw_first_hint(Ui& ui, const Scene& scene, int seen) {
    const auto hint = hint_of(ui, scene, seen);
    if (!hint) return seen;
    if (hint->done) return seen + 1;
    const auto badge = ui.state().rect_of("layout.tp.badge");
    const float x =
        std::max(hint->control.right(), badge ? badge->right() : 0);  // right of the panel's columns
    constexpr float kWide = 250, kPad = 10, kGap = 12, kLine = 18;
    Canvas front = frame_canvas(ui.frame(), ui.canvas().page(), true);
    const TextStyle words = ui.style(13);
    const float h = front.paragraph_height(kWide - 2 * kPad, hint->words, words, kLine) + 2 * kPad;
    const Rect box{x + kGap, hint->control.center().y - h / 2, kWide, h};
    const std::array<Vec2, 3> tip{Vec2{box.x - 7, hint->control.center().y},
                                  Vec2{box.x + 1, hint->control.center().y - 6},
                                  Vec2{box.x + 1, hint->control.center().y + 6}};
    front.polygon(tip, ui.theme().text);
    front.rect(box, ui.theme().raised, 6);
    front.frame(box, ui.theme().text, 1.5f, 6);
    front.paragraph(box.inset(kPad, kPad), hint->words, words, kLine);
    return seen;
}

namespace {

constexpr float kCardWidth = 304, kCardRow = 20, kCardPad = 12;

struct CardRow {
    std::string name, by, from_to;
    Color color;
};

std::string factor_words(const PlanChange& change, Axis axis) {
    return std::string(name_of(axis)) + " " + thousands(change.before.factor[axis]) + " → "
           + thousands(change.now.factor[axis]);
}

CardRow line_of(const Ui& ui, std::string name, double was, double now, std::string (*text)(double)) {
    const std::string by = difference_text(difference(now, was), text);
    return {std::move(name), by.empty() ? "the same" : by,
            text(was) == text(now) ? text(now) : text(was) + " → " + text(now),
            by.empty() ? ui.theme().secondary : color_of_difference(ui.theme(), now - was, true)};
}

std::vector<CardRow> lines_of(const Ui& ui, const PlanChange& change) {
    const ChangeFigures &a = change.before, &b = change.now;
    std::vector<CardRow> out{line_of(ui, "memory", a.memory, b.memory, memory_text),
                             line_of(ui, "step", a.step_s, b.step_s, time_text)};
    if (a.wires.size() == b.wires.size())
        for (std::size_t i = 0; i < b.wires.size(); ++i)
            if (a.wires[i].second > 0 || b.wires[i].second > 0)
                out.push_back(
                    line_of(ui, b.wires[i].first, a.wires[i].second, b.wires[i].second, traffic_text));
    return out;
}

// Returns what must be said in amber: the layout's name, and a modifier that does nothing now.
std::vector<std::string> remarks_of(const PlanChange& change) {
    std::vector<std::string> out;
    if (change.before.layout != change.now.layout && !change.now.layout.empty())
        out.push_back("now " + change.now.layout
                      + (change.before.layout.empty() ? "" : ", was " + change.before.layout));
    if (change.before.shares_for_nothing.empty() && !change.now.shares_for_nothing.empty())
        out.push_back(change.now.shares_for_nothing);
    return out;
}

}  // namespace

void draw_change_card(Ui& ui, const PlanChange& change) {
    const std::string row = change.touched ? "layout." + std::string(name_of(*change.touched)) : "layout.tp";
    const auto badge = ui.rect_of(row + ".badge");
    if (!badge || change.what.empty() || !ui.state().motion.has_outlines()) return;
    Canvas c = frame_canvas(ui.frame(), ui.canvas().page(), true);
    const std::vector<CardRow> lines = lines_of(ui, change);
    const std::vector<std::string> remarks = remarks_of(change);
    TextStyle amber = ui.small();
    amber.color = ui.theme().amber;
    const float w = kCardWidth - 2 * kCardPad;
    float h = 2 * kCardPad + 24 + kCardRow * static_cast<float>(lines.size());
    for (const std::string& remark : remarks) h += c.paragraph_height(w, remark, amber, 17) + 4;
    const Vec2 press = ui.state().press;
    if (!change.touched && (press.x < 0 || press.x > badge->right() + 8)) return;  // it was made elsewhere
    const float at = change.touched ? badge->center().y : press.y;
    const float x = badge->right() + 22, y = at - 24;
    if (x + kCardWidth > ui.frame().size.x) return;
    const Rect box{x, held_between(y, 4.0f, ui.frame().size.y - h - 4), kCardWidth, h};
    const Color color =
        change.touched ? color_of(ui.theme(), group_of(*change.touched)) : ui.theme().secondary;
    if (change.touched) {
        const std::array<Vec2, 3> tip{Vec2{x - 6, at}, Vec2{x + 1, at - 6}, Vec2{x + 1, at + 6}};
        c.polygon(tip, color);
    }
    c.rect(box, ui.theme().panel, 6);
    c.frame(box, color, 1.5f, 6);
    Rect room = box.inset(kCardPad, kCardPad);
    Rect head = room.cut_top(24);
    const std::string title = change.touched ? factor_words(change, *change.touched) : change.what;
    const TextStyle bold = ui.style(14, Tone::text, Face::semibold);
    c.text_in(head.cut_left(std::min(w, c.text_width(title, bold) + 8)), title, bold);
    if (const auto paid = change.paid())
        c.text_in(head, factor_words(change, *paid), ui.small(), Align::right);
    for (const CardRow& line : lines) {
        Rect cells = room.cut_top(kCardRow);
        c.text_in(cells.cut_left(70), line.name, ui.small());
        TextStyle by = ui.style(12, Tone::text, Face::semibold);
        by.color = line.color;
        c.text_in(cells.cut_left(74), line.by, by, Align::right);
        cells.cut_left(8);
        c.text_in(cells, line.from_to, ui.style(11, Tone::secondary), Align::right);
    }
    for (const std::string& remark : remarks) {
        room.cut_top(4);
        room.cut_top(c.paragraph(room, remark, amber, 17));
    }
    if (box.contains(ui.frame().mouse)) ui.state().motion.hold();
}

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

}  // namespace

std::string nearest_run_words(const Plan& plan, const Step& s) {
    if (s.calibrated > 0) return {};
    const RunTraits own = traits_of(plan);
    const MeasuredError* nearest = nullptr;
    double least = 0;
    for (const MeasuredError& run : measured_errors())
        if (const double d = distance(run.run, own); nearest == nullptr || d < least)
            nearest = &run, least = d;
    if (nearest == nullptr) return {};
    constexpr double kSame = 0.01;
    if (least < kSame) return nearest->id + ", which is like this plan";
    return nearest->id + ", at a distance of " + three_digits(least)
           + (least < kFarRun ? "" : ", which is far");
}

namespace {

// Returns "21.2 M (19.3 M to 23.4 M)".
std::string with_range(double value, double error, std::string (*text)(double)) {
    const Band r = band_of(value, error);
    return text(value) + (error > 0 ? " (" + text(r.low) + " to " + text(r.high) + ")" : "");
}

}  // namespace

std::vector<TrainingRow> training_rows(const Plan& plan, const Step& s) {
    const Cost cost = pentamesh::cost_of(plan, s.tokens_per_s);
    std::vector<TrainingRow> out;
    if (!cost.days) return out;
    const auto large = [](double v) { return count_text(v); };
    const auto add = [&](const char* name, double value, std::string (*text)(double),
                         const std::string& unit) {
        out.push_back({name, with_range(value, s.error, text), unit});
    };
    add(
        "time", *cost.days, [](double v) { return three_digits(v); }, "days");
    add("GPU time", *cost.gpu_hours, large, "GPU-hours");
    const std::string& currency = plan.cluster.currency;
    if (cost.money) add("cost", *cost.money, large, currency.empty() ? "of money" : currency);
    if (cost.kwh) add("energy", *cost.kwh, large, "kWh");
    return out;
}

namespace {

// Returns what the whole training takes, where the plan gives its tokens, with the range of the step.
std::optional<Figure> training_figure(const Plan& plan, const Step& s) {
    const Cost cost = pentamesh::cost_of(plan, s.tokens_per_s);
    if (!cost.days) return std::nullopt;
    const auto trimmed_days = [](double v) { return three_digits(v); };
    Figure out{.label = "training", .value = three_digits(*cost.days), .unit = "days"};
    out.amount = *cost.days, out.text = trimmed_days;
    const Band band = band_of(*cost.days, s.error);
    out.context = s.error > 0 ? three_digits(band.low) + " to " + three_digits(band.high)
                              : count_text(*cost.gpu_hours) + " GPU-hours";
    out.tip =
        count_text(plan.training.tokens_total) + " tokens, without a failure: "
        + join(training_rows(plan, s), ", ", [](const TrainingRow& r) { return r.value + " " + r.unit; })
        + ".\nThe ranges are those of the step. " + range_sentence(s);
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
    if (const std::string run = nearest_run_words(scene.plan, s); !run.empty())
        step.tip += "\nThe nearest measured run: " + run + ".";
    step.amount = s.time_s, step.text = time_text;
    if (was != nullptr) set_difference(step, was->time_s, time_text);
    // With a stage that was slowed by hand the band says what the timeline does, and that it is not the
    // plan's.
    const double longer = scene.injected && s.time_s > 0 ? scene.injected->step_s / s.time_s : 1;
    const auto inject = [&](Figure& f, double amount, const std::string& words) {
        if (!scene.injected) return;
        std::tie(f.value, f.unit) = split_unit(words);
        f.context = "injected; else " + f.text(f.amount);
        f.tip = "Of the plan with " + scene.injected->words
                + ", injected in the timeline. Without it: " + f.text(f.amount);
        f.amount = amount, f.by = 0, f.color = theme.bad;
    };
    inject(step, s.time_s * longer, time_text(s.time_s * longer));
    out.push_back(std::move(step));
    Figure mfu{.label = "MFU", .value = split_unit(percent(s.mfu)).first, .unit = "%"};
    mfu.amount = s.mfu, mfu.text = percent, mfu.less_is_better = false;
    mfu.context = shows_causal_mfu(s) ? "causal: " + percent(mfu_causal(s)) : "HFU " + percent(s.hfu);
    if (measured) {
        mfu.context = "published run: " + percent(measured->mfu);
        mfu.tip = "Measured by a published run of this plan: " + measured->source;
    }
    if (was != nullptr) set_difference(mfu, was->mfu, points_text);
    inject(mfu, s.mfu / longer, percent(s.mfu / longer));
    out.push_back(std::move(mfu));
    if (std::optional<Figure> training = training_figure(scene.plan, s)) {
        if (was != nullptr)
            if (const Cost of_a = pentamesh::cost_of(scene.plan, was->tokens_per_s);
                of_a.days && a->mesh.world == e.mesh.world)
                set_difference(*training, *of_a.days, training->text);
        inject(*training, training->amount * longer, training->text(training->amount * longer));
        if (scene.injected) training->unit = "days";
        out.push_back(std::move(*training));
    }
    Figure tokens{.label = "tokens/s", .value = count_text(s.tokens_per_s)};
    tokens.amount = s.tokens_per_s, tokens.text = count_text, tokens.less_is_better = false;
    tokens.context = count_text(s.tokens_per_step) + " a step";
    if (was != nullptr) set_difference(tokens, was->tokens_per_s, count_text);
    inject(tokens, s.tokens_per_s / longer, count_text(s.tokens_per_s / longer));
    out.push_back(std::move(tokens));
    const double share = s.time_s > 0 ? exposed_of(s) / s.time_s : 0;
    Figure comm{.label = "exposed comm.", .value = split_unit(percent(share)).first, .unit = "%"};
    comm.context = exposed_axes(s);
    comm.amount = share, comm.text = percent;
    comm.tip = "Share of the step in which the GPUs wait for communication, and its largest axes in percent";
    if (scene.injected) {  // a stage waits for another one's work then, not only for a wire
        comm.value = "?", comm.unit.clear(), comm.text = nullptr, comm.color = theme.bad;
        comm.context = "injected; else " + percent(share);
        comm.tip =
            "With " + scene.injected->words
            + ", injected in the timeline, GPUs wait for a slow one: their waits for wires are not worked "
              "out. Without it: "
            + percent(share);
    }
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
    // Whole entries of a list are written, as many as have room.
    const std::string all = text;
    for (std::size_t at = 0; c.text_width(text, context) > cell.w;) {
        if ((at = text.rfind(" · ")) == std::string::npos) break;
        text.resize(at);
    }
    const bool cut = c.text_in({cell.x, top + words_h + value_h, cell.w, words_h}, text, context);
    if (!ui.hovers(cell)) return;
    const bool partly = cut || text.size() < all.size();
    const std::string tip = partly && !f.tip.empty() ? all + "\n" + f.tip : partly ? all : f.tip;
    if (!tip.empty()) ui.tooltip(tip);
}

}  // namespace

namespace {

// Says what the run says: of a plan that is not known there is no verdict.
PlanVerdict verdict_of_run(const Scene& scene) {
    std::string words = scene.run != nullptr ? scene.run->words() : "The run's plan is not known";
    if (!words.empty() && words.front() >= 'a' && words.front() <= 'z')
        words.front() = static_cast<char>(words.front() - 'a' + 'A');
    if (!words.empty() && words.back() != '.') words += '.';
    return {.sentence = std::move(words), .reason = "Model and cluster are not known: give the run's plan."};
}

}  // namespace

float verdict_band_height(Vec2 window, bool small) {
    if (small) return kLowBand;
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
    const bool of_run = !covered && is_stand_in(scene.plan);
    PlanVerdict verdict = covered  ? PlanVerdict{.sentence = "The lesson asks for this plan's figures."}
                          : of_run ? verdict_of_run(scene)
                                   : verdict_of(scene.evaluation);
    if (scene.injected && !covered && !of_run)
        verdict.sentence = "Without " + scene.injected->words + ": " + lower_first(verdict.sentence);
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
    if (covered || of_run)
        draw_sign(c, sign, Sign::disc, theme.faint, 6);
    else
        draw_fit(c, theme, sign, verdict.fit, 6);
    const Canvas::Clip clip = c.clip(room);
    c.paragraph({text.x, top, text.w, sentence_h}, verdict.sentence, bold, line_h);
    if (reasons
        && c.text_in({text.x, top + sentence_h + 1, text.w, 18}, verdict.reason,
                     ui.style(12, Tone::secondary))
        && ui.hovers(row))
        ui.tooltip(verdict.reason);
    if (!reasons && !verdict.reason.empty() && ui.hovers(row)) ui.tooltip(verdict.reason);
}

namespace {

constexpr float kConstantRow = 26, kColumn = 330;

double stepped(const Constant& c, int by) {
    if (c.unit == Constant::Unit::ratio) return std::round(c.value) + by;
    constexpr double kFactor = 1.05, kFromNothing = 1e-6;
    if (c.value <= 0) return by > 0 ? kFromNothing : 0;
    return by > 0 ? c.value * kFactor : c.value / kFactor;
}

PlanEdit edit_of(const Scene& scene, const Constant& c, double value) {
    return {with_constant(scene.plan, scene.presets, c.id, value),
            c.name + " " + constant_text(c.unit, std::clamp(value, c.least, c.most)), ""};
}

std::string about(const Constant& c) {
    std::string s = c.name + "\n" + std::string(c.meaning);
    s += "\nShipped: " + constant_text(c.unit, c.shipped) + (c.changed() ? ", changed here" : "");
    return s + "\nSource: " + (c.source.empty() ? "the plan itself" : c.source);
}

Dimension dimension_of(Constant::Unit unit) {
    switch (unit) {
    case Constant::Unit::share: return Dimension::share;
    case Constant::Unit::seconds: return Dimension::seconds;
    case Constant::Unit::bytes: return Dimension::bytes;
    case Constant::Unit::bytes_per_s: return Dimension::bytes_per_s;
    case Constant::Unit::flops_per_s: return Dimension::flops_per_s;
    case Constant::Unit::ratio: return Dimension::ratio;
    case Constant::Unit::flag: return Dimension::count;
    }
    return Dimension::count;
}

std::optional<PlanEdit> value_box(Ui& ui, Rect box, const Scene& scene, const Constant& c,
                                  ConstantsState& state) {
    const std::string name = "constants." + c.id;
    if (c.unit == Constant::Unit::flag) {
        static constexpr std::string_view kSwitch[] = {"off", "on"};
        const int on = ui.segments(name, box, kSwitch, c.value != 0 ? 1 : 0);
        if ((c.value != 0) != (on == 1)) return edit_of(scene, c, on);
        return std::nullopt;
    }
    const std::string shown = constant_text(c.unit, c.value);
    const auto refuse = [&](double value) {
        return value >= c.least && value <= c.most
                   ? ""
                   : "is " + constant_text(c.unit, value) + ": must be from " + constant_text(c.unit, c.least)
                         + " to " + constant_text(c.unit, c.most) + ".";
    };
    const NumberEdit edit = number_box(ui, box,
                                       {.name = name,
                                        .key = c.id,
                                        .field = "edit." + name,
                                        .shown = shown,
                                        .typed = shown,
                                        .can_down = c.value > c.least,
                                        .can_up = c.value < c.most,
                                        .dimension = dimension_of(c.unit),
                                        .unit = std::string(unit_of(shown)),
                                        .refuse = refuse},
                                       state.numbers);
    if (edit.typed) return edit_of(scene, c, *edit.typed);
    return edit.by == 0 ? std::nullopt : std::optional(edit_of(scene, c, stepped(c, edit.by)));
}

std::optional<PlanEdit> draw_row(Ui& ui, Rect row, const Scene& scene, const Constant& c, std::size_t index,
                                 ConstantsState& state) {
    Canvas& canvas = ui.canvas();
    const Rect box = Rect(row).cut_right(128).inset(0, 2);
    row.cut_right(136);
    std::optional<PlanEdit> edit;
    if (c.changed()) {  // the shipped value, and the way back to it
        const std::string back = "back to " + constant_text(c.unit, c.shipped);
        const float w = canvas.text_width(back, ui.small()) + 2;
        if (w + 90 < row.w) {
            const Rect at = row.cut_right(w);
            if (ui.link("constants.reset", {at.x, at.center().y - 9}, back, index))
                edit = edit_of(scene, c, c.shipped);
            row.cut_right(8);
        }
    }
    TextStyle s = ui.style(12, c.changed() ? Tone::text : Tone::secondary,
                           c.changed() ? Face::semibold : Face::regular);
    canvas.text_in(row, c.changed() ? c.name + " *" : c.name, s);
    const Hit hit = ui.area("constants.name", row, index, true, false);
    if (hit.hovered) ui.tooltip(about(c));
    if (auto e = value_box(ui, box, scene, c, state)) edit = std::move(e);
    return edit;
}

struct Line {
    enum class Kind : std::uint8_t { constant, head, message, gap };
    Kind kind = Kind::constant;
    std::size_t constant = 0;  // the constant; of a head the one after it, of a message the one before it
};

// Places sections' heads and their constants in `columns` columns of `each` lines. A head never ends a
// column: it stands over its own constants, as a constant over the message about it.
std::vector<Line> lay_lines(const ConstantsState& state, std::size_t columns, std::size_t& each) {
    const auto& list = *state.list;
    std::vector<Line> lines;
    const auto lay = [&] {
        lines.clear();
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (i == 0 || list[i].section != list[i - 1].section) {
                if (lines.size() % each == each - 1) lines.push_back({Line::Kind::gap, i});
                lines.push_back({Line::Kind::head, i});
            }
            if (state.numbers.refused == list[i].id && lines.size() % each == each - 1)
                lines.push_back({Line::Kind::gap, i});
            lines.push_back({Line::Kind::constant, i});
            if (state.numbers.refused == list[i].id) lines.push_back({Line::Kind::message, i});
        }
    };
    each = std::max<std::size_t>(2, list.size() / columns);
    for (lay(); lines.size() > each * columns; lay()) ++each;
    return lines;
}

}  // namespace

std::string constant_text(Constant::Unit unit, double value) {
    switch (unit) {
    case Constant::Unit::share: return percent(value);
    case Constant::Unit::seconds: return time_text(value);
    case Constant::Unit::bytes: return memory_text(value);
    case Constant::Unit::bytes_per_s: return bandwidth_text(value);
    case Constant::Unit::flops_per_s:
        return value >= 1e15 ? significant(value / 1e15) + " PFLOP/s"
                             : significant(value / 1e12) + " TFLOP/s";
    case Constant::Unit::ratio: return "1 : " + trimmed(value);
    case Constant::Unit::flag: return value != 0 ? "on" : "off";
    }
    return {};
}

std::optional<PlanEdit> draw_constants(Ui& ui, Rect room, const Scene& scene, ConstantsState& state,
                                       std::uint64_t revision) {
    state.list.update(revision, [&] { return list_constants(scene.plan, scene.presets); });
    const auto columns = static_cast<std::size_t>(std::clamp(room.w / kColumn, 1.0f, 4.0f));
    std::size_t each = 0;
    const std::vector<Line> rows = lay_lines(state, columns, each);
    const float gap = 32,
                width = (room.w - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
    std::optional<PlanEdit> edit;
    Canvas& c = ui.canvas();
    ScrollArea area(ui, "constants", room, state.scroll,
                    {.wheel = !state.numbers.types() && !ui.frame().ctrl});
    const float top = area.room.y;
    area.room.cut_top(static_cast<float>(each) * kConstantRow);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::size_t column = i / each, line = i % each;
        if (rows[i].kind == Line::Kind::gap) continue;
        const Rect row{room.x + static_cast<float>(column) * (width + gap),
                       top + static_cast<float>(line) * kConstantRow, width - 6, kConstantRow};
        if (row.y < room.y - 4 || row.bottom() > room.bottom() + 4) continue;  // reached by scrolling
        const std::size_t first = rows[i].constant;
        if (rows[i].kind == Line::Kind::message) {
            TextStyle bad = ui.small();
            bad.color = ui.theme().bad;
            if (c.text_in(row, state.numbers.refusal, bad) && ui.hovers(row))
                ui.tooltip(state.numbers.refusal);
        } else if (rows[i].kind == Line::Kind::head) {
            const Constant& k = (*state.list)[first];
            Rect head = row;
            write_left(ui, head, heading_of(k.section, scene.plan.cluster), ui.title(), 12);
            if (!k.source.empty()) {
                c.text_in(head, k.source, ui.small());
                if (ui.area("constants.source", head, first, true, false).hovered)
                    ui.tooltip("Source\n" + k.source);
            }
        } else {
            if (auto e = draw_row(ui, row, scene, (*state.list)[first], first, state)) edit = std::move(e);
        }
    }
    if (edit) state.numbers.forget_refusal();
    return edit;
}

namespace {

constexpr float kTimedFrom = 800, kWordsFrom = 1100;  // logical pixels
// Says what mouse and keys do, for those who have not read the manual.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kHints{
    {{"click", "a cell for its groups"},
     {"1 … 9", "a view in the whole window"},
     {"Space", "held: the plan before"},
     {"F1", "all keys"}}};

// Writes "2 problems": errors and warnings, in words, at every window size. In a lesson, whose words call a
// warning by its name, only those are "2 warnings": a task that is done has no problem.
void problem_count(Ui& ui, Rect& row, const Scene& scene, InspectorState* state) {
    const std::vector<Problem>& problems = scene.evaluation.problems;
    std::int64_t n = 0;
    bool errors = false;
    std::string which;
    for (const Problem& p : problems) {
        if (p.severity == Severity::info) continue;
        n += 1;
        errors = errors || p.severity == Severity::error;
        which += "\n" + p.message;
    }
    if (n == 0) return;
    const std::string text =
        scene.in_lesson && !errors ? plural(n, "warning", "warnings") : plural(n, "problem", "problems");
    TextStyle s = ui.style(12, Tone::text, Face::semibold);
    if (errors) s.color = ui.theme().bad;
    Canvas& c = ui.canvas();
    const Rect r = row.cut_left(c.text_width(text, s) + 18);
    row.cut_left(20);
    draw_severity(ui, {r.x, r.center().y - 9}, errors ? Severity::error : Severity::warning);
    c.text_in({r.x + 16, r.y, r.w - 14, r.h}, text, s);
    if (state == nullptr) return;
    const Hit hit = ui.area("status.problems", r);
    if (hit.focused) ui.focus_ring(r.inset(-2, 4), 3);
    if (hit.hovered) ui.tooltip(text + which + "\nclick to see what mends " + (n == 1 ? "it" : "them"));
    if (hit.clicked) state->problems_open = true, state->problems_anchor = r, state->problems_scroll = {};
}

// Writes figures from the left, those that fit next to `right` pixels of words at the end.
struct FigureRow {
    Ui& ui;
    Rect row;
    float right = 0;

    void item(std::string_view name, const std::string& value, std::string_view after,
              std::optional<Color> color = std::nullopt) {
        Canvas& c = ui.canvas();
        TextStyle strong = ui.style(12, Tone::text, Face::semibold);
        const float w = c.text_width(name, ui.small()) + 6 + c.text_width(value, strong) + 6
                        + c.text_width(after, ui.small());
        wrote = w <= row.w - right - 16;
        if (!wrote) return;
        Rect r = row.cut_left(w + 22);
        write_left(ui, r, name, ui.small(), name.empty() ? 0 : 6);
        if (color) strong.color = *color;
        write_left(ui, r, value, strong, 4);
        c.text_in(r, after, ui.small());
    }
    bool wrote = false;  // the last item had room

    // Writes the difference of the last item to the plan that is pinned as A.
    void against(double by, bool less_is_better, std::string (*text)(double)) {
        if (wrote) draw_difference(ui, row, by, less_is_better, text, right + 16);
    }
};

void memory_figures(FigureRow& out, const Scene& scene, bool in_words) {
    const Memory& m = scene.evaluation.memory;
    if (m.stage.empty()) return;
    const MemoryFit fit = m.fit();
    std::string of = "/ " + memory_text(m.hbm);
    if (fit != MemoryFit::yes && in_words) of += ", which " + std::string(name_of(fit));
    out.item("memory", gib(m.peak()), of,
             fit == MemoryFit::yes  ? std::nullopt
             : fit == MemoryFit::no ? std::optional(out.ui.theme().bad)
                                    : std::optional(out.ui.theme().amber));
    if (scene.pinned != nullptr && !scene.pinned->memory.stage.empty())
        out.against(difference(m.peak(), scene.pinned->memory.peak()), true, memory_text);
}

void step_figures(FigureRow& out, const Scene& scene) {
    if (!scene.evaluation.step) return;
    const Step& s = *scene.evaluation.step;
    const auto against = [&](double Step::*figure, bool less_is_better, std::string (*text)(double)) {
        if (scene.pinned != nullptr && scene.pinned->step)
            out.against(difference(s.*figure, (*scene.pinned->step).*figure), less_is_better, text);
    };
    if (scene.injected && s.time_s > 0) {
        const double longer = scene.injected->step_s / s.time_s;
        out.item("step with " + scene.injected->words, time_text(scene.injected->step_s), "");
        out.item("MFU", percent(s.mfu / longer), "");
        out.item("", count_text(s.tokens_per_s / longer), "tokens/s");
        return;
    }
    out.item("step", time_text(s.time_s), s.error > 0 ? "± " + percent(s.error) : "");
    against(&Step::time_s, true, time_text);
    out.item("MFU", percent(s.mfu), shows_causal_mfu(s) ? "(causal " + percent(mfu_causal(s)) + ")" : "");
    against(&Step::mfu, false, points_text);
    out.item("", count_text(s.tokens_per_s), "tokens/s");
    against(&Step::tokens_per_s, false, count_text);
    if (s.time_s > 0) out.item("exposed communication", percent(exposed_of(s) / s.time_s), "");
}

}  // namespace

void draw_status(Ui& ui, Rect room, const Scene& scene, double evaluate_s, InspectorState* state,
                 bool covered, bool figures, bool memory_said) {
    Canvas& c = ui.canvas();
    const Evaluation& e = scene.evaluation;
    const std::string timing = !scene.changed.empty() ? std::string(scene.changed)
                               : evaluate_s >= 0      ? "evaluated in " + time_text(evaluate_s)
                                                      : std::string(name_and_version());
    const TextStyle timing_style = scene.changed.empty() ? ui.small() : ui.style(12);
    // In little room, the plan's figures come first.
    const bool timed = !scene.changed.empty() || room.w >= kTimedFrom;
    const Rect whole = room.inset(16, 0);
    FigureRow out{ui, whole, timed ? std::min(c.text_width(timing, timing_style) + 1, whole.w * 0.6f) : 0};
    const auto draw_timing = [&] {
        if (timed && c.text_in(whole, timing, timing_style, Align::right) && ui.hovers(whole))
            ui.tooltip(timing);
    };
    if (!figures) {
        if (!covered) problem_count(ui, out.row, scene, state);
        if (scene.another_model && e.valid) out.item("A has", "another model", "");
        for (const auto& [keys, act] : kHints) out.item("", std::string(keys), act);
        return draw_timing();
    }
    if (scene.another_model && e.valid) out.item("A has", "another model", "");
    out.item("GPUs", thousands(e.mesh.world), "of " + thousands(scene.plan.cluster.gpus),
             e.mesh.world != scene.plan.cluster.gpus ? std::optional(ui.theme().bad) : std::nullopt);
    if (!covered) problem_count(ui, out.row, scene, state);
    if (covered || !e.valid) {  // the question is if it fits, or is possible; or nothing was computed
        const std::string_view none = covered ? "?" : "—";
        if (covered && memory_said && e.valid)
            memory_figures(out, scene, false);
        else
            out.item("memory", std::string(none), "");
        for (const std::string_view name : {"step", "MFU"}) out.item(name, std::string(none), "");
        if (covered) return;
        out.row.cut_right(out.right + 16);
        const std::string why =
            is_stand_in(scene.plan) ? "The run's plan is not known." : first_error(e.problems);
        if (out.row.w > 40 && c.text_in(out.row, why, ui.small()) && ui.hovers(out.row)) ui.tooltip(why);
        return draw_timing();
    }
    memory_figures(out, scene, room.w >= kWordsFrom);
    step_figures(out, scene);
    draw_timing();
}

}  // namespace pentamesh::ui
