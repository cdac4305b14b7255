// zb-h1: 1f1b with the backward split; device i runs the weight gradients i micro-batches late, so that they
// fill the time when 1f1b would wait. Qi et al. 2023 (Zero Bubble Pipeline Parallelism), section 2.1.
#include "core/schedules/rules.h"
#include "core/schedules/wave.h"

namespace pentamesh {
namespace {

void refuse_zb_h1(const ScheduleShape& s, ScheduleShape& mended, Refusal& out) {
    require_chunks(s, 1, "runs one chunk a device", mended, out);
}

bool accepts_zb_h1(const ScheduleShape& s) {
    return s.chunks == 1;
}

Op* emit_zb_h1(const ScheduleShape& s, int device, Op* at) {
    return wave(at, s.microbatches, s.devices - 1 - device, device, EachMicrobatch{}, EachMicrobatch{});
}

double peak_zb_h1(const ScheduleShape& s, int) {
    return std::min(s.devices, s.microbatches);
}

double bubble_zb_h1(const ScheduleShape& s, const StageCost& k) {
    return (s.devices - 1) * (k.f + k.i - std::min({k.f, k.i, k.w}) + 4 * k.comm);
}

ClosedForm closed_zb_h1(const ScheduleShape& s, const StageCost& k) {
    return {"(p-1)(F+I-min(F,I,W))", "sends cost nothing, m >= p",
            (s.devices - 1) * (k.f + k.i - std::min({k.f, k.i, k.w})), false,
            k.comm == 0 && s.microbatches >= s.devices};
}

}  // namespace

const ScheduleRules kZbH1Rules{refuse_zb_h1, accepts_zb_h1, emit_zb_h1,
                               peak_zb_h1,   closed_zb_h1,  bubble_zb_h1};

}  // namespace pentamesh
