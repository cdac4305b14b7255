#include "core/step/step.h"

#include "core/base/number.h"
#include "core/base/text.h"
#include "core/comm/collective_time.h"
#include "core/comm/comm.h"
#include "core/memory/memory.h"
#include "core/plan/edits.h"
#include "core/step/compute.h"
#include "core/step/constants.h"
#include "core/step/exposure.h"
#include "core/step/offload.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace pentamesh {
namespace {

// Returns the bytes of a row for other numbers than those that it was listed with.
double message_of(const Operation& o, const StageNumbers& listed, const StageNumbers& other) {
    const double was = numbers_of(o, listed);
    return was > 0 ? o.message_bytes * (numbers_of(o, other) / was) : 0;
}

// Returns the seconds of the optimizer: of what the GPU updates, and of the way to the host and back.
double update_time(const Plan& plan, const StageNumbers& n, const StateShards& shards) {
    return optimizer_on_gpu(plan) * optimizer_time(plan, n, shards) + offloaded_update_time(plan, n, shards);
}

double seconds(const Plan& plan, Routes& routes, const Comm& comm, const StateShards& shards,
               const StageNumbers& n) {
    double sum = update_time(plan, n, shards);
    for (const Operation& o : comm.operations) {
        if (!is_data_parallel(o.group)) continue;
        Operation own = o;
        own.message_bytes = message_of(o, comm.reduced, n);
        sum += o.calls * call_time(plan, routes.of(o.group), own);
    }
    return sum;
}

// DualPipe's copies exchange what data parallelism leaves of both.
double left_of(const StateShards& shards, const StageNumbers& n) {
    return n.dense.all() / static_cast<double>(shards.optimizer[0])
           + n.experts.all() / static_cast<double>(shards.optimizer[1]);
}

// Sets comm.reduced to the numbers of the device, among comm.reducing, whose reductions, gathers and
// optimizer take longest together, and the messages of these rows to its bytes.
void find_reduced(const ResolvedPlan& r, Comm& comm) {
    if (comm.reducing.size() == 1) {  // the rows are of its numbers
        comm.reduced = comm.reducing.front();
        return;
    }
    const StateShards shards = shards_of(r.plan, r.degrees);
    Routes routes(r.plan, r.mesh, r.groups);
    double most = -1;
    StageNumbers slowest;
    for (const StageNumbers& n : comm.reducing)
        if (const double s = seconds(r.plan, routes, comm, shards, n); s > most) most = s, slowest = n;
    const double left = left_of(shards, slowest) / left_of(shards, comm.reduced);
    for (Operation& o : comm.operations) {
        const bool copies = o.what == What::gradients_of_a_stages_two_copies
                            || o.what == What::updated_parameters_of_a_stages_two_copies;
        if (is_data_parallel(o.group))
            o.message_bytes = message_of(o, comm.reduced, slowest);
        else if (copies)
            o.message_bytes *= left;
    }
    comm.reduced = slowest;
}

// Returns the device with most to do for a micro-batch; the first of equals.
int longest_device(const TimelineCosts& costs, const Stages& stages) {
    int longest = 0;
    double most = 0;
    for (int d = 0; d < stages.devices; ++d) {
        if (repeats_previous(stages, d)) continue;
        const double busy = device_busy(costs, d, stages.chunks);
        if (busy > most) most = busy, longest = d;
    }
    return longest;
}

// Calls made once a step take as long on every device.
void time_step_calls(Comm& comm) {
    for (Operation& o : comm.operations)
        if (o.unit == Unit::step || o.unit == Unit::boundary) o.time_s = o.call_s * o.calls;
}

// Counts the rows of a step, for the device that works longest.
void count_longest(double runs, CoveredTimes& shared, Comm& comm) {
    count_calls(runs, comm.busiest_device, comm);
    for (Operation& o : comm.operations) {
        o.time_s = o.call_s * o.count_per_step;
        o.exposed_s =
            o.time_s * shared.exposed_share(o, o.recomputed ? comm.busiest.recomputed : comm.busiest.types);
    }
}

ChunkWork work_of(const Plan& plan, const StepWork& w, const ChunkLayers& k) {
    ChunkWork c;
    for (int t = 0; t < w.times.layer.size(); ++t) {
        const double n = k.types[t], recomputed = k.recomputed[t];
        if (n <= 0) continue;
        const LayerWork& own = w.of(t);
        c.compute += w.times.of(t).all * n;
        c.slowed.forward += own.slowed.forward * n;
        c.slowed.backward += own.slowed.backward * n + own.slowed_again * recomputed;
        c.recompute += own.recompute * recomputed;
        c.comm.add(own.comm, n);
        c.comm.add(own.recomputed, recomputed);
    }
    if (k.first) {
        c.compute += w.times.embedding;
        c.comm.add(w.embedding, 1);
    }
    if (k.last) {
        c.compute += w.times.head * head_passes(plan.model);
        c.comm.add(w.head, 1);
    }
    c.compute += w.times.mtp * k.mtp;
    return c;
}

ChunkCost cost_of(const Plan& plan, const StepWork& work, const ChunkLayers& k, const ChunkWork& c) {
    const double send = hides_sends(plan) ? 0 : work.send_s;
    ChunkCost out;
    out.forward = c.compute.forward + c.slowed.forward + c.comm.sum(Phase::forward) + c.state.forward
                  + (k.last ? 0 : send);
    out.input_grad = c.compute.input_grad + c.recompute + c.slowed.backward + c.comm.sum(Phase::backward)
                     + c.state.backward + (k.first ? 0 : send);
    out.weight_grad = c.compute.weight_grad;
    return out;
}

}  // namespace

