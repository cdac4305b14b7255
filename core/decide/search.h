// Finds the best layouts, exactly over the space that is stated: a layout that is not evaluated is skipped by
// a bound.
#pragma once

#include "core/decide/space.h"
#include "core/evaluate.h"
#include "core/plan/names.h"
#include "core/rules/software_runs.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

enum class Goal : std::uint8_t { tokens, memory, cost };
template <>
inline constexpr std::array<std::string_view, 3> kNames<Goal>{"tokens", "memory", "cost"};

struct SearchOptions {
    Goal goal = Goal::tokens;
    double headroom = 0.05;  // share of a GPU's memory that stays free on the fullest, at the buffers' middle
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
    double cost_per_token = 0;              // in the cluster's currency; 0: the plan gives no price
    Step step;                              // the parts of step_s
    bool pareto = false;                    // no other fit layout is better in both tokens/s and memory
    // Counts other layouts with the same step and memory, to the last digit, for the best by the goal.
    std::int64_t alike = 0;
    // These are filled by find_ties (ties.h).
    bool tied = false;                         // cannot be distinguished from the fastest
    std::int64_t changes = 0;                  // of the plan, to get to it
    double slow_link_s = 0, slow_stage_s = 0;  // the step where a link, a stage is slow; 0: not worked out
};

// Says how many layouts cannot be distinguished from the fastest (ties.h).
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

}  // namespace pentamesh
