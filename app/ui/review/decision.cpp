#include "app/tables/decide_tables.h"
#include "app/tables/plan_tables.h"
#include "app/ui/kit/format.h"
#include "app/ui/review/pages.h"
#include "app/ui/views/search/search_found.h"
#include "core/decide/choose.h"
#include "core/decide/search.h"
#include "core/explain/verdict.h"
#include "core/plan/problem.h"
#include "core/runs/measured.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace pentamesh::ui {

namespace {

std::vector<JudgedPlan> judged_plans(const ReviewContent& content) {
    std::vector<JudgedPlan> out;
    for (std::size_t i = 0; i < content.plans.size(); ++i)
        out.push_back({&content.plans[i], &content.evaluations[i]});
    return out;
}

// Chooses among the plans as they are called: of two the one that is A stands first.
PlanChoice reviewed_choice(const ReviewContent& content) {
    std::vector<JudgedPlan> plans = judged_plans(content);
    if (plans.size() == 2 && content.compared(0) == 1) std::swap(plans[0], plans[1]);
    return choose_among(plans);
}

}  // namespace

bool hangs_on_buffers(const Memory& m) {
    return !m.stage.empty() && m.may_fit() && m.stage[static_cast<std::size_t>(m.peak_stage)].most() > m.hbm
           && room_for_buffers(m) > 0;
}

MemoryFit fit_of_plan(const Evaluation& e) {
    return fit_of(e.memory).value_or(MemoryFit::no);
}

CostWords cost_words(const Reviewed& of, bool whole) {
    const double rate = of.evaluation.step->tokens_per_s;
    const Cost cost = cost_of(of.plan, rate);
    if (!whole || !cost.days)
        return {trimmed(gpu_hours_of_billion(of.evaluation.mesh.world, rate)) + " GPU-hours", ""};
    const std::string& currency = of.plan.cluster.currency;
    return {significant(*cost.days) + " days", cost.money && !currency.empty()
                                                   ? count_text(*cost.money) + " " + currency
                                                   : count_text(*cost.gpu_hours) + " GPU-hours"};
}

std::string training_cost_words(const Reviewed& of) {
    const bool whole = of.plan.training.tokens_total > 0;
    return cost_words(of, whole).joined() + (whole ? "" : " a billion tokens");
}

void ReviewContent::try_changes() {
    TriedEdits edits = try_each_edit(plans[shown], evaluations[shown]);
    tried = std::move(edits.fit), unfit = std::move(edits.unfit);
}

std::string ReviewContent::detail_name() const {
    return plans.size() < 2 ? "this plan" : "plan " + plan_letter(compared(shown));
}

const SearchResult* proposal_of(const ReviewContent& content) {
    if (!content.decision || !content.decision->proposal || content.plans.size() > 1) return nullptr;
    return &*content.decision->proposal;
}

std::vector<std::string> items_of(std::string_view text) {
    constexpr std::string_view kSpace = " \t\r", kMarks = "-*";
    std::vector<std::string> out;
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        line.remove_prefix(std::min(line.size(), line.find_first_not_of(kSpace)));
        if (line.size() > 1 && kMarks.find(line[0]) != std::string_view::npos && line[1] == ' ')
            line.remove_prefix(2);
        line = line.substr(0, line.find_last_not_of(kSpace) + 1);
        if (!line.empty()) out.emplace_back(line);
    }
    return out;
}

std::optional<std::size_t> better_of(const ReviewContent& content) {
    return best_among(judged_plans(content));
}

namespace {

// Returns true if a step lies beyond the estimate's range, as both are written.
bool is_beyond(double took_s, const Band& range) {
    const auto beyond = [&](double bound_s) { return time_text(took_s) != time_text(bound_s); };
    return (took_s < range.low && beyond(range.low)) || (took_s > range.high && beyond(range.high));
}

// Says of the run of the first plan that it refutes its estimate, or cannot be of that plan; empty where it
// bears the estimate out, and without one.
std::string refuted_words(const ReviewContent& content) {
    const auto took_s = measured_step_s(content);
    if (!took_s || !content.evaluations[0].step) return "";
    const Step& s = *content.evaluations[0].step;
    if (!content.request.run->possible)
        return "This run is not of this plan: its FLOPs at the peak take longer than the run's step.";
    if (!is_beyond(*took_s, band_of(s.time_s, s.error))) return "";
    return "Do not decide by this estimate: its run takes " + time_text(*took_s) + " a step, not "
           + time_text(s.time_s) + ".";
}

}  // namespace

