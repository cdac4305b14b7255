// gpipe: every forward, then every backward in the same order. Huang et al. 2019.
#include "core/pipeline/schedules/rules.h"
#include "core/pipeline/schedules/wave.h"

namespace pentamesh {
namespace {

void refuse_gpipe(const ScheduleShape& s, ScheduleShape& mended, Refusal& out) {
    require_chunks(s, 1, "runs one chunk a device", mended, out);
}

bool accepts_gpipe(const ScheduleShape& s) {
    return s.chunks == 1;
}

Op* emit_gpipe(const ScheduleShape& s, int, Op* at) {
    return wave(at, s.microbatches, s.microbatches, kWholeBackward, EachMicrobatch{}, EachMicrobatch{});
}

double peak_gpipe(const ScheduleShape& s, int) {
    return s.microbatches;
}

double bubble_gpipe(const ScheduleShape& s, const StageCost& k) {
    return (s.devices - 1) * (k.f + k.b() + 2 * k.comm);
}

ClosedForm closed_gpipe(const ScheduleShape& s, const StageCost& k) {
    return {"(p-1)(F+B+2c)", "always", bubble_gpipe(s, k), false, true};
}

constexpr ChunkChoice kGPipeChoices[]{{1, "all forwards, then all backwards; holds every micro-batch"}};

}  // namespace

extern const ScheduleRules kGpipeRules{
    .traits = {.head_held = HeadHeld::all,
               .term = "gpipe",
               .paper = "Huang et al. 2019, GPipe",
               .choices = kGPipeChoices},
    .refuse = refuse_gpipe,
    .accepts = accepts_gpipe,
    .emit = emit_gpipe,
    .peak = peak_gpipe,
    .closed_form = closed_gpipe,
    .bubble = bubble_gpipe,
};

}  // namespace pentamesh
