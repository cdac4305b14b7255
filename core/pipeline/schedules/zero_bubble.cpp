// zb-h1 is 1f1b with the backward split; device i runs the weight gradients i micro-batches late, so that
// they fill the time when 1f1b would wait. Qi et al. 2023 (Zero Bubble Pipeline Parallelism), section 2.1.
// zb-h2 is zb-h1 with twice the warm-up, so that no device waits within its own span; devices then neither
// start nor end together. Qi et al. 2023 (Zero Bubble Pipeline Parallelism), section 2.2.
#include "core/pipeline/schedules/rules.h"

#include <array>

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

// zb-v has two chunks a device in a V (chunk 0 = stage i, chunk 1 = stage 2p-1-i), so that a micro-batch ends
// where it began, and a split backward. Qi et al. 2024 (Pipeline Parallelism with Controllable Memory);
// handcrafted rule of the zero-bubble repository.

namespace {

// The rule is written for at least 2p - 1 micro-batches; with fewer, those that do not exist are left out.
struct VWriter {
    Op* at;
    int m;
    std::array<int, 2> forwards{}, inputs{}, weights{};

    void put(OpKind kind, int chunk, std::array<int, 2>& counter) {
        const int microbatch = counter[chunk]++;
        if (microbatch < m) *at++ = op_of(kind, {chunk, microbatch});
    }
    void f(int chunk) { put(OpKind::F, chunk, forwards); }
    void i(int chunk) { put(OpKind::I, chunk, inputs); }
    void w(int chunk) { put(OpKind::W, chunk, weights); }
};

Op* emit_zb_v(const ScheduleShape& s, int device, Op* at) {
    const int p = s.devices, n = std::max(s.microbatches, 2 * p - 1);
    VWriter out{at, s.microbatches};
    for (int k = 0; k < 2 * (p - device) - 1; ++k) out.f(0);
    for (int k = 0; k < device; ++k) {
        out.f(1);
        out.f(0);
    }
    for (int k = 0; k < p - device; ++k) {
        out.f(1);
        out.i(1);
        out.w(1);
    }
    while (out.forwards[1] < n) {
        if (out.forwards[0] < n) out.f(0);
        out.i(0);
        out.w(0);
        out.f(1);
        out.i(1);
        out.w(1);
    }
    for (int k = 0; k < device; ++k) {
        out.i(0);
        out.i(1);
    }
    for (int k = 0; k < p - device; ++k) {
        out.i(0);
        out.w(0);
    }
    while (out.weights[1] < n) out.w(1);
    while (out.weights[0] < n) out.w(0);
    return out.at;
}

// Returns the number held when the first backward starts; later it is at most as much.
double peak_zb_v(const ScheduleShape& s, int device) {
    const int p = s.devices, m = s.microbatches;
    return (std::min(m, 2 * p - 1 - device) + std::min(m, device + 1)) / 2.0;
}

// Three chains bound the step; they were found from replays, within the tolerance that the tests state.
// `ramp` says that few micro-batches leave the V empty, each further one fills a forward, beyond p a weight
// gradient.
double bubble_zb_v(const ScheduleShape& s, const StageCost& k) {
    const int p = s.devices;
    if (p == 1) return 0;
    const int filled = std::min(s.microbatches, p) - 1;
    const int beyond = std::clamp(s.microbatches - p, 0, p - 1);
    const double ramp = (p - 1) * (k.f + k.i + 4 * k.comm) - filled * std::min(k.f, (k.f + k.i) / 2)
                        - beyond * k.w + 2 * k.comm * std::max(0, beyond - 1);
    const double uneven = std::max({0.0, k.f - k.i, k.w - k.f});
    const double slanted = (p - 1) * k.f / 2 + (p - 2) * uneven / 2 + (3 * p - 5) * k.comm;
    const double turns = (p - 1) * std::max(k.f, k.i) / 2 + (5 * p - 7) * k.comm;
    return std::max({ramp, slanted, turns});
}

ClosedForm closed_zb_v(const ScheduleShape& s, const StageCost& k) {
    return {"(p-1)(I-W)", "sends cost nothing, W <= F <= I, m >= 2p-1", (s.devices - 1) * (k.i - k.w), true,
            k.comm == 0 && k.w <= k.f && k.f <= k.i && s.microbatches >= 2 * s.devices - 1};
}

constexpr ChunkChoice kZbVChoices[]{{2, "V placement, no bubble within a span at 1F1B's memory"}};

}  // namespace

extern const ScheduleRules kZbVRules{
    .traits = {.placement = StagePlacement::v,
               .splits_backward = true,
               .torchtitan = "ZBVZeroBubble",
               .term = "zero-bubble",
               .paper = "Qi et al. 2024, Pipeline Parallelism with Controllable Memory",
               .choices = kZbVChoices},
    .chunks = 2,
    .chunks_because = "folds the model into a V of two chunks a device",
    .emit = emit_zb_v,
    .peak = peak_zb_v,
    .closed_form = closed_zb_v,
    .bubble = bubble_zb_v,
};

// In dualpipe two copies of the model run against each other, half of the micro-batches enter at either end;
// forward and backward of different micro-batches overlap. DeepSeek-AI 2024 (DeepSeek-V3), section 3.2.1.
// In dualpipev its order runs on one copy of the model, folded into a V of two chunks a device. Qi et al.
// ("cut in half") and the DualPipe repository's dualpipev.py.

