// zb-h1 is 1f1b with the backward split; device i runs the weight gradients i micro-batches late, so that
// they fill the time when 1f1b would wait. Qi et al. 2023 (Zero Bubble Pipeline Parallelism), section 2.1.
#include "core/pipeline/schedules/rules.h"
#include "core/pipeline/schedules/wave.h"

namespace pentamesh {
namespace {

Op* emit_zb_h1(const ScheduleShape& s, int device, Op* at) {
    return wave(at, s.microbatches, s.devices - 1 - device, device, EachMicrobatch{}, EachMicrobatch{});
}

double peak_zb_h1(const ScheduleShape& s, int) {
    return std::min(s.devices, s.microbatches);
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

int settles_zb_h1(const ScheduleShape& s) {
    return s.devices;
}

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
    .peak = peak_zb_h1,
    .closed_form = closed_zb_h1,
    .bubble = bubble_zb_h1,
    .settles = settles_zb_h1,
};

}  // namespace pentamesh
