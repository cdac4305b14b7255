#include "core/step/exposure.h"

#include "core/comm/collective_time.h"
#include "core/model/model.h"
#include "core/model/model_tensors.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/pipeline/stages.h"

#include <algorithm>
#include <cmath>

namespace pentamesh {
namespace {

bool alike(const ChunkCost& a, const ChunkCost& b) {
    constexpr double kSame = 1e-9;
    const auto near = [](double x, double y) { return std::abs(x - y) <= kSame * std::max(x, y); };
    return near(a.forward, b.forward) && near(a.input_grad, b.input_grad)
           && near(a.weight_grad, b.weight_grad);
}

// Returns the mean cost of a whole stage. A dualpipe device runs each of its two chunks, which are whole
// stages, for half of the micro-batches.
ChunkCost mean_stage(const Timeline& t, const TimelineCosts& costs) {
    const auto chunks = static_cast<std::size_t>(chunks_of(t.shape));
    const double copies = static_cast<double>(chunks) / cost_divisor(t.shape);
    ChunkCost sum;
    for (std::size_t i = 0; i < costs.chunk.size(); ++i) {
        const double k = slow_factor(costs, i / chunks) / (t.shape.devices * copies);
        sum.forward += k * costs.chunk[i].forward;
        sum.input_grad += k * costs.chunk[i].input_grad;
        sum.weight_grad += k * costs.chunk[i].weight_grad;
    }
    return sum;
}

}  // namespace

Bubble measure_bubble(const Timeline& step, const TimelineCosts& costs, const Timeline* two) {
    Bubble b;
    if (step.empty() || costs.chunk.empty()) return b;
    double span = 0;
    for (const DeviceTime& d : step.device) {
        b.work += d.busy / static_cast<double>(step.device.size());
        span = std::max(span, d.last_end - d.first_start);
    }
    b.makespan = std::max(step.makespan - b.work, 0.0);
    b.span = std::max(span - b.work, 0.0);
    if (two != nullptr && two->iterations > 1)
        b.steady = std::max(two->makespan - iteration_end(*two, two->iterations - 2) - b.work, 0.0);
    b.fraction = step.makespan > 0 ? b.makespan / step.makespan : 0;
    b.overhead = b.work > 0 ? b.makespan / b.work : 0;
    const ChunkCost mean = mean_stage(step, costs);
    b.form = closed_form(step.shape, mean.forward, mean.input_grad, mean.weight_grad, costs.send);
    b.form_overhead = b.work > 0 ? b.form.bubble / b.work : 0;
    b.equal_stages = std::all_of(costs.chunk.begin(), costs.chunk.end(),
                                 [&](const ChunkCost& c) { return alike(c, costs.chunk.front()); });
    for (std::size_t d = 0; d < step.device.size(); ++d)
        b.equal_stages = b.equal_stages && slow_factor(costs, d) == 1;
    if (costs.pair_factor != 1) b.form.exact = false;  // the forms take an overlapped pair for F + B
    return b;
}

void apply_slow(const SlowDevice& slow, int devices, TimelineCosts& costs) {
    costs.slow.clear();
    if (!slow.any() || slow.device >= devices) return;
    costs.slow.assign(static_cast<std::size_t>(devices), 1);
    costs.slow[slow.device] = slow.factor;
}

double step_with_makespan(const Step& step, double makespan_before, double makespan_after) {
    const double even = step.time_s - step.straggler_s;
    if (even <= 0) return step.time_s;
    return (even + makespan_after - makespan_before) * (step.time_s / even);
}

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

Cover cover_of(const Operation& o) {
    switch (o.group) {
    case GroupKind::cp: return o.collective == Collective::send_recv ? Cover::core : Cover::none;
    case GroupKind::tp:
        return o.unit == Unit::every_layer                                ? Cover::mixer
               : o.unit == Unit::dense_layer || o.unit == Unit::moe_layer ? Cover::mlp
                                                                          : Cover::none;
    case GroupKind::ep: return Cover::layer;
    default: return Cover::none;
    }
}
HiddenBehind behind(Cover c) {
    switch (c) {
    case Cover::core: return HiddenBehind::attention_core;
    case Cover::mixer:
    case Cover::mlp: return HiddenBehind::products_beside;
    case Cover::layer: return HiddenBehind::another_microbatch;
    case Cover::none: break;
    }
    return HiddenBehind::none;
}

}  // namespace

template <typename F>
void CoveredTimes::each(const Operation& o, F&& use) {
    if (o.types == 0 || unit_axis(o.group) < 0) return;
    const Cover cover = cover_of(o);
    for (LayerMask m = o.types; m != 0; m &= m - 1) {
        const int t = std::countr_zero(m);
        // A recomputation is a forward: as much of its calls is hidden.
        use(t, of(t, cover, o.phase == Phase::forward || o.recomputed));
    }
}

