// The search view is put together from these parts: goal, headroom and chips; the results as rows, and why
// the other layouts are not among them.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/search/search_found.h"
#include "app/ui/views/search/view.h"

#include <optional>
#include <vector>

namespace pentamesh::ui {

void draw_search_head(Ui& ui, Rect& head_row, Rect& room, const Scene& scene, SearchViewState& state);
// Cuts its rows off `room`.
void draw_search_chips(Ui& ui, Rect& room, const Scene& scene, SearchViewState& state);
// Says how far the search is, and what it found.
struct SearchWords {
    std::string bold, plain;
};
[[nodiscard]] SearchWords search_words(const Scene& scene, const SearchViewState& state);

// Says what the user did to a row, or to an example, whose plan is `example`.
struct SearchPick {
    std::optional<LayoutChoice> hovered, clicked;
    std::optional<SearchRow> row;   // the row that is hovered, or has the focus
    Vec2 at;                        // the place of the mouse or of that row
    const Plan* example = nullptr;  // of what was rejected: to be looked at
};

// Says which rows are listed: so many at once, or all, and what orders the tied ones. The user changes it.
struct ListChoice {
    std::size_t most;
    bool& all_rows;
    Second& then;
};
// Cuts its height off `room`. The link below shows the rest.
void draw_results(Ui& ui, Rect& room, const Scene& scene, const SearchFound& found,
                  const std::vector<SearchRow>& rows, const ListChoice& choice, SearchPick& pick);
void draw_rejected(Ui& ui, Rect& room, const SearchFound& found, SearchPick& pick);
[[nodiscard]] float results_height(std::size_t rows);
[[nodiscard]] float rejected_height(const SearchFound& found);

}  // namespace pentamesh::ui
