// Work runs in slices where there are no threads (core/base/threads.h): the loop of the window gives it time
// between two frames. The list of workers belongs to the thread that made them: run_slices serves only those
// of the thread that calls it.
#pragma once

#include <functional>
#include <memory>

namespace pentamesh::ui {

// Does a little, some milliseconds; returns true if there is more to do now.
using WorkSlice = std::function<bool()>;

// Takes part in run_slices as long as it lives.
class SliceWorker {
  public:
    explicit SliceWorker(WorkSlice slice);
    ~SliceWorker();
    SliceWorker(const SliceWorker&) = delete;
    SliceWorker& operator=(const SliceWorker&) = delete;

  private:
    std::shared_ptr<WorkSlice> slice_;
};

// Gives all of them slices in turn, until all work is done or that many seconds have passed. Returns true if
// there is more to do.
bool run_slices(double seconds);

}  // namespace pentamesh::ui