double CoveredTimes::exposed_share(const Operation& o, const LayerCounts& layers) {
    if (unit_axis(o.group) < 0 || o.types == 0) return 1;  // of no layer: nothing here hides it
    double all = 0, exposed = 0, first = -1;
    bool alike = true;
    each(o, [&](int t, const CoveredTime& s) {
        const double n = layers[t], share = s.exposed_share();
        if (first < 0) first = share;
        alike = alike && share == first;
        all += n;
        exposed += n * share;
    });
    return alike || all <= 0 ? std::max(first, 0.0) : exposed / all;
}

namespace {

// Returns true if something hides a part of it.
bool add_exposed(StepWork& work, const Operation& o, CoveredTimes& shared) {
    const int axis = unit_axis(o.group);
    if (axis < 0) return false;
    const auto add = [&](UnitComm& u, double share) {
        (o.phase == Phase::forward ? u.forward : u.backward)[axis] += o.call_s * share * o.calls;
    };
    if (o.unit == Unit::embedding) add(work.embedding, 1);
    if (o.unit == Unit::head) add(work.head, 1);
    bool hidden = false;
    shared.each(o, [&](int t, const CoveredTime& s) {
        LayerWork& own = work.layer[t];
        add(o.recomputed ? own.recomputed : own.comm, s.exposed_share());
        if (o.recomputed) own.recompute.forward -= o.call_s * (1 - s.exposed_share()) * o.calls;
        hidden = hidden || s.hidden > 0;
    });
    return hidden;
}

double pass(const PassTime& t, bool forward) {
    return forward ? t.forward : t.input_grad + t.weight_grad;
}

// Hides communication as the plan's flags allow behind compute, each second of it at most once. Ring
// attention hides behind its own core, a tensor-parallel transfer behind its block's products, and the
// experts' way behind the rest of the layer: another micro-batch's, which DualPipe pairs by design.
void hide(const ResolvedPlan& r, bool forward, StepWork& work, CoveredTimes& shared) {
    const Plan& plan = r.plan;
    const Overlap& flags = plan.training.overlap;
    const double overlap_limit = plan.cluster.gpu.efficiency.overlap;
    const SoftwareFacts& software = r.software;
    for (int k = 0; k < shared.types(); ++k) {
        const LayerTime& t = work.times.of(k);
        const auto take = [&](Cover cover, bool allowed, double room, double share = 1) {
            CoveredTime& s = shared.of(k, cover, forward);
            if (!allowed || s.need <= 0) return 0.0;
            s.hidden = std::min(s.need * share, std::max(room, 0.0));
            return s.hidden;
        };
        const auto room = [&](const PassTime& p) { return overlap_limit * pass(p, forward); };
        double busy = take(Cover::core, flags.cp, room(t.attention), software.cp_hidden);
        busy += take(Cover::mixer, flags.tp, room(t.mixer) - busy, software.tp_hidden);
        busy += take(Cover::mlp, flags.tp, room(t.mlp), software.tp_hidden);
        busy +=
            take(Cover::layer, flags.ep || traits_of(r.shape.schedule).overlaps_pairs, room(t.all) - busy);
        PassTime& own = work.layer[k].busy;
        (forward ? own.forward : own.input_grad) = busy;
    }
}

}  // namespace

void time_operations(const ResolvedPlan& r, Comm& comm, StepWork& work, CoveredTimes& shared) {
    Routes routes(r.plan, r.mesh, r.groups);
    for (Operation& o : comm.operations) {
        o.call_s = call_time(r.plan, routes.of(o.group), o);
        if (!o.recomputed) shared.each(o, [&](int, CoveredTime& s) { s.need += o.call_s * o.calls; });
        if (o.group == GroupKind::pp && o.unit == Unit::boundary) work.send_s = o.call_s;
    }
    hide(r, true, work, shared);
    hide(r, false, work, shared);
    for (Operation& o : comm.operations)
        o.hidden_behind = add_exposed(work, o, shared) ? behind(cover_of(o)) : HiddenBehind::none;
}

PassTime room_of(const Plan& plan, const ChunkWork& work) {
    if (!plan.training.overlap.dp) return {};
    const double share = plan.cluster.gpu.efficiency.overlap;
    const PassTime &c = work.compute, &busy = work.busy;
    const double backward = c.input_grad + c.weight_grad + work.recompute;
    return {share * c.forward - busy.forward, share * backward - busy.input_grad, 0};
}

