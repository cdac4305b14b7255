// Writes a timeline as Chrome-trace JSON, which the Perfetto UI and chrome://tracing open: devices as
// processes, ops as slices, sends as slices with flow arrows, activations held as a counter.
#pragma once

#include "core/pipeline/timeline.h"

#include <string>
#include <vector>

namespace pentamesh {

struct TraceNames {
    std::string title;                // of the whole, goes into otherData
    std::vector<std::string> device;  // "stage 3, layers 24-31, node 1"; empty or missing: only the number
};

// Times are microseconds with three decimals; a timeline's unit is taken for a second. An empty timeline has
// no events. The format is "Trace Event Format" (Google, 2016) in the part that Perfetto's documentation
// names as supported.
[[nodiscard]] std::string chrome_trace(const Timeline& t, const TimelineCosts& costs,
                                       const TraceNames& names = {});

}  // namespace pentamesh