bool is_refuted(const ReviewContent& content) {
    return !refuted_words(content).empty();
}

std::string decision_of(const ReviewContent& content, const SearchResult* proposed) {
    const std::string& own = content.plans[0].review.decision;
    if (!own.empty()) return own;
    const std::string refuted = refuted_words(content);
    return refuted.empty() ? decision_by_figures(content, proposed) : refuted;
}

namespace {

// Says what the run says of the estimate: where most of the difference is, or why the run cannot be of the
// plan; empty where it bears the estimate out.
std::string run_reason(const ReviewContent& content) {
    if (refuted_words(content).empty()) return "";
    const runs::Measured& run = *content.request.run;
    std::string out = run.summary;
    for (const runs::RunProblem& p : run.problems)
        if (p.code == "impossible-run") out = p.message;
    return typeset(out) + " By the estimate: ";
}

}  // namespace

std::string decision_by_figures(const ReviewContent& content, const SearchResult* proposed) {
    if (content.plans.size() > 1) return reviewed_choice(content).sentence;
    const Reviewed of = content.first();
    const std::string change = proposed == nullptr ? "" : change_words(of.plan, proposed->choice);
    const Memory& memory = of.evaluation.memory;
    return headline_of(*content.decision, change,
                       hangs_on_buffers(memory) ? memory_text(room_for_buffers(memory)) : "");
}

namespace {

// Returns "A billion tokens take 1,990 GPU-hours with A, 1,790 GPU-hours with B.", or what the whole training
// takes.
std::string costs_words(const ReviewContent& content) {
    std::string out;
    bool whole = true;
    for (std::size_t i = 0; i < 2; ++i) whole = whole && content.plans[i].training.tokens_total > 0;
    for (std::size_t i = 0; i < 2; ++i) {
        const Reviewed of = content.of(content.compared(i));
        out += (i == 0 ? "" : ", ") + cost_words(of, whole).joined() + " with " + plan_letter(i);
    }
    return (whole ? "The training takes " : "A billion tokens take ") + out + ".";
}

// Says which settings of the plans differ that change what is learned, not only how fast.
std::string learning_words(const PlanComparison& c) {
    static constexpr std::array kLearning{"sequence_length", "global_batch", "compute",   "fp8_recipe",
                                          "parameters",      "gradients",    "optimizer", "optimizer_state",
                                          "master_weights",  "dropout"};
    std::string out;
    for (const FieldDifference& f : c.fields)
        for (const std::string_view name : kLearning)
            if (f.pointer == "/training/" + std::string(name))
                out += (out.empty() ? "" : ", ") + std::string(name);
    return out.empty() ? ""
                       : " They differ in " + out + " too: these figures do not say which learns better.";
}

std::string pair_reason(const ReviewContent& content) {
    const std::string caution = reviewed_choice(content).caution;
    return costs_words(content) + (caution.empty() ? "" : " " + caution)
           + learning_words(*content.comparison);
}

}  // namespace

std::string reason_of(const ReviewContent& content, const SearchResult* proposed) {
    const Reviewed of = content.first();
    std::string said = run_reason(content);
    if (!said.empty())
        said += decision_by_figures(content, proposed) + " ";
    else if (!of.plan.review.decision.empty())
        said = "By the figures: " + decision_by_figures(content, proposed) + " ";
    if (content.plans.size() > 2) {
        const bool steps = std::all_of(content.evaluations.begin(), content.evaluations.end(),
                                       [](const Evaluation& e) { return e.step.has_value(); });
        return said + "A is the plan under review; the rows are on one scale."
               + (steps ? learning_words(*content.comparison) : "");
    }
    if (content.comparison)
        return said
               + (content.evaluations[0].step && content.evaluations[1].step ? pair_reason(content)
                                                                             : comparison_verdict(content));
    std::string out = said + verdict_of(of.evaluation).reason;
    if (content.decision)
        for (const std::string& more : {caution_of(*content.decision), scope_of(*content.decision)})
            if (!more.empty()) out += " " + more;
    return out;
}

std::optional<double> measured_step_s(const ReviewContent& content) {
    return content.request.run ? content.request.run->measured_s : std::nullopt;
}

