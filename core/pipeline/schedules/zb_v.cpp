// zb-v has two chunks a device in a V (chunk 0 = stage i, chunk 1 = stage 2p-1-i), so that a micro-batch ends
// where it began, and a split backward. Qi et al. 2024 (Pipeline Parallelism with Controllable Memory);
// handcrafted rule of the zero-bubble repository.
#include "core/pipeline/schedules/rules.h"
#include "core/pipeline/schedules/wave.h"

#include <array>

namespace pentamesh {
namespace {

// The rule is written for at least 2p - 1 micro-batches; with fewer, those that do not exist are left out.
struct VWriter {
    Op* at;
    int m;
    std::array<int, 2> forwards{}, inputs{}, weights{};

    void put(OpKind kind, int chunk, std::array<int, 2>& counter) {
        const int microbatch = counter[chunk]++;
        if (microbatch < m) *at++ = op_of(kind, {chunk, microbatch});
    }
    void f(int chunk) { put(OpKind::F, chunk, forwards); }
    void i(int chunk) { put(OpKind::I, chunk, inputs); }
    void w(int chunk) { put(OpKind::W, chunk, weights); }
};

Op* emit_zb_v(const ScheduleShape& s, int device, Op* at) {
    const int p = s.devices, n = std::max(s.microbatches, 2 * p - 1);
    VWriter out{at, s.microbatches};
    for (int k = 0; k < 2 * (p - device) - 1; ++k) out.f(0);
    for (int k = 0; k < device; ++k) {
        out.f(1);
        out.f(0);
    }
    for (int k = 0; k < p - device; ++k) {
        out.f(1);
        out.i(1);
        out.w(1);
    }
    while (out.forwards[1] < n) {
        if (out.forwards[0] < n) out.f(0);
        out.i(0);
        out.w(0);
        out.f(1);
        out.i(1);
        out.w(1);
    }
    for (int k = 0; k < device; ++k) {
        out.i(0);
        out.i(1);
    }
    for (int k = 0; k < p - device; ++k) {
        out.i(0);
        out.w(0);
    }
    while (out.weights[1] < n) out.w(1);
    while (out.weights[0] < n) out.w(0);
    return out.at;
}

// Returns the number held when the first backward starts; later it is at most as much.
double peak_zb_v(const ScheduleShape& s, int device) {
    const int p = s.devices, m = s.microbatches;
    return (std::min(m, 2 * p - 1 - device) + std::min(m, device + 1)) / 2.0;
}

// Three chains bound the step; they were found from replays, within the tolerance that the tests state.
// `ramp` says that few micro-batches leave the V empty, each further one fills a forward, beyond p a weight
// gradient.
double bubble_zb_v(const ScheduleShape& s, const StageCost& k) {
    const int p = s.devices;
    if (p == 1) return 0;
    const int filled = std::min(s.microbatches, p) - 1;
    const int beyond = std::clamp(s.microbatches - p, 0, p - 1);
    const double ramp = (p - 1) * (k.f + k.i + 4 * k.comm) - filled * std::min(k.f, (k.f + k.i) / 2)
                        - beyond * k.w + 2 * k.comm * std::max(0, beyond - 1);
    const double uneven = std::max({0.0, k.f - k.i, k.w - k.f});
    const double slanted = (p - 1) * k.f / 2 + (p - 2) * uneven / 2 + (3 * p - 5) * k.comm;
    const double turns = (p - 1) * std::max(k.f, k.i) / 2 + (5 * p - 7) * k.comm;
    return std::max({ramp, slanted, turns});
}

ClosedForm closed_zb_v(const ScheduleShape& s, const StageCost& k) {
    return {"(p-1)(I-W)", "sends cost nothing, W <= F <= I, m >= 2p-1", (s.devices - 1) * (k.i - k.w), true,
            k.comm == 0 && k.w <= k.f && k.f <= k.i && s.microbatches >= 2 * s.devices - 1};
}

constexpr ChunkChoice kZbVChoices[]{{2, "V placement, no bubble within a span at 1F1B's memory"}};

}  // namespace

extern const ScheduleRules kZbVRules{
    .traits = {.placement = StagePlacement::v,
               .splits_backward = true,
               .torchtitan = "ZBVZeroBubble",
               .term = "zero-bubble",
               .paper = "Qi et al. 2024, Pipeline Parallelism with Controllable Memory",
               .choices = kZbVChoices},
    .chunks = 2,
    .chunks_because = "folds the model into a V of two chunks a device",
    .emit = emit_zb_v,
    .peak = peak_zb_v,
    .closed_form = closed_zb_v,
    .bubble = bubble_zb_v,
};

}  // namespace pentamesh
