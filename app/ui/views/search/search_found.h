// Holds the layouts that a search found so far, kept so that a million cost no more than a thousand; and the
// request.
#pragma once

#include "core/decide/search.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh::ui {

// Holds the settings of the view's chips and controls.
struct SearchRequest {
    std::vector<Varied> held;  // keep the plan's value
    Goal goal = Goal::tokens;
    double headroom = 0.05;
    bool any_software = false;  // else only what the plan's software runs
    bool operator==(const SearchRequest&) const = default;
};
[[nodiscard]] SpaceRequest space_request(const SearchRequest& request);
[[nodiscard]] SearchSpace space_of(const Plan& plan, const SearchRequest& request);

// Returns the fields held at first: no field, or as many of those that rarely matter as bring the space down
// to kUsualLayouts, so that an answer comes in seconds.
inline constexpr std::uint64_t kUsualLayouts = 2000000;
[[nodiscard]] std::vector<Varied> held_at_first(const Plan& plan, bool any_software);

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
};
// Returns the best first, by the request's goal.
[[nodiscard]] std::vector<SearchRow> rows_of(const SearchFound& found);

// Returns the layout that a plan has.
[[nodiscard]] LayoutChoice choice_of(const Plan& plan);
// Returns what of a layout has to be changed by hand to get from the plan to it: dp_shard takes what the
// others leave, etp that is left out follows tp, and without experts there is neither ep nor etp.
[[nodiscard]] std::vector<Varied> changed_choices(const Plan& plan, const LayoutChoice& to);
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

}  // namespace pentamesh::ui
