// Answers among plans: which one to take, and is that known? The page that decides, Compare, `compare` and a
// search's sentence take it from here, by the rule for a tie that a decision on one plan goes by
// (decision.h).
#pragma once

#include "core/decide/search.h"
#include "core/evaluate.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace pentamesh {

// Returns the letter of a plan in a comparison, "A", "B" ...
[[nodiscard]] std::string plan_letter(std::size_t index);

// Returns "A gain of 4.78 % is less than the estimate's own range of 11.1 %."; empty where it is not, and for
// a gain that is not worth a word. `change` is the share of A's step that B saves, < 0 where B is slower: of
// plans that are compared every share is of A's step.
[[nodiscard]] std::string tie_caution(double change, const Step& a, const Step& b);

struct JudgedPlan {
    const Plan* plan = nullptr;
    const Evaluation* evaluation = nullptr;
};

struct PlanChoice {
    std::optional<std::size_t> take{};  // its index; nullopt: the figures do not decide
    bool sure = true;                   // false: if it measures faster
    std::string sentence{};             // "Take B if it measures faster: 4.78 % by the estimate. Both fit."
    std::string caution{};              // tie_caution of the two, or of the taken one against A
    [[nodiscard]] std::string words() const { return sentence + (caution.empty() ? "" : " " + caution); }
};
// Takes at least two plans; the first is A. A plan that does not fit is not taken where another fits. Then
// speed decides where it is known, then memory, then speed by the estimate, as in decide().
[[nodiscard]] PlanChoice choose_among(std::span<const JudgedPlan> plans);

// Returns the plan that is shown as the better one: of two that fit the one that holds much less and is no
// slower, else the fastest of those that fit, A where none is 1 % faster. nullopt: none fits, or they train
// different models.
[[nodiscard]] std::optional<std::size_t> best_among(std::span<const JudgedPlan> plans);

// Says how the fastest layout that a search found stands to the plan itself.
enum class PlanStanding : std::uint8_t {
    unknown,  // nothing is found, or the goal is no time
    fits,     // the plan is impossible or does not fit, the layout does
    faster,   // by more than either estimate may be off
    tied,     // faster or slower by no more than that: the estimate does not decide
    alike,    // to within 1 %
    slower    // by more than that
};
struct SearchStanding {
    PlanStanding standing = PlanStanding::unknown;
    double gain = 0;   // share of the plan's step; < 0: the plan is the faster one
    double range = 0;  // a gain below this share is a tie
    std::string sentence{};
};
// `plan` is the evaluation of the plan that was searched.
[[nodiscard]] SearchStanding standing_of(const Evaluation& plan, const SearchReport& report);

}  // namespace pentamesh
