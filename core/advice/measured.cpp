#include "core/advice/measured.h"

#include <cmath>

namespace pentamesh {
namespace {

double sent_per_step(const Evaluation& e, bool data_parallel_only) {
    double sum = 0;
    for (const GroupKind k : all_of<GroupKind>())
        if (!data_parallel_only || is_data_parallel(k)) sum += e.comm.by_axis[k].sent_bytes_per_rank;
    return sum;
}

// Returns a figure of the ring of the FSDP group that gathers and reduces.
double of_ring(Measure measure, const Plan& plan, const Evaluation& e) {
    const GroupSummary& ring = e.groups[GroupKind::fsdp];
    const auto tier = static_cast<std::size_t>(ring.slowest_tier);
    double messages = 0, piece = 0;
    for (const Operation& o : e.comm.operations) {
        if (o.group_size != ring.degree || o.collective == Collective::all_reduce) continue;
        messages += o.count_per_step;
        if (piece == 0) piece = o.message_bytes / static_cast<double>(ring.degree);
    }
    if (measure == Measure::ring_piece) return piece;
    const double hop = tier < plan.cluster.tiers.size() ? plan.cluster.tiers[tier].latency_s : 0;
    const double call = static_cast<double>(ring.degree - 1) * hop;
    return measure == Measure::ring_latency_s ? call : messages * call;
}

double of_memory(Measure measure, const Memory& m) {
    if (m.stage.empty()) return 0;
    const StageMemory& s = m.stage[static_cast<std::size_t>(m.peak_stage)];
    switch (measure) {
    case Measure::memory_over: return s.total() - m.hbm;
    case Measure::memory_least: return s.least();
    case Measure::hbm: return m.hbm;
    case Measure::parameters: return s.parameters;
    case Measure::gradients: return s.gradients;
    case Measure::optimizer: return s.optimizer;
    case Measure::activations: return s.activations;
    case Measure::buffers: return s.buffers;
    case Measure::buffers_high: return s.buffers_high;
    default: return m.peak();
    }
}

double of_step(Measure measure, const Plan& plan, const Step& s) {
    switch (measure) {
    case Measure::bubble_s: return schedule_bubble_s(s);
    case Measure::bubble_share: return schedule_bubble_s(s) / s.time_s;
    case Measure::uneven_s: return s.uneven_s;
    case Measure::uneven_share: return s.uneven_s / s.time_s;
    case Measure::straggler_s: return s.straggler_s;
    case Measure::straggler_share: return s.straggler_s / (s.time_s - s.straggler_s);
    case Measure::straggler_cv: return plan.training.straggler_cv;
    case Measure::straggler_bound: return s.straggler_bound;
    default: return s.time_s;
    }
}

}  // namespace

double measured(Measure measure, const Plan& plan, const Evaluation& now, const Evaluation& e,
                GroupKind kind) {
    switch (measure) {
    case Measure::step_saved_s: return now.step->time_s - e.step->time_s;
    case Measure::memory_saved: return now.memory.peak() - e.memory.peak();
    case Measure::sent: return sent_per_step(e, false);
    case Measure::sent_data_parallel: return sent_per_step(e, true);
    case Measure::group_sent: return e.comm.by_axis[kind].sent_bytes_per_rank;
    case Measure::group_time_s: return e.comm.by_axis[kind].time_s;
    case Measure::group_exposed_s: return e.comm.by_axis[kind].exposed_s;
    case Measure::ring_piece:
    case Measure::ring_latency_s:
    case Measure::ring_latency_step_s: return of_ring(measure, plan, e);
    default: break;
    }
    return measure < Measure::memory ? of_step(measure, plan, *e.step) : of_memory(measure, e.memory);
}

}  // namespace pentamesh
