// In looped-bfs every micro-batch runs on one chunk before the next chunk (breadth first); then they go back
// from the last chunk to the first and from the last micro-batch to the first. Lamy-Poirier 2023;
// torch.distributed.pipelining.
#include "core/pipeline/schedules/rules.h"
#include "core/pipeline/schedules/wave.h"

namespace pentamesh {
namespace {

struct BreadthForwards {
    int m;
    int chunk = 0, microbatch = 0;
    Visit next() {
        const Visit visit{chunk, microbatch};
        if (++microbatch == m) {
            microbatch = 0;
            ++chunk;
        }
        return visit;
    }
};

struct BreadthBackwards {
    int m;
    int chunk, microbatch;
    Visit next() {
        const Visit visit{chunk, microbatch};
        if (--microbatch < 0) {
            microbatch = m - 1;
            --chunk;
        }
        return visit;
    }
};

Op* emit_looped_bfs(const ScheduleShape& s, int, Op* at) {
    const int m = s.microbatches, n = s.chunks * m;
    return wave(at, n, n, kWholeBackward, BreadthForwards{m}, BreadthBackwards{m, s.chunks - 1, m - 1});
}

// A chunk starts on device 0 once two things are true: the device is done with the chunk before, and the
// first micro-batch has passed the p devices. The backward does the same.
double bubble_looped_bfs(const ScheduleShape& s, const StageCost& k) {
    const int p = s.devices, m = s.microbatches, v = s.chunks;
    const double f = k.f / v, b = k.b() / v, send = p > 1 ? k.comm : 0;
    const double loop = (v - 1) * (std::max(m * f, p * (f + send)) + std::max(m * b, p * (b + send)));
    return loop + (m + p - 1) * (f + b) + 2 * (p - 1) * send - m * (k.f + k.b());
}

ClosedForm closed_looped_bfs(const ScheduleShape& s, const StageCost& k) {
    return {"(p-1)(F+B)/v", "sends cost nothing, m >= p", (s.devices - 1) * (k.f + k.b()) / s.chunks, false,
            k.comm == 0 && s.microbatches >= s.devices};
}

constexpr ChunkChoice kLoopedBfsChoices[]{{2, "breadth first over two chunks"}};

}  // namespace

extern const ScheduleRules kLoopedBfsRules{
    .traits = {.head_held = HeadHeld::all,
               .more_chunks = true,
               .torchtitan = "LoopedBFS",
               .term = "bfs",
               .paper = "Lamy-Poirier 2023, Breadth-First Pipeline Parallelism",
               .choices = kLoopedBfsChoices},
    .emit = emit_looped_bfs,
    .peak = [](const ScheduleShape& s, int) -> double { return s.microbatches; },
    .closed_form = closed_looped_bfs,
    .bubble = bubble_looped_bfs,
};

}  // namespace pentamesh
