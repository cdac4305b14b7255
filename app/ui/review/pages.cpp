#include "app/ui/review/pages.h"

#include "app/tables/decide_tables.h"
#include "app/tables/plan_tables.h"
#include "app/tables/review.h"
#include "app/ui/kit/format.h"
#include "app/ui/panels/inspector.h"
#include "app/ui/scene/colors.h"
#include "app/ui/views/compare/view.h"
#include "app/ui/views/memory/view.h"
#include "app/ui/views/mesh/mesh_layout.h"
#include "app/ui/views/step/view.h"
#include "core/base/text.h"
#include "core/explain/verdict.h"
#include "core/mesh/places.h"
#include "core/plan/names.h"
#include "core/plan/problem.h"
#include "core/plan/software.h"
#include "core/step/constants.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pentamesh::ui {

namespace {

// Sources are written once, in a list at the end, and are named by their number in it.
class SourceList {
  public:
    std::string mark(const std::string& text) {
        std::size_t i = 0;
        while (i < texts_.size() && texts_[i] != text) ++i;
        if (i == texts_.size()) texts_.push_back(text);
        return "[" + std::to_string(i + 1) + "]";
    }
    [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }
    // Returns the name of the place that a mark leads to.
    [[nodiscard]] static std::string place_of(std::string_view mark) { return "source " + std::string(mark); }

  private:
    std::vector<std::string> texts_;
};

// Returns true if a figure of this plan would change with another value of the constant.
bool bears(const Reviewed& of, const Evaluation& now, const Constant& c) {
    const double more = std::min(c.value * 1.25, c.most), less = std::max(c.value * 0.8, c.least);
    const double other = c.unit == Constant::Unit::flag ? 1 - c.value : more != c.value ? more : less;
    const Evaluation e = evaluate(with_constant(of.plan, of.presets, c.id, other), {.timeline = false});
    if (!e.valid || !e.step || !now.step) return true;
    return e.step->time_s != now.step->time_s || e.step->error != now.step->error
           || e.step->mfu != now.step->mfu || e.memory.peak() != now.memory.peak();
}

struct ShownConstants {
    std::vector<Constant> rest_on;
    std::size_t others = 0;  // of the plan's hardware, which no figure of it uses
};

ShownConstants constants_of(const Reviewed& of) {
    ShownConstants out;
    const Evaluation now = evaluate(of.plan, {.timeline = false});
    for (Constant& c : list_constants(of.plan, of.presets))
        if (c.changed() || bears(of, now, c))
            out.rest_on.push_back(std::move(c));
        else
            ++out.others;
    return out;
}

void draw_constants(ReviewSheet& sheet, const Reviewed& of, SourceList& sources) {
    const ShownConstants shown = constants_of(of);
    sheet.head("Constants", sheet.paper().line() * 4);
    for (const Constant& c : shown.rest_on) {
        const std::string mark = sources.mark(c.source.empty() ? "The plan itself." : c.source);
        sheet.entry(c.name + ": " + constant_text(c.unit, c.value)
                        + (c.changed() ? " (ships as " + constant_text(c.unit, c.shipped) + ")" : "") + " "
                        + mark,
                    c.meaning, SourceList::place_of(mark));
    }
    if (shown.others > 0)
        sheet.words(std::to_string(shown.others)
                        + (shown.others == 1 ? " more constant of this hardware bears"
                                             : " more constants of this hardware bear")
                        + " on no figure of this plan.",
                    sheet.faint());
    sheet.gap();
}

// Numbers that come about in the same way, as one entry.
struct Formula {
    Explanation first;
    std::string names;
    std::vector<std::string> marks;  // of their sources
};

std::vector<Formula> formulas_of(const Reviewed& of, SourceList& sources) {
    std::vector<Formula> out;
    // Figures rest on those that are not 0.
    for (Explanation& x : explanations_of(of.plan, of.evaluation, Zero::left_out)) {
        const std::string mark = sources.mark(x.source);
        const auto same = std::find_if(out.begin(), out.end(), [&](const Formula& f) {
            return f.first.formula == x.formula && f.first.substituted == x.substituted
                   && f.first.result == x.result;
        });
        if (same == out.end()) {
            std::string names = x.whole_title();
            out.push_back({std::move(x), std::move(names), {mark}});
            continue;
        }
        // A title that both have is written once: "tp sends, activations; gradients".
        const bool alike = !x.part.empty() && x.title == same->first.title;
        same->names += "; " + (alike ? x.part : x.whole_title());
        if (std::find(same->marks.begin(), same->marks.end(), mark) == same->marks.end())
            same->marks.push_back(mark);
    }
    return out;
}

void draw_formulas(ReviewSheet& sheet, const Reviewed& of, SourceList& sources) {
    const std::vector<Formula> all = formulas_of(of, sources);
    sheet.head("Formulas", sheet.paper().line() * 4);
    sheet.place(kFormulas);
    for (const Formula& f : all) {
        std::string head = f.names;
        for (const std::string& mark : f.marks) head += " " + mark;
        const Explanation& x = f.first;
        sheet.entry(head, x.formula + (x.substituted.empty() ? "" : "\n= " + x.substituted) + "\n" + x.result,
                    SourceList::place_of(f.marks.front()));
    }
    sheet.gap();
}

// Lists the runs, with their sources in the list at the end.
Table runs_of(const Table& runs, SourceList& sources) {
    Table t = runs;
    for (Table::Row& row : t.rows) row.back() = sources.mark(row.back().text());
    return t;
}

}  // namespace

