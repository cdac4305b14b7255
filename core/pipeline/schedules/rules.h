// A schedule describes itself in one table of functions, one file a table. schedule.cpp dispatches to them;
// nothing else includes this.
#pragma once

#include "core/pipeline/schedules/schedule.h"

#include <algorithm>
#include <cstdint>

namespace pentamesh {

// Costs are those of one micro-batch on a whole stage, and of a send, in any one unit.
struct StageCost {
    double f = 0, i = 0, w = 0, comm = 0;
    [[nodiscard]] double b() const { return i + w; }
};

struct ScheduleRules {
    ScheduleTraits traits;
    // A device must have this many chunks, for that reason; 0 where it may have any number, or `refuse` and
    // `accepts` say.
    int chunks = 0;
    const char* chunks_because = "";
    // Adds the fault to `out` and sets in `mended` the values that would mend it. Leaves both unchanged where
    // nothing is wrong. It is called with numbers that are at least 1. Where both are null, nothing else is
    // checked.
    void (*refuse)(const ScheduleShape& shape, ScheduleShape& mended, Refusal& out) = nullptr;
    bool (*accepts)(const ScheduleShape& shape) = nullptr;
    // Writes the device's order at `at`, at most 3 * m * chunks_of ops, and returns its end.
    Op* (*emit)(const ScheduleShape& shape, int device, Op* at) = nullptr;
    double (*peak)(const ScheduleShape& shape, int device) = nullptr;
    ClosedForm (*closed_form)(const ScheduleShape& shape, const StageCost& cost) = nullptr;
    // Returns makespan - m(F + I + W).
    double (*bubble)(const ScheduleShape& shape, const StageCost& cost) = nullptr;
    // See settling_microbatches; null means never.
    int (*settles)(const ScheduleShape& shape) = nullptr;
};

// These help refuse(): the first complaint names the field, each adds a sentence.
void complain(Refusal& out, const char* pointer, const std::string& sentence);

// gpipe, 1f1b, interleaved, zb-h1, zb-h2 and looped-bfs share this pattern: some forwards to warm up, then
// one forward and one backward in turn, then the rest. docs/schedules.md, "One pattern".

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
