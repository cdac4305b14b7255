// In gpipe every forward runs, then every backward in the same order. Huang et al. 2019.
#include "core/pipeline/schedules/rules.h"

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

// In 1f1b device i runs p-1-i forwards ahead, then one forward and one backward in turn. PipeDream-flush;
// Narayanan et al. 2021.

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

// In interleaved 1f1b runs over v chunks a device, micro-batches in groups of g that pass all chunks before
// the next group starts. Narayanan et al. 2021, section 2.2; Megatron-LM's get_schedule_table and its
// refusals.

namespace {

int group_of(const ScheduleShape& s) {
    return s.group > 0 ? s.group : s.devices;
}

// Megatron requires p <= g <= m, and that a last, shorter group holds at least p micro-batches.
bool group_works(int p, int m, int g) {
    return g >= p && g <= m && (m % g == 0 || m % g >= p);
}

bool accepts_interleaved(const ScheduleShape& s) {
    return s.devices > 1 && s.chunks > 1 && group_works(s.devices, s.microbatches, group_of(s));
}

// Returns the acceptable group nearest to g, the smaller of two as near (it holds less). With m >= p, m
// itself is one.
int nearest_group(int p, int m, int g) {
    const int wanted = std::clamp(g, p, m);
    for (int away = 0; away <= m; ++away) {
        if (group_works(p, m, wanted - away)) return wanted - away;
        if (group_works(p, m, wanted + away)) return wanted + away;
    }
    return m;
}

void refuse_group(const ScheduleShape& s, ScheduleShape& mended, Refusal& out) {
    const int p = mended.devices, m = s.microbatches;
    const int g = s.group > 0 ? s.group : p;
    const std::string counts = std::to_string(m) + (m == 1 ? " micro-batch" : " micro-batches");
    if (m < p) {
        complain(out, "/training/global_batch",
                 "interleaved needs at least as many micro-batches as stages: " + std::to_string(p)
                     + "; there " + (m == 1 ? "is " : "are ") + std::to_string(m) + ".");
        mended.microbatches = p;
        if (s.group > 0 && s.group != p) mended.group = 0;
        return;
    }
    if (group_works(p, m, g)) return;
    if (g < p || g > m) {
        complain(out, "/layout/microbatch_group",
                 "The micro-batch group of interleaved lies between pp = " + std::to_string(p) + " and the "
                     + counts + "; it is " + std::to_string(g) + ".");
        mended.group = nearest_group(p, m, g);
        return;
    }
    const std::string rest = "interleaved runs " + counts + " in groups of " + std::to_string(g)
                             + ", which leaves a last group of " + std::to_string(m % g)
                             + ": it must hold at least pp = " + std::to_string(p) + " or nothing.";
    if (s.group > 0) {
        complain(out, "/layout/microbatch_group", rest);
        mended.group = nearest_group(p, m, g);
    } else {
        complain(out, "/training/global_batch", rest);
        mended.microbatches = m + g - m % g;
    }
}

void refuse_interleaved(const ScheduleShape& s, ScheduleShape& mended, Refusal& out) {
    if (s.devices < 2) {
        complain(out, "/layout/pp", "interleaved needs at least 2 pipeline stages; pp is 1.");
        mended.devices = 2;
    }
    if (s.chunks < 2) {
        complain(out, "/layout/virtual_stages",
                 "interleaved needs at least 2 chunks a device (with one it is 1f1b): virtual_stages is 1.");
        mended.chunks = 2;
    }
    refuse_group(s, mended, out);
}

// Goes group by group: all its micro-batches on the first chunk, then on the next ... The backward list is
// the same with the chunks in reverse.
struct Grouped {
    int m, g, v;
    bool reversed;
    int group_begin = 0, chunk = 0, offset = 0;

