// Shows one micro-batch of one stage on its lanes, layer by layer: what computes, what is on which wire, and
// what the compute waits for.
#pragma once

#include "core/evaluate.h"
#include "core/step/lanes.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh {

enum class LanePieceKind : std::uint8_t {
    compute,
    call,  // a gather, a scatter or a reduction of data parallelism
    own    // calls of a layer on other axes, inside its compute
};
[[nodiscard]] std::string_view name_of(LanePieceKind kind);
[[nodiscard]] std::string_view
name_of(LaneCall call);  // "gather", "reduce-scatter", "all-reduce across replicas"

struct LanePiece {
    LanePieceKind kind = LanePieceKind::compute;
    std::optional<TrafficLane> lane;  // none: the compute's
    LaneCall call = LaneCall::gather;
    GroupKind axis =
        GroupKind::dp;  // of a call: the axis with most bytes of this kind on that lane; of `own` likewise
    // "layer 3", "embedding", "head", "bucket 2 of chunk 1"; of one layer "experts", "dispatch"
    std::string unit;
    std::string what;  // of a call: "gather", "dispatch of tokens to experts"
    bool forward = true;
    double start_s = 0, end_s = 0;
    double queued_s = 0;  // a call waits so long in its queue before it starts
    double hidden_s = 0;  // of its time: the compute does not wait for it
};

// Says what stands out in a picture, to be marked there.
struct LaneMark {
    double from_s = 0, to_s = 0;
    std::string what, why;  // "first gathers: 24.3 ms", "nothing to hide behind"
};

struct LanePicture {
    int stage = 0;
    std::int64_t layers = 0;          // one of so many like layers is shown; 0: all of a micro-batch
    bool once = false;                // what happens once a step: the first forward and the last backward
    double forward_s = 0, end_s = 0;  // the backward begins at forward_s
    double waits_s = 0, hidden_s = 0,
           slowed_s = 0;  // of data parallelism's calls, or of one layer's; compute next to any traffic
    EnumArray<TrafficLane, int> tier{};       // whose name each lane has
    EnumArray<TrafficLane, double> busy_s{};  // of one layer: its calls have the lane
    // Returns the lane that may become the wall: the card where a call of the layer is on it.
    [[nodiscard]] TrafficLane slowest_lane() const {
        return busy_s[TrafficLane::card] > 0 ? TrafficLane::card : TrafficLane::fast;
    }
    // Here one layer's forward runs together with another micro-batch's backward, both from 0 on; `alone` has
    // the same two passes one after the other.
    bool paired = false;
    double paired_share = 0;  // of the passes of a step that run so
    std::vector<LanePicture> alone;
    std::vector<LanePiece> pieces;  // in order of issue, the forward's first
    std::vector<LaneMark> marks;    // in order of time
    std::string title;              // "The network card is the wall: compute waits 0.79 s of 3.74 s."
    std::string sentence;           // "Of 0.90 s of gathers and reductions a micro-batch 0.88 s hide; ..."
    std::string assumed;            // what of this is the program's and what a replay's
};

// `stage` is a device of the pipeline; below 0: the one that works longest. It is empty where the plan has no
// step.
[[nodiscard]] std::optional<LanePicture> lane_picture(const Plan& plan, const Evaluation& evaluation,
                                                      int stage = -1);

// Shows one layer of a stage, forward and backward, part by part, with its own calls (tp, cp, ep). It is of
// the type whose calls wait longest there; nothing if no layer of the stage has calls. What a call waits is
// what the step's estimate says of it (CoveredTimes); the two passes end as the estimate's do. Where calls
// hide behind another micro-batch it is a pair (core/step/pair.h has the order); the estimate is then the
// mean of the pair and of the passes without a partner.
[[nodiscard]] std::optional<LanePicture> layer_picture(const Plan& plan, const Evaluation& evaluation,
                                                       int stage = -1);

// Returns the tier whose name a lane has: the first, and the slowest that one of these layer types' own calls
// crosses, or, of no types, that any call crosses.
[[nodiscard]] int tier_of(const Plan& plan, const Evaluation& evaluation, TrafficLane lane,
                          LayerMask types = 0);
// Returns "compute", or the name of that tier.
[[nodiscard]] std::string lane_name(const Plan& plan, const LanePicture& picture,
                                    const std::optional<TrafficLane>& lane);

}  // namespace pentamesh
