// Shows which layout is best: every layout that fits as a dot of memory against tokens/s, the best as a
// table, and why the others are not there.
#pragma once

#include "app/tables/table.h"
#include "app/ui/kit/kept.h"
#include "app/ui/kit/scroll.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/compare/compare_state.h"
#include "app/ui/views/search/search_found.h"
#include "app/ui/views/search/search_plot.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace pentamesh::ui {

struct SearchViewState {
    SearchRequest request;
    std::optional<Varied> ranging;  // the field whose range is being set
    bool chosen = false;            // the held fields were chosen here; else they follow the plan
    bool stopped = false;           // by hand
    bool again = false;             // a stopped search is wanted from the start
    bool all_rows = false;
    Second then = Second::step;  // decides between layouts that cannot be distinguished
    ScrollState scroll, list_scroll;
    std::shared_ptr<SearchFound> found;  // null: not shown yet
    // The key is the found layouts, and their version.
    Kept<std::vector<SearchRow>, std::pair<std::shared_ptr<SearchFound>, std::uint64_t>> rows;
    KeptDots dots;
    Axis colored_by = Axis::tp;  // or pp: the degree that the dots show
    Kept<std::shared_ptr<const Evaluation>, Plan>
        hovered;  // by the open plan with the layout under the mouse
};

// A click on a dot or a row is an edit; with Shift it joins `compare`.
[[nodiscard]] std::optional<PlanEdit> draw_search(Ui& ui, Rect head_row, Rect room, Scene& scene,
                                                  SearchViewState& state, CompareViewState& compare);
// `part` is 0 for the results and the open plan, 1 for the rejected ones.
[[nodiscard]] Table search_data(const Scene& scene, const SearchViewState& state, int part);

}  // namespace pentamesh::ui
