// Finds what a step waits for the link to host memory: activations, parameters and updates that
// training.offload sends over it. docs/step.md, "Offload", has the rules and their sources.
#pragma once

#include "core/comm/comm.h"
#include "core/layer/parts.h"
#include "core/memory/memory.h"
#include "core/memory/memory_costs.h"
#include "core/pipeline/sequence.h"
#include "core/pipeline/stages.h"
#include "core/pipeline/timeline.h"
#include "core/step/step.h"

#include <optional>

namespace pentamesh {

// Returns true if something lies in host memory and the rate of the link to it is known.
[[nodiscard]] inline bool counts_offload(const Plan& plan) {
    return plan.training.offload.any() && plan.cluster.gpu.host_bytes_per_s > 0;
}

// Returns the share of the optimizer that the GPU updates itself. The host's own time for the rest is not
// counted, and where its link is not known all of it counts as the GPU's.
[[nodiscard]] inline double optimizer_on_gpu(const Plan& plan) {
    return counts_offload(plan) ? 1 - plan.training.offload.optimizer : 1;
}

// Returns the seconds after a backward in which gradients go to the host, in the type of the copy that is
// updated there, and updated parameters come back, except for those that lie there. `numbers` are those of a
// device, before ZeRO cuts them. It is 0 where the link is not known.
[[nodiscard]] double offloaded_update_time(const Plan& plan, const StageNumbers& numbers,
                                           const StateShards& shards);

// Finds what the passes of a micro-batch wait for the link: it has a lane of its own in each direction, next
// to everything that the pass does.
class HostLink {
  public:
    // Refers to the plan and to `comm`. Without `state_waits` no pass waits for parameters, whose bytes
    // follow from how states are sharded.
    HostLink(const ResolvedPlan& resolved, const PartsByType& parts, const Comm& comm, bool state_waits);

    [[nodiscard]] bool in_passes() const { return activations_.has_value() || parameters_; }
    // Adds to the cost of a chunk, which has all else, what its passes wait.
    void wait_in_passes(const ChunkLayers& layers, ChunkWork& chunk) const;
    // Returns the bytes of a micro-batch's activations that a chunk sends in its forward and gets back in its
    // backward.
    [[nodiscard]] double activation_bytes(const ChunkLayers& layers) const;

  private:
    const ResolvedPlan& r_;
    const Comm& comm_;
    std::optional<MemoryCosts> activations_;  // where some are offloaded
    bool parameters_ = false;
};

// Returns the bytes of a chunk's parameters that lie in host memory: a use brings them once.
[[nodiscard]] double offloaded_parameter_bytes(const ResolvedPlan& resolved, const HeldNumbers& held,
                                               const ChunkLayers& layers);

// Returns the seconds that a step waits for parameters that come once a step: behind the first forward of
// the device that works longest. It is 0 where every pass brings them.
[[nodiscard]] double parameters_once_a_step(const ResolvedPlan& resolved, const TimelineCosts& costs,
                                            const Comm& comm);

}  // namespace pentamesh