std::vector<std::string> open_questions(const ReviewContent& content, std::size_t plan) {
    const Evaluation& e = content.evaluations[plan];
    std::vector<std::string> out;
    if (const auto took_s = plan == 0 ? measured_step_s(content) : std::nullopt) {
        const Band range = band_of(e.step->time_s, e.step->error);
        if (is_beyond(*took_s, range))
            out.push_back("Why does the run take " + time_text(*took_s) + " a step, beyond the range of "
                          + time_text(range.low) + " to " + time_text(range.high) + "?");
    }
    if (plan == 0 && content.measured && fit_of_plan(e) == MemoryFit::no)
        out.emplace_back("A published run has this plan: how does it fit?");
    const double room = room_for_buffers(e.memory);
    if (hangs_on_buffers(e.memory))
        out.push_back("Do the framework's buffers stay under " + memory_text(room) + "?");
    else if (const std::string why = open_fit_words(e.memory); !why.empty())
        out.push_back("Does " + (content.plans.size() > 1 ? "it" : content.detail_name()) + " fit? " + why);
    if (const SearchResult* proposed = proposal_of(content); proposed != nullptr)
        if (const std::string why = open_fit_words(evaluate(proposed->plan).memory); !why.empty())
            out.push_back("Does it fit with " + change_words(content.plans[0], proposed->choice) + "? "
                          + why);
    const Step& s = *e.step;
    if (s.calibrated == 0 && s.nearest_run >= kFarRun)
        out.emplace_back("What does one step take? No measured run is near.");
    if (const auto loss = largest_loss(s); loss && loss->part == StepPart::bubble)
        out.push_back("Is the batch of " + count_text(s.tokens_per_step) + " tokens fixed? The bubble is "
                      + percent(loss->time_s / s.time_s) + ".");
    for (const Problem& p : e.problems)
        if (p.severity == Severity::warning && p.code != ProblemCode::memory_does_not_fit
            && p.code != ProblemCode::bubble_too_large)
            out.push_back(std::string(title_of(p.code)) + ": is that accepted?");
    return out;
}

// Draws the lower part of the page that decides: where the step goes, what else was tried, what is open.

