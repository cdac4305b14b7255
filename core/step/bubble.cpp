#include "core/step/bubble.h"

#include <algorithm>
#include <cmath>

namespace pentamesh {
namespace {

bool alike(const ChunkCost& a, const ChunkCost& b) {
    constexpr double kSame = 1e-9;
    const auto near = [](double x, double y) { return std::abs(x - y) <= kSame * std::max(x, y); };
    return near(a.forward, b.forward) && near(a.input_grad, b.input_grad)
           && near(a.weight_grad, b.weight_grad);
}

// Returns the mean cost of a whole stage. A dualpipe device runs each of its two chunks, which are whole
// stages, for half of the micro-batches.
ChunkCost mean_stage(const Timeline& t, const TimelineCosts& costs) {
    const auto chunks = static_cast<std::size_t>(chunks_of(t.shape));
    const double copies = static_cast<double>(chunks) / cost_divisor(t.shape);
    ChunkCost sum;
    for (std::size_t i = 0; i < costs.chunk.size(); ++i) {
        const double k = slow_factor(costs, i / chunks) / (t.shape.devices * copies);
        sum.forward += k * costs.chunk[i].forward;
        sum.input_grad += k * costs.chunk[i].input_grad;
        sum.weight_grad += k * costs.chunk[i].weight_grad;
    }
    return sum;
}

}  // namespace

Bubble measure_bubble(const Timeline& step, const TimelineCosts& costs, const Timeline* two) {
    Bubble b;
    if (step.empty() || costs.chunk.empty()) return b;
    double span = 0;
    for (const DeviceTime& d : step.device) {
        b.work += d.busy / static_cast<double>(step.device.size());
        span = std::max(span, d.last_end - d.first_start);
    }
    b.makespan = std::max(step.makespan - b.work, 0.0);
    b.span = std::max(span - b.work, 0.0);
    if (two != nullptr && two->iterations > 1)
        b.steady = std::max(two->makespan - iteration_end(*two, two->iterations - 2) - b.work, 0.0);
    b.fraction = step.makespan > 0 ? b.makespan / step.makespan : 0;
    b.overhead = b.work > 0 ? b.makespan / b.work : 0;
    const ChunkCost mean = mean_stage(step, costs);
    b.form = closed_form(step.shape, mean.forward, mean.input_grad, mean.weight_grad, costs.send);
    b.form_overhead = b.work > 0 ? b.form.bubble / b.work : 0;
    b.equal_stages = std::all_of(costs.chunk.begin(), costs.chunk.end(),
                                 [&](const ChunkCost& c) { return alike(c, costs.chunk.front()); });
    for (std::size_t d = 0; d < step.device.size(); ++d)
        b.equal_stages = b.equal_stages && slow_factor(costs, d) == 1;
    if (costs.pair_factor != 1) b.form.exact = false;  // the forms take an overlapped pair for F + B
    return b;
}

void apply_slow(const SlowDevice& slow, int devices, TimelineCosts& costs) {
    costs.slow.clear();
    if (!slow.any() || slow.device >= devices) return;
    costs.slow.assign(static_cast<std::size_t>(devices), 1);
    costs.slow[slow.device] = slow.factor;
}

double step_with_makespan(const Step& step, double makespan_before, double makespan_after) {
    const double even = step.time_s - step.straggler_s;
    if (even <= 0) return step.time_s;
    return (even + makespan_after - makespan_before) * (step.time_s / even);
}

}  // namespace pentamesh