void assumptions_page(ReviewSheet& sheet, const ReviewContent& content) {
    const Reviewed of = content.detail();
    const Evaluation& e = of.evaluation;
    const float behind = sheet.paper().line() * 4;
    SourceList sources;
    sheet.section("Assumptions: what the figures rest on");
    if (e.valid && e.step && content.runs > 0) {
        sheet.head("How sure the figures are", behind);
        sheet.place(kRange);
        sheet.words("Times are estimates. " + range_sentence(*e.step)
                    + " What half lie within is the range beside a figure. Memory has the range of what "
                      "buffers commonly take.");
        sheet.gap(0.3f);
        if (of.plan.cluster.calibration)
            sheet.words("Constants that differ from the presets are "
                        + calibrated_text(*of.plan.cluster.calibration) + ".");
        sheet.words("The runs that the constants are fitted to, those most like this plan first, with the "
                    "constants that ship:");
        sheet.table(runs_of(content.near_runs, sources));
        sheet.words(near_runs_words(*e.step), sheet.faint());
        sheet.gap();
    }
    if (e.valid) {
        sheet.head("What is left out", behind);
        for (const std::string& s : left_out_of_estimates(of.plan, e))
            draw_item(sheet, sheet.theme().faint, s);
        sheet.gap();
    }
    // Lines are short, so they are set in two columns.
    sheet.columns(2);
    draw_constants(sheet, of, sources);
    if (e.valid) draw_formulas(sheet, of, sources);
    sheet.head("Sources", sheet.paper().line() * 2);
    for (const std::string& text : sources.texts()) {
        const std::string mark = sources.mark(text);
        sheet.need(std::min(sheet.whole(), sheet.words_height(mark + " " + text, sheet.width())));
        sheet.place(SourceList::place_of(mark));
        sheet.words(mark + " " + text);
    }
    sheet.columns(1);
}

// The page that decides among more than two plans: what to take and why, and each plan in a row: its step in
// parts, its memory, all on one scale.

