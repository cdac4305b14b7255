// In 1f1b device i runs p-1-i forwards ahead, then one forward and one backward in turn. PipeDream-flush;
// Narayanan et al. 2021.
#include "core/pipeline/schedules/rules.h"
#include "core/pipeline/schedules/wave.h"

namespace pentamesh {
namespace {

Op* emit_1f1b(const ScheduleShape& s, int device, Op* at) {
    return wave(at, s.microbatches, s.devices - 1 - device, kWholeBackward, EachMicrobatch{},
                EachMicrobatch{});
}

// The longest path falls to the last device, climbs back j devices and falls again, and so on. A turn over
// j + 1 devices takes j + 1 micro-batches and 2j sends. So the fewest turns, of p micro-batches each, send
// the most.
double bubble_1f1b(const ScheduleShape& s, const StageCost& k) {
    const int p = s.devices, later = s.microbatches - 1;
    const int turns = (later + p - 1) / p;
    return (p - 1) * (k.f + k.b()) + 2 * k.comm * (p - 1 + later - turns);
}

ClosedForm closed_1f1b(const ScheduleShape& s, const StageCost& k) {
    return {"(p-1)(F+B)", "sends cost nothing", (s.devices - 1) * (k.f + k.b()), false, k.comm == 0};
}

constexpr ChunkChoice kOneFOneBChoices[]{{1, "one forward, one backward; holds at most p micro-batches"}};

}  // namespace

extern const ScheduleRules kOneFOneBRules{
    .traits = {.in_megatron = true,
               .torchtitan = "1F1B",
               .nanotron = "1f1b",
               .term = "1f1b",
               .paper = "Narayanan et al. 2019, PipeDream, and 2021, section 2.2",
               .choices = kOneFOneBChoices},
    .chunks = 1,
    .chunks_because = "runs one chunk a device (several are the interleaved schedule)",
    .emit = emit_1f1b,
    .peak = [](const ScheduleShape& s, int device) -> double {
        return std::min(s.devices - device, s.microbatches);
    },
    .closed_form = closed_1f1b,
    .bubble = bubble_1f1b,
    .settles = [](const ScheduleShape&) { return 1; },
};

}  // namespace pentamesh
