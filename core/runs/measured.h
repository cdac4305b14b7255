// Compares what was measured of a run with what its plan predicts, part by part.
#pragma once

#include "core/base/containers.h"
#include "core/evaluate.h"
#include "core/io/presets.h"
#include "core/mesh/mesh.h"
#include "core/mesh/places.h"
#include "core/plan/plan.h"
#include "core/runs/predicted.h"
#include "core/runs/run_file.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh::runs {

struct PartRow {
    RunPart part = RunPart::compute;
    PartTime time;
    std::optional<double> predicted_s;
    Fitting fitting;
    [[nodiscard]] double difference_s() const { return time.measured_s - predicted_s.value_or(0); }
};

struct CollectiveRow {
    std::string axis;  // a part of the step, or two that fit: "tp or ep"
    RunPart part = RunPart::unnamed;
    std::string group_name, collective;
    std::int64_t ranks = 0, bytes = 0;
    double buffer = 0;
    std::size_t calls = 0;  // of one rank
    double median_s = 0;
    std::optional<double> transfer_s;   // without the wait for the last rank: known from several ranks
    std::optional<double> predicted_s;  // of a call of the plan with as many bytes
    std::int64_t last_rank = -1;        // that the others wait for most often; -1: not known
    double last_share = 0;              // of the calls
};

struct RunProblem {
    std::string_view code;  // static: "impossible-run", "run-differs", "impossible-plan"
    std::string message;
};

// Holds what the trace of one rank says. Its peers are the ranks of its pipeline stage that have a trace too.
struct RankRow {
    std::int64_t rank = -1;
    std::string place{};  // "tp 5, dp_shard 5, node 5": by the plan, a host by its name; empty: not known
    double step_s = 0;
    EnumArray<RunPart, std::optional<double>> part{};  // seconds a step; of an axis what is not hidden
    double own_s = 0;                                  // of the step, what is no communication
    int peers_of = -1;  // ranks with the same number are peers; -1: none are known
    bool slow = false;  // the others wait for it
};

// A rank that has more to do than its peers, and of what.
struct SlowRank {
    std::size_t row = 0;  // of Measured::ranks
    RunPart part = RunPart::compute;
    double part_s = 0, peers_s = 0;  // of that part: its own, and the median of its peers that are not slow
    std::int64_t peers = 0;          // how many those are
    [[nodiscard]] double more_s() const { return part_s - peers_s; }
};

struct Measured {
    std::vector<RunFile> files;
    std::optional<double> predicted_s, measured_s, ideal_s;
    bool possible = true;
    std::vector<PartRow> parts;  // of several ranks: their mean
    std::vector<RankRow> ranks;  // by rank; fewer than two: none
    std::vector<SlowRank> slow;  // by rank
    std::vector<CollectiveRow> collectives;
    std::vector<Fitting> links;  // by transfers that are known without their wait
    double compute_s = 0;       // of the stage that works longest, recomputation included; 0: not known apart
    double peak_bytes = 0;      // most that a rank allocated; 0: no file says it
    double predicted_peak = 0;  // of the fullest GPU, with what stands outside of the allocator; 0: no plan
    std::vector<RunProblem> problems;
    std::vector<std::string> warnings;
    std::string summary;  // where the difference sits, in a sentence
};

// `plan` is nullptr where there is only the measured half. `hosts` may hold no names.
[[nodiscard]] Measured measure(std::vector<RunFile> files, const Plan* plan, const Presets& presets,
                               const Hosts& hosts = {});

// Returns a row for each rank of several that have a trace, the first file of a rank, by rank. `plan` and its
// mesh say who is a peer of whom; without them (nullptr) the groups of the traces do, and ranks that share no
// group are no peers.
[[nodiscard]] std::vector<RankRow> rank_rows(const std::vector<RunFile>& files, const Plan* plan,
                                             const Mesh* mesh, const Hosts& hosts);
// Finds the ranks that work longer than their peers: all of their own work, or one part of it, lies above
// that of at least half of them by more than 3 % of the step, and by more than those differ among each other.
// Ranks that tie are not slow. Notes them in the rows.
[[nodiscard]] std::vector<SlowRank> find_slow_ranks(std::vector<RankRow>& rows);
// Returns "Rank 45 (tp 5, dp_shard 5, node 5) is slow: compute takes 3.09 s a step, 486 ms more than for its
// 7 peers.".
[[nodiscard]] std::string slow_words(const Measured& m, const SlowRank& slow);

// Returns the calls of all files, ranks of one group together.
[[nodiscard]] std::vector<CollectiveRow> collective_rows(const std::vector<RunFile>& files,
                                                         const PartOfGroup& part_of,
                                                         std::vector<std::string>& warnings);

}  // namespace pentamesh::runs
