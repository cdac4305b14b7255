// A pipeline schedule maps (p, m, v) to an op order per device. docs/schedules.md has the rules and their
// sources.
#pragma once

#include "core/plan/plan.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

enum class OpKind : std::uint8_t { F, B, I, W, FB };  // B = I + W; FB an overlapped pair

[[nodiscard]] std::string_view name_of(OpKind kind);     // "input gradient"
[[nodiscard]] std::string_view letters_of(OpKind kind);  // "I"

struct Op {
    OpKind kind = OpKind::F;
    std::uint8_t chunk = 0;
    std::uint8_t backward_chunk = 0;  // FB only
    std::int32_t microbatch = 0;
    std::int32_t backward_microbatch = 0;  // FB only
    bool operator==(const Op&) const = default;
};

// Says where the virtual stages lie. In a loop stage c * p + d is chunk c of device d. A v has two chunks, d
// and 2p - 1 - d. With two_copies, two copies of the model in p stages each run against each other, d and p -
// 1 - d.
enum class StagePlacement : std::uint8_t { loop, v, two_copies };
// Says for how many micro-batches a last stage holds the head (logits, softmax) at once: one where a chunk's
// backward follows its own forward, all that are in flight where the order or a late weight gradient holds
// it.
enum class HeadHeld : std::uint8_t { one, all };

// The window offers this number of chunks a device; `detail` says what it brings.
struct ChunkChoice {
    int chunks = 1;
    std::string_view detail;
};

// Describes a schedule, so that other code need not ask which one it is.
struct ScheduleTraits {
    StagePlacement placement = StagePlacement::loop;
    bool splits_backward = false;  // weight gradients are ops of their own
    bool overlaps_pairs = false;   // one micro-batch's forward runs at the same time as another's backward
    HeadHeld head_held = HeadHeld::one;
    bool more_chunks = false;  // runs more chunks a device than `choices` names
    bool in_groups = false;    // of micro-batches, whose size a plan may choose
    bool in_megatron = false;
    std::string_view torchtitan{};  // its name there; empty: torchtitan has it not
    std::string_view nanotron{};    // its name there and in picotron; empty: they have it not
    std::string_view term;          // of the glossary
    std::string_view paper;         // the paper, or the repository, that states the order
    std::span<const ChunkChoice> choices;
};
[[nodiscard]] const ScheduleTraits& traits_of(Schedule schedule);
// Returns "interleaved, 4 chunks".
[[nodiscard]] std::string with_chunks(Schedule schedule, std::int64_t chunks);
// The window offers these: every schedule with each of its counts of chunks.
struct ScheduleChoice {
    Schedule schedule = Schedule::gpipe;
    ChunkChoice chunks;
    [[nodiscard]] bool is_of(const Layout& layout) const {
        return layout.schedule == schedule && layout.virtual_stages == chunks.chunks;
    }
};
[[nodiscard]] std::vector<ScheduleChoice> schedule_choices();
// Finds a schedule by its name in a framework, in capitals or not. The framework's names are
// &ScheduleTraits::torchtitan ...
[[nodiscard]] std::optional<Schedule> schedule_called(std::string_view ScheduleTraits::*framework,
                                                      std::string_view name);
// Returns the schedule that is meant where no schedule is named: 1F1B, interleaved where a device has several
// chunks.
[[nodiscard]] Schedule usual_schedule(std::int64_t chunks);
// Returns the number of copies of the parameters that the pipeline holds.
[[nodiscard]] int parameter_copies(Schedule schedule);
// Returns the micro-batches that each chunk of a device runs: copies share them.
[[nodiscard]] inline double runs_of(Schedule schedule, double microbatches) {
    return microbatches / parameter_copies(schedule);
}
// Returns the chunks a device that the schedule can run, `wanted` if possible.
[[nodiscard]] std::int64_t chunks_for(Schedule schedule, std::int64_t wanted);
// Returns the chunks used where no number is given.
[[nodiscard]] inline std::int64_t usual_chunks(Schedule schedule) {
    return traits_of(schedule).choices.front().chunks;
}

