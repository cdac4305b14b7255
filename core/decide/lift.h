// Says why a layout is too big, and what would make room.
#pragma once

#include "core/decide/search.h"

#include <atomic>

namespace pentamesh {

// Returns "The fullest GPU needs 92.1 GiB, of which optimizer 40.2 GiB; 76 GiB may be taken (5 % of 80 GiB
// stays free)."
[[nodiscard]] std::string too_big_text(const Evaluation& e, double headroom);

// Says, where nothing fits, which limit binds first, and what would lift it. `report` is of a finished
// search. If it is cancelled, it returns its findings so far.
[[nodiscard]] std::string what_would_fit(const Plan& plan, const SpaceRequest& request,
                                         const SearchOptions& options, const SearchReport& report,
                                         const std::atomic<bool>* cancel = nullptr);

}  // namespace pentamesh
