#include "core/step/step.h"

#include "core/base/statistics.h"
#include "core/comm/collective_time.h"
#include "core/comm/comm.h"
#include "core/comm/comm_count.h"
#include "core/memory/memory_parts.h"
#include "core/plan/factors.h"
#include "core/step/compute.h"
#include "core/step/error_range.h"
#include "core/step/exposure.h"
#include "core/step/recompute_work.h"
#include "core/step/straggler.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace pentamesh {
namespace {

// Returns the bytes of a row for other numbers than those that it was listed with.
double message_of(const Operation& o, const StageNumbers& listed, const StageNumbers& other) {
    const double dense = other.dense.all(), experts = other.experts.all();
    const double was = o.group == GroupKind::edp ? listed.experts.all() : listed.dense.all();
    return was > 0 ? o.message_bytes * ((o.group == GroupKind::edp ? experts : dense) / was) : 0;
}

double seconds(const Plan& plan, Routes& routes, const Comm& comm, const StateShards& shards,
               const StageNumbers& n) {
    double sum = optimizer_time(plan, n, shards);
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
        c.busy += own.busy * n;
        c.busy.input_grad -= own.recompute.forward * recomputed;
        c.recompute += own.recompute.input_grad * recomputed;
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
    const double send = plan.training.overlap.pp ? 0 : work.send_s;
    ChunkCost out;
    out.forward = c.compute.forward + c.comm.sum(Phase::forward) + (k.last ? 0 : send);
    out.input_grad = c.compute.input_grad + c.recompute + c.comm.sum(Phase::backward) + (k.first ? 0 : send);
    out.weight_grad = c.compute.weight_grad;
    return out;
}

}  // namespace

ChunkCost chunk_cost(const Plan& plan, const StepWork& work, const ChunkLayers& k) {
    return cost_of(plan, work, k, work_of(plan, work, k));
}

void compute_costs(const ResolvedPlan& r, const PartsByType& parts, Comm& comm, bool report, StepWork& work,
                   TimelineCosts& out) {
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

    const bool hidden = plan.training.overlap.pp;
    out.send = hidden ? work.send_s : 0;
    out.pair_factor = 1;
    out.slow.clear();
    const Stages& stages = comm.stages;
    for (const ChunkLayers& k : stages.chunk_kinds) {
        ChunkWork& c = work.chunk.emplace_back(work_of(plan, work, k));
        c.cost = cost_of(plan, work, k, c);
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
    ChunkWork work;   // of one micro-batch
    double sends = 0;
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
        p.work.busy += w.busy * runs;
        p.work.recompute += w.recompute * runs;
        p.work.comm.add(w.comm, runs);
        if (!plan.training.overlap.pp) p.sends += work.send_s * runs * ((k.last ? 0 : 1) + (k.first ? 0 : 1));
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
            o.hidden_behind =
                plan.training.overlap.pp ? HiddenBehind::other_microbatches : HiddenBehind::none;
            o.exposed_s = all > 0 ? exposed_s * (o.time_s / all) : 0;
        }
}

double sum_of_parts(const Step& s) {
    double sum = s.compute_s + s.recompute_s + s.bubble_s + s.optimizer_s + s.straggler_s;
    for (const double t : s.exposed_comm_s) sum += t;
    return sum;
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
                waiting += k.types[t] * time.waiting;
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
        plan.training.overlap.pp
            ? std::min({waits, 2 * static_cast<double>(shape.devices - 1) * work.send_s, send_time(comm)})
            : 0;
    // No message leaves the device at which a V turns: the send in its costs is a wait.
    const double sends = std::min(parts.sends, send_time(comm));
    s.exposed_comm_s[GroupKind::pp] = sends + ramp;
    expose_sends(plan, sends + ramp, comm);
    const double left = idle - ramp + wait + (parts.sends - sends);
    s.bubble_s = std::max(left, 0.0);
    s.compute_s += std::min(left, 0.0);
    expose_gradients(r, parts.work, comm, s);
    s.optimizer_s = optimizer_time(plan, comm.reduced, shards_of(plan, r.degrees)) + once_a_step(plan);
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

}  // namespace pentamesh
