#include "core/step/step.h"

#include "core/comm/collective_time.h"
#include "core/comm/comm_count.h"
#include "core/step/recompute_work.h"
#include "core/step/straggler.h"

#include <algorithm>
#include <cmath>

namespace pentamesh {
namespace {

int unit_axis(GroupKind k) {
    switch (k) {
    case GroupKind::tp: return UnitComm::kTp;
    case GroupKind::cp: return UnitComm::kCp;
    case GroupKind::ep: return UnitComm::kEp;
    case GroupKind::etp: return UnitComm::kEtp;
    default: return -1;
    }
}
constexpr std::array<GroupKind, UnitComm::kAxes> kUnitAxes{GroupKind::tp, GroupKind::cp, GroupKind::ep,
                                                           GroupKind::etp};

// The route of the axis asked for last: operations come axis by axis.
class Routes {
  public:
    Routes(const Plan& plan, const Mesh& mesh, const GroupSummaries& summary)
        : plan_(plan), mesh_(mesh), summary_(summary) {}

    const Route& of(GroupKind k) {
        if (!known_ || k != kind_) route_ = find_route(plan_, mesh_, summary_[k]);
        known_ = true;
        kind_ = k;
        return route_;
    }

  private:
    const Plan& plan_;
    const Mesh& mesh_;
    const GroupSummaries& summary_;
    Route route_;
    GroupKind kind_ = GroupKind::tp;
    bool known_ = false;
};

double call_time(const Plan& plan, Routes& routes, const Operation& o) {
    const Efficiency& e = plan.cluster.gpu.efficiency;
    const Route& whole = routes.of(o.group);
    const double n = static_cast<double>(o.group_size);
    if (n >= whole.degree || o.group == GroupKind::pp)
        return collective_time(whole, e, o.collective, o.message_bytes, o.slow_share, o.forwarded);
    // A part of expert data parallelism: its shards lie inside, its replicas outside. The same of the two
    // halves of context parallelism: heads are exchanged inside, the ring closes outside.
    const bool replicas = o.collective == Collective::all_reduce || o.collective == Collective::send_recv;
    const Route part = replicas ? beyond(whole, whole.degree / n) : within(whole, n);
    return collective_time(part, e, o.collective, o.message_bytes, o.slow_share);
}

void add_exposed(StepWork& work, const Operation& o, double per_call) {
    const int axis = unit_axis(o.group);
    if (axis < 0) return;
    const auto add = [&](UnitComm& u) {
        (o.phase == Phase::forward ? u.forward : u.backward)[static_cast<std::size_t>(axis)] +=
            per_call * o.calls;
    };
    UnitComm& dense = o.recomputed ? work.dense_again : work.dense;
    UnitComm& moe = o.recomputed ? work.moe_again : work.moe;
    switch (o.unit) {
    case Unit::every_layer: add(dense), add(moe); break;
    case Unit::dense_layer: add(dense); break;
    case Unit::moe_layer: add(moe); break;
    case Unit::embedding: add(work.embedding); break;
    case Unit::head: add(work.head); break;
    default: break;
    }
}

// The operations of one axis, unit and phase share what may cover them. Seconds per unit and micro-batch.
// `need` counts what may hide; of context parallelism that is the ring alone.
struct Shared {
    double need = 0, hidden = 0;
    std::string_view behind;
    [[nodiscard]] double exposed_share() const { return need > 0 ? (need - hidden) / need : 0; }
};
bool may_hide(const Operation& o) {
    return o.group != GroupKind::cp || o.collective == Collective::send_recv;
}

constexpr std::size_t kUnits = 7;
class SharedTable {
  public:
    // Axes that no layer speaks on share a place that nothing hides.
    Shared& of(GroupKind group, Unit unit, bool forward) {
        const int a = unit_axis(group);
        if (a < 0) return rest_;
        return table_[(static_cast<std::size_t>(a) * kUnits + static_cast<std::size_t>(unit)) * 2
                      + (forward ? 0 : 1)];
    }
    Shared& of(const Operation& o) { return of(o.group, o.unit, o.phase == Phase::forward); }

