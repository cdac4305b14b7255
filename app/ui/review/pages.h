// Each of these functions draws a page of a review.
#pragma once

#include "app/ui/review/figures.h"
#include "app/ui/review/review.h"
#include "app/ui/views/scale/view.h"
#include "core/decide/compare.h"
#include "core/decide/search.h"
#include "core/decide/sensitivity.h"
#include "core/explain/published.h"
#include "core/runs/measured.h"

#include <optional>
#include <string>
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
    std::vector<SearchResult> tried{};      // one change each, of a valid plan's summary
    std::vector<SearchResult> unfit{};      // likewise: faster than the plan, but they do not fit
    std::optional<MeasuredMfu> measured{};  // of a published run that is the first plan
    std::optional<ScalePicture> scaling{};  // present where its page is wanted
    std::optional<MendedPlan> mended{};     // of an impossible first plan
    bool proposal_nearly_full = false;      // the change that is proposed fits with the usual buffers only
    // Tries one change each of the first plan. Precondition: it has a step.
    void try_changes();
    void judge_proposal();
    // Gives the first plan the words of the request, where it has any.
    void take_words() {
        if (request.words) plans[0].review = *request.words;
    }
    [[nodiscard]] Reviewed first() const { return {plans[0], evaluations[0], presets}; }
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
void draw_axes_grid(ReviewSheet& sheet, const Reviewed& of, const std::vector<GroupKind>& axes);
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

}  // namespace pentamesh::ui
