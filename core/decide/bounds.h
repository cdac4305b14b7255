// Cuts a search space into nodes. All layouts of a node run over the same ranks and wires. They differ in how
// they run (a pipeline's schedule, micro-batch, recompute) and in how states are sharded.
#pragma once

#include "core/decide/search.h"
#include "core/decide/space.h"
#include "core/evaluate.h"
#include "core/rules/software_runs.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
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
    SettingChoice settings{};
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
        runs;  // by number of the node's list: pipelines of one pp and one overlap of it share it
    std::uint64_t layouts = 0;
    std::vector<LeftOut> left_out;  // in the order of Lack; none of them is in a node

    [[nodiscard]] const std::vector<RunChoice>& runs_of(const SearchNode& n) const { return runs[n.runs]; }
    // Layout `index` is run (index - first) / shards, shard the rest.
    [[nodiscard]] LayoutChoice choice(std::uint64_t index) const;
    [[nodiscard]] LayoutChoice choice(const SearchNode& n, std::size_t run, std::size_t shard) const;
};
[[nodiscard]] SearchNodes nodes_of(const Plan& plan, const SearchSpace& space);

// Bounds the time and memory of a layout from below, by other layouts of its node. Proofs are in bounds.cpp.
// All layouts of a node have the same types of states, reshard and overlap of tp, and each bound is made of
// evaluations of layouts of the node: these settings stand in all that a bound is compared with. How much is
// recomputed belongs to a run, of which there is one evaluation each.

// Returns seconds: no replay of these costs ends before this.
[[nodiscard]] double least_makespan(const ScheduleShape& shape, const TimelineCosts& costs);

// Holds bytes of one stage that ZeRO may cut, dense and experts apart, and those that it does not cut.
struct StageBytes {
    double parameters[2] = {0, 0}, gradients[2] = {0, 0}, optimizer[2] = {0, 0}, rest = 0;
};
// Bounds one run of a node, for any sharding.
struct RunBound {
    double makespan = 0;                   // at least
    double forward_s = 0, backward_s = 0;  // passes behind which transfers of once a step can hide, at most
    double link_s = 0;  // of the makespan: without a pipeline passes wait so long for host memory
    double microbatches = 1;
    double copies = 1;              // of the model, which share one optimizer state
    double dense = 0, experts = 0;  // numbers whose gradients are reduced
    double fewest_layers = 0;       // of a stage
    StageBytes stage[2];            // the first and the fullest
};
struct BoundOf;
// Bounds one sharding of a node, for any run.
struct ShardBound {
    double parameters[2] = {1, 1}, gradients[2] = {1, 1}, optimizer[2] = {1, 1};  // one over the shards
    double summed[2] = {1, 1};  // of the gradients, in a step of more than one micro-batch: at least
    double communicators = 0;   // bytes that its process groups take
    // Gathers and reductions take at least these seconds on a lane (TrafficLane; all are on the first where
    // nothing overlaps): once per step, and with every micro-batch.
    double gather[2] = {0, 0}, reduce[2] = {0, 0}, each[2] = {0, 0};
    double within[2] = {0, 0};  // once at least, in some pass
    bool pipeline = false;      // what a stage waits in its passes may fall into its idle time
    double update = 0;          // seconds of the optimizer, of one copy
};

// `e` is of the run's layout with zero = 0, of kBoundOptions, valid. `group_bytes` is that of a process
// group.
[[nodiscard]] RunBound bound_of_run(const Plan& plan, const Evaluation& e, double group_bytes);
// `e` is of the sharding with some run of the node, without the timeline, valid; `own` is the bound of that
// run, one of more than one micro-batch where the node has such a run; `least` has by each of dense, experts
// and layers the least of all runs of the node.
[[nodiscard]] ShardBound bound_of_shards(const Plan& plan, const Evaluation& e, const RunBound& own,
                                         const RunBound& least, const BoundOf& of);

// All layouts of a search share this.
struct BoundOf {
    double straggle = 1;  // factor on everything
    double fixed = 0;     // seconds of a step that nothing changes
    double group_bytes = 0;
    bool reduces_runs =
        false;  // the plan asks for it: then schedules differ in how often gradients are reduced
    explicit BoundOf(const Plan& plan);
    [[nodiscard]] double time(const RunBound& run, const ShardBound& shard) const;
    [[nodiscard]] double memory(const RunBound& run, const ShardBound& shard) const;
};

// Evaluates by closed forms, without what a sharding waits for its states: no sharding of a run costs less.
inline constexpr EvaluateOptions kBoundOptions{
    .timeline = false, .messages = false, .report = false, .state_waits = false};

// Bounds all layouts of a node. `run` and `shard` go by the node's lists.
struct NodeBounds {
    struct Run {
        RunBound bound;
        std::optional<ProblemCode> impossible;  // the first error, with which no sharding of the run helps
        [[nodiscard]] bool possible() const { return !impossible; }
    };
    std::vector<Run> run;
    std::vector<std::optional<ShardBound>> shard;  // nullopt: of no possible layout
};
// `laid` and `e` are room to work in.
void bound_node(const Plan& plan, const SearchNodes& nodes, const SearchNode& n, const BoundOf& of,
                Plan& laid, Evaluation& e, NodeBounds& out);

