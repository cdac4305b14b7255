#include "core/runs/whatif.h"

#include "core/base/number.h"
#include "core/runs/chrome_events.h"
#include "core/runs/dump.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace pentamesh::runs {
namespace {

using Kind = WorkKind;

[[nodiscard]] bool is_compute(Kind k) {
    return k == Kind::forward_compute || k == Kind::backward_compute || k == Kind::gc || k == Kind::optimizer;
}

// Lists the operations of a replica, what each waits for, and which two end together.
class Operations {
  public:
    explicit Operations(const std::vector<StageWork>& stages) : stages_(stages) {
        for (std::size_t s = 0; s < stages.size(); ++s) {
            first_.emplace_back();
            for (const Kind k : all_of<Kind>()) {
                first_.back()[k] = static_cast<int>(kind.size());
                kind.insert(kind.end(), static_cast<std::size_t>(stages[s].count[k]), k);
                stage.insert(stage.end(), static_cast<std::size_t>(stages[s].count[k]), s);
            }
        }
        after_.resize(kind.size());
        peer_.assign(kind.size(), -1);
        for (std::size_t s = 0; s < stages.size(); ++s) add_stage(s);
        if (stages.size() > 1) join(at(0, Kind::embedding, 0), at(stages.size() - 1, Kind::embedding, 0));
        sort();
    }

    // Returns the operation's number; -1 where the stage has none such.
    [[nodiscard]] int at(std::size_t s, Kind k, int index) const {
        return s < stages_.size() && index >= 0 && index < stages_[s].count[k] ? first_[s][k] + index : -1;
    }

    // Finds when each stage of a replica has summed its embeddings, and is ready to reduce its gradients.
    void run(const std::vector<double>& seconds, std::vector<double>& end, std::vector<double>& ready) const {
        end.assign(kind.size(), 0);
        for (const int i : order_) {
            const int other = peer_[static_cast<std::size_t>(i)];
            double start = start_of(i, end);
            if (other >= 0) {
                start = std::max(start, start_of(other, end));
                end[static_cast<std::size_t>(other)] = start + seconds[static_cast<std::size_t>(other)];
            }
            end[static_cast<std::size_t>(i)] = start + seconds[static_cast<std::size_t>(i)];
        }
        ready.assign(stages_.size(), 0);
        for (std::size_t s = 0; s < stages_.size(); ++s)
            if (last_[s] >= 0) ready[s] = end[static_cast<std::size_t>(last_[s])];
    }

    std::vector<Kind> kind;          // of each operation
    std::vector<std::size_t> stage;  // of each operation

  private:
    void wait(int operation, int before) {
        if (operation >= 0 && before >= 0) after_[static_cast<std::size_t>(operation)].push_back(before);
    }
    void join(int a, int b) {
        if (a < 0 || b < 0) return;
        peer_[static_cast<std::size_t>(a)] = b;
        peer_[static_cast<std::size_t>(b)] = a;
    }
    [[nodiscard]] double start_of(int i, const std::vector<double>& end) const {
        double start = 0;
        for (const int before : after_[static_cast<std::size_t>(i)])
            start = std::max(start, end[static_cast<std::size_t>(before)]);
        return start;
    }

