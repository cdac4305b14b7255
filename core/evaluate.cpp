#include "core/evaluate.h"

#include "core/pipeline/sequence.h"
#include "core/rules/rules.h"

namespace pentamesh {
namespace {

// A timeline of more operations than this is not worth its memory: closed forms replace it.
constexpr std::int64_t kMostOps = std::int64_t{1} << 22;

// An impossible plan has no figures, even if `e` held some before.
void clear_figures(Evaluation& e) {
    e.memory.clear();
    e.comm.clear();
    e.in_flight.clear();
    e.work.clear();
    e.costs.clear();
    e.timeline.clear();
    e.step.reset();
}

bool has_error(const std::vector<Problem>& problems) {
    for (const Problem& p : problems)
        if (p.severity == Severity::error) return true;
    return false;
}

// Returns true if weights and their states are cut as the plan says although this rule is broken: it is one
// of the batch, the sequence, the number of GPUs, or of calls.
bool spares_states(ProblemCode code) {
    switch (code) {
    case ProblemCode::batch_does_not_divide:
    case ProblemCode::too_many_microbatches:
    case ProblemCode::world_differs_from_gpus:
    case ProblemCode::sequence_does_not_divide:
    case ProblemCode::sequence_exceeds_positions:
    case ProblemCode::ulysses_heads:
    case ProblemCode::scan_context_parallel:
    case ProblemCode::window_context_parallel:
    case ProblemCode::megatron_moe_needs_sp:
    case ProblemCode::megatron_positions:
    case ProblemCode::megatron_p2p_overlap:
    case ProblemCode::megatron_tp_overlap:
    case ProblemCode::megatron_ep_overlap:
    case ProblemCode::deepep_domain:
    case ProblemCode::deepep_ranks: return true;
    default: return false;
    }
}

// Fills what still holds of the memory of an impossible plan. Under ZeRO-2 and 3 the number of micro-batches
// says when gradients are reduced, and so which are held: without it nothing is known.
void find_states(const Plan& plan, const Evaluation& e, Memory& out) {
    if (e.microbatches < 1 && plan.layout.zero >= 2) return;
    for (const Problem& p : e.problems)
        if (p.severity == Severity::error && !spares_states(p.code)) return;
    compute_memory(plan, e.mesh,
                   std::vector<double>(static_cast<std::size_t>(std::max<std::int64_t>(0, plan.layout.pp))),
                   out);
    out.peak_stage = 0;
    for (StageMemory& s : out.stage) {
        s.activations = s.layer_activations = s.activations_per_layer = s.in_flight = 0;
        s.buffers_low = s.buffers = s.buffers_high = 0;
        s.allocated = s.reserved = s.parameters + s.gradients + s.optimizer;
        if (s.total() > out.peak()) out.peak_stage = s.stage;
    }
}

// Finds the micro-batches that each device holds at its peak, by the replay or by the schedule's closed form.
void find_in_flight(const ScheduleShape& shape, const Timeline& timeline, std::vector<double>& out) {
    out.resize(static_cast<std::size_t>(shape.devices));
    for (int d = 0; d < shape.devices; ++d)
        out[d] = timeline.complete ? timeline.device[d].peak_in_flight : peak_in_flight(shape, d);
}

}  // namespace

void evaluate(const Plan& plan, Evaluation& out, const EvaluateOptions& options) {
    out.mesh = build_mesh(plan);
    const ResolvedPlan r(plan, out.mesh, out.groups);
    out.parameters = options.report ? count_parameters(plan.model, r.types, r.counts) : ParameterCounts{};
    out.microbatches = r.microbatches;
    find_errors(r, options.messages, out.problems);
    out.valid = !has_error(out.problems);
    if (out.valid || options.report)
        summarize(out.mesh, plan.cluster, out.groups);
    else
        out.groups = {};
    out.states.clear();
    if (!out.valid) {
        clear_figures(out);
        if (options.report) find_states(plan, out, out.states);
        return;
    }

    // From here on each function sets everything that its output holds.
    list_parts(plan, r.degrees, r.types, out.parts);
    list_calls(r, out.parts, out.comm);
    compute_costs(r, out.parts, out.comm, options.report, options.state_waits, out.work, out.costs);
    if (options.timeline && op_count(r.shape) <= kMostOps)
        run_timeline(r.shape, out.costs, out.timeline);
    else
        out.timeline.clear();
    find_in_flight(r.shape, out.timeline, out.in_flight);
    compute_memory(r, out.parts, out.comm.stages, out.comm.held, out.in_flight,
                   options.report ? MemoryOf::every_stage : MemoryOf::fullest_stages, out.memory);
    find_uncounted(r, out.memory, options.messages, out.problems);
    if (has_error(out.problems)) {
        out.valid = false;
        clear_figures(out);
        return;
    }
    const Timeline* timeline = out.timeline.empty() ? nullptr : &out.timeline;
    Step& step = out.step.emplace();
    if (!compute_step(r, out.work, out.costs, timeline, options.report ? &out.range_work : nullptr, out.comm,
                      step))
        out.step.reset();
    if (options.report) sum_calls(r, out.comm);
}

Evaluation evaluate(const Plan& plan, const EvaluateOptions& options) {
    Evaluation out;
    evaluate(plan, out, options);
    return out;
}

}  // namespace pentamesh
