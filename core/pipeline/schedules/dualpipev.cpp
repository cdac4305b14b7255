// In dualpipev dualpipe's order runs on one copy of the model, folded into a V of two chunks a device. Qi et
// al. ("cut in half") and the DualPipe repository's dualpipev.py.
#include "core/pipeline/schedules/bidirectional.h"
#include "core/pipeline/schedules/rules.h"

namespace pentamesh {
namespace {

bool accepts_dualpipev(const ScheduleShape& s) {
    return s.microbatches / 2 >= s.devices;
}

void refuse_dualpipev(const ScheduleShape& s, ScheduleShape& mended, Refusal& out) {
    if (s.microbatches / 2 >= s.devices) return;
    complain(out, "/training/global_batch",
             "dualpipev needs at least 2 x pp = " + std::to_string(2 * s.devices) + " micro-batches; there "
                 + (s.microbatches == 1 ? "is " : "are ") + std::to_string(s.microbatches) + ".");
    mended.microbatches = 2 * s.devices;
}

Op* emit_dualpipev(const ScheduleShape& s, int device, Op* at) {
    TwoWays t;
    t.half = s.devices;
    t.from_end = device;
    t.each = s.microbatches;
    return TwoWaysWriter(t, at).write();
}

double peak_dualpipev(const ScheduleShape& s, int) {
    return s.devices + 0.5;
}

// It is exact without sends where F >= I; the number of sends on the longest path is found from replays.
double bubble_dualpipev(const ScheduleShape& s, const StageCost& k) {
    const double p = s.devices;
    if (s.devices == 1) return 0;
    const double sends = 2 * s.microbatches * (p - 1) / p + (k.i > k.f ? 4 * p - 6 : 2.5 * p - 4.5);
    return (p - 1) * (2 * k.f + std::max(0.0, k.i - k.w)) / 2 + sends * k.comm;
}

ClosedForm closed_dualpipev(const ScheduleShape& s, const StageCost& k) {
    return {"(p-1)(2F+max(0,I-W))/2", "sends cost nothing, F >= I, an overlapped pair takes F + B",
            (s.devices - 1) * (2 * k.f + std::max(0.0, k.i - k.w)) / 2, false, k.comm == 0 && k.f >= k.i};
}

constexpr ChunkChoice kDualPipeVChoices[]{{2, "DualPipe folded to a V, one copy"}};

int settles_dualpipev(const ScheduleShape& s) {
    return 2 * s.devices;
}

}  // namespace

extern const ScheduleRules kDualpipevRules{
    .traits = {.placement = StagePlacement::v,
               .splits_backward = true,
               .overlaps_pairs = true,
               .torchtitan = "DualPipeV",
               .term = "dualpipe",
               .paper = "deepseek-ai/DualPipe, dualpipev.py, after Qi et al. 2024",
               .choices = kDualPipeVChoices},
    .chunks = 2,
    .chunks_because = "folds the model into a V of two chunks a device",
    .refuse = refuse_dualpipev,
    .accepts = accepts_dualpipev,
    .emit = emit_dualpipev,
    .peak = peak_dualpipev,
    .closed_form = closed_dualpipev,
    .bubble = bubble_dualpipev,
    .settles = settles_dualpipev,
};

}  // namespace pentamesh
