// Finds what of a device's data-parallel traffic hides behind its compute: compute has a lane, the fast
// domain has one, and the network card has one. docs/step.md, "Lanes", has the rules and their sources.
#pragma once

#include "core/base/containers.h"
#include "core/comm/comm.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace pentamesh {

// The lanes of traffic. A GPU has one card: all axes that leave the fast domain share it.
enum class TrafficLane : std::uint8_t { fast, card };
template <>
inline constexpr std::size_t kEnumCount<TrafficLane> = 2;
[[nodiscard]] std::string_view name_of(TrafficLane lane);  // "fast domain", "network card"

// Weights are gathered before a unit computes; its gradients are scattered (or reduced) after it has; the
// shard of them is reduced across replicas after that.
enum class LaneCall : std::uint8_t { gather, scatter, reduce };
template <>
inline constexpr std::size_t kEnumCount<LaneCall> = 3;

using LaneSeconds = EnumArray<TrafficLane, double>;

// This is a part of a pass: a layer, the embedding, the head, or the layers of one bucket. All in seconds.
struct LaneUnit {
    double compute = 0;  // with everything that it waits for inside
    double works = 0;    // of it: the GPU computes, so that traffic next to it slows it
    EnumArray<LaneCall, LaneSeconds> call{};
    LaneSeconds taken{};     // of `compute`: its own calls of other axes have the lane
    std::int64_t times = 1;  // such units, one after the other
    [[nodiscard]] const LaneSeconds& gather() const { return call[LaneCall::gather]; }
};

// Holds the units of a pass: one for each type of layer, recomputed and not, and the two ends.
using LaneUnits = ShortList<LaneUnit, 64>;

// `rate` is how fast the GPU computes while one lane is busy next to it, over its speed by itself (0 to 1).
// Weights are gathered so many units ahead.
struct LaneRules {
    double rate = 1;
    std::int64_t ahead = 1;
};

// Holds the seconds of a pass. `waited` is by the call that has the lane while the compute waits for it: a
// gather may queue behind a scatter. Compute, waits and `slowed` sum to `end`.
struct LaneTimes {
    double end = 0;
    double slowed = 0;  // that compute takes longer next to traffic
    EnumArray<LaneCall, LaneSeconds> waited{};
    EnumArray<LaneCall, EnumArray<WaitsBecause, double>> because{};  // of `waited`, both lanes together
    [[nodiscard]] double waits() const {
        double sum = 0;
        for (const LaneSeconds& lanes : waited)
            for (const double s : lanes) sum += s;
        return sum;
    }
};

// This is a piece of a lane in the replay. `unit` is the place among the units that ran, from 0. It is the
// unit's compute, its own calls of other axes (`own`), or a call of data parallelism.
struct LaneBlock {
    bool computes = false, own = false;
    TrafficLane lane = TrafficLane::fast;  // but of compute
    LaneCall call = LaneCall::gather;
    std::int64_t unit = 0;
    double issued = 0, start = 0, end = 0;  // a call waits in its queue from `issued` to `start`
    double hidden = 0;                      // of a call: the compute does not wait meanwhile
};

// Returns the times of a pass. Each lane takes one call after the other, in the order of issue: when a unit
// begins, the scatter of the unit before it, its own calls of other axes, the gather of the next unit, and
// the reduction after that scatter. Runs of like units are not walked one by one once each takes as long as
// the one before. No pass takes longer than one call after the other.
[[nodiscard]] LaneTimes run_lanes(std::span<const LaneUnit> units, const LaneRules& rules);
// Does the same for every unit, and lists what happens.
[[nodiscard]] LaneTimes replay_lanes(std::span<const LaneUnit> units, const LaneRules& rules,
                                     std::vector<LaneBlock>& out);
// Return the time of the same calls one after the other: nothing hides.
[[nodiscard]] LaneTimes one_by_one(std::span<const LaneUnit> units);
[[nodiscard]] LaneTimes replay_one_by_one(std::span<const LaneUnit> units, std::vector<LaneBlock>& out);

}  // namespace pentamesh
