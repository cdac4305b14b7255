// The threads of a search share this state, and each does this work.
//
// There are two passes. The first evaluates each run of each node once, in closed form, for its least time
// and memory. The second goes through the runs, the fastest bound first: a run that cannot be among the best
// and is beaten in both time and memory by a found layout is skipped; each other run is replayed once, and
// its shardings are evaluated around that replay.
#pragma once

#include "core/decide/bounds.h"
#include "core/decide/search.h"
#include "core/pipeline/sequence.h"
#include "core/pipeline/timeline.h"
#include "core/plan/edits.h"
#include "core/step/constants.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace pentamesh::searching {

struct RejectedCode {
    std::int64_t count = 0;
    std::uint64_t example = 0;  // index of a layout, the first
};
using Rejected = std::map<ProblemCode, RejectedCode>;

inline void reject(Rejected& all, ProblemCode code, std::int64_t count, std::uint64_t example) {
    RejectedCode& r = all.try_emplace(code, RejectedCode{0, example}).first->second;
    r.count += count;
    r.example = std::min(r.example, example);
}

struct RunNode {
    RunBound bound;
    std::uint32_t node = 0, run = 0;
};
// All threads share this.
struct Shared {
    const Plan& plan;
    const SearchNodes& nodes;
    const SearchOptions& options;
    const std::atomic<bool>* cancel;
    const SearchProgress& progress;
    BoundOf bound;
    double room;  // bytes that a layout may take

    std::vector<std::vector<std::optional<ShardBound>>> shards;  // by node
    std::vector<RunNode> runs;
    std::atomic<std::size_t> next{0};
    std::atomic<bool> failed{false};  // a thread ended with an exception

    std::mutex mutex;
    Front front;
    Best best;
    std::atomic<std::uint64_t> version{0};
    SearchCounts counts;
    Rejected rejected;

    Shared(const Plan& p, const SearchNodes& n, const SearchOptions& o, const std::atomic<bool>* c,
           const SearchProgress& f)
        : plan(p), nodes(n), options(o), cancel(c), progress(f), bound(p),
          room(p.cluster.gpu.hbm_bytes * (1 - o.headroom)), shards(n.node.size()), best(best_asked()) {}
    // Returns a list for as many as are asked for, still empty.
    [[nodiscard]] Best best_asked() const {
        return {static_cast<std::size_t>(std::max(options.top, 1)), options.goal == Goal::memory};
    }

    [[nodiscard]] bool stopped() const {
        return failed.load(std::memory_order_relaxed) || (cancel && cancel->load(std::memory_order_relaxed));
    }
};

// Keeps timelines by shape: facts that follow from the order of a schedule are found once for many runs of a
// search. Of the long ones only the last is kept.
class KeptTimelines {
  public:
    // The result stays in place until the next one is asked for.
    [[nodiscard]] Timeline& of(const ScheduleShape& shape) {
        const std::int64_t ops = op_count(shape);
        if (ops > kLong) return long_;
        const auto at =
            std::find_if(kept_.begin(), kept_.end(), [&](const Kept& k) { return k.shape == shape; });
        if (at != kept_.end()) return at->timeline;
        for (ops_ += ops; ops_ > kMostOps; kept_.pop_front()) ops_ -= op_count(kept_.front().shape);
        return kept_.emplace_back(Kept{shape, {}}).timeline;
    }

  private:
    // These are some 30 MB a thread.
    static constexpr std::int64_t kLong = std::int64_t{1} << 15, kMostOps = std::int64_t{1} << 19;
    struct Kept {
        ScheduleShape shape;
        Timeline timeline;
    };
    std::deque<Kept> kept_;  // the oldest first
    Timeline long_;
    std::int64_t ops_ = 0;
};

// Each thread has one.
class Worker {
  public:
    explicit Worker(Shared& all) : all_(all), plan_(all.plan), best_(all.best_asked()) {}

    // Each goes on while `in_time()` and returns true if it is done. This is the first pass, until all nodes
    // are done.
    template <typename InTime>
    bool bound_nodes(const InTime& in_time) {
        return go_on(in_time, all_.nodes.node.size(), [this](std::size_t i) {
            bound_node(i);
            tell_counts();
        });
    }
    // This is the second pass.
    template <typename InTime>
    bool try_runs(const InTime& in_time) {
        return go_on(in_time, all_.runs.size(), [this](std::size_t i) { try_run(all_.runs[i]); });
    }

