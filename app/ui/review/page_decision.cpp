// The first page of a review: what to do and why, three figures, where it runs, where the step goes, what
// else was tried, and what is open. It is one page, and needs no other.
#include "app/ui/kit/format.h"
#include "app/ui/kit/plot.h"
#include "app/ui/panels/inspector.h"
#include "app/ui/review/pages.h"
#include "app/ui/views/memory/view.h"
#include "app/ui/views/mesh/mesh_cells.h"
#include "app/ui/views/mesh/mesh_large.h"
#include "app/ui/views/mesh/mesh_layout.h"
#include "app/ui/views/search/search_found.h"
#include "core/explain/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

// A figure on a scale with ticks: the range of the estimate, the plan's value, the proposal, what was
// measured.
struct Card {
    std::string label{}, head_right{}, value{}, unit{};
    std::string then_words{}, measured_words{};  // of the proposal; of a run
    Color color{};                               // of the value
    double own = 0, low = 0, high = 0;
    std::optional<double> then{}, measured{};
    std::string (*tick)(double) = nullptr;  // writes a value on the scale
    const StageMemory* memory = nullptr;    // a bar of what it holds stands in the place of the range
    double limit = 0;                       // of the memory
};

// Holds the ends of a card's scale, and what it draws with.
struct CardScale {
    Rect track;
    double from = 0, to = 1;
    [[nodiscard]] float x(double v) const {
        return track.x + static_cast<float>(std::clamp((v - from) / (to - from), 0.0, 1.0)) * track.w;
    }
};

CardScale scale_of_card(Rect track, const Card& card) {
    constexpr double kBeyond = 0.18, kOverMemory = 1.12;
    if (card.memory != nullptr)
        return {track, 0, kOverMemory * std::max({card.limit, card.high, card.then.value_or(0)})};
    double low = card.low, high = card.high;
    for (const std::optional<double>& v : {std::optional(card.own), card.then, card.measured})
        if (v) low = std::min(low, *v), high = std::max(high, *v);
    const double beyond = kBeyond * std::max(high - low, 0.05 * high);
    return {track, std::max(0.0, low - beyond), high + beyond};
}

// Returns two to four round values on the scale.
std::vector<double> card_ticks(const CardScale& scale) {
    if (!(scale.to > scale.from)) return {};
    const double step = round_step((scale.to - scale.from) / 3.2);
    std::vector<double> out;
    for (double i = std::ceil(scale.from / step); i * step <= scale.to; ++i) out.push_back(i * step);
    return out;
}

// Writes what a run measured over its place, next to a triangle.
void draw_measured_mark(ReviewSheet& sheet, Rect row, float x, const std::string& words) {
    const float half = sheet.paper().body * 0.36f, bottom = row.bottom() - 1;
    sheet.canvas().polygon(std::array<Vec2, 3>{Vec2{x - half, bottom - half * 1.6f},
                                               Vec2{x + half, bottom - half * 1.6f}, Vec2{x, bottom}},
                           sheet.theme().text);
    const float w = sheet.canvas().text_width(words, sheet.faint()) + 4, apart = half + 4;
    const bool behind = x + apart + w <= row.right();
    sheet.label({behind ? x + apart : x - apart - w, row.y, w, row.h}, words, sheet.faint(),
                behind ? Align::left : Align::right);
}

void draw_card_ticks(ReviewSheet& sheet, Rect row, const CardScale& scale, const Card& card) {
    const float up = sheet.paper().body * 0.36f, w = sheet.paper().body * 5, y = scale.track.center().y;
    for (const double v : card_ticks(scale)) {
        const float x = scale.x(v);
        sheet.canvas().line({x, y - up}, {x, y + up}, sheet.theme().secondary, 1);
        const float left = std::clamp(x - w / 2, row.x, row.right() - w);
        sheet.label({left, row.y, w, row.h}, card.tick(v), sheet.faint(),
                    left < x - w / 2   ? Align::right
                    : left > x - w / 2 ? Align::left
                                       : Align::center);
    }
}

