// Says of a layout that was tried why it is not taken, with the figure that decides.
#pragma once

#include "core/decide/decision.h"
#include "core/decide/search.h"
#include "core/evaluate.h"

#include <optional>
#include <string>

namespace pentamesh {

struct WhyNot {
    std::string brief;     // "4.8 % slower", "does not fit", for a narrow column
    std::string sentence;  // "4.8 % slower than this plan: 412 ms more in exposed tp."
};

// `evaluation` is of the plan that was changed, with a step; `decision` is about it, nullopt where none
// was made.
[[nodiscard]] WhyNot why_not(const Evaluation& evaluation, const std::optional<PlanDecision>& decision,
                             const SearchResult& other);

}  // namespace pentamesh
