#include "app/ui/explain_selection.h"

#include "core/comm.h"
#include "core/memory.h"
#include "core/step.h"

namespace pentamesh::ui {

namespace {

Explanation explain_axis(const Scene& scene) {
    const Operation* most = nullptr;
    for (const Operation& op : scene.evaluation.comm.operations)
        if (op.axis == scene.selection.axis
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
            return explain_operation(scene.plan, e,
                                     e.comm.operations[static_cast<std::size_t>(sel.operation)]);
        return {};
    case Selection::Topic::step:
        if (e.step) return explain_step(scene.plan, e, static_cast<StepPart>(sel.step_part), sel.axis);
        return {};
    case Selection::Topic::rank: return explain_axis(scene);
    case Selection::Topic::none:
    case Selection::Topic::op:
    case Selection::Topic::tensor: break;
    }
    return {};
}

}  // namespace pentamesh::ui
