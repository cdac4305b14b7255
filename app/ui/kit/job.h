// Work beside the window: one background thread. What it needs goes in by value, results and a wake-up come
// out; nothing else is shared.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace pentamesh::ui {

template <typename Result>
class Job {
  public:
    // What the work sees of the job. `send` hands over a result; both say whether the work is still wanted.
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
    using Work = std::function<void(const Output&)>;

    // `wake` is called on the background thread after each result and at the end: Window::wake.
    explicit Job(std::function<void()> wake) : wake_(std::move(wake)), thread_([this] { run(); }) {}
    ~Job() {
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

    // Cancels what runs and starts this. Returns at once. Copy into `work` all that it reads.
    void start(Work work) {
        {
            const std::lock_guard lock(mutex_);
            ++number_;
            next_ = std::move(work);
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
    // The results since the last call, in order. Rethrows what the work threw, once, after its last results.
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
            std::exception_ptr error;
            try {
                work(Output(*this, number));
            } catch (...) {
                error = std::current_exception();
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

    const std::function<void()> wake_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<Work> next_;
    std::uint64_t number_ = 0;  // of the work that is wanted
    std::vector<Result> results_;
    std::exception_ptr error_;
    bool running_ = false, quit_ = false;
    std::thread thread_;  // last: it uses all of the above
};

}  // namespace pentamesh::ui
