#include "core/step/layer_time.h"

#include "core/comm/collective_time.h"
#include "core/mesh/degrees.h"

namespace pentamesh {
namespace {

double of_pass(const PassTime& t, KernelPass pass) {
    switch (pass) {
    case KernelPass::forward: break;
    case KernelPass::input_grad: return t.input_grad;
    case KernelPass::weight_grad: return t.weight_grad;
    case KernelPass::backward: return t.input_grad + t.weight_grad;
    }
    return t.forward;
}

class StepTimer {
  public:
    StepTimer(const Plan& plan, const Mesh& mesh, const GroupSummaries& groups, const LayerList& list)
        : plan_(plan), mesh_(mesh), groups_(groups), timer_(plan) {
        const LayerTypes types = layer_types(plan.model);
        list_parts(plan, degrees_of(plan, mesh), types[list.type], parts_);
    }

    void time(LayerStep& s) const {
        if (is_collective(s.op)) {
            s.time_s = s.calls * call(s);
            return;
        }
        if (s.work.what == What::none) return;
        s.time_s = 0;
        if (s.work.rate != LayerRate::core) s.bytes_moved = 0;
        for (const LayerKernel& k : parts_.kernels) {
            const bool runs = k.what == s.work.what && k.part == s.work.part;
            if (!runs || (k.fused && !s.recomputed)) continue;
            s.time_s += of_pass(timer_.time(k), s.work.pass);
            if (k.rate != LayerRate::core) s.bytes_moved += of_pass(timer_.bytes(k), s.work.pass);
        }
    }

  private:
    [[nodiscard]] double call(const LayerStep& s) const {
        Operation o;
        o.group = s.group, o.collective = collective_of(s.op), o.group_size = s.group_size;
        o.message_bytes = s.message_bytes, o.slow_share = s.slow_share, o.forwarded = s.forwarded;
        return call_time(plan_, find_route(plan_, mesh_, groups_[s.group]), o);
    }

    const Plan& plan_;
    const Mesh& mesh_;
    const GroupSummaries& groups_;
    KernelTimer timer_;
    LayerParts parts_;
};

}  // namespace

void time_layer(const Plan& plan, const Mesh& mesh, const GroupSummaries& groups, LayerList& list) {
    const StepTimer timer(plan, mesh, groups, list);
    for (LayerStep& s : list.steps) timer.time(s);
    sum_layer(list);
}

LayerList timed_layer(const Plan& plan, const Mesh& mesh, const GroupSummaries& groups, int type,
                      std::int64_t rank, std::int64_t most_members) {
    LayerList list = list_layer(plan, mesh, groups, type, rank, most_members);
    time_layer(plan, mesh, groups, list);
    return list;
}

}  // namespace pentamesh
