// Reads events in the format of Chrome's traces out of a stream, one at a time.
#pragma once

#include "core/base/containers.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace pentamesh::runs {

class UnpackedBytes;

// Names the arguments of events that are read; all others are passed over.
enum class EventKey : std::uint8_t {
    collective,
    elements_in,
    elements_out,
    dtype,
    group_size,
    group_name,
    group_description,
    group_ranks,
    group_start,
    group_stride
};

}  // namespace pentamesh::runs

namespace pentamesh {
template <>
inline constexpr std::size_t kEnumCount<runs::EventKey> = 10;
}  // namespace pentamesh

namespace pentamesh::runs {

struct EventValue {
    bool has = false;
    double number = 0;  // 0 for a text
    std::string text;   // empty for a number
};

struct ChromeEvent {
    std::string name, category;
    char phase = ' ';
    std::int64_t process = -1, thread = -1;  // -1: none, or no number
    double begin_us = 0, length_us = 0;
    EnumArray<EventKey, EventValue> args;
    // Returns a whole number from 0 to `most`; -1 for all else.
    [[nodiscard]] std::int64_t whole(EventKey key, std::int64_t most) const;
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
