// The first page of a review: what to do and why, three figures, where it runs, where the step goes, what
// else was tried, and what is open. It is one page, and needs no other.
#include "app/ui/kit/format.h"
#include "app/ui/review/decision_parts.h"
#include "app/ui/review/decision_words.h"
#include "app/ui/review/pages.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

struct Point {
    double at = 0;
    Color color;
};

// A figure on a scale: the range of the estimate, the plan's value, a limit, the proposal, what was measured.
struct Card {
    std::string label{}, head_right{}, value{}, unit{}, foot{}, foot_right{};
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
    Rect head = in.cut_top(line);
    sheet.label(head.cut_left(c.text_width(card.label, sheet.faint()) + 6), card.label, sheet.faint());
    sheet.label(head, card.head_right, {Face::regular, sheet.paper().small, t.secondary, 0}, Align::right);
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

// Puts the time and the MFU of a run next to the estimates, where one is known.
void add_measured(const ReviewContent& content, Card& step, Card& rate) {
    const Step& s = *content.evaluations[0].step;
    if (const auto took_s = measured_step_s(content)) {
        step.measured = *took_s, rate.measured = s.mfu * s.time_s / *took_s;
        step.from = std::min(step.from, 0.9 * *took_s), step.to = std::max(step.to, 1.1 * *took_s);
        step.foot_right = "run: " + time_text(*took_s);
        rate.foot_right = "run: " + percent(*rate.measured);
    } else if (content.measured) {
        rate.measured = content.measured->mfu;
        rate.foot_right = "published run: " + percent(content.measured->mfu);
    }
}

// Puts the figures of the proposed plan next to the open one's.
void add_proposed(const ReviewContent& content, const SearchResult& proposed, Color color,
                  std::array<Card, 3>& cards) {
    constexpr std::size_t kShort = 14;
    const std::string change = change_words(content.plans[0], proposed.choice);
    const bool named = change.size() <= kShort && !content.measured && !content.request.run;
    const auto with = [&](Card& card, double value, const std::string& figure) {
        card.points.push_back({value, color});
        card.foot = (named ? "with " + change + ": " : "then ") + figure;
    };
    auto& [memory, step, rate] = cards;
    with(memory, proposed.memory_bytes, gib(proposed.memory_bytes) + " GiB");
    with(step, proposed.step_s, time_text(proposed.step_s));
    with(rate, proposed.mfu, percent(proposed.mfu));
    step.from = std::min(step.from, 0.9 * proposed.step_s);
    step.to = std::max(step.to, 1.1 * proposed.step_s);
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
    step.head_right = training_cost_words(content.first());
    add_measured(content, step, rate);
    std::array<Card, 3> cards{std::move(memory), std::move(step), std::move(rate)};
    if (proposed != nullptr) add_proposed(content, *proposed, t.good, cards);
    return cards;
}

void draw_cards(ReviewSheet& sheet, const ReviewContent& content, const SearchResult* proposed) {
    const float line = sheet.paper().line(), apart = sheet.paper().body;
    const std::array<Card, 3> cards = cards_of(sheet, content, proposed);
    const bool feet = std::any_of(cards.begin(), cards.end(),
                                  [](const Card& c) { return !c.foot.empty() || !c.foot_right.empty(); });
    Rect row = sheet.take(line * (feet ? 3.5f : 2.4f) + sheet.paper().title * 1.5f);
    const float w = (row.w - 2 * apart) / 3;
    static constexpr std::array<std::string_view, 3> kLeadTo{kMemoryPage, kTimePage, kFormulas};
    for (std::size_t i = 0; i < cards.size(); ++i) {
        const Rect box = row.cut_left(w);
        draw_card(sheet, box, cards[i]);
        sheet.link(box, kLeadTo[i]);
        row.cut_left(apart);
    }
}

}  // namespace

bool decision_page(ReviewSheet& sheet, const ReviewContent& content) {
    const SearchResult* proposed = proposal_of(content);
    sheet.begin(decision_of(content, proposed));
    draw_verdict(sheet, is_refuted(content) ? nullptr : &content.evaluations[0],
                 reason_of(content, proposed));
    draw_cards(sheet, content, proposed);
    draw_where(sheet, content.first(), kBetweenParts);
    return draw_columns(sheet, content, proposed);
}

}  // namespace pentamesh::ui