namespace {

// Says what one device does in the eight phases that both share.
struct TwoWays {
    int half = 0;                           // h: devices from either end to the innermost one
    int from_end = 0;                       // r: this device's distance from its own end
    int each = 0;                           // n: micro-batches of each chunk
    int near = 0;                           // the chunk that this device's own end feeds first
    std::array<int, 2> first_microbatch{};  // of each chunk
};

// Writes the phases. DeepSeek-AI 2024 (DeepSeek-V3), figure 5; the DualPipe repository's step().
class TwoWaysWriter {
  public:
    TwoWaysWriter(const TwoWays& shape, Op* at) : shape_(shape), at_(at), owed_(at) {}
    Op* write() {
        const int near = shape_.near, far = 1 - near, r = shape_.from_end;
        const int to_middle = shape_.half - 1 - r;
        for (int k = 0; k < 2 * to_middle; ++k) forward(near);
        for (int k = 0; k < r + 1; ++k) {
            forward(near);
            forward(far);
        }
        for (int k = 0; k < to_middle; ++k) {
            backward(far, OpKind::I);
            weights();
            forward(far);
        }
        middle();
        for (int k = 0; k < to_middle; ++k) {
            backward(far, OpKind::B);
            overlapped(far, near);
        }
        ramp_down();
        for (int k = 0; k < to_middle; ++k) {
            weights();
            backward(near, OpKind::I);
        }
        for (int k = 0; k < r + 1; ++k) weights();
        return at_;
    }

  private:
    int take(std::array<int, 2>& counter, int chunk) const {
        const auto c = static_cast<std::size_t>(chunk);
        return shape_.first_microbatch[c] + counter[c]++;
    }

    void forward(int chunk) { *at_++ = op_of(OpKind::F, {chunk, take(forwards_, chunk)}); }

    void backward(int chunk, OpKind kind) { *at_++ = op_of(kind, {chunk, take(backwards_, chunk)}); }

    void overlapped(int forward_chunk, int backward_chunk) {
        Op op = op_of(OpKind::FB, {forward_chunk, take(forwards_, forward_chunk)});
        op.backward_chunk = static_cast<std::uint8_t>(backward_chunk);
        op.backward_microbatch = take(backwards_, backward_chunk);
        *at_++ = op;
    }

    // Writes the oldest weight gradient that is owed, of any chunk.
    void weights() {
        while (owed_->kind != OpKind::I) ++owed_;
        *at_++ = op_of(OpKind::W, {owed_->chunk, owed_->microbatch});
        ++owed_;
    }

    void middle() {
        const int near = shape_.near, far = 1 - near;
        const int pairs = shape_.each - 2 * shape_.half + shape_.from_end + 1;
        for (int k = 0; k < pairs; ++k) {
            // Innermost: its first pair has nothing to hide.
            if (k == 0 && shape_.from_end == shape_.half - 1) {
                forward(near);
                backward(far, OpKind::B);
            } else {
                overlapped(near, far);
            }
            overlapped(far, near);
        }
    }

    void ramp_down() {
        const int near = shape_.near, far = 1 - near, r = shape_.from_end;
        for (int k = 0; k < 2 * (r + 1); ++k)
            backward(k % 2 == 0 ? far : near, k < r + 1 ? OpKind::B : OpKind::I);
    }

    TwoWays shape_;
    Op* at_;
    Op* owed_;  // no weight gradient is owed for what was written before
    std::array<int, 2> forwards_{}, backwards_{};
};

// Says that a schedule needs two micro-batches a device.
void need_two_each(std::string_view name, int devices, int microbatches, ScheduleShape& mended,
                   Refusal& out) {
    complain(out, "/training/global_batch",
             std::string(name) + " needs at least 2 x pp = " + std::to_string(2 * devices)
                 + " micro-batches; there " + (microbatches == 1 ? "is " : "are ")
                 + std::to_string(microbatches) + ".");
    mended.microbatches = 2 * devices;
}

int settles_two_ways(const ScheduleShape& s) {
    return 2 * s.devices;
}

// ---- dualpipe -------------------------------------------------------------------------------------------

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
        need_two_each("dualpipe", p, m, mended, out);
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

// ---- dualpipev ------------------------------------------------------------------------------------------

bool accepts_dualpipev(const ScheduleShape& s) {
    return s.microbatches / 2 >= s.devices;
}

void refuse_dualpipev(const ScheduleShape& s, ScheduleShape& mended, Refusal& out) {
    if (!accepts_dualpipev(s)) need_two_each("dualpipev", s.devices, s.microbatches, mended, out);
}

Op* emit_dualpipev(const ScheduleShape& s, int device, Op* at) {
    TwoWays t;
    t.half = s.devices;
    t.from_end = device;
    t.each = s.microbatches;
    return TwoWaysWriter(t, at).write();
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
    // While an overlapped pair runs, the new forward is held together with the backward that is not done:
    // that is the 1 in p + 1.
    .peak = [](const ScheduleShape& s, int) -> double { return s.devices + 1; },
    .closed_form = closed_dualpipe,
    .bubble = bubble_dualpipe,
    .settles = settles_two_ways,
};

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
    .peak = [](const ScheduleShape& s, int) -> double { return s.devices + 0.5; },
    .closed_form = closed_dualpipev,
    .bubble = bubble_dualpipev,
    .settles = settles_two_ways,
};

}  // namespace pentamesh