namespace {

constexpr float kLeastPlan = 2.4f, kPlainPlan = 3.1f, kMostPlan = 5;  // lines of a plan

struct CandidateScale {
    double step_s = 0, bytes = 0;
    float row = 0, bar = 0;    // the heights of a plan and of its bars
    float name = 0, cost = 0;  // widths of the first and the last column
    std::optional<std::size_t> taken{};
};

// Writes which plan it is: its letter and title, and below it what distinguishes it from A.
void draw_name(ReviewSheet& sheet, Rect room, const ReviewContent& content, std::size_t i) {
    const PlanComparison& c = *content.comparison;
    const float line = sheet.paper().line();
    const Rect letter = room.cut_left(sheet.paper().body * 1.3f);
    sheet.label({letter.x, letter.y, letter.w, line}, plan_letter(i), sheet.strong());
    std::string change;
    for (const FieldDifference& f : c.fields)
        if (f.values[i] != f.values[0])
            change += (change.empty() ? "" : ", ") + field_name(f.pointer) + " " + field_value(f.values[i]);
    const auto write = [&](const std::string& text, const TextStyle& style) {
        const auto lines = sheet.canvas().wrapped(room.w, text, style);
        for (std::size_t k = 0; k < lines.size() && room.h >= line; ++k) {
            const bool last = room.h < 2 * line && k + 1 < lines.size();
            sheet.label(room.cut_top(line), last ? "and more, in the table" : lines[k], style);
        }
    };
    if (i == 0 || c.plans[i] != c.plans[0]) write(c.plans[i], sheet.strong());
    if (i > 0) write(change.empty() ? "as A" : change, sheet.faint());
}

// Returns the parts that the bars have, each once, as the first plan has them.
std::vector<StepSlice> parts_of_all(const ReviewContent& content) {
    std::vector<StepSlice> out;
    for (const Evaluation& e : content.evaluations) {
        if (!e.step) continue;
        for (const StepSlice& s : joined(waterfall(*e.step), is_below_peak, StepPart::products))
            if (std::none_of(out.begin(), out.end(), [&](const StepSlice& known) {
                    return known.part == s.part && (s.part != StepPart::exposed || known.group == s.group);
                }))
                out.push_back(s);
    }
    return out;
}

// Names the parts in as many lines as they need, and returns how many; without `draw` it counts them only.
int parts_legend(ReviewSheet& sheet, const std::vector<StepSlice>& parts, Rect room, bool draw) {
    Ink ink = sheet.ink();
    ink.faint.size = sheet.paper().small;
    LegendLines out{.ink = ink,
                    .room = room,
                    .mark = {sheet.paper().body * 1.4f, ink.line * 0.6f},
                    .apart = sheet.paper().small,
                    .draw = draw};
    for (const StepSlice& s : parts) out.item(part_name(s), [&](Rect mark) { fill_part(ink, mark, s); });
    return out.lines;
}

// Returns true if a plan fits by the sum and has little room, which a line says.
bool any_tight(const ReviewContent& content) {
    return std::any_of(content.evaluations.begin(), content.evaluations.end(),
                       [](const Evaluation& e) { return e.step && e.memory.fit() == MemoryFit::tight; });
}

// Returns the height of what stands below the plans.
float height_below(ReviewSheet& sheet, const ReviewContent& content) {
    const int lines = parts_legend(sheet, parts_of_all(content), {0, 0, sheet.width(), 0}, false)
                      + (any_tight(content) ? 1 : 0);
    return sheet.paper().line() * (static_cast<float>(lines) + 0.2f);
}

void draw_step_bar(ReviewSheet& sheet, Rect room, const Step& step, const CandidateScale& scale) {
    const float line = sheet.paper().line();
    Rect words = room.cut_top(line);
    sheet.label(words, time_text(step.time_s) + "  ·  MFU " + percent(step.mfu), sheet.strong());
    draw_step_bar(sheet.ink(), {room.x, room.y, room.w, scale.bar},
                  joined(waterfall(step), is_below_peak, StepPart::products), scale.step_s);
}

void draw_memory_of(ReviewSheet& sheet, Rect room, const Evaluation& e, const CandidateScale& scale) {
    const Memory& m = e.memory;
    const float line = sheet.paper().line();
    TextStyle style = sheet.strong();
    const MemoryFit fit = fit_of_plan(e);
    if (fit != MemoryFit::yes) style.color = color_of(sheet.theme(), fit);
    sheet.label(room.cut_top(line),
                gib(m.peak()) + " GiB  ·  " + std::string(name_of(fit))
                    + (fit == MemoryFit::tight ? "*" : ""),
                style);
    room.h = scale.bar;
    draw_memory_bar(sheet.ink(), room, m.stage[static_cast<std::size_t>(m.peak_stage)], m.hbm, scale.bytes);
}

// Writes what a billion tokens or the training take.
void draw_cost(ReviewSheet& sheet, Rect room, const ReviewContent& content, std::size_t i) {
    const bool whole = std::all_of(content.plans.begin(), content.plans.end(),
                                   [](const Plan& p) { return p.training.tokens_total > 0; });
    const CostWords cost = cost_words(content.of(i), whole);
    const float line = sheet.paper().line();
    sheet.label(room.cut_top(line), cost.head, sheet.strong(), Align::right);
    sheet.label(room.cut_top(line), cost.rest.empty() ? "a billion tokens" : cost.rest, sheet.faint(),
                Align::right);
}

void draw_candidate(ReviewSheet& sheet, const ReviewContent& content, std::size_t i,
                    const CandidateScale& scale) {
    const Evaluation& e = content.evaluations[i];
    const Theme& t = sheet.theme();
    const float line = sheet.paper().line(), apart = sheet.paper().body * 1.4f;
    Rect row = sheet.take(scale.row);
    const bool taken = scale.taken && *scale.taken == i;
    if (i == 0 || taken)
        sheet.canvas().rect({row.x - 6, row.y - 3, row.w + 12, row.h - 2},
                            mix(t.panel, taken ? t.good : t.secondary, 0.12f), 4);
    draw_name(sheet, row.cut_left(scale.name), content, i);
    row.cut_left(apart);
    if (!e.step) {
        sheet.canvas().paragraph(row, "cannot be built: " + first_error(e.problems), sheet.plain(), line);
        return;
    }
    Rect below = row;
    below.cut_top(1.15f * line + scale.bar);
    draw_cost(sheet, row.cut_right(scale.cost), content, i);
    row.cut_right(apart);
    const float w = (row.w - apart) * 0.55f;
    draw_step_bar(sheet, row.cut_left(w), *e.step, scale);
    row.cut_left(apart);
    draw_memory_of(sheet, row, e, scale);
    const Evaluation& a = content.evaluations[0];
    if (i == 0 || !a.step || below.h < line) return;
    const std::string why = main_parts_text(*a.step, *e.step);
    if (!why.empty() && sheet.canvas().text_width("than A: " + why, sheet.faint()) <= below.w)
        sheet.label(below.cut_top(line), "than A: " + why, sheet.faint());
}

}  // namespace

void candidates_page(ReviewSheet& sheet, const ReviewContent& content) {
    sheet.begin(decision_of(content, nullptr));
    const auto taken = better_of(content);
    draw_verdict(sheet, taken ? &content.evaluations[*taken] : nullptr, reason_of(content, nullptr));
    candidate_figures(sheet, content);
    if (taken) draw_open(sheet, content);
}

