#include "app/tables/review.h"
#include "app/ui/panels/constants_panel.h"
#include "app/ui/review/pages.h"
#include "core/base/text.h"
#include "core/plan/software.h"
#include "core/step/constants.h"

#include <algorithm>

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
    const Reviewed of = content.first();
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

}  // namespace pentamesh::ui