    // Adds a direction's sends and receives, each kind in its own order.
    void add_transfers(std::size_t s, Kind compute, Kind recv, Kind send, std::size_t to) {
        for (int k = 0; k < stages_[s].count[recv]; ++k) {
            wait(at(s, compute, k), at(s, recv, k));
            wait(at(s, recv, k), at(s, recv, k - 1));
            wait(at(s, recv, k), at(s, compute, k - 1));
        }
        for (int k = 0; k < stages_[s].count[send]; ++k) {
            wait(at(s, send, k), at(s, send, k - 1));
            wait(at(s, send, k), at(s, compute, k));
            join(at(s, send, k), at(to, recv, k));
        }
    }
    void add_stage(std::size_t s) {
        const std::vector<Kind>& compute = stages_[s].compute;
        int last = -1;
        EnumArray<Kind, int> done{};
        std::vector<int> chain;
        for (const Kind k : compute) {
            chain.push_back(at(s, k, done[k]++));
            wait(chain.back(), last);
            last = chain.back();
        }
        wait(at(s, Kind::forward_compute, 0), at(s, Kind::all_gather, 0));
        add_transfers(s, Kind::forward_compute, Kind::forward_recv, Kind::forward_send, s + 1);
        add_transfers(s, Kind::backward_compute, Kind::backward_recv, Kind::backward_send, s - 1);
        const auto first_backward = static_cast<std::size_t>(
            std::find(compute.begin(), compute.end(), Kind::backward_compute) - compute.begin());
        if (first_backward >= 2 && first_backward < compute.size())
            for (const Kind k : {Kind::backward_recv, Kind::backward_send})
                wait(at(s, k, 0), chain[first_backward - 2]);
        for (const Kind k : {Kind::gc, Kind::layernorm, Kind::embedding})
            for (int i = 0; i < stages_[s].count[k]; ++i) {
                wait(at(s, k, i), last);
                last = at(s, k, i);
            }
        last_.push_back(last);
    }

    // Orders the operations so that each comes after all that it waits for; of two that end together only
    // one is in the order.
    void sort() {
        const std::size_t n = kind.size();
        std::vector<int> open(n);
        std::vector<std::vector<int>> next(n);
        const auto one = [&](int i) {
            const int other = peer_[static_cast<std::size_t>(i)];
            return other >= 0 ? std::min(i, other) : i;
        };
        std::size_t nodes = 0;
        for (std::size_t i = 0; i < n; ++i) {
            if (one(static_cast<int>(i)) == static_cast<int>(i)) ++nodes;
            for (const int before : after_[i]) {
                next[static_cast<std::size_t>(one(before))].push_back(one(static_cast<int>(i)));
                ++open[static_cast<std::size_t>(one(static_cast<int>(i)))];
            }
        }
        for (std::size_t i = 0; i < n; ++i)
            if (open[i] == 0 && one(static_cast<int>(i)) == static_cast<int>(i))
                order_.push_back(static_cast<int>(i));
        for (std::size_t at = 0; at < order_.size(); ++at)
            for (const int i : next[static_cast<std::size_t>(order_[at])])
                if (--open[static_cast<std::size_t>(i)] == 0) order_.push_back(i);
        if (order_.size() < nodes)
            refuse("its operations wait for each other in a ring: it is no plain pipeline");
    }

    const std::vector<StageWork>& stages_;
    std::vector<EnumArray<Kind, int>> first_;
    std::vector<std::vector<int>> after_;
    std::vector<int> peer_, order_, last_;  // last_: before the gradients are reduced, by stage
};

// Replays the run with some times as they were and the others ideal.
class Replay {
  public:
    explicit Replay(const WorkerTimes& times) : times_(times), operations_(times.stages) {
        EnumArray<Kind, std::vector<double>> all;
        for (const auto& step : times.seconds)
            for (const std::vector<double>& replica : step)
                for (std::size_t i = 0; i < replica.size(); ++i)
                    all[operations_.kind[i]].push_back(replica[i]);
        EnumArray<Kind, double> typical{};
        for (const Kind k : all_of<Kind>())
            if (!all[k].empty())
                typical[k] = is_compute(k) ? std::accumulate(all[k].begin(), all[k].end(), 0.0)
                                                 / static_cast<double>(all[k].size())
                                           : median(std::move(all[k]));
        for (const Kind k : operations_.kind) ideal_.push_back(typical[k]);
        operations_.run(ideal_, end_, ideal_ready_);
    }

