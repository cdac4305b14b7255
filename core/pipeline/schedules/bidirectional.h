// Writes the eight phases that dualpipe and dualpipev share. DeepSeek-AI 2024 (DeepSeek-V3), figure 5; the
// DualPipe repository's step().
#pragma once

#include "core/pipeline/schedules/wave.h"

#include <array>

namespace pentamesh {

struct TwoWays {
    int half = 0;                           // h: devices from either end to the innermost one
    int from_end = 0;                       // r: this device's distance from its own end
    int each = 0;                           // n: micro-batches of each chunk
    int near = 0;                           // the chunk that this device's own end feeds first
    std::array<int, 2> first_microbatch{};  // of each chunk
};

class TwoWaysWriter {
  public:
    TwoWaysWriter(const TwoWays& shape, Op* at) : shape_(shape), at_(at), owed_(at) {}
    Op* write();

  private:
    void forward(int chunk);
    void backward(int chunk, OpKind kind);
    void overlapped(int forward_chunk, int backward_chunk);
    void weights();
    void middle();
    void ramp_down();
    int take(std::array<int, 2>& counter, int chunk) const;

    TwoWays shape_;
    Op* at_;
    Op* owed_;  // no weight gradient is owed for what was written before
    std::array<int, 2> forwards_{}, backwards_{};
};

}  // namespace pentamesh