float candidates_height(ReviewSheet& sheet, const ReviewContent& content) {
    return sheet.paper().line() * kLeastPlan * static_cast<float>(content.plans.size())
           + height_below(sheet, content);
}

void candidate_figures(ReviewSheet& sheet, const ReviewContent& content) {
    const auto n = static_cast<float>(content.plans.size());
    const float line = sheet.paper().line();
    // The bars are thicker where the page has room beyond the legend and the open questions.
    const auto taken = better_of(content);
    const float free = (sheet.left() - (taken ? 9 : 4) * line) / n;
    const float row = std::clamp(
        std::max(std::min((sheet.left() - height_below(sheet, content)) / n, kPlainPlan * line), free),
        kLeastPlan * line, kMostPlan * line);
    CandidateScale scale{.row = row,
                         .bar = 0.9f * line + std::max(0.0f, 0.7f * (row - kPlainPlan * line)),
                         .name = sheet.width() * 0.28f,
                         .cost = sheet.canvas().text_width("00,000 GPU-hours", sheet.strong()) + 4,
                         .taken = taken};
    for (const Evaluation& e : content.evaluations) {
        if (!e.step) continue;
        scale.step_s = std::max(scale.step_s, e.step->time_s);
        scale.bytes = std::max({scale.bytes, e.memory.hbm,
                                e.memory.stage[static_cast<std::size_t>(e.memory.peak_stage)].most()});
    }
    for (std::size_t i = 0; i < content.plans.size(); ++i) draw_candidate(sheet, content, i, scale);
    const std::vector<StepSlice> parts = parts_of_all(content);
    const int lines = parts_legend(sheet, parts, {0, 0, sheet.width(), 0}, false);
    parts_legend(sheet, parts, sheet.take(line * static_cast<float>(lines)), true);
    if (any_tight(content))
        sheet.words("* it fits by the sum; with the largest buffers, or another loss, it may not",
                    sheet.faint());
    sheet.gap();
}

namespace {

// Joins calls that have all figures in common to one row, with the names of all. Returns true if there are
// such.
bool join_alike(Table& t, std::size_t name) {
    std::vector<Table::Row> out;
    for (const Table::Row& row : t.rows) {
        const auto alike = std::find_if(out.begin(), out.end(), [&](const Table::Row& r) {
            for (std::size_t i = 0; i < row.size(); ++i)
                if (i != name && !(r[i] == row[i])) return false;
            return true;
        });
        if (alike == out.end())
            out.push_back(row);
        else
            (*alike)[name] = (*alike)[name].text() + "; " + row[name].text();
    }
    const bool any = out.size() < t.rows.size();
    t.rows = std::move(out);
    return any;
}

}  // namespace

void communication_page(ReviewSheet& sheet, const ReviewContent& content) {
    const Reviewed of = content.detail();
    const Evaluation& e = of.evaluation;
    sheet.section("Communication: what the GPUs say to each other", 0.5f * sheet.whole());
    sheet.place(kCommunicationPage);
    if (!e.valid) return;
    if (e.comm.operations.empty()) {
        sheet.words("Nothing: no GPU talks to another.");
        return;
    }
    sheet.words("In one step, " + rows_device_text(e.comm)
                + ". Exposed is time that no compute hides; sent is what leaves the GPU.");
    sheet.gap(0.3f);
    if (e.step) {
        constexpr float kTraffic = 260;  // pixels of the window
        const float bands = kTraffic * window_pixel(sheet);
        sheet.head("What waits, and what compute hides", bands);
        draw_traffic(sheet, sheet.take_grown(bands, 1.6f * bands), of);
        sheet.gap();
        draw_lanes(sheet, of);
    }
    const Table axes = axes_traffic_table(e), links = links_traffic_table(of.plan, e);
    const float gap = sheet.paper().body * 2.5f, half = (sheet.width() - gap) / 2;
    const float head = sheet.paper().line() * 1.3f;
    const float high = head
                       + std::max(sheet.table_in({0, 0, half, 0}, axes, false),
                                  sheet.table_in({0, 0, half, 0}, links, false));
    Rect left = sheet.take(std::min(high, sheet.whole()));
    Rect right = left.cut_right(half);
    sheet.label(left.cut_top(head), "By axis", sheet.strong());
    sheet.label(right.cut_top(head), "By link", sheet.strong());
    sheet.table_in({left.x, left.y, half, left.h}, axes);
    sheet.table_in(right, links);
    sheet.gap();
    if (content.brief()) return;  // call by call they are in the whole page
    Table all = columns_of(comm_table(of.plan, e),
                           {"axis", "what", "collective", "group_size", "tier", "phase", "count_per_step",
                            "message_bytes", "sent_bytes_per_rank", "time_s", "exposed_s"});
    bool elsewhere = false;
    for (std::size_t i = 0; i < e.comm.operations.size(); ++i)
        if (e.comm.operations[i].on_other_stage) {
            all.rows[i][1] = all.rows[i][1].text() + "*";
            elsewhere = true;
        }
    // The axis has its degree and its link in one column: the names of what is sent need the room.
    for (Table::Row& row : all.rows) {
        row[0] = row[0].text() + " " + with_commas(static_cast<std::int64_t>(row[3].number())) + " "
                 + row[4].text();
        row.erase(row.begin() + 3, row.begin() + 5);
    }
    all.columns.erase(all.columns.begin() + 3, all.columns.begin() + 5);
    all.columns[0].title = "axis, link";
    const bool joined = join_alike(all, 1);
    sheet.head("Every collective", (joined ? sheet.paper().line() : 0) + sheet.table_start(all));
    if (joined)
        sheet.words("A row with several names has the figures of each of them, not of all together.",
                    sheet.faint());
    sheet.table(all);
    if (elsewhere)
        sheet.words("* on the first or last stage, where another one works longest: in no sum.",
                    sheet.faint());
}