// Draws what the fullest GPU holds from 0 on, with the line that it may not pass.
void draw_memory_scale(ReviewSheet& sheet, Rect in, Rect row, const Card& card) {
    Canvas& c = sheet.canvas();
    const Theme& t = sheet.theme();
    const CardScale scale = scale_of_card(in, card);
    draw_memory_bar(sheet.ink(), in, *card.memory, card.limit, scale.to);
    if (card.then) {
        const float x = scale.x(*card.then);
        c.line({x, in.y - 2}, {x, in.bottom() + 3}, t.good, 2);
        c.circle({x, in.bottom() + 3}, sheet.paper().body * 0.3f, t.good);
    }
    sheet.label(row, "0", sheet.faint());
    const std::string limit = gib(card.limit);
    TextStyle style = sheet.faint();
    style.color = t.bad;
    const float w = c.text_width(limit, style) + 4;
    sheet.label({std::min(scale.x(card.limit) - w / 2, row.right() - w), row.y, w, row.h}, limit, style,
                Align::center);
}

void draw_card_scale(ReviewSheet& sheet, Rect in, const Card& card) {
    Canvas& c = sheet.canvas();
    const Theme& t = sheet.theme();
    const float body = sheet.paper().body, line = sheet.paper().line(), thick = body * 0.42f;
    const Rect row = in.cut_bottom(line);
    if (card.memory != nullptr) return draw_memory_scale(sheet, in.cut_bottom(body * 1.25f), row, card);
    Rect track = in.cut_bottom(body);
    const CardScale scale = scale_of_card(track, card);
    const float y = track.center().y;
    c.line({track.x, y}, {track.right(), y}, t.hairline, thick);
    if (card.high > card.low) c.line({scale.x(card.low), y}, {scale.x(card.high), y}, t.secondary, thick);
    draw_card_ticks(sheet, row, scale, card);
    if (card.then) c.circle({scale.x(*card.then), y}, thick * 1.1f, t.good);
    c.circle({scale.x(card.own), y}, thick * 1.1f, t.text);
    if (card.measured) draw_measured_mark(sheet, in, scale.x(*card.measured), card.measured_words);
}

void draw_card(ReviewSheet& sheet, Rect box, const Card& card) {
    Canvas& c = sheet.canvas();
    const Theme& t = sheet.theme();
    const float line = sheet.paper().line(), pad = sheet.paper().body * 0.8f;
    c.frame(box, t.hairline, 1, 6);
    Rect in = box.inset(pad, pad * 0.6f);
    Rect head = in.cut_top(line);
    sheet.label(head.cut_left(c.text_width(card.label, sheet.faint()) + 6), card.label, sheet.faint());
    sheet.label(head, card.head_right, {Face::regular, sheet.paper().small, t.secondary, 0}, Align::right);
    const TextStyle large{Face::semibold, sheet.paper().title * 1.25f, card.color, 0};
    Rect value = in.cut_top(sheet.paper().title * 1.4f);
    sheet.label(value.cut_left(c.text_width(card.value, large) + 2), card.value, large);
    value.cut_left(sheet.paper().body * 0.4f);
    value.y += sheet.paper().title * 0.18f;
    TextStyle then = sheet.strong();
    then.color = t.good;
    // A narrow card has a line for the proposal.
    const Rect proposal =
        sheet.paper().wide ? value.cut_right(c.text_width(card.then_words, then) + 2) : in.cut_top(line);
    sheet.label(proposal, card.then_words, then, Align::right);
    sheet.label(value, card.unit, sheet.faint());
    draw_card_scale(sheet, in, card);
}

// Returns the height of all cards.
float cards_height(const ReviewSheet& sheet) {
    const float body = sheet.paper().body, pad = body * 0.8f * 0.6f;
    return (sheet.paper().wide ? 3.0f : 4.0f) * sheet.paper().line() + sheet.paper().title * 1.4f
           + body * 1.15f + 2 * pad;
}

// Puts the time and the MFU of a run next to the estimates, where one is known.
void add_measured(const ReviewContent& content, Card& step, Card& rate) {
    const Step& s = *content.evaluations[0].step;
    if (const auto took_s = measured_step_s(content)) {
        step.measured = *took_s, rate.measured = s.mfu * s.time_s / *took_s;
        step.measured_words = "run: " + time_text(*took_s);
        rate.measured_words = "run: " + percent(*rate.measured);
    } else if (content.measured) {
        rate.measured = content.measured->mfu;
        rate.measured_words = "published run: " + percent(content.measured->mfu);
    }
}

