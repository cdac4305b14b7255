// In interleaved 1f1b runs over v chunks a device, micro-batches in groups of g that pass all chunks before
// the next group starts. Narayanan et al. 2021, section 2.2; Megatron-LM's get_schedule_table and its
// refusals.
#include "core/pipeline/schedules/rules.h"
#include "core/pipeline/schedules/wave.h"

namespace pentamesh {
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

}  // namespace pentamesh
