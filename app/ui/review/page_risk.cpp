// A reviewer's checklist: the assumptions that would turn the decision, each with the value at which it does,
// and those that do not, with what was searched.
#include "app/tables/decide_tables.h"
#include "app/tables/plan_tables.h"
#include "app/ui/kit/format.h"
#include "app/ui/panels/inspector.h"
#include "app/ui/review/pages.h"
#include "app/ui/views/search/search_found.h"
#include "core/base/text.h"
#include "core/decide/compare.h"
#include "core/decide/search.h"
#include "core/memory/memory.h"

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

constexpr std::size_t kMostFit = 6, kMostUnfit = 3;  // of the layouts that were tried

Candidates candidates_of(const ReviewContent& content) {
    Candidates out;
    if (content.plans.size() > 1) {
        const bool one_model = std::ranges::all_of(
            content.plans, [&](const Plan& p) { return p.model == content.plans[0].model; });
        if (one_model) out.plans = content.plans, out.taken = better_of(content);
        return out;
    }
    if (!content.decision) return out;
    const PlanDecision& d = *content.decision;
    out.plans.push_back(content.plans[0]);
    if (d.proposal) out.plans.push_back(d.proposal->plan);
    const auto add = [&](const std::vector<SearchResult>& list, std::size_t most) {
        for (std::size_t i = 0; i < std::min(most, list.size()); ++i)
            // A plan that fits and leaves too little is no candidate, as long as that is so.
            if ((&list != &content.unfit || !fits(list[i].fit))
                && (!d.proposal || !changed_choices(list[i].plan, d.proposal->choice).empty()))
                out.plans.push_back(list[i].plan);
    };
    add(content.tried, kMostFit);
    add(content.unfit, kMostUnfit);
    if (d.ruling != Ruling::hopeless) out.taken = d.proposal ? 1 : 0;
    out.for_memory = d.ground == Ground::leaner;
    return out;
}

std::string candidate_name(const ReviewContent& content, std::size_t i) {
    if (content.plans.size() > 1) return "plan " + plan_letter(content.compared(i));
    return i == 0 ? "this plan" : change_words(content.plans[0], choice_of(content.candidates.plans[i]));
}

// A line of the checklist. Places on the scale are in powers of two from the present value.
struct RiskRow {
    std::string name{}, now{}, at{}, by{}, then{};
    double low = 0, high = 0, turn = 0;
    [[nodiscard]] double far() const { return std::abs(turn); }
};

struct Unturned {
    std::string name, now, searched;
};

struct Checklist {
    std::vector<RiskRow> rows;
    std::vector<Unturned> rest;
};

std::string then_words(const ReviewContent& content, const TurnPoint& p) {
    const Candidates& c = content.candidates;
    const std::string by = candidate_name(content, p.by);
    switch (p.kind) {
    case TurnKind::fits_no_more:
        return candidate_name(content, *c.taken) + " does not fit"
               + (p.by == *c.taken ? "" : "; " + by + (p.by_may_not_fit ? " may" : " does"));
    case TurnKind::is_slower:
        return by + (p.by_may_not_fit ? " is 1 % faster, but may not fit" : " is 1 % faster, and fits");
    case TurnKind::frees_too_little:
        return "it frees less than " + percent_text(kMuchMemory) + " of a GPU's memory";
    case TurnKind::fits_after_all: return by + (p.by_may_not_fit ? " may fit" : " fits");
    }
    return {};
}

// Adds what an assumption turns, or that it turns nothing between two values.
void add_turns(const ReviewContent& content, const Turns& t, const std::function<std::string(double)>& write,
               Checklist& out) {
    const double now = t.constant.value;
    for (const std::optional<TurnPoint>& p : {t.below, t.above})
        if (p)
            out.rows.push_back({.name = t.constant.name,
                                .now = write(now),
                                .at = write(p->at),
                                .by = (p->at < now ? "−" : "+") + percent(std::abs(p->at / now - 1)),
                                .then = then_words(content, *p),
                                .low = std::log2(t.least / now),
                                .high = std::log2(t.most / now),
                                .turn = std::log2(p->at / now)});
    if (!t.any())
        out.rest.push_back(
            {t.constant.name, write(now),
             t.least < t.most ? write(t.least) + " to " + write(t.most) : "no other value was tried"});
}