namespace {

std::string held_words(const Memory& m) {
    const StageMemory& peak = m.stage[static_cast<std::size_t>(m.peak_stage)];
    std::string s = (m.stage.size() > 1 ? "A GPU of stage " + std::to_string(m.peak_stage) + " holds most: "
                                        : "Each GPU holds ")
                    + memory_text(peak.total(), Zeros::kept) + " of " + memory_text(m.hbm, Zeros::kept);
    const double free = m.hbm - peak.total();
    if (m.fits())
        s += ", which leaves " + memory_text(free, Zeros::kept) + " (" + percent_text(free / m.hbm)
             + ") free.";
    else if (m.may_fit())
        s += ", which may not fit.";
    else
        s += ", which does not fit: " + memory_text(-free, Zeros::kept) + " too much.";
    return s + " With what buffers may take it is " + memory_text(peak.least(), Zeros::kept) + " to "
           + memory_text(peak.most(), Zeros::kept) + ".";
}

// Draws the way from the whole model on one GPU to the plan as a table; where it needs a slide of its own,
// with the view's picture above it.
void draw_headroom(ReviewSheet& sheet, const Reviewed& of) {
    const std::vector<SavingStep> steps = savings(of.plan, of.evaluation.memory);
    const Table table =
        without(savings_table(steps), {"parameters", "gradients", "optimizer", "activations", "buffers"});
    const float line = sheet.paper().line(), behind = line + sheet.table_start(table);
    const bool one = sheet.paper().one_a_page;
    const bool joins = !one && sheet.left() >= behind + sheet.paper().head * 1.35f + line * 0.25f;
    const std::string title = "What leaves the headroom";
    if (!joins && sheet.paper().wide && !steps.empty()) {
        const float most = memory_height(sheet, of.evaluation.memory, MemoryPage::saved),
                    rest = sheet.whole() - 4 * line - sheet.table_in({0, 0, sheet.width(), 0}, table, false),
                    high = one ? most : std::clamp(rest, 0.5f * most, most);
        sheet.head(title, high);
        draw_held(sheet, one ? sheet.take_grown(high, 1.6f * high) : sheet.take(high), of, MemoryPage::saved);
        if (one)
            sheet.head(title + ", choice by choice", behind);
        else
            sheet.gap();
    } else {
        sheet.head(title, behind);
    }
    sheet.words("The fullest GPU, from the whole model on one GPU to this plan, one choice after another.",
                sheet.faint());
    sheet.table(table);
}

}  // namespace

Table stages_of(const Memory& m) {
    Table t = columns_of(memory_table(m), {"stage", "layers", "parameters", "gradients", "optimizer",
                                           "activations", "buffers", "total", "in_flight_microbatches"});
    const Table free = columns_of(headroom_table(m), {"free", "free_share", "free_at_most"});
    t.columns.insert(t.columns.end(), free.columns.begin(), free.columns.end());
    for (std::size_t i = 0; i < t.rows.size(); ++i)
        t.rows[i].insert(t.rows[i].end(), free.rows[i].begin(), free.rows[i].end());
    std::vector<Table::Row> joined;
    for (const StageRun& run : stage_runs(m)) {
        joined.push_back(t.rows[run.first]);
        joined.back()[0] = name_of(run);
    }
    t.rows = std::move(joined);
    return t;
}

void memory_page(ReviewSheet& sheet, const ReviewContent& content) {
    const Reviewed of = content.detail();
    const Memory& m = of.evaluation.memory;
    // In brief the bars may be lower, so that they stand below what comes before them.
    constexpr float kLowBars = 0.62f;
    const float bars = memory_height(sheet, m), least = content.brief() ? kLowBars * bars : bars;
    sheet.section("Memory: what each GPU holds", least + 3 * sheet.paper().line());
    sheet.place(kMemoryPage);
    if (!of.evaluation.valid || m.stage.empty()) return;
    sheet.words(held_words(m), sheet.strong());
    sheet.gap(0.3f);
    const float high = std::min(bars, std::max(least, sheet.left()));
    draw_held(sheet, sheet.take_grown(high, 1.4f * bars), of);
    sheet.gap();
    Table stages = stages_of(m);
    constexpr std::size_t kTotal = 7;
    if (content.brief()) shorten(stages, kTotal);  // the fullest stages
    const float line = sheet.paper().line();
    sheet.head("By stage and category", line + sheet.table_start(stages));
    sheet.words("In flight: micro-batches that are held at the peak. Free: with the usual buffers, and with "
                "the largest.",
                sheet.faint());
    sheet.table(stages);
    draw_headroom(sheet, of);
}