// Puts the figures of the proposed plan next to the open one's.
void add_proposed(const ReviewContent& content, const SearchResult& proposed, std::array<Card, 3>& cards) {
    constexpr std::size_t kShort = 10;
    const std::string change = change_words(content.plans[0], proposed.choice),
                      name = change.size() <= kShort ? change + ": " : "then ";
    const auto with = [&](Card& card, double value, const std::string& figure) {
        card.then = value;
        card.then_words = name + figure;
    };
    auto& [memory, step, rate] = cards;
    with(memory, proposed.memory_bytes, gib(proposed.memory_bytes) + " GiB");
    with(step, proposed.step_s, time_text(proposed.step_s));
    with(rate, proposed.mfu, percent(proposed.mfu));
}

std::array<Card, 3> cards_of(const ReviewSheet& sheet, const ReviewContent& content,
                             const SearchResult* proposed) {
    const Theme& t = sheet.theme();
    const Evaluation& e = content.evaluations[0];
    const Step& s = *e.step;
    const StageMemory& full = e.memory.stage[static_cast<std::size_t>(e.memory.peak_stage)];
    const MemoryFit fit = fit_of_plan(e);
    const Band time = band_of(s.time_s, s.error), mfu = band_of(s.mfu, s.error);
    Card memory{.label = "memory of the fullest GPU",
                .value = gib(e.memory.peak()),
                .unit = "of " + memory_text(e.memory.hbm),
                .color = fit == MemoryFit::yes ? t.text : color_of(t, fit),
                .own = e.memory.peak(),
                .low = full.least(),
                .high = full.most(),
                .memory = &full,
                .limit = e.memory.hbm};
    const std::string own = time_text(s.time_s);
    Card step{.label = "step",
              .head_right = training_cost_words(content.first()),
              .value = own.substr(0, own.find(' ')),
              .unit =
                  own.substr(own.find(' ') + 1) + ", " + time_text(time.low) + " to " + time_text(time.high),
              .color = t.text,
              .own = s.time_s,
              .low = time.low,
              .high = time.high,
              .tick = [](double v) { return pentamesh::time_text(v); }};
    Card rate{.label = "MFU",
              .value = significant(100 * s.mfu),
              .unit = shows_causal_mfu(s) ? "%, causal " + percent(mfu_causal(s)) : "%",
              .color = t.text,
              .own = s.mfu,
              .low = mfu.low,
              .high = mfu.high,
              .tick = [](double v) { return percent_text(v); }};
    add_measured(content, step, rate);
    std::array<Card, 3> cards{std::move(memory), std::move(step), std::move(rate)};
    if (proposed != nullptr) add_proposed(content, *proposed, cards);
    return cards;
}

