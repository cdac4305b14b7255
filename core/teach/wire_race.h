// Races one gigabyte down the wires of a cluster, says how often each axis uses its wire in a step, and what
// the step takes with its chattiest axis on another wire.
#pragma once

#include "core/evaluate.h"

#include <optional>
#include <string>
#include <vector>

namespace pentamesh {

inline constexpr double kRaceBytes = 1e9;

// A GPU's own memory, or a tier of the cluster.
struct RaceLane {
    std::string name, reach;  // "NVLink", "8 GPUs"
    double bytes_per_s = 0;   // of a GPU, one direction, oversubscription counted in
    int tier = -1;            // -1: its own memory
    [[nodiscard]] double takes_s() const { return kRaceBytes / bytes_per_s; }
};

struct WireTalk {
    GroupKind kind = GroupKind::tp;
    double calls = 0, sent_bytes = 0;  // of a GPU and step
    int tier = 0;                      // the slowest that its calls cross
};

// The same plan with its chattiest axis at another place of the order of ranks.
struct OtherOrder {
    std::string where;  // "as it is", "tp behind pp", "tp outermost"
    Plan plan;
    bool own = false;
    int tier = 0;                    // the slowest that the axis crosses then
    double step_s = 0, waits_s = 0;  // of the step: what waits for that axis
    std::string lacks;               // what the plan's software does not run of it
};

struct WireRace {
    std::vector<RaceLane> lanes;     // the fastest first
    double telling_s = 0;            // a moment at which some are done and some are not
    std::vector<WireTalk> talk;      // by calls, most first
    std::optional<Axis> moved;       // tp, or the axis that talks most often; nullopt: none talks
    std::vector<OtherOrder> orders;  // one for each tier that it can cross, the fastest first
    std::string refused;             // why one of the orders cannot be laid out; empty: each can
    // Returns the last moment: the slowest lane is done.
    [[nodiscard]] double end_s() const { return lanes.empty() ? 0 : lanes.back().takes_s(); }
    // Returns the next moment after, or before, this one: 1, 2 or 5 of a decade, or the end of a lane.
    [[nodiscard]] double moment_after(double at_s) const;
    [[nodiscard]] double moment_before(double at_s) const;
};
// `evaluation` is that of the plan, a possible one; the other orders are evaluated: keep it while it stays.
[[nodiscard]] WireRace wire_race(const Plan& plan, const Evaluation& evaluation);
// Says what the orders show; empty where there is no other, or nothing is true of them.
[[nodiscard]] std::string sentence_of(const WireRace& race, const Cluster& cluster);

}  // namespace pentamesh
