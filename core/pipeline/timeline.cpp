#include "core/pipeline/timeline.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace pentamesh {
namespace {

std::size_t at_index(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

// Finds the time of the ops of each lane, and how long their inputs take to arrive.
void time_lanes(const TimelineCosts& costs, Timeline& t) {
    const auto sent = [&](std::int32_t from, std::int32_t device, std::uint32_t to) {
        return from < 0 || device == static_cast<std::int32_t>(to) ? 0.0 : costs.send;
    };
    t.lane_time.resize(t.sequence.lane.size());
    for (std::size_t i = 0; i < t.lane_time.size(); ++i) {
        const Lane& lane = t.sequence.lane[i];
        const ChunkCost &c = costs.chunk[lane.chunk], &back = costs.chunk[lane.back_chunk];
        const ChunkLink &link = t.sequence.link[lane.chunk], &back_link = t.sequence.link[lane.back_chunk];
        const double slow = slow_factor(costs, lane.device);
        const double before = sent(link.before, link.before_device, lane.device);
        const double after = sent(back_link.after, back_link.after_device, lane.device);
        Timeline::LaneTime& time = t.lane_time[i];
        const std::int32_t shift = slot_shift(lane.device);
        switch (lane.kind) {
        case OpKind::F: time = {slow * c.forward, before, 0, shift}; break;
        case OpKind::B: time = {slow * (c.input_grad + c.weight_grad), after, 0, shift}; break;
        case OpKind::I: time = {slow * c.input_grad, after, 0, shift}; break;
        case OpKind::W: time = {slow * c.weight_grad, 0, 0, shift}; break;
        case OpKind::FB:
            time = {slow * (costs.pair_factor * (c.forward + back.input_grad + back.weight_grad)), before,
                    after, shift};
            break;
        }
    }
}

// An op starts when the one before it on its device has ended and its inputs have arrived.
void time_ops(Timeline& t) {
    const std::size_t devices = t.sequence.device.size();
    t.slot_end.resize(t.order.ops.size() + devices * std::size_t{kSlotGap});
    const Turn* const turns = t.sequence.turn.data();
    const std::int32_t* const back = t.sequence.back_input.empty() ? nullptr : t.sequence.back_input.data();
    const Timeline::LaneTime* const lanes = t.lane_time.data();
    double *const start = t.start.data(), *const end = t.slot_end.data();
    const auto first_slot = [&](std::size_t d) { return t.order.begin[d] + at_index(slot_shift(d)); };
    for (std::size_t d = 0; d < devices; ++d) end[first_slot(d) - 1] = 0;
    for (std::size_t i = 0, n = t.sequence.turn.size(); i < n; ++i) {
        const Turn turn = turns[i];
        const Timeline::LaneTime& lane = lanes[turn.lane];
        double at = std::max(end[turn.slot - 1], end[turn.input] + lane.arrives);
        if (back) at = std::max(at, end[back[i]] + lane.back_arrives);
        start[turn.slot - lane.shift] = at;
        end[turn.slot] = at + lane.takes;
    }
    for (std::size_t d = 0; d < devices; ++d)
        std::copy_n(end + first_slot(d), t.sequence.device[d].ops, t.end.data() + t.order.begin[d]);
}

void sum_up(Timeline& t) {
    const double divisor = cost_divisor(t.shape);
    t.makespan = 0;
    t.complete = t.sequence.turn.size() == t.order.ops.size();
    t.device.assign(t.sequence.device.size(), {});
    for (std::size_t i = 0; i < t.lane_time.size(); ++i)
        t.device[t.sequence.lane[i].device].busy +=
            static_cast<double>(t.sequence.lane[i].ops) * t.lane_time[i].takes;
    for (std::size_t d = 0; d < t.device.size(); ++d) {
        const Sequence::Device& run = t.sequence.device[d];
        DeviceTime& out = t.device[d];
        out.peak_in_flight = run.most_held / divisor;
        if (run.ops == 0) continue;
        out.first_start = t.start[t.order.begin[d]];
        out.last_end = t.end[t.order.begin[d] + run.ops - 1];
        // A device that never waits is busy exactly that long, without a rounding error.
        const double rounding = std::numeric_limits<double>::epsilon() * static_cast<double>(run.ops + 8);
        const double span = out.last_end - out.first_start;
        if (std::abs(span - out.busy) < rounding * out.last_end) out.busy = span;
        t.makespan = std::max(t.makespan, out.last_end);
    }
}

// Replays t.order, whose sequence is known.
void replay(const TimelineCosts& costs, Timeline& t) {
    t.start.resize(t.order.ops.size());
    t.end.resize(t.order.ops.size());
    time_lanes(costs, t);
    time_ops(t);
    sum_up(t);
}

// Makes the order of several steps back to back.
void repeat_order(const ScheduleShape& shape, int iterations, Order& out) {
    Order once;
    build_order(shape, once);
    out.ops.clear();
    out.begin.assign(1, 0);
    for (std::size_t d = 0; d + 1 < once.begin.size(); ++d) {
        for (int k = 0; k < iterations; ++k)
            for (std::size_t i = once.begin[d]; i < once.begin[d + 1]; ++i) {
                Op op = once.ops[i];
                op.microbatch += k * shape.microbatches;
                op.backward_microbatch += op.kind == OpKind::FB ? k * shape.microbatches : 0;
                out.ops.push_back(op);
            }
        out.begin.push_back(out.ops.size());
    }
}

// `make_order` fills out.order, where out does not hold that of the shape.
template <typename MakeOrder>
void run(const ScheduleShape& shape, int iterations, const TimelineCosts& costs, MakeOrder&& make_order,
         Timeline& out) {
    if (!out.sequence.is_of(shape, iterations)) {
        out.sequence.iterations = 0;  // of no order, should memory end before its own is there
        make_order();
        find_sequence(shape, iterations, out.order, out.sequence);
    }
    out.shape = shape;
    out.iterations = iterations;
    replay(costs, out);
}

}  // namespace

double device_busy(const TimelineCosts& costs, int device, int chunks) {
    double busy = 0;
    for (int c = 0; c < chunks; ++c) busy += costs.chunk[device * chunks + c].total();
    return busy;
}

TimelineCosts uniform_costs(const ScheduleShape& shape, double f, double i, double w, double send,
                            double pair) {
    TimelineCosts costs;
    const double share = 1.0 / cost_divisor(shape), whole = f + i + w;
    costs.chunk.assign(at_index(std::int64_t{shape.devices} * chunks_of(shape)),
                       {f * share, i * share, w * share});
    costs.send = send;
    costs.pair_factor = pair > 0 && whole > 0 ? pair / whole : 1;
    return costs;
}

void TimelineCosts::clear() {
    chunk.clear();
    send = 0;
    pair_factor = 1;
    slow.clear();
}

void Timeline::clear() {
    shape = {};
    iterations = 1;
    order.ops.clear();
    order.begin.clear();
    start.clear();
    end.clear();
    device.clear();
    makespan = 0;
    complete = false;
    sequence.clear();
}

bool Timeline::operator==(const Timeline& t) const {
    return shape == t.shape && iterations == t.iterations && order == t.order && start == t.start
           && end == t.end && device == t.device && makespan == t.makespan && complete == t.complete;
}

double Timeline::bubble_fraction() const {
    if (device.empty() || makespan <= 0) return 0;
    double busy = 0;
    for (const DeviceTime& d : device) busy += d.busy;
    return 1 - busy / (makespan * static_cast<double>(device.size()));
}

void run_timeline(const ScheduleShape& shape, const TimelineCosts& costs, Timeline& out) {
    run(
        shape, 1, costs, [&] { build_order(shape, out.order); }, out);
}

void run_iterations(const ScheduleShape& shape, const TimelineCosts& costs, int iterations, Timeline& out) {
    run(
        shape, iterations, costs, [&] { repeat_order(shape, iterations, out.order); }, out);
}

double iteration_end(const Timeline& t, int iteration) {
    double latest = 0;
    for (std::size_t d = 0; d < t.device.size(); ++d) {
        const std::size_t ops = (t.order.begin[d + 1] - t.order.begin[d]) / at_index(t.iterations);
        if (ops > 0) latest = std::max(latest, t.end[t.order.begin[d] + ops * at_index(iteration + 1) - 1]);
    }
    return latest;
}

// Estimates the makespan of a schedule without running it, for searches that evaluate many thousand layouts.

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

namespace {

using Sums = WorkIndex::Sums;

Sums minus(const Sums& a, const Sums& b) {
    return {a.forward - b.forward, a.backward - b.backward, a.weight - b.weight};
}

Sums plus(const Sums& a, const Sums& b, double share) {
    return {a.forward + share * b.forward, a.backward + share * b.backward, a.weight + share * b.weight};
}

Sums work_of(OpKind kind, double takes) {
    switch (kind) {
    case OpKind::F: return {takes, 0, 0};
    case OpKind::B:
    case OpKind::I: return {0, takes, 0};
    case OpKind::W: return {0, 0, takes};
    case OpKind::FB: return {takes / 2, takes / 2, 0};
    }
    return {};
}

struct Row {
    const Timeline& t;
    const WorkIndex& index;
    std::size_t device, end;
    double least, most;  // time that least_px and most_px are
    double tolerance;

