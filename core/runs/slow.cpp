// A kernel's time holds the wait for the others: the rank for which the others wait spends the least time in
// communication. Clocks of nodes are not compared.
#include "core/runs/hang.h"

#include "core/base/text.h"

#include <algorithm>
#include <map>

namespace pentamesh::runs {
namespace {

constexpr double kLeastOfSpan = 0.03;  // a smaller step is noise
constexpr double kOverMedian = 10;     // how much wider than the usual step between two ranks

struct Busy {
    double ms = 0;
    std::int64_t rank = 0;
};

// Returns how many of the sorted ranks are slow: those below the widest step.
std::size_t count_slow(const std::vector<Busy>& sorted, double span_ms) {
    std::vector<double> steps;
    for (std::size_t i = 1; i < sorted.size(); ++i) steps.push_back(sorted[i].ms - sorted[i - 1].ms);
    if (steps.size() < 2) return 0;
    const auto widest = std::max_element(steps.begin(), steps.end());
    const auto below = static_cast<std::size_t>(widest - steps.begin()) + 1;
    const double step = *widest;
    std::nth_element(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2),
                     steps.end());
    const double median = steps[steps.size() / 2];
    const bool wide = step > kLeastOfSpan * span_ms && step > kOverMedian * median;
    return wide && below * 2 <= sorted.size() ? below : 0;
}

}  // namespace

void find_slow(const DumpFolder& run, Hang& hang) {
    std::map<std::int64_t, std::vector<Busy>> stages;
    double span_ms = 0;
    for (const Dump& d : run.dumps) {
        double sum = 0;
        bool timed = false;
        for (const DumpEntry& e : d.entries)
            if (e.duration_ms >= 0) sum += static_cast<double>(e.duration_ms), timed = true;
        if (!timed) continue;
        stages[hang.layout.coordinate(RunAxis::pp, d.rank)].push_back({sum, d.rank});
        span_ms = std::max(span_ms, d.span_ms);
    }
    for (auto& [stage, ranks] : stages) {
        std::sort(ranks.begin(), ranks.end(), [](const Busy& a, const Busy& b) { return a.ms < b.ms; });
        const std::size_t slow = count_slow(ranks, span_ms);
        for (std::size_t i = 0; i < slow; ++i)
            hang.culprits.push_back({ranks[i].rank,
                                     FaultKind::slow,
                                     true,
                                     {},
                                     "it spends " + time_text(ranks[i].ms / 1e3)
                                         + " in communication where the next rank of its stage spends "
                                         + time_text(ranks[slow].ms / 1e3) + ": the others wait for it"});
    }
    std::sort(hang.culprits.begin(), hang.culprits.end(),
              [](const Culprit& a, const Culprit& b) { return a.rank < b.rank; });
    if (!hang.culprits.empty()) hang.verdict = RunVerdict::slow;
}

}  // namespace pentamesh::runs
