#include "core/decide/search.h"

#include "core/base/text.h"
#include "core/base/threads.h"
#include "core/decide/lift.h"
#include "core/decide/search_worker.h"
#include "core/plan/problem.h"
#include "core/step/step.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

namespace pentamesh {

using namespace searching;

namespace {

// Passes the first exception of any thread on to the caller, and ends the others' work.
template <typename Pass>
void on_threads(Shared& all, int threads, Pass&& pass) {
    all.next = 0;
    std::exception_ptr first;
    const auto work = [&] {
        try {
            pass(Worker(all));
        } catch (...) {
            const std::lock_guard lock(all.mutex);
            if (!all.failed.exchange(true)) first = std::current_exception();
        }
    };
    try {
        run_on_threads(threads, work);
    } catch (...) {  // no memory for a thread; those that did start have ended
        if (!first) first = std::current_exception();
    }
    if (first) std::rethrow_exception(first);
}

SearchResult result_of(const Plan& plan, const LayoutChoice& choice) {
    SearchResult r;
    r.choice = choice;
    r.plan = plan;
    lay_out(plan, choice, r.plan);
    const Evaluation e = evaluate(r.plan);
    if (!e.step) return r;
    r.step = *e.step;
    r.step_s = e.step->time_s;
    r.tokens_per_s = e.step->tokens_per_s;
    r.mfu = e.step->mfu;
    r.bubble_s = e.step->bubble_s;
    r.exposed_s = exposed_of(*e.step);
    r.memory_bytes = e.memory.peak();
    r.headroom = e.memory.hbm > 0 ? 1 - r.memory_bytes / e.memory.hbm : 0;
    r.cost_per_token = cost_per_token(plan, r.tokens_per_s);
    return r;
}

void list_results(const Plan& plan, const Shared& all, SearchReport& out) {
    std::vector<FitLayout> kept = all.best.points();
    for (const FitLayout& x : all.front.points())
        if (std::none_of(kept.begin(), kept.end(), [&](const FitLayout& k) { return k.index == x.index; }))
            kept.push_back(x);
    std::sort(kept.begin(), kept.end(),
              [&](const FitLayout& a, const FitLayout& b) { return all.best.less(a, b); });
    for (const FitLayout& x : kept) {
        SearchResult& r = out.results.emplace_back(result_of(plan, all.nodes.choice(x.index)));
        r.alike = x.alike;
        const auto& front = all.front.points();
        r.pareto = std::any_of(front.begin(), front.end(), [&](const auto& p) { return p.index == x.index; });
    }
}

void list_rejected(const Plan& plan, const Shared& all, SearchReport& out) {
    for (const auto& [code, r] : all.rejected) {
        Rejection& one = out.rejected.emplace_back();
        one.code = code;
        one.count = r.count;
        one.example = plan;
        lay_out(plan, all.nodes.choice(r.example), one.example);
        const Evaluation e = evaluate(one.example);
        one.message = e.valid && code == ProblemCode::out_of_memory ? too_big_text(e, all.options.headroom)
                                                                    : first_error(e.problems);
    }
    for (const LeftOut& l : all.nodes.left_out) {
        Rejection& one = out.rejected.emplace_back();
        one.code = code_of(l.lack);
        one.count = static_cast<std::int64_t>(l.count);
        one.example = plan;
        lay_out(plan, l.example, one.example);
        one.message = sentence(words_of(l.lack, one.example, *out.space.software), ".");
    }
    std::stable_sort(out.rejected.begin(), out.rejected.end(),
                     [](const Rejection& a, const Rejection& b) { return a.count > b.count; });
}

void sort_runs(Shared& all) {
    std::sort(all.runs.begin(), all.runs.end(), [](const RunNode& a, const RunNode& b) {
        if (a.bound.makespan != b.bound.makespan) return a.bound.makespan < b.bound.makespan;
        return a.node != b.node ? a.node < b.node : a.run < b.run;
    });
    all.next = 0;
}

SearchReport report_of(const Shared& all, const SearchSpace& space, int threads) {
    SearchReport out;
    out.goal = all.options.goal;
    out.space = space;
    out.threads = threads;
    out.asked = static_cast<std::size_t>(std::max(all.options.top, 1));
    out.cancelled = all.stopped();
    out.counts = all.counts;
    out.counts.layouts = static_cast<std::int64_t>(all.nodes.layouts);
    for (const LeftOut& l : all.nodes.left_out) out.counts.left_out += static_cast<std::int64_t>(l.count);
    out.counts.skipped = out.counts.layouts - out.counts.evaluated;  // of a cancelled search too
    list_results(all.plan, all, out);
    list_rejected(all.plan, all, out);
    const Evaluation base = evaluate(all.plan);
    out.base.valid = base.valid;
    if (base.step) {
        out.base.step_s = base.step->time_s;
        out.base.tokens_per_s = base.step->tokens_per_s;
        out.base.mfu = base.step->mfu;
        out.base.mfu_causal = mfu_causal(*base.step);
        out.base.memory_bytes = base.memory.peak();
        out.base.fit = base.memory.fit();
        out.base.lacks = lacks_of(all.plan, all.plan.training.software);
    }
    return out;
}

}  // namespace

double cost_per_token(const Plan& plan, double tokens_per_s) {
    constexpr double kSecondsOfHour = 3600;
    if (plan.cluster.price_per_gpu_hour <= 0 || tokens_per_s <= 0) return 0;
    return plan.cluster.price_per_gpu_hour * static_cast<double>(plan.cluster.gpus) / kSecondsOfHour
           / tokens_per_s;
}

struct SlicedSearch::Impl {
    Plan plan;
    SearchSpace space;
    SearchOptions options;
    SearchProgress progress;
    SearchNodes nodes = nodes_of(plan, space);
    Shared all;
    std::optional<Worker> worker;
    bool bounded = false, done = false;

