// A value that takes too long for a frame is worked out on another thread for a key, and drawn when it is
// there.
#pragma once

#include "app/ui/kit/job.h"

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace pentamesh::ui {

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
