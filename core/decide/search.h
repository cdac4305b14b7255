// Finds the best layouts, exactly over the space that is stated: a layout that is not evaluated is skipped by
// a bound.
#pragma once

#include "core/decide/space.h"
#include "core/evaluate.h"
#include "core/memory/memory.h"
#include "core/plan/names.h"
#include "core/rules/software_runs.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

enum class Goal : std::uint8_t { tokens, memory, cost };
template <>
inline constexpr std::array<std::string_view, 3> kNames<Goal>{"tokens", "memory", "cost"};

struct SearchOptions {
    Goal goal = Goal::tokens;
    double headroom = kHeadroom;  // share of the fullest GPU's memory that stays free, at the buffers' middle
    int top = 10;
    int threads = 0;  // 0: one for each core
};

// `layouts` = `skipped` + `evaluated`; `evaluated` = `invalid` + `too_big` + `fit`. `left_out` are in
// addition: those that the space's software does not run. A layout is too big if its memory is known to leave
// less than the headroom, by itself or by a bound from below. How many are skipped may differ from run to
// run, as threads find good layouts sooner or later; the layouts found do not differ.
struct SearchCounts {
    std::int64_t layouts = 0, skipped = 0, evaluated = 0, invalid = 0, too_big = 0, fit = 0, left_out = 0;
    SearchCounts& operator+=(const SearchCounts& o) {
        layouts += o.layouts, skipped += o.skipped, evaluated += o.evaluated;
        invalid += o.invalid, too_big += o.too_big, fit += o.fit;
        left_out += o.left_out;
        return *this;
    }
    bool operator==(const SearchCounts&) const = default;
};

struct SearchResult {
    LayoutChoice choice;
    Plan plan;  // complete: `evaluate` of it gives these figures to the last digit
    double step_s = 0, tokens_per_s = 0, mfu = 0, bubble_s = 0, exposed_s = 0;
    double memory_bytes = 0, headroom = 0;  // of the fullest GPU; the share that it leaves
    MemoryFit fit = MemoryFit::no;          // a layout that is listed fits, or is tight
    double cost_per_token = 0;              // in the cluster's currency; 0: the plan gives no price
    Step step;                              // the parts of step_s
    bool pareto = false;                    // no other fit layout is better in both tokens/s and memory
    // Counts other layouts with the same step and memory, to the last digit, for the best by the goal.
    std::int64_t alike = 0;
    // These are filled by find_ties.
    bool tied = false;                         // cannot be distinguished from the fastest
    std::int64_t changes = 0;                  // of the plan, to get to it
    double slow_link_s = 0, slow_stage_s = 0;  // the step where a link, a stage is slow; 0: not worked out
};

// Says how many layouts cannot be distinguished from the fastest.
struct SearchTies {
    double within = 0;       // share of the fastest step
    bool estimate = true;    // that is the estimate's range
    std::int64_t count = 0;  // with the fastest
    bool all = true;         // no other layout of the space is tied
};

struct Rejection {
    // Names the first rule that it breaks, out_of_memory, or a lack of its software (software_runs.h).
    ProblemCode code = ProblemCode::out_of_memory;
    std::int64_t count = 0;
    Plan example;
    std::string message;
};

// Holds the figures of the plan itself.
struct SearchBase {
    bool valid = false;
    MemoryFit fit = MemoryFit::no;  // without a headroom
    double step_s = 0, tokens_per_s = 0, mfu = 0, mfu_causal = 0, memory_bytes = 0;
    Lacks lacks;  // what the plan's own software does not run of it
};

struct SearchReport {
    Goal goal = Goal::tokens;
    SearchSpace space;
    SearchCounts counts;
    std::vector<Rejection> rejected;    // most first
    std::vector<SearchResult> results;  // best first: `top` of them, and all of the Pareto line
    std::size_t asked = 0;              // `top`
    SearchTies ties;                    // filled by find_ties
    SearchBase base;
    int threads = 1;
    bool cancelled = false;
    std::string nothing_fits;  // why no layout fits, and what would change that; empty: one does
};

// This is a layout that was found to fit, as soon as it is known: for a window that fills while the search
// runs.
struct FoundLayout {
    LayoutChoice choice;
    double step_s = 0, memory_bytes = 0;
};
// Called from the search's threads, one at a time, with the layouts found since, which may be none. `counts`
// are those so far.
using SearchProgress = std::function<void(const std::vector<FoundLayout>&, const SearchCounts&)>;

// The plan gives model, cluster, sequence, batch and precision. It blocks until it is done or `cancel` is
// set; it then has the best so far. It uses no clock and no file.
[[nodiscard]] SearchReport search(const Plan& plan, const SearchSpace& space,
                                  const SearchOptions& options = {},
                                  const std::atomic<bool>* cancel = nullptr,
                                  const SearchProgress& progress = {});

