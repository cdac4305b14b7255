// Answers for one plan: keep it, change it, or measure first? Every place that says so takes this one answer,
// in its own length: the page that decides, Compare's proposal, what would help, the report.
#pragma once

#include "core/decide/search.h"
#include "core/evaluate.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

namespace pentamesh {

enum class Ruling : std::uint8_t {
    keep,      // no layout within two edits is worth a change
    change,    // the proposal is better beyond doubt of the estimate
    measure,   // the proposal may be faster: the gain lies within the estimate's own range
    hopeless,  // the plan does not fit, and no two edits make it fit
};
enum class Ground : std::uint8_t { nothing, fits, faster, leaner };

// A proposal frees much where it leaves free at least this share of a GPU's memory more than the plan does.
inline constexpr double kMuchMemory = 0.1;

struct PlanDecision {
    Ruling ruling = Ruling::keep;
    Ground ground = Ground::nothing;
    std::optional<SearchResult> proposal{};  // of change and measure
    MemoryFit now = MemoryFit::no;           // of the plan
    double gain = 0;         // share of the plan's step that the proposal saves; < 0: it is slower
    double freed_bytes = 0;  // of the fullest GPU
    double range = 0;        // a gain below this share is no more than the estimate may be off
    std::string software{};  // "Megatron-LM": runs the layouts that were weighed; empty: it was not asked
    bool searched = false;   // the proposal is a search's, and more than two changes away
    std::string outside{};   // what that software does not run of the plan, as outside_words
    // These are of the search that was weighed too; without one there are no layouts and no fastest.
    std::int64_t layouts = 0;
    std::string held{};                     // "order, cp": its layouts have the plan's own; empty: none
    std::optional<SearchResult> fastest{};  // nullopt: none fits
    double fastest_gain = 0;                // share of the plan's step
    [[nodiscard]] bool gain_is_sure() const { return gain >= range; }
    // Returns true if that search's fastest layout is another than the proposal.
    [[nodiscard]] bool has_other_fastest() const;
};

// Returns true if a gain in time is more than either estimate may be off; the one rule for a tie.
[[nodiscard]] bool is_sure_gain(double gain, const Step& a, const Step& b);

// Decides between the plan and what two edits give. Risk comes first: a plan that does not fit is changed for
// one that does, and one whose buffers may not fit for one that holds much less and is no slower. `near` is
// layouts_to_propose. Precondition: the evaluation is the plan's, with a step.
[[nodiscard]] PlanDecision decide(const Evaluation& evaluation, const NearLayouts& near);
// Returns the layouts that it decides by: those that leave kept_free() of the memory free; for a plan that
// does not fit, where there is no such layout, those that leave less. Precondition: the evaluation is the
// plan's, with a step.
[[nodiscard]] NearLayouts layouts_to_propose(const Plan& plan, const Evaluation& evaluation, int threads = 0,
                                             const std::atomic<bool>* cancel = nullptr);
// Does both. nullopt: the plan has no step, or it was cancelled.
[[nodiscard]] std::optional<PlanDecision> decide_by_two_edits(const Plan& plan, const Evaluation& evaluation,
                                                              int threads = 0,
                                                              const std::atomic<bool>* cancel = nullptr);
// Decides by that and by a search of the plan, the one that `search` and the window run where nobody sets
// theirs (held_at_first). Where even that has more than kUsualLayouts, it is not run, and scope_of says so.
[[nodiscard]] std::optional<PlanDecision> decide(const Plan& plan, const Evaluation& evaluation,
                                                 int threads = 0, const std::atomic<bool>* cancel = nullptr);

// Says it in a sentence. `change` names the proposal's edits ("tp 4, ZeRO 2"), `room` the memory that is left
// for buffers ("6.81 GiB"), empty where another risk than theirs is open. What is proposed has the words of
// its verdict: it fits, or may not fit.
[[nodiscard]] std::string headline_of(const PlanDecision& decision, const std::string& change,
                                      const std::string& room);
// Returns what the headline leaves out of the proposal: that its gain is less than the estimate's own range,
// or that it leaves less memory free than a search does; empty where there is no such thing.
[[nodiscard]] std::string caution_of(const PlanDecision& decision);
// Returns the decision where a search of the plan was run: if that knows a layout which is faster beyond
// doubt, and two changes give none, it is the proposal; so it is for a plan that no two changes make fit,
// and for one that two changes make fit only perhaps, where the search has one that fits and is not slower
// beyond doubt. Precondition: decision, evaluation and report are of one plan.
[[nodiscard]] PlanDecision with_search(PlanDecision decision, const Evaluation& evaluation,
                                       const SearchReport& report);
// Says next to a search's fastest layout what the decision proposes, where that is another: "Proposed: tp 4,
// cp 2, 11 % faster by the estimate." `change` as for headline_of. Empty where the fastest is the proposal,
// or no reason to change the plan.
[[nodiscard]] std::string beside_fastest(const PlanDecision& decision, const std::string& change);
// Returns "Megatron-LM does not run all of it: Megatron has no schedule dualpipe."; empty where the plan's
// software runs all of the plan.
[[nodiscard]] std::string outside_words(const Plan& plan);
// Says what a decision weighed, for the places that have room: how far from the plan, of which software, and
// what of the plan that software does not run.
[[nodiscard]] std::string scope_of(const PlanDecision& decision);
// Returns "leaves 2.1 % of the memory free, a search 5 %"; empty where `left`, a share, is as much.
[[nodiscard]] std::string little_left_words(double left);
// Returns "17.0 GiB less, and no slower", "9.80 % faster", "3.45 % faster by the estimate".
[[nodiscard]] std::string gained_words(const PlanDecision& decision);

}  // namespace pentamesh