void shorten(Table& table, std::size_t column, std::size_t rows) {
    if (table.rows.size() <= rows + 1) return;
    std::vector<double> values;
    for (const Table::Row& row : table.rows) values.push_back(row[column].number());
    std::sort(values.begin(), values.end(), std::greater<>());
    const double least = values[rows - 1];
    const std::size_t before = table.rows.size();
    std::size_t kept = 0;
    std::erase_if(table.rows,
                  [&](const Table::Row& row) { return row[column].number() < least || ++kept > rows; });
    table.left_out += before - table.rows.size();
}

namespace {

std::string step_words(const Step& s) {
    const Band r = band_of(s.time_s, s.error);
    return "A step takes " + time_text(s.time_s, Zeros::kept) + " (" + time_text(r.low, Zeros::kept) + " to "
           + time_text(r.high, Zeros::kept) + "). " + percent_text(s.ideal_s / s.time_s)
           + " of it is the model's own work at the GPUs' peak; the rest is where time is lost. Exposed is "
             "communication that no compute hides.";
}

// Says whose idle time "bubble" means, in each of its figures.
std::string bubble_words(const Evaluation& e) {
    const Timeline& t = e.timeline;
    const Step& s = *e.step;
    if (t.empty()) return "The pipeline is too long to replay; the bubble is the schedule's closed form.";
    if (t.shape.devices <= 1) return "One stage: there is no pipeline, and no bubble in it.";
    double least = 1, most = 0;
    for (const DeviceTime& d : t.device) {
        const double idle = (t.makespan - d.busy) / t.makespan;
        least = std::min(least, idle), most = std::max(most, idle);
    }
    std::string out =
        "The schedule " + std::string(name_of(t.shape.schedule)) + " with "
        + sentence(t.shape.devices, " stages and ", t.shape.microbatches, " micro-batches takes ")
        + time_text(t.makespan, Zeros::kept) + ". The average stage idles "
        + percent_text(t.bubble_fraction()) + " of that, the busiest " + percent_text(least) + ", the idlest "
        + percent_text(most) + ". Of the step above, " + time_text(s.bubble_s, Zeros::kept)
        + " are the average stage's wait in the pipeline";
    if (s.uneven_s > 1e-6 * s.time_s)
        out += ": " + time_text(schedule_bubble_s(s), Zeros::kept)
               + " that the schedule leaves idle on the longest stage, and "
               + time_text(s.uneven_s, Zeros::kept) + " because stages are uneven";
    return out + ".";
}

// Lists what a run of the plan took, part by part, next to the estimate.
void draw_run(ReviewSheet& sheet, const runs::Measured& run) {
    const Table parts = columns_of(measured_parts_table(run),
                                   {"part", "predicted_s", "measured_s", "difference_s", "share", "why"});
    const float line = sheet.paper().line();
    sheet.head("What was measured", line * 2 + sheet.table_start(parts));
    sheet.words(typeset(run.summary));
    for (const runs::RunProblem& p : run.problems) draw_item(sheet, sheet.theme().amber, typeset(p.message));
    for (const std::string& w : run.warnings) draw_item(sheet, sheet.theme().secondary, typeset(w));
    sheet.gap(0.3f);
    sheet.table(parts);
}

}  // namespace

