#include "core/pipeline/timeline_walk.h"

#include "core/pipeline/timeline.h"

#include <algorithm>

namespace pentamesh {
namespace {

struct Range {
    std::vector<double>::const_iterator begin, end;
};

Range of_device(const Timeline& t, const std::vector<double>& times, std::size_t d) {
    return {times.begin() + static_cast<std::ptrdiff_t>(t.order.begin[d]),
            times.begin() + static_cast<std::ptrdiff_t>(t.order.begin[d + 1])};
}

// Calls visit(times ascending) with the starts and with the ends of one device or of all.
template <typename Visit>
void each_row(const Timeline& t, int device, Visit&& visit) {
    const std::size_t first = device < 0 ? 0 : static_cast<std::size_t>(device);
    const std::size_t last = device < 0 ? t.device.size() : first + 1;
    for (std::size_t d = first; d < last && d < t.device.size(); ++d) {
        visit(of_device(t, t.start, d));
        visit(of_device(t, t.end, d));
    }
}

std::ptrdiff_t forward_output(const Timeline& t, int device, int chunk, std::int32_t microbatch) {
    const std::size_t own = row(t, device, chunk);
    if (t.sequence.link[own].after >= 0)
        return entry(t, t.sequence.forward_op, t.sequence.link[own].after, microbatch);
    return entry(t, t.sequence.backward_op, static_cast<std::int32_t>(own),
                 microbatch);  // the last stage needs its own forward
}

std::ptrdiff_t backward_output(const Timeline& t, int device, int chunk, std::int32_t microbatch) {
    return entry(t, t.sequence.backward_op, t.sequence.link[row(t, device, chunk)].before, microbatch);
}

}  // namespace

std::ptrdiff_t op_at(const Timeline& t, int device, double time) {
    const auto d = static_cast<std::size_t>(device);
    if (device < 0 || d >= t.device.size()) return -1;
    const Range starts = of_device(t, t.start, d);
    // Ops of no length share a start: the last of them is the one that may run.
    const auto after = std::upper_bound(starts.begin, starts.end, time);
    if (after == starts.begin) return -1;
    const auto i = static_cast<std::size_t>(after - t.start.begin()) - 1;
    return time < t.end[i] ? static_cast<std::ptrdiff_t>(i) : -1;
}

std::optional<double> next_boundary(const Timeline& t, double time, int device) {
    std::optional<double> best;
    each_row(t, device, [&](const Range& times) {
        const auto found = std::upper_bound(times.begin, times.end, time);
        if (found != times.end && (!best || *found < *best)) best = *found;
    });
    return best;
}

std::optional<double> previous_boundary(const Timeline& t, double time, int device) {
    std::optional<double> best;
    each_row(t, device, [&](const Range& times) {
        const auto found = std::lower_bound(times.begin, times.end, time);
        if (found != times.begin && (!best || *(found - 1) > *best)) best = *(found - 1);
    });
    return best;
}

std::array<std::ptrdiff_t, 2> outputs_of(const Timeline& t, std::size_t index) {
    const Op& op = t.order.ops[index];
    const int device = device_of_op(t, index);
    switch (op.kind) {
    case OpKind::F: return {forward_output(t, device, op.chunk, op.microbatch), -1};
    case OpKind::B:
    case OpKind::I: return {backward_output(t, device, op.chunk, op.microbatch), -1};
    case OpKind::W: break;
    case OpKind::FB:
        return {forward_output(t, device, op.chunk, op.microbatch),
                backward_output(t, device, op.backward_chunk, op.backward_microbatch)};
    }
    return {-1, -1};
}

SentTo sent_to(const Timeline& t, int device, const Op& op) {
    SentTo to;
    const auto other = [&](std::int32_t d) { return d == device ? -1 : d; };
    if (op.kind == OpKind::F || op.kind == OpKind::FB)
        to.forward = other(t.sequence.link[row(t, device, op.chunk)].after_device);
    if (op.kind == OpKind::B || op.kind == OpKind::I)
        to.backward = other(t.sequence.link[row(t, device, op.chunk)].before_device);
    if (op.kind == OpKind::FB)
        to.backward = other(t.sequence.link[row(t, device, op.backward_chunk)].before_device);
    return to;
}

namespace {

std::ptrdiff_t forward_input(const Timeline& t, int device, const Op& op) {
    return entry(t, t.sequence.forward_op, t.sequence.link[row(t, device, op.chunk)].before, op.microbatch);
}

std::ptrdiff_t backward_input(const Timeline& t, int device, int chunk, std::int32_t microbatch) {
    const std::size_t own = row(t, device, chunk);
    if (t.sequence.link[own].after >= 0)
        return entry(t, t.sequence.backward_op, t.sequence.link[own].after, microbatch);
    return entry(t, t.sequence.forward_op, static_cast<std::int64_t>(own), microbatch);
}

// Adds a change, or merges it into the step of the same time.
void change(std::vector<InFlightStep>& steps, double time, double by) {
    const double held = steps.empty() ? 0 : steps.back().held;
    if (!steps.empty() && steps.back().time == time) {
        steps.back().held = held + by;
    } else {
        steps.push_back({time, held + by});
    }
}

}  // namespace

int device_of_op(const Timeline& t, std::size_t index) {
    const auto after = std::upper_bound(t.order.begin.begin(), t.order.begin.end(), index);
    return static_cast<int>(after - t.order.begin.begin()) - 1;
}

std::array<std::ptrdiff_t, 2> inputs_of(const Timeline& t, std::size_t index) {
    const Op& op = t.order.ops[index];
    const int device = device_of_op(t, index);
    switch (op.kind) {
    case OpKind::F: return {forward_input(t, device, op), -1};
    case OpKind::B:
    case OpKind::I: return {backward_input(t, device, op.chunk, op.microbatch), -1};
    case OpKind::W:
        return {entry(t, t.sequence.backward_op, static_cast<std::int64_t>(row(t, device, op.chunk)),
                      op.microbatch),
                -1};
    case OpKind::FB:
        return {forward_input(t, device, op),
                backward_input(t, device, op.backward_chunk, op.backward_microbatch)};
    }
    return {-1, -1};
}

std::ptrdiff_t waited_for(const Timeline& t, const TimelineCosts& costs, std::size_t index) {
    const int device = device_of_op(t, index);
    std::ptrdiff_t last = -1;
    double latest = 0;
    if (index > t.order.begin[device]) {
        last = static_cast<std::ptrdiff_t>(index) - 1;
        latest = t.end[index - 1];
    }
    for (const std::ptrdiff_t input : inputs_of(t, index)) {
        if (input < 0) continue;
        const auto from = static_cast<std::size_t>(input);
        const double arrives = t.end[from] + (device_of_op(t, from) == device ? 0.0 : costs.send);
        if (last >= 0 && arrives <= latest) continue;
        last = input;
        latest = arrives;
    }
    return last;
}

std::vector<std::size_t> critical_path(const Timeline& t, const TimelineCosts& costs) {
    std::vector<std::size_t> path;
    for (std::size_t d = 0; d < t.device.size() && path.empty(); ++d)
        if (t.device[d].last_end == t.makespan && t.order.begin[d + 1] > t.order.begin[d])
            path.push_back(t.order.begin[d + 1] - 1);
    if (path.empty() || !t.complete) return {};
    for (std::ptrdiff_t at = waited_for(t, costs, path.back()); at >= 0;
         at = waited_for(t, costs, static_cast<std::size_t>(at)))
        path.push_back(static_cast<std::size_t>(at));
    std::reverse(path.begin(), path.end());
    return path;
}

std::vector<InFlightStep> in_flight(const Timeline& t, int device) {
    std::vector<InFlightStep> steps;
    const auto d = static_cast<std::size_t>(device);
    const double one = 1.0 / cost_divisor(t.shape);
    for (std::size_t i = t.order.begin[d]; i < t.order.begin[d + 1]; ++i) {
        const OpKind kind = t.order.ops[i].kind;
        if (kind == OpKind::F || kind == OpKind::FB) change(steps, t.start[i], one);
        if (kind == OpKind::B || kind == OpKind::W || kind == OpKind::FB) change(steps, t.end[i], -one);
    }
    return steps;
}

}  // namespace pentamesh
