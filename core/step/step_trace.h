// Lists what a device does in a step inside and after the schedule's blocks, in the shape of a trace of
// PyTorch: kernels of compute and communication inside the blocks, gradients, parameters and the optimizer.
#pragma once

#include "core/pipeline/trace.h"
#include "core/step/block_parts.h"

#include <cstddef>
#include <vector>

namespace pentamesh {

class StepTrace {
  public:
    // All of them have to outlive it.
    StepTrace(const Plan& plan, const Timeline& timeline, const Comm& comm, const StepWork& work,
              const Step& step);

    // Adds the kernels of op `i` of a device, in order of time; of its last one those after the pipeline too.
    void add(int device, std::size_t i, std::vector<TraceSlice>& out) const;

  private:
    void add_op(int device, std::size_t i, std::vector<TraceSlice>& out) const;
    void add_tail(std::vector<TraceSlice>& out) const;
    [[nodiscard]] double send_of(int device, const Op& op) const;

    const Plan& plan_;
    const Timeline& timeline_;
    const Comm& comm_;
    const StepWork& work_;
    StepTail tail_;
    HiddenComm once_;
    std::vector<ChunkExposed> exposed_;
    std::vector<HiddenComm> hidden_;
};

}  // namespace pentamesh