ChunkCost chunk_cost(const Plan& plan, const StepWork& work, const ChunkLayers& k) {
    return cost_of(plan, work, k, work_of(plan, work, k));
}

void compute_costs(const ResolvedPlan& r, const PartsByType& parts, Comm& comm, bool report, bool state_waits,
                   StepWork& work, TimelineCosts& out) {
    const Plan& plan = r.plan;
    work.clear();
    work.microbatches = static_cast<double>(r.microbatches);
    work.times = time_layers(plan, r.degrees, r.types, parts);
    work.layer.resize(work.times.layer.size());
    find_reduced(r, comm);
    CoveredTimes shared(work.times.layer.size());
    time_operations(r, comm, work, shared);
    find_recompute(r, work);
    wait_for_host(plan, work);

    const bool hidden = hides_sends(plan);
    out.send = hidden ? work.send_s : 0;
    out.pair_factor = 1;
    out.slow.clear();
    const Stages& stages = comm.stages;
    const StateTraffic state(r, comm, work);
    const HostLink link(r, parts, comm, state_waits);
    for (const ChunkLayers& k : stages.chunk_kinds) {
        ChunkWork& c = work.chunk.emplace_back(work_of(plan, work, k));
        if (state_waits) state.wait_in_passes(k, c);
        c.cost = cost_of(plan, work, k, c);
        if (link.in_passes()) link.wait_in_passes(k, c);
    }
    out.chunk.resize(stages.chunk_kind.size());
    ChunkCost* cost = out.chunk.data();
    for (const std::uint32_t kind : stages.chunk_kind) *cost++ = work.chunk[kind].cost;
    comm.busiest_device = longest_device(out, stages);
    if (report)
        count_longest(r.runs, shared, comm);
    else
        time_step_calls(comm);
}