void time_page(ReviewSheet& sheet, const ReviewContent& content) {
    const Reviewed of = content.detail();
    const Evaluation& e = of.evaluation;
    sheet.section("Time: how long a step takes, and why", 0.5f * sheet.whole());
    sheet.place(kTimePage);
    if (!e.valid) return;
    if (!e.step) {
        sheet.words("No time comes out of this plan: see the problems on the first page.");
        return;
    }
    sheet.words(step_words(*e.step), sheet.strong());
    sheet.gap(0.3f);
    RowChart parts = step_rows(sheet.ink(), *e.step, e.step->time_s);
    const float bars = std::min(sheet.whole(), chart_height(sheet.ink(), parts));
    draw_chart(sheet.ink(), sheet.take_grown(bars, 1.6f * bars), parts);
    sheet.gap(0.8f);
    if (content.request.run && content.shown == 0) draw_run(sheet, *content.request.run);
    const std::string bubble = bubble_words(e);
    const bool pipeline = !e.timeline.empty() && e.timeline.shape.devices > 1;
    // The figure stands below its heading, lower where it is then on this page, at most as high as a page.
    constexpr float kLowest = 356, kLower = 0.6f;  // pixels of the window, with its parts; of its height
    float figure = pipeline ? std::min(pipeline_height(sheet, e.timeline), sheet.whole()) : 0;
    const float rest = sheet.left() - 2 * sheet.paper().line();
    if (pipeline && !sheet.paper().one_a_page
        && rest >= std::max(kLower * figure, kLowest * window_pixel(sheet)))
        figure = std::min(figure, rest);
    const float words = sheet.words_height(bubble, sheet.width());
    if (content.brief())  // the words stand on its page
        figure = std::min(figure, sheet.whole() - words - 2 * sheet.paper().head);
    sheet.head("The pipeline in one step", pipeline ? figure : words);
    if (pipeline) {
        const float high = std::min(figure, sheet.left());
        draw_pipeline(sheet, sheet.take_grown(high, 1.3f * high), of);
        sheet.gap(0.3f);
        sheet.need(words);
    }
    sheet.words(bubble);
    sheet.gap(0.5f);
    if (const Table cost = cost_table(of.plan, &*e.step); !cost.rows.empty()) {
        sheet.head("What the training takes", sheet.table_start(cost));
        sheet.table(cost);
    }
    const float rows = sheet.paper().line() * 14;
    if (!content.sensitivity || (content.brief() && sheet.left() < rows + sheet.paper().head * 2)) return;
    sheet.head("What the step depends on", sheet.paper().line() * 14);
    draw_sensitivity(sheet, of, *content.sensitivity);
}

