// Says how much of a pipeline's time is idle, by each measure that papers use, and what one slow device adds.
#pragma once

#include "core/pipeline/timeline.h"
#include "core/step/step.h"

#include <optional>

namespace pentamesh {

// Holds seconds (or the costs' unit) of one step. "Work" is the mean time that a device is busy: m(F + I + W)
// where stages are equal. docs/schedules.md, two measures of idle time, has the measures.
struct Bubble {
    double work = 0;
    double makespan = 0;           // first start to last end, less the work
    double span = 0;               // the longest of the devices' own spans, less the work
    std::optional<double> steady;  // time that one more step adds where steps run back to back, less the work
    double fraction = 0;           // makespan bubble of the makespan
    double overhead = 0;           // makespan bubble of the work
    ClosedForm form;               // of stages that are all like the mean
    double form_overhead = 0;      // its bubble of the work
    bool equal_stages = false;     // every chunk costs the same and no device is slow
    // Returns true if the closed form is this timeline's own: its condition holds and the stages are equal.
    [[nodiscard]] bool form_holds() const { return form.exact && equal_stages; }
    // Returns its bubble of the span or makespan that it would make, to compare with `fraction`.
    [[nodiscard]] double form_fraction() const { return form_overhead / (1 + form_overhead); }
};
// `step` is one iteration of these costs. `two` is two of them back to back (run_iterations), or null.
[[nodiscard]] Bubble measure_bubble(const Timeline& step, const TimelineCosts& costs,
                                    const Timeline* two = nullptr);

// This is one device that takes `factor` times as long for everything: a hot GPU, a slow NIC's node. Its
// tensor and context peers wait for it in every layer, so the whole stage runs at its pace.
struct SlowDevice {
    int device = -1;  // -1: none
    double factor = 1;
    [[nodiscard]] bool any() const { return device >= 0 && factor != 1; }
    bool operator==(const SlowDevice&) const = default;
};
// Sets costs.slow; a device beyond the pipeline slows none.
void apply_slow(const SlowDevice& slow, int devices, TimelineCosts& costs);
// Returns the step time when the pipeline's makespan changes from one value to another and all else stays:
// gradients, optimizer and the straggler's share of the whole.
[[nodiscard]] double step_with_makespan(const Step& step, double makespan_before, double makespan_after);

}  // namespace pentamesh