// Holds a figure that is measured, not assumed: the decision follows from it in closed form.
Turns measured_turn(std::string name, double now, double least, double most, double at, TurnKind kind,
                    std::size_t by, bool by_may_not_fit = false) {
    Turns out;
    out.constant.name = std::move(name);
    out.constant.value = now;
    out.least = least, out.most = most;
    if (at >= least && at <= most)
        (at < now ? out.below : out.above) = TurnPoint{at, kind, by, by_may_not_fit};
    return out;
}

// Asks what the step of the plan that is taken may come to, if the estimates of the others hold.
void add_step(const ReviewContent& content, Checklist& out) {
    const Candidates& c = content.candidates;
    const Evaluation taken = evaluate(c.plans[*c.taken]);
    if (!taken.step) return;
    double rate = 0;
    std::size_t by = *c.taken;
    bool open = false;
    for (std::size_t i = 0; i < c.plans.size(); ++i) {
        if (i == *c.taken || (c.for_memory && i != 0)) continue;
        const Evaluation e = evaluate(c.plans[i]);
        if (!e.step || !fits(fit_of_plan(e)) || tokens_per_gpu_s(e) <= rate) continue;
        rate = tokens_per_gpu_s(e), by = i, open = may_not_fit(fit_of_plan(e));
    }
    const Band range = band_of(taken.step->time_s, taken.step->error_90);
    // It is then slower by kWorthIt than the fastest of the others.
    const double at = rate > 0 ? taken.step->time_s * tokens_per_gpu_s(taken) / (rate * (1 - kWorthIt)) : 0;
    const std::string name =
        "a step of " + candidate_name(content, *c.taken) + ", if the others take what is estimated";
    add_turns(
        content,
        measured_turn(name, taken.step->time_s, range.low, range.high, at, TurnKind::is_slower, by, open),
        [](double v) { return time_text(v); }, out);
}

// Asks what the framework's buffers may come to, up to the largest that were measured.
void add_buffers(const ReviewContent& content, Checklist& out) {
    const Candidates& c = content.candidates;
    const Evaluation e = evaluate(c.plans[*c.taken]);
    if (!e.step) return;
    const StageMemory& full = e.memory.stage[static_cast<std::size_t>(e.memory.peak_stage)];
    const double now = bytes_of(full, MemoryCategory::buffers), rest = full.total() - now;
    if (now <= 0) return;
    add_turns(
        content,
        measured_turn("the framework's buffers on the fullest GPU", now, full.least() - rest,
                      full.most() - rest, e.memory.hbm - rest, TurnKind::fits_no_more, *c.taken),
        [](double v) { return memory_text(v); }, out);
}

Checklist checklist_of(const ReviewContent& content) {
    Checklist out;
    if (content.candidates.taken) {
        add_buffers(content, out);
        add_step(content, out);
    }
    if (content.batch)
        add_turns(
            content, *content.batch, [](double v) { return thousands(static_cast<std::int64_t>(v)); }, out);
    for (const Turns& t : content.turns)
        add_turns(
            content, t, [&t](double v) { return constant_text(t.constant.unit, v); }, out);
    std::ranges::stable_sort(out.rows, {}, [](const RiskRow& r) { return r.far(); });
    return out;
}

