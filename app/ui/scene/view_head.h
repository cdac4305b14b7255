// The head that every view has: title, siblings, and the switch between picture and table.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"

#include <optional>
#include <span>
#include <string_view>

namespace pentamesh::ui {

// Title, its siblings as tabs, and "show as data" at the right end. Cuts its row off `room`.
struct ViewHead {
    std::optional<ViewId> switch_to;  // a sibling was clicked
    bool full = false;                // the title was double-clicked: fill the window, or back
    bool as_data = false;             // the table is wanted instead of the picture
    Rect row;                         // what is left of the row for the view's own switches
};
ViewHead view_head(Ui& ui, Rect& room, ViewId current, std::span<const ViewId> siblings, bool& as_data);
// Where a view's own control of this width goes: into the head's row, or, where that is short, into a row of
// its own cut off `room`, which is the head's row then. Squeezed only where `room` is too low for that.
[[nodiscard]] Rect head_place(Rect& head_row, Rect& room, float width);
// What segments need to show all of their labels.
[[nodiscard]] float segments_width(Ui& ui, std::span<const std::string_view> labels);
// A row for words of this width: what is left of the head's row, or one of its own where that is short.
[[nodiscard]] Rect head_words(Rect head_row, Rect& room, float width);
// What a view says in a sentence: in the head's row, or as a paragraph cut off `room` where the row is too
// short and the room higher than `least_height`; else cut, with a tooltip.
void head_sentence(Ui& ui, Rect head_row, Rect& room, std::string_view words, float least_height = 150);
[[nodiscard]] std::string_view title_of(ViewId view);
// The name that `screenshot --view` and picture files use: "mesh", "comm" ...
[[nodiscard]] std::string_view picture_name(ViewId view);

}  // namespace pentamesh::ui
