// Says why a plan has no figures.
#pragma once

#include "core/plan/problem.h"

#include <string>
#include <vector>

namespace pentamesh {

// Returns the sentence of the first error, or "".
[[nodiscard]] inline std::string first_error(const std::vector<Problem>& problems) {
    for (const Problem& p : problems)
        if (p.severity == Severity::error) return p.message;
    return {};
}

}  // namespace pentamesh
