// Holds the layouts that a search found so far, kept so that a million cost no more than a thousand; and the
// request.
#pragma once

#include "core/decide/decision.h"
#include "core/decide/search.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh::ui {

// Keeps the values of a field between two, which are among them.
struct ValueRange {
    Varied field = Varied::tp;
    std::int64_t least = 1, most = 1;
    bool operator==(const ValueRange&) const = default;
};

// Holds the settings of the view's chips and controls.
struct SearchRequest {
    std::vector<Varied> held;        // keep the plan's value; those held by default are in `freed` or held
    std::vector<Varied> freed;       // of those held by default
    bool finer = false;              // recomputation of some layers and of modules too
    std::vector<ValueRange> ranges;  // of others, each once
    Goal goal = Goal::tokens;
    double headroom = kHeadroom;
    bool any_software = false;  // else only what the plan's software runs
    bool operator==(const SearchRequest&) const = default;
    [[nodiscard]] const ValueRange* range_of(Varied field) const;
    [[nodiscard]] bool holds(Varied v) const;
};
[[nodiscard]] bool has_numbers(Varied v);  // its values are numbers
// Returns the values that a field has by default, ascending; none where they are no numbers.
[[nodiscard]] std::vector<std::int64_t> numbers_of(const Plan& plan, const SearchRequest& request,
                                                   Varied field);
[[nodiscard]] SpaceRequest space_request(const Plan& plan, const SearchRequest& request);
[[nodiscard]] SearchSpace space_of(const Plan& plan, const SearchRequest& request);

struct SearchFound {
    std::shared_ptr<const Plan> base;  // the plan that is varied
    SearchRequest request;
    SearchSpace space;

    static constexpr std::size_t kMostPoints = 60000;
    std::vector<FoundLayout> points;  // layouts that fit; of more than kMostPoints every `every`-th
    std::int64_t fit = 0, every = 1;
    std::vector<FoundLayout> front;  // no other beats them in both: ascending memory, descending step
    SearchCounts counts;             // the counts so far; `layouts` is of the whole space
    std::optional<SearchReport> report;
    Second ordered = Second::step;  // the tied results of the report stand in the order of this goal
    std::string error;
    double seconds = 0;
    bool running = false;
    std::uint64_t version = 0;  // grows with everything above

    void add(const FoundLayout& x);
};

// Holds one line of the results: of the report, or of the line of the best so far while the search runs.
struct SearchRow {
    LayoutChoice choice;
    double step_s = 0, memory_bytes = 0;
    bool pareto = false;
    std::int64_t alike = 0;  // how many others have the same two figures
    bool tied = false;  // cannot be distinguished from the fastest; so are the next three from SearchResult
    std::int64_t changes = 0;
    double slow_link_s = 0, slow_stage_s = 0;
    MemoryFit fit = MemoryFit::yes;  // of the report
};
// Orders the tied results by another second goal.
void order_by(SearchFound& found, Second then);
// Returns the best first, by the request's goal.
[[nodiscard]] std::vector<SearchRow> rows_of(const SearchFound& found);

// Returns `plan` with that layout; fields that are not searched, its title and notes stay the plan's own.
[[nodiscard]] Plan with_choice(const SearchFound& found, const Plan& plan, const LayoutChoice& choice);
// Returns true if a search of `plan` would find the same: it is the plan that was varied, or a layout of its
// space.
[[nodiscard]] bool still_holds(const SearchFound& found, const Plan& plan);

// Returns "tp 4, cp 4, pp 32 x 2, zb-v, dp_shard 32, ZeRO-2": enough for a person to distinguish two.
[[nodiscard]] std::string words_of(const LayoutChoice& choice, bool experts);
// chip_name returns "tp", "chunks", "ZeRO", for chips and column titles. value_text returns a value: "8",
// "zb-v".
[[nodiscard]] std::string_view chip_name(Varied v);
[[nodiscard]] std::string value_text(const LayoutChoice& choice, Varied v);
// Returns "cp 2": what has to be changed by hand (changed_choices of core/decide/search.h).
[[nodiscard]] std::string change_words(const Plan& plan, const LayoutChoice& to);
// Says next to a search's fastest layout what the decision on the plan proposes (beside_fastest).
[[nodiscard]] std::string beside_words(const Plan& plan, const PlanDecision& decision);

}  // namespace pentamesh::ui
