// zb-h2 is zb-h1 with twice the warm-up, so that no device waits within its own span; devices then neither
// start nor end together. Qi et al. 2023 (Zero Bubble Pipeline Parallelism), section 2.2.
#include "core/pipeline/schedules/rules.h"
#include "core/pipeline/schedules/wave.h"

namespace pentamesh {
namespace {

void refuse_zb_h2(const ScheduleShape& s, ScheduleShape& mended, Refusal& out) {
    const int least = 2 * s.devices;
    if (s.microbatches >= least) return;
    complain(out, "/training/global_batch",
             "zb-h2 reaches a steady state from 2 x pp = " + std::to_string(least)
                 + " micro-batches on; there are " + std::to_string(s.microbatches) + ".");
    mended.microbatches = least;
}

bool accepts_zb_h2(const ScheduleShape& s) {
    return s.microbatches / 2 >= s.devices;
}

Op* emit_zb_h2(const ScheduleShape& s, int device, Op* at) {
    return wave(at, s.microbatches, 2 * (s.devices - 1 - device), 2 * device, EachMicrobatch{},
                EachMicrobatch{});
}

double peak_zb_h2(const ScheduleShape& s, int) {
    return std::min(2 * s.devices - 1, s.microbatches);
}

double bubble_zb_h2(const ScheduleShape& s, const StageCost& k) {
    const double round_trip = 2 * k.comm;
    return (s.devices - 1)
           * std::max({k.f + k.comm, k.i - k.f + round_trip, k.f + k.i + round_trip - 2 * k.w});
}

ClosedForm closed_zb_h2(const ScheduleShape& s, const StageCost& k) {
    const double round_trip = 2 * k.comm;
    return {"(p-1) max(0, I-F+2c, F+I+2c-2W)", "m >= 2p, 2c <= F+I",
            (s.devices - 1) * std::max({0.0, k.i - k.f + round_trip, k.f + k.i + round_trip - 2 * k.w}), true,
            round_trip <= k.f + k.i};
}

constexpr ChunkChoice kZbH2Choices[]{{1, "no bubble within a stage's span, twice the memory"}};

}  // namespace

extern const ScheduleRules kZbH2Rules{
    .traits = {.splits_backward = true,
               .head_held = HeadHeld::all,
               .term = "zero-bubble",
               .paper = "Qi et al. 2023, Zero Bubble Pipeline Parallelism",
               .choices = kZbH2Choices},
    .chunks = 1,
    .chunks_because = "runs one chunk a device",
    .refuse = refuse_zb_h2,
    .accepts = accepts_zb_h2,
    .emit = emit_zb_h2,
    .peak = peak_zb_h2,
    .closed_form = closed_zb_h2,
    .bubble = bubble_zb_h2,
};

}  // namespace pentamesh
