// Estimates the makespan of a schedule without running it, for searches that evaluate many thousand layouts.
#include "core/pipeline/timeline.h"

#include <algorithm>

namespace pentamesh {
namespace {

// Returns the gain of dualpipe and dualpipev on the innermost device, on which their makespan depends, when
// an overlapped pair takes `factor` of its parts: each pair's share, and that of the idle time, (p/2 - 1)(FB
// + B - 3W). Costs are those of one micro-batch on the pacing device and on the mean of those that it waits
// for.
double overlap_gain(const ScheduleShape& s, double pacing, double others, double factor) {
    const ScheduleTraits& t = traits_of(s.schedule);
    if (!t.overlaps_pairs) return 0;
    const bool v = t.placement == StagePlacement::v;
    const int half = v ? s.devices : s.devices / 2, each = v ? s.microbatches : s.microbatches / 2;
    const int pairs = 2 * (each - half) - 1;
    return (pairs * pacing + (half - 1) * others) * (1 - factor) / (v ? 2 : 1);
}

ChunkCost device_cost(const TimelineCosts& costs, int device, int chunks) {
    const double pace = slow_factor(costs, static_cast<std::size_t>(device));
    ChunkCost own;
    for (int c = 0; c < chunks; ++c) {
        const ChunkCost& k = costs.chunk[device * chunks + c];
        own.forward += pace * k.forward;
        own.input_grad += pace * k.input_grad;
        own.weight_grad += pace * k.weight_grad;
    }
    return own;
}

}  // namespace

// There are two chains, and the longer counts: all micro-batches at the slowest device's pace, which leaves
// the others time to hide their sends once the pipeline is full; and all at the mean pace with every send.
double makespan_estimate(const ScheduleShape& shape, const TimelineCosts& costs) {
    const int p = shape.devices, chunks = chunks_of(shape);
    ChunkCost sum, slowest;
    for (int d = 0; d < p; ++d) {
        const ChunkCost own = device_cost(costs, d, chunks);
        sum.forward += own.forward;
        sum.input_grad += own.input_grad;
        sum.weight_grad += own.weight_grad;
        if (own.total() > slowest.total()) slowest = own;
    }
    // dualpipe runs half of the micro-batches on each of its two whole stages.
    const double share = static_cast<double>(cost_divisor(shape)) / chunks;
    const double pace = share * slowest.total(), factor = costs.pair_factor;
    const int m = shape.microbatches;
    if (p == 1) return m * pace - overlap_gain(shape, pace, 0, factor);
    const double rest = share / (p - 1);  // of the other devices, one on average
    const double f = rest * (sum.forward - slowest.forward), i = rest * (sum.input_grad - slowest.input_grad),
                 w = rest * (sum.weight_grad - slowest.weight_grad);
    const double mean = share * sum.total() / p, others = f + i + w;
    ScheduleShape settling = shape;
    settling.microbatches = settling_microbatches(shape);
    return std::max(
        m * pace + bubble_estimate(settling, f, i, w, costs.send) - overlap_gain(shape, pace, others, factor),
        m * mean + bubble_estimate(shape, f, i, w, costs.send) - overlap_gain(shape, mean, others, factor));
}

}  // namespace pentamesh
