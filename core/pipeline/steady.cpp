#include "core/pipeline/timeline.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace pentamesh {
namespace {

constexpr double kTolerance = 0.02;
constexpr int kLeastPeriods = 3;
constexpr std::size_t kMostOps = 40000;  // of a stage; with more, no period is looked for

// One stage's ops, and whether two of them, `every` apart, are a period apart.
class StageOps {
  public:
    StageOps(const Timeline& t, int device)
        : t_(t), begin_(t.order.begin[static_cast<std::size_t>(device)]),
          count_(t.order.begin[static_cast<std::size_t>(device) + 1] - begin_) {}
    [[nodiscard]] std::size_t count() const { return count_; }
    [[nodiscard]] double start(std::size_t i) const { return t_.start[begin_ + i]; }
    [[nodiscard]] bool repeat(std::size_t i, std::size_t every, double period_s) const {
        const Op &a = t_.order.ops[begin_ + i], &b = t_.order.ops[begin_ + i + every];
        return a.kind == b.kind && a.chunk == b.chunk && a.backward_chunk == b.backward_chunk
               && std::abs(start(i + every) - start(i) - period_s) <= kTolerance * period_s;
    }

  private:
    const Timeline& t_;
    std::size_t begin_, count_;
};

struct Stretch {
    double from_s = 0, to_s = 0, period_s = 0;
};

// Looks for the shortest period that holds over the middle third of a stage's ops, and extends it to both
// sides as far as it holds.
std::optional<Stretch> steady_stretch(const Timeline& t, int device) {
    const StageOps ops(t, device);
    const std::size_t n = ops.count(), low = n / 3, high = n - n / 3;
    if (n > kMostOps) return std::nullopt;
    for (std::size_t every = 1; low + 2 * every <= high; ++every) {
        const double period = ops.start(low + every) - ops.start(low);
        bool holds = period > 0;
        for (std::size_t i = low; holds && i + every < high; ++i) holds = ops.repeat(i, every, period);
        if (!holds) continue;
        std::size_t first = low, last = high - every;  // ops whose next period is like theirs: [first, last)
        while (first > 0 && ops.repeat(first - 1, every, period)) --first;
        while (last + every < n && ops.repeat(last, every, period)) ++last;
        return Stretch{ops.start(first), ops.start(last - 1 + every), period};
    }
    return std::nullopt;
}

}  // namespace

std::optional<SteadyPart> steady_part(const Timeline& t) {
    if (t.empty()) return std::nullopt;
    const int devices = static_cast<int>(t.device.size());
    double from = 0, to = t.makespan, period = 0;
    for (const int device : {0, devices / 2, devices - 1}) {
        const std::optional<Stretch> s = steady_stretch(t, device);
        if (!s || (period > 0 && std::abs(s->period_s - period) > kTolerance * period)) return std::nullopt;
        from = std::max(from, s->from_s);
        to = std::min(to, s->to_s);
        period = s->period_s;
    }
    const int periods = static_cast<int>(std::floor((to - from) / period + 1e-9));
    if (periods < kLeastPeriods) return std::nullopt;
    return SteadyPart{from, period, periods};
}

double median_op_s(const Timeline& t) {
    if (t.empty()) return 0;
    const std::size_t middle = t.device.size() / 2;
    std::vector<double> takes;
    for (std::size_t i = t.order.begin[middle]; i < t.order.begin[middle + 1]; ++i)
        takes.push_back(t.end[i] - t.start[i]);
    if (takes.empty()) return 0;
    const auto half = takes.begin() + static_cast<std::ptrdiff_t>(takes.size() / 2);
    std::nth_element(takes.begin(), half, takes.end());
    return *half;
}

}  // namespace pentamesh