namespace {

// Holds the room that one micro-batch of a device has. A transfer hides in the room of each of the
// micro-batches that it is made for.
struct Rooms {
    double forward = 0, backward = 0;
};

void expose(Operation& o, double windows, double most, bool allowed, Rooms& rooms) {
    const bool gather = o.collective == Collective::all_gather && o.phase != Phase::backward;
    double& room = gather ? rooms.forward : rooms.backward;
    const double hidden = std::min(o.time_s * most / windows, room);
    room -= hidden;
    o.exposed_s = o.time_s - hidden * windows;
    o.hidden_behind = !allowed ? HiddenBehind::none
                      : gather ? HiddenBehind::forward_compute
                               : HiddenBehind::backward_compute;
}

}  // namespace

void expose_gradients(const ResolvedPlan& r, const ChunkWork& work, Comm& comm, Step& out) {
    const Plan& plan = r.plan;
    const double share = plan.training.overlap.dp ? plan.cluster.gpu.efficiency.overlap : 0;
    const double most = r.software.dp_hidden;  // of a transfer
    const double m = std::max(static_cast<double>(r.microbatches), 1.0);
    const PassTime room = room_of(plan, work);
    Rooms rooms{std::max(room.forward, 0.0) / m, std::max(room.input_grad, 0.0) / m};
    // A transfer that happens once has the part of the last micro-batch's room that the calls of every
    // micro-batch leave.
    using enum GradientReduction;
    for (const GradientReduction each : {micro_batch, run, step})
        for (Operation& o : comm.operations) {
            if (o.each != each || o.unit != Unit::step) continue;
            if (is_data_parallel(o.group)) {
                const double windows = each == micro_batch ? m : each == run ? o.rounds : 1;
                expose(o, windows, most, share > 0, rooms);
                out.exposed_comm_s[o.group] += o.exposed_s;
            } else if (o.group == GroupKind::pp) {
                out.exposed_comm_s[o.group] += o.time_s;
            }
        }
}

namespace {

// The stages of two copies of a model run twice, in mirror: both devices do the same.
std::vector<int> devices_of_chunks(const ScheduleShape& shape, std::size_t count) {
    std::vector<int> device(count, 0);
    const int n = static_cast<int>(count);
    if (traits_of(shape.schedule).placement == StagePlacement::two_copies) {
        for (int stage = 0; stage < n; ++stage) device[stage] = std::min(stage, n - 1 - stage);
        return device;
    }
    for (int d = 0; d < shape.devices; ++d)
        for (int c = 0; c < chunks_of(shape); ++c)
            if (const int stage = stage_of(shape, d, c); stage < n) device[stage] = d;
    return device;
}

}  // namespace

StageLoad stage_load(const Plan& plan, const ScheduleShape& shape, const StepWork& work) {
    StageLoad load;
    std::vector<std::int64_t> layers;
    layers_of_chunks(plan, layers);
    const auto n = static_cast<std::int64_t>(layers.size());
    if (n == 0 || work.layer.size() == 0) return load;
    const LayerTypes types = layer_types(plan.model);
    const auto seconds = [&](const ChunkLayers& k) { return chunk_cost(plan, work, k).total(); };
    const double nothing = seconds(chunk_of(plan, types, {}));
    const std::int64_t count = std::max<std::int64_t>(plan.model.layers, 0);
    for (std::int64_t i = 0; i < count; ++i) {
        ChunkLayers k = chunk_of(plan, types, {.begin = i, .end = i + 1});
        const double with = seconds(k);
        k.recomputed.assign(types.size());
        const double once = seconds(k);
        load.layer.push_back(once - nothing);
        load.recomputed.push_back(with - once);
    }
    const RecomputeChoice& r = plan.training.recompute;
    load.layers_recomputed = !r.any() ? 0 : r.some_layers() ? std::min(r.layers, count) : count;
    const std::int64_t mtp = mtp_chunk_of(plan.layout, n);
    for (std::int64_t c = 0; c < n; ++c)
        load.chunk.push_back(
            seconds(chunk_of(plan, types, {.first = c == 0, .last = c == n - 1, .mtp = c == mtp})));
    load.device = devices_of_chunks(shape, layers.size());
    return load;
}

namespace {

// Returns the forward seconds of the recomputed modules. A recomputed MoE layer recomputes its parts.
double module_time(const RecomputeChoice& choice, const ModuleTimes& times) {
    double sum = 0;
    for (const RecomputeModule m : all_of<RecomputeModule>()) {
        const bool part = m == RecomputeModule::moe_act || m == RecomputeModule::shared_experts;
        if (choice.modules.has(m) && !(part && choice.modules.has(RecomputeModule::moe))) sum += times[m];
    }
    return sum;
}

bool recomputes_tensor(const RecomputeChoice& choice, const Model& model, const Tensor& t) {
    if (choice.whole_layers()) return true;
    const bool latent = model.attention == AttentionKind::mla;
    const bool up = t.id == TensorId::attention_q_up || t.id == TensorId::attention_kv_up
                    || t.id == TensorId::attention_q;
    if (latent && up) return choice.makes(RecomputeModule::mla_up_proj);
    const TensorModule module = module_of(t.id);
    if (module == TensorModule::mlp) return choice.makes(RecomputeModule::mlp);
    const bool shared = module == TensorModule::shared_expert;
    if (shared && choice.makes(RecomputeModule::shared_experts)) return true;
    const bool experts = shared || module == TensorModule::experts || module == TensorModule::router;
    return experts && choice.makes(RecomputeModule::moe);
}

}  // namespace

