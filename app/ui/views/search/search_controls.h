// Draws goal, headroom, stop; and a chip for each field: varied or held.
#pragma once

#include "app/ui/views/search/view.h"

namespace pentamesh::ui {

void draw_search_head(Ui& ui, Rect& head_row, Rect& room, const Scene& scene, SearchViewState& state);
// Cuts its rows off `room`.
void draw_search_chips(Ui& ui, Rect& room, const Scene& scene, SearchViewState& state);
// Says how far the search is, and what it found.
struct SearchWords {
    std::string bold, plain;
};
[[nodiscard]] SearchWords search_words(const Scene& scene, const SearchViewState& state);

}  // namespace pentamesh::ui
