// Each of these functions draws a page of a review.
#pragma once

#include "app/ui/review/figures.h"
#include "app/ui/review/review.h"
#include "app/ui/views/scale/view.h"
#include "core/decide/compare.h"
#include "core/decide/decision.h"
#include "core/decide/scale.h"
#include "core/decide/search.h"
#include "core/decide/turns.h"
#include "core/explain/verdict.h"
#include "core/runs/measured.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

// A plan that cannot be built, with the smallest changes that the rules name.
struct MendedPlan {
    Plan plan;
    Evaluation evaluation;
};
// Returns nullopt where such changes do not make it possible.
[[nodiscard]] std::optional<MendedPlan> mended_plan(const Plan& plan);

// Holds all that the pages need, worked out once.
struct ReviewContent {
    std::vector<Plan> plans;
    std::vector<Evaluation> evaluations;
    const Presets& presets;
    ReviewRequest request;
    std::vector<ReviewPage> pages;
    std::optional<Sensitivity> sensitivity;  // present where the page of time is wanted
    Table near_runs;                         // filled where the page of assumptions is wanted
    std::size_t runs = 0;                    // published ones
    std::optional<PlanComparison> comparison;
    std::vector<SearchResult> tried{};       // one change each, of a valid plan's summary
    std::vector<SearchResult> unfit{};       // likewise: faster than the plan, but they do not fit
    std::optional<MeasuredMfu> measured{};   // of a published run that is the first plan
    std::optional<ScalePicture> scaling{};   // present where its page is wanted
    std::optional<MendedPlan> mended{};      // of an impossible first plan
    std::optional<PlanDecision> decision{};  // of a single plan that has a step
    std::size_t shown = 0;                   // the plan in detail: of several the one to take
    std::vector<Turns> turns{};    // filled where their page is wanted and a decision stands on figures
    std::optional<Turns> batch{};  // likewise
    Candidates candidates{};       // likewise: among which plans it decides
    // Tries one change each of the plan in detail. Precondition: it has a step.
    void try_changes();
    void ask_turns();
    // Gives the first plan the words of the request, where it has any.
    void take_words() {
        if (request.words) plans[0].review = *request.words;
    }
    [[nodiscard]] Reviewed first() const { return {plans[0], evaluations[0], presets}; }
    [[nodiscard]] bool brief() const { return request.brief(); }
    [[nodiscard]] Reviewed detail() const { return of(shown); }
    // Returns "plan B" of several.
    [[nodiscard]] std::string detail_name() const;
    [[nodiscard]] Reviewed of(std::size_t i) const { return {plans[i], evaluations[i], presets}; }
    // Returns the index of the plan that the comparison calls A (0) or B (1).
    [[nodiscard]] std::size_t compared(std::size_t i) const { return request.second_is_a ? 1 - i : i; }
};
// Throws Error of kind usage for a page that needs a second plan.
[[nodiscard]] std::vector<ReviewPage> review_pages_of(const ReviewRequest& request, bool two, bool valid);
[[nodiscard]] ReviewContent review_content_of(const Presets& presets, std::span<const Plan> plans,
                                              const ReviewRequest& request);
// Returns one Markdown text, with its pictures and the plans in a folder next to it.
[[nodiscard]] std::vector<ReviewFile> markdown_review(const ReviewContent& content, const std::string& title,
                                                      const std::string& foot,
                                                      const std::vector<std::string>& plans,
                                                      const FontFiles& fonts);
void draw_review_page(ReviewSheet& sheet, const ReviewContent& content, ReviewPage page);
// Returns a sentence for the top of every page of an impossible plan; "" where the plan is possible.
[[nodiscard]] std::string review_banner(const Evaluation& e);

// These places have a name that other pages lead to.
inline constexpr std::string_view kFormulas = "formulas", kRange = "range", kMemoryPage = "memory",
                                  kTimePage = "time", kCommunicationPage = "communication";

