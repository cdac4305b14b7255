// Reads events in the format of Chrome's traces out of a stream, one at a time.
#pragma once

#include "core/runs/dump.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::runs {

// Shows one event. It lives as long as the call that it is handed to.
struct ChromeEvent {
    const Values& values;
    const Value* args = nullptr;
    std::string_view name{}, category{};
    char phase = ' ';
    std::int64_t process = -1, thread = -1;  // -1: none, or no number
    double begin_us = 0, length_us = 0;
    // Return an argument: a text, empty for all else; a whole number from 0 to `most`, -1 for all else.
    [[nodiscard]] std::string_view text(std::string_view key) const;
    [[nodiscard]] std::int64_t whole(std::string_view key, std::int64_t most) const;
};

struct TraceGroup {
    std::string name, description;
    std::int64_t size = 0;
    std::vector<std::int64_t> ranks;
};

// Holds what "distributedInfo" says.
struct TraceJob {
    std::int64_t rank = -1, world = -1;
    std::vector<TraceGroup> groups;
};

struct ChromeTrace {
    TraceJob job;
    std::size_t passed_over = 0;  // events without a sensible time
};

// Reads a list of events, or an object that has one as "traceEvents". Complete events (phase X) with a
// sensible time and names of threads (phase M) go to `each`. A length from `least_us` up to 0 counts as 0.
// Throws Error (invalid).
ChromeTrace read_chrome_events(UnpackedBytes& bytes, double least_us,
                               const std::function<void(const ChromeEvent&)>& each);

}  // namespace pentamesh::runs
