// Writes a review as Markdown, for a design document or a pull request: the same words and tables as the
// pages, with the figures as SVG files next to it.
#include "app/tables/markdown.h"
#include "app/tables/compare.h"
#include "app/tables/measured.h"
#include "app/tables/memory.h"
#include "app/tables/review.h"
#include "app/tables/step.h"
#include "app/ui/kit/format.h"
#include "app/ui/review/decision_parts.h"
#include "app/ui/review/decision_words.h"
#include "app/ui/review/pages.h"
#include "app/ui/review/report_pictures.h"
#include "core/explain/verdict.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace pentamesh::ui {

namespace {

class MarkdownText {
  public:
    MarkdownText(const FontFiles& fonts, std::string folder) : fonts_(fonts), folder_(std::move(folder)) {}

    void title(const std::string& words) { out_ += "# " + markdown_text(words) + "\n"; }
    void head(const std::string& words) { out_ += "\n## " + markdown_text(words) + "\n"; }
    void words(const std::string& words) {
        if (!words.empty()) out_ += "\n" + markdown_text(words) + "\n";
    }
    void items(const std::vector<std::string>& list, const char* mark = "- ") {
        out_ += "\n";
        for (const std::string& item : list) out_ += mark + markdown_text(item) + "\n";
    }
    void table(const Table& t) {
        if (!t.rows.empty()) out_ += "\n" + write_table(printed(t), TableFormat::markdown);
    }
    // A table that is read when it is opened.
    void folded(const std::string& summary, const Table& t) {
        if (t.rows.empty()) return;
        out_ += "\n<details><summary>" + html_text(summary) + "</summary>\n\n"
                + write_table(printed(t), TableFormat::markdown) + "\n</details>\n";
    }
    void picture(const std::string& name, const std::string& words, std::string svg) {
        if (svg.empty()) return;
        const std::string file = folder_ + "/" + name + ".svg";
        out_ += "\n![" + markdown_text(words) + "](" + file + ")\n";
        files_.push_back({file, std::move(svg)});
    }
    void picture(const std::string& name, const std::string& words,
                 const std::function<void(ReviewSheet&)>& draw) {
        picture(name, words, figure_svg(fonts_, draw));
    }
    [[nodiscard]] const FontFiles& fonts() const { return fonts_; }

    // Returns the text, then what stands next to it.
    std::vector<ReviewFile> finish(const std::string& foot, const std::vector<std::string>& plans) {
        std::string inside;
        for (std::size_t i = 0; i < plans.size(); ++i) {
            const std::string file =
                folder_ + "/plan" + (i == 0 ? std::string() : "-" + std::to_string(i + 1)) + ".json";
            inside += (i == 0 ? "" : ", ") + std::string("[") + file + "](" + file + ")";
            files_.push_back({file, plans[i]});
        }
        out_ += "\n---\n\n" + markdown_text(foot) + ": " + inside + "\n";
        files_.insert(files_.begin(), {"", std::move(out_)});
        return std::move(files_);
    }

  private:
    const FontFiles& fonts_;
    std::string folder_, out_;
    std::vector<ReviewFile> files_;
};

// Returns what was tried, with what each takes.
Table tried_table(const ReviewContent& content) {
    Table t;
    t.columns = {{"change"}, {"step", Shown::seconds}, {"fullest GPU", Shown::memory}, {"it"}};
    const Evaluation& e = content.evaluations[0];
    t.rows.push_back({"this plan", e.step->time_s, e.memory.peak(), fit_words(e)});
    for (const SearchResult& r : content.tried)
        t.rows.push_back(
            {change_words(content.plans[0], r.choice), r.step_s, r.memory_bytes, name_of(MemoryFit::yes)});
    for (const SearchResult& r : content.unfit)
        t.rows.push_back(
            {change_words(content.plans[0], r.choice), r.step_s, r.memory_bytes, name_of(MemoryFit::no)});
    return t;
}

void write_author(MarkdownText& out, const ReviewContent& content) {
    const AuthorWords& own = content.plans[0].review;
    const Evaluation& e = content.evaluations[0];
    std::vector<std::string> questions = items_of(own.open_questions);
    if (questions.empty() && e.step) questions = open_questions(content, 0);
    if (!own.alternatives.empty()) {
        out.head("Alternatives");
        out.items(items_of(own.alternatives));
    }
    if (!questions.empty()) {
        out.head("Open questions");
        out.items(questions, "- [ ] ");
    }
    if (!own.risks.empty()) {
        out.head("Risks");
        out.items(items_of(own.risks));
    }
    if (!own.owner.empty()) out.words("Owner: " + own.owner);
}

void write_comparison(MarkdownText& out, const ReviewContent& content) {
    const PlanComparison& c = *content.comparison;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < c.plans.size(); ++i)
        names.push_back(plan_letter(i) + ": " + c.plans[i]
                        + (c.fit[i] ? "; it " + std::string(name_of(*c.fit[i])) : std::string()));
    out.items(names);
    if (!c.why.empty() && c.plans.size() == 2)
        out.picture("way", "The step of A, what differs, the step of B",
                    [&](ReviewSheet& sheet) { pair_figures(sheet, content); });
    if (c.plans.size() > 2)
        out.picture("candidates", "Each plan's step and memory, on one scale",
                    [&](ReviewSheet& sheet) { candidate_figures(sheet, content); });
    out.head("The figures");
    out.table(worded_figures_table(c));
    out.head("What differs");
    out.table(shown_fields(c));
    out.folded("Why: the parts of the step", brief_why_table(c));
}