// in_use returns true if an axis has groups of more than one rank. axes_in_use returns all such axes of the
// dense and the expert mesh.
[[nodiscard]] bool in_use(const Evaluation& e, GroupKind axis);
[[nodiscard]] std::vector<GroupKind> axes_in_use(const Evaluation& e);
// Returns "B is 1.95 s faster: ...". Precondition: the content has a comparison.
[[nodiscard]] std::string comparison_verdict(const ReviewContent& content);
// Draws axes side by side, in rows of as many as can be read: words, and the mesh.
// On a slide they leave `below` of the page free, where they can.
void draw_axes_grid(ReviewSheet& sheet, const Reviewed& of, const std::vector<GroupKind>& axes,
                    float below = 0);
// Returns "Ada, 3 May 2026".
[[nodiscard]] std::string by_and_when(const ReviewRequest& request);
// Returns "Warning: ... Change: tp = 8."
[[nodiscard]] std::string problem_words(const Problem& problem);
// Draws a mark and a text after it, wrapped.
void draw_item(ReviewSheet& sheet, Color mark, std::string_view words);
// Writes the author's own words, each under its name.
void author_words(ReviewSheet& sheet, const AuthorWords& words);
// Returns the fields that differ, named as a reader names them.
[[nodiscard]] Table shown_fields(const PlanComparison& comparison);
// Returns the memory that each stage holds and leaves free; stages that hold the same are one row.
[[nodiscard]] Table stages_of(const Memory& memory);
// Lists errors, warnings and advice, each with its change.
void draw_problem_list(ReviewSheet& sheet, const Evaluation& e);

// Returns what a page says first of a plan that cannot be built.
[[nodiscard]] std::string impossible_decision(const ReviewContent& content);
void impossible_page(ReviewSheet& sheet, const ReviewContent& content);
// Draws the first page of the summary of a plan with a step. Returns false if some of the author's words had
// no room on it.
bool decision_page(ReviewSheet& sheet, const ReviewContent& content);
void summary_page(ReviewSheet& sheet, const ReviewContent& content);
void placement_page(ReviewSheet& sheet, const ReviewContent& content);
void memory_page(ReviewSheet& sheet, const ReviewContent& content);
void time_page(ReviewSheet& sheet, const ReviewContent& content);
void communication_page(ReviewSheet& sheet, const ReviewContent& content);
void assumptions_page(ReviewSheet& sheet, const ReviewContent& content);
void comparison_page(ReviewSheet& sheet, const ReviewContent& content);
void scale_page(ReviewSheet& sheet, const ReviewContent& content);
void tried_page(ReviewSheet& sheet, const ReviewContent& content);
void risk_page(ReviewSheet& sheet, const ReviewContent& content);
// Writes what the plan in detail is: its title, what it was asked for, its notes.
void plan_lines(ReviewSheet& sheet, const ReviewContent& content);
// Lists problems and advice of the plan in detail, where it has any.
void problems_and_advice(ReviewSheet& sheet, const Evaluation& e);
[[nodiscard]] float problems_height(const ReviewSheet& sheet, const Evaluation& e);  // of that list
// Keeps of a table the rows with the largest figures of a column, in their order; the table says how many are
// left out.
inline constexpr std::size_t kBriefRows = 8;
void shorten(Table& table, std::size_t column, std::size_t rows = kBriefRows);
// Draws the upper part of a page that decides between two plans: the verdict, the way from A to B, both
// strips with the memory of each. Precondition: the content has a comparison of two plans, both with a step.
void pair_page(ReviewSheet& sheet, const ReviewContent& content);
// Draws the same without the verdict.
void pair_figures(ReviewSheet& sheet, const ReviewContent& content);
// Draws a row for each plan: its step in parts, its memory, all on one scale.
[[nodiscard]] float candidates_height(ReviewSheet& sheet, const ReviewContent& content);  // at least
void candidate_figures(ReviewSheet& sheet, const ReviewContent& content);
// Draws a page that decides among more than two plans.
void candidates_page(ReviewSheet& sheet, const ReviewContent& content);

