#include "app/ui/panels/selection_words.h"

#include "core/comm/comm.h"
#include "core/explain/explain_step.h"
#include "core/memory/memory.h"
#include "core/sharding/placement_words.h"

#include <algorithm>

namespace pentamesh::ui {

namespace {

Explanation explain_axis(const Scene& scene) {
    const Operation* most = nullptr;
    for (const Operation& op : scene.evaluation.comm.operations)
        if (op.group == scene.selection.group
            && (most == nullptr || op.sent_bytes_per_rank > most->sent_bytes_per_rank))
            most = &op;
    return most == nullptr ? Explanation{} : explain_operation(scene.plan, scene.evaluation, *most);
}

}  // namespace

Explanation explain_selection(const Scene& scene) {
    const Selection& sel = scene.selection;
    const Evaluation& e = scene.evaluation;
    switch (sel.topic) {
    case Selection::Topic::memory:
        if (sel.stage >= 0 && sel.stage < static_cast<int>(e.memory.stage.size())) {
            const int category = sel.memory_category >= 0 ? sel.memory_category
                                                          : static_cast<int>(MemoryCategory::activations);
            return explain_memory(scene.plan, e.mesh, e.memory, sel.stage,
                                  static_cast<MemoryCategory>(category));
        }
        return {};
    case Selection::Topic::operation:
        if (sel.operation >= 0 && sel.operation < static_cast<int>(e.comm.operations.size()))
            return explain_operation(scene.plan, e, e.comm.operations[sel.operation]);
        return {};
    case Selection::Topic::step:
        if (e.step) return explain_step(scene.plan, e, static_cast<StepPart>(sel.step_part), sel.group);
        return {};
    case Selection::Topic::rank: return explain_axis(scene);
    case Selection::Topic::tensor:
        for (const Moment moment : {Moment::at_rest, Moment::computing})
            if (const auto p = selected_tensor(scene, moment))
                return explain_tensor(scene.plan, e.mesh, *p, std::max<std::int64_t>(sel.rank, 0));
        return {};
    case Selection::Topic::none:
    case Selection::Topic::ranks:
    case Selection::Topic::op: break;
    }
    return {};
}

std::optional<Placement> selected_tensor(const Scene& scene, Moment moment) {
    const Selection& sel = scene.selection;
    const Mesh& mesh = scene.evaluation.mesh;
    if (mesh.world < 1 || sel.rank >= mesh.world) return std::nullopt;
    const bool activation = sel.activation >= 0;
    const auto index = static_cast<std::size_t>(activation ? sel.activation : std::max(sel.tensor, 0));
    if (!activation && sel.tensor < 0) return std::nullopt;
    const TensorState state = activation                                     ? TensorState::activations
                              : sel.tensor_state != TensorState::activations ? sel.tensor_state
                                                                             : TensorState::parameters;
    const auto all = list_placements(scene.plan, mesh, state, activation ? Moment::computing : moment);
    if (index >= all.size()) return std::nullopt;
    if (!activation || moment == Moment::computing) return all[index];
    for (const Placement& p : list_placements(scene.plan, mesh, state, moment))
        if (p.id == all[index].id && p.place == all[index].place) return p;
    return std::nullopt;  // a partial sum: not kept
}

}  // namespace pentamesh::ui
