#include "core/step/block_parts.h"

#include <bit>

namespace pentamesh {
namespace {

bool inside_blocks(GroupKind k) {
    return k == GroupKind::tp || k == GroupKind::cp || k == GroupKind::ep || k == GroupKind::etp
           || k == GroupKind::pp;
}

}  // namespace

void exposed_in_chunks(const Stages& stages, const StepWork& work, std::vector<ChunkExposed>& out) {
    out.clear();
    for (const std::uint32_t kind : stages.chunk_kind) {
        const ChunkWork& own = work.chunk[kind];
        out.push_back({own.comm, own.recompute});
    }
}

StepTail step_tail(const Step& step, const Comm& comm) {
    StepTail tail;
    for (const GroupKind kind : all_of<GroupKind>())
        if (!inside_blocks(kind)) tail.exposed_s[kind] = step.exposed_comm_s[kind];
    // For pp, only calls once a step count, such as the gradients of a tied embedding.
    for (const Operation& o : comm.operations)
        if (o.group == GroupKind::pp && o.unit == Unit::step) tail.exposed_s[GroupKind::pp] += o.time_s;
    tail.optimizer_s = step.optimizer_s;
    tail.straggler_s = step.straggler_s;
    return tail;
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

// Returns true for gathers and reductions of data parallelism that every micro-batch makes.
bool in_each_microbatch(const Operation& o) {
    return o.unit == Unit::step && o.each == GradientReduction::micro_batch;
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

}  // namespace pentamesh
