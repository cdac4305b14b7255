// Prints the last events where a random test fails: by a check, a signal, a sanitizer or its own clock.
#pragma once

#include "app/ui/kit/ui.h"

#include <cstdint>
#include <string>

namespace pentamesh::ui {

// Starts anew; from here on a crash prints the seed and the last 30 events.
void begin_events(std::uint64_t seed);
// An event that takes more than a minute ends the process, its name printed.
void add_event(const std::string& what);
void end_events();
// Prints them and fails the test case.
[[noreturn]] void fail_events(const std::string& why);

}  // namespace pentamesh::ui