namespace {

constexpr std::size_t kAllParts = 64;

// Returns the parts of the step in its order, what is small joined as the last.
std::vector<std::pair<std::string, StepSlice>> large_parts(const Step& step, std::size_t most) {
    std::vector<std::pair<std::string, StepSlice>> out;
    for (const StepSlice& s : joined(waterfall(step), is_below_peak, StepPart::products)) {
        out.emplace_back(part_name(s), s);
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
    const Ink ink = sheet.ink();
    const float line = sheet.paper().line(), body = sheet.paper().body;
    sheet.label(room.cut_top(line), "Where the " + time_text(step.time_s) + " go", sheet.strong());
    RowChart chart{
        .columns = {{},
                    {.share = 1, .gap = body * 0.5f, .high = step.time_s, .bar = 0.6f, .least = 1.5f},
                    {.align = Align::right, .gap = body * 0.4f}}};
    const auto most = static_cast<std::size_t>(std::max(2.0f, std::floor(room.h / line)));
    for (const auto& [name, of] : large_parts(step, most)) {
        const auto paint = [&ink, s = of](Rect bar) { fill_part(ink.canvas, ink.theme, bar, s); };
        chart.rows.push_back({.cells = {{name},
                                        {.marks = {{of.from_s, of.from_s + of.time_s, paint}}},
                                        {time_text(of.time_s)}}});
    }
    // On a slide the rows keep step with those of the other columns.
    if (sheet.paper().wide) room.h = line * static_cast<float>(chart.rows.size());
    draw_chart(ink, room, chart);
}

// Draws items below a heading, as many as there is room for, each with a mark or a box to tick. Returns how
// many.
std::size_t draw_items(ReviewSheet& sheet, Rect& room, const std::vector<std::string>& items, bool ticked) {
    Canvas& c = sheet.canvas();
    const float line = sheet.paper().line(), box = sheet.paper().body * 0.7f, indent = box * 1.7f;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const float h = c.paragraph_height(room.w - indent, items[i], sheet.plain(), line);
        const float more = i + 1 < items.size() ? line : 0;  // the line that says how many there are
        if (h + more > room.h) {
            if (room.h >= line)
                sheet.label(room.cut_top(line), std::to_string(items.size() - i) + " more on the next page",
                            sheet.faint());
            return i;
        }
        const Rect row = room.cut_top(h + line * 0.15f);
        const Rect mark{row.x, row.y + (line - box) / 2, box, box};
        if (ticked)
            c.frame(mark, sheet.theme().secondary, 1.2f, 2);
        else
            c.circle({mark.x + box * 0.4f, mark.center().y}, box * 0.22f, sheet.theme().secondary);
        c.paragraph({row.x + indent, row.y, row.w - indent, h}, items[i], sheet.plain(), line);
    }
    return items.size();
}

// Returns the height of a heading and of items below it.
float items_height(const ReviewSheet& sheet, float width, const std::vector<std::string>& items) {
    const float line = sheet.paper().line(), indent = sheet.paper().body * 0.7f * 1.7f;
    float out = line;
    for (const std::string& item : items) out += sheet.words_height(item, width - indent) + line * 0.15f;
    return out;
}

// Draws the author's alternatives, and below them what the program tried, as far as there is room.
bool draw_tried_column(ReviewSheet& sheet, Rect room, const ReviewContent& content,
                       const SearchResult* proposed) {
    const Reviewed of = content.first();
    const float line = sheet.paper().line();
    const std::vector<std::string> own = items_of(of.plan.review.alternatives);
    std::size_t said = 0;
    if (!own.empty()) {
        sheet.label(room.cut_top(line), "Alternatives", sheet.strong());
        said = draw_items(sheet, room, own, false);
        room.cut_top(line * 0.3f);
        if (room.h < line * 2.5f) return said == own.size();
    }
    const auto is_proposed = [&](const SearchResult& r) {
        return proposed != nullptr && changed_choices(r.plan, proposed->choice).empty();
    };
    Rect head = room.cut_top(line);
    const float memory_w = sheet.canvas().text_width("000.0", sheet.strong()) + 12,
                time_w = sheet.canvas().text_width("00.00 ms", sheet.strong()) + 6;
    sheet.label(head.cut_right(memory_w), "GiB", sheet.faint(), Align::right);
    sheet.label(head.cut_right(time_w), "step", sheet.faint(), Align::right);
    const bool two = proposed != nullptr && std::ranges::none_of(content.tried, is_proposed);
    sheet.label(head, two ? "The proposal, one change each" : "One change each", sheet.strong());
    const auto row = [&](const std::string& words, double step_s, double memory, bool fits, bool strong) {
        TextStyle style = strong ? sheet.strong() : sheet.plain(), figure = style;
        if (!fits) figure.color = sheet.theme().bad;
        const float h =
            std::max(line, sheet.canvas().paragraph_height(room.w - memory_w - time_w, words, style, line));
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
    const auto named = [](const std::string& words, MemoryFit fit) {
        return words + (fit == MemoryFit::yes ? "" : ": " + std::string(name_of(fit)));
    };
    const auto add = [&](const SearchResult& r, bool strong) {
        return row(named(change_words(of.plan, r.choice), r.fit), r.step_s, r.memory_bytes, fits(r.fit),
                   strong);
    };
    row(named("this plan", fit_of_plan(e)), e.step->time_s, e.memory.peak(), fits(fit_of_plan(e)), false);
    // A proposal of two changes was not tried one by one.
    if (two) add(*proposed, true);
    // Layouts that are faster and do not fit have the last rows.
    constexpr std::size_t kUnfitBeside = 2;
    const std::size_t unfit = std::min(content.unfit.size(), sheet.paper().wide ? kUnfitBeside : kAllParts);
    Rect last = room.cut_bottom(std::min(room.h * 0.5f, line * static_cast<float>(unfit)));
    for (const SearchResult& r : content.tried)
        if (!add(r, is_proposed(r))) break;
    room.h += last.h;
    for (const SearchResult& r : content.unfit)
        if (!is_proposed(r) && !add(r, false)) break;
    if (content.tried.empty() && room.h >= line)
        sheet.label(room.cut_top(line), "no other fits", sheet.faint());
    return said == own.size();
}

// Returns the author's questions, else the program's.
std::vector<std::string> questions_of(const ReviewContent& content) {
    std::vector<std::string> own = items_of(content.plans[0].review.open_questions);
    return own.empty() ? open_questions(content, better_of(content).value_or(0)) : own;
}

float questions_height(const ReviewSheet& sheet, float width, const ReviewContent& content) {
    const float line = sheet.paper().line();
    const std::vector<std::string> risks = items_of(content.plans[0].review.risks);
    return items_height(sheet, width, questions_of(content))
           + (risks.empty() ? 0 : items_height(sheet, width, risks) + line * 0.3f) + line * 3.5f;
}

// Draws room for a decision and its owner.
void draw_signature(ReviewSheet& sheet, Rect row, const std::string& owner) {
    const auto field = [&](Rect r, const std::string& name, const std::string& value) {
        sheet.canvas().line({r.x, r.bottom()}, {r.right(), r.bottom()}, sheet.theme().secondary);
        sheet.label({r.x, r.bottom() - sheet.paper().line(), r.w, sheet.paper().line()},
                    value.empty() ? name : name + ": " + value, sheet.faint());
    };
    const Rect right = row.cut_right(row.w * 0.5f - sheet.paper().body * 0.5f);
    row.cut_right(sheet.paper().body);
    field(row, "Decision", "");
    field(right, "Owner", owner);
}

// Draws what is open, the author's own in the place of the program's, the risks, and room for a decision.
bool draw_questions_column(ReviewSheet& sheet, Rect room, const ReviewContent& content) {
    const float line = sheet.paper().line();
    const AuthorWords& own = content.plans[0].review;
    const Rect signature = room.cut_bottom(line * 1.6f);
    sheet.label(room.cut_top(line), "Open questions", sheet.strong());
    const std::vector<std::string> questions = questions_of(content);
    if (questions.empty()) sheet.label(room.cut_top(line), "none from the figures", sheet.faint());
    const std::vector<std::string> risks = items_of(own.risks);
    // Risks keep a heading and a line at least.
    Rect upper = room;
    if (!risks.empty()) upper.cut_bottom(std::min(upper.h, line * 2.3f));
    const float before = upper.h;
    bool whole = draw_items(sheet, upper, questions, true) == questions.size();
    room.cut_top(before - upper.h);
    if (!risks.empty()) {
        room.cut_top(line * 0.3f);
        sheet.label(room.cut_top(line), "Risks", sheet.strong());
        whole = draw_items(sheet, room, risks, false) == risks.size() && whole;
    }
    draw_signature(sheet, signature, own.owner);
    return whole;
}

}  // namespace

std::string part_name(const StepSlice& s) {
    return s.part == StepPart::exposed    ? axis_label(s.group)
           : s.part == StepPart::products ? "below the peak"
                                          : std::string(name_of(s.part));
}

void draw_open(ReviewSheet& sheet, const ReviewContent& content) {
    const float high = questions_height(sheet, sheet.width(), content);
    if (high <= sheet.left()) {
        draw_questions_column(sheet, sheet.take(high), content);
        return;
    }
    // A page with less room has the decision at the right of the questions.
    const std::vector<std::string> questions = questions_of(content);
    const float line = sheet.paper().line(), apart = sheet.paper().body * 2.2f,
                half = (sheet.width() - apart) / 2;
    const float least = std::max(items_height(sheet, half, questions), 2.6f * line);
    if (!content.plans[0].review.risks.empty() || least > sheet.left()) return;
    Rect room = sheet.take(least);
    Rect right = room.cut_right(half);
    draw_signature(sheet, right.cut_bottom(line * 1.6f), content.plans[0].review.owner);
    room.cut_right(apart);
    sheet.label(room.cut_top(line), "Open questions", sheet.strong());
    if (questions.empty()) sheet.label(room, "none from the figures", sheet.faint());
    draw_items(sheet, room, questions, true);
}

bool draw_columns(ReviewSheet& sheet, const ReviewContent& content, const SearchResult* proposed) {
    const Step& step = *content.evaluations[0].step;
    if (sheet.paper().wide) {
        Rect room = sheet.take(std::max(0.0f, sheet.left() - 2));
        const float apart = sheet.paper().body * 1.4f, w = (room.w - 2 * apart) / 3;
        draw_step_column(sheet, room.cut_left(w), step);
        room.cut_left(apart);
        const bool tried = draw_tried_column(sheet, room.cut_left(w), content, proposed);
        room.cut_left(apart);
        return draw_questions_column(sheet, room, content) && tried;
    }
    const float line = sheet.paper().line(), apart = sheet.paper().body * 2.2f,
                half = (sheet.width() - apart) / 2;
    const auto rows = [&](std::size_t n) { return line * static_cast<float>(n); };
    const float course = std::min(sheet.left(), rows(large_parts(step, kAllParts).size() + 1));
    draw_step_column(sheet, sheet.take_grown(course, 3 * course), step);
    sheet.gap();
    const AuthorWords& own = content.plans[0].review;
    const float tried_h =
        rows(content.tried.size() + content.unfit.size() + 4)
        + (own.alternatives.empty() ? 0
                                    : items_height(sheet, half, items_of(own.alternatives)) + 1.5f * line);
    Rect room = sheet.take(std::min(std::max(0.0f, sheet.left() - 2),
                                    std::max(tried_h, questions_height(sheet, half, content))));
    const bool tried = draw_tried_column(sheet, room.cut_left(half), content, proposed);
    room.cut_left(apart);
    return draw_questions_column(sheet, room, content) && tried;
}

}  // namespace pentamesh::ui
