#include "core/step/memory_curve.h"

#include "core/memory/memory_costs.h"
#include "core/mesh/mesh.h"

#include <algorithm>

namespace pentamesh {
namespace {

// This is a part of the model that keeps something of its forward for its backward.
struct CurveUnit {
    double kept = 0, made_again = 0;  // bytes
    double forward_s = 0, backward_s = 0;
};

double recomputed_buffer(const Plan& plan, const MemoryCosts& costs, const StageMemory& stage) {
    std::vector<BufferBytes> buffers;
    list_buffers(plan, costs, stage, buffers);
    const auto at = std::find_if(buffers.begin(), buffers.end(),
                                 [](const BufferBytes& b) { return b.buffer == Buffer::recomputed_layer; });
    return at != buffers.end() ? at->mid : 0;
}

CurveUnit layer_unit(const StepWork& work, int type, double kept, double made_again) {
    const LayerTime& time = work.times.of(type);
    const LayerWork& layer = work.of(type);
    return {kept, made_again, time.all.forward + layer.comm.sum(Phase::forward),
            time.all.input_grad + time.all.weight_grad + layer.comm.sum(Phase::backward)
                + (made_again > 0 ? layer.recompute : 0)};
}

// Lists the units in the order of the forward. What layers keep is scaled to the stage's figure, which knows
// what is offloaded and what units of recomputation leave out.
std::vector<CurveUnit> units_of(const MemoryCosts& costs, const StageMemory& stage, const StepWork& work) {
    std::vector<CurveUnit> units;
    const double embedding = stage.embedding ? std::min(costs.embedding.kept, stage.activations) : 0;
    units.push_back({embedding, 0, work.times.embedding.forward, work.times.embedding.input_grad});
    double kept = 0;
    const std::size_t first = units.size();
    for (int t = 0; t < costs.types.size(); ++t) {
        const LayerSums& sums = costs.of(t);
        for (std::uint32_t i = 0; i < stage.types[t]; ++i) {
            const bool again = i < stage.recomputed[t];
            units.push_back(layer_unit(work, t, again ? sums.kept : sums.all,
                                       again ? sums.recomputed * (1 + costs.software->backward_layer) : 0));
            kept += units.back().kept;
        }
    }
    for (std::size_t i = first; i < units.size(); ++i)
        units[i].kept *= kept > 0 ? stage.layer_activations / kept : 0;
    const PassTime& head = work.times.head;
    units.push_back({std::max(stage.activations - stage.layer_activations - embedding, 0.0), 0, head.forward,
                     head.input_grad + head.weight_grad});
    return units;
}

}  // namespace

MemoryCurve memory_curve(const Plan& plan, const Mesh& mesh, const Memory& memory, const StepWork& work) {
    MemoryCurve out;
    if (memory.stage.size() != 1 || work.times.layer.size() == 0) return out;
    const StageMemory& stage = memory.stage.front();
    const MemoryCosts costs = memory_costs(plan, degrees_of(plan, mesh));
    const double beside_head = recomputed_buffer(plan, costs, stage);
    out.states = stage.parameters + stage.gradients + stage.optimizer;
    out.buffers = stage.buffers - beside_head;
    const std::vector<CurveUnit> units = units_of(costs, stage, work);
    double forward_s = 0, backward_s = 0;
    for (const CurveUnit& u : units) forward_s += u.forward_s, backward_s += u.backward_s;
    if (!(forward_s > 0) || !(backward_s > 0)) return out;
    double at = 0, held = 0;
    for (const CurveUnit& u : units) {
        held += u.kept;
        out.forward.push_back({at / forward_s, held, 0});
        at += u.forward_s;
    }
    // The sum of the units is the stage's figure but for rounding.
    out.forward.back().activations = held = stage.activations;
    // Memory counts what is made again in addition to the part of the head: no layer takes more than both.
    const double most_again = beside_head + units.back().kept;
    at = 0;
    for (std::size_t i = units.size(); i-- > 0;) {
        const CurveUnit& u = units[i];
        const double again = i + 1 == units.size() ? beside_head : std::min(u.made_again, most_again);
        out.backward.push_back({at / backward_s, held, again});
        at += u.backward_s;
        held = std::max(held - u.kept, 0.0);
    }
    return out;
}

}  // namespace pentamesh
