// Lists the communication between GPUs: every collective of one step on the busiest rank of the busiest
// stage. docs/communication.md has the rules and sources.
#pragma once

#include "core/base/containers.h"
#include "core/base/explain.h"
#include "core/layer/calls.h"
#include "core/layer/layer_words.h"
#include "core/layer/parts.h"
#include "core/mesh/mesh.h"
#include "core/pipeline/sequence.h"
#include "core/pipeline/stages.h"
#include "core/plan/plan.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

struct PartsByType;

struct Evaluation;

enum class Scope : std::uint8_t { layer, embedding, head, step };
enum class Phase : std::uint8_t { forward, backward, step };
[[nodiscard]] std::string_view name_of(Scope s);
[[nodiscard]] std::string_view name_of(Phase p);

// Says what one call belongs to: how often a stage makes it follows from its layers.
enum class Unit : std::uint8_t { every_layer, dense_layer, moe_layer, embedding, head, boundary, step };

// Says which compute an operation goes on behind; none: it is on the critical path.
enum class HiddenBehind : std::uint8_t {
    none,
    attention_core,
    products_beside,
    another_microbatch,  // of the pair that a layer's experts exchange with
    other_microbatches,  // of the pipeline
    forward_compute,
    backward_compute,
};
template <>
inline constexpr std::size_t kEnumCount<HiddenBehind> = 7;
[[nodiscard]] std::string_view name_of(HiddenBehind h);  // "backward compute"; empty for none

// Says why a call is waited for.
enum class WaitsBecause : std::uint8_t {
    nothing,                 // it is not waited for
    nothing_to_hide_behind,  // the first gather, the last reduction, a call between two kernels
    longer_than_window,      // the compute next to it is shorter
    card_busy,               // it would fit by itself, but other traffic has the lane
    software_does_not_overlap
};
template <>
inline constexpr std::size_t kEnumCount<WaitsBecause> = 5;
[[nodiscard]] std::string_view name_of(WaitsBecause why);   // "nothing_to_hide_behind"; empty for nothing
[[nodiscard]] std::string_view words_of(WaitsBecause why);  // "nothing to hide behind"

struct Operation {
    GroupKind group = GroupKind::tp;
    Scope scope = Scope::layer;
    What what = What::none;
    Collective collective = Collective::all_reduce;
    std::int64_t group_size = 1;
    int tier = 0;  // index into cluster.tiers, the slowest the group crosses
    Phase phase = Phase::forward;
    std::string_view per;  // static: "layer and micro-batch"
    double count_per_step = 0;
    double message_bytes = 0;        // the collective's full buffer on a rank
    double sent_bytes_per_rank = 0;  // per step, over all calls
    double time_s = 0, exposed_s = 0;
    HiddenBehind hidden_behind = HiddenBehind::none;
    WaitsBecause waits_because = WaitsBecause::nothing;

    Unit unit = Unit::every_layer;
    LayerMask types = 0;  // of a layer's: the types that make the call
    double calls = 1;     // per unit and micro-batch (Unit::boundary and step: per step)
    // For Unit::step, it is made at the time of these backwards or forwards of the step.
    GradientReduction each = GradientReduction::step;
    double rounds = 1;       // number of them
    double slow_share = 1;   // all_to_all: share of the bytes beyond the first tier that cross it
    bool forwarded = false;  // all_to_all whose copies are spread inside a node by the first tier
    double call_s = 0;       // time_s / count_per_step
    bool on_other_stage =
        false;                // of the first or last stage, where the busiest device is another: in no sum
    bool recomputed = false;  // a forward call that full or selective recomputation repeats
    bool operator==(const Operation&) const = default;
};

// Returns true for a call of data parallelism's state: a gather of weights, a reduction of gradients.
[[nodiscard]] inline bool is_state_row(const Operation& o) {
    return o.unit == Unit::step && is_data_parallel(o.group);
}
// Returns the numbers of a device whose gradients or weights the call is about, before a shard is cut.
[[nodiscard]] inline double numbers_of(const Operation& o, const StageNumbers& n) {
    return is_expert(o.group) ? n.experts.all() : n.dense.all();
}
// Returns true if it is a gather that a forward waits for.
[[nodiscard]] inline bool before_forward(const Operation& o) {
    return is_state_row(o) && o.collective == Collective::all_gather && o.phase != Phase::backward;
}

// Counts calls of one layer, of the type that makes most of them.
class LayerCalls {
  public:
    void add(const Operation& o) {
        for (LayerMask m = o.types; m != 0; m &= m - 1) calls_[std::countr_zero(m)] += o.calls;
    }
    [[nodiscard]] double most() const { return *std::max_element(calls_.begin(), calls_.end()); }

  private:
    std::array<double, kMostLayerTypes> calls_{};
};

struct AxisTraffic {
    double count = 0, sent_bytes_per_rank = 0, time_s = 0, exposed_s = 0;
    double payload_bytes =
        0;  // buffers, each times its calls: the bytes to be moved, not those that leave a rank
    bool operator==(const AxisTraffic&) const = default;
};

struct Comm {
    std::vector<Operation> operations;
    EnumArray<GroupKind, AxisTraffic> by_axis{};  // of the busiest device
    double sync_points_per_microbatch = 0;        // times that the layers of the model wait for their peers
                                                  // (sync_peers_text): "80 layers x 4 = 320"

