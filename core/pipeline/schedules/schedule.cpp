#include "core/pipeline/schedules/schedule.h"

#include "core/pipeline/schedules/rules.h"
#include "core/plan/names.h"

namespace pentamesh {
namespace {

constexpr int kMostChunks = 255;  // Op::chunk is a byte

const ScheduleRules& rules_of(Schedule s) {
    switch (s) {
    case Schedule::gpipe: return kGpipeRules;
    case Schedule::one_f_one_b: return kOneFOneBRules;
    case Schedule::interleaved: return kInterleavedRules;
    case Schedule::zb_h1: return kZbH1Rules;
    case Schedule::zb_h2: return kZbH2Rules;
    case Schedule::zb_v: return kZbVRules;
    case Schedule::dualpipe: return kDualpipeRules;
    case Schedule::dualpipev: return kDualpipevRules;
    case Schedule::looped_bfs: return kLoopedBfsRules;
    }
    return kOneFOneBRules;
}

bool counts_make_sense(const ScheduleShape& s) {
    return s.devices >= 1 && s.microbatches >= 1 && s.chunks >= 1 && s.chunks <= kMostChunks && s.group >= 0;
}

void refuse_counts(const ScheduleShape& s, ScheduleShape& mended, Refusal& out) {
    const auto at_least_one = [&](int found, int& value, const char* pointer, const char* what) {
        if (found >= 1) return;
        complain(out, pointer,
                 std::string(what) + " must be at least 1; it is " + std::to_string(found) + ".");
        value = 1;
    };
    at_least_one(s.devices, mended.devices, "/layout/pp", "The number of pipeline stages");
    at_least_one(s.microbatches, mended.microbatches, "/training/global_batch",
                 "The number of micro-batches");
    at_least_one(s.chunks, mended.chunks, "/layout/virtual_stages", "The number of chunks a device");
    if (s.chunks > kMostChunks) {
        complain(out, "/layout/virtual_stages",
                 "A device holds at most " + std::to_string(kMostChunks) + " chunks; virtual_stages is "
                     + std::to_string(s.chunks) + ".");
        mended.chunks = kMostChunks;
    }
    if (s.group < 0) {
        complain(out, "/layout/microbatch_group",
                 "The micro-batch group must be at least 1; it is " + std::to_string(s.group) + ".");
        mended.group = 0;
    }
}

bool v_placement(Schedule s) {
    return s == Schedule::zb_v || s == Schedule::dualpipev;
}

}  // namespace

void complain(Refusal& out, const char* pointer, const std::string& sentence) {
    if (out.message.empty()) {
        out.pointer = pointer;
    } else {
        out.message += ' ';
    }
    out.message += sentence;
}

void require_chunks(const ScheduleShape& shape, int chunks, const char* why, ScheduleShape& mended,
                    Refusal& out) {
    if (shape.chunks == chunks) return;
    complain(out, "/layout/virtual_stages",
             std::string(name_of(shape.schedule)) + " " + why + ": virtual_stages must be "
                 + std::to_string(chunks) + "; it is " + std::to_string(shape.chunks) + ".");
    mended.chunks = chunks;
}

Refusal refuse(const ScheduleShape& shape) {
    Refusal out;
    ScheduleShape sane = shape, mended = shape;
    refuse_counts(shape, sane, out);
    mended = sane;
    rules_of(shape.schedule).refuse(sane, mended, out);
    if (mended.microbatches != shape.microbatches) out.microbatches = mended.microbatches;
    if (mended.chunks != shape.chunks) out.chunks = mended.chunks;
    if (mended.devices != shape.devices) out.devices = mended.devices;
    if (mended.group != shape.group) out.group = mended.group > 0 ? mended.group : mended.devices;
    return out;
}

bool accepts(const ScheduleShape& shape) {
    return counts_make_sense(shape) && rules_of(shape.schedule).accepts(shape);
}

std::int64_t op_count(const ScheduleShape& shape) {
    const bool split = shape.schedule != Schedule::gpipe && shape.schedule != Schedule::one_f_one_b
                       && shape.schedule != Schedule::interleaved && shape.schedule != Schedule::looped_bfs;
    const std::int64_t chunks = shape.schedule == Schedule::dualpipe ? 1 : chunks_of(shape);
    return std::int64_t{shape.devices} * shape.microbatches * chunks * (split ? 3 : 2);
}

void build_order(const ScheduleShape& shape, Order& out) {
    const ScheduleRules& rules = rules_of(shape.schedule);
    out.ops.resize(static_cast<std::size_t>(op_count(shape)));
    out.begin.resize(static_cast<std::size_t>(shape.devices) + 1);
    Op* const first = out.ops.data();
    Op* at = first;
    for (int d = 0; d < shape.devices; ++d) {
        out.begin[static_cast<std::size_t>(d)] = static_cast<std::size_t>(at - first);
        at = rules.emit(shape, d, at);
    }
    out.begin.back() = static_cast<std::size_t>(at - first);
    out.ops.resize(out.begin.back());
}

int chunks_of(const ScheduleShape& shape) {
    return shape.schedule == Schedule::dualpipe ? 2 : shape.chunks;
}

int stage_of(const ScheduleShape& shape, int device, int chunk) {
    if (shape.schedule == Schedule::dualpipe) return chunk == 0 ? device : shape.devices - 1 - device;
    if (v_placement(shape.schedule)) return chunk == 0 ? device : 2 * shape.devices - 1 - device;
    return chunk * shape.devices + device;
}

int device_of(const ScheduleShape& shape, int stage, int chunk) {
    if (shape.schedule == Schedule::dualpipe) return chunk == 0 ? stage : shape.devices - 1 - stage;
    if (v_placement(shape.schedule)) return chunk == 0 ? stage : 2 * shape.devices - 1 - stage;
    return stage - chunk * shape.devices;
}

int parameter_copies(const ScheduleShape& shape) {
    return shape.schedule == Schedule::dualpipe ? 2 : 1;
}

int cost_divisor(const ScheduleShape& shape) {
    return shape.schedule == Schedule::dualpipe ? 1 : shape.chunks;
}

double peak_in_flight(const ScheduleShape& shape, int device) {
    return rules_of(shape.schedule).peak(shape, device);
}

ClosedForm closed_form(const ScheduleShape& shape, double f, double i, double w, double comm) {
    return rules_of(shape.schedule).closed_form(shape, {f, i, w, comm});
}

double bubble_estimate(const ScheduleShape& shape, double f, double i, double w, double comm) {
    return rules_of(shape.schedule).bubble(shape, {f, i, w, comm});
}

}  // namespace pentamesh
