// Races one gigabyte down the wires of a cluster, says how often each axis uses its wire in a step, and what
// the step takes with its chattiest axis on another wire.
#pragma once

#include "core/evaluate.h"

#include <array>
#include <cstdint>
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

// Puts the four stages of ZeRO of a plan side by side: what a GPU holds, and what data parallelism sends.

inline constexpr std::size_t kZeroStages = 4;

struct ZeroWire {
    Collective collective = Collective::all_reduce;
    std::string_view carried;          // "parameters", "gradients"
    GroupKind group = GroupKind::dp;   // the one over which most of it goes
    double sent_bytes = 0, calls = 0;  // of a GPU and step
    bool operator==(const ZeroWire&) const = default;
};

// The parts of the state, in the order of MemoryCategory.
struct ZeroRung {
    int zero = 0;
    Plan plan;                     // the plan with this stage
    std::string refused;           // the first rule that it breaks; empty: it can be laid out
    std::string lacks;             // what its software does not run of it; empty: it runs
    StageMemory held;              // of the GPU that the picture is of
    double gathered = 0;           // of its buffers: layers whose weights are whole for a moment
    std::array<bool, 3> shared{};  // parameters, gradients, optimizer: each copy keeps a part
    std::vector<ZeroWire> wires;
    double sent_bytes = 0;               // over all of them
    std::string held_words, wire_words;  // what this stage changes against the one before
    [[nodiscard]] bool possible() const { return refused.empty(); }
};

struct ZeroRungs {
    std::array<ZeroRung, kZeroStages> rung;
    int own = 0;                // the plan's stage
    std::int64_t ranks = 1;     // that share out one state
    std::int64_t experts = 0;   // that share out the state of the same experts; 0: the model has none
    int stage = 0, stages = 1;  // the GPU is of this pipeline stage, the fullest of the plan, of so many
    double hbm = 0;
    std::string sender;  // whose calls are counted: "a GPU of stage 3", "each GPU"
    // Returns true if what the ranks keep of this part adds up to one copy of it.
    [[nodiscard]] bool adds_up(const ZeroRung& of, std::size_t part) const;
    [[nodiscard]] bool any_possible() const;
};
// `evaluation` is that of the plan; the other stages are evaluated: keep it while the plan stays.
[[nodiscard]] ZeroRungs zero_rungs(const Plan& plan, const Evaluation& evaluation);

}  // namespace pentamesh