    // Says for which device the rows are counted, and its layers: the one with most work in its layers, until
    // the times are known, then the one that works longest. Rows of scope embedding and head are those of the
    // first and last stage, and `on_other_stage` where that is another device; gradients are those of the
    // device whose reductions, gathers and optimizer take longest (find_reduced, core/step/step.cpp).
    int busiest_device = 0;
    ChunkLayers busiest;
    Stages stages;
    HeldNumbers held;
    // Counts numbers whose gradients are reduced: of one device once times are known
    // (core/step/step.cpp).
    StageNumbers reduced;
    std::vector<StageNumbers> reducing;  // the devices that can be this one (find_reduced)
    int embedding_copies = 0;            // devices that hold the word embedding once more
    void clear();
    bool operator==(const Comm&) const = default;
};

// Returns "a GPU of stage 3", whose calls the rows and their sums count; "each GPU" without a pipeline.
[[nodiscard]] std::string rows_device_text(const Comm& comm);
// Names the peers for whom the layers wait at those points, from the rows: "tensor and expert peers". It is
// empty where they do not wait.
[[nodiscard]] std::string sync_peers_text(const Comm& comm);

// Lists the calls of a plan and their sizes. count_calls finds how often a device makes them,
// step.h how long they take. Reuses out's capacity.
void list_calls(const ResolvedPlan& resolved, const PartsByType& parts, Comm& out);
// Sums by_axis and the sync points, from rows that are counted, their times included.
void sum_calls(const ResolvedPlan& resolved, Comm& comm);

// Explains an operation's bytes.
[[nodiscard]] Explanation explain_operation(const Plan& plan, const Evaluation& evaluation,
                                            const Operation& operation);

// Makes the list of a step's collectives: those of layers (core/layer/parts.h), of the pipeline, of
// embedding and head, and of the state of data parallelism.

// Appends rows; those over a single rank or without bytes are left out.
class CommRows {
  public:
    CommRows(const ResolvedPlan& resolved, const PartsByType& parts, Comm& out);

    void list();

  private:
    [[nodiscard]] const GroupSummary& summary_of(GroupKind k) const { return resolved_.groups[k]; }

    Operation* put(GroupKind group, Unit unit, Phase phase, Collective c, What what, double bytes,
                   double calls = 1) {
        return put(group, summary_of(group).degree, unit, phase, c, what, bytes, calls);
    }

    Operation* put(GroupKind group, std::int64_t ranks, Unit unit, Phase phase, Collective c, What what,
                   double bytes, double calls);

    // A call that several types make is one row; one that is recomputed has another row for that. `first` is
    // the first row of its place.
    void put_call(const LayerCall& call, int type, bool recomputed, std::size_t first);
    void vocabulary_parallel();

    // Adds one activation forward and one gradient backward over every boundary between two devices. V-shaped
    // placements turn around on the last device, loops close from the last device to the first.
    void pipeline();

    // Adds the collectives of data parallelism: layer by layer where ZeRO-3 gathers.
    void gradients();
    void put_state(const StateCall& call, double numbers);

    // DualPipe has two copies of a stage, on devices d and p - 1 - d, each of which runs half of the
    // micro-batches: their gradients are summed (deepseek-ai/DualPipe, issue 22). Each keeps half of the
    // optimizer state, updates that half and hands it to the other. `numbers` are those left on a rank after
    // data parallelism.
    void two_copies(double numbers);

    const ResolvedPlan& resolved_;
    const Plan& plan_;
    const PartsByType& parts_;
    Comm& out_;
    const LayerTypes& types_;
    double tokens_ = 0;        // of a rank and micro-batch: b s / c
    double hidden_bytes_ = 0;  // b s/c h e2: S of the tensor-parallel collectives
    double slow_share_ = 1;    // of the experts' all-to-alls
};

// ---- comm.cpp ----

// Finds the busiest device by the work of its layers (the numbers that a token meets), and the devices whose
// numbers may take longest to reduce; `reduced` is the most of each kind. It needs stages and held.
void find_busiest(const Plan& plan, Comm& out);
// Returns true if a layer's call is a sync point. An all-reduce is one; so is a reduce-scatter, whose
// all-gather belongs to it, and an all-to-all.
[[nodiscard]] inline bool is_sync_point(const Operation& o) {
    return o.types != 0 && o.collective != Collective::all_gather && o.collective != Collective::send_recv;
}

// Says for which device the calls are counted, how often it makes each, and sums them.

// Counts every row for this device instead: counts, bytes and `on_other_stage`. The caller sets the times of
// rows. `runs` are the micro-batches that each chunk of a device runs in a step.
void count_calls(double runs, int device, Comm& comm);
void count_calls(const Plan& plan, int device, Comm& comm);
// The traffic of an axis whose slowest link is this tier.
struct TrafficFlow {
    GroupKind group = GroupKind::tp;
    int tier = 0;
    AxisTraffic traffic;
};
// Returns the sums of by_axis, apart by the slowest tier that each operation crosses: axes in their order,
// each axis' tiers upwards. Flows of no call are left out.
[[nodiscard]] std::vector<TrafficFlow> traffic_flows(const Comm& comm);

}  // namespace pentamesh
