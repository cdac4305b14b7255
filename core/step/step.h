// Finds how long a step takes: compute by roofline, communication by alpha-beta, schedule, overlap,
// stragglers. docs/step.md has the model and its fit.
#pragma once

#include "core/comm/comm.h"
#include "core/pipeline/timeline.h"
#include "core/pipeline/trace.h"
#include "core/step/compute.h"
#include "core/step/constants.h"
#include "core/step/lanes.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh {

// Holds compute beyond what its FLOPs take at the peak, in seconds: of products, of attention cores and
// scans, of kernels that only move bytes (norms, additions, activations, the loss), and of waiting for the
// host's starts.
struct BelowPeak {
    double products = 0, attention = 0, moving = 0, starts = 0;
    bool operator==(const BelowPeak&) const = default;
};

// Every part is in seconds; they sum to time_s. Exposed communication is that of the device that works
// longest (Comm::busiest_device).
struct Step {
    double time_s = 0;
    // Compute and recompute are those of the average stage; the bubble is the time that stage waits in the
    // pipeline.
    double compute_s = 0, recompute_s = 0, bubble_s = 0, optimizer_s = 0, straggler_s = 0;
    double uneven_s = 0;             // of bubble_s: the wait for the longest stage, which has more to compute
    double slowed_by_traffic_s = 0;  // compute next to traffic takes so much longer
    double slowed_once_s = 0;        // of it: next to what happens once a step, outside the pipeline's passes
    double offload_s = 0;            // the GPU waits for the link to host memory (core/step/offload.h)
    double offload_once_s = 0;       // of it: once a step, outside the pipeline's passes
    EnumArray<GroupKind, double> exposed_comm_s{};
    double ideal_s = 0;  // of compute_s: the model's FLOPs, masked half of attention left out, at the peak
    BelowPeak below;     // the rest of compute_s, by what takes it; only in a report
    double model_flops_per_gpu = 0;  // per step
    double tflops_per_gpu = 0;       // model FLOPs, in units of 1e12 per second
    double mfu = 0, hfu = 0;
    double tokens_per_s = 0, tokens_per_step = 0;
    // Half of measured runs like this one lie within time_s / (1 + error) and time_s * (1 + error). Nine of
    // ten do with error_90 (core/step/constants.h).
    double error = 0, error_90 = 0;
    double nearest_run = 0;       // distance of the nearest of these runs; kFarRun and more: none is near
    std::int64_t calibrated = 0;  // own runs that the range is from; 0: the program's
    double straggler_bound = 0;   // cv sqrt(2 ln N), the share that the bound would add
    bool operator==(const Step&) const = default;
};

// Holds exposed communication of a micro-batch on one unit of the model, by the axes that a layer
// communicates on.
struct UnitComm {
    enum { kTp, kCp, kEp, kEtp, kAxes };
    std::array<double, kAxes> forward{}, backward{};
    [[nodiscard]] double sum(Phase phase) const {
        double s = 0;
        for (const double t : phase == Phase::forward ? forward : backward) s += t;
        return s;
    }
    void add(const UnitComm& from, double times) {
        for (std::size_t i = 0; i < kAxes; ++i) {
            forward[i] += from.forward[i] * times;
            backward[i] += from.backward[i] * times;
        }
    }
    bool operator==(const UnitComm&) const = default;
};

// Holds seconds that compute takes longer because traffic runs next to it.
struct SlowedTime {
    double forward = 0, backward = 0;
    bool operator==(const SlowedTime&) const = default;
};

// Holds seconds that the passes of a micro-batch wait for the link to host memory.
struct OffloadWaits {
    double forward = 0, backward = 0;
    [[nodiscard]] double all() const { return forward + backward; }
    bool operator==(const OffloadWaits&) const = default;
};

