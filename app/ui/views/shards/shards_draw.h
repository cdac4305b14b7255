// Draws tensors as rectangles in proportion with their cuts, and experts as a map.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/views/shards/shards_sheets.h"

#include <optional>
#include <vector>

namespace pentamesh::ui {

// Holds the place of a sheet: a matrix is below its name, a vector to the right of it.
struct SheetPlace {
    Rect slot, label, body;
};
// Returns columns of sheets, filled from the top, at the largest common scale that fits the room. Weights
// have one scale in both directions; the tokens of activations are drawn 0.6 of the widest sheet high, for
// any number of tokens. `label_width` is that of each sheet's name. It is empty where nothing fits.
[[nodiscard]] std::vector<SheetPlace> pack_sheets(const std::vector<Sheet>& sheets, Vec2 room,
                                                  const std::vector<float>& label_width, bool labels = true);

struct SheetLook {
    int isolate = -1;                // an Axis: only what it cuts is shown; -1: all of them
    Coordinates dense{}, expert{};   // of the rank whose part is highlighted
    bool lit = true;                 // false: no part is highlighted
    bool only_own = false;           // the rest is left dark: one GPU of several side by side
    std::optional<Color> lit_color;  // instead of the axis' own
};
// Draws solid for cut, hatched for copied, dotted for partial; the rank's part is bright and outlined.
void draw_sheet(Canvas& canvas, const Theme& theme, Rect body, const Sheet& sheet, const SheetLook& look);

// Draws the same marks as a square, one for each axis in use: solid, hatched or dotted. Returns the width.
float draw_marks(Canvas& canvas, const Theme& theme, Vec2 at, const Placement& placement, bool draw = true);

// Draws each expert on its rank of ep. `loads` has a number for each expert, drawn as a bar in its cell; it
// may be empty. Returns the expert at the mouse, or -1; the caller must ask if anything lies over the map.
[[nodiscard]] std::int64_t draw_experts(Ui& ui, Rect room, const Sheet& sheet, const SheetLook& look,
                                        std::int64_t shown, const std::vector<double>& loads = {});

[[nodiscard]] Color color_of(const Theme& theme, const Placement& placement, Axis axis);

}  // namespace pentamesh::ui