    Impl(Plan p, SearchSpace s, const SearchOptions& o, const std::atomic<bool>* cancel, SearchProgress f)
        : plan(std::move(p)), space(std::move(s)), options(o), progress(std::move(f)),
          all(plan, nodes, options, cancel, progress) {
        options.threads = 1;
        worker.emplace(all);
    }
};

SlicedSearch::SlicedSearch(Plan plan, SearchSpace space, const SearchOptions& options,
                           const std::atomic<bool>* cancel, SearchProgress progress)
    : impl_(std::make_unique<Impl>(std::move(plan), std::move(space), options, cancel, std::move(progress))) {
}
SlicedSearch::~SlicedSearch() = default;

bool SlicedSearch::go_on(const std::function<bool()>& in_time) {
    Impl& s = *impl_;
    if (s.done) return false;
    if (!s.bounded) {
        if (!s.worker->bound_nodes(in_time)) return true;
        s.bounded = true;
        sort_runs(s.all);
        s.worker.emplace(s.all);
    }
    s.done = s.worker->try_runs(in_time);
    return !s.done;
}

SearchReport SlicedSearch::report() const {
    return report_of(impl_->all, impl_->space, 1);
}

SearchReport search(const Plan& plan, const SearchSpace& space, const SearchOptions& options,
                    const std::atomic<bool>* cancel, const SearchProgress& progress) {
    const int threads = kHasThreads ? (options.threads > 0 ? options.threads : cores()) : 1;
    const SearchNodes nodes = nodes_of(plan, space);
    Shared all(plan, nodes, options, cancel, progress);
    const auto always = [] { return true; };
    on_threads(all, threads, [&](Worker w) { w.bound_nodes(always); });
    sort_runs(all);
    on_threads(all, threads, [&](Worker w) { w.try_runs(always); });
    return report_of(all, space, threads);
}

}  // namespace pentamesh
