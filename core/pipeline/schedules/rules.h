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
    // Adds what is wrong to `out` and sets in `mended` what would mend it. Leaves both alone where nothing
    // is. Called with numbers that are at least 1.
    void (*refuse)(const ScheduleShape& shape, ScheduleShape& mended, Refusal& out);
    bool (*accepts)(const ScheduleShape& shape);
    // Writes the device's order at `at`, at most 3 * m * chunks_of ops, and returns its end.
    Op* (*emit)(const ScheduleShape& shape, int device, Op* at);
    double (*peak)(const ScheduleShape& shape, int device);
    ClosedForm (*closed_form)(const ScheduleShape& shape, const StageCost& cost);
    // makespan - m(F + I + W)
    double (*bubble)(const ScheduleShape& shape, const StageCost& cost);
    // See settling_microbatches; left out: never.
    int (*settles)(const ScheduleShape& shape) = nullptr;
};

// Helpers of refuse(): the first complaint names the field, each adds a sentence.
void complain(Refusal& out, const char* pointer, const std::string& sentence);
// For schedules with a fixed number of chunks a device.
void require_chunks(const ScheduleShape& shape, int chunks, const char* why, ScheduleShape& mended,
                    Refusal& out);

}  // namespace pentamesh
