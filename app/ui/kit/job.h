// Work runs in the background of the window: on one thread, or in slices between frames where there are no
// threads. Its input goes in by value, results and a wake-up come out; nothing else is shared.
#pragma once

#include "app/ui/kit/data_table.h"
#include "core/base/threads.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
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
            if (job_.wake_) job_.wake_();
            return true;
        }
        // Work that takes long looks at this now and then: it is true once nobody wants the result, or wants
        // it as far as it has come. It lives as long as the work.
        [[nodiscard]] const std::atomic<bool>& cancelled() const { return *cancelled_; }

      private:
        friend class Job;
        Output(Job& job, std::uint64_t number, std::shared_ptr<const std::atomic<bool>> cancelled)
            : job_(job), number_(number), cancelled_(std::move(cancelled)) {}
        Job& job_;
        std::uint64_t number_;
        std::shared_ptr<const std::atomic<bool>> cancelled_;
    };
    // One call is a slice of the work; it is called until it returns false, which means done.
    using Work = std::function<bool(const Output&)>;

    // `wake` is called on the background thread after each result and at the end: Window::wake. It may be
    // empty.
    explicit Job(std::function<void()> wake) : wake_(std::move(wake)) {
        if constexpr (kOnThread)
            thread_ = std::thread([this] { run(); });
        else
            slices_.emplace([this] { return run_slice(); });
    }
    ~Job() {
        cancel();
        if constexpr (!kOnThread) return;
        {
            const std::lock_guard lock(mutex_);
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
            if (cancelled_) *cancelled_ = true;
            cancelled_ = std::make_shared<std::atomic<bool>>(false);
            next_ = Started{std::move(in_slices), cancelled_, number_};
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
        if (cancelled_) *cancelled_ = true;
        next_.reset();
        results_.clear();
        error_ = nullptr;
        running_ = false;
    }
    // The work stops the next time that it asks, and hands over what it has.
    void cut_short() {
        const std::lock_guard lock(mutex_);
        if (cancelled_) *cancelled_ = true;
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
    struct Started {
        Work work;
        std::shared_ptr<std::atomic<bool>> cancelled;
        std::uint64_t number = 0;
    };

    void run() {
        std::unique_lock lock(mutex_);
        while (true) {
            changed_.wait(lock, [this] { return quit_ || next_.has_value(); });
            if (quit_) return;
            const Started now = *std::exchange(next_, std::nullopt);
            lock.unlock();
            const Output out(*this, now.number, now.cancelled);
            std::exception_ptr error;
            while (slice_of(now.work, out, error) && out.wanted()) {
            }
            lock.lock();
            if (now.number != number_) continue;
            running_ = false;
            error_ = error;
            lock.unlock();
            if (wake_) wake_();
            lock.lock();
        }
    }
    // Runs a slice without a thread. Returns true if there is more to do.
    bool run_slice() {
        if (next_) sliced_ = std::exchange(next_, std::nullopt);
        if (!sliced_) return false;
        if (sliced_->number == number_) {
            std::exception_ptr error;
            const Started now = *sliced_;  // it may start the next
            if (slice_of(now.work, Output(*this, now.number, now.cancelled), error)) return true;
            if (next_) return true;
            if (now.number == number_) {
                running_ = false;
                error_ = error;
                if (wake_) wake_();
            }
        }
        sliced_.reset();
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
    std::optional<Started> next_;
    std::uint64_t number_ = 0;                      // of the work that is wanted
    std::shared_ptr<std::atomic<bool>> cancelled_;  // of that work; null before the first
    std::vector<Result> results_;
    std::exception_ptr error_;
    bool running_ = false, quit_ = false;
    std::optional<Started> sliced_;  // the work that is being done in slices
    std::optional<SliceWorker> slices_;
    std::thread thread_;  // last: it uses all of the above
};

// A value that is worked out for a key: at once, or in the background where that takes too long for a frame.

// `Key` names everything that the value depends on: a revision, or a tuple of it and the user's choices.
template <typename T, typename Key = std::uint64_t>
class Kept {
  public:
    // Works the value out at once if it is not of this key. `make` returns the value, or takes the current
    // one and fills it anew. Returns true if it was made now.
    template <typename Make>
    bool update(const Key& key, Make&& make) {
        if (is_of(key)) return false;
        forget();
        error_.clear();
        if constexpr (std::is_invocable_v<Make&, T&>)
            make(value_);
        else
            value_ = make();
        key_ = key;
        made_ = true;
        return true;
    }
    template <typename Make>
    const T& get(const Key& key, Make&& make) {
        update(key, std::forward<Make>(make));
        return value_;
    }
    // Works the value out in the background; runs once a frame. It ends work that is not wanted, or has
    // another key; a missing value is begun with `make_work()`, a function that copies what it reads, asks
    // now and then if it was cancelled, and returns the value. `wake` is called on another thread when it is
    // there. Returns true if there is something new to draw.
    using Work = std::function<T(const std::atomic<bool>& cancelled)>;
    template <typename MakeWork>
    bool work_out(const std::function<void()>& wake, bool wanted, const Key& key, MakeWork&& make_work) {
        if (running() && wanted && key_ == key) return collect();
        const bool ended = running();
        if (ended) forget();
        if (!wanted || is_of(key)) return ended;
        value_ = {};
        error_.clear();
        key_ = key, made_ = false;
        if (!worker_.job) worker_.job = std::make_unique<Job<T>>(wake);
        worker_.job->start([work = Work(make_work())](const typename Job<T>::Output& out) {
            out.send(work(out.cancelled()));
        });
        worker_.running = true;
        return true;
    }
    // Returns the value made last, or a default T before that and while another is worked out.
    const T& operator*() const { return value_; }
    const T* operator->() const { return &value_; }
    // Returns the key of the current value, or null.
    [[nodiscard]] const Key* key() const { return made_ ? &key_ : nullptr; }
    [[nodiscard]] bool is_of(const Key& key) const { return made_ && key_ == key; }
    [[nodiscard]] bool running() const { return worker_.running; }
    // Returns why the value is missing; empty if nothing went wrong.
    [[nodiscard]] const std::string& error() const { return error_; }
    // Hands over the value, or the error, so that it is used once.
    [[nodiscard]] T take() { return std::exchange(value_, T{}); }
    [[nodiscard]] std::string take_error() { return std::exchange(error_, {}); }
    void forget() {
        worker_.stop();
        made_ = false;
    }

  private:
    // A copy of a value has no work of its own: where it was being worked out, it is begun anew.
    struct Worker {
        std::unique_ptr<Job<T>> job;  // null until it is needed
        bool running = false;
        Worker() = default;
        Worker(const Worker& /*other*/) {}
        Worker& operator=(const Worker& other) {
            if (this != &other) stop();
            return *this;
        }
        ~Worker() = default;
        void stop() {
            if (running) job->cancel();
            running = false;
        }
    };

    bool collect() {
        try {
            std::vector<T> values = worker_.job->take();
            if (values.empty()) return false;
            value_ = std::move(values.back());
        } catch (const std::exception& e) {
            error_ = e.what();
        }
        worker_.running = false;
        made_ = true;
        return true;
    }

    T value_{};
    Key key_{};
    bool made_ = false;  // the value, or the error, is of the key
    std::string error_;
    Worker worker_;
};

}  // namespace pentamesh::ui
