// zb-h1 is 1f1b with the backward split; device i runs the weight gradients i micro-batches late, so that
// they fill the time when 1f1b would wait. Qi et al. 2023 (Zero Bubble Pipeline Parallelism), section 2.1.
// zb-h2 is zb-h1 with twice the warm-up, so that no device waits within its own span; devices then neither
// start nor end together. Qi et al. 2023 (Zero Bubble Pipeline Parallelism), section 2.2.
#include "core/pipeline/schedules/rules.h"
#include "core/pipeline/schedules/wave.h"

namespace pentamesh {
namespace {

Op* emit_zb_h1(const ScheduleShape& s, int device, Op* at) {
    return wave(at, s.microbatches, s.devices - 1 - device, device, EachMicrobatch{}, EachMicrobatch{});
}

// The turns are those of 1f1b's longest path (see there): weight gradients fill the waits of a turn as far as
// they suffice.
double bubble_zb_h1(const ScheduleShape& s, const StageCost& k) {
    const int p = s.devices, later = s.microbatches - 1;
    const int first = std::min(p - 1, later);             // micro-batches that find W still to come
    const int round_trips = later - (later + p - 1) / p;  // as many wait for a send to and fro
    const int first_trips = std::min(first, round_trips);
    const double fill = -std::min({k.f, k.i, k.w}), trip = 2 * k.comm - k.w;
    return (p - 1) * (k.f + k.i + 2 * k.comm) + first_trips * std::max({-k.f, -k.i, trip})
           + (first - first_trips) * fill + (round_trips - first_trips) * std::max(0.0, trip);
}

ClosedForm closed_zb_h1(const ScheduleShape& s, const StageCost& k) {
    return {"(p-1)(F+I-min(F,I,W))", "sends cost nothing, m >= p",
            (s.devices - 1) * (k.f + k.i - std::min({k.f, k.i, k.w})), false,
            k.comm == 0 && s.microbatches >= s.devices};
}

constexpr ChunkChoice kZbH1Choices[]{{1, "backward split in two; weight gradients fill the bubble"}};

void refuse_zb_h2(const ScheduleShape& s, ScheduleShape& mended, Refusal& out) {
    const int least = 2 * s.devices;
    if (s.microbatches >= least) return;
    complain(out, "/training/global_batch",
             "zb-h2 reaches a steady state from 2 x pp = " + std::to_string(least)
                 + " micro-batches on; there are " + std::to_string(s.microbatches) + ".");
    mended.microbatches = least;
}

Op* emit_zb_h2(const ScheduleShape& s, int device, Op* at) {
    return wave(at, s.microbatches, 2 * (s.devices - 1 - device), 2 * device, EachMicrobatch{},
                EachMicrobatch{});
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

extern const ScheduleRules kZbH1Rules{
    .traits = {.splits_backward = true,
               .head_held = HeadHeld::all,
               .term = "zero-bubble",
               .paper = "Qi et al. 2023, Zero Bubble Pipeline Parallelism",
               .choices = kZbH1Choices},
    .chunks = 1,
    .chunks_because = "runs one chunk a device",
    .emit = emit_zb_h1,
    .peak = [](const ScheduleShape& s, int) -> double { return std::min(s.devices, s.microbatches); },
    .closed_form = closed_zb_h1,
    .bubble = bubble_zb_h1,
    .settles = [](const ScheduleShape& s) { return s.devices; },
};

extern const ScheduleRules kZbH2Rules{
    .traits = {.splits_backward = true,
               .head_held = HeadHeld::all,
               .term = "zero-bubble",
               .paper = "Qi et al. 2023, Zero Bubble Pipeline Parallelism",
               .choices = kZbH2Choices},
    .chunks = 1,
    .chunks_because = "runs one chunk a device",
    .refuse = refuse_zb_h2,
    .accepts = [](const ScheduleShape& s) { return s.microbatches / 2 >= s.devices; },
    .emit = emit_zb_h2,
    .peak = [](const ScheduleShape& s, int) -> double { return std::min(2 * s.devices - 1, s.microbatches); },
    .closed_form = closed_zb_h2,
    .bubble = bubble_zb_h2,
};

}  // namespace pentamesh
