// Lists the communication between GPUs: every collective of one step on the busiest rank of the busiest
// stage. docs/communication.md has the rules and sources.
#pragma once

#include "core/base/enum_array.h"
#include "core/base/explain.h"
#include "core/layer/what.h"
#include "core/mesh/collective.h"
#include "core/mesh/mesh.h"
#include "core/pipeline/resolved_plan.h"
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

// Lists the calls of a plan and their sizes. count_calls (comm_count.h) finds how often a device makes them,
// step.h how long they take. Reuses out's capacity.
void list_calls(const ResolvedPlan& resolved, const PartsByType& parts, Comm& out);
// Sums by_axis and the sync points, from rows that are counted, their times included.
void sum_calls(const ResolvedPlan& resolved, Comm& comm);

// Explains an operation's bytes.
[[nodiscard]] Explanation explain_operation(const Plan& plan, const Evaluation& evaluation,
                                            const Operation& operation);

}  // namespace pentamesh
