// Tests background work: jobs, and values that are worked out for a key.
#include "app/ui/kit/job.h"

#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <semaphore>
#include <stdexcept>
#include <thread>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

// Blocks until the job has woken us so many times.
struct Woken {
    std::counting_semaphore<> count{0};
    std::function<void()> wake() {
        return [this] { count.release(); };
    }
    void wait(int times) {
        for (int i = 0; i < times; ++i) count.acquire();
    }
};

}  // namespace

TEST_CASE("a job hands over its results in order and wakes the window for each, and at its end") {
    Woken woken;
    Job<int> job(woken.wake());
    CHECK_FALSE(job.running());
    job.start([](const Job<int>::Output& out) {
        for (int i = 0; i < 3; ++i) out.send(i * i);
    });
    woken.wait(4);
    CHECK_FALSE(job.running());
    CHECK(job.take() == std::vector<int>{0, 1, 4});
    CHECK(job.take().empty());
}

TEST_CASE("a cancelled job hands over nothing more, and the next one starts") {
    Woken woken;
    std::binary_semaphore started{0}, go_on{0};
    Job<int> job(woken.wake());
    bool sent = true, wanted = true;
    job.start([&](const Job<int>::Output& out) {
        out.send(1);
        started.release();
        go_on.acquire();
        wanted = out.wanted();
        sent = out.send(2);
    });
    started.acquire();
    CHECK(job.running());
    job.cancel();
    CHECK_FALSE(job.running());
    go_on.release();
    job.start([](const Job<int>::Output& out) { out.send(3); });
    woken.wait(3);  // 1, 3 and the end of the second
    CHECK(job.take() == std::vector<int>{3});
    CHECK_FALSE(wanted);
    CHECK_FALSE(sent);
}

TEST_CASE("a job that throws says so once, after its results") {
    Woken woken;
    Job<int> job(woken.wake());
    job.start([](const Job<int>::Output& out) {
        out.send(7);
        throw std::runtime_error("no more");
    });
    woken.wait(2);
    CHECK(job.take() == std::vector<int>{7});
    CHECK_THROWS_AS(static_cast<void>(job.take()), std::runtime_error);
    CHECK(job.take().empty());
}

TEST_CASE("a job in the middle of its work ends with its owner") {
    std::binary_semaphore started{0};
    bool ended = false;
    {
        Job<int> job([] {});
        job.start([&](const Job<int>::Output& out) {
            started.release();
            while (out.wanted()) std::this_thread::yield();
            ended = true;
        });
        started.acquire();
    }
    CHECK(ended);
}

TEST_CASE("a value in the background is worked out once for a key, and another key cancels it") {
    Woken woken;
    using Value = Kept<int, int>;
    const auto wake = woken.wake();
    std::counting_semaphore<16> begun(0), ended(0);
    {
        Value value;
        const auto square = [&](int key) {
            return [key] { return Value::Work([key](const std::atomic<bool>&) { return key * key; }); };
        };
        CHECK_FALSE(value.work_out(wake, false, 3, square(3)));  // nobody wants it
        CHECK(value.work_out(wake, true, 3, square(3)));
        CHECK(value.running());
        while (!value.work_out(wake, true, 3, square(3))) woken.wait(1);
        CHECK(value.is_of(3));
        CHECK(*value == 9);
        CHECK_FALSE(value.work_out(wake, true, 3, square(3)));  // it stays

        const auto endless = [&] {
            return Value::Work([&](const std::atomic<bool>& cancelled) {
                begun.release();
                while (!cancelled) std::this_thread::yield();
                ended.release();
                return 0;
            });
        };
        CHECK(value.work_out(wake, true, 4, endless));
        CHECK_FALSE(value.is_of(4));
        begun.acquire();
        CHECK(value.work_out(wake, true, 5, square(5)));
        ended.acquire();
        while (!value.work_out(wake, true, 5, square(5))) woken.wait(1);
        CHECK(*value == 25);

        CHECK(value.work_out(wake, true, 6, [] {
            return Value::Work(
                [](const std::atomic<bool>&) -> int { throw std::runtime_error("no figure"); });
        }));
        while (!value.work_out(wake, true, 6, square(6))) woken.wait(1);
        CHECK(value.error() == "no figure");
        CHECK(value.work_out(wake, true, 7, endless));
        begun.acquire();
        Value copied = value;
        CHECK(copied.work_out(wake, true, 7, square(7)));
        while (!copied.work_out(wake, true, 7, square(7))) woken.wait(1);
        CHECK(*copied == 49);
    }
    ended.acquire();  // its owner's end was the work's
}

TEST_CASE("a job without a thread goes on in slices, and takes another work between two of them") {
    int woken = 0;
    Job<int, false> job([&] { ++woken; });
    int n = 0;
    job.start([&](const Job<int, false>::Output& out) {
        out.send(++n);
        return n < 3;
    });
    CHECK(job.running());
    CHECK(n == 0);  // nothing is done before its time
    CHECK(run_slices(0));
    CHECK(job.take() == std::vector<int>{1});
    CHECK_FALSE(run_slices(10));
    CHECK_FALSE(job.running());
    CHECK(job.take() == std::vector<int>{2, 3});
    CHECK(woken == 4);  // three results and the end

    job.start([&](const Job<int, false>::Output& out) { return out.send(0); });
    run_slices(0);
    job.start([](const Job<int, false>::Output& out) { out.send(7); });
    CHECK_FALSE(run_slices(10));
    CHECK(job.take() == std::vector<int>{7});

    job.start([](const Job<int, false>::Output&) -> bool { throw std::runtime_error("no"); });
    CHECK_FALSE(run_slices(10));
    CHECK_THROWS_WITH((void)job.take(), "no");
}