// Holds what is waited for by the calls of data parallelism's state, by their rows: the n-th is the n-th such
// row of Comm::operations.
inline constexpr std::size_t kMostStateRows = 8;  // list_state_calls, for dense weights and for experts
struct StateWaits {
    std::array<double, kMostStateRows> row{};
    std::array<WaitsBecause, kMostStateRows> because{};
    double forward = 0, backward = 0;  // sums of the rows, by the pass that waits
    SlowedTime slowed;
    bool operator==(const StateWaits&) const = default;
};

// This is one layer of a type, one micro-batch.
struct LayerWork {
    UnitComm comm;
    UnitComm recomputed;         // in addition, for a layer that is recomputed
    double recompute = 0;        // time that this adds to the backward
    double recompute_waits = 0;  // of it: for the host
    SlowedTime slowed;           // of the compute, next to the layer's own calls
    double slowed_again = 0;     // in addition, for a layer that is recomputed
    bool operator==(const LayerWork&) const = default;
};

// Holds everything of one micro-batch on a chunk, by part.
struct ChunkWork {
    PassTime compute;
    double recompute = 0;
    UnitComm comm;
    SlowedTime slowed;  // of the compute, next to any traffic
    StateWaits state;   // for gathers and reductions of every micro-batch
    OffloadWaits offload;
    ChunkCost cost;  // sum of these, and of the sends that nothing hides
    bool operator==(const ChunkWork&) const = default;
};

// Holds the parts of a step before a schedule orders it. Units are as in comm.h.
struct StepWork {
    LayerTimes times;
    PerType<LayerWork> layer;      // by type (model.h)
    std::vector<ChunkWork> chunk;  // by Stages::chunk_kind
    UnitComm embedding, head;
    double send_s = 0;        // one message to a neighbouring stage
    double microbatches = 0;  // per step and replica
    [[nodiscard]] const LayerWork& of(int type) const { return layer[type]; }
    void clear() {
        times.layer.resize(0), layer.resize(0);
        times.embedding = times.head = times.mtp = {};
        times.head_moving = 0;
        embedding = head = {};
        chunk.clear();
        send_s = microbatches = 0;
    }
    bool operator==(const StepWork&) const = default;
};

// Times every call of `comm` and fills the costs of each chunk, which run_timeline replays. With `report` it
// also counts the rows for the device that works longest; without `state_waits` no chunk waits for data
// parallelism, nor for parameters out of host memory. Exposure of gradients and parameters is left to
// compute_step, which knows how long a step has room for them.
void compute_costs(const ResolvedPlan& resolved, const PartsByType& parts, Comm& comm, bool report,
                   bool state_waits, StepWork& work, TimelineCosts& out);

// Returns the seconds of one micro-batch on a chunk of these layers.
[[nodiscard]] ChunkCost chunk_cost(const Plan& plan, const StepWork& work, const ChunkLayers& k);

// `timeline` is the replay of those costs, or null for the schedule's closed form. `report` is workspace for
// the range of error; if it is not null, FLOPs, MFU and that range are computed, too. Fills the fields of
// comm that compute_costs left open. Returns false, and leaves the step untouched, where no time comes out
// (no GPU figures, no micro-batch).
bool compute_step(const ResolvedPlan& resolved, const StepWork& work, const TimelineCosts& costs,
                  const Timeline* timeline, ErrorRangeWork* report, Comm& comm, Step& out);

// Returns the seconds that a step waits for communication, over all axes.
[[nodiscard]] inline double exposed_of(const Step& s) {
    double sum = 0;
    for (const double t : s.exposed_comm_s) sum += t;
    return sum;
}

// Returns the time that the schedule leaves idle on the longest stage: the bubble without the wait for uneven
// stages.
[[nodiscard]] inline double schedule_bubble_s(const Step& s) {
    constexpr double kRounding = 1e-12;  // of sums as long as the step
    const double rest = s.bubble_s - s.uneven_s;
    return rest < kRounding * s.time_s && rest > -kRounding * s.time_s ? 0 : rest;
}

