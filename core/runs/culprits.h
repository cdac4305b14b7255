// The steps by which culprits are found, in their order.
#pragma once

#include "core/runs/hang.h"
#include "core/runs/run_state.h"

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace pentamesh::runs {

// Is a call that some ranks have begun and others have not.
struct WaitedCall {
    RunCall call;
    std::vector<std::int64_t> waiting, missing;  // ranks, ascending
    bool guessed = false;  // it is not known how far the missing have come: they may have been there and left
};

// Holds what is known so far.
struct Suspects {
    std::map<std::int64_t, Culprit> culprits;  // by rank
    std::set<std::int64_t> stale;              // their own open calls say nothing
    std::map<int, std::int64_t> mismatch;      // group -> the first number at which its ranks disagree
};

// Finds ranks that call another collective, or with another size, than the rest of their group.
void find_mismatches(const RunState& state, Suspects& suspects);
// Finds ranks that show calls as open which peers have finished; a single one was only seen late, and is
// closed.
void find_silent_gpus(RunState& state, Suspects& suspects);
// Returns the calls in which somebody has not come, or did another thing.
[[nodiscard]] std::vector<WaitedCall> find_waited_calls(const RunState& state, const Suspects& suspects);
// Names those who are waited for and wait for nobody.
void find_absent(const RunState& state, const std::vector<WaitedCall>& calls, std::int64_t node,
                 Suspects& suspects);

}  // namespace pentamesh::runs
