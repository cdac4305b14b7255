// Says how a plan that does not fit its GPUs is made to fit by a change of one kind: recompute some layers or
// some modules, keep states in leaner types, move some to the host, lay the ranks out otherwise.
#pragma once

#include "core/evaluate.h"
#include "core/memory/memory.h"
#include "core/plan/names.h"
#include "core/plan/plan.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// Each kind has one list of changes, of which it gives one. `layout` has one edit of tp, cp, pp, the schedule
// with its chunks, ep, etp, dp_replicate, zero or order; `recompute_layers` n layers of each chunk, all, or
// units of n; `recompute_modules` each set of modules; `setting` sequence parallelism, flash attention,
// gathered weights that are let go.
enum class MendKind : std::uint8_t {
    layout,
    micro_batch,
    recompute_layers,
    recompute_modules,
    setting,
    offload,
    types
};
template <>
inline constexpr std::array<std::string_view, 7> kNames<MendKind>{
    "layout", "micro_batch", "recompute_layers", "recompute_modules", "setting", "offload", "types"};
static_assert(kNames<MendKind>.size() == static_cast<std::size_t>(MendKind::types) + 1);

struct MemoryMend {
    MendKind kind = MendKind::layout;
    Plan plan;                            // complete: `evaluate` of it gives these figures to the last digit
    std::string change;                   // "recompute = full, 2 layers a chunk"
    std::string gives_up;                 // "613 ms a step", "numerics: moments in bf16"
    double step_s = 0, memory_bytes = 0;  // seconds; bytes of the fullest GPU
    double host_bytes = 0;                // of a GPU's bytes that lie in host memory, the most
    MemoryFit fit = MemoryFit::yes;       // yes or tight: fits, or fits by the sum
    bool keeps_numerics = true;           // the numbers that are trained with keep their types
    bool time_counted = true;             // false: step_s leaves out what the change costs
};

// Returns for each kind the cheapest of its changes that takes no more than kTightShare of a GPU's memory (of
// fuller runs many go out of memory), else that leaves kHeadroom, else that fits by the sum and says how
// little it leaves; that the plan's software runs and that
// brings in no warning of a framework's rule; a kind without one is missing. Cheapest is the shortest step;
// of offload that of the moves whose whole time is counted (the host's link is known, and no share of the
// optimizer goes to the CPU), else the fewest bytes in host memory; of types the first of a list that goes
// from the least change of numerics to the largest. It is exact: no other change of a kind's list that fits
// is cheaper. `threads` as in SearchOptions. Precondition: the evaluation is the plan's.
[[nodiscard]] std::vector<MemoryMend> mend_of_each_kind(const Plan& plan, const Evaluation& evaluation,
                                                        int threads = 0,
                                                        const std::atomic<bool>* cancel = nullptr);

inline constexpr std::size_t kMostMends = 3;
// Returns the three of these with the shortest steps; those whose time is not counted only where there are
// fewer. Those that keep the numerics come first, among them those whose time is counted, the shortest step
// first. Where no change of one kind fits, it is the fastest layout within two edits, if that fits. It is
// empty for a plan that fits, has no step, or where it was cancelled.
[[nodiscard]] std::vector<MemoryMend> find_mends(const Plan& plan, const Evaluation& evaluation,
                                                 int threads = 0, const std::atomic<bool>* cancel = nullptr);

}  // namespace pentamesh
