#include "core/step/layer_time.h"

#include "core/comm/collective_time.h"

#include <algorithm>

namespace pentamesh {
namespace {

constexpr double kResultBytes = 2;  // of a product, in 16 bits

bool runs_forward(const LayerStep& s) {
    return s.phase == LayerPass::forward || s.recomputed;
}

class StepTimer {
  public:
    StepTimer(const Plan& plan, const Mesh& mesh, const GroupSummaries& groups, const LayerList& list)
        : plan_(plan), mesh_(mesh), groups_(groups), rates_(find_rates(plan)),
          times_(time_layers(plan, layer_types(plan.model)).of(list.type)) {}

    void time(LayerStep& s) const {
        if (is_collective(s.op)) {
            s.time_s = s.calls * call(s);
            return;
        }
        const KernelCost& w = s.work;
        const bool wide = w.rate == LayerRate::wide;
        const double operand = wide ? kResultBytes : rates_.operand;
        const double result = w.weight_gradient ? 2 * bytes_of(plan_.training.gradients) : kResultBytes;
        s.bytes_moved = w.bytes;
        s.time_s = w.bytes * rates_.element_wise / rates_.hbm + w.kernels * rates_.kernel_s;
        switch (w.rate) {
        case LayerRate::none:
        case LayerRate::scan: return;
        case LayerRate::core:
            s.time_s = runs_forward(s) ? times_.attention.forward
                                       : times_.attention.input_grad + times_.attention.weight_grad;
            return;
        case LayerRate::linear:
        case LayerRate::wide:
        case LayerRate::grouped: break;
        }
        const double share = wide ? 1 : line_share(w.weight_gradient ? w.m : w.in, w.out, operand);
        const double rate =
            (wide ? rates_.wide : rates_.linear * (w.rate == LayerRate::grouped ? rates_.grouped : 1))
            * share;
        const Product p{w.m, w.in, w.out, w.groups};
        s.bytes_moved += w.groups * ((w.m * w.in + w.in * w.out) * operand + w.m * w.out * result);
        s.time_s += product_time(rates_, p, rate, operand, result);
        if (!wide && !w.weight_gradient) s.time_s += rates_.cast_bytes * w.groups * w.m / rates_.hbm * w.in;
    }

    // A scan takes the rest of its layer: products, norms and additions have times of their own.
    void time_scan(LayerList& list) const {
        double forward = times_.all.forward, backward = times_.all.input_grad + times_.all.weight_grad;
        for (const LayerStep& s : list.steps)
            if (!is_collective(s.op) && !s.recomputed)
                (s.phase == LayerPass::forward ? forward : backward) -= s.time_s;
        for (LayerStep& s : list.steps)
            if (s.work.rate == LayerRate::scan)
                s.time_s = std::max(runs_forward(s) ? forward : backward, 0.0);
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
    Rates rates_;
    LayerTime times_;
};

}  // namespace

void time_layer(const Plan& plan, const Mesh& mesh, const GroupSummaries& groups, LayerList& list) {
    const StepTimer timer(plan, mesh, groups, list);
    for (LayerStep& s : list.steps) timer.time(s);
    timer.time_scan(list);
    sum_layer(list);
}

LayerList timed_layer(const Plan& plan, const Mesh& mesh, const GroupSummaries& groups, int type,
                      std::int64_t rank, std::int64_t most_members) {
    LayerList list = list_layer(plan, mesh, groups, type, rank, most_members);
    time_layer(plan, mesh, groups, list);
    return list;
}

}  // namespace pentamesh
