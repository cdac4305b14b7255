// Says what the first page of a review decides, why, and what is open. All of it is from the evaluation and
// from one change each that was tried (ReviewContent::tried); the author's own words win.
#pragma once

#include "app/ui/review/pages.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

[[nodiscard]] MemoryFit fit_of_plan(const Evaluation& evaluation);
// Returns "fits", "fits with the usual buffers", "does not fit".
[[nodiscard]] std::string fit_words(const Evaluation& evaluation);
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
// Returns "cp 2": what has to be changed by hand (changed_choices of core/decide/ties.h).
[[nodiscard]] std::string change_words(const Plan& plan, const LayoutChoice& to);
// Returns the change that the page proposes: the fastest that fits, where the plan does not fit or where it
// gains at least 1 % of the step. Null: none, or two plans are compared.
[[nodiscard]] const SearchResult* proposal_of(const ReviewContent& content);
// Returns the lines of a text that the author wrote, without the marks in front of them.
[[nodiscard]] std::vector<std::string> items_of(std::string_view text);
// Returns true if the run of the first plan refutes its estimate: no verdict stands on it then.
[[nodiscard]] bool is_refuted(const ReviewContent& content);
// Returns the author's decision, else the program's.
[[nodiscard]] std::string decision_of(const ReviewContent& content, const SearchResult* proposed);
[[nodiscard]] std::string reason_of(const ReviewContent& content, const SearchResult* proposed);
// Returns which of the plans the program would take, where it has a reason: the only one that fits, or the
// one that is at least 1 % faster. Plans of different models have none.
[[nodiscard]] std::optional<std::size_t> better_of(const ReviewContent& content);
// Returns what a step of the run that is attached took; nullopt: none is, or it does not say.
[[nodiscard]] std::optional<double> measured_step_s(const ReviewContent& content);
// Returns what the figures of a plan leave open, the most pressing first. Precondition: it has a step.
[[nodiscard]] std::vector<std::string> open_questions(const ReviewContent& content, std::size_t plan);

}  // namespace pentamesh::ui