namespace {

struct Parts {
    double busy = 0;  // of the busiest device, all micro-batches
    ChunkWork work;   // compute, recomputation and calls of its layers, all micro-batches
    double sends = 0, slowed = 0, offload = 0;
};

// Returns the parts of the work of the device that works longest.
Parts busiest_parts(const Plan& plan, double runs, const StepWork& work, const TimelineCosts& costs,
                    const Stages& stages, int device) {
    Parts p;
    p.busy = device_busy(costs, device, stages.chunks) * runs;
    for (int c = 0; c < stages.chunks; ++c) {
        const ChunkLayers& k = stages.chunk(device, c);
        const ChunkWork& w = work.chunk[stages.kind_of(device, c)];
        p.work.compute += w.compute * runs;
        p.slowed += (w.slowed.forward + w.slowed.backward) * runs;
        p.offload += w.offload.all() * runs;
        p.work.recompute += w.recompute * runs;
        p.work.comm.add(w.comm, runs);
        if (!hides_sends(plan)) p.sends += work.send_s * runs * ((k.last ? 0 : 1) + (k.first ? 0 : 1));
    }
    return p;
}

struct DeviceWork {
    double compute = 0, recompute = 0;
    [[nodiscard]] double all() const { return compute + recompute; }
};

// Returns the mean compute of a device, for all micro-batches.
DeviceWork mean_work(const StepWork& work, const Stages& stages, double runs) {
    DeviceWork sum, device;
    for (int d = 0; d < stages.devices; ++d) {
        if (!repeats_previous(stages, d)) {
            device = {};
            for (int c = 0; c < stages.chunks; ++c) {
                const ChunkWork& w = work.chunk[stages.kind_of(d, c)];
                device.compute += w.compute.total();
                device.recompute += w.recompute;
            }
        }
        sum.compute += device.compute;
        sum.recompute += device.recompute;
    }
    const double share = runs / stages.devices;
    return {sum.compute * share, sum.recompute * share};
}

// Returns the idle time of the busiest device: from the replay, or from the makespan as estimated without
// one.
double idle_time(const ScheduleShape& shape, const TimelineCosts& costs, const Timeline* timeline,
                 double busy) {
    if (timeline && timeline->complete && !timeline->empty()) return std::max(timeline->makespan - busy, 0.0);
    return shape.devices <= 1 ? 0.0 : std::max(makespan_estimate(shape, costs) - busy, 0.0);
}

// Returns the time that the longest stage works more than the average one; 0 where they differ by rounding.
double wait_for_longest(double longest, double mean) {
    constexpr double kRounding = 1e-9;
    return std::abs(longest - mean) > kRounding * mean ? longest - mean : 0;
}

// Returns the seconds of a step that the device counted for sends over its boundaries.
double send_time(const Comm& comm) {
    double sum = 0;
    for (const Operation& o : comm.operations)
        if (o.group == GroupKind::pp && o.unit == Unit::boundary) sum += o.time_s;
    return sum;
}

// Gives each row of them its part of the time that the step waits.
void expose_sends(const Plan& plan, double exposed_s, Comm& comm) {
    const double all = send_time(comm);
    for (Operation& o : comm.operations)
        if (o.group == GroupKind::pp && o.unit == Unit::boundary) {
            o.hidden_behind = hides_sends(plan) ? HiddenBehind::other_microbatches : HiddenBehind::none;
            o.exposed_s = all > 0 ? exposed_s * (o.time_s / all) : 0;
            o.waits_because = !(o.exposed_s > 0)  ? WaitsBecause::nothing
                              : hides_sends(plan) ? WaitsBecause::nothing_to_hide_behind
                                                  : WaitsBecause::software_does_not_overlap;
        }
}

double sum_of_parts(const Step& s) {
    double sum =
        s.compute_s + s.recompute_s + s.slowed_by_traffic_s + s.bubble_s + s.optimizer_s + s.straggler_s;
    for (const double t : s.exposed_comm_s) sum += t;
    return sum + s.offload_s;
}

// The range is from own runs where the cluster is calibrated. Else it is from those that ship; for a GPU that
// none of them had, it is at least as large as its preset says.
void set_range(const Plan& plan, double flops_per_token, ErrorRangeWork& work, Step& s) {
    if (const std::optional<Calibration>& own = plan.cluster.calibration) {
        s.error = own->error, s.error_90 = own->error_90, s.calibrated = own->runs;
        return;
    }
    const RunTraits traits = traits_of(plan, flops_per_token);
    const ErrorRange& range = error_range(traits, work);
    const double least = range.has_gpu ? 0 : plan.cluster.gpu.efficiency.error;
    s.error = std::max(range.half, least);
    s.error_90 = std::max(range.most, kNineOfTen * least);
    s.nearest_run = range.nearest;
}

// Returns what is below the peak of the mean stage, for all micro-batches: `flops_s` are seconds of the FLOPs
// of attention and scans at the peak. Products take what the others leave.
BelowPeak below_peak(const ResolvedPlan& r, const StepWork& work, const Stages& stages, double flops_s,
                     double whole_s) {
    double mixing = 0, moving = 0, waiting = 0;
    for (int d = 0; d < stages.devices; ++d)
        for (int c = 0; c < stages.chunks; ++c) {
            const ChunkLayers& k = stages.chunk(d, c);
            for (int t = 0; t < work.times.layer.size(); ++t) {
                const LayerTime& time = work.times.of(t);
                mixing += k.types[t] * time.mixing;
                moving += k.types[t] * time.moving;
                waiting += k.types[t] * time.waiting.total();
            }
            if (k.first) moving += work.times.embedding.total();
            if (k.last) moving += work.times.head_moving * head_passes(r.plan.model);
        }
    const double share = r.runs / stages.devices;
    double left = std::max(whole_s, 0.0);
    const auto take = [&left](double time_s) {
        const double taken = std::clamp(time_s, 0.0, left);
        left -= taken;
        return taken;
    };
    BelowPeak below;
    below.starts = take(waiting * share);
    below.moving = take(moving * share);
    below.attention = take(mixing * share - flops_s);
    below.products = left;
    return below;
}

void rate(const ResolvedPlan& r, const StepWork& step, const Stages& stages, ErrorRangeWork& work, Step& s) {
    const Plan& plan = r.plan;
    const Training& t = plan.training;
    const ForwardFlops f = forward_flops(plan.model, r.types, r.counts, t.sequence_length);
    const double gpus = static_cast<double>(r.mesh.world), batch = static_cast<double>(t.global_batch);
    const double repeated = recomputed_flops(r, stages);
    s.model_flops_per_gpu = 3 * (f.layers + f.head) * batch / gpus;
    const double ideal_flops = 3 * (f.layers - f.masked + f.head) * batch / gpus;
    s.tflops_per_gpu = s.model_flops_per_gpu / s.time_s / 1e12;
    const double peak = find_rates(plan).peak;
    s.mfu = s.model_flops_per_gpu / s.time_s / peak;
    s.ideal_s = std::min(ideal_flops / peak, s.compute_s);
    const double mixing_s = 3 * (f.attention - f.masked + f.scans) * batch / gpus / peak;
    s.below = below_peak(r, step, stages, mixing_s, s.compute_s - s.ideal_s);
    s.hfu = s.mfu * (1 + repeated / (3 * (f.layers + f.head)));
    set_range(plan, 3 * (f.layers + f.head) / static_cast<double>(t.sequence_length), work, s);
}

}  // namespace