    // Returns the first op from `begin` on that ends after `time`.
    [[nodiscard]] std::size_t ending_after(std::size_t begin, double time) const {
        const double last = static_cast<double>(index.slices) - 1;
        auto slice = static_cast<std::size_t>(std::clamp(time / index.slice_s, 0.0, last));
        if (slice > 0 && index.begin_of(slice) > time) --slice;  // the division may round up
        const std::uint32_t* const first = &index.ending_after[device * (index.slices + 1) + slice];
        const std::size_t low = std::max<std::size_t>(begin, first[0]);
        const std::size_t high =
            slice + 1 < index.slices && index.begin_of(slice + 1) > time ? first[1] : end;
        const auto ends = t.end.begin();
        const auto found = std::upper_bound(ends + static_cast<std::ptrdiff_t>(low),
                                            ends + static_cast<std::ptrdiff_t>(std::max(low, high)), time);
        return static_cast<std::size_t>(found - ends);
    }

    [[nodiscard]] bool wide(std::size_t i) const { return t.end[i] - t.start[i] >= least; }

    [[nodiscard]] Block block(std::size_t first, std::size_t last) const {
        return {t.start[first], t.end[last], first, last,
                minus(index.before[device + last + 1], index.before[device + first])};
    }

    // Returns the work done before `time`, which op `from` or a later one runs in or after.
    [[nodiscard]] Sums work_before(std::size_t from, double time) const {
        const std::size_t i = ending_after(from, time);
        Sums sums = index.before[device + i];
        if (i == end || t.start[i] >= time) return sums;
        const double share = (time - t.start[i]) / (t.end[i] - t.start[i]);
        return plus(sums, minus(index.before[device + i + 1], sums), share);
    }

