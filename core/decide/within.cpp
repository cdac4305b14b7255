#include "core/decide/within.h"

#include <algorithm>

namespace pentamesh {

void keep_within(SearchReport& report, double share) {
    report.goal = Goal::memory;
    if (report.results.empty()) return;
    const double most = report.results.front().step_s * (1 + share);
    std::erase_if(report.results, [most](const SearchResult& r) { return !r.pareto || r.step_s > most; });
    std::sort(report.results.begin(), report.results.end(),
              [](const SearchResult& a, const SearchResult& b) { return a.memory_bytes < b.memory_bytes; });
}

}  // namespace pentamesh
