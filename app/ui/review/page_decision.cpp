// The first page of a review: what to do and why, three figures, where it runs, where the step goes, what
// else was tried, and what is open. It is one page, and needs no other.
#include "app/ui/kit/format.h"
#include "app/ui/panels/signs.h"
#include "app/ui/review/decision_words.h"
#include "app/ui/review/pages.h"
#include "app/ui/views/mesh/mesh_axes.h"
#include "app/ui/views/mesh/mesh_layout.h"
#include "app/ui/views/mesh/mesh_strip.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr float kGap = 0.9f;  // in lines

// ---- three figures ------------------------------------------------------------------------------------

struct Point {
    double at = 0;
    Color color;
};

// A figure on a scale: the range of the estimate, the plan's value, a limit, the proposal, what was measured.
struct Card {
    std::string label{}, value{}, unit{}, foot{}, foot_right{};
    Color color{};  // of the value
    double from = 0, to = 1, low = 0, high = 0;
    std::vector<Point> points{};
    std::optional<double> limit{}, measured{};
};

void draw_card(ReviewSheet& sheet, Rect box, const Card& card) {
    Canvas& c = sheet.canvas();
    const Theme& t = sheet.theme();
    const float line = sheet.paper().line(), pad = sheet.paper().body * 0.7f;
    c.frame(box, t.hairline, 1, 6);
    Rect in = box.inset(pad, pad * 0.6f);
    sheet.label(in.cut_top(line), card.label, sheet.faint());
    const TextStyle large{Face::semibold, sheet.paper().title * 1.25f, card.color, 0};
    Rect value = in.cut_top(sheet.paper().title * 1.5f);
    sheet.label(value.cut_left(c.text_width(card.value, large) + 2), card.value, large);
    value.cut_left(sheet.paper().body * 0.4f);
    value.y += sheet.paper().title * 0.18f;
    sheet.label(value, card.unit, sheet.faint());
    const Rect scale = in.cut_top(line * 0.9f);
    const float y = scale.center().y, mark = sheet.paper().body * 0.28f;
    const auto x_of = [&](double v) {
        return scale.x
               + static_cast<float>(std::clamp((v - card.from) / (card.to - card.from), 0.0, 1.0)) * scale.w;
    };
    c.line({scale.x, y}, {scale.right(), y}, t.hairline, mark);
    if (card.high > card.low) c.line({x_of(card.low), y}, {x_of(card.high), y}, t.secondary, mark);
    if (card.limit)
        c.line({x_of(*card.limit), scale.y}, {x_of(*card.limit), scale.bottom()}, t.bad, 1.5f, Dash::dashed);
    for (const Point& p : card.points) c.circle({x_of(p.at), y}, mark * 1.4f, p.color);
    if (card.measured) {
        const float x = x_of(*card.measured), top = y - mark * 3.2f;
        c.polygon(std::array<Vec2, 3>{Vec2{x - mark, top}, Vec2{x + mark, top}, Vec2{x, top + mark * 1.7f}},
                  t.text);
    }
    TextStyle foot = sheet.strong();
    foot.color = t.good;
    sheet.label(in, card.foot, foot);
    sheet.label(in, card.foot_right, sheet.faint(), Align::right);
}

