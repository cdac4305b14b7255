// Reads timelines of workers: Chrome's events, a process a data-parallel rank, threads "PP rank s, TP rank
// t".
#include "core/runs/chrome_events.h"
#include "core/runs/dump.h"
#include "core/runs/values.h"
#include "core/runs/whatif.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <tuple>

namespace pentamesh::runs {
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
            const std::string& name = e.args[EventKey::name].text;
            if (e.name == "thread_name" && e.args[EventKey::name].has && places_.size() < kMostEvents)
                places_[{e.process, e.thread}] = {number_behind(name, "PP rank "),
                                                  number_behind(name, "TP rank ")};
            return;
        }
        const auto kind = kind_called(e.name);
        const std::int64_t step = e.whole(EventKey::step, std::int64_t{1} << 40);
        if (!kind || step < 0 || e.process < 0) {
            if (step >= 0 && unknown_.size() < kMostNames) unknown_.insert(e.name);
            return;
        }
        if (e.whole(EventKey::model_chunk, 1024) > 0)
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