// Runs the same on one thread, in slices: it can be left and gone on with. Its report has the same layouts.
class SlicedSearch {
  public:
    // `cancel` outlives it.
    SlicedSearch(Plan plan, SearchSpace space, const SearchOptions& options, const std::atomic<bool>* cancel,
                 SearchProgress progress);
    ~SlicedSearch();
    SlicedSearch(const SlicedSearch&) = delete;
    SlicedSearch& operator=(const SlicedSearch&) = delete;
    // Goes on while `in_time()`. Returns true if there is more to do.
    [[nodiscard]] bool go_on(const std::function<bool()>& in_time);
    [[nodiscard]] SearchReport report() const;  // once go_on said false

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// Returns the cost of one token; 0 where the plan gives no price.
[[nodiscard]] double cost_per_token(const Plan& plan, double tokens_per_s);

// Returns the fields that a search which nobody set holds: no field, or as many of those that rarely matter
// as bring the space down to kUsualLayouts, so that an answer comes in seconds.
inline constexpr std::uint64_t kUsualLayouts = 2000000;
[[nodiscard]] std::vector<Varied> held_at_first(const Plan& plan, bool any_software);

// Leaves of a report by Goal::tokens the layouts of the Pareto line that take at most `share` more time than
// the fastest, least memory first; the report's goal is memory then. It is exact: a layout that is within the
// share and not on the line is beaten in both by one of the line, which is within the share too.
void keep_within(SearchReport& report, double share);

// Finds the largest gain of two edits: over all layouts that differ from the plan in at most two of its
// choices.

// Holds what at most two edits give: of tp, cp, pp, the schedule with its chunks, ep, etp, dp_replicate,
// zero, micro_batch, recompute, order. Sharded data parallelism takes the GPUs that a factor gives up, as in
// the window; that is no edit of its own.
struct NearLayouts {
    std::optional<SearchResult> fastest;  // of those that fit; nullopt: none does, or it was cancelled
    // The fastest on the Pareto lines that fits beyond doubt (MemoryFit::yes); nullopt: none does.
    std::optional<SearchResult> surest;
    // Takes no more time than `most_s` and holds the least; nullopt where no layout takes that little.
    std::optional<SearchResult> leanest;
};
// The headroom is the options'. `most_s` is in seconds of a step. Where one edit does as much as two, the
// second is left out.
[[nodiscard]] NearLayouts layouts_within_two_edits(const Plan& plan, double most_s,
                                                   const SearchOptions& options = {},
                                                   const std::atomic<bool>* cancel = nullptr);
// Finds both in one go: of those that leave the share `roomy` of the memory free, and, where none of these
// is the fastest, of those that leave the options' headroom. Precondition: `roomy` is no less than that.
[[nodiscard]] NearLayouts roomy_within_two_edits(const Plan& plan, double most_s, double roomy,
                                                 const SearchOptions& options,
                                                 const std::atomic<bool>* cancel = nullptr);

// Returns for each of these choices, the others kept, the fastest layout that fits and is not the plan's own:
// fastest first. A choice of which nothing else fits gives none.
[[nodiscard]] std::vector<SearchResult> best_of_each_edit(const Plan& plan,
                                                          const SearchOptions& options = {});

// A gain of less is no reason to change a plan: a hundredth of its step.
inline constexpr double kWorthIt = 0.01;
// Holds what one edit each of a plan gives, fastest first: what fits and leaves kept_free() of the memory
// free, as all that is proposed; and what does not and would be worth it.
struct TriedEdits {
    std::vector<SearchResult> fit, unfit;
};
// Precondition: the evaluation is the plan's, with a step.
[[nodiscard]] TriedEdits try_each_edit(const Plan& plan, const Evaluation& evaluation);

// Says which of the layouts that a search found cannot be distinguished by their estimated steps, and orders
// those by a second goal.

// Decides between layouts that cannot be distinguished: the shortest step after all, the least memory, the
// shortest step when something fails to keep pace, the fewest changes of the open plan.
enum class Second : std::uint8_t { step, memory, robust, simple };
template <>
inline constexpr std::array<std::string_view, 4> kNames<Second>{"step", "memory", "robust", "simple"};
static_assert(kNames<Second>.size() == static_cast<std::size_t>(Second::simple) + 1);

inline constexpr double kSlowLink = 0.9;    // of the bandwidth of the slowest tier
inline constexpr double kSlowStage = 1.25;  // times as long on one stage

struct TieOptions {
    Second then = Second::step;
    std::optional<double> within{};  // share of the best time; nullopt: the estimate's range
    bool robust = false;             // the steps of robustness are worked out even if they decide nothing
};

// Moves the tied layouts to the front of the results, in the order of the second goal, and fills what the
// report says of ties. Layouts are tied whose step is within the range of the fastest one's. By the goal
// memory none are: bytes are no matter of the estimate of time. `plan` is the one that was searched. It stops
// early where `cancel` is set.
void find_ties(const Plan& plan, const TieOptions& options, SearchReport& report,
               const std::atomic<bool>* cancel = nullptr);
// Orders the results of a report with ties anew, by another second goal.
void order_ties(Second then, SearchReport& report);

// Returns the step of a plan whose slowest tier carries kSlowLink of its bytes per second; 0 where none comes
// out.
[[nodiscard]] double step_with_slow_link(const Plan& plan);
// Returns the step where the stage that works longest takes kSlowStage times as long; a plan without a
// pipeline is one stage. It is 0 where the pipeline is too long to replay.
[[nodiscard]] double step_with_slow_stage(const Plan& plan);

// Returns the layout that a plan has.
[[nodiscard]] LayoutChoice choice_of(const Plan& plan);
// Returns what of a layout has to be changed by hand to get from the plan to it: dp_shard takes what the
// others leave, etp that is left out follows tp, and without experts there is neither ep nor etp.
[[nodiscard]] std::vector<Varied> changed_choices(const Plan& plan, const LayoutChoice& to);

// Says it in a sentence: "12 layouts cannot be distinguished: their steps lie within 7.6 % of the fastest
// one's, as the estimate may be off." It is empty where there is one.
[[nodiscard]] std::string tie_words(const SearchReport& report);

}  // namespace pentamesh