void draw_cards(ReviewSheet& sheet, const ReviewContent& content, const SearchResult* proposed) {
    const float apart = sheet.paper().body;
    const std::array<Card, 3> cards = cards_of(sheet, content, proposed);
    Rect row = sheet.take(cards_height(sheet));
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

// Draws where a plan runs, for the pages that decide: its strip with what each axis costs, or the strips of
// two plans, one below the other, next to the memory of each.

namespace {

// Says how an axis' costs are written: "8.03 GB in 260 ms, 6.4 % of the step waits" (of the first; else
// "6.4 % waits"), without "of the step", or "8.03 GB, 260 ms, 6.4 % waits".
enum class CostForm : std::uint8_t { whole, brief, shortest };

// Describes the cell that says what an axis costs.
struct AxisCell {
    const MeshAxis* axis;
    std::string name, tier;
    AxisCost cost;
    bool first;  // of those that send

    [[nodiscard]] std::string words(CostForm form) const {
        if (cost.bytes <= 0) return "";
        return traffic_text(cost.bytes) + (form == CostForm::shortest ? ", " : " in ")
               + time_text(cost.time_s) + ", " + percent(cost.share())
               + (first && form == CostForm::whole ? " of the step waits" : " waits");
    }
};

std::vector<AxisCell> cells_of(const Scene& scene, const std::vector<MeshAxis>& axes) {
    std::vector<AxisCell> out;
    bool first = true;
    for (const MeshAxis& a : axes) {
        const AxisCost cost = cost_of(scene.evaluation, a);
        out.push_back({&a, axis_label(a.kind) + " " + with_commas(a.degree),
                       scene.plan.cluster.tiers[static_cast<std::size_t>(a.tier)].name, cost, first});
        if (cost.bytes > 0) first = false;
    }
    return out;
}

float widest_cost(ReviewSheet& sheet, const std::vector<AxisCell>& cells, CostForm form) {
    float out = 0;
    for (const AxisCell& c : cells)
        out = std::max(out, sheet.canvas().text_width(c.words(form), sheet.plain()));
    return out;
}

// Returns how many cells stand side by side: all four, where each has the room for its words.
std::size_t columns_for(ReviewSheet& sheet, const std::vector<AxisCell>& cells, CostForm form, float indent,
                        float apart) {
    constexpr std::size_t kMost = 4, kFew = 3;
    if (cells.size() != kMost) return kFew;
    const float widest = indent + widest_cost(sheet, cells, form);
    return kMost * (widest + apart) - apart <= sheet.width() ? kMost : kFew;
}

// Returns the axes that send and have no mark in the strip of the dense mesh: those of the experts.
std::vector<MeshAxis> expert_axes(const Theme& theme, const Scene& scene) {
    std::vector<MeshAxis> out = axes_that_send(theme, scene);
    std::erase_if(out, [](const MeshAxis& a) { return !is_expert(a.kind) || a.degree < 2; });
    return out;
}

float group_row(const ReviewSheet& sheet) {
    return sheet.paper().small * 1.15f;
}

// Draws over the strip the first group of each of these axes: a line with a tick at each of its nodes, and
// its name.
void draw_groups_over(ReviewSheet& sheet, Rect room, Rect strip, float tile, const Scene& scene,
                      const Period& period, const std::vector<MeshAxis>& axes) {
    Canvas& c = sheet.canvas();
    const std::int64_t domain = domain_of(scene.plan.cluster, 0);
    const TextStyle style{Face::regular, sheet.paper().small, sheet.theme().text, 0};
    for (const MeshAxis& a : axes) {
        const Rect row = room.cut_top(group_row(sheet));
        std::vector<Rect> nodes;
        bool leaves = false;  // goes on beyond the period, or where the strip is cut
        for (std::int64_t i = 0; i < a.degree; ++i) {
            const std::int64_t node = a.member(period.first_node * domain, i) / domain;
            const Rect at = strip_node(strip, tile, period, node);
            if (at.w > 0 && (nodes.empty() || nodes.back().x != at.x)) nodes.push_back(at);
            leaves |= at.w <= 0 || node >= period.first_node + period.nodes;
        }
        if (nodes.empty()) continue;
        const bool one = nodes.size() == 1 && !leaves;
        const float y = row.center().y, from = one ? nodes.front().x : nodes.front().center().x;
        const float end = leaves ? strip_ground(strip, tile, period).right()
                          : one  ? nodes.front().right()
                                 : nodes.back().center().x;
        c.line({from, y}, {end, y}, a.color, 2, a.mark.dash);
        for (const Rect& n : nodes)
            if (!one) c.line({n.center().x, y}, {n.center().x, row.bottom()}, a.color, 2);
        const std::string name = axis_label(a.kind) + " " + with_commas(a.degree);
        const float w = c.text_width(name, style) + 8;
        const bool behind = end + 6 + w <= room.right();
        const Rect label{behind ? end + 6 : (from + end - w) / 2, row.y, w, row.h};
        if (!behind) c.rect(label, sheet.theme().panel);
        sheet.label(label, name, style, behind ? Align::left : Align::center);
    }
}

// Draws an axis as the strip does: its groups as tiles, as lines from node to node, as lines that leave, or
// as lines over the nodes.
void draw_sample(ReviewSheet& sheet, Rect mark, const Scene& scene, const MeshAxis& a) {
    Canvas& c = sheet.canvas();
    mark.w -= 6;
    const Vec2 middle = mark.center();
    const Period period = replica_of(scene, 0);
    const std::int64_t domain = domain_of(scene.plan.cluster, 0);
    const auto line = [&](Vec2 from, Vec2 to) { c.line(from, to, a.color, 3, a.mark.dash); };
    const float half = mark.h * 0.32f;
    if (period.nodes < 2
        || (!is_expert(a.kind) && a.stride() >= domain && a.stride() < period.nodes * domain))
        return line({mark.x, middle.y}, {mark.right(), middle.y});
    if (is_expert(a.kind)) {
        line({mark.x, middle.y - half / 2}, {mark.right(), middle.y - half / 2});
        for (const float x : {mark.x + 1, mark.right() - 1})
            c.line({x, middle.y - half / 2}, {x, middle.y + half}, a.color, 2);
        return;
    }
    if (a.stride() >= period.nodes * domain)
        return line({middle.x, middle.y - half}, {middle.x, middle.y + half});
    if (a.stride() == 1 && a.degree == domain)
        c.frame({mark.x, middle.y - half, mark.w, 2 * half}, a.color, 2, 4);
    else
        line({mark.x, middle.y}, {mark.right(), middle.y});
}

void draw_costs(ReviewSheet& sheet, const Scene& scene) {
    const std::vector<MeshAxis> axes = axes_that_send(sheet.theme(), scene);
    const std::vector<AxisCell> cells = cells_of(scene, axes);
    const float line = sheet.paper().line(), sample = sheet.paper().body * 1.6f;
    float apart = sheet.paper().body;
    CostForm form = CostForm::whole;
    std::size_t columns = columns_for(sheet, cells, form, sample, apart);
    const float third = (sheet.width() - 2 * apart) / 3 - sample;
    if (cells.size() > columns || widest_cost(sheet, cells, form) > third) form = CostForm::brief;
    if (cells.size() > columns) {  // shorter, without an indent, where that makes one row of two
        columns = columns_for(sheet, cells, CostForm::shortest, 0, apart * 0.5f);
        if (columns > 3) form = CostForm::shortest;
    }
    const bool close = columns > 3;
    const bool indents = !close && widest_cost(sheet, cells, form) <= third;
    if (close) apart *= 0.5f;
    for (std::size_t i = 0; i < cells.size(); i += columns) {
        Rect row = sheet.take(2 * line);
        sheet.link(row, kCommunicationPage);
        const float w = (row.w - static_cast<float>(columns - 1) * apart) / static_cast<float>(columns);
        for (std::size_t k = i; k < std::min(cells.size(), i + columns); ++k) {
            const MeshAxis& a = *cells[k].axis;
            Rect cell = row.cut_left(w);
            row.cut_left(apart);
            Rect head = cell.cut_top(line);
            const Rect mark = head.cut_left(sample);
            draw_sample(sheet, mark, scene, a);
            const std::string& name = cells[k].name;
            sheet.label(head.cut_left(sheet.canvas().text_width(name, sheet.strong()) + 8), name,
                        sheet.strong());
            sheet.label(head, cells[k].tier, sheet.faint());
            if (indents) cell.cut_left(sample);
            sheet.label(cell, cells[k].words(form), sheet.plain());
        }
    }
}

}  // namespace

void draw_where(ReviewSheet& sheet, const Reviewed& of, float above) {
    if (axes_in_use(of.evaluation).empty()) return sheet.gap(above);
    const PrintedScene printed(of);
    const Scene& scene = printed.scene;
    const Period period = replica_of(scene, 0);
    const std::vector<MeshAxis> over = expert_axes(sheet.theme(), scene);
    // Lines over a strip stand in the gap above it, and on a slide its nodes give way to them.
    const bool close = period.nodes > 1 && !over.empty();
    const float type = sheet.paper().small, tile = close && sheet.paper().wide ? 28 : 36;
    sheet.gap(close ? above * 0.35f : above);
    if (period.nodes > 1) {
        const float rows = group_row(sheet) * static_cast<float>(over.size());
        const float beyond = close ? type * 0.6f : type;
        Rect strip = sheet.take(rows + strip_height(tile) + beyond);
        const Rect lines = strip.cut_top(rows);
        draw_groups_over(sheet, lines, strip, tile, scene, period, over);
        draw_strip(sheet.canvas(), sheet.theme(), type, strip, tile, scene, period);
    } else {
        draw_mesh_figure(sheet, sheet.take(sheet.paper().line() * 5), of,
                         of.evaluation.mesh.world > kMostCards
                             ? std::nullopt
                             : std::optional(axes_in_use(of.evaluation).front()));
    }
    sheet.gap(0.3f);
    draw_costs(sheet, scene);
    sheet.gap(kBetweenParts);
}

void draw_verdict(ReviewSheet& sheet, const Evaluation* of, const std::string& reason) {
    const float body = sheet.paper().body, line = sheet.paper().line(), indent = body * 1.4f;
    const Rect row =
        sheet.take(sheet.canvas().paragraph_height(sheet.width() - indent, reason, sheet.plain(), line));
    const Vec2 sign{row.x + body * 0.4f, row.y + line / 2};
    if (of != nullptr)
        draw_fit(sheet.canvas(), sheet.theme(), sign, fit_of(of->memory), body * 0.36f);
    else
        draw_sign(sheet.canvas(), sign, Sign::disc, sheet.theme().secondary, body * 0.36f);
    sheet.canvas().paragraph({row.x + indent, row.y, row.w - indent, row.h}, reason, sheet.plain(), line);
    sheet.gap(0.6f);
}

}  // namespace pentamesh::ui