// The pages that decide are made of these parts.

inline constexpr float kBetweenParts = 0.9f;  // in lines

// Draws the reason below a title, with the sign of a plan's verdict in front of it; null: of no plan.
void draw_verdict(ReviewSheet& sheet, const Evaluation* of, const std::string& reason);
// Returns what a part of the step is called where norms and attention are joined.
[[nodiscard]] std::string part_name(const StepSlice& slice);
// Draws the strip of the mesh, and what each axis costs, so many lines below what stands above.
void draw_where(ReviewSheet& sheet, const Reviewed& of, float above = 0);
// Draws what was tried, one change each: by how much it makes the step shorter or longer, and what the
// fullest GPU then holds. Precondition: the first plan has a step.
[[nodiscard]] float tried_height(ReviewSheet& sheet, float width, const ReviewContent& content);
void draw_tried(ReviewSheet& sheet, Rect room, const ReviewContent& content);
// Draws the same row by row, on as many pages as it takes.
void draw_tried_rows(ReviewSheet& sheet, const ReviewContent& content);
// Draws what is open with the plan that is taken, and room for a decision, where the page has room for it.
void draw_open(ReviewSheet& sheet, const ReviewContent& content);
// Draws where the step goes, what else was tried and what is open in all that is left of the page. Returns
// false if some of the author's words had no room.
bool draw_columns(ReviewSheet& sheet, const ReviewContent& content, const SearchResult* proposed);

// Says what the first page of a review decides, why, and what is open. All of it is from the evaluation and
// from one change each that was tried (ReviewContent::tried); the author's own words win.

[[nodiscard]] MemoryFit fit_of_plan(const Evaluation& evaluation);
// Returns true if the plan fits or not by what the framework's buffers take: they have some room, and not
// that of the largest that were measured.
[[nodiscard]] bool hangs_on_buffers(const Memory& memory);
struct CostWords {
    std::string head, rest;
    [[nodiscard]] std::string joined() const { return rest.empty() ? head : head + ", " + rest; }
};
// Returns "1,990 GPU-hours", which a billion tokens take; with `whole`, where the plan gives its tokens, the
// training's "54.0 days" and "21.2 M GPU-hours", or money where the plan gives a price. Precondition: it has
// a step.
[[nodiscard]] CostWords cost_words(const Reviewed& of, bool whole);
// Returns them joined, of the training where it is known, and says where they are of a billion tokens.
[[nodiscard]] std::string training_cost_words(const Reviewed& of);
// Returns the change that the decision proposes. Null: none, or two plans are compared.
[[nodiscard]] const SearchResult* proposal_of(const ReviewContent& content);
// Returns the lines of a text that the author wrote, without the marks in front of them.
[[nodiscard]] std::vector<std::string> items_of(std::string_view text);
// Returns true if the run of the first plan refutes its estimate: no verdict stands on it then.
[[nodiscard]] bool is_refuted(const ReviewContent& content);
// Returns the author's decision, else the program's.
[[nodiscard]] std::string decision_of(const ReviewContent& content, const SearchResult* proposed);
// Returns the program's own.
[[nodiscard]] std::string decision_by_figures(const ReviewContent& content, const SearchResult* proposed);
[[nodiscard]] std::string reason_of(const ReviewContent& content, const SearchResult* proposed);
// Returns which of the plans the program would take, where it has a reason: the only one that fits, or the
// one that is at least 1 % faster. Plans of different models have none.
[[nodiscard]] std::optional<std::size_t> better_of(const ReviewContent& content);
// Returns what a step of the run that is attached took; nullopt: none is, or it does not say.
[[nodiscard]] std::optional<double> measured_step_s(const ReviewContent& content);
// Returns what the figures of a plan leave open, the most pressing first. Precondition: it has a step.
[[nodiscard]] std::vector<std::string> open_questions(const ReviewContent& content, std::size_t plan);

}  // namespace pentamesh::ui