    Visit next() {
        const Visit visit{reversed ? v - 1 - chunk : chunk, group_begin + offset};
        const int size = std::min(g, m - group_begin);
        if (++offset == size) {
            offset = 0;
            if (++chunk == v) {
                chunk = 0;
                group_begin += size;
            }
        }
        return visit;
    }
};

int warm_up(const ScheduleShape& s, int device) {
    return (s.chunks - 1) * group_of(s) + 2 * (s.devices - 1 - device);
}

Op* emit_interleaved(const ScheduleShape& s, int device, Op* at) {
    const int m = s.microbatches, g = group_of(s), v = s.chunks;
    return wave(at, v * m, warm_up(s, device), kWholeBackward, Grouped{m, g, v, false},
                Grouped{m, g, v, true});
}

double peak_interleaved(const ScheduleShape& s, int device) {
    const double held = warm_up(s, device) + 1.0;
    return std::min(held / s.chunks, static_cast<double>(s.microbatches));
}

double bubble_interleaved(const ScheduleShape& s, const StageCost& k) {
    const int p = s.devices, v = s.chunks, m = s.microbatches, g = group_of(s);
    const int last = m % g == 0 ? g : m % g;
    const double f = k.f / v, b = k.b() / v;
    const double late = std::max(0.0, p * (f + k.comm) - g * f) + std::max(0.0, p * (b + k.comm) - last * b);
    const double steady = std::max(0.0, p * (k.comm - f) - (g - p) * (f + b)) * (m - g) / g;
    return (p - 1) * (f + b + 2 * k.comm) + (v - 1) * (late + steady);
}

ClosedForm closed_interleaved(const ScheduleShape& s, const StageCost& k) {
    return {"(p-1)(F+B)/v", "sends cost nothing, m a multiple of p",
            (s.devices - 1) * (k.f + k.b()) / s.chunks, false,
            k.comm == 0 && s.microbatches % s.devices == 0 && group_of(s) == s.devices};
}

constexpr ChunkChoice kInterleavedChoices[]{{2, "two chunks a stage: half the bubble, twice the messages"},
                                            {4, "four chunks a stage"},
                                            {8, "eight chunks a stage"}};

}  // namespace

extern const ScheduleRules kInterleavedRules{
    .traits = {.more_chunks = true,
               .in_groups = true,
               .in_megatron = true,
               .torchtitan = "Interleaved1F1B",
               .term = "interleaved",
               .paper = "Narayanan et al. 2021, section 2.2",
               .choices = kInterleavedChoices},
    .refuse = refuse_interleaved,
    .accepts = accepts_interleaved,
    .emit = emit_interleaved,
    .peak = peak_interleaved,
    .closed_form = closed_interleaved,
    .bubble = bubble_interleaved,
};

// In looped-bfs every micro-batch runs on one chunk before the next chunk (breadth first); then they go back
// from the last chunk to the first and from the last micro-batch to the first. Lamy-Poirier 2023;
// torch.distributed.pipelining.

namespace {

struct BreadthForwards {
    int m;
    int chunk = 0, microbatch = 0;
    Visit next() {
        const Visit visit{chunk, microbatch};
        if (++microbatch == m) {
            microbatch = 0;
            ++chunk;
        }
        return visit;
    }
};

struct BreadthBackwards {
    int m;
    int chunk, microbatch;
    Visit next() {
        const Visit visit{chunk, microbatch};
        if (--microbatch < 0) {
            microbatch = m - 1;
            --chunk;
        }
        return visit;
    }
};

Op* emit_looped_bfs(const ScheduleShape& s, int, Op* at) {
    const int m = s.microbatches, n = s.chunks * m;
    return wave(at, n, n, kWholeBackward, BreadthForwards{m}, BreadthBackwards{m, s.chunks - 1, m - 1});
}

// A chunk starts on device 0 once two things are true: the device is done with the chunk before, and the
// first micro-batch has passed the p devices. The backward does the same.
double bubble_looped_bfs(const ScheduleShape& s, const StageCost& k) {
    const int p = s.devices, m = s.microbatches, v = s.chunks;
    const double f = k.f / v, b = k.b() / v, send = p > 1 ? k.comm : 0;
    const double loop = (v - 1) * (std::max(m * f, p * (f + send)) + std::max(m * b, p * (b + send)));
    return loop + (m + p - 1) * (f + b) + 2 * (p - 1) * send - m * (k.f + k.b());
}

ClosedForm closed_looped_bfs(const ScheduleShape& s, const StageCost& k) {
    return {"(p-1)(F+B)/v", "sends cost nothing, m >= p", (s.devices - 1) * (k.f + k.b()) / s.chunks, false,
            k.comm == 0 && s.microbatches >= s.devices};
}

constexpr ChunkChoice kLoopedBfsChoices[]{{2, "breadth first over two chunks"}};

}  // namespace

extern const ScheduleRules kLoopedBfsRules{
    .traits = {.head_held = HeadHeld::all,
               .more_chunks = true,
               .torchtitan = "LoopedBFS",
               .term = "bfs",
               .paper = "Lamy-Poirier 2023, Breadth-First Pipeline Parallelism",
               .choices = kLoopedBfsChoices},
    .emit = emit_looped_bfs,
    .peak = [](const ScheduleShape& s, int) -> double { return s.microbatches; },
    .closed_form = closed_looped_bfs,
    .bubble = bubble_looped_bfs,
};

}  // namespace pentamesh
