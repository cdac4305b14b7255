#include "core/pipeline/timeline.h"

#include <algorithm>

namespace pentamesh {
namespace {

std::size_t at_index(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

constexpr std::int32_t kThrough = -1;  // what a device waits for that has run all of its ops

// Each device runs its ops until one lacks an input. Forwards go one way along the devices and backwards the
// other, so they are looked at to and fro: whatever the schedule, an op is looked at once or a few times.
struct Replay {
    const TimelineCosts& costs;
    const Op* ops;
    double *start, *end;  // by op

    // Raises `at` to the arrival of an input. Null where it has arrived, else what is waited for.
    [[nodiscard]] const std::int32_t* await(const std::int32_t* from, double delay, std::int32_t microbatch,
                                            double& at) const {
        if (!from) return nullptr;
        const std::int32_t op = from[microbatch];
        if (op < 0) return from + microbatch;
        at = std::max(at, end[op] + delay);
        return nullptr;
    }
    [[nodiscard]] const std::int32_t* await_forward(const ReplayedChunk& c, std::int32_t microbatch,
                                                    double& at) const {
        return await(c.before, c.before_s, microbatch, at);
    }
    [[nodiscard]] const std::int32_t* await_backward(const ReplayedChunk& c, std::int32_t microbatch,
                                                     double& at) const {
        return await(c.after, c.after_s, microbatch, at);
    }
    [[nodiscard]] double pair_s(const ChunkCost& c, const ChunkCost& back, double slow) const {
        return slow * (costs.pair_factor * (c.forward + back.input_grad + back.weight_grad));
    }

    // `chunk`, `cost`: of this device. False: it still waits.
    bool run(const ReplayedChunk* chunk, const ChunkCost* cost, double slow, ReplayedDevice& device) const {
        if (*device.waits_for < 0) return false;
        double now = device.now, busy = device.busy;
        int held = device.held, most = device.most;
        std::size_t i = device.next;
        const std::size_t stop = device.stop;
        const std::int32_t* waits_for = nullptr;
        for (; i < stop; ++i) {
            const Op op = ops[i];
            const ReplayedChunk& c = chunk[op.chunk];
            const auto index = static_cast<std::int32_t>(i);
            double at = now, took = 0;
            if (op.kind == OpKind::F) {
                waits_for = await_forward(c, op.microbatch, at);
                if (waits_for) break;
                took = c.forward_s;
                c.forward[op.microbatch] = index;
                most = std::max(most, ++held);
            } else if (op.kind == OpKind::W) {
                took = c.weight_s;
                --held;
            } else if (op.kind != OpKind::FB) {
                waits_for = await_backward(c, op.microbatch, at);
                if (waits_for) break;
                const bool whole = op.kind == OpKind::B;
                took = whole ? c.backward_s : c.input_s;
                c.backward[op.microbatch] = index;
                held -= whole ? 1 : 0;
            } else {
                const ReplayedChunk& back = chunk[op.backward_chunk];
                waits_for = await_forward(c, op.microbatch, at);
                if (!waits_for) waits_for = await_backward(back, op.backward_microbatch, at);
                if (waits_for) break;
                took = pair_s(cost[op.chunk], cost[op.backward_chunk], slow);
                c.forward[op.microbatch] = index;
                back.backward[op.backward_microbatch] = index;
                most = std::max(most, held + 1);
            }
            now = at + took;
            start[i] = at;
            end[i] = now;
            busy += now - at;
        }
        device = {i, stop, now, busy, waits_for ? waits_for : &kThrough, held, most};
        return true;
    }
};

void link_chunks(const ScheduleShape& shape, std::vector<ChunkLink>& out) {
    const int chunks = chunks_of(shape), p = shape.devices;
    const bool two_copies = traits_of(shape.schedule).placement == StagePlacement::two_copies;
    const int stages = two_copies ? p : p * chunks;
    out.assign(at_index(std::int64_t{p} * chunks), {});
    // A copy's chunk never changes along the way; otherwise each stage is one chunk of one device.
    const auto neighbour = [&](int chunk, int stage, std::int32_t& index, std::int32_t& device) {
        if (stage < 0 || stage >= stages) return;
        for (int c = two_copies ? chunk : 0; c < (two_copies ? chunk + 1 : chunks); ++c) {
            device = device_of(shape, stage, c);
            if (device < 0 || device >= p) continue;
            index = device * chunks + c;
            return;
        }
    };
    for (int d = 0; d < p; ++d)
        for (int c = 0; c < chunks; ++c) {
            ChunkLink& l = out[at_index(std::int64_t{d} * chunks + c)];
            const int stage = stage_of(shape, d, c);
            neighbour(c, stage - 1, l.before, l.before_device);
            neighbour(c, stage + 1, l.after, l.after_device);
        }
}

// What each chunk's ops need and take, found once for all of them.
void ready_chunks(const TimelineCosts& costs, std::size_t chunks, std::size_t each, Timeline& t) {
    t.scratch.chunk.resize(t.link.size());
    for (std::size_t i = 0; i < t.link.size(); ++i) {
        const ChunkLink& l = t.link[i];
        const ChunkCost& cost = costs.chunk[i];
        const auto device = static_cast<std::int32_t>(i / chunks);
        const double slow = slow_factor(costs, i / chunks);
        ReplayedChunk& c = t.scratch.chunk[i];
        c.forward = t.forward_op.data() + i * each, c.backward = t.backward_op.data() + i * each;
        c.before = l.before < 0 ? nullptr : t.forward_op.data() + at_index(l.before) * each;
        c.before_s = l.before_device == device ? 0.0 : costs.send;
        // The last stage's input is its own forward.
        c.after = l.after < 0 ? c.forward : t.backward_op.data() + at_index(l.after) * each;
        c.after_s = l.after < 0 || l.after_device == device ? 0.0 : costs.send;
        c.forward_s = slow * cost.forward, c.input_s = slow * cost.input_grad;
        c.weight_s = slow * cost.weight_grad, c.backward_s = slow * (cost.input_grad + cost.weight_grad);
    }
}

void sum_up(Timeline& t) {
    const double divisor = cost_divisor(t.shape);
    t.makespan = 0;
    t.complete = true;
    for (std::size_t d = 0; d < t.device.size(); ++d) {
        const ReplayedDevice& run = t.scratch.device[d];
        const std::size_t first = t.order.begin[d];
        t.complete = t.complete && run.next == run.stop;
        t.device[d] = {run.busy, run.next > first ? t.start[first] : 0, run.now, run.most / divisor};
        t.makespan = std::max(t.makespan, run.now);
    }
}

// Replays t.order, which holds t.iterations steps of t.shape.
void replay(const TimelineCosts& costs, Timeline& t) {
    const auto p = at_index(t.shape.devices), chunks = at_index(chunks_of(t.shape));
    const std::size_t each = at_index(std::int64_t{t.shape.microbatches} * t.iterations);
    link_chunks(t.shape, t.link);
    t.forward_op.assign(each * p * chunks, -1);
    t.backward_op.assign(each * p * chunks, -1);
    t.start.resize(t.order.ops.size());
    t.end.resize(t.order.ops.size());
    t.device.resize(p);
    ready_chunks(costs, chunks, each, t);
    static constexpr std::int32_t kAtOnce = 0;
    t.scratch.device.resize(p);
    for (std::size_t d = 0; d < p; ++d)
        t.scratch.device[d] = {t.order.begin[d], t.order.begin[d + 1], 0, 0, &kAtOnce, 0, 0};

    const Replay replay{costs, t.order.ops.data(), t.start.data(), t.end.data()};
    const auto run = [&](std::size_t d) {
        return replay.run(&t.scratch.chunk[d * chunks], &costs.chunk[d * chunks], slow_factor(costs, d),
                          t.scratch.device[d]);
    };
    for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t d = 0; d < p; ++d) moved = run(d) || moved;
        for (std::size_t d = p; d-- > 0;) moved = run(d) || moved;
    }
    sum_up(t);
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
    forward_op.clear();
    backward_op.clear();
    link.clear();
}

bool Timeline::operator==(const Timeline& t) const {
    return shape == t.shape && iterations == t.iterations && order == t.order && start == t.start
           && end == t.end && device == t.device && makespan == t.makespan && complete == t.complete
           && forward_op == t.forward_op && backward_op == t.backward_op && link == t.link;
}

double Timeline::bubble_fraction() const {
    if (device.empty() || makespan <= 0) return 0;
    double busy = 0;
    for (const DeviceTime& d : device) busy += d.busy;
    return 1 - busy / (makespan * static_cast<double>(device.size()));
}

void run_timeline(const ScheduleShape& shape, const TimelineCosts& costs, Timeline& out) {
    out.shape = shape;
    out.iterations = 1;
    build_order(shape, out.order);
    replay(costs, out);
}

void run_iterations(const ScheduleShape& shape, const TimelineCosts& costs, int iterations, Timeline& out) {
    Order once;
    build_order(shape, once);
    out.shape = shape;
    out.iterations = iterations;
    out.order.ops.clear();
    out.order.begin.assign(1, 0);
    for (std::size_t d = 0; d + 1 < once.begin.size(); ++d) {
        for (int k = 0; k < iterations; ++k)
            for (std::size_t i = once.begin[d]; i < once.begin[d + 1]; ++i) {
                Op op = once.ops[i];
                op.microbatch += k * shape.microbatches;
                op.backward_microbatch += op.kind == OpKind::FB ? k * shape.microbatches : 0;
                out.order.ops.push_back(op);
            }
        out.order.begin.push_back(out.order.ops.size());
    }
    replay(costs, out);
}

double iteration_end(const Timeline& t, int iteration) {
    double latest = 0;
    for (std::size_t d = 0; d < t.device.size(); ++d) {
        const std::size_t ops = (t.order.begin[d + 1] - t.order.begin[d]) / at_index(t.iterations);
        if (ops > 0) latest = std::max(latest, t.end[t.order.begin[d] + ops * at_index(iteration + 1) - 1]);
    }
    return latest;
}

double steady_period(const ScheduleShape& shape, const TimelineCosts& costs) {
    Timeline two;
    run_iterations(shape, costs, 2, two);
    return two.makespan - iteration_end(two, 0);
}

}  // namespace pentamesh
