#include "core/pipeline/timeline_walk.h"
#include "core/pipeline/timeline_entries.h"

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

}  // namespace pentamesh