bool compute_step(const ResolvedPlan& r, const StepWork& work, const TimelineCosts& costs,
                  const Timeline* timeline, ErrorRangeWork* report, Comm& comm, Step& out) {
    const Plan& plan = r.plan;
    const Mesh& mesh = r.mesh;
    const ScheduleShape& shape = r.shape;
    if (work.microbatches < 1 || mesh.world < 1) return false;
    Step s;
    const Parts parts = busiest_parts(plan, r.runs, work, costs, comm.stages, comm.busiest_device);
    const DeviceWork longest{parts.work.compute.total(), parts.work.recompute};
    const DeviceWork mean = mean_work(work, comm.stages, r.runs);
    s.compute_s = mean.compute;
    s.recompute_s = mean.recompute;
    const double wait = wait_for_longest(longest.all(), mean.all());
    s.uneven_s = std::max(wait, 0.0);
    for (std::size_t i = 0; i < UnitComm::kAxes; ++i)
        s.exposed_comm_s[kUnitAxes[i]] = parts.work.comm.forward[i] + parts.work.comm.backward[i];

    const double idle = idle_time(shape, costs, timeline, parts.busy);
    // A stage that is the longest by its communication may compute less than the mean.
    const double waits = std::max(idle + std::min(wait, 0.0), 0.0);
    const double ramp =
        hides_sends(plan)
            ? std::min({waits, 2 * static_cast<double>(shape.devices - 1) * work.send_s, send_time(comm)})
            : 0;
    // No message leaves the device at which a V turns: the send in its costs is a wait.
    const double sends = std::min(parts.sends, send_time(comm));
    s.exposed_comm_s[GroupKind::pp] = sends + ramp;
    expose_sends(plan, sends + ramp, comm);
    const double left = idle - ramp + wait + (parts.sends - sends);
    s.bubble_s = std::max(left, 0.0);
    s.compute_s += std::min(left, 0.0);
    s.slowed_by_traffic_s = parts.slowed;
    StateTraffic(r, comm, work).wait_in_step(costs, comm, s);
    for (Operation& o : comm.operations)
        if (o.group == GroupKind::pp && o.unit == Unit::step) {
            o.exposed_s = o.time_s;
            o.waits_because = WaitsBecause::nothing_to_hide_behind;
            s.exposed_comm_s[GroupKind::pp] += o.time_s;
        }
    const StateShards shards = shards_of(plan, r.degrees);
    s.optimizer_s = optimizer_on_gpu(plan) * optimizer_time(plan, comm.reduced, shards) + once_a_step(plan);
    s.offload_once_s =
        offloaded_update_time(plan, comm.reduced, shards) + parameters_once_a_step(r, costs, comm);
    s.offload_s = parts.offload + s.offload_once_s;
    const double cv = plan.training.straggler_cv;
    if (cv > 0) {
        s.straggler_s = cv * expected_maximum(mesh.world) * sum_of_parts(s);
        s.straggler_bound = cv * expected_maximum_bound(mesh.world);
    }
    s.time_s = sum_of_parts(s);
    s.bubble_s = schedule_bubble_s(s) + s.uneven_s;  // no rest of rounding
    if (!(s.time_s > 0) || !std::isfinite(s.time_s)) return false;
    s.tokens_per_step = tokens_per_step(plan.training);
    s.tokens_per_s = s.tokens_per_step / s.time_s;
    if (report) rate(r, work, comm.stages, *report, s);
    out = s;
    return true;
}

