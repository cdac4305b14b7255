// Says of a run that stands still who is to blame, who waits for whom, and in which call.
#pragma once

#include "core/plan/names.h"
#include "core/runs/run_layout.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace pentamesh::runs {

enum class RunVerdict : std::uint8_t { hang, slow, clean, unclear };

// gpu: its GPU no longer reports; stopped: it does not come; dead: it left no dump; mismatch: it calls
// another collective; size: of another size; slow: the others wait for it.
enum class FaultKind : std::uint8_t { stopped, dead, gpu, mismatch, size, slow };
}  // namespace pentamesh::runs

namespace pentamesh {
template <>
inline constexpr std::array<std::string_view, 4> kNames<runs::RunVerdict>{"hang", "slow", "clean", "unclear"};
template <>
inline constexpr std::array<std::string_view, 6> kNames<runs::FaultKind>{"stopped",  "dead", "gpu",
                                                                         "mismatch", "size", "slow"};
}  // namespace pentamesh

namespace pentamesh::runs {

// Is one call of a group. `sequence` counts the group's collectives; of sends and receives it is the rank's
// own number.
struct RunCall {
    int group = -1, collective = -1;
    std::int64_t sequence = -1;
    bool p2p = false;
    bool operator==(const RunCall&) const = default;
    bool operator<(const RunCall& o) const {
        return std::tie(group, collective, sequence, p2p)
               < std::tie(o.group, o.collective, o.sequence, o.p2p);
    }
};

struct Culprit {
    std::int64_t rank = 0;
    FaultKind kind = FaultKind::stopped;
    bool sure = true;
    RunCall call{};  // group -1: none
    std::string why{};
};

struct WaitingRank {
    std::int64_t rank = 0;
    std::vector<std::int64_t> whom;
    RunCall call{};
};

struct Hang {
    RunVerdict verdict = RunVerdict::unclear;
    std::vector<std::int64_t> missing;  // ranks without a dump
    RunLayout layout;
    std::vector<Culprit> culprits;      // by rank
    std::vector<WaitingRank> waiting;   // by rank
    std::vector<std::int64_t> held_up;  // that wait behind those
    std::vector<RunCall> groups_stuck;  // everybody is there and nothing moves
    std::vector<std::int64_t> order_cycle;
    std::vector<std::string> warnings;
};

// `node` GPUs of consecutive ranks share a node: ranks that are missing together may have died together.
[[nodiscard]] Hang find_hang(const DumpFolder& run, std::int64_t node);

// Adds the ranks for which the others wait in a run that goes on: those that spend the least time in
// communication, by pipeline stage.
void find_slow(const DumpFolder& run, Hang& hang);

}  // namespace pentamesh::runs
