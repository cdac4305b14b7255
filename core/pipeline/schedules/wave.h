// gpipe, 1f1b, interleaved, zb-h1, zb-h2 and looped-bfs share this pattern: some forwards to warm up, then
// one forward and one backward in turn, then the rest. docs/schedules.md, "One pattern".
#pragma once

#include "core/pipeline/schedules/schedule.h"

#include <algorithm>
#include <cstdint>

namespace pentamesh {

// Stands for one micro-batch on one chunk: an element of the lists that a wave walks through.
struct Visit {
    int chunk = 0, microbatch = 0;
};

[[nodiscard]] inline Op op_of(OpKind kind, Visit v) {
    Op op;
    op.kind = kind;
    op.chunk = static_cast<std::uint8_t>(v.chunk);
    op.microbatch = v.microbatch;
    return op;
}

// Lists micro-batches 0 .. m-1 on one chunk.
struct EachMicrobatch {
    int next_microbatch = 0;
    Visit next() { return {0, next_microbatch++}; }
};

inline constexpr int kWholeBackward = -1;

// Writes one device's order at `at` and returns its end. The lists have n elements each; `warm` forwards come
// first; with delay >= 0 the backward is split and the weight gradient of an element follows the input
// gradient of the element `delay` places later. It writes 2n ops, or 3n where split.
template <typename Forwards, typename Backwards>
Op* wave(Op* at, int n, int warm, int delay, Forwards forwards, Backwards backwards) {
    Backwards weights = backwards;
    const OpKind backward = delay == kWholeBackward ? OpKind::B : OpKind::I;
    int forward_count = std::min(warm, n);
    for (int k = 0; k < forward_count; ++k) *at++ = op_of(OpKind::F, forwards.next());
    for (int k = 0; k < n; ++k) {
        if (forward_count < n) {
            *at++ = op_of(OpKind::F, forwards.next());
            ++forward_count;
        }
        *at++ = op_of(backward, backwards.next());
        if (delay != kWholeBackward && k >= delay) *at++ = op_of(OpKind::W, weights.next());
    }
    for (int k = std::min(delay, n); k > 0; --k) *at++ = op_of(OpKind::W, weights.next());
    return at;
}

}  // namespace pentamesh
