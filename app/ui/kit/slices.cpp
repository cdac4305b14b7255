#include "app/ui/kit/slices.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace pentamesh::ui {

namespace {

std::vector<std::weak_ptr<WorkSlice>>& all_slices() {
    thread_local std::vector<std::weak_ptr<WorkSlice>> slices;
    return slices;
}

}  // namespace

SliceWorker::SliceWorker(WorkSlice slice) : slice_(std::make_shared<WorkSlice>(std::move(slice))) {
    all_slices().push_back(slice_);
}
SliceWorker::~SliceWorker() = default;

bool run_slices(double seconds) {
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + std::chrono::duration<double>(seconds);
    bool more = true;
    while (more) {
        more = false;
        std::erase_if(all_slices(), [](const std::weak_ptr<WorkSlice>& s) { return s.expired(); });
        for (const std::weak_ptr<WorkSlice>& s :
             std::vector(all_slices()))  // a slice may end or begin others
            if (const std::shared_ptr<WorkSlice> slice = s.lock()) more = (*slice)() || more;
        if (Clock::now() >= until) break;
    }
    return more;
}

}  // namespace pentamesh::ui