double expected_maximum(std::int64_t n) {
    if (n <= 1) return 0;
    // E[max] is the integral over x > 0 of 1 - Phi^n, less that over x < 0 of Phi^n. Both are smooth and die
    // out before |x| = 12, so the trapezoid rule converges exponentially (Trefethen and Weideman 2014). The
    // seam at 0 would spoil that: x d(Phi^n) is integrated instead.
    constexpr double kEnd = 12, kStep = 1.0 / 64;
    constexpr double kInverseRootTwo = 0.70710678118654752440, kInverseRootTwoPi = 0.39894228040143267794;
    const double count = static_cast<double>(n);
    double sum = 0;
    for (double x = -kEnd; x <= kEnd; x += kStep) {
        const double above = 0.5 * std::erfc(x * kInverseRootTwo);
        if (above >= 1) continue;
        const double density = kInverseRootTwoPi * std::exp(-0.5 * x * x);
        sum += x * count * density * std::exp((count - 1) * std::log1p(-above));
    }
    return sum * kStep;
}

double normal_quantile(double p) {
    constexpr double kEnd = 12, kExact = 1e-12;
    double low = -kEnd, high = kEnd;
    while (high - low > kExact) {
        const double x = (low + high) / 2;
        (0.5 * std::erfc(-x * 0.70710678118654752440) < p ? low : high) = x;
    }
    return (low + high) / 2;
}

double expected_maximum_bound(std::int64_t n) {
    return n <= 1 ? 0 : std::sqrt(2 * std::log(static_cast<double>(n)));
}

namespace {

// Returns true for gathers and reductions of data parallelism that every micro-batch makes.
bool in_each_microbatch(const Operation& o) {
    return is_state_row(o) && o.each == GradientReduction::micro_batch;
}

}  // namespace

void exposed_in_chunks(const Comm& comm, const StepWork& work, std::vector<ChunkExposed>& out) {
    out.clear();
    for (const std::uint32_t kind : comm.stages.chunk_kind) {
        const ChunkWork& own = work.chunk[kind];
        ChunkExposed& chunk = out.emplace_back();
        chunk.comm = own.comm, chunk.recompute = own.recompute, chunk.slowed = own.slowed;
        chunk.offload = own.offload;
        const ChunkLayers& layers = comm.stages.chunk_kinds[kind];
        for (int t = 0; t < work.times.layer.size(); ++t)
            chunk.host += work.times.of(t).waiting * layers.types[t];
        std::size_t row = 0;
        for (const Operation& o : comm.operations)
            if (is_state_row(o))
                (before_forward(o) ? chunk.state_forward : chunk.state_backward)[o.group] +=
                    own.state.row[row++];
    }
}

StepTail step_tail(const Step& step, const Comm& comm) {
    StepTail tail;
    // For pp, only calls once a step count, such as the gradients of a tied embedding.
    for (const Operation& o : comm.operations)
        if (o.unit == Unit::step && !in_each_microbatch(o)) tail.exposed_s[o.group] += o.exposed_s;
    tail.slowed_s = step.slowed_once_s;
    tail.offload_s = step.offload_once_s;
    tail.optimizer_s = step.optimizer_s;
    tail.straggler_s = step.straggler_s;
    return tail;
}

namespace {

// Returns the time of a stage's passes, without what it waits for between them. `busy_s` gets the sum of its
// blocks, `sends_s` that of the sends in them.
StageTime passes_of(const Plan& plan, const Comm& comm, const StepWork& work, int stage, double& busy_s,
                    double& sends_s) {
    const double runs = runs_of(schedule_of(plan.layout), work.microbatches);
    StageTime out;
    for (int c = 0; c < comm.stages.chunks; ++c) {
        const ChunkLayers& layers = comm.stages.chunk(stage, c);
        const ChunkWork& w = work.chunk[comm.stages.kind_of(stage, c)];
        busy_s += runs * w.cost.total();
        out.compute_s += runs * (w.compute.total() + w.recompute);
        out.slowed_s += runs * (w.slowed.forward + w.slowed.backward);
        out.offload_s += runs * w.offload.all();
        for (std::size_t a = 0; a < UnitComm::kAxes; ++a)
            out.exposed_s[kUnitAxes[a]] += runs * (w.comm.forward[a] + w.comm.backward[a]);
        std::size_t row = 0;
        for (const Operation& o : comm.operations)
            if (is_state_row(o)) out.exposed_s[o.group] += runs * w.state.row[row++];
        if (!hides_sends(plan))
            sends_s += runs * work.send_s * ((layers.last ? 0 : 1) + (layers.first ? 0 : 1));
    }
    return out;
}

}  // namespace

