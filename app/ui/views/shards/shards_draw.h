// Draws tensors as rectangles in proportion with their cuts, and experts as a map.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/views/shards/shards_sheets.h"

#include <optional>
#include <vector>

namespace pentamesh::ui {

// Where a sheet stands: a matrix below its name, a vector beside it.
struct SheetPlace {
    Rect slot, label, body;
};
// Columns of sheets, filled from the top, at the largest common scale that fits the room. Weights have one
// scale in both directions; of activations the tokens are drawn 0.6 of the widest sheet high, whatever their
// number. `label_width`: of each sheet's name. Empty where nothing fits.
[[nodiscard]] std::vector<SheetPlace> pack_sheets(const std::vector<Sheet>& sheets, Vec2 room,
                                                  const std::vector<float>& label_width, bool labels = true);

struct SheetLook {
    int isolate = -1;                // an Axis: only what it cuts is shown; -1: all of them
    Coordinates dense{}, expert{};   // of the rank whose part is lit
    bool lit = true;                 // false: no part is lit
    bool only_own = false;           // the rest is left dark: one GPU of several beside each other
    std::optional<Color> lit_color;  // instead of the axis' own
};
// Solid: cut; hatched: copied; dotted: partial; bright and outlined: what the rank holds.
void draw_sheet(Canvas& canvas, const Theme& theme, Rect body, const Sheet& sheet, const SheetLook& look);

// The same marks as a square, one for each axis in use: solid, hatched or dotted. Returns the width.
float draw_marks(Canvas& canvas, const Theme& theme, Vec2 at, const Placement& placement, bool draw = true);

// Expert -> rank of ep. `loads`: of each expert, drawn as a bar in its cell; empty: none. Returns the expert
// at the mouse, -1: none; whether anything lies over the map is the caller's to ask.
[[nodiscard]] std::int64_t draw_experts(Ui& ui, Rect room, const Sheet& sheet, const SheetLook& look,
                                        std::int64_t shown, const std::vector<double>& loads = {});

[[nodiscard]] Color color_of(const Theme& theme, const Placement& placement, Axis axis);

}  // namespace pentamesh::ui