    // Returns the mean step. `keeps(replica, operation)` is true for times that stay as they were measured;
    // `any(replica)` is false for a replica none of whose times stay.
    template <typename Any, typename Keeps>
    double step(const Any& any, const Keeps& keeps) {
        double sum = 0;
        for (const auto& step : times_.seconds) {
            seconds_.assign(times_.replicas, &ideal_), ready_.assign(times_.replicas, ideal_ready_);
            mixed_.resize(times_.replicas);
            for (std::size_t r = 0; r < times_.replicas; ++r) {
                if (!any(r)) continue;
                mixed_[r] = ideal_;
                for (std::size_t i = 0; i < ideal_.size(); ++i)
                    if (keeps(r, i)) mixed_[r][i] = step[r][i];
                operations_.run(mixed_[r], end_, ready_[r]);
                seconds_[r] = &mixed_[r];
            }
            sum += end_of_step();
        }
        return sum / static_cast<double>(times_.seconds.size());
    }
    // Returns the mean step if only one worker's times were ideal, for each: stage after stage of a replica.
    std::vector<double> with_one_healthy() {
        const std::size_t stages = times_.stages.size(), replicas = times_.replicas;
        std::vector<double> mean(replicas * stages), mixed;
        ready_.resize(replicas), seconds_.resize(replicas);
        for (const auto& step : times_.seconds) {
            for (std::size_t r = 0; r < replicas; ++r) {
                operations_.run(step[r], end_, ready_[r]);
                seconds_[r] = &step[r];
            }
            for (std::size_t r = 0; r < replicas; ++r) {
                const std::vector<double> measured = ready_[r];
                for (std::size_t s = 0; s < stages; ++s) {
                    mixed = step[r];
                    for (std::size_t i = 0; i < mixed.size(); ++i)
                        if (operations_.stage[i] == s) mixed[i] = ideal_[i];
                    operations_.run(mixed, end_, ready_[r]);
                    seconds_[r] = &mixed;
                    mean[r * stages + s] += end_of_step() / static_cast<double>(times_.seconds.size());
                }
                ready_[r] = measured;
                seconds_[r] = &step[r];
            }
        }
        return mean;
    }

    // Returns the deviation of a worker's compute in a step from the mean of its stage, relative to that.
    [[nodiscard]] double spread() const {
        const std::size_t stages = times_.stages.size();
        std::vector<double> sum(stages), squares(stages), own(stages);
        const double count = static_cast<double>(times_.seconds.size() * times_.replicas);
        for (const auto& step : times_.seconds)
            for (const std::vector<double>& replica : step) {
                std::fill(own.begin(), own.end(), 0.0);
                for (std::size_t i = 0; i < replica.size(); ++i)
                    if (operations_.kind[i] <= Kind::backward_compute)
                        own[operations_.stage[i]] += replica[i];
                for (std::size_t s = 0; s < stages; ++s) sum[s] += own[s], squares[s] += own[s] * own[s];
            }
        double variance = 0;
        for (std::size_t s = 0; s < stages; ++s)
            if (sum[s] > 0) {
                const double mean = sum[s] / count;
                variance += std::max(0.0, squares[s] / count / (mean * mean) - 1);
            }
        return std::sqrt(variance / static_cast<double>(stages));
    }
    [[nodiscard]] const Operations& operations() const { return operations_; }

  private:
    // All replicas of a stage reduce together, all workers clip together, then each updates its part.
    double end_of_step() {
        double clip = 0;
        const std::size_t stages = times_.stages.size();
        for (std::size_t s = 0; s < stages; ++s) {
            double start = 0;
            for (const std::vector<double>& ready : ready_) start = std::max(start, ready[s]);
            const int reduce = times_.replicas > 1 ? operations_.at(s, Kind::reduce_scatter, 0) : -1;
            for (const std::vector<double>* seconds : seconds_)
                clip =
                    std::max(clip, start + (reduce < 0 ? 0 : (*seconds)[static_cast<std::size_t>(reduce)]));
        }
        double end = 0;
        for (const std::vector<double>* seconds : seconds_)
            for (std::size_t s = 0; s < stages; ++s) {
                double at = clip;
                for (const Kind k : {Kind::clip, Kind::optimizer})
                    if (const int i = operations_.at(s, k, 0); i >= 0)
                        at += (*seconds)[static_cast<std::size_t>(i)];
                end = std::max(end, at);
            }
        return end;
    }

