// Draws the frame of a view: its title, its siblings, the switch between picture and table.
#pragma once

#include "app/ui/views/table.h"

#include <cstdint>

namespace pentamesh::ui {

// Draws title, its siblings as tabs, and "show as data" at the right end. Cuts its row off `room`.
struct ViewHead {
    std::optional<ViewId> switch_to;  // a sibling was clicked
    bool full = false;                // the title was double-clicked: fill the window, or back
    Rect row;                         // the rest of the row, for the view's own switches
};
ViewHead view_head(Ui& ui, Rect& room, ViewId current, bool& as_data);

// Returns the view's content as a table; of a plan with errors, only the reason.
[[nodiscard]] Table data_of(const Scene& scene, ViewId view, const ViewStates& states);

// Draws the view's picture, or its table where that is shown. Parts that move with the mouse are drawn after
// it.
std::optional<PlanEdit> draw_view_body(Ui& ui, Rect head_row, Rect room, Scene& scene, ViewId view,
                                       ViewStates& states, std::uint64_t revision);
void draw_view_moving(Ui& ui, Scene& scene, ViewId view, ViewStates& states);
// Returns the rectangle where the mouse changes draw_view_moving's drawing; empty where it changes nothing.
[[nodiscard]] Rect moving_in_view(ViewId view, const ViewStates& states);

// Draws all of a view under its title, without controls: for a picture.
void draw_titled_view(Ui& ui, Rect room, Scene& scene, ViewId view, ViewStates& states,
                      std::uint64_t revision);

}  // namespace pentamesh::ui
