// Each of these functions draws a page of a review.
#pragma once

#include "app/ui/review/figures.h"
#include "app/ui/review/review.h"
#include "app/ui/views/scale/scale_chart.h"
#include "core/decide/compare.h"
#include "core/decide/search.h"
#include "core/decide/sensitivity.h"
#include "core/explain/published.h"

#include <optional>
#include <string>
#include <vector>

namespace pentamesh::ui {

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
    std::optional<MeasuredMfu> measured{};  // of a published run that is the first plan
    std::optional<ScalePicture> scaling{};  // present where its page is wanted
    [[nodiscard]] Reviewed first() const { return {plans[0], evaluations[0], presets}; }
    [[nodiscard]] Reviewed of(std::size_t i) const { return {plans[i], evaluations[i], presets}; }
    // Returns the index of the plan that the comparison calls A (0) or B (1).
    [[nodiscard]] std::size_t compared(std::size_t i) const { return request.second_is_a ? 1 - i : i; }
};
// Throws Error of kind usage for a page that needs a second plan.
[[nodiscard]] std::vector<ReviewPage> review_pages_of(const ReviewRequest& request, bool two, bool valid);
[[nodiscard]] ReviewContent review_content_of(const Presets& presets, std::span<const Plan> plans,
                                              const ReviewRequest& request);
void draw_review_page(ReviewSheet& sheet, const ReviewContent& content, ReviewPage page);
// Returns a sentence for the top of every page of an impossible plan; "" where the plan is possible.
[[nodiscard]] std::string review_banner(const Evaluation& e);

// in_use returns true if an axis has groups of more than one rank. axes_in_use returns all such axes of the
// dense and the expert mesh.
[[nodiscard]] bool in_use(const Evaluation& e, GroupKind axis);
[[nodiscard]] std::vector<GroupKind> axes_in_use(const Evaluation& e);
// Returns "B is 1.95 s faster: ...". Precondition: the content has a comparison.
[[nodiscard]] std::string comparison_verdict(const ReviewContent& content);
// Draws axes side by side, in rows of as many as can be read: words, and the mesh.
void draw_axes_grid(ReviewSheet& sheet, const Reviewed& of, const std::vector<GroupKind>& axes);
// Draws a mark and a text after it, wrapped.
void draw_item(ReviewSheet& sheet, Color mark, std::string_view words);
// Lists errors, warnings and advice, each with its change.
void draw_problem_list(ReviewSheet& sheet, const Evaluation& e);

// Draws the first page of the summary of a plan with a step.
void decision_page(ReviewSheet& sheet, const ReviewContent& content);
void summary_page(ReviewSheet& sheet, const ReviewContent& content);
void placement_page(ReviewSheet& sheet, const ReviewContent& content);
void memory_page(ReviewSheet& sheet, const ReviewContent& content);
void time_page(ReviewSheet& sheet, const ReviewContent& content);
void communication_page(ReviewSheet& sheet, const ReviewContent& content);
void assumptions_page(ReviewSheet& sheet, const ReviewContent& content);
void comparison_page(ReviewSheet& sheet, const ReviewContent& content);
void scale_page(ReviewSheet& sheet, const ReviewContent& content);

}  // namespace pentamesh::ui
