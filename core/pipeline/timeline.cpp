#include "core/pipeline/timeline.h"

#include <algorithm>

namespace pentamesh {
namespace {

constexpr std::int64_t kNothing = -1;

std::size_t at_index(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

// Each device runs its ops until one lacks an input, then sleeps; the op that makes the input wakes it. So
// every op is looked at once, and once more if its device slept.
struct Replay {
    Timeline& t;
    const TimelineCosts& costs;
    int chunks;
    std::int64_t each;  // micro-batches of all iterations: the row length of forward_op and backward_op

    [[nodiscard]] std::int64_t slot(std::int64_t chunk, std::int32_t microbatch) const {
        return chunk * each + microbatch;
    }
    // What a sleeping device waits for: even numbers are forwards, odd ones backwards.
    static std::int64_t forward_key(std::int64_t s) { return 2 * s; }
    static std::int64_t backward_key(std::int64_t s) { return 2 * s + 1; }

    // Raises `at` to the arrival of an input. False, and puts the device to sleep, where it does not exist
    // yet.
    bool await(std::int32_t op, std::int64_t key, int device, int from, double& at) {
        if (op < 0) {
            t.scratch.waits_for[at_index(device)] = key;
            return false;
        }
        at = std::max(at, t.end[at_index(op)] + (from == device ? 0.0 : costs.send));
        return true;
    }
    bool await_forward(int device, std::int64_t chunk, std::int32_t microbatch, double& at) {
        const ChunkLink& l = t.link[at_index(chunk)];
        if (l.before < 0) return true;
        const std::int64_t s = slot(l.before, microbatch);
        return await(t.forward_op[at_index(s)], forward_key(s), device, l.before_device, at);
    }
    bool await_backward(int device, std::int64_t chunk, std::int32_t microbatch, double& at) {
        const ChunkLink& l = t.link[at_index(chunk)];
        if (l.after < 0) {  // the last stage: its input is its own forward
            const std::int64_t s = slot(chunk, microbatch);
            return await(t.forward_op[at_index(s)], forward_key(s), device, device, at);
        }
        const std::int64_t s = slot(l.after, microbatch);
        return await(t.backward_op[at_index(s)], backward_key(s), device, l.after_device, at);
    }
    bool await_inputs(int device, std::int64_t first_chunk, const Op& op, double& at) {
        switch (op.kind) {
        case OpKind::F: return await_forward(device, first_chunk + op.chunk, op.microbatch, at);
        case OpKind::B:
        case OpKind::I: return await_backward(device, first_chunk + op.chunk, op.microbatch, at);
        case OpKind::W: return true;
        case OpKind::FB:
            return await_forward(device, first_chunk + op.chunk, op.microbatch, at)
                   && await_backward(device, first_chunk + op.backward_chunk, op.backward_microbatch, at);
        }
        return true;
    }

    [[nodiscard]] double cost_of(std::int64_t first_chunk, const Op& op) const {
        const ChunkCost& c = costs.chunk[at_index(first_chunk + op.chunk)];
        switch (op.kind) {
        case OpKind::F: return c.forward;
        case OpKind::B: return c.input_grad + c.weight_grad;
        case OpKind::I: return c.input_grad;
        case OpKind::W: return c.weight_grad;
        case OpKind::FB: {
            const ChunkCost& back = costs.chunk[at_index(first_chunk + op.backward_chunk)];
            return costs.pair_factor * (c.forward + back.input_grad + back.weight_grad);
        }
        }
        return 0;
    }

    void wake(std::int32_t device, std::int64_t key) {
        if (device < 0 || t.scratch.waits_for[at_index(device)] != key) return;
        t.scratch.waits_for[at_index(device)] = kNothing;
        t.scratch.ready.push_back(device);
    }
    void forward_done(std::size_t op, std::int64_t chunk, std::int32_t microbatch) {
        const std::int64_t s = slot(chunk, microbatch);
        t.forward_op[at_index(s)] = static_cast<std::int32_t>(op);
        wake(t.link[at_index(chunk)].after_device, forward_key(s));
    }
    void backward_done(std::size_t op, std::int64_t chunk, std::int32_t microbatch) {
        const std::int64_t s = slot(chunk, microbatch);
        t.backward_op[at_index(s)] = static_cast<std::int32_t>(op);
        wake(t.link[at_index(chunk)].before_device, backward_key(s));
    }
    void done(std::size_t i, std::int64_t first_chunk, const Op& op) {
        switch (op.kind) {
        case OpKind::F: forward_done(i, first_chunk + op.chunk, op.microbatch); break;
        case OpKind::B:
        case OpKind::I: backward_done(i, first_chunk + op.chunk, op.microbatch); break;
        case OpKind::W: break;
        case OpKind::FB:
            forward_done(i, first_chunk + op.chunk, op.microbatch);
            backward_done(i, first_chunk + op.backward_chunk, op.backward_microbatch);
            break;
        }
    }

    void run_device(int device) {
        const auto d = at_index(device);
        const std::int64_t first_chunk = std::int64_t{device} * chunks;
        const double slow = costs.slow.empty() ? 1.0 : costs.slow[d];
        const std::size_t stop = t.order.begin[d + 1];
        std::size_t i = t.scratch.next[d];
        double now = i > t.order.begin[d] ? t.end[i - 1] : 0.0;
        for (; i < stop; ++i) {
            const Op& op = t.order.ops[i];
            double at = now;
            if (!await_inputs(device, first_chunk, op, at)) break;
            now = at + slow * cost_of(first_chunk, op);
            t.start[i] = at;
            t.end[i] = now;
            t.device[d].busy += now - at;
            done(i, first_chunk, op);
        }
        t.scratch.next[d] = i;
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

// Depends on the order alone: a device runs one op at a time.
int peak_ops(const Timeline& t, std::size_t d) {
    int held = 0, most = 0;
    for (std::size_t i = t.order.begin[d]; i < t.order.begin[d + 1]; ++i) {
        const OpKind kind = t.order.ops[i].kind;
        if (kind == OpKind::F || kind == OpKind::FB) most = std::max(most, ++held);
        if (kind == OpKind::B || kind == OpKind::W || kind == OpKind::FB) --held;
    }
    return most;
}

void sum_up(Timeline& t) {
    const double divisor = cost_divisor(t.shape);
    t.makespan = 0;
    t.complete = true;
    for (std::size_t d = 0; d < t.device.size(); ++d) {
        DeviceTime& time = t.device[d];
        t.complete = t.complete && t.scratch.next[d] == t.order.begin[d + 1];
        if (t.scratch.next[d] > t.order.begin[d]) {
            time.first_start = t.start[t.order.begin[d]];
            time.last_end = t.end[t.scratch.next[d] - 1];
        }
        time.peak_in_flight = peak_ops(t, d) / divisor;
        t.makespan = std::max(t.makespan, time.last_end);
    }
}

// Replays t.order, which holds t.iterations steps of t.shape.
void replay(const TimelineCosts& costs, Timeline& t) {
    const int p = t.shape.devices, chunks = chunks_of(t.shape);
    const std::int64_t each = std::int64_t{t.shape.microbatches} * t.iterations;
    link_chunks(t.shape, t.link);
    t.forward_op.assign(at_index(each * p * chunks), -1);
    t.backward_op.assign(at_index(each * p * chunks), -1);
    t.start.resize(t.order.ops.size());
    t.end.resize(t.order.ops.size());
    t.device.assign(at_index(p), {});
    t.scratch.next.assign(t.order.begin.begin(), t.order.begin.end() - 1);
    t.scratch.waits_for.assign(at_index(p), kNothing);
    t.scratch.ready.clear();
    t.scratch.ready.reserve(at_index(p));
    for (int d = p - 1; d >= 0; --d) t.scratch.ready.push_back(d);  // device 0 first

    Replay run{t, costs, chunks, each};
    while (!t.scratch.ready.empty()) {
        const int d = t.scratch.ready.back();
        t.scratch.ready.pop_back();
        run.run_device(d);
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
