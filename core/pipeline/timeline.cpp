#include "core/pipeline/timeline.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

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

}  // namespace pentamesh
