// What Compare says of its plans, made once for as long as they stay; and in words why B is faster or slower.
#pragma once

#include "app/ui/scene/scene.h"
#include "app/ui/views/compare/compare_state.h"

#include <string>
#include <vector>

namespace pentamesh::ui {

// A, the open plan as B, then the others: letters and places of all tables.
struct ComparedPlan {
    const Plan* plan = nullptr;
    const Evaluation* evaluation = nullptr;
    int kept = -1;  // index into CompareViewState::kept; -1: the open plan
};
[[nodiscard]] std::vector<ComparedPlan> compared_plans(const Scene& scene, const CompareViewState& state);

// Of A and B `why`; of all of them the rest. Precondition: a plan is pinned.
[[nodiscard]] PlanComparison shown_comparison(const Scene& scene, const CompareViewState& state);

// "B is 9.8 s faster: 7.1 s less uneven stages, 3.4 s less tp exposed, 0.7 s more dp exposed."
[[nodiscard]] std::string why_words(const Evaluation& a, const Evaluation& b,
                                    const std::vector<PartRow>& why);
// What tells a plan from others of its title, "tp 8, ep 64"; "" where its title does.
[[nodiscard]] std::string apart_of(const PlanComparison& comparison, std::size_t index);
// Its title, and what tells it from others of that title.
[[nodiscard]] std::string full_title(const PlanComparison& comparison, std::size_t index);
// "/layout/tp" as "tp". "8", "ring", "—".
[[nodiscard]] std::string field_name(const std::string& pointer);
[[nodiscard]] std::string field_value(const std::string& json);

}  // namespace pentamesh::ui