RowChart checklist_chart(const Ink& ink, float width, const std::vector<RiskRow>& rows) {
    const float body = ink.plain.size, gap = body * 0.8f;
    Canvas* c = &ink.canvas;
    const Theme* t = &ink.theme;
    double low = -1, high = 1;
    for (const RiskRow& r : rows) low = std::min(low, r.low), high = std::max(high, r.high);
    RowChart out{.columns = {{.width = body},
                             {.head = "assumption", .most = 0.28f, .gap = gap * 0.6f},
                             {.head = "in the plan", .align = Align::right, .gap = gap},
                             {.head = "holds up to", .align = Align::right, .gap = gap},
                             {.align = Align::right, .gap = gap * 0.6f},
                             {.head = "0.5 – 2×",
                              .align = Align::center,
                              .share = 1,
                              .gap = gap,
                              .low = low,
                              .high = high,
                              .bar = 0.5f,
                              .rules = {{0, ink.theme.text, 1.5f}}},
                             {.head = "beyond it", .width = 0.27f * width, .gap = gap}},
                 .measured = ink.strong};
    for (const RiskRow& r : rows) {
        RowChart::Row row{.cells = {{},
                                    {.words = r.name, .wraps = true},
                                    {r.now},
                                    {.words = r.at, .style = ink.strong},
                                    {r.by},
                                    {},
                                    {.words = r.then, .wraps = true}},
                          .style = ink.plain};
        row.cells[0].marks = {
            {0, 1, [c, t, body](Rect box) {
                 const float side = body * 0.7f;
                 c->frame({box.x, box.center().y - side / 2, side, side}, t->secondary, 1.2f, 2);
             }}};
        const double beyond = r.turn < 0 ? r.low : r.high;
        row.cells[5].marks = {
            {r.low, r.high, [c, t](Rect bar) { c->rect(bar, mix(t->panel, t->good, 0.35f)); }},
            {std::min(r.turn, beyond), std::max(r.turn, beyond), [c, t](Rect bar) {
                 c->pattern(bar, Pattern::hatched, t->bad, t->panel);
                 c->frame(bar, t->bad, 1, 0);
             }}};
        out.rows.push_back(std::move(row));
    }
    out.columns[0].low = 0, out.columns[0].high = 1;
    return out;
}

void draw_checklist(ReviewSheet& sheet, const std::vector<RiskRow>& rows) {
    const Ink ink = sheet.ink();
    RowChart chart = checklist_chart(ink, sheet.width(), rows);
    const PlacedChart at = place_chart(ink, {0, 0, sheet.width(), 0}, chart);
    PlacedChart on_page = at;
    const Rect head = sheet.take(ink.line * 1.2f);
    for (Rect& column : on_page.column) column.x += head.x;
    draw_chart_head(ink, on_page, head, chart);
    for (std::size_t i = 0; i < chart.rows.size(); ++i) {
        const Rect row = sheet.take(chart_row_height(ink, at, chart.rows[i]) + ink.line * 0.25f);
        draw_chart_row(ink, on_page, row, chart, i);
    }
    sheet.gap();
}

// Lists what turns nothing in two halves of the page, one next to the other; what has no room goes on on the
// next page. In brief it is as long as this page has room for, with what follows it, where that is a good
// part.
class UnturnedTable {
  public:
    UnturnedTable(ReviewSheet& sheet, const std::vector<Unturned>& rest)
        : sheet_(sheet), rest_(rest), apart_(sheet.paper().body * 2), half_((sheet.width() - apart_) / 2) {}

    // `below` is the height of what follows.
    void draw(bool brief, float below) {
        if (rest_.empty()) return;
        if (!sheet_.paper().wide || rest_.size() < 2) return draw_whole();
        constexpr std::size_t kLeastRows = 3;  // fewer on a page are not worth their heading
        const float line = sheet_.paper().line(), head = sheet_.paper().head * 1.35f + line;
        if (brief && draw_short(head + 2 * line + below)) return;
        for (std::size_t from = 0; from < rest_.size();) {
            const std::size_t all = (rest_.size() - from + 1) / 2;
            std::size_t rows = all;
            const float left =
                sheet_.paper().one_a_page ? sheet_.whole() - 2 * line : sheet_.left();  // a page of its own
            while (rows > 1 && high_of(from, rows) + head > left) --rows;
            const bool here = rows == all || rows >= kLeastRows;
            if (!here)
                for (rows = all; rows > 1 && high_of(from, rows) > sheet_.whole() - 3 * line;) --rows;
            const float high = high_of(from, rows);
            sheet_.head(from == 0 ? "What does not turn it" : "What does not turn it, continued",
                        here ? std::min(high, sheet_.left()) : sheet_.whole() - 3 * line);
            draw_rows(from, rows);
            sheet_.gap();
            from += 2 * rows;
        }
    }