  private:
    std::array<Shared, UnitComm::kAxes * kUnits * 2> table_{};
    Shared rest_;
};

double exposed_share(SharedTable& shared, const Operation& o) {
    return may_hide(o) ? shared.of(o).exposed_share() : 1;
}

double pass(const PassTime& t, bool forward) {
    return forward ? t.forward : t.input_grad + t.weight_grad;
}

// Hides what the plan's flags allow behind compute, each second of it at most once. Ring attention runs
// beside its own core, a tensor-parallel transfer beside its block's products, and the experts' way beside
// what is left of the layer: another micro-batch's, which DualPipe pairs by design.
void hide(const Plan& plan, bool forward, StepWork& work, SharedTable& shared) {
    const Overlap& flags = plan.training.overlap;
    const double overlap_limit = plan.cluster.gpu.efficiency.overlap;
    const LayerTimes& t = work.times;
    const auto take = [&](Shared& s, bool allowed, double room, std::string_view behind) {
        if (!allowed || s.need <= 0) return 0.0;
        s.hidden = std::min(s.need, std::max(room, 0.0));
        s.behind = behind;
        return s.hidden;
    };
    const auto room = [&](const PassTime& p) { return overlap_limit * pass(p, forward); };
    const double core = take(shared.of(GroupKind::cp, Unit::every_layer, forward), flags.cp,
                             room(t.attention), "attention core");
    const std::string_view beside = "the products beside it";
    const double block = core
                         + take(shared.of(GroupKind::tp, Unit::every_layer, forward), flags.tp,
                                room(t.attention_block) - core, beside);
    const double dense =
        block
        + take(shared.of(GroupKind::tp, Unit::dense_layer, forward), flags.tp, room(t.dense_mlp), beside);
    double moe =
        block + take(shared.of(GroupKind::tp, Unit::moe_layer, forward), flags.tp, room(t.moe_mlp), beside);
    moe += take(shared.of(GroupKind::ep, Unit::moe_layer, forward),
                flags.ep || traits_of(plan.layout.schedule).overlaps_pairs, room(t.moe) - moe,
                "another micro-batch's compute");
    (forward ? work.dense_busy.forward : work.dense_busy.input_grad) = dense;
    (forward ? work.moe_busy.forward : work.moe_busy.input_grad) = moe;
}

void time_operations(const Plan& plan, const Mesh& mesh, const GroupSummaries& summary, Comm& comm,
                     StepWork& work, SharedTable& shared) {
    Routes routes(plan, mesh, summary);
    for (Operation& o : comm.operations) {
        o.call_s = call_time(plan, routes, o);
        if (may_hide(o)) shared.of(o).need += o.call_s * o.calls;
        if (o.group == GroupKind::pp && o.unit == Unit::boundary) work.send_s = o.call_s;
    }
    hide(plan, true, work, shared);
    hide(plan, false, work, shared);
    for (Operation& o : comm.operations) {
        if (may_hide(o)) o.hidden_behind = shared.of(o).behind;
        if (unit_axis(o.group) >= 0) add_exposed(work, o, o.call_s * exposed_share(shared, o));
    }
}

double device_busy(const TimelineCosts& costs, int device, int chunks) {
    double busy = 0;
    for (int c = 0; c < chunks; ++c) {
        const ChunkCost& k = costs.chunk[static_cast<std::size_t>(device * chunks + c)];
        busy += k.forward + k.input_grad + k.weight_grad;
    }
    return busy;
}

// The device with most to do for a micro-batch; the first of equals.
int longest_device(const TimelineCosts& costs, const Stages& stages) {
    int longest = 0;
    double most = 0;
    for (int d = 0; d < stages.devices; ++d) {
        const double busy = device_busy(costs, d, stages.chunks);
        if (busy > most) most = busy, longest = d;
    }
    return longest;
}

// The rows of a step, for the device that works longest.
void count_longest(const Plan& plan, const TimelineCosts& costs, SharedTable& shared, Comm& comm) {
    const int device = longest_device(costs, comm.stages);
    if (device != comm.busiest_device) count_calls(plan, device, comm);
    for (Operation& o : comm.operations) {
        o.time_s = o.call_s * o.count_per_step;
        o.exposed_s = o.time_s * exposed_share(shared, o);
    }
}

// Everything of one micro-batch on a chunk, by part.
struct ChunkWork {
    PassTime compute;
    PassTime busy;  // of the compute: what already hides a transfer
    double recompute = 0;
    UnitComm comm;
};

ChunkWork work_of(const Plan& plan, const StepWork& w, const ChunkLayers& k) {
    ChunkWork c;
    c.compute = w.times.dense * k.dense;
    c.compute += w.times.moe * k.moe;
    c.busy = w.dense_busy * k.dense;
    c.busy += w.moe_busy * k.moe;
    c.recompute = w.dense_recompute.input_grad * k.dense_again + w.moe_recompute.input_grad * k.moe_again;
    c.comm.add(w.dense, k.dense);
    c.comm.add(w.moe, k.moe);
    c.comm.add(w.dense_again, k.dense_again);
    c.comm.add(w.moe_again, k.moe_again);
    if (k.first) {
        c.compute += w.times.embedding;
        c.comm.add(w.embedding, 1);
    }
    if (k.last) {
        const double mtp = static_cast<double>(plan.model.mtp_layers);
        c.compute += w.times.head * (1 + mtp);
        c.comm.add(w.head, 1);
    }
    c.compute += w.times.mtp * k.mtp;
    return c;
}

}  // namespace

void compute_costs(const Plan& plan, const Mesh& mesh, const GroupSummaries& summary, Comm& comm,
                   StepWork& work, TimelineCosts& out) {
    work = {};
    work.microbatches = static_cast<double>(microbatches_of(plan));
    work.times = time_layers(plan);
    SharedTable shared;
    time_operations(plan, mesh, summary, comm, work, shared);
    find_recompute(plan, work);
    wait_for_host(plan, work);

    const bool hidden = plan.training.overlap.pp;
    out.send = hidden ? work.send_s : 0;
    out.pair_factor = 1;
    out.slow.clear();
    out.chunk.resize(comm.stages.chunk.size());
    for (std::size_t i = 0; i < out.chunk.size(); ++i) {
        const ChunkLayers& k = comm.stages.chunk[i];
        if (i > 0 && k == comm.stages.chunk[i - 1]) {
            out.chunk[i] = out.chunk[i - 1];
            continue;
        }
        const ChunkWork c = work_of(plan, work, k);
        const double send = hidden ? 0 : work.send_s;
        out.chunk[i].forward = c.compute.forward + c.comm.sum(Phase::forward) + (k.last ? 0 : send);
        out.chunk[i].input_grad =
            c.compute.input_grad + c.recompute + c.comm.sum(Phase::backward) + (k.first ? 0 : send);
        out.chunk[i].weight_grad = c.compute.weight_grad;
    }
    count_longest(plan, out, shared, comm);
}

namespace {

struct Parts {
    double busy = 0;  // of the busiest device, all micro-batches
    ChunkWork work;   // of one micro-batch
    double sends = 0;
};

// Of what the work of the device that works longest consists.
Parts busiest_parts(const Plan& plan, const ScheduleShape& shape, const StepWork& work,
                    const TimelineCosts& costs, const Stages& stages, int device) {
    Parts p;
    const double runs = runs_of(shape.schedule, work.microbatches);
    p.busy = device_busy(costs, device, stages.chunks) * runs;
    for (int c = 0; c < stages.chunks; ++c) {
        const ChunkLayers& k = stages.chunk[static_cast<std::size_t>(device * stages.chunks + c)];
        const ChunkWork w = work_of(plan, work, k);
        p.work.compute += w.compute * runs;
        p.work.busy += w.busy * runs;
        p.work.recompute += w.recompute * runs;
        p.work.comm.add(w.comm, runs);
        if (!plan.training.overlap.pp) p.sends += work.send_s * runs * ((k.last ? 0 : 1) + (k.first ? 0 : 1));
    }
    return p;
}

struct LayerWork {
    double compute = 0, recompute = 0;
    [[nodiscard]] double all() const { return compute + recompute; }
};

// What a device computes on average, all micro-batches.
LayerWork mean_work(const Plan& plan, const StepWork& work, const Stages& stages, double runs) {
    LayerWork sum, chunk;
    for (std::size_t i = 0; i < stages.chunk.size(); ++i) {
        if (i == 0 || !(stages.chunk[i] == stages.chunk[i - 1])) {
            const ChunkWork w = work_of(plan, work, stages.chunk[i]);
            chunk = {w.compute.total(), w.recompute};
        }
        sum.compute += chunk.compute;
        sum.recompute += chunk.recompute;
    }
    const double share = runs / stages.devices;
    return {sum.compute * share, sum.recompute * share};
}

// Idle time of the busiest device: from the replay, or from the makespan as estimated without one.
double idle_time(const ScheduleShape& shape, const TimelineCosts& costs, const Timeline* timeline,
                 double busy) {
    if (timeline && timeline->complete && !timeline->empty()) return std::max(timeline->makespan - busy, 0.0);
    return shape.devices <= 1 ? 0.0 : std::max(makespan_estimate(shape, costs) - busy, 0.0);
}

// Gradients and parameters that move once per step hide behind the last backward and the first forward of a
// device; ZeRO-3 without a pipeline moves them with every micro-batch and hides behind each.
void expose_gradients(const Plan& plan, const Parts& parts, double microbatches, Comm& comm, Step& out) {
    const double share = plan.training.overlap.dp ? plan.cluster.gpu.efficiency.overlap : 0;
    const bool each = plan.layout.zero == 3 && plan.layout.pp == 1;
    const double windows = each ? 1 : 1 / std::max(microbatches, 1.0);
    const PassTime &c = parts.work.compute, &busy = parts.work.busy;
    double forward = std::max(share * c.forward - busy.forward, 0.0) * windows;
    double backward =
        std::max(share * (c.input_grad + c.weight_grad + parts.work.recompute) - busy.input_grad, 0.0)
        * windows;
    for (Operation& o : comm.operations) {
        if (!is_data_parallel(o.group)) {
            if (o.group == GroupKind::pp && o.unit == Unit::step) out.exposed_comm_s[o.group] += o.time_s;
            continue;
        }
        const bool gather = o.collective == Collective::all_gather && o.phase != Phase::backward;
        double& room = gather ? forward : backward;
        const double hidden = std::min(o.time_s, room);
        room -= hidden;
        o.exposed_s = o.time_s - hidden;
        o.hidden_behind = share <= 0 ? std::string_view{} : gather ? "forward compute" : "backward compute";
        out.exposed_comm_s[o.group] += o.exposed_s;
    }
}

double sum_of_parts(const Step& s) {
    double sum = s.compute_s + s.recompute_s + s.bubble_s + s.optimizer_s + s.straggler_s;
    for (const double t : s.exposed_comm_s) sum += t;
    return sum;
}

void rate(const Plan& plan, const Mesh& mesh, const Stages& stages, Step& s) {
    const Training& t = plan.training;
    const ForwardFlops f = forward_flops(plan.model, t.sequence_length);
    const double gpus = static_cast<double>(mesh.world), batch = static_cast<double>(t.global_batch);
    const double repeated = recomputed_flops(plan, stages, f);
    s.model_flops_per_gpu = 3 * (f.layers + f.head) * batch / gpus;
    // Of the attention's FLOPs a causal mask leaves those of the keys that a query meets.
    const double context = static_cast<double>(t.sequence_length);
    const double causal_share = keys_met(plan.model, context, true) / keys_met(plan.model, context, false);
    const double ideal_flops = 3 * (f.layers - f.attention * (1 - causal_share) + f.head) * batch / gpus;
    s.tflops_per_gpu = s.model_flops_per_gpu / s.time_s / 1e12;
    const double peak = find_rates(plan).peak;
    s.mfu = s.model_flops_per_gpu / s.time_s / peak;
    s.ideal_s = std::min(ideal_flops / peak, s.compute_s);
    s.hfu = s.mfu * (1 + repeated / (3 * (f.layers + f.head)));
    s.tokens_per_step = batch * static_cast<double>(t.sequence_length);
    s.tokens_per_s = s.tokens_per_step / s.time_s;
    s.error = plan.cluster.gpu.efficiency.error;
}

}  // namespace

bool compute_step(const Plan& plan, const Mesh& mesh, const ScheduleShape& shape, const StepWork& work,
                  const TimelineCosts& costs, const Timeline* timeline, Comm& comm, Step& out) {
    if (work.microbatches < 1 || mesh.world < 1) return false;
    Step s;
    const Parts parts = busiest_parts(plan, shape, work, costs, comm.stages, comm.busiest_device);
    const LayerWork longest{parts.work.compute.total(), parts.work.recompute};
    const LayerWork mean = mean_work(plan, work, comm.stages, runs_of(shape.schedule, work.microbatches));
    // Where the longest stage is so by its communication, it may compute less than the mean.
    const bool uneven = longest.all() > mean.all() * (1 + 1e-9);
    s.compute_s = uneven ? mean.compute : longest.compute;
    s.recompute_s = uneven ? mean.recompute : longest.recompute;
    s.uneven_s = uneven ? longest.all() - mean.all() : 0;
    for (std::size_t i = 0; i < UnitComm::kAxes; ++i)
        s.exposed_comm_s[kUnitAxes[i]] = parts.work.comm.forward[i] + parts.work.comm.backward[i];

    const double idle = idle_time(shape, costs, timeline, parts.busy);
    const double ramp = plan.training.overlap.pp
                            ? std::min(idle, 2 * static_cast<double>(shape.devices - 1) * work.send_s)
                            : 0;
    s.exposed_comm_s[GroupKind::pp] = parts.sends + ramp;
    for (Operation& o : comm.operations)
        if (o.group == GroupKind::pp && o.unit == Unit::boundary) {
            o.hidden_behind = plan.training.overlap.pp ? "other micro-batches' compute" : "";
            o.exposed_s = plan.training.overlap.pp ? std::min(o.time_s, ramp / 2) : o.time_s;
        }
    s.bubble_s = idle - ramp + s.uneven_s;
    expose_gradients(plan, parts, work.microbatches, comm, s);
    sum_axes(comm);
    s.optimizer_s = optimizer_time(plan, comm.reduced, shards_of(plan, degrees_of(plan, mesh)))
                    + plan.cluster.gpu.efficiency.step_s;
    const double cv = plan.training.straggler_cv;
    if (cv > 0) {
        s.straggler_s = cv * expected_maximum(mesh.world) * sum_of_parts(s);
        s.straggler_bound = cv * expected_maximum_bound(mesh.world);
    }
    s.time_s = sum_of_parts(s);
    if (!(s.time_s > 0) || !std::isfinite(s.time_s)) return false;
    rate(plan, mesh, comm.stages, s);
    out = s;
    return true;
}

}  // namespace pentamesh