// `ideal` and the four parts below the peak sum to `compute`.
enum class StepPart : std::uint8_t {
    compute,
    recompute,
    bubble,
    exposed,
    optimizer,
    straggler,
    ideal,
    products,  // below the peak, as BelowPeak
    uneven,    // of the bubble; the rest of it is StepPart::bubble
    attention,
    moving,
    starts,
    slowed,  // by traffic next to it
    offload  // waits for the link to host memory
};
[[nodiscard]] constexpr bool is_below_peak(StepPart p) {
    return p == StepPart::products || p == StepPart::attention || p == StepPart::moving
           || p == StepPart::starts;
}
[[nodiscard]] constexpr bool is_of_compute(StepPart p) {
    return p == StepPart::compute || p == StepPart::ideal || is_below_peak(p);
}

// Shows the step as a waterfall of lost time: from the need of a perfect GPU to the whole step. Parts of no
// time are left out; each begins where the last one ends, the first at 0, and the last ends at time_s.
struct StepSlice {
    StepPart part = StepPart::compute;
    GroupKind group = GroupKind::tp;  // of `exposed`
    double from_s = 0, time_s = 0;
};
[[nodiscard]] std::vector<StepSlice> waterfall(const Step& step);
// Joins the slices of which `is` holds, which follow one another, into one that is called `as`.
[[nodiscard]] std::vector<StepSlice> joined(std::vector<StepSlice> slices, bool (*is)(StepPart), StepPart as);
[[nodiscard]] std::string_view name_of(StepPart part);  // "useful work", "products below the peak" ...

// This is the range for an error e of a time x, or of a rate, which is one over a time: x / (1 + e) to x (1 +
// e).
struct Band {
    double low = 0, high = 0;
};
[[nodiscard]] Band band_of(double x, double error);

// Returns "Half of the measured runs like this one lie within 6 %, nine of ten within 21 %, ..." and whether
// any is near.
[[nodiscard]] std::string range_sentence(const Step& step);

// Returns the days of 86,400 s to train on so many tokens; 0 where nothing moves.
[[nodiscard]] double days_for(const Step& step, double tokens);

// Returns MFU without the attention that a causal mask leaves out.
[[nodiscard]] inline double mfu_causal(const Step& s) {
    return s.time_s > 0 ? s.ideal_s / s.time_s : 0;
}
// Returns true if attention under a mask, half of which no kernel computes, is above a fifth of the model's
// FLOPs: MFU (causal) is then shown next to MFU.
[[nodiscard]] inline bool shows_causal_mfu(const Step& s) {
    constexpr double kShown = 0.2;
    return mfu_causal(s) < (1 - kShown / 2) * s.mfu;
}

// Finds the cost of everybody waiting for the slowest: the expected maximum of N normal step times.

// Returns E[max of n standard normals] = integral of n x phi(x) Phi(x)^(n-1) dx, to 1e-9. It is 0 for n <= 1.
[[nodiscard]] double expected_maximum(std::int64_t n);

// Returns the textbook bound sqrt(2 ln n) on the same; it overstates it. It is 0 for n <= 1.
[[nodiscard]] double expected_maximum_bound(std::int64_t n);

// Returns x with Phi(x) = p, to 1e-12; p lies within 0 and 1.
[[nodiscard]] double normal_quantile(double p);

// Finds the parts of a timeline's blocks other than compute, and the part of a step after the pipeline.

// Holds seconds of one micro-batch on a chunk that are not first compute: parts of the same chunk's
// TimelineCosts. All of the backward's lie in the input gradient. Sends are not among them.
struct ChunkExposed {
    UnitComm comm;
    EnumArray<GroupKind, double> state_forward{},
        state_backward{};  // gathers and reductions of every micro-batch
    double recompute = 0;  // the forward recomputed in the backward
    SlowedTime slowed;     // compute next to traffic
    PassTime host;         // of first compute: the GPU waits for the host to launch its layers
    OffloadWaits offload;  // for the link to host memory
};
// This is indexed [device * chunks + c], as TimelineCosts.chunk. Reuses out's capacity.
void exposed_in_chunks(const Comm& comm, const StepWork& work, std::vector<ChunkExposed>& out);