    const WorkerTimes& times_;
    Operations operations_;
    std::vector<double> ideal_, ideal_ready_, end_;
    std::vector<const std::vector<double>*> seconds_;  // by replica: the ideal ones, or those in mixed_
    std::vector<std::vector<double>> mixed_, ready_;   // by replica
};

struct NamedKinds {
    std::string_view name;
    std::vector<Kind> kinds;
};
std::vector<NamedKinds> kinds_by_name() {
    std::vector<NamedKinds> out{{"forward-pp-comm", {Kind::forward_send, Kind::forward_recv}},
                                {"backward-pp-comm", {Kind::backward_send, Kind::backward_recv}}};
    for (const Kind k : all_of<Kind>())
        if (k < Kind::forward_send || k > Kind::backward_recv) out.push_back({name_of(k), {k}});
    return out;
}

}  // namespace

WhatIf what_if(const WorkerTimes& times) {
    Replay replay(times);
    const Operations& o = replay.operations();
    const std::size_t stages = times.stages.size();
    const auto all = [](std::size_t) { return true; };
    WhatIf out;
    out.steps = times.seconds.size();
    out.stages = static_cast<std::int64_t>(stages);
    out.replicas = static_cast<std::int64_t>(times.replicas);
    out.measured_s = replay.step(all, [](std::size_t, std::size_t) { return true; });
    out.ideal_s =
        replay.step([](std::size_t) { return false; }, [](std::size_t, std::size_t) { return false; });
    if (!(out.ideal_s > 0)) refuse("its operations take no time");
    out.slowdown = out.measured_s / out.ideal_s;
    for (std::size_t s = 0; s < stages; ++s)
        out.by_stage.push_back(replay.step(all, [&](std::size_t, std::size_t i) { return o.stage[i] == s; })
                               / out.ideal_s);
    for (std::size_t r = 0; r < times.replicas; ++r)
        out.by_replica.push_back(
            replay.step([&](std::size_t x) { return x == r; }, [](std::size_t, std::size_t) { return true; })
            / out.ideal_s);
    for (const NamedKinds& n : kinds_by_name()) {
        const auto is = [&](std::size_t, std::size_t i) {
            return std::find(n.kinds.begin(), n.kinds.end(), o.kind[i]) != n.kinds.end();
        };
        out.by_kind.emplace_back(n.name, replay.step(all, is) / out.ideal_s);
    }
    std::ranges::stable_sort(out.by_kind, std::greater{}, &std::pair<std::string, double>::second);
    const std::vector<double> healthy = replay.with_one_healthy();
    for (std::size_t r = 0; r < times.replicas; ++r)
        for (std::size_t s = 0; s < stages; ++s)
            out.workers.push_back({static_cast<std::int64_t>(r), static_cast<std::int64_t>(s),
                                   std::min(out.by_replica[r], out.by_stage[s]), healthy[r * stages + s]});
    out.spread = replay.spread();
    std::ranges::stable_sort(out.workers, std::greater{}, &WorkerSlowdown::slowdown);
    constexpr double kWorst = 0.03;
    out.worst =
        std::max<std::size_t>(1, static_cast<std::size_t>(kWorst * static_cast<double>(out.workers.size())));
    std::vector<char> worst(times.replicas * stages);
    for (std::size_t i = 0; i < out.worst; ++i)
        worst[static_cast<std::size_t>(out.workers[i].dp) * stages
              + static_cast<std::size_t>(out.workers[i].stage)] = 1;
    const double lost = out.measured_s - out.ideal_s;
    const auto share_of = [&](const auto& made_ideal) {
        const double rest =
            replay.step(all, [&](std::size_t r, std::size_t i) { return !made_ideal(r, o.stage[i]); });
        return lost > 0 ? (out.measured_s - rest) / lost : 0;
    };
    out.worst_share = share_of([&](std::size_t r, std::size_t s) { return worst[r * stages + s] != 0; });
    out.last_stage_share = share_of([&](std::size_t, std::size_t s) { return s + 1 == stages; });
    return out;
}

// Reads timelines of workers: Chrome's events, a process a data-parallel rank, threads "PP rank s, TP rank
// t".

