#include "core/pipeline/schedules/schedule.h"

#include "core/base/text.h"
#include "core/pipeline/schedules/rules.h"
#include "core/plan/names.h"

#include <algorithm>
#include <array>

namespace pentamesh {

// Each schedule has a table, in the file of its name; twins share a file.
extern const ScheduleRules kGpipeRules, kOneFOneBRules, kInterleavedRules, kZbH1Rules, kZbH2Rules, kZbVRules,
    kDualpipeRules, kDualpipevRules, kLoopedBfsRules;

namespace {

constexpr int kMostDeviceChunks = 255;  // Op::chunk is a byte

// Tables are in the order of Schedule.
constexpr std::array kTables{&kGpipeRules, &kOneFOneBRules, &kInterleavedRules, &kZbH1Rules,     &kZbH2Rules,
                             &kZbVRules,   &kDualpipeRules, &kDualpipevRules,   &kLoopedBfsRules};
static_assert(kTables.size() == kScheduleCount && kTables.size() == kNames<Schedule>.size());

const ScheduleRules& rules_of(Schedule s) {
    return *kTables[static_cast<std::size_t>(s)];
}

bool counts_make_sense(const ScheduleShape& s) {
    return s.devices >= 1 && s.microbatches >= 1 && s.chunks >= 1 && s.chunks <= kMostDeviceChunks
           && s.group >= 0;
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
    if (s.chunks > kMostDeviceChunks) {
        complain(out, "/layout/virtual_stages",
                 "A device holds at most " + std::to_string(kMostDeviceChunks) + " chunks; virtual_stages is "
                     + std::to_string(s.chunks) + ".");
        mended.chunks = kMostDeviceChunks;
    }
    if (s.group < 0) {
        complain(out, "/layout/microbatch_group",
                 "The micro-batch group must be at least 1; it is " + std::to_string(s.group) + ".");
        mended.group = 0;
    }
}

bool has_chunks(const ScheduleRules& rules, const ScheduleShape& s) {
    return rules.chunks == 0 || s.chunks == rules.chunks;
}

}  // namespace

std::string_view name_of(OpKind kind) {
    constexpr std::array<std::string_view, 5> names{"forward", "backward", "input gradient",
                                                    "weight gradient", "forward and backward"};
    return names[static_cast<std::size_t>(kind)];
}

std::string_view letters_of(OpKind kind) {
    constexpr std::array<std::string_view, 5> letters{"F", "B", "I", "W", "FB"};
    return letters[static_cast<std::size_t>(kind)];
}

void complain(Refusal& out, const char* pointer, const std::string& sentence) {
    if (out.message.empty()) {
        out.pointer = pointer;
    } else {
        out.message += ' ';
    }
    out.message += sentence;
}

Refusal refuse(const ScheduleShape& shape) {
    Refusal out;
    ScheduleShape sane = shape, mended = shape;
    refuse_counts(shape, sane, out);
    mended = sane;
    const ScheduleRules& rules = rules_of(shape.schedule);
    if (!has_chunks(rules, sane)) {
        complain(out, "/layout/virtual_stages",
                 std::string(name_of(shape.schedule)) + " " + rules.chunks_because
                     + ": virtual_stages must be " + std::to_string(rules.chunks) + "; it is "
                     + std::to_string(sane.chunks) + ".");
        mended.chunks = rules.chunks;
    }
    if (rules.refuse) rules.refuse(sane, mended, out);
    if (mended.microbatches != shape.microbatches) out.microbatches = mended.microbatches;
    if (mended.chunks != shape.chunks) out.chunks = mended.chunks;
    if (mended.devices != shape.devices) out.devices = mended.devices;
    if (mended.group != shape.group) out.group = mended.group > 0 ? mended.group : mended.devices;
    return out;
}

bool accepts(const ScheduleShape& shape) {
    const ScheduleRules& rules = rules_of(shape.schedule);
    return counts_make_sense(shape) && has_chunks(rules, shape) && (!rules.accepts || rules.accepts(shape));
}

const ScheduleTraits& traits_of(Schedule schedule) {
    return rules_of(schedule).traits;
}

std::vector<ScheduleChoice> schedule_choices() {
    std::vector<ScheduleChoice> all;
    for (const Schedule schedule : all_of<Schedule>())
        for (const ChunkChoice& chunks : traits_of(schedule).choices) all.push_back({schedule, chunks});
    return all;
}

std::string with_chunks(Schedule schedule, std::int64_t chunks) {
    return std::string(name_of(schedule)) + (chunks > 1 ? ", " + with_commas(chunks) + " chunks" : "");
}

std::optional<Schedule> schedule_called(std::string_view ScheduleTraits::*framework, std::string_view name) {
    for (const Schedule s : all_of<Schedule>()) {
        const std::string_view own = traits_of(s).*framework;
        if (!own.empty() && same_letters(own, name)) return s;
    }
    return std::nullopt;
}

Schedule usual_schedule(std::int64_t chunks) {
    return chunks > 1 ? Schedule::interleaved : Schedule::one_f_one_b;
}

int parameter_copies(Schedule schedule) {
    return traits_of(schedule).placement == StagePlacement::two_copies ? 2 : 1;
}

std::int64_t chunks_for(Schedule schedule, std::int64_t wanted) {
    const ScheduleTraits& t = traits_of(schedule);
    const std::int64_t fewest = t.choices.front().chunks;
    return t.more_chunks ? std::max(wanted, fewest) : fewest;
}

std::int64_t op_count(const ScheduleShape& shape) {
    const std::int64_t runs = std::int64_t{shape.microbatches} / parameter_copies(shape.schedule);
    return std::int64_t{shape.devices} * chunks_of(shape) * runs
           * (traits_of(shape.schedule).splits_backward ? 3 : 2);
}

void build_order(const ScheduleShape& shape, Order& out) {
    const ScheduleRules& rules = rules_of(shape.schedule);
    out.ops.resize(static_cast<std::size_t>(op_count(shape)));
    out.begin.resize(static_cast<std::size_t>(shape.devices) + 1);
    Op* const first = out.ops.data();
    Op* at = first;
    for (int d = 0; d < shape.devices; ++d) {
        out.begin[d] = static_cast<std::size_t>(at - first);
        at = rules.emit(shape, d, at);
    }
    out.begin.back() = static_cast<std::size_t>(at - first);
    out.ops.resize(out.begin.back());
}

int chunks_of(const ScheduleShape& shape) {
    return parameter_copies(shape.schedule) > 1 ? 2 : shape.chunks;
}

int stage_of(const ScheduleShape& shape, int device, int chunk) {
    const int p = shape.devices;
    switch (traits_of(shape.schedule).placement) {
    case StagePlacement::loop: break;
    case StagePlacement::v: return chunk == 0 ? device : 2 * p - 1 - device;
    case StagePlacement::two_copies: return chunk == 0 ? device : p - 1 - device;
    }
    return chunk * p + device;
}

int device_of(const ScheduleShape& shape, int stage, int chunk) {
    const int p = shape.devices;
    switch (traits_of(shape.schedule).placement) {
    case StagePlacement::loop: break;
    case StagePlacement::v: return chunk == 0 ? stage : 2 * p - 1 - stage;
    case StagePlacement::two_copies: return chunk == 0 ? stage : p - 1 - stage;
    }
    return stage - chunk * p;
}

int cost_divisor(const ScheduleShape& shape) {
    return parameter_copies(shape.schedule) > 1 ? 1 : shape.chunks;
}

int settling_microbatches(const ScheduleShape& shape) {
    const auto settles = rules_of(shape.schedule).settles;
    return settles ? std::min(settles(shape), shape.microbatches) : shape.microbatches;
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
