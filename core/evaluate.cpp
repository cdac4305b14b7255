#include "core/evaluate.h"

#include "core/rules/rules.h"

namespace pentamesh {
namespace {

// A timeline of more operations than this is not worth its memory: closed forms stand in.
constexpr std::int64_t kMostOps = std::int64_t{1} << 22;

void start_over(Evaluation& e) {
    e.valid = false;
    e.problems.clear();
    e.microbatches = 0;
    e.memory.stage.clear();
    e.memory.peak_stage = 0;
    e.comm.operations.clear();
    e.comm.by_axis.fill({});
    e.costs.chunk.clear();
    e.timeline.device.clear();
    e.timeline.makespan = 0;
    e.timeline.complete = false;
    e.step.reset();
}

bool has_error(const std::vector<Problem>& problems) {
    for (const Problem& p : problems)
        if (p.severity == Severity::error) return true;
    return false;
}

// The schedule in force: where it refuses the shape, none.
bool lays_out(const Plan& plan, const Mesh& mesh) {
    const Model& m = plan.model;
    return mesh.world > 0 && m.layers > 0 && m.hidden > 0 && plan.layout.pp >= 1
           && plan.layout.virtual_stages >= 1 && plan.layout.pp * plan.layout.virtual_stages <= m.layers;
}

void hold(const Plan& plan, const ScheduleShape& shape, bool scheduled, Evaluation& out) {
    out.in_flight.resize(static_cast<std::size_t>(shape.devices));
    for (int d = 0; d < shape.devices; ++d) {
        double& held = out.in_flight[static_cast<std::size_t>(d)];
        if (!out.timeline.empty() && out.timeline.complete)
            held = out.timeline.device[static_cast<std::size_t>(d)].peak_in_flight;
        else
            held = scheduled ? peak_in_flight(shape, d) : shape.microbatches;
    }
    compute_memory(plan, out.mesh, out.in_flight, out.memory);
}

}  // namespace

void evaluate(const Plan& plan, Evaluation& out, const EvaluateOptions& options) {
    start_over(out);
    out.mesh = build_mesh(plan);
    for (int i = 0; i < kGroupKindCount; ++i)
        out.groups[static_cast<std::size_t>(i)] =
            summarize(out.mesh, plan.cluster, static_cast<GroupKind>(i));
    out.parameters = count_parameters(plan.model);
    out.microbatches = microbatches_of(plan);
    find_errors(plan, out.mesh, options.messages, out.problems);
    out.valid = !has_error(out.problems);
    if (!lays_out(plan, out.mesh)) return;

    const ScheduleShape shape = shape_of(plan, out.microbatches);
    const bool scheduled = out.microbatches > 0 && accepts(shape);
    list_operations(plan, out.mesh, out.groups, out.comm);
    compute_costs(plan, out.mesh, out.groups, out.comm, out.work, out.costs);
    if (options.timeline && scheduled && op_count(shape) <= kMostOps)
        run_timeline(shape, out.costs, out.timeline);
    hold(plan, shape, scheduled, out);
    if (scheduled) {
        const Timeline* timeline = out.timeline.empty() ? nullptr : &out.timeline;
        Step step;
        if (compute_step(plan, out.mesh, shape, out.work, out.costs, timeline, out.comm, step))
            out.step = step;
    }
}

Evaluation evaluate(const Plan& plan, const EvaluateOptions& options) {
    Evaluation out;
    evaluate(plan, out, options);
    return out;
}

}  // namespace pentamesh