// Returns the layout that stands for all shardings of a run: its states are whole, unless that is impossible.
[[nodiscard]] LayoutChoice whole_states(const Plan& plan, const SearchNodes& nodes, const SearchNode& n,
                                        std::size_t run);
// Returns the problem for which there is no step.
[[nodiscard]] ProblemCode first_code(const Evaluation& e);

// Says why a layout is too big, and what would make room.

// Returns "The fullest GPU needs 92.1 GiB, of which optimizer 40.2 GiB; 76 GiB may be taken (5 % of 80 GiB
// stays free)."
[[nodiscard]] std::string too_big_text(const Evaluation& e, double headroom);

// Says, where nothing fits, which limit binds first, and what would lift it. `report` is of a finished
// search. If it is cancelled, it returns its findings so far.
[[nodiscard]] std::string what_would_fit(const Plan& plan, const SpaceRequest& request,
                                         const SearchOptions& options, const SearchReport& report,
                                         const std::atomic<bool>* cancel = nullptr);

// Keeps the layouts that are worth it while a search runs: the best by its goal, and those that no other
// beats in both time and memory.

// This is a layout that fits. `index` is its place in the space, which decides between equals, so that a
// search gives the same answer in any order in which its threads find things.
struct FitLayout {
    double time_s = 0, memory = 0;
    std::uint64_t index = 0;
    std::int64_t alike = 0;  // how many other layouts take the same time and memory, to the last digit
};

// For each point no other one is at least as good in both and better in one; of equal points only the first
// is kept.
class Front {
  public:
    // Returns true if some point is strictly faster than `time_s` on no more than `memory`.
    [[nodiscard]] bool beats(double time_s, double memory) const {
        const auto after = first_above(memory);
        return after != points_.begin() && (after - 1)->time_s < time_s;
    }
    // Returns false if the point is beaten.
    bool add(const FitLayout& x) {
        auto after = first_above(x.memory);
        if (after != points_.begin()) {
            const FitLayout& at = *(after - 1);
            if (at.time_s < x.time_s) return false;
            if (at.time_s == x.time_s && (at.memory < x.memory || at.index < x.index)) return false;
        }
        auto from = after;  // of equal memory there is at most one, just before
        if (from != points_.begin() && (from - 1)->memory == x.memory) --from;
        auto to = after;
        while (to != points_.end() && to->time_s >= x.time_s) ++to;
        from = points_.erase(from, to);
        points_.insert(from, x);
        return true;
    }
    // Returns points in ascending memory, descending time.
    [[nodiscard]] const std::vector<FitLayout>& points() const { return points_; }

  private:
    [[nodiscard]] std::vector<FitLayout>::const_iterator first_above(double memory) const {
        return std::upper_bound(points_.begin(), points_.end(), memory,
                                [](double m, const FitLayout& p) { return m < p.memory; });
    }
    std::vector<FitLayout> points_;
};

// Keeps the best few by time, then memory, or the other way round. Of layouts with the same two figures the
// first of the space stands for all, and counts the others: no bound skips one of them, as none takes more
// than the last that is kept.
class Best {
  public:
    Best(std::size_t count, bool by_memory)
        : count_(std::max<std::size_t>(count, 1)), by_memory_(by_memory) {}
    // Returns true if a layout of at least this time and memory may still be among them.
    [[nodiscard]] bool may_take(double time_s, double memory) const {
        if (points_.size() < count_) return true;
        return by_memory_ ? memory <= points_.back().memory : time_s <= points_.back().time_s;
    }
    void add(const FitLayout& x) {
        const auto before = [this](const FitLayout& a, const FitLayout& b) { return less(a, b); };
        const auto at = std::lower_bound(points_.begin(), points_.end(), x, before);
        if (at != points_.end() && at->time_s == x.time_s && at->memory == x.memory) {
            at->alike += 1;
            at->index = std::min(at->index, x.index);
            return;
        }
        if (static_cast<std::size_t>(at - points_.begin()) >= count_) return;
        points_.insert(at, x);
        if (points_.size() > count_) points_.pop_back();
    }
    [[nodiscard]] bool less(const FitLayout& a, const FitLayout& b) const {
        const double a1 = by_memory_ ? a.memory : a.time_s, b1 = by_memory_ ? b.memory : b.time_s;
        const double a2 = by_memory_ ? a.time_s : a.memory, b2 = by_memory_ ? b.time_s : b.memory;
        if (a1 != b1) return a1 < b1;
        return a2 < b2;
    }
    [[nodiscard]] const std::vector<FitLayout>& points() const { return points_; }

  private:
    std::size_t count_;
    bool by_memory_;
    std::vector<FitLayout> points_;
};

}  // namespace pentamesh
