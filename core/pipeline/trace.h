// Writes a timeline as Chrome-trace JSON, which the Perfetto UI and chrome://tracing open: devices as
// processes, ops as slices, sends as slices with flow arrows, activations held as a counter, and kernels in
// the shape of a trace of PyTorch.
#pragma once

#include "core/pipeline/timeline.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// It is a kernel on the track of its name, as a trace of PyTorch has it. The texts are static.
struct TraceSlice {
    std::string_view track, name;
    std::string_view group;  // the description of a communication's process group; empty: it has none
    double from = 0, to = 0;
};

struct TraceNames {
    std::string title;                // of the whole, goes into otherData
    std::vector<std::string> device;  // "stage 3, layers 24-31, node 1"; empty or missing: only the number
    // Adds the kernels of an op of a device; of its last one also what comes after. Empty: there are only
    // ops.
    std::function<void(int device, std::size_t op, std::vector<TraceSlice>& out)> kernels{};
    double step_s = 0;  // marked as a step; 0: it is not
};

// Times are microseconds with three decimals; a timeline's unit is taken for a second. An empty timeline has
// no events. The format is "Trace Event Format" (Google, 2016) in the part that Perfetto's documentation
// names as supported.
[[nodiscard]] std::string chrome_trace(const Timeline& t, const TimelineCosts& costs,
                                       const TraceNames& names = {});

}  // namespace pentamesh
