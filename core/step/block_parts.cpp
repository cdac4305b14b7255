#include "core/step/block_parts.h"

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
    for (int k = 0; k < kGroupKindCount; ++k)
        if (!inside_blocks(static_cast<GroupKind>(k))) tail.exposed_s[k] = step.exposed_comm_s[k];
    // For pp, only calls once a step count, such as the gradients of a tied embedding.
    for (const Operation& o : comm.operations)
        if (o.group == GroupKind::pp && o.unit == Unit::step) tail.exposed_s[GroupKind::pp] += o.time_s;
    tail.optimizer_s = step.optimizer_s;
    tail.straggler_s = step.straggler_s;
    return tail;
}

}  // namespace pentamesh
