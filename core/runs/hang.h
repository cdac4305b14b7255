// Says of a run that stands still who is to blame, who waits for whom, and in which call.
#pragma once

#include "core/io/presets.h"
#include "core/mesh/places.h"
#include "core/plan/names.h"
#include "core/plan/plan.h"
#include "core/runs/run_layout.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace pentamesh::runs {

enum class RunVerdict : std::uint8_t { hang, slow, clean, unclear };

// gpu: its GPU no longer reports; stopped: it does not come; dead: it left no dump; mismatch: it calls
// another collective; size: of another size; slow: the others wait for it.
enum class FaultKind : std::uint8_t { stopped, dead, gpu, mismatch, size, slow };
[[nodiscard]] constexpr std::array<std::string_view, 4> names_of_enum(RunVerdict) {
    return {"hang", "slow", "clean", "unclear"};
}
[[nodiscard]] constexpr std::array<std::string_view, 6> names_of_enum(FaultKind) {
    return {"stopped", "dead", "gpu", "mismatch", "size", "slow"};
}

// It is one call of a group. `sequence` counts the group's collectives; of sends and receives it is the
// rank's own number.
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

// The steps by which culprits are found, in their order.

// It is a call that some ranks have begun and others have not.
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

// Reads the dumps of a run, finds who hangs in it and a plan of its layout, and says each finding in a
// sentence.

struct HangRun {
    DumpFolder run;
    Hang hang;
    Plan plan;                               // of the run's layout
    std::vector<std::string> differences{};  // of the layout from the plan that was given; none: it agrees
    // Returns the slowest tier that the call's group crosses; 0 in a cluster that is not known.
    [[nodiscard]] int tier_of(const RunCall& call, const Cluster& cluster) const;
};

// `own` is the plan of the run: its cluster says which ranks share a node, and it is kept where its layout
// agrees; nullptr: the plan is a stand-in (core/plan/stand_in.h). Throws Error (invalid) where there are no
// dumps.
[[nodiscard]] HangRun hang_of(DumpFolder run, const Plan* own, const Presets& presets);
[[nodiscard]] HangRun read_hang(const std::filesystem::path& place, const Plan* own, const Presets& presets,
                                ReadWatch* watch = nullptr);

// Returns what the names of all dumps begin with that lie in the folder of one of them: "dumps/rank_" of
// "dumps/rank_3.json".
[[nodiscard]] std::filesystem::path place_of_dumps(const std::filesystem::path& dump);

// Returns "tp 0, dp 1, pp 3": the place of a rank in the run's mesh, the innermost axis first.
[[nodiscard]] std::string coordinate_words(const RunLayout& layout, std::int64_t rank);
// Says what is known of the wire between the ranks of a call: "over NVLink" by the tiers of a cluster; where
// that is not known, "on one host" or "across hosts" by their names; else empty. `cluster` is nullptr for
// that of the run's plan, here and below.
[[nodiscard]] std::string wire_words(const HangRun& run, const RunCall& call, const Hosts& hosts,
                                     const Cluster* cluster = nullptr);
// Returns true where the call's ranks share a host, false where they do not; nullopt: hosts have no names.
[[nodiscard]] std::optional<bool> on_one_host(const HangRun& run, const RunCall& call, const Hosts& hosts);
// Returns "rank 12 stopped (not sure) at tp 0, pp 3 on gpu004: why (the call, over NVLink)".
[[nodiscard]] std::string culprit_words(const HangRun& run, const Culprit& culprit, const Hosts& hosts,
                                        const Cluster* cluster = nullptr);

// The ranks that wait in one call.
struct WaitingCall {
    RunCall call;
    std::vector<std::int64_t> who, whom;
};
// Returns first those in which the others wait for a rank that is to blame, then those of few ranks.
[[nodiscard]] std::vector<WaitingCall> waiting_by_call(const Hang& hang);
[[nodiscard]] std::string waiting_words(const HangRun& run, const WaitingCall& waiting,
                                        const Hosts& hosts = {}, const Cluster* cluster = nullptr);

// Says in words what was found of a run that hangs.

// Returns "tp 2 × dp 2 × pp 4", the innermost first.
[[nodiscard]] std::string layout_words(const RunLayout& layout);
// Returns one line: the verdict and how many are to blame, wait and are held up.
[[nodiscard]] std::string verdict_words(const Hang& hang);
// Returns "the 42,806th collective of TENSOR_MODEL_PARALLEL_GROUP (tp): _all_gather_base, ranks 12, 13".
[[nodiscard]] std::string call_words(const Hang& hang, const RunNames& names, const RunCall& call);
// Says in a sentence what to look at next; empty where nothing is known.
[[nodiscard]] std::string next_words(const Hang& hang);

}  // namespace pentamesh::runs
