// Draws tensors as rectangles with their cuts and the rulers of who cuts, and experts as a map.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/views/shards/shards_sheets.h"

#include <optional>
#include <vector>

namespace pentamesh::ui {

struct SheetLook {
    int isolate = -1;                // an Axis: only what it cuts is shown; -1: all of them
    Coordinates dense{}, expert{};   // of the rank whose part is highlighted
    bool lit = true;                 // false: no part is highlighted
    bool only_own = false;           // the rest is left dark: one GPU of several side by side
    std::optional<Color> lit_color;  // instead of the axis' own
};
// Draws solid for cut, hatched for copied, dotted for partial; the rank's part is bright and outlined.
void draw_sheet(Canvas& canvas, const Theme& theme, Rect body, const Sheet& sheet, const SheetLook& look);
// Draws the rulers at the edges of a body: a segment for each holder on the axis that cuts there, the rank's
// own bright, with its number where there is room.
void draw_rulers(Ui& ui, Rect body, const Sheet& sheet, const SheetLook& look);
// Draws in a line who cuts and who copies: "tp 8 cuts rows". What has no room is left out, the last first.
void draw_cutters(Ui& ui, Rect line, const Sheet& sheet);

// Draws the same marks as a square, one for each axis in use: solid, hatched or dotted. Returns the width.
float draw_marks(Canvas& canvas, const Theme& theme, Vec2 at, const Placement& placement, bool draw = true);

// Draws each expert on its rank of ep. `loads` has a number for each expert, drawn as a bar in its cell; it
// may be empty. Returns the expert at the mouse, or -1; the caller must ask if anything lies over the map.
[[nodiscard]] std::int64_t draw_experts(Ui& ui, Rect room, const Sheet& sheet, const SheetLook& look,
                                        std::int64_t shown, const std::vector<double>& loads = {});

[[nodiscard]] Color color_of(const Theme& theme, const Placement& placement, Axis axis);
// Returns the ground of a part that the rank does not hold; every other one is darker.
[[nodiscard]] Color pale(const Theme& theme, Color base, bool odd);

}  // namespace pentamesh::ui
