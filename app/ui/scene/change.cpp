#include "app/ui/scene/change.h"

#include "core/mesh/layout_name.h"
#include "core/mesh/places.h"
#include "core/plan/factors.h"

namespace pentamesh::ui {

ChangeFigures change_figures(const Plan& plan, const Evaluation& e) {
    ChangeFigures out;
    for (const Axis axis : all_of<Axis>()) out.factor[axis] = factor_in_force(plan, axis);
    out.layout = layout_name(plan, e.mesh).name;
    if (plan.layout.zero > 0 && plan.cluster.gpus > 1 && zero_in_force(plan) == 0)
        out.shares_for_nothing =
            "ZeRO " + std::to_string(plan.layout.zero) + " shares nothing: its group, dp_shard, is 1";
    if (!e.step || e.memory.stage.empty()) return out;
    out.any = true;
    out.step_s = e.step->time_s;
    out.memory = e.memory.peak();
    for (std::size_t i = 0; i < plan.cluster.tiers.size(); ++i) {
        double bytes = 0;
        for (const Operation& op : e.comm.operations)
            if (op.tier == static_cast<int>(i) && !op.on_other_stage) bytes += op.sent_bytes_per_rank;
        out.wires.emplace_back(tier_label(plan.cluster, static_cast<int>(i)), bytes);
    }
    return out;
}

std::optional<Axis> PlanChange::paid() const {
    for (const Axis axis : all_of<Axis>())
        if (touched && axis != *touched && changed(axis)) return axis;
    return std::nullopt;
}

}  // namespace pentamesh::ui