std::array<Card, 3> cards_of(const ReviewSheet& sheet, const ReviewContent& content,
                             const SearchResult* proposed) {
    const Theme& t = sheet.theme();
    const Evaluation& e = content.evaluations[0];
    const Step& s = *e.step;
    const StageMemory& full = e.memory.stage[static_cast<std::size_t>(e.memory.peak_stage)];
    const MemoryFit fit = fit_of_plan(e);
    const double hbm = e.memory.hbm, peak = e.memory.peak();
    const Band time = band_of(s.time_s, s.error), mfu = band_of(s.mfu, s.error);
    const auto with = [&](const std::string& figure) { return "then " + figure; };
    Card memory{.label = "memory of the fullest GPU",
                .value = gib(peak),
                .unit = "of " + memory_text(hbm),
                .color = fit == MemoryFit::yes  ? t.text
                         : fit == MemoryFit::no ? t.bad
                                                : t.amber,
                .to = 1.15 * std::max(hbm, full.most()),
                .low = full.least(),
                .high = full.most(),
                .points = {{peak, t.text}},
                .limit = hbm};
    const std::string own = time_text(s.time_s);
    Card step{.label = "step",
              .value = own.substr(0, own.find(' ')),
              .unit =
                  own.substr(own.find(' ') + 1) + ", " + time_text(time.low) + " to " + time_text(time.high),
              .color = t.text,
              .from = 0.6 * time.low,
              .to = 1.25 * time.high,
              .low = time.low,
              .high = time.high,
              .points = {{s.time_s, t.text}}};
    Card rate{.label = "MFU",
              .value = significant(100 * s.mfu),
              .unit = shows_causal_mfu(s) ? "%, causal " + percent(mfu_causal(s)) : "%",
              .color = t.text,
              .to = std::min(1.0, 1.6 * mfu.high),
              .low = mfu.low,
              .high = mfu.high,
              .points = {{s.mfu, t.text}}};
    if (content.measured) {
        rate.measured = content.measured->mfu;
        rate.foot_right = "published run: " + percent(content.measured->mfu);
    }
    if (proposed != nullptr) {
        memory.points.push_back({proposed->memory_bytes, t.good});
        memory.foot = with(gib(proposed->memory_bytes) + " GiB");
        step.points.push_back({proposed->step_s, t.good});
        step.from = std::min(step.from, 0.9 * proposed->step_s);
        step.to = std::max(step.to, 1.1 * proposed->step_s);
        step.foot = with(time_text(proposed->step_s));
        rate.points.push_back({proposed->mfu, t.good});
        rate.foot = with(percent(proposed->mfu));
    }
    return {memory, step, rate};
}

void draw_cards(ReviewSheet& sheet, const ReviewContent& content, const SearchResult* proposed) {
    const float line = sheet.paper().line(), apart = sheet.paper().body;
    const std::array<Card, 3> cards = cards_of(sheet, content, proposed);
    const bool feet = std::any_of(cards.begin(), cards.end(),
                                  [](const Card& c) { return !c.foot.empty() || !c.foot_right.empty(); });
    Rect row = sheet.take(line * (feet ? 3.5f : 2.4f) + sheet.paper().title * 1.5f);
    const float w = (row.w - 2 * apart) / 3;
    for (const Card& card : cards) {
        draw_card(sheet, row.cut_left(w), card);
        row.cut_left(apart);
    }
    sheet.gap(kGap);
}

// ---- where it runs ------------------------------------------------------------------------------------

void draw_costs(ReviewSheet& sheet, const Scene& scene) {
    const std::vector<MeshAxis> axes = axes_that_send(sheet.theme(), scene);
    const float line = sheet.paper().line(), apart = sheet.paper().body, sample = sheet.paper().body * 1.6f;
    constexpr std::size_t kColumns = 3;
    for (std::size_t i = 0; i < axes.size(); i += kColumns) {
        Rect row = sheet.take(2 * line);
        const float w = (row.w - (kColumns - 1) * apart) / kColumns;
        for (std::size_t k = i; k < std::min(axes.size(), i + kColumns); ++k) {
            const MeshAxis& a = axes[k];
            const AxisCost cost = cost_of(scene.evaluation, a);
            Rect cell = row.cut_left(w);
            row.cut_left(apart);
            Rect head = cell.cut_top(line);
            const Rect mark = head.cut_left(sample);
            sheet.canvas().line({mark.x, mark.center().y}, {mark.right() - 6, mark.center().y}, a.color, 3,
                                a.mark.dash);
            const std::string name = axis_label(a.kind) + " " + with_commas(a.degree);
            sheet.label(head.cut_left(sheet.canvas().text_width(name, sheet.strong()) + 8), name,
                        sheet.strong());
            const std::string tier(scene.plan.cluster.tiers[static_cast<std::size_t>(a.tier)].name);
            sheet.label(head, tier, sheet.faint());
            cell.cut_left(sample);
            if (cost.bytes > 0)
                sheet.label(cell,
                            bytes_text(cost.bytes) + " in " + time_text(cost.time_s) + ", "
                                + percent(cost.share()) + " waits",
                            sheet.plain());
        }
    }
}

void draw_where(ReviewSheet& sheet, const ReviewContent& content) {
    const Reviewed of = content.first();
    if (axes_in_use(of.evaluation).empty()) return;
    const PrintedScene printed(of);
    const Scene& scene = printed.scene;
    const Period period = period_of(scene, 0);
    const float type = sheet.paper().small, tile = 36;
    if (period.nodes > 1)
        draw_strip(sheet.canvas(), sheet.theme(), type, sheet.take(strip_height(tile) + type), tile, scene,
                   period);
    else
        draw_mesh_figure(sheet, sheet.take(sheet.paper().line() * 5), of,
                         of.evaluation.mesh.world > kMostCards
                             ? std::nullopt
                             : std::optional(axes_in_use(of.evaluation).front()));
    sheet.gap(0.3f);
    draw_costs(sheet, scene);
    sheet.gap(kGap);
}

