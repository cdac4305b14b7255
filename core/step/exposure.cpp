#include "core/step/exposure.h"

#include "core/comm/collective_time.h"

#include <algorithm>

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

}  // namespace pentamesh
