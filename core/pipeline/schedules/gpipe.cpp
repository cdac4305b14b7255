// In gpipe every forward runs, then every backward in the same order. Huang et al. 2019.
#include "core/pipeline/schedules/rules.h"
#include "core/pipeline/schedules/wave.h"

namespace pentamesh {
namespace {

Op* emit_gpipe(const ScheduleShape& s, int, Op* at) {
    return wave(at, s.microbatches, s.microbatches, kWholeBackward, EachMicrobatch{}, EachMicrobatch{});
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
               .torchtitan = "GPipe",
               .nanotron = "afab",
               .term = "gpipe",
               .paper = "Huang et al. 2019, GPipe",
               .choices = kGPipeChoices},
    .chunks = 1,
    .chunks_because = "runs one chunk a device",
    .emit = emit_gpipe,
    .peak = [](const ScheduleShape& s, int) -> double { return s.microbatches; },
    .closed_form = closed_gpipe,
    .bubble = bubble_gpipe,
};

}  // namespace pentamesh