std::vector<StageTime> stage_times(const Plan& plan, const Comm& comm, const StepWork& work,
                                   const Step& step) {
    const StepTail tail = step_tail(step, comm);
    const double makespan_s = step.time_s - tail.total();
    const double messages_s = step.exposed_comm_s[GroupKind::pp] - tail.exposed_s[GroupKind::pp];
    std::vector<StageTime> out;
    for (int stage = 0; stage < comm.stages.devices; ++stage) {
        double busy_s = 0, sends_s = 0;
        StageTime& t = out.emplace_back(passes_of(plan, comm, work, stage, busy_s, sends_s));
        const double between_s = std::max(makespan_s - busy_s, 0.0);
        // Sends in its blocks are waited for as far as there are so many; else the first messages between
        // blocks.
        const double waits_s =
            hides_sends(plan) ? std::min(between_s, messages_s) : std::min(sends_s, send_time(comm));
        t.exposed_s[GroupKind::pp] += waits_s;
        t.idle_s = between_s + sends_s - waits_s;
        t.offload_s += tail.offload_s;
        for (const GroupKind k : all_of<GroupKind>()) t.exposed_s[k] += tail.exposed_s[k];
    }
    return out;
}

namespace {

// Returns the hidden time of one call.
double hidden_of(const Operation& o) {
    return o.count_per_step > 0 ? std::max(0.0, o.time_s - o.exposed_s) / o.count_per_step : 0;
}

double calls_in(const Operation& o, const LayerCounts& layers) {
    double n = 0;
    for (LayerMask m = o.types; m != 0; m &= m - 1)
        n += static_cast<double>(layers[std::countr_zero(m)]) * o.calls;
    return n;
}

HiddenComm of_chunk(const Comm& comm, const ChunkLayers& k) {
    HiddenComm out;
    for (const Operation& o : comm.operations) {
        const double each = hidden_of(o);
        if (each <= 0 || o.unit == Unit::boundary) continue;
        if (in_each_microbatch(o)) {
            const double calls = std::max(k.layers(), 1.0)
                                 / (o.scope == Scope::layer ? 1 : std::max(comm.busiest.layers(), 1.0));
            (o.phase == Phase::forward ? out.forward : out.backward)[o.group] += each * calls;
            if (lane_call(o) != LaneCall::gather) out.reduced[o.group] += each * calls;
            continue;
        }
        if (o.unit == Unit::step) continue;
        double calls = 0, recomputed = 0;
        if (o.unit == Unit::embedding)
            calls = k.first ? o.calls : 0;
        else if (o.unit == Unit::head)
            calls = k.last ? o.calls : 0;
        else {
            calls = calls_in(o, k.types);
            if (o.recomputed) recomputed = calls_in(o, k.recomputed);
        }
        if (o.phase == Phase::forward) {
            out.forward[o.group] += each * calls;
            out.backward[o.group] += each * recomputed;
        } else if (o.phase == Phase::backward) {
            out.backward[o.group] += each * calls;
        }
    }
    return out;
}

}  // namespace

void hidden_in_chunks(const Comm& comm, std::vector<HiddenComm>& out) {
    std::vector<HiddenComm> kinds;
    for (const ChunkLayers& k : comm.stages.chunk_kinds) kinds.push_back(of_chunk(comm, k));
    out.clear();
    for (const std::uint32_t kind : comm.stages.chunk_kind) out.push_back(kinds[kind]);
}

HiddenComm hidden_in_step(const Comm& comm) {
    HiddenComm out;
    for (const Operation& o : comm.operations) {
        if (o.unit != Unit::step || o.group == GroupKind::pp || o.on_other_stage || in_each_microbatch(o))
            continue;
        const double hidden = std::max(0.0, o.time_s - o.exposed_s);
        (o.hidden_behind == HiddenBehind::forward_compute ? out.forward : out.backward)[o.group] += hidden;
    }
    return out;
}

