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

// Keeps a value made from something that changes seldom, until its key changes.

// `Key` names everything that the value depends on: a revision, or a tuple of it and the user's choices.
template <typename T, typename Key = std::uint64_t>
class Kept {
  public:
    // `make` returns the value, or takes the current one and fills it anew. Returns true if it was made now.
    template <typename Make>
    bool update(const Key& key, Make&& make) {
        if (made_ && key_ == key) return false;
        made_ = false;
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
    // Returns the value made last, or a default T before that.
    const T& operator*() const { return value_; }
    const T* operator->() const { return &value_; }
    // Returns the key of the current value, or null.
    [[nodiscard]] const Key* key() const { return made_ ? &key_ : nullptr; }
    void forget() { made_ = false; }

  private:
    T value_{};
    Key key_{};
    bool made_ = false;
};

// A value that takes too long for a frame is worked out on another thread for a key, and drawn when it is
// there.

// A view draws this. `key` names everything that the value depends on.
template <typename Value, typename Key>
struct WorkedOut {
    std::optional<Key> key;  // the key of `value`, or of the one that is being worked out
    Value value{};
    bool running = false;
    std::string error;  // why the value is missing; empty if nothing went wrong
    [[nodiscard]] bool is_of(const Key& other) const { return key && *key == other && !running; }
};

template <typename Value, typename Key>
class Beside {
  public:
    // Copies what it reads; asks now and then whether it was cancelled.
    using Work = std::function<Value(const std::atomic<bool>& cancelled)>;

    // `wake` is called on another thread when a value is there; it may be empty.
    explicit Beside(std::function<void()> wake)
        : job_([wake = std::move(wake)] {
              if (wake) wake();
          }) {}
    ~Beside() {
        if (cancel_) *cancel_ = true;
    }
    Beside(const Beside&) = delete;
    Beside& operator=(const Beside&) = delete;

    // Runs once a frame: it ends work that is not wanted, or has another key; missing work begins with
    // `make_work()`. Returns true if there is something new to draw.
    template <typename MakeWork>
    bool tend(bool wanted, const Key& key, WorkedOut<Value, Key>& state, MakeWork&& make_work) {
        if (state.running && !cancel_) state = {};  // a copy of another window's: no thread here works on it
        const bool same = state.key && *state.key == key;
        if (state.running && same && wanted) return take(state);
        const bool ended = state.running;
        if (ended) {
            *cancel_ = true;
            job_.cancel();
            state = {};
        }
        if (!wanted || (same && !ended)) return ended;
        state = {};
        state.key = key, state.running = true;
        cancel_ = std::make_shared<std::atomic<bool>>(false);
        job_.start([work = Work(make_work()), cancel = cancel_](const typename Job<Value>::Output& out) {
            out.send(work(*cancel));
        });
        return true;
    }

  private:
    bool take(WorkedOut<Value, Key>& state) {
        bool news = false;
        try {
            for (Value& value : job_.take()) {
                state.value = std::move(value);
                state.running = false;
                news = true;
            }
        } catch (const std::exception& e) {
            state.error = e.what();
            state.running = false;
            news = true;
        }
        return news;
    }

    std::shared_ptr<std::atomic<bool>> cancel_;
    Job<Value> job_;
};

}  // namespace pentamesh::ui