  private:
    template <typename InTime, typename Do>
    bool go_on(const InTime& in_time, std::size_t count, const Do& take) {
        while (in_time()) {
            const std::size_t i = all_.next++;
            if (i >= count || all_.stopped()) {
                hand_over();
                return true;
            }
            take(i);
        }
        return false;
    }

    static constexpr EvaluateOptions kQuick{.timeline = false, .messages = false, .report = false},
        kReplayed{.timeline = true, .messages = false, .report = false},
        kReplayedAlone{.timeline = true, .messages = false, .report = false, .state_waits = false};

    [[nodiscard]] std::uint64_t index_of(const SearchNode& n, std::size_t run, std::size_t shard) const {
        return n.first + run * n.shards.size() + shard;
    }
    void reject_layouts(ProblemCode code, std::size_t count, std::uint64_t example) {
        if (count == 0) return;
        const auto n = static_cast<std::int64_t>(count);
        reject(rejected_, code, n, example);
        counts_.evaluated += n;
        (code == ProblemCode::out_of_memory ? counts_.too_big : counts_.invalid) += n;
    }
    void skip(std::size_t count) { counts_.skipped += static_cast<std::int64_t>(count); }

    void bound_node(std::size_t at) {
        const SearchNode& n = all_.nodes.node[at];
        pentamesh::bound_node(all_.plan, all_.nodes, n, all_.bound, plan_, e_, bounds_);
        const std::size_t before = found_.size();
        for (std::size_t r = 0; r < bounds_.run.size(); ++r)
            if (bounds_.run[r].possible())
                found_.push_back(
                    {bounds_.run[r].bound, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(r)});
            else
                reject_layouts(*bounds_.run[r].impossible, n.shards.size(), index_of(n, r, 0));
        if (found_.size() == before) return;
        all_.shards[at] = bounds_.shard;
        drop_hopeless(n, all_.shards[at], before);
    }

    // Drops runs that no sharding makes small enough.
    void drop_hopeless(const SearchNode& n, const std::vector<std::optional<ShardBound>>& shards,
                       std::size_t from) {
        const auto hopeless = [&](const RunNode& r) {
            for (std::size_t q = 0; q < n.shards.size(); ++q)
                if (!shards[q] || all_.bound.memory(r.bound, *shards[q]) <= all_.room) return false;
            reject_layouts(ProblemCode::out_of_memory, n.shards.size(), index_of(n, r.run, 0));
            return true;
        };
        found_.erase(
            std::remove_if(found_.begin() + static_cast<std::ptrdiff_t>(from), found_.end(), hopeless),
            found_.end());
    }

    void look_at_others() {
        if (seen_ == all_.version.load(std::memory_order_acquire)) return;
        const std::lock_guard lock(all_.mutex);
        front_ = all_.front;
        best_ = all_.best;
        seen_ = all_.version.load(std::memory_order_relaxed);
    }
    [[nodiscard]] bool worth_it(double time_s, double memory) const {
        return best_.may_take(time_s, memory) || !front_.beats(time_s, memory);
    }

    struct Left {
        std::size_t shard;
        double time_s, memory;  // at least
    };
    // Fills left_ with the shardings that may be worth it, and counts the others.
    void choose(const RunNode& run, const RunBound& bound) {
        const SearchNode& n = all_.nodes.node[run.node];
        const std::vector<std::optional<ShardBound>>& shards = all_.shards[run.node];
        left_.clear();
        for (std::size_t q = 0; q < n.shards.size(); ++q) {
            if (!shards[q]) {
                left_.push_back({q, 0, 0});  // looked at for its reason
                continue;
            }
            const double memory = all_.bound.memory(bound, *shards[q]);
            if (memory > all_.room) {
                reject_layouts(ProblemCode::out_of_memory, 1, index_of(n, run.run, q));
                continue;
            }
            left_.push_back({q, all_.bound.time(bound, *shards[q]), memory});
        }
        keep_worthy();
    }
    void keep_worthy() {
        const auto end = std::remove_if(left_.begin(), left_.end(),
                                        [&](const Left& l) { return !worth_it(l.time_s, l.memory); });
        skip(static_cast<std::size_t>(left_.end() - end));
        left_.erase(end, left_.end());
    }

