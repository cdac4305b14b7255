#include "app/ui/views/search/search_runner.h"

#include "core/base/threads.h"
#include "core/decide/lift.h"
#include "core/decide/nodes.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace pentamesh::ui {

namespace {

using Clock = std::chrono::steady_clock;
constexpr double kBatch_s = 0.04;   // found layouts are handed over so often
constexpr double kSlice_s = 0.004;  // a slice of work takes so long where there are no threads
constexpr int kListed = 12;

double seconds_since(Clock::time_point t) {
    return std::chrono::duration<double>(Clock::now() - t).count();
}

SearchOptions options_of(const SearchRequest& r, int threads) {
    return {.goal = r.goal, .headroom = r.headroom, .top = kListed, .threads = threads};
}

int half_of_the_cores() {
    return std::max(1, cores() / 2);
}

std::shared_ptr<SearchFound> begin(const Plan& plan, SearchViewState& state) {
    if (!state.chosen) state.request.held = held_at_first(plan, state.request.any_software);
    auto found = std::make_shared<SearchFound>();
    found->base = std::make_shared<const Plan>(plan);
    found->request = state.request;
    found->space = space_of(plan, state.request);
    found->version = state.found ? state.found->version + 1 : 1;
    return found;
}

}  // namespace

SearchRunner::SearchRunner(std::function<void()> wake)
    : job_([wake = std::move(wake)] {
          if (wake) wake();
      }) {}

SearchRunner::~SearchRunner() {
    if (cancel_) *cancel_ = true;
}

// A search runs on a background thread to its end, or a slice of it.
struct SearchRunner::Work {
    std::shared_ptr<const SearchFound> asked;
    int threads = 0;
    std::shared_ptr<std::atomic<bool>> cancel;
    Clock::time_point begun = Clock::now();
    std::int64_t layouts = 0;
    Batch batch;
    double sent_s = 0;
    std::unique_ptr<SlicedSearch> sliced;  // null: not begun, or not in slices

    [[nodiscard]] SearchProgress progress(const Job<Batch>::Output& out) {
        return [this, out](const std::vector<FoundLayout>& found, const SearchCounts& counts) {
            batch.found.insert(batch.found.end(), found.begin(), found.end());
            const double now_s = seconds_since(begun);
            if (now_s - sent_s < kBatch_s) return;
            batch.counts = counts;
            batch.counts.layouts = layouts;
            batch.seconds = sent_s = now_s;
            out.send(std::exchange(batch, {}));
        };
    }
    // Returns true if there is more to do.
    bool go_on(const Job<Batch>::Output& out) {
        const SearchOptions options = options_of(asked->request, threads);
        if (layouts == 0) layouts = static_cast<std::int64_t>(nodes_of(*asked->base, asked->space).layouts);
        SearchReport r;
        if (kHasThreads) {
            r = search(*asked->base, asked->space, options, cancel.get(), progress(out));
        } else {
            if (!sliced)
                sliced = std::make_unique<SlicedSearch>(*asked->base, asked->space, options, cancel.get(),
                                                        progress(out));
            const Clock::time_point from = Clock::now();
            if (sliced->go_on([from] { return seconds_since(from) < kSlice_s; })) return true;
            r = sliced->report();
        }
        if (!r.cancelled) find_ties(*asked->base, {.robust = true}, r, cancel.get());
        batch.seconds = seconds_since(begun);
        if (!r.cancelled)
            r.nothing_fits = what_would_fit(*asked->base, space_request(*asked->base, asked->request),
                                            options, r, cancel.get());
        batch.counts = r.counts;
        batch.report = std::move(r);
        out.send(std::move(batch));
        return false;
    }
};

void SearchRunner::start(const Plan& plan, SearchViewState& state, int threads) {
    stop(state);
    state.found = begin(plan, state);
    state.found->running = true;
    state.stopped = false;
    cancel_ = std::make_shared<std::atomic<bool>>(false);
    const auto asked = std::make_shared<const SearchFound>(*state.found);
    const auto work = std::make_shared<Work>();
    work->asked = asked, work->threads = threads, work->cancel = cancel_;
    job_.start([work](const Job<Batch>::Output& out) { return work->go_on(out); });
}

void SearchRunner::stop(SearchViewState& state) {
    if (cancel_) *cancel_ = true;
    cancel_.reset();
    job_.cancel();
    if (state.found) state.found->running = false;
}

bool SearchRunner::take(SearchFound& found) {
    bool any = false;
    try {
        for (Batch& b : job_.take()) {
            any = true;
            for (const FoundLayout& x : b.found) found.add(x);
            found.counts = b.counts;
            found.seconds = b.seconds;
            if (!b.report) continue;
            found.report = std::move(b.report), found.running = false;
            found.ordered = Second::step;
        }
    } catch (const std::exception& e) {
        found.error = e.what();
        found.running = false;
        any = true;
    }
    if (any) ++found.version;
    return any;
}

bool SearchRunner::tend(bool looked_at, const Plan& plan, std::uint64_t revision, SearchViewState& state,
                        bool quiet) {
    const bool runs = state.found && state.found->running;
    if (!looked_at) {
        if (!runs) return false;
        stop(state);
        return true;
    }
    const bool asked_again = std::exchange(state.again, false);
    if (state.stopped && runs && cancel_) *cancel_ = true;  // it hands over its best so far
    const bool news = runs && take(*state.found);
    const bool unseen = seen_revision_ != revision || !(seen_request_ == state.request);
    const bool over =
        state.found && (state.found->running || state.found->report || !state.found->error.empty());
    if (!unseen && over && !asked_again) return news;
    const bool holds =
        over && !asked_again && state.found->request == state.request && still_holds(*state.found, plan);
    if (!holds) start(plan, state, quiet ? half_of_the_cores() : 0);
    seen_revision_ = revision;
    seen_request_ = state.request;
    return !holds || news;
}

void search_to_the_end(const Plan& plan, SearchViewState& state) {
    const bool done = state.found && state.found->report && !state.found->report->cancelled
                      && state.found->request == state.request && still_holds(*state.found, plan);
    if (done) return;
    state.found = begin(plan, state);
    SearchFound& found = *state.found;
    const SearchOptions options = options_of(found.request, 1);
    SearchReport r = search(plan, found.space, options, nullptr,
                            [&](const std::vector<FoundLayout>& more, const SearchCounts&) {
                                for (const FoundLayout& x : more) found.add(x);
                            });
    find_ties(plan, {.robust = true}, r);
    r.nothing_fits = what_would_fit(plan, space_request(plan, found.request), options, r);
    found.counts = r.counts;
    found.report = std::move(r);
    ++found.version;
}

}  // namespace pentamesh::ui