struct ScheduleShape {
    Schedule schedule = Schedule::one_f_one_b;
    int devices = 1;       // p
    int microbatches = 1;  // m
    int chunks = 1;        // v: model chunks a device (1 or 2 copies for dualpipe: see chunks_of)
    int group = 0;         // interleaved: micro-batch group; 0: p
    bool operator==(const ScheduleShape&) const = default;
};

// Says why a schedule cannot run this shape, with the smallest change that it would accept: all values below
// that are not 0, set together. The message is empty where it can.
struct Refusal {
    std::string message;
    std::string pointer;            // "/layout/virtual_stages", "/training/global_batch" ...
    std::int64_t microbatches = 0;  // nearest larger m that works; 0: m is not the matter
    std::int64_t chunks = 0;        // the v that works; 0: v is not the matter
    std::int64_t devices = 0;       // nearest p that works; 0: p is not the matter
    std::int64_t group = 0;         // a group that works; 0: group is not the matter
    [[nodiscard]] bool refused() const { return !message.empty(); }
};
[[nodiscard]] Refusal refuse(const ScheduleShape& shape);
// Returns the same without building a message, for search.
[[nodiscard]] bool accepts(const ScheduleShape& shape);

// Holds one list of ops, device after device: device d is [begin[d], begin[d + 1]).
struct Order {
    std::vector<Op> ops;
    std::vector<std::size_t> begin;
    bool operator==(const Order&) const = default;
};
// Precondition: accepts(shape). Reuses out's capacity.
void build_order(const ScheduleShape& shape, Order& out);

// Returns the number of ops that build_order makes, or a little more where pairs are overlapped. It decides
// beforehand if a timeline is worth its memory (about 60 bytes an op); build_order needs less than 2^31.
[[nodiscard]] std::int64_t op_count(const ScheduleShape& shape);

// Returns the chunks that a device really holds: two with two copies, else v.
[[nodiscard]] int chunks_of(const ScheduleShape& shape);
// Returns the virtual stage that chunk c of device d runs (StagePlacement).
[[nodiscard]] int stage_of(const ScheduleShape& shape, int device, int chunk);
// Returns the reverse: the device that runs a stage as its chunk c. A value outside 0 .. p - 1 means that no
// device does.
[[nodiscard]] int device_of(const ScheduleShape& shape, int stage, int chunk);
// A chunk costs 1 / this of a device-stage: it is v, but 1 with two copies, whose chunks are whole stages.
[[nodiscard]] int cost_divisor(const ScheduleShape& shape);

// Returns activations held at once at the peak, in micro-batches of a whole stage. These are closed forms,
// equal to the timeline's replay (tested), for search and for evaluation without a timeline.
[[nodiscard]] double peak_in_flight(const ScheduleShape& shape, int device);

// Holds the published closed form of the bubble and when it is exact, for the sentence next to the timeline.
struct ClosedForm {
    const char* formula = "";     // "(p-1)(F+B)/v"
    const char* exact_when = "";  // "no send cost, m a multiple of p"
    double bubble = 0;            // seconds (units of the costs given)
    bool span_measure = false;    // true: idle within a device's own span, the zero-bubble papers' measure
    bool exact = false;           // the condition holds for these numbers
};
[[nodiscard]] ClosedForm closed_form(const ScheduleShape& shape, double f, double i, double w, double comm);

// Returns makespan - m(F + I + W) of equal stages without a replay: O(1), no allocation. Costs are those of
// one micro-batch on a whole stage, comm that of a send, in any one unit. It is exact or near it:
// docs/schedules.md has the table, the tests hold each schedule to it.
[[nodiscard]] double bubble_estimate(const ScheduleShape& shape, double f, double i, double w, double comm);

// Returns the micro-batches beyond which sends cost more only because no device has time to spare to hide
// them.
[[nodiscard]] int settling_microbatches(const ScheduleShape& shape);

}  // namespace pentamesh