namespace {

// Names the track of an axis, and its group as DeviceMesh would.
struct AxisTrack {
    std::string_view track, kernel, group;
};
AxisTrack track_of(GroupKind kind) {
    switch (kind) {
    case GroupKind::tp: return {"tp", "nccl tp", "mesh_tp"};
    case GroupKind::cp: return {"cp", "nccl cp", "mesh_cp"};
    case GroupKind::pp: return {"pp", "nccl pp", "mesh_pp"};
    case GroupKind::ep: return {"ep", "nccl ep", "mesh_ep"};
    case GroupKind::etp: return {"etp", "nccl etp", "mesh_etp"};
    default: return {"dp", "nccl dp", "mesh_dp"};
    }
}

// Puts slices on tracks; none of a track begins before the one before it has ended.
class Placer {
  public:
    explicit Placer(std::vector<TraceSlice>& out) : out_(out) {}
    // Returns the end.
    double communication(GroupKind kind, double from, double seconds) {
        if (!(seconds > 0)) return from;
        const AxisTrack t = track_of(kind);
        out_.push_back({t.track, t.kernel, t.group, from, from + seconds});
        return from + seconds;
    }
    double kernel(std::string_view name, double from, double seconds) {
        if (!(seconds > 0)) return from;
        out_.push_back({"kernels", name, "", from, from + seconds});
        return from + seconds;
    }

  private:
    std::vector<TraceSlice>& out_;
};

// Names what a GPU waits for on the link to host memory, as a profiler of PyTorch names copies.
constexpr std::string_view kCopies = "Memcpy (host link)";

// Places what goes on behind compute from this time on, for so long at most: what shares a track one after
// the other.
void hidden_calls(Placer& placer, const EnumArray<GroupKind, double>& hidden, double from, double most) {
    double data = from;  // end of the last one of data parallelism
    for (const GroupKind k : all_of<GroupKind>()) {
        const bool shared = is_data_parallel(k);
        const double at = shared ? data : from;
        const double end = placer.communication(k, at, std::min(hidden[k], from + most - at));
        if (shared) data = end;
    }
}

bool goes_forward(const Op& op) {
    return op.kind == OpKind::F || op.kind == OpKind::FB;
}
bool goes_backward(const Op& op) {
    return op.kind == OpKind::B || op.kind == OpKind::I || op.kind == OpKind::FB;
}

}  // namespace

StepTrace::StepTrace(const Plan& plan, const Timeline& timeline, const Comm& comm, const StepWork& work,
                     const Step& step)
    : plan_(plan), timeline_(timeline), comm_(comm), work_(work), tail_(step_tail(step, comm)),
      once_(hidden_in_step(comm)) {
    exposed_in_chunks(comm, work, exposed_);
    hidden_in_chunks(comm, hidden_);
}

// Returns the seconds of an op in which it sends, where nothing hides that.
double StepTrace::send_of(int device, const Op& op) const {
    if (hides_sends(plan_)) return 0;
    double send = 0;
    if (goes_forward(op) && !comm_.stages.chunk(device, op.chunk).last) send += work_.send_s;
    const int backward = op.kind == OpKind::FB ? op.backward_chunk : op.chunk;
    if (goes_backward(op) && !comm_.stages.chunk(device, backward).first) send += work_.send_s;
    return send;
}

void StepTrace::add_op(int device, std::size_t i, std::vector<TraceSlice>& out) const {
    const Op& op = timeline_.order.ops[i];
    const double from = timeline_.start[i], to = timeline_.end[i];
    const auto place = [&](int chunk) {
        return static_cast<std::size_t>(device * comm_.stages.chunks + chunk);
    };
    const std::size_t forward = place(op.chunk),
                      backward = place(op.kind == OpKind::FB ? op.backward_chunk : op.chunk);
    EnumArray<GroupKind, double> exposed{}, hidden{};
    for (std::size_t a = 0; a < UnitComm::kAxes; ++a) {
        if (goes_forward(op)) exposed[kUnitAxes[a]] += exposed_[forward].comm.forward[a];
        if (goes_backward(op)) exposed[kUnitAxes[a]] += exposed_[backward].comm.backward[a];
    }
    for (const GroupKind k : all_of<GroupKind>()) {
        if (goes_forward(op)) exposed[k] += exposed_[forward].state_forward[k];
        if (goes_backward(op)) exposed[k] += exposed_[backward].state_backward[k];
        if (goes_forward(op)) hidden[k] += hidden_[forward].forward[k];
        if (goes_backward(op)) hidden[k] += hidden_[backward].backward[k];
    }
    double link = goes_forward(op) ? exposed_[forward].offload.forward : 0;
    if (goes_backward(op)) link += exposed_[backward].offload.backward;
    double waits = send_of(device, op) + link;
    for (const double t : exposed) waits += t;
    // A pair of ops may take less than both one after the other.
    const double scale = waits > to - from ? (to - from) / waits : 1;
    const double computed = std::max(to - from - waits * scale, 0.0);
    Placer placer(out);
    double at = placer.kernel(goes_forward(op) ? "forward" : "backward", from, computed);
    hidden_calls(placer, hidden, from, computed);
    at = placer.kernel(kCopies, at, link * scale);
    for (const GroupKind k : all_of<GroupKind>()) at = placer.communication(k, at, exposed[k] * scale);
    placer.communication(GroupKind::pp, at, send_of(device, op) * scale);
}