// ---- three columns ------------------------------------------------------------------------------------

// Returns the parts of the step in its order, what is small joined as the last.
std::vector<std::pair<std::string, StepSlice>> large_parts(const Step& step, std::size_t most) {
    std::vector<std::pair<std::string, StepSlice>> out;
    for (const StepSlice& s : joined(waterfall(step), is_below_peak, StepPart::products)) {
        const bool below = s.part == StepPart::products;
        out.emplace_back(s.part == StepPart::exposed ? axis_label(s.group)
                         : below                     ? "below the peak"
                                                     : std::string(name_of(s.part)),
                         s);
    }
    if (out.size() > most) {
        std::vector<double> times;
        for (const auto& [name, s] : out) times.push_back(s.time_s);
        std::sort(times.begin(), times.end(), std::greater<>());
        const double least = times[std::max<std::size_t>(most, 2) - 2];
        StepSlice other{.part = StepPart::optimizer};
        std::erase_if(out, [&](const auto& part) {
            if (part.second.time_s >= least) return false;
            other.time_s += part.second.time_s;
            return true;
        });
        out.emplace_back("other", other);
    }
    double at = 0;
    for (auto& [name, s] : out) s.from_s = at, at += s.time_s;
    return out;
}

void draw_step_column(ReviewSheet& sheet, Rect room, const Step& step) {
    Canvas& c = sheet.canvas();
    const float line = sheet.paper().line();
    sheet.label(room.cut_top(line), "Where the " + time_text(step.time_s) + " go", sheet.strong());
    const auto parts = large_parts(step, static_cast<std::size_t>(std::max(2.0f, std::floor(room.h / line))));
    float label = 0, figure = 0;
    for (const auto& [name, s] : parts) {
        label = std::max(label, c.text_width(name, sheet.plain()) + sheet.paper().body * 0.6f);
        figure =
            std::max(figure, c.text_width(time_text(s.time_s), sheet.plain()) + sheet.paper().body * 0.5f);
    }
    const float w = std::max(10.0f, room.w - label - figure);
    for (const auto& [name, s] : parts) {
        const Rect row = room.cut_top(line);
        sheet.label({row.x, row.y, label, row.h}, name, sheet.plain());
        const float x = row.x + label + static_cast<float>(s.from_s / step.time_s) * w;
        const float len = std::max(1.5f, static_cast<float>(s.time_s / step.time_s) * w);
        fill_part(c, sheet.theme(), {x, row.y + row.h * 0.2f, len, row.h * 0.6f}, s);
        sheet.label({row.right() - figure, row.y, figure, row.h}, time_text(s.time_s), sheet.plain(),
                    Align::right);
    }
}

void draw_tried_column(ReviewSheet& sheet, Rect room, const ReviewContent& content,
                       const SearchResult* proposed) {
    const Reviewed of = content.first();
    const float line = sheet.paper().line();
    Rect head = room.cut_top(line);
    const float memory_w = sheet.canvas().text_width("000.0", sheet.strong()) + 12,
                time_w = sheet.canvas().text_width("00.00 ms", sheet.strong()) + 6;
    sheet.label(head.cut_right(memory_w), "GiB", sheet.faint(), Align::right);
    sheet.label(head.cut_right(time_w), "step", sheet.faint(), Align::right);
    sheet.label(head, "One change each", sheet.strong());
    const auto row = [&](const std::string& words, double step_s, double memory, bool fits, bool strong) {
        TextStyle style = strong ? sheet.strong() : sheet.plain(), figure = style;
        if (!fits) figure.color = sheet.theme().bad;
        const float h = sheet.canvas().paragraph_height(room.w - memory_w - time_w, words, style, line);
        if (h > room.h) return false;
        Rect r = room.cut_top(h);
        if (strong)
            sheet.canvas().rect(r.inset(-4, 0), mix(sheet.theme().panel, sheet.theme().good, 0.14f), 3);
        Rect memory_at = r.cut_right(memory_w), time_at = r.cut_right(time_w);
        memory_at.h = time_at.h = line;
        sheet.label(memory_at, gib(memory), figure, Align::right);
        sheet.label(time_at, time_text(step_s), style, Align::right);
        sheet.canvas().paragraph(r, words, style, line);
        return true;
    };
    const Evaluation& e = of.evaluation;
    row("this plan", e.step->time_s, e.memory.peak(), fit_of_plan(e) == MemoryFit::yes, false);
    for (const SearchResult& r : content.tried) {
        if (!row(change_words(of.plan, r.choice), r.step_s, r.memory_bytes, true, &r == proposed)) break;
    }
    if (content.tried.empty() && room.h >= line)
        sheet.label(room.cut_top(line), "no other fits", sheet.faint());
}

