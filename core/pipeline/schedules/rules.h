// What a schedule has to say for itself: one table of functions a schedule, one file a table. schedule.cpp
// dispatches to them; nothing else includes this.
#pragma once

#include "core/pipeline/schedules/schedule.h"

namespace pentamesh {

// Costs of one micro-batch on a whole stage, and of a send: any one unit.
struct StageCost {
    double f = 0, i = 0, w = 0, comm = 0;
    [[nodiscard]] double b() const { return i + w; }
};

struct ScheduleRules {
    ScheduleTraits traits;
    // The chunks that a device must have, and why; 0: any number, or `refuse` and `accepts` say.
    int chunks = 0;
    const char* chunks_because = "";
    // Adds what is wrong to `out` and sets in `mended` what would mend it. Leaves both alone where nothing
    // is. Called with numbers that are at least 1. Both left out: nothing else is asked.
    void (*refuse)(const ScheduleShape& shape, ScheduleShape& mended, Refusal& out) = nullptr;
    bool (*accepts)(const ScheduleShape& shape) = nullptr;
    // Writes the device's order at `at`, at most 3 * m * chunks_of ops, and returns its end.
    Op* (*emit)(const ScheduleShape& shape, int device, Op* at) = nullptr;
    double (*peak)(const ScheduleShape& shape, int device) = nullptr;
    ClosedForm (*closed_form)(const ScheduleShape& shape, const StageCost& cost) = nullptr;
    // makespan - m(F + I + W)
    double (*bubble)(const ScheduleShape& shape, const StageCost& cost) = nullptr;
    // See settling_microbatches; left out: never.
    int (*settles)(const ScheduleShape& shape) = nullptr;
};

// Helpers of refuse(): the first complaint names the field, each adds a sentence.
void complain(Refusal& out, const char* pointer, const std::string& sentence);

}  // namespace pentamesh
