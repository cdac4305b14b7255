#include "core/step/block_parts.h"

namespace pentamesh {
namespace {

bool inside_blocks(GroupKind k) {
    return k == GroupKind::tp || k == GroupKind::cp || k == GroupKind::ep || k == GroupKind::etp
           || k == GroupKind::pp;
}

}  // namespace

void exposed_in_chunks(const Plan& plan, const Stages& stages, const StepWork& work,
                       std::vector<ChunkExposed>& out) {
    const double send = plan.training.overlap.pp ? 0 : work.send_s;
    out.assign(stages.chunk.size(), {});
    for (std::size_t i = 0; i < out.size(); ++i) {
        const ChunkLayers& k = stages.chunk[i];
        for (int t = 0; t < work.times.layer.size(); ++t) {
            const LayerWork& layer = work.of(t);
            out[i].comm.add(layer.comm, k.types[t]);
            out[i].comm.add(layer.again, k.again[t]);
            out[i].recompute += layer.recompute.input_grad * k.again[t];
        }
        if (k.first) out[i].comm.add(work.embedding, 1);
        if (k.last) out[i].comm.add(work.head, 1);
        out[i].send_forward = k.last ? 0 : send;
        out[i].send_backward = k.first ? 0 : send;
    }
}

StepTail step_tail(const Step& step, const Comm& comm) {
    StepTail tail;
    for (int k = 0; k < kGroupKindCount; ++k)
        if (!inside_blocks(static_cast<GroupKind>(k))) tail.exposed_s[k] = step.exposed_comm_s[k];
    // Of pp's only what moves once a step, as the gradients of a tied embedding do.
    for (const Operation& o : comm.operations)
        if (o.group == GroupKind::pp && o.unit == Unit::step) tail.exposed_s[GroupKind::pp] += o.time_s;
    tail.optimizer_s = step.optimizer_s;
    tail.straggler_s = step.straggler_s;
    return tail;
}

}  // namespace pentamesh