    // Returns the same for any time, as if the work within a slice were even: a good guess over many slices,
    // and one access to memory instead of several.
    [[nodiscard]] Sums about_before(double time) const {
        const double at = std::clamp(time / index.slice_s, 0.0, static_cast<double>(index.slices));
        const auto slice = std::min(static_cast<std::size_t>(at), index.slices - 1);
        const Sums* const done = &index.done[device * (index.slices + 1) + slice];
        return plus(done[0], minus(done[1], done[0]), at - static_cast<double>(slice));
    }

    // Returns true if the work from op `first` on is much the same in each quarter of the next `span`.
    [[nodiscard]] bool alike(std::size_t first, double span) const {
        const double quarter = span / 4, begin = t.start[first];
        const bool coarse = quarter >= 8 * index.slice_s;
        Sums before = coarse ? about_before(begin) : index.before[device + first], least_work{}, most_work{};
        for (int q = 1; q <= 4; ++q) {
            const double time = begin + q * quarter;
            const Sums now = coarse ? about_before(time) : work_before(first, time),
                       work = minus(now, before);
            before = now;
            if (q == 1) least_work = most_work = work;
            least_work = {std::min(least_work.forward, work.forward),
                          std::min(least_work.backward, work.backward),
                          std::min(least_work.weight, work.weight)};
            most_work = {std::max(most_work.forward, work.forward),
                         std::max(most_work.backward, work.backward),
                         std::max(most_work.weight, work.weight)};
        }
        const Sums range = minus(most_work, least_work);
        return std::max({range.forward, range.backward, range.weight}) <= tolerance * quarter;
    }

