// Work runs in the background of the window: on one thread, or in slices between frames where there are no
// threads. Its input goes in by value, results and a wake-up come out; nothing else is shared.
#pragma once

#include "app/ui/kit/slices.h"
#include "core/base/threads.h"

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace pentamesh::ui {

template <typename Result, bool kOnThread = kHasThreads>
class Job {
  public:
    // The work sees this of the job. `send` hands over a result; both say whether the work is still wanted.
    class Output {
      public:
        [[nodiscard]] bool wanted() const {
            const std::lock_guard lock(job_.mutex_);
            return job_.number_ == number_;
        }
        bool send(Result result) const {
            {
                const std::lock_guard lock(job_.mutex_);
                if (job_.number_ != number_) return false;
                job_.results_.push_back(std::move(result));
            }
            job_.wake_();
            return true;
        }

      private:
        friend class Job;
        Output(Job& job, std::uint64_t number) : job_(job), number_(number) {}
        Job& job_;
        std::uint64_t number_;
    };
    // One call is a slice of the work; it is called until it returns false, which means done.
    using Work = std::function<bool(const Output&)>;

    // `wake` is called on the background thread after each result and at the end: Window::wake.
    explicit Job(std::function<void()> wake) : wake_(std::move(wake)) {
        if constexpr (kOnThread)
            thread_ = std::thread([this] { run(); });
        else
            slices_.emplace([this] { return run_slice(); });
    }
    ~Job() {
        if constexpr (!kOnThread) return;
        {
            const std::lock_guard lock(mutex_);
            ++number_;
            next_.reset();
            quit_ = true;
        }
        changed_.notify_one();
        thread_.join();
    }
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    // Cancels the running work and starts this. Returns at once. Copy into `work` all that it reads.
    template <typename DoWork>
    void start(DoWork work) {
        Work in_slices;
        if constexpr (std::is_void_v<std::invoke_result_t<DoWork&, const Output&>>)
            in_slices = [work = std::move(work)](const Output& out) {
                work(out);
                return false;
            };
        else
            in_slices = std::move(work);
        {
            const std::lock_guard lock(mutex_);
            ++number_;
            next_ = std::move(in_slices);
            results_.clear();
            error_ = nullptr;
            running_ = true;
        }
        changed_.notify_one();
    }
    // No more results come. The work stops the next time that it asks.
    void cancel() {
        const std::lock_guard lock(mutex_);
        ++number_;
        next_.reset();
        results_.clear();
        error_ = nullptr;
        running_ = false;
    }
    [[nodiscard]] bool running() const {
        const std::lock_guard lock(mutex_);
        return running_;
    }
    // Returns the results since the last call, in order. Rethrows an exception of the work, once, after its
    // last results.
    [[nodiscard]] std::vector<Result> take() {
        const std::lock_guard lock(mutex_);
        if (results_.empty() && error_) std::rethrow_exception(std::exchange(error_, nullptr));
        return std::exchange(results_, {});
    }

  private:
    void run() {
        std::unique_lock lock(mutex_);
        while (true) {
            changed_.wait(lock, [this] { return quit_ || next_.has_value(); });
            if (quit_) return;
            const Work work = *std::exchange(next_, std::nullopt);
            const std::uint64_t number = number_;
            lock.unlock();
            const Output out(*this, number);
            std::exception_ptr error;
            while (slice_of(work, out, error) && out.wanted()) {
            }
            lock.lock();
            if (number != number_) continue;
            running_ = false;
            error_ = error;
            lock.unlock();
            wake_();
            lock.lock();
        }
    }
    // Runs a slice without a thread. Returns true if there is more to do.
    bool run_slice() {
        if (next_) work_ = std::exchange(next_, std::nullopt), work_number_ = number_;
        if (!work_) return false;
        if (work_number_ == number_) {
            std::exception_ptr error;
            const Work work = *work_;  // it may start the next
            if (slice_of(work, Output(*this, work_number_), error)) return true;
            if (next_) return true;
            if (work_number_ == number_) {
                running_ = false;
                error_ = error;
                wake_();
            }
        }
        work_.reset();
        return false;
    }
    static bool slice_of(const Work& work, const Output& out, std::exception_ptr& error) {
        try {
            return work(out);
        } catch (...) {
            error = std::current_exception();
            return false;
        }
    }

    const std::function<void()> wake_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<Work> next_;
    std::uint64_t number_ = 0;  // of the work that is wanted
    std::vector<Result> results_;
    std::exception_ptr error_;
    bool running_ = false, quit_ = false;
    std::optional<Work> work_;  // the work that is being done in slices
    std::uint64_t work_number_ = 0;
    std::optional<SliceWorker> slices_;
    std::thread thread_;  // last: it uses all of the above
};

}  // namespace pentamesh::ui
