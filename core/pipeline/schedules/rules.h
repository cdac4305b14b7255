// A schedule describes itself in one table of functions, one file a table. schedule.cpp dispatches to them;
// nothing else includes this.
#pragma once

#include "core/pipeline/schedules/schedule.h"

namespace pentamesh {

// Costs are those of one micro-batch on a whole stage, and of a send, in any one unit.
struct StageCost {
    double f = 0, i = 0, w = 0, comm = 0;
    [[nodiscard]] double b() const { return i + w; }
};

struct ScheduleRules {
    ScheduleTraits traits;
    // A device must have this many chunks, for that reason; 0 where it may have any number, or `refuse` and
    // `accepts` say.
    int chunks = 0;
    const char* chunks_because = "";
    // Adds the fault to `out` and sets in `mended` the values that would mend it. Leaves both unchanged where
    // nothing is wrong. It is called with numbers that are at least 1. Where both are null, nothing else is
    // checked.
    void (*refuse)(const ScheduleShape& shape, ScheduleShape& mended, Refusal& out) = nullptr;
    bool (*accepts)(const ScheduleShape& shape) = nullptr;
    // Writes the device's order at `at`, at most 3 * m * chunks_of ops, and returns its end.
    Op* (*emit)(const ScheduleShape& shape, int device, Op* at) = nullptr;
    double (*peak)(const ScheduleShape& shape, int device) = nullptr;
    ClosedForm (*closed_form)(const ScheduleShape& shape, const StageCost& cost) = nullptr;
    // Returns makespan - m(F + I + W).
    double (*bubble)(const ScheduleShape& shape, const StageCost& cost) = nullptr;
    // See settling_microbatches; null means never.
    int (*settles)(const ScheduleShape& shape) = nullptr;
};

// These help refuse(): the first complaint names the field, each adds a sentence.
void complain(Refusal& out, const char* pointer, const std::string& sentence);

}  // namespace pentamesh
