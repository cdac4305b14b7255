// Says what is wrong with a layout, and what would help. Every rule says whose rule it is and carries the
// smallest fix.
#pragma once

#include "core/base/containers.h"
#include "core/base/text.h"
#include "core/evaluate.h"
#include "core/plan/problem.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace pentamesh {

// Appends warnings and notices over a complete evaluation, each with the number that shows it.
void find_advice(const Plan& plan, const Evaluation& evaluation, std::vector<Problem>& out);

// Does evaluate() and then find_advice(): a person is shown this.
void assess(const Plan& plan, Evaluation& out, const EvaluateOptions& options = {});
[[nodiscard]] Evaluation assess(const Plan& plan, const EvaluateOptions& options = {});

// Holds advice with the numbers of its sentences by value: a test can compare them with a report.

// Lists the numbers with a unit that sentences use. Where a plan has several of a name, it is that of its
// fullest GPU, its whole step, the GPU that sends most. bubble is of the schedule, without uneven stages;
// straggler_share of the step without stragglers; memory_over the missing bytes; sent per GPU and step, on
// all axes or on those of data parallelism; group_* in one kind of group; ring_piece the bytes that go round
// the ring of an FSDP group at once, ring_latency_s is of one collective.
#define PENTAMESH_MEASURES(T)                                                                                \
    T(step_s, seconds)                                                                                       \
    T(step_saved_s, seconds)                                                                                 \
    T(bubble_s, seconds)                                                                                     \
    T(bubble_share, share)                                                                                   \
    T(uneven_s, seconds)                                                                                     \
    T(uneven_share, share)                                                                                   \
    T(straggler_s, seconds)                                                                                  \
    T(straggler_share, share)                                                                                \
    T(straggler_cv, share)                                                                                   \
    T(straggler_bound, share)                                                                                \
    T(memory, memory)                                                                                        \
    T(memory_saved, memory)                                                                                  \
    T(memory_over, memory)                                                                                   \
    T(memory_least, memory)                                                                                  \
    T(hbm, memory)                                                                                           \
    T(parameters, memory)                                                                                    \
    T(gradients, memory)                                                                                     \
    T(optimizer, memory)                                                                                     \
    T(activations, memory)                                                                                   \
    T(buffers, memory)                                                                                       \
    T(buffers_high, memory)                                                                                  \
    T(sent, traffic)                                                                                         \
    T(sent_data_parallel, traffic)                                                                           \
    T(group_sent, traffic)                                                                                   \
    T(group_time_s, seconds)                                                                                 \
    T(group_exposed_s, seconds)                                                                              \
    T(ring_piece, traffic)                                                                                   \
    T(ring_latency_s, seconds)                                                                               \
    T(ring_latency_step_s, seconds)

enum class Measure : std::uint8_t { PENTAMESH_MEASURES(PENTAMESH_ENUMERATOR) };
template <>
inline constexpr std::size_t kEnumCount<Measure> = PENTAMESH_MEASURES(PENTAMESH_ONE_MORE);
enum class MeasureUnit : std::uint8_t { seconds, share, memory, traffic };
[[nodiscard]] MeasureUnit unit_of(Measure measure);
[[nodiscard]] std::string_view name_of(Measure measure);  // "step_s"

// This is a number of a problem's sentence.
struct Stated {
    Measure measure = Measure::step_s;
    double value = 0;              // seconds, bytes, or a share of one
    std::vector<Edit> after = {};  // the plan that it holds of is the problem's with these; empty: itself
    int group = 0;                 // of group_*: the GroupKind
    bool operator==(const Stated&) const = default;
};
[[nodiscard]] std::string text_of(const Stated& stated);  // "12.3 ms", "17.5 %", "71.2 GiB", "28.1 GB"

struct Advised : Problem {
    std::vector<Stated> figures;  // the numbers with a unit in what is said, in its order
};

// Returns warnings and notices over a complete, replayed evaluation; the most severe first. It is empty for
// an impossible plan.
[[nodiscard]] std::vector<Advised> advise(const Plan& plan, const Evaluation& evaluation);

// Says that a found layout copies FSDP's shards across groups where the plan does not (HSDP), and down to
// which size that is faster; empty where it is no such layout.
[[nodiscard]] std::string hsdp_words(const Plan& plan, const Plan& found);

// Adds to one of a problem's texts; the numbers go to its figures too.
template <typename... Parts>
void say_in(std::string& text, Advised& problem, const Parts&... parts) {
    const auto one = [&](const auto& part) {
        if constexpr (std::is_same_v<std::decay_t<decltype(part)>, Stated>) {
            text += text_of(part);
            problem.figures.push_back(part);
        } else {
            append_part(text, part);
        }
    };
    (one(parts), ...);
}
// Say what is wrong; and, after that, what would help.
template <typename... Parts>
void say(Advised& problem, const Parts&... parts) {
    say_in(problem.message, problem, parts...);
}
template <typename... Parts>
void say_help(Advised& problem, const Parts&... parts) {
    say_in(problem.help, problem, parts...);
}

}  // namespace pentamesh
