// How long does a step take? Compute by roofline, communication by alpha-beta, schedule, overlap, stragglers.
// The model and its fit: docs/step.md.
#pragma once

#include "core/comm.h"
#include "core/compute.h"
#include "core/timeline.h"

#include <optional>

namespace pentamesh {

// Every part in seconds; the parts sum to time_s (tested).
struct Step {
    double time_s = 0;
    double compute_s = 0, recompute_s = 0, bubble_s = 0, optimizer_s = 0, straggler_s = 0;
    std::array<double, kGroupKindCount> exposed_comm_s{};
    double model_flops_per_gpu = 0;  // per step
    double tflops_per_gpu = 0;       // model FLOPs, in units of 1e12 per second
    double mfu = 0, hfu = 0;
    double tokens_per_s = 0, tokens_per_step = 0;
    double error = 0;            // relative half-width of the range, from the fit
    double straggler_bound = 0;  // cv sqrt(2 ln N), the share that the bound would add
    int busiest_device = 0;      // the one whose work the parts are
};

// Exposed communication of a micro-batch on one unit of the model, by the axes that a layer speaks on.
struct UnitComm {
    enum { kTp, kCp, kEp, kEtp, kAxes };
    std::array<double, kAxes> forward{}, backward{};
    [[nodiscard]] double sum(Phase phase) const {
        double s = 0;
        for (const double t : phase == Phase::forward ? forward : backward) s += t;
        return s;
    }
};

// What a step is made of before a schedule orders it. Units as in comm.h.
struct StepWork {
    LayerTimes times;
    PassTime dense_again, moe_again;  // what recomputation adds to a layer's input gradient
    UnitComm dense, moe, embedding, head;
    PassTime dense_busy, moe_busy;  // of a layer's compute: what already hides a transfer (backward whole)
    double send_s = 0;              // one message to a neighbouring stage
    double microbatches = 0;        // per step and replica
    HeldWeights most_held;          // largest over devices
    double shards = 1, expert_shards = 1;  // ranks that share one optimizer state
};

// Times every operation of `comm` and fills the costs of each chunk: what run_timeline replays. Exposure of
// gradients and parameters is left to compute_step, which knows how long a step has room for them.
void compute_costs(const Plan& plan, const Mesh& mesh,
                   const std::array<GroupSummary, kGroupKindCount>& summary, Comm& comm, StepWork& work,
                   TimelineCosts& out);

// `timeline`: the replay of those costs, or null for the schedule's closed form. Fills what compute_costs
// left open in comm. False, and an untouched step, where no time comes out (no GPU figures, no micro-batch).
bool compute_step(const Plan& plan, const Mesh& mesh, const ScheduleShape& shape, const StepWork& work,
                  const TimelineCosts& costs, const Timeline* timeline, Comm& comm, Step& out);

enum class StepPart : std::uint8_t { compute, recompute, bubble, exposed, optimizer, straggler };
[[nodiscard]] Explanation explain_step(const Plan& plan, const Evaluation& evaluation, StepPart part,
                                       GroupKind axis = GroupKind::tp);

}  // namespace pentamesh
