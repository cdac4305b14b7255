// Makes the tables and words of Compare once for as long as its plans stay: also why B is faster or slower.
#pragma once

#include "app/ui/scene/scene.h"
#include "app/ui/views/compare/compare_state.h"

#include <string>
#include <vector>

namespace pentamesh::ui {

// Lists A, the open plan as B, then the others: letters and places of all tables. Where nothing is pinned,
// the open plan is A, and what is proposed B.
struct ComparedPlan {
    const Plan* plan = nullptr;
    const Evaluation* evaluation = nullptr;
    int kept = -1;  // index into CompareViewState::kept; or one of:
    static constexpr int kOpen = -1, kProposed = -2;
};
[[nodiscard]] std::vector<ComparedPlan> compared_plans(const Scene& scene, const CompareViewState& state);

// Compares all plans; only `why` is of A and B.
[[nodiscard]] PlanComparison shown_comparison(const Scene& scene, const CompareViewState& state);

// Returns "B is 9.8 s faster: 7.1 s less uneven stages, 3.4 s less tp exposed, 0.7 s more dp exposed."
[[nodiscard]] std::string why_words(const Evaluation& a, const Evaluation& b,
                                    const std::vector<PartRow>& why);
// Returns what distinguishes a plan from others of its title, "tp 8, ep 64"; "" where its title does.
[[nodiscard]] std::string apart_of(const PlanComparison& comparison, std::size_t index);
// Returns its title, and what distinguishes it from others of that title.
[[nodiscard]] std::string full_title(const PlanComparison& comparison, std::size_t index);
// field_name returns "tp" for "/layout/tp". field_value returns "8", "ring", "—".
[[nodiscard]] std::string field_name(const std::string& pointer);
[[nodiscard]] std::string field_value(const std::string& json);

}  // namespace pentamesh::ui