void draw_axes_grid(ReviewSheet& sheet, const Reviewed& of, const std::vector<GroupKind>& axes, float below) {
    const bool wide = sheet.paper().wide;
    const std::size_t most = sheet.paper().one_a_page ? 1 : wide || axes.size() == 3 ? 3 : 2;
    const std::size_t rows = (axes.size() + most - 1) / most;
    const std::size_t columns = (axes.size() + rows - 1) / rows;
    const float gap = sheet.paper().body * 1.6f, line = sheet.paper().line();
    const float w = (sheet.width() - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
    for (std::size_t next = 0; next < axes.size(); next += columns) {
        const std::size_t count = std::min(columns, axes.size() - next);
        float words = 0;
        for (std::size_t i = 0; i < count; ++i)
            words = std::max(words, draw_axis_words(sheet, {0, 0, w, 0}, of, axes[next + i], false));
        words += line * 0.4f;
        // A slide's row of meshes is as high as the slide; on upright paper three of them share a page.
        const float least = words + line * 7;
        if (sheet.left() < least) sheet.need(sheet.whole());
        const auto rows_of_meshes = (axes.size() - next + columns - 1) / columns;
        const float free = (sheet.left() - below) / static_cast<float>(rows_of_meshes);
        const float fits = wide && below > 0 && free - 2 * line >= least ? free - 2 * line
                           : wide                                        ? sheet.left() - line
                                  : std::min(sheet.left(), words + w * 0.8f),
                    high = std::max(fits, std::min(least, sheet.left()));
        const Rect row = sheet.take_grown(high, wide ? high : words + w * 1.5f);
        for (std::size_t i = 0; i < count; ++i) {
            Rect cell{row.x + static_cast<float>(i) * (w + gap), row.y, w, row.h};
            draw_axis_words(sheet, cell, of, axes[next + i]);
            cell.cut_top(words);
            draw_mesh_figure(sheet, cell, of, axes[next + i]);
        }
        sheet.gap();
    }
}

namespace {

// Says who waits when a node is lost, what survives, and how often it happens where the plan says so.
std::string failure_words(const Reviewed& of, const Failure& f) {
    const std::string node(domain_name(of.plan.cluster));
    std::string words =
        "Without " + node + " 0 no step ends: " + with_commas(f.waiting) + " other GPUs wait. "
        + sentence(f.replicas_hit, " of ", pentamesh::count_text(f.replicas, "data-parallel rank"),
                   f.replicas_hit == 1 ? " loses GPUs. " : " lose GPUs. ")
        + (f.state_survives ? "Other GPUs hold every shard that is lost."
                            : "No other GPU holds its shards: the run goes back to its last "
                              "checkpoint.");
    const Cost cost = cost_of(of.plan, of.evaluation.step ? of.evaluation.step->tokens_per_s : 0);
    if (cost.hours_between_failures)
        words += " A GPU of the cluster fails every " + three_digits(*cost.hours_between_failures) + " hours";
    if (cost.hours_between_failures && cost.goodput)
        words += ", and " + percent_text(*cost.goodput) + " of the time the training moves on";
    if (cost.hours_between_failures) words += ".";
    return words;
}

// Returns a row for each axis: of how many groups the slowest link is which one, how many lose a GPU with the
// node, and how many GPUs wait in those.
Table groups_and_failure(const Reviewed& of, const Failure& failure) {
    Table t = without(groups_table(of.plan, of.evaluation, kinds_of(of.evaluation), false),
                      {"per_fast_domain", "sharing_node", "collectives", "slowest_tier"});
    const Table hit = failure_table(failure);
    const std::ptrdiff_t before = static_cast<std::ptrdiff_t>(t.columns.size()) - 1;
    t.columns.insert(t.columns.begin() + before, {{"lose a GPU", Shown::count}, {"GPUs wait", Shown::count}});
    for (Table::Row& row : t.rows) {
        const auto same = std::find_if(hit.rows.begin(), hit.rows.end(),
                                       [&](const Table::Row& r) { return r[0].text() == row[0].text(); });
        const bool found = same != hit.rows.end();
        row.insert(row.begin() + before,
                   {found ? (*same)[1] : Cell(std::string()), found ? (*same)[3] : Cell(std::string())});
    }
    return t;
}

}  // namespace

void placement_page(ReviewSheet& sheet, const ReviewContent& content) {
    const Reviewed of = content.detail();
    const bool brief = content.brief();
    sheet.section("Placement: who talks to whom, over which link", 0.5f * sheet.whole());
    if (!of.evaluation.valid) return;
    if (brief) plan_lines(sheet, content);
    const std::vector<GroupKind> axes = axes_in_use(of.evaluation);
    if (axes.empty()) {
        sheet.words("One GPU does all: no axis cuts anything, nobody talks.");
        return;
    }
    sheet.words(of.evaluation.mesh.world > kMostCards
                    ? "Lit: the group of rank 0, whose GPUs talk to each other. The other groups are quiet."
                    : "A square is a GPU, a frame a " + std::string(domain_name(of.plan.cluster))
                          + ". GPUs of one shade are one group of the axis, which talk to each other.",
                sheet.faint());
    sheet.gap(0.3f);
    const Failure failure = lose_node(of.plan, of.evaluation.mesh, 0);
    Table groups = groups_and_failure(of, failure);
    if (brief)  // combined axes are in the whole page
        std::erase_if(groups.rows, [&](const Table::Row& row) {
            return std::ranges::none_of(axes, [&](GroupKind k) { return row[0].text() == name_of(k); });
        });
    const std::string words = failure.axes.empty() ? "" : failure_words(of, failure);
    const float line = sheet.paper().line();
    draw_axes_grid(sheet, of, axes,
                   brief ? sheet.paper().head * 1.35f + sheet.words_height(words, sheet.width()) + 3 * line
                               + sheet.table_in({0, 0, sheet.width(), 0}, groups, false)
                         : 0);
    sheet.head("Groups by link, and the loss of a " + std::string(domain_name(of.plan.cluster)),
               sheet.words_height(words, sheet.width()) + sheet.paper().line() + sheet.table_start(groups));
    sheet.words(words);
    sheet.words(std::string("Over a link: of how many groups it is the slowest.")
                    + (brief ? "" : " Combined axes below their parts."),
                sheet.faint());
    sheet.table(groups);
}

void scale_page(ReviewSheet& sheet, const ReviewContent& content) {
    sheet.section("Scale: how far the plan scales, and what sets the limit");
    if (!content.scaling) return;
    const ScalePicture& picture = *content.scaling;
    const Scale& s = picture.scale;
    const Plan& plan = content.plans[content.shown];
    const ScaleWords words = words_of(plan, s);
    sheet.words(words.verdict, sheet.strong());
    sheet.words(words.held, sheet.faint());
    sheet.gap(0.3f);
    const float line = sheet.paper().line();
    const ScaleInk ink{sheet.canvas(), sheet.theme(), sheet.paper().small, sheet.paper().body, true};
    if (s.points.size() > 1) {
        sheet.need(line * 12);
        draw_scale_plot(ink, sheet.take(std::min(sheet.left(), line * 20)), plan, picture);
    }
    sheet.head("Where it tips", 3 * line);
    if (s.crossings.empty()) sheet.words("Nothing, in this range.");
    for (const NamedTurn& t : named_turns(s)) {
        const std::string number = t.number > 0 ? std::to_string(t.number) + "   " : "";
        const std::string figures = figures_of(s, *t.of);
        std::string text = t.of->what + (figures.empty() ? "" : ". " + figures);
        if (!text.ends_with('.')) text += ".";
        sheet.entry(number + t.of->place, text, "");
    }
    sheet.head("Memory of the fullest GPU", 6 * line);
    draw_scale_memory(ink, sheet.take_grown(line * 6, line * 14), plan, picture);
    if (picture.others.empty()) return;
    const float height = scale_bars_height(ink);
    sheet.head("The same question asked of other numbers of the plan", height + 3 * line);
    sheet.words("Seconds for the tokens of a step; below each value the memory of the fullest GPU, in GiB.",
                sheet.faint());
    draw_scale_legend(ink, sheet.take(line), picture.others);
    sheet.gap(0.3f);
    draw_scale_bars(ink, sheet.take_grown(height, 1.6f * height), plan, picture);
}

}  // namespace pentamesh::ui
