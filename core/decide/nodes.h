// Cuts a search space into nodes. All layouts of a node run over the same ranks and wires. They differ in how
// they run (a pipeline's schedule, micro-batch, recompute) and in how states are sharded.
#pragma once

#include "core/decide/space.h"
#include "core/rules/software_runs.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace pentamesh {

// This is one way to run: the pipeline's times and the activations depend on it.
struct RunChoice {
    std::int64_t micro_batch = 1, virtual_stages = 1;
    RecomputeChoice recompute;
    Schedule schedule = Schedule::one_f_one_b;
};
// This is one way to share out data parallelism.
struct ShardChoice {
    int zero = 0;
    std::int64_t dp_shard = 1, dp_replicate = 1;
};

struct SearchNode {
    std::int64_t tp = 1, cp = 1, pp = 1, ep = 1, etp = 1;
    AxisOrder order{};
    std::vector<ShardChoice> shards;
    std::size_t runs = 0;     // index into SearchNodes::runs
    std::uint64_t first = 0;  // index of its first layout
};

// Counts layouts that the space's software does not run, by the first thing that it lacks.
struct LeftOut {
    Lack lack = Lack::schedule;
    std::uint64_t count = 0;
    LayoutChoice example;
};

struct SearchNodes {
    std::vector<SearchNode> node;
    std::vector<std::vector<RunChoice>>
        runs;  // by number of the node's list: pipelines of one pp have the same
    std::uint64_t layouts = 0;
    std::vector<LeftOut> left_out;  // in the order of Lack; none of them is in a node

    [[nodiscard]] const std::vector<RunChoice>& runs_of(const SearchNode& n) const { return runs[n.runs]; }
    // Layout `index` is run (index - first) / shards, shard the rest.
    [[nodiscard]] LayoutChoice choice(std::uint64_t index) const;
    [[nodiscard]] LayoutChoice choice(const SearchNode& n, std::size_t run, std::size_t shard) const;
};
[[nodiscard]] SearchNodes nodes_of(const Plan& plan, const SearchSpace& space);

}  // namespace pentamesh