    // Earlier runs predict the next: how long it may be, in time, and how many are not worth trying.
    struct Guess {
        double span;
        int pause = 0;
    };
    // Returns the op after the last that joins `first`, which is narrow. A run is at most twice as long as
    // the one before. After a run that ended early the next few are taken short: where the work changes often
    // that saves trying every length.
    [[nodiscard]] std::size_t run_end(std::size_t first, Guess& guess) const {
        constexpr int kPause = 3;
        if (guess.pause > 0) {
            --guess.pause;
        } else {
            for (double span = std::min(most, 2 * guess.span); span > 4 * least; span /= 2) {
                const std::size_t next = ending_after(first, t.start[first] + span);
                const bool narrow = static_cast<double>(next - first) * least >= span;
                if (!narrow || !alike(first, span)) continue;
                guess.span = span;
                return next;
            }
            guess = {4 * least, kPause};
        }
        return std::max(ending_after(first, t.start[first] + least), first + 1);
    }
};

}  // namespace

void build_work_index(const Timeline& t, WorkIndex& out) {
    const std::size_t devices = t.device.size();
    out.before.resize(t.order.ops.size() + devices);
    out.slices = std::max<std::size_t>(1, t.order.ops.size() / std::max<std::size_t>(1, 2 * devices));
    out.slice_s = std::max(t.makespan, 1e-300) / static_cast<double>(out.slices);
    out.ending_after.clear();
    out.ending_after.reserve(devices * (out.slices + 1));
    out.done.clear();
    out.done.reserve(devices * (out.slices + 1));
    for (std::size_t d = 0; d < devices; ++d) {
        WorkIndex::Sums sums;
        const std::size_t row = out.ending_after.size();
        for (std::size_t i = t.order.begin[d]; i < t.order.begin[d + 1]; ++i) {
            out.before[d + i] = sums;
            const double takes = t.end[i] - t.start[i];
            const Sums own = work_of(t.order.ops[i].kind, takes);
            while (out.ending_after.size() - row <= out.slices) {
                const double begin = out.begin_of(out.ending_after.size() - row);
                if (begin >= t.end[i]) break;
                out.ending_after.push_back(static_cast<std::uint32_t>(i));
                out.done.push_back(plus(sums, own, begin > t.start[i] ? (begin - t.start[i]) / takes : 0));
            }
            sums = plus(sums, own, 1);
        }
        out.before[d + t.order.begin[d + 1]] = sums;
        out.ending_after.resize(row + out.slices + 1, static_cast<std::uint32_t>(t.order.begin[d + 1]));
        out.done.resize(row + out.slices + 1, sums);
    }
}

void visible_blocks(const Timeline& t, const WorkIndex& index, int device, double from, double to,
                    double pixels, std::vector<Block>& out, const BlockLimits& limits) {
    out.clear();
    if (!(to > from) || !(pixels > 0)) return;
    const auto d = static_cast<std::size_t>(device);
    const double pixel = (to - from) / pixels;
    const Row row{
        t, index, d, t.order.begin[d + 1], limits.least_px * pixel, limits.most_px * pixel, limits.tolerance};
    Row::Guess guess{row.most};
    std::size_t i = row.ending_after(t.order.begin[d], from);
    while (i < row.end && t.start[i] < to) {
        const std::size_t next = row.wide(i) ? i + 1 : row.run_end(i, guess);
        out.push_back(row.block(i, next - 1));
        i = next;
    }
}

void SeenBlocks::look(std::uint64_t version, double from, double to, double pixels,
                      const BlockLimits& limits) {
    const double span = to - from, pixel = span / pixels;
    const bool same = version == version_ && limits == limits_ && std::abs(pixel - pixel_) < 1e-9 * pixel_;
    from_ = from, to_ = to;
    if (same && from >= known_from_ && to <= known_to_) return;
    known_from_ = same ? from - span / 4 : from;
    known_to_ = same ? to + span / 4 : to;
    version_ = version, limits_ = limits;
    if (!same) pixel_ = pixel;
    for (Row& row : rows_) row.known = false;
}

std::span<const Block> SeenBlocks::row(const Timeline& t, const WorkIndex& index, int device) {
    const auto d = static_cast<std::size_t>(device);
    if (d >= rows_.size()) rows_.resize(d + 1);
    Row& row = rows_[d];
    if (!row.known)
        visible_blocks(t, index, device, known_from_, known_to_, (known_to_ - known_from_) / pixel_,
                       row.blocks, limits_);
    row.known = true;
    const auto begin = std::partition_point(row.blocks.begin(), row.blocks.end(),
                                            [&](const Block& b) { return b.to <= from_; });
    const auto end =
        std::partition_point(begin, row.blocks.end(), [&](const Block& b) { return b.from < to_; });
    return std::span(row.blocks)
        .subspan(static_cast<std::size_t>(begin - row.blocks.begin()), static_cast<std::size_t>(end - begin));
}

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

double first_round_s(const Timeline& t) {
    double round_s = 0;
    const auto chunks = static_cast<std::size_t>(t.empty() ? 0 : chunks_of(t.shape));
    std::vector<bool> seen(chunks);
    for (std::size_t d = 0; d < t.device.size(); ++d) {
        seen.assign(chunks, false);
        std::size_t left = chunks;
        for (std::size_t i = t.order.begin[d]; left > 0 && i < t.order.begin[d + 1]; ++i) {
            const Op& op = t.order.ops[i];
            const auto chunk = static_cast<std::size_t>(op.chunk);
            if ((op.kind != OpKind::F && op.kind != OpKind::FB) || seen[chunk]) continue;
            seen[chunk] = true;
            --left;
            round_s = std::max(round_s, t.end[i]);
        }
    }
    return round_s;
}

}  // namespace pentamesh