void StepTrace::add_tail(std::vector<TraceSlice>& out) const {
    Placer placer(out);
    double at = placer.kernel("compute slowed by traffic", timeline_.makespan, tail_.slowed_s);
    for (const GroupKind k : all_of<GroupKind>()) at = placer.communication(k, at, tail_.exposed_s[k]);
    at = placer.kernel(kCopies, at, tail_.offload_s);
    placer.kernel("optimizer (multi_tensor_apply)", at, tail_.optimizer_s);
}

void StepTrace::add(int device, std::size_t i, std::vector<TraceSlice>& out) const {
    const auto d = static_cast<std::size_t>(device);
    Placer placer(out);
    // Parameters are gathered behind the first ops, gradients reduced behind the last ones.
    const double makespan = timeline_.makespan;
    if (i == timeline_.order.begin[d]) hidden_calls(placer, once_.forward, timeline_.start[i], makespan);
    add_op(device, i, out);
    if (i + 1 < timeline_.order.begin[d + 1]) return;
    double all = 0;
    for (const double s : once_.backward) all += s;
    hidden_calls(placer, once_.backward, std::max(timeline_.end[i] - all, 0.0), makespan);
    add_tail(out);
}

// Shows the step as a waterfall of lost time, and the ranges of its figures.

std::string_view name_of(StepPart part) {
    switch (part) {
    case StepPart::compute: return "compute";
    case StepPart::recompute: return "recompute";
    case StepPart::bubble: return "bubble";
    case StepPart::exposed: return "exposed communication";
    case StepPart::optimizer: return "optimizer";
    case StepPart::straggler: return "stragglers";
    case StepPart::ideal: return "useful work";
    case StepPart::products: return "products below the peak";
    case StepPart::attention: return "attention below it";
    case StepPart::moving: return "norms, memory-bound";
    case StepPart::starts: return "host-bound: launching kernels";
    case StepPart::slowed: return "compute slowed by traffic";
    case StepPart::uneven: return "uneven stages";
    case StepPart::offload: return "waiting for host memory";
    }
    return "";
}

std::vector<StepSlice> waterfall(const Step& s) {
    std::vector<StepSlice> out;
    double at = 0;
    const auto add = [&](StepPart part, double time_s, GroupKind group = GroupKind::tp) {
        if (time_s <= 0) return;
        out.push_back({part, group, at, time_s});
        at += time_s;
    };
    add(StepPart::ideal, s.ideal_s);
    add(StepPart::products, s.below.products);
    add(StepPart::attention, s.below.attention);
    add(StepPart::moving, s.below.moving);
    add(StepPart::starts, s.below.starts);
    add(StepPart::recompute, s.recompute_s);
    add(StepPart::slowed, s.slowed_by_traffic_s);
    add(StepPart::bubble, schedule_bubble_s(s));
    add(StepPart::uneven, s.uneven_s);
    for (const GroupKind kind : all_of<GroupKind>()) add(StepPart::exposed, s.exposed_comm_s[kind], kind);
    add(StepPart::offload, s.offload_s);
    add(StepPart::optimizer, s.optimizer_s);
    add(StepPart::straggler, s.straggler_s);
    return out;
}

std::vector<StepSlice> joined(std::vector<StepSlice> slices, bool (*is)(StepPart), StepPart as) {
    std::vector<StepSlice> out;
    for (StepSlice& s : slices) {
        if (is(s.part)) s.part = as;
        if (s.part == as && !out.empty() && out.back().part == as)
            out.back().time_s += s.time_s;
        else
            out.push_back(s);
    }
    return out;
}

Band band_of(double x, double error) {
    return {x / (1 + error), x * (1 + error)};
}

std::string range_sentence(const Step& s) {
    const std::string shares = " lie within " + percent_text(s.error) + ", nine of ten within "
                               + percent_text(s.error_90) + ", each left out of the fit.";
    if (s.calibrated > 0)
        return "Calibrated from " + count_text(s.calibrated, "run") + " of your own: half of them" + shares;
    return "Half of the measured runs like this one" + shares
           + (s.nearest_run < kFarRun ? "" : " No measured run is near.");
}

double days_for(const Step& step, double tokens) {
    constexpr double kDay_s = 86400;
    return step.tokens_per_s > 0 ? tokens / step.tokens_per_s / kDay_s : 0;
}

}  // namespace pentamesh
