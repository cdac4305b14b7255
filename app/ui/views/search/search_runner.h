// Runs the search of the view in the background of the window. The window hands over a plan and looks in once
// a frame.
#pragma once

#include "app/ui/kit/job.h"
#include "app/ui/views/search/view.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

namespace pentamesh::ui {

class SearchRunner {
  public:
    // `wake` is called on another thread when there is something new; it may be empty.
    explicit SearchRunner(std::function<void()> wake);
    ~SearchRunner();
    SearchRunner(const SearchRunner&) = delete;
    SearchRunner& operator=(const SearchRunner&) = delete;

    // Runs once a frame. Starts a search of `plan` where the view is shown and has no search of it. Stops it
    // where the view is hidden or the plan became another job. Takes the found layouts; returns true if there
    // is something new. With `quiet`, it is not shown, and leaves half of the cores free.
    bool tend(bool looked_at, const Plan& plan, std::uint64_t revision, SearchViewState& state,
              bool quiet = false);

  private:
    struct Batch {
        std::vector<FoundLayout> found;
        SearchCounts counts;
        double seconds = 0;
        std::optional<SearchReport> report;
    };
    struct Work;
    void start(const Plan& plan, SearchViewState& state, int threads);
    void stop(SearchViewState& state);
    bool take(SearchFound& found);

    std::shared_ptr<std::atomic<bool>> cancel_;
    std::uint64_t seen_revision_ = 0;
    SearchRequest seen_request_;
    Job<Batch> job_;
};

// Does the same to its end, only on this thread: for a picture, which is always the same.
void search_to_the_end(const Plan& plan, SearchViewState& state);

}  // namespace pentamesh::ui