void write_decision(MarkdownText& out, const ReviewContent& content) {
    const Reviewed of = content.first();
    out.head("The figures");
    out.table(key_figures_table(of.plan, of.evaluation));
    if (!axes_in_use(of.evaluation).empty())
        out.picture("mesh", "Where it runs, and what each axis costs",
                    [&](ReviewSheet& sheet) { draw_where(sheet, of); });
    out.head("What else was tried, one change each");
    if (content.tried.empty() && content.unfit.empty())
        out.words("No other layout within one change fits.");
    else
        out.table(tried_table(content));
}

// Returns the problems as the pages list them.
std::vector<std::string> problem_lines(const Evaluation& e) {
    std::vector<std::string> out;
    for (const Problem& p : e.problems) out.push_back(problem_words(p));
    return out;
}

void write_evidence(MarkdownText& out, const ReviewContent& content) {
    const Reviewed of = content.first();
    const Evaluation& e = of.evaluation;
    const auto figure = [&](ReportFigure which) {
        return report_figure(of.presets, of.plan, e, which, out.fonts());
    };
    if (e.step) {
        out.head("Where the " + time_text(e.step->time_s) + " go");
        out.picture("step", "The parts of the step", figure(ReportFigure::time));
        out.folded("The parts as numbers", step_table(*e.step));
        out.picture("pipeline", "The pipeline in one step", figure(ReportFigure::pipeline));
        if (const Table cost = cost_table(of.plan, &*e.step); !cost.rows.empty()) {
            out.head("What the training takes");
            out.table(cost);
        }
    }
    if (content.request.run) {
        out.head("What was measured");
        out.words(typeset(content.request.run->summary));
        out.table(columns_of(measured_parts_table(*content.request.run),
                             {"part", "predicted_s", "measured_s", "difference_s", "share"}));
    }
    out.head("What each GPU holds");
    out.picture("memory", "Memory by stage", figure(ReportFigure::memory));
    out.folded("By stage and category", stages_of(e.memory));
    if (!e.comm.operations.empty()) {
        out.head("What the GPUs say to each other, in one step");
        out.table(axes_traffic_table(e));
        out.folded("By link", links_traffic_table(of.plan, e));
    }
    out.head("Problems and advice");
    out.items(e.problems.empty() ? std::vector<std::string>{"None."} : problem_lines(e));
    out.head("What is left out of the estimates");
    out.items(left_out_of_estimates(of.plan, e));
    out.folded("Where each figure comes from", explanations_table(of.plan, e));
}

}  // namespace

std::vector<ReviewFile> markdown_review(const ReviewContent& content, const std::string& title,
                                        const std::string& foot, const std::vector<std::string>& plans,
                                        const FontFiles& fonts) {
    const Reviewed of = content.first();
    const Evaluation& e = of.evaluation;
    MarkdownText out(fonts, content.request.files_folder);
    if (!e.step && !content.comparison) {
        out.title(impossible_decision(content));
        out.words(title + ". " + review_banner(e));
        out.items(problem_lines(e));
        write_author(out, content);
        return out.finish(foot, plans);
    }
    const SearchResult* proposed = proposal_of(content);
    out.title(decision_of(content, proposed));
    if (e.step) out.words(reason_of(content, proposed));
    out.words(title + ". " + asked_line(of.plan, e.valid ? e.microbatches : 0));
    out.words(by_and_when(content.request));
    if (content.comparison)
        write_comparison(out, content);
    else
        write_decision(out, content);
    write_author(out, content);
    if (!of.plan.notes.empty()) {
        out.head("Notes of the plan");
        out.words(of.plan.notes);
    }
    if (e.step) write_evidence(out, content);
    return out.finish(foot, plans);
}

}  // namespace pentamesh::ui
