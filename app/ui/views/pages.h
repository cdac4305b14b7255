// The pages of each view by name: a lesson's step names one, and every step begins with the first of all.
#pragma once

#include "app/ui/views/table.h"
#include "core/teach/lesson.h"

#include <array>
#include <span>
#include <string_view>

namespace pentamesh::ui {

// Returns the views that a lesson may name, with the names of their pages, the first page first.
[[nodiscard]] std::span<const LessonView> lesson_views();
// Returns false if the view has no page of that name.
bool show_named_page(ViewStates& states, ViewId view, std::string_view page);
// Shows the first page of every view.
void show_first_pages(ViewStates& states);

// Which pages were open.
struct OpenPages {
    std::array<int, kViewCount> page{};
    ShardsViewState::Shows shards = ShardsViewState::Shows::loaf;
    Strategy strategy = Strategy::ddp;
    LayerChoice layer;
};
[[nodiscard]] OpenPages open_pages(const ViewStates& states);
void show_open_pages(ViewStates& states, const OpenPages& pages);

}  // namespace pentamesh::ui