void draw_questions_column(ReviewSheet& sheet, Rect room, const ReviewContent& content) {
    Canvas& c = sheet.canvas();
    const float line = sheet.paper().line(), box = sheet.paper().body * 0.7f;
    const Rect signature = room.cut_bottom(line * 1.6f);
    sheet.label(room.cut_top(line), "Open questions", sheet.strong());
    const std::vector<std::string> questions = open_questions(content);
    if (questions.empty()) sheet.label(room.cut_top(line), "none from the figures", sheet.faint());
    for (const std::string& q : questions) {
        const float h = c.paragraph_height(room.w - box * 1.7f, q, sheet.plain(), line);
        if (h > room.h) break;
        const Rect row = room.cut_top(h + line * 0.15f);
        c.frame({row.x, row.y + (line - box) / 2, box, box}, sheet.theme().secondary, 1.2f, 2);
        c.paragraph({row.x + box * 1.7f, row.y, row.w - box * 1.7f, h}, q, sheet.plain(), line);
    }
    const auto field = [&](Rect r, const std::string& name, const std::string& value) {
        c.line({r.x, r.bottom()}, {r.right(), r.bottom()}, sheet.theme().secondary);
        sheet.label({r.x, r.bottom() - line, r.w, line}, value.empty() ? name : name + ": " + value,
                    sheet.faint());
    };
    Rect left = signature;
    const Rect right = left.cut_right(signature.w * 0.5f - sheet.paper().body * 0.5f);
    left.cut_right(sheet.paper().body);
    field(left, "Decision", "");
    field(right, "Owner", content.request.owner);
}

void draw_columns(ReviewSheet& sheet, const ReviewContent& content, const SearchResult* proposed) {
    const Step& step = *content.evaluations[0].step;
    if (sheet.paper().wide) {
        Rect room = sheet.take(std::max(0.0f, sheet.left() - 2));
        const float apart = sheet.paper().body * 1.4f, w = (room.w - 2 * apart) / 3;
        draw_step_column(sheet, room.cut_left(w), step);
        room.cut_left(apart);
        draw_tried_column(sheet, room.cut_left(w), content, proposed);
        room.cut_left(apart);
        draw_questions_column(sheet, room, content);
        return;
    }
    Rect room = sheet.take(std::max(0.0f, sheet.left() - 2));
    const float line = sheet.paper().line();
    const auto rows = [&](std::size_t n) {
        return room.cut_top(std::min(room.h, line * static_cast<float>(n)));
    };
    draw_step_column(sheet, rows(waterfall(step).size() + 1), step);
    room.cut_top(line);
    draw_tried_column(sheet, rows(content.tried.size() + 3), content, proposed);
    draw_questions_column(sheet, room, content);
}

}  // namespace

void decision_page(ReviewSheet& sheet, const ReviewContent& content) {
    const Reviewed of = content.first();
    const SearchResult* proposed = proposal_of(content);
    sheet.begin(decision_of(content, proposed));
    const MemoryFit fit = fit_of_plan(of.evaluation);
    const Theme& t = sheet.theme();
    const float body = sheet.paper().body, line = sheet.paper().line(), indent = body * 1.4f;
    const std::string reason = reason_of(content, proposed);
    const Rect row =
        sheet.take(sheet.canvas().paragraph_height(sheet.width() - indent, reason, sheet.plain(), line));
    draw_sign(sheet.canvas(), {row.x + body * 0.4f, row.y + line / 2},
              fit == MemoryFit::yes        ? Sign::disc
              : fit == MemoryFit::if_small ? Sign::triangle
                                           : Sign::square,
              fit == MemoryFit::yes        ? t.good
              : fit == MemoryFit::if_small ? t.amber
                                           : t.bad,
              body * 0.36f);
    sheet.canvas().paragraph({row.x + indent, row.y, row.w - indent, row.h}, reason, sheet.plain(), line);
    sheet.gap(0.6f);
    draw_cards(sheet, content, proposed);
    draw_where(sheet, content);
    draw_columns(sheet, content, proposed);
}

}  // namespace pentamesh::ui