    void try_run(const RunNode& run) {
        const SearchNode& n = all_.nodes.node[run.node];
        look_at_others();
        choose(run, run.bound);
        if (left_.empty()) return;
        // One replay gives the makespan of all shardings: their costs are the same.
        lay_out(all_.plan, whole_states(all_.plan, all_.nodes, n, run.run), plan_);
        Timeline& kept = timelines_.of(shape_of(plan_, microbatches_of(plan_)));
        std::swap(whole_.timeline, kept);
        evaluate(plan_, whole_, kReplayedAlone);
        try_shardings(n, run);
        std::swap(whole_.timeline, kept);
    }

    // Evaluates shardings around the replay of whole_.
    void try_shardings(const SearchNode& n, const RunNode& run) {
        const bool replayed = !whole_.timeline.empty() && whole_.timeline.complete;
        if (replayed) {
            RunBound sharper = run.bound;
            sharper.makespan = std::max(sharper.makespan, whole_.timeline.makespan);
            for (Left& l : left_)
                if (const auto& shard = all_.shards[run.node][l.shard])
                    l.time_s = all_.bound.time(sharper, *shard);
            keep_worthy();
        }
        std::sort(left_.begin(), left_.end(), [](const Left& a, const Left& b) {
            return a.time_s != b.time_s ? a.time_s < b.time_s : a.shard < b.shard;
        });
        for (const Left& l : left_) {
            look_at_others();
            if (worth_it(l.time_s, l.memory))
                try_layout(n, run.run, l.shard, replayed);
            else
                skip(1);
        }
    }

    void try_layout(const SearchNode& n, std::size_t run, std::size_t shard, bool replayed) {
        const std::uint64_t index = index_of(n, run, shard);
        lay_out(all_.plan, all_.nodes.choice(n, run, shard), plan_);
        evaluate(plan_, e_, kQuick);
        if (!e_.step) return reject_layouts(first_code(e_), 1, index);
        FitLayout x{e_.step->time_s, e_.memory.peak(), index};
        if (x.memory > all_.room) return reject_layouts(ProblemCode::out_of_memory, 1, index);
        if (replayed && !take_replay()) {  // it is not the same replay after all
            evaluate(plan_, e_, kReplayed);
            if (!e_.step) return reject_layouts(first_code(e_), 1, index);
            x.memory = e_.memory.peak();
            if (x.memory > all_.room) return reject_layouts(ProblemCode::out_of_memory, 1, index);
        }
        x.time_s = e_.step->time_s;
        counts_.evaluated += 1;
        counts_.fit += 1;
        keep(n, run, shard, x);
    }

    // Gives the evaluation without a timeline the step that the replay of `whole_` makes of the same costs.
    bool take_replay() {
        if (!(e_.costs == whole_.costs) || e_.in_flight != whole_.in_flight) return false;
        Step step;
        const ResolvedPlan resolved(plan_, e_.mesh, e_.groups);
        if (!compute_step(resolved, e_.work, e_.costs, &whole_.timeline, nullptr, e_.comm, step))
            return false;
        e_.step = step;
        return true;
    }

    void keep(const SearchNode& n, std::size_t run, std::size_t shard, const FitLayout& x) {
        const std::lock_guard lock(all_.mutex);
        all_.front.add(x);
        all_.best.add(x);
        all_.version.fetch_add(1, std::memory_order_release);
        if (!all_.progress) return;
        all_.counts += counts_;
        counts_ = {};
        all_.progress({{all_.nodes.choice(n, run, shard), x.time_s, x.memory}}, all_.counts);
    }

    void tell_counts() {
        if (!all_.progress) return;
        const std::lock_guard lock(all_.mutex);
        all_.counts += counts_;
        counts_ = {};
        all_.progress({}, all_.counts);
    }

    // Hands this thread's counts and layouts to all.
    void hand_over() {
        const std::lock_guard lock(all_.mutex);
        all_.counts += counts_;
        for (const auto& [code, r] : rejected_) reject(all_.rejected, code, r.count, r.example);
        // In the second pass others read the runs, and no run is found.
        if (!found_.empty()) all_.runs.insert(all_.runs.end(), found_.begin(), found_.end());
        counts_ = {};
        rejected_.clear();
        found_.clear();
    }

    Shared& all_;
    Plan plan_;
    Evaluation e_, whole_;
    KeptTimelines timelines_;
    Front front_;
    Best best_;
    std::uint64_t seen_ = 0;
    std::vector<RunNode> found_;
    NodeBounds bounds_;
    std::vector<Left> left_;
    SearchCounts counts_;
    Rejected rejected_;
};

}  // namespace pentamesh::searching