namespace {

constexpr std::size_t kMostEvents = 8'000'000;
constexpr std::int64_t kMostStages = 4096;
constexpr std::size_t kMostWorkerSteps = 500'000, kMostNames = 1000;
constexpr std::size_t kMostReplayed = 2'000'000'000;  // operations, over all replays

struct WorkEvent {
    std::int64_t step, replica, thread;
    WorkKind kind;
    double begin_us, length_us;
};

// Says on which stage and tensor-parallel rank a thread's work is.
struct Place {
    std::int64_t stage = -1, tp = -1;
};

std::int64_t number_behind(std::string_view text, std::string_view word) {
    const std::size_t at = text.find(word);
    std::int64_t n = -1;
    if (at != std::string_view::npos)
        std::from_chars(text.data() + at + word.size(), text.data() + text.size(), n);
    return n;
}

class Timelines {
  public:
    void add(const ChromeEvent& e) {
        if (e.phase == 'M') {
            const std::string_view name = e.text("name");
            if (e.name == "thread_name" && !name.empty() && places_.size() < kMostEvents)
                places_[{e.process, e.thread}] = {number_behind(name, "PP rank "),
                                                  number_behind(name, "TP rank ")};
            return;
        }
        const auto kind = kind_called(e.name);
        const std::int64_t step = e.whole("step", std::int64_t{1} << 40);
        if (!kind || step < 0 || e.process < 0) {
            if (step >= 0 && unknown_.size() < kMostNames) unknown_.emplace(e.name);
            return;
        }
        if (e.whole("model_chunk", 1024) > 0)
            refuse("its stages have several chunks (virtual stages): only plain pipelines are replayed");
        if (events_.size() >= kMostEvents) refuse("more than 8 million operations");
        events_.push_back({step, e.process, e.thread, *kind, e.begin_us, e.length_us});
    }

    RunFile finish(std::size_t passed_over) {
        RunFile out;
        out.kind = RunFileKind::straggler_timeline;
        if (events_.empty())
            refuse("it has no operations of workers (forward-compute and others, with args.step)");
        for (const std::string& name : unknown_)
            if (name.find("compute") != std::string::npos || name.find("backward") != std::string::npos)
                refuse("its operation \"" + name.substr(0, 60)
                       + "\" is of no plain pipeline (zero-bubble splits the backward): only plain ones are "
                         "replayed");
        sort_by_worker();
        lay_out(out);
        if (passed_over > 0)
            out.warnings.push_back(std::to_string(passed_over)
                                   + " events without a sensible time were passed over.");
        return out;
    }

  private:
    static std::optional<WorkKind> kind_called(std::string_view name) {
        for (const WorkKind k : all_of<WorkKind>())
            if (name_of(k) == name) return k;
        return std::nullopt;
    }
    using Worker = std::pair<std::int64_t, std::int64_t>;  // replica, stage
    using ByKind = EnumArray<WorkKind, std::vector<const WorkEvent*>>;

    void sort_by_worker() {
        std::sort(events_.begin(), events_.end(), [](const WorkEvent& a, const WorkEvent& b) {
            return std::tie(a.step, a.begin_us) < std::tie(b.step, b.begin_us);
        });
        for (const WorkEvent& e : events_) {
            const auto place = places_.find({e.replica, e.thread});
            if (place == places_.end() || place->second.stage < 0)
                refuse("a thread is not named \"PP rank s, TP rank t\"");
            if (place->second.stage >= kMostStages) refuse("more than 4,096 stages");
            if (place->second.tp > 0) continue;  // all tensor-parallel ranks of a stage do the same
            const auto [work, fresh] = steps_[e.step].try_emplace({e.replica, place->second.stage});
            if (fresh && ++worker_steps_ > kMostWorkerSteps) refuse("more than 500,000 steps of workers");
            work->second[e.kind].push_back(&e);
        }
    }