// Holds the part of a step's time that is not the pipeline's: time_s less the makespan.
struct StepTail {
    EnumArray<GroupKind, double> exposed_s{};  // gradients and parameters once a step, by axis
    double slowed_s = 0;                       // of the last backward and the first forward, next to these
    double offload_s = 0;                      // gradients to host memory, parameters from it
    double optimizer_s = 0, straggler_s = 0;
    [[nodiscard]] double total() const {
        double sum = slowed_s + offload_s + optimizer_s + straggler_s;
        for (const double s : exposed_s) sum += s;
        return sum;
    }
};
[[nodiscard]] StepTail step_tail(const Step& step, const Comm& comm);

// Says where the time of a step goes on the GPUs of one stage, in seconds.
struct StageTime {
    double compute_s = 0;                      // recomputation included
    double slowed_s = 0;                       // compute next to traffic takes so much longer, in the passes
    double idle_s = 0;                         // the pipeline has no work for it
    double offload_s = 0;                      // it waits for the link to host memory
    EnumArray<GroupKind, double> exposed_s{};  // communication that it waits for, by axis
};
// Returns those of each stage of the pipeline. With slowed_once_s, the optimizer and stragglers of the step
// the parts of a stage sum to the step's time. Gradients and parameters once a step, to host memory too,
// are those of the stage where they take longest: all wait for it.
[[nodiscard]] std::vector<StageTime> stage_times(const Plan& plan, const Comm& comm, const StepWork& work,
                                                 const Step& step);

// Communication goes on behind the blocks, where nothing waits for it: the rest of a call's time.
// Holds seconds by axis; those of the backward include the calls that a recomputed forward repeats.
struct HiddenComm {
    EnumArray<GroupKind, double> forward{}, backward{};
    EnumArray<GroupKind, double> reduced{};  // of `backward`: of gradients, which layer after layer makes
    [[nodiscard]] double all(GroupKind axis) const { return forward[axis] + backward[axis]; }
};
// Finds those of one micro-batch on each chunk, [device * chunks + c], as TimelineCosts.chunk. Sends are not
// among them: the timeline draws those between the stages. Reuses out's capacity.
void hidden_in_chunks(const Comm& comm, std::vector<HiddenComm>& out);
// Returns those of once a step, of the device that holds most: gradients behind the last backward blocks,
// parameters behind the first forward ones.
[[nodiscard]] HiddenComm hidden_in_step(const Comm& comm);

// Lists what a device does in a step inside and after the schedule's blocks, in the shape of a trace of
// PyTorch: kernels of compute and communication inside the blocks, gradients, parameters and the optimizer.

class StepTrace {
  public:
    // All of them have to outlive it.
    StepTrace(const Plan& plan, const Timeline& timeline, const Comm& comm, const StepWork& work,
              const Step& step);

    // Adds the kernels of op `i` of a device, in order of time; of its last one those after the pipeline too.
    void add(int device, std::size_t i, std::vector<TraceSlice>& out) const;

  private:
    void add_op(int device, std::size_t i, std::vector<TraceSlice>& out) const;
    void add_tail(std::vector<TraceSlice>& out) const;
    [[nodiscard]] double send_of(int device, const Op& op) const;

    const Plan& plan_;
    const Timeline& timeline_;
    const Comm& comm_;
    const StepWork& work_;
    StepTail tail_;
    HiddenComm once_;
    std::vector<ChunkExposed> exposed_;
    std::vector<HiddenComm> hidden_;
};

}  // namespace pentamesh
