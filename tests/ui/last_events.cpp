#include "tests/ui/last_events.h"

#include "tests/sanitized.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <doctest/doctest.h>
#include <unistd.h>

#ifdef PENTAMESH_SANITIZED
extern "C" void __sanitizer_set_death_callback(void (*callback)());  // NOLINT: the runtime's name
#endif

namespace pentamesh::ui {
namespace {

constexpr std::size_t kKept = 30;
constexpr unsigned kLongestEvent_s = 60;

// It is plain memory, so that a handler can print it.
struct Events {
    std::array<std::array<char, 160>, kKept> text{};
    std::size_t count = 0;
    std::uint64_t seed = 0;
    bool on = false;
};
Events events;

void put(const char* text) {
    if (write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

void print_events() {
    if (!events.on) return;
    std::array<char, 120> head{};
    std::snprintf(head.data(), head.size(), "\nPENTAMESH_MONKEY_SEED=%llu, at event %zu. The last events:\n",
                  static_cast<unsigned long long>(events.seed), events.count);
    put(head.data());
    for (std::size_t i = events.count > kKept ? events.count - kKept : 0; i < events.count; ++i) {
        put("  ");
        put(events.text[i % kKept].data());
        put("\n");
    }
}

void on_signal(int signal) {
    if (signal == SIGALRM) put("\nan event takes more than a minute\n");
    print_events();
    std::signal(signal, SIG_DFL);
    static_cast<void>(raise(signal));
}

}  // namespace

void begin_events(std::uint64_t seed) {
    events = {};
    events.seed = seed;
    events.on = true;
    std::signal(SIGALRM, on_signal);
#ifdef PENTAMESH_SANITIZED
    __sanitizer_set_death_callback(print_events);
    std::signal(SIGABRT, on_signal);  // the library's assertions raise this
#else
    for (const int s : {SIGSEGV, SIGABRT, SIGFPE}) std::signal(s, on_signal);
#endif
}

void add_event(const std::string& what) {
    auto& text = events.text[events.count++ % kKept];
    std::snprintf(text.data(), text.size(), "%s", what.c_str());
    alarm(kLongestEvent_s);
}

void end_events() {
    alarm(0);
    events.on = false;
}

void fail_events(const std::string& why) {
    print_events();
    end_events();
    FAIL(why);
    std::abort();  // FAIL throws
}

}  // namespace pentamesh::ui
