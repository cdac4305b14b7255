// The head that every view has: title, siblings, and the switch between picture and table.
#pragma once

#include "app/ui/scene.h"
#include "app/ui/ui.h"

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
[[nodiscard]] std::string_view title_of(ViewId view);
// The name that `screenshot --view` and picture files use: "mesh", "comm" ...
[[nodiscard]] std::string_view picture_name(ViewId view);

}  // namespace pentamesh::ui
