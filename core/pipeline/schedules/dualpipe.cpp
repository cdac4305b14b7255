// In dualpipe two copies of the model run against each other, half of the micro-batches enter at either end;
// forward and backward of different micro-batches overlap. DeepSeek-AI 2024 (DeepSeek-V3), section 3.2.1.
#include "core/pipeline/schedules/bidirectional.h"
#include "core/pipeline/schedules/rules.h"

namespace pentamesh {
namespace {

bool accepts_dualpipe(const ScheduleShape& s) {
    return s.devices % 2 == 0 && s.microbatches % 2 == 0 && s.microbatches / 2 >= s.devices;
}

void refuse_dualpipe(const ScheduleShape& s, ScheduleShape& mended, Refusal& out) {
    if (s.devices % 2 != 0) {
        const bool more = s.devices == 1 || s.microbatches / 2 >= s.devices + 1;
        mended.devices = more ? s.devices + 1 : s.devices - 1;
        complain(out, "/layout/pp",
                 "dualpipe mirrors the devices, so their number is even; pp is " + std::to_string(s.devices)
                     + ".");
    }
    const int p = mended.devices, m = s.microbatches;
    if (m / 2 < p) {
        complain(out, "/training/global_batch",
                 "dualpipe needs at least 2 x pp = " + std::to_string(2 * p) + " micro-batches; there "
                     + (m == 1 ? "is " : "are ") + std::to_string(m) + ".");
        mended.microbatches = 2 * p;
    } else if (m % 2 != 0) {
        complain(
            out, "/training/global_batch",
            "dualpipe feeds half of the micro-batches from either end, so their number is even; there are "
                + std::to_string(m) + ".");
        mended.microbatches = m + 1;
    }
}

Op* emit_dualpipe(const ScheduleShape& s, int device, Op* at) {
    const int p = s.devices;
    TwoWays t;
    t.half = p / 2;
    t.from_end = std::min(device, p - 1 - device);
    t.each = s.microbatches / 2;
    t.near = device < t.half ? 0 : 1;
    t.first_microbatch = {0, t.each};
    return TwoWaysWriter(t, at).write();
}

// While an overlapped pair runs, the new forward is held together with the backward that is not done: that is
// the 1 in p + 1.
double peak_dualpipe(const ScheduleShape& s, int) {
    return s.devices + 1;
}

// It is exact without sends where F >= I; the number of sends on the longest path is found from replays.
double bubble_dualpipe(const ScheduleShape& s, const StageCost& k) {
    const double p = s.devices, sends = s.microbatches * (p - 1) / p + std::max(1.0, 1.5 * p - 3);
    return (p / 2 - 1) * (2 * k.f + std::max(0.0, k.i - k.w)) + sends * k.comm;
}

ClosedForm closed_dualpipe(const ScheduleShape& s, const StageCost& k) {
    return {"(p/2-1)(2F+max(0,I-W))", "sends cost nothing, F >= I, an overlapped pair takes F + B",
            (s.devices / 2.0 - 1) * (2 * k.f + std::max(0.0, k.i - k.w)), false, k.comm == 0 && k.f >= k.i};
}

constexpr ChunkChoice kDualPipeChoices[]{{1, "two directions, two copies of the parameters"}};

int settles_dualpipe(const ScheduleShape& s) {
    return 2 * s.devices;
}

}  // namespace

extern const ScheduleRules kDualpipeRules{
    .traits = {.placement = StagePlacement::two_copies,
               .splits_backward = true,
               .overlaps_pairs = true,
               .term = "dualpipe",
               .paper = "DeepSeek-AI 2024, DeepSeek-V3, section 3.2.1",
               .choices = kDualPipeChoices},
    .chunks = 1,
    .chunks_because = "gives each device one stage of either copy",
    .refuse = refuse_dualpipe,
    .accepts = accepts_dualpipe,
    .emit = emit_dualpipe,
    .peak = peak_dualpipe,
    .closed_form = closed_dualpipe,
    .bubble = bubble_dualpipe,
    .settles = settles_dualpipe,
};

}  // namespace pentamesh
