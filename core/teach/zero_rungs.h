// Puts the four stages of ZeRO of a plan side by side: what a GPU holds, and what data parallelism sends.
#pragma once

#include "core/evaluate.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace pentamesh {

inline constexpr std::size_t kZeroStages = 4;

struct ZeroWire {
    Collective collective = Collective::all_reduce;
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