  private:
    // Returns so many rows for each half.
    [[nodiscard]] std::array<Table, 2> halves_of(std::size_t from, std::size_t rows) const {
        std::array<Table, 2> out;
        for (Table& t : out) t.columns = {{"assumption"}, {"in the plan"}, {"no value turns it in"}};
        for (std::size_t i = from; i < std::min(rest_.size(), from + 2 * rows); ++i)
            out[i < from + rows ? 0 : 1].rows.push_back({rest_[i].name, rest_[i].now, rest_[i].searched});
        return out;
    }
    [[nodiscard]] float high_of(std::size_t from, std::size_t rows) const {
        const std::array<Table, 2> halves = halves_of(from, rows);
        return std::max(sheet_.table_in({0, 0, half_, 0}, halves[0], false),
                        sheet_.table_in({0, 0, half_, 0}, halves[1], false));
    }
    void draw_rows(std::size_t from, std::size_t rows) {
        Rect row = sheet_.take(std::min(high_of(from, rows), sheet_.left()));
        const std::array<Table, 2> halves = halves_of(from, rows);
        sheet_.table_in(row.cut_left(half_), halves[0]);
        row.cut_left(apart_);
        if (!halves[1].rows.empty()) sheet_.table_in(row, halves[1]);
    }
    // Returns false where most of the list has no room on this page, which keeps so much for the rest.
    [[nodiscard]] bool draw_short(float kept) {
        const std::size_t all = (rest_.size() + 1) / 2;
        std::size_t rows = all;
        while (rows > 1 && high_of(0, rows) + kept > sheet_.left()) --rows;
        if (high_of(0, rows) + kept > sheet_.left() || 2 * rows < all) return false;
        sheet_.head("What does not turn it", high_of(0, rows));
        draw_rows(0, rows);
        if (rows < all)
            sheet_.words(plural(static_cast<std::int64_t>(rest_.size() - 2 * rows), "more turns", "more turn")
                             + " nothing either: the whole page has them.",
                         sheet_.faint());
        sheet_.gap();
        return true;
    }
    void draw_whole() {
        Table t = halves_of(0, rest_.size())[0];
        sheet_.head("What does not turn it", sheet_.paper().line() + sheet_.table_start(t));
        sheet_.table(t);
    }

    ReviewSheet& sheet_;
    const std::vector<Unturned>& rest_;
    float apart_, half_;
};

// Says among what it was searched.
std::string searched_words(const ReviewContent& content) {
    const std::size_t n = content.candidates.plans.size();
    const std::string among =
        content.plans.size() > 1 ? "the " + std::to_string(n) + " plans"
        : n > 1 ? "this plan and " + plural(static_cast<std::int64_t>(n - 1), "other layout", "other layouts")
                      + " that " + (n > 2 ? "were" : "was") + " tried"
                : "this plan, beside which nothing was found";
    return "Each assumption is moved by itself, all else as it is, and " + among
           + " evaluated anew. It turns the decision where what is taken no longer fits, or another one that "
             "fits is faster by 1 %. "
           + std::to_string(2 * kTurnValues)
           + " values are tried of a constant, the place of a turn is found by halving.";
}

}  // namespace

void ReviewContent::ask_turns() {
    candidates = candidates_of(*this);
    if (candidates.plans.empty() || broken_by(candidates, candidates.plans)) return;
    turns = turns_of(candidates, presets);
    if (!turns.empty()) batch = batch_turns(candidates);
}

void risk_page(ReviewSheet& sheet, const ReviewContent& content) {
    const float line = sheet.paper().line();
    const Evaluation& e = content.detail().evaluation;
    if (!e.step) return;
    sheet.section("Risk: what would turn the decision", 8 * line);
    sheet.words(decision_by_figures(content, proposal_of(content)), sheet.strong());
    if (content.turns.empty()) {
        sheet.words("No assumption was asked: no decision among these plans stands on their figures.");
        sheet.gap();
    } else {
        const Checklist list = checklist_of(content);
        sheet.words(searched_words(content), sheet.faint());
        sheet.gap(0.4f);
        if (list.rows.empty())
            sheet.words("Nothing turns it within what was searched.", sheet.strong());
        else
            draw_checklist(sheet, list.rows);
        UnturnedTable(sheet, list.rest).draw(content.brief(), problems_height(sheet, e));
    }
    if (!e.problems.empty()) problems_and_advice(sheet, e);
}

}  // namespace pentamesh::ui