    // The first replica's first step is what all steps have to be like.
    void lay_out(RunFile& out) {
        std::set<std::int64_t> replicas;
        std::int64_t stages = 0;
        for (const auto& [worker, work] : steps_.begin()->second) {
            replicas.insert(worker.first);
            stages = std::max(stages, worker.second + 1);
        }
        WorkerTimes times;
        times.replicas = replicas.size();
        for (std::int64_t s = 0; s < stages; ++s) times.stages.push_back(stage_of(*replicas.begin(), s));
        double span = 0;
        for (const auto& [step, workers] : steps_) {
            std::vector<std::vector<double>> seconds;
            double begin = 0, end = 0;
            for (const std::int64_t r : replicas) {
                seconds.emplace_back();
                for (std::int64_t s = 0; s < stages; ++s) {
                    const auto worker = workers.find({r, s});
                    if (worker == workers.end()
                        || !add_times(worker->second, times.stages[static_cast<std::size_t>(s)],
                                      seconds.back()))
                        seconds.clear();
                    if (seconds.empty()) break;
                    for (const auto& kind : worker->second)
                        for (const WorkEvent* e : kind) {
                            if (begin == 0 || e->begin_us < begin) begin = e->begin_us;
                            end = std::max(end, e->begin_us + e->length_us);
                        }
                }
                if (seconds.empty()) break;
            }
            if (seconds.empty()) continue;
            times.seconds.push_back(std::move(seconds));
            span += (end - begin) / 1e6;
        }
        if (times.seconds.empty()) refuse("no step has the operations of all its workers");
        out.steps = times.seconds.size();
        out.step_s = span / static_cast<double>(out.steps);
        out.world = static_cast<std::int64_t>(times.replicas) * stages;
        if (out.steps < steps_.size())
            out.warnings.push_back(std::to_string(steps_.size() - out.steps) + " of "
                                   + std::to_string(steps_.size())
                                   + " steps are left out: operations of workers are missing.");
        if (static_cast<std::size_t>(stages) > kMostReplayed / events_.size())
            refuse("so many stages and operations are not replayed");
        out.whatif = what_if(times);
    }

    StageWork stage_of(std::int64_t replica, std::int64_t stage) {
        const auto& first = steps_.begin()->second;
        const auto worker = first.find({replica, stage});
        if (worker == first.end()) refuse("stage " + std::to_string(stage) + " has no operations");
        StageWork out;
        std::vector<const WorkEvent*> compute;
        for (const WorkKind k : all_of<WorkKind>()) {
            out.count[k] = static_cast<int>(worker->second[k].size());
            if (k <= WorkKind::backward_compute)
                compute.insert(compute.end(), worker->second[k].begin(), worker->second[k].end());
        }
        if (compute.empty()) refuse("stage " + std::to_string(stage) + " computes nothing");
        std::ranges::stable_sort(compute, {}, &WorkEvent::begin_us);
        for (const WorkEvent* e : compute) out.compute.push_back(e->kind);
        if (out.count[WorkKind::reduce_scatter] > 1
            || (out.count[WorkKind::reduce_scatter] == 1
                && worker->second[WorkKind::reduce_scatter].front()->begin_us < compute.back()->begin_us))
            refuse("gradients are reduced while the backward goes on (overlapped reduction): only plain "
                   "pipelines are replayed");
        return out;
    }

    static bool add_times(const ByKind& of, const StageWork& stage, std::vector<double>& seconds) {
        for (const WorkKind k : all_of<WorkKind>()) {
            if (of[k].size() != static_cast<std::size_t>(stage.count[k])) return false;
            for (const WorkEvent* e : of[k]) seconds.push_back(e->length_us / 1e6);
        }
        return true;
    }

    std::vector<WorkEvent> events_;
    std::map<std::pair<std::int64_t, std::int64_t>, Place> places_;
    std::set<std::string> unknown_;
    std::map<std::int64_t, std::map<Worker, ByKind>> steps_;
    std::size_t worker_steps_ = 0;
};

}  // namespace

RunFile read_worker_timeline(UnpackedBytes& bytes) {
    Timelines timelines;
    // Transfers were cut out of two workers' clocks, and may come out a little shorter than nothing.
    constexpr double kLeastUs = -1000;
    const ChromeTrace trace =
        read_chrome_events(bytes, kLeastUs, [&](const ChromeEvent& e) { timelines.add(e); });
    return timelines.finish(trace.passed_over);
}

}  // namespace pentamesh::runs
