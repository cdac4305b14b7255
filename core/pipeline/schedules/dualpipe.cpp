// In dualpipe two copies of the model run against each other, half of the micro-batches enter at either end;
// forward and backward of different micro-batches overlap. DeepSeek-AI 2024 (DeepSeek-V3), section 3.2.1.
// In dualpipev its order runs on one copy of the model, folded into a V of two chunks a device. Qi et al.
// ("cut in half") and the DualPipe repository's dualpipev.py.
#include "core/pipeline/schedules/rules.h"
#include "core/pipeline/schedules/wave.h"

#include <array>

namespace pentamesh {
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