void find_recompute(const ResolvedPlan& r, StepWork& work) {
    const RecomputeChoice& choice = r.plan.training.recompute;
    const double share = r.software.selective_share;
    const bool by_operation = share > 0 && choice == RecomputeChoice(Recompute::selective);
    for (int t = 0; t < work.times.layer.size(); ++t) {
        const LayerTime& time = work.times.of(t);
        work.layer[t].recompute.input_grad = by_operation            ? share * time.all.forward
                                             : choice.whole_layers() ? time.all.forward
                                             : choice.any()          ? module_time(choice, time.module)
                                                                     : 0;
    }
}

double recomputed_flops(const ResolvedPlan& r, const Stages& stages) {
    const RecomputeChoice& choice = r.plan.training.recompute;
    const Model& m = r.plan.model;
    if (!choice.any()) return 0;
    const LayerTypes& types = r.types;
    const PerType<double> share = shares_recomputed(stages);
    const auto tokens = static_cast<double>(r.plan.training.sequence_length);
    PerType<double> recomputed(types.size());  // layers of each type, the prediction layers among them
    double flops = 0, mtp_recomputed = 0;
    for (int t = 0; t < types.size(); ++t) {
        const double mtp = t == types.mtp ? static_cast<double>(m.mtp_layers) : 0;
        recomputed[t] = (r.counts[t] + mtp) * share[t];
        mtp_recomputed += mtp * share[t];
        const MixerFlops mixer = mixer_flops(m, types[t], tokens, recomputed[t]);
        if (choice.makes(RecomputeModule::core_attn)) flops += mixer.attention;
        if (choice.whole_layers()) flops += mixer.scan;
    }
    visit_tensors(m, types, [&](const Tensor& t) {
        if (!t.is_matrix() || t.place == Place::embedding || t.place == Place::head) return;
        if (!recomputes_tensor(choice, m, t)) return;
        double copies = static_cast<double>(t.copies), layers = t.place == Place::mtp ? mtp_recomputed : 0;
        if (t.per_expert && m.moe) copies = std::min(copies, static_cast<double>(m.moe->top_k));
        for (int k = 0; k < types.size(); ++k)
            if (has(t.types, k)) layers += recomputed[k];
        flops += 2 * tokens * static_cast<double>(t.rows) * static_cast<double>(t.cols) * copies * layers;
    });
    return flops;
}

void wait_for_host(const Plan& plan, StepWork& work) {
    const Efficiency& e = plan.cluster.gpu.efficiency;
    const double launch = launch_time(plan);
    const double repeats = plan.training.recompute.whole_layers() ? 1 : 0;
    const bool split = traits_of(schedule_of(plan.layout)).splits_backward;
    for (int k = 0; k < work.times.layer.size(); ++k) {
        LayerTime& time = work.times.layer[k];
        LayerWork& layer = work.layer[k];
        PassTime& t = time.all;
        const double host = time.launches * launch;
        const double forward = std::max(host - t.forward - layer.comm.sum(Phase::forward), 0.0);
        // This is the pass that recomputes: the input gradient, or the whole backward where it is one.
        const double least = split ? host : kBackwardLaunches * host;
        const double own = t.input_grad + (split ? 0 : t.weight_grad) + layer.comm.sum(Phase::backward);
        const double backward = std::max(least - own, 0.0);
        const double late = split ? std::max(host - t.weight_grad, 0.0) : 0;
        t.forward += forward;
        t.input_grad += backward;
        t.weight_grad += late;
        time.waiting = forward + backward + late;
        // Launches of recomputed modules first take the host's idle time.
        double& recompute = layer.recompute.input_grad;
        const double launches = repeats * host - std::max(own - least, 0.0);
        const double wait = std::max(launches - recompute - layer.recomputed.sum(Phase::backward), 0.0);
        recompute += wait;
        // In all of these the device has nothing to do: all of their time can hide transfers, of compute only
        // the share `overlap`.
        const double free = 1 - e.overlap;
        layer.busy.forward -= free * forward;
        layer.busy.input_grad -= free * (backward + late);
        layer.recompute.forward += free * wait;
    }
}

}  // namespace pentamesh
