// Packs tensors by area: a rectangle's area is the bytes of its tensor, rows run down, columns across.
#pragma once

#include "app/ui/views/shards/shards_sheets.h"
#include "render/canvas.h"

#include <vector>

namespace pentamesh::ui {

// Holds the place of a sheet: a matrix is below its name, a small tensor to the right of it.
struct SheetPlace {
    Rect slot, label, body;
    bool to_scale = true;  // false: too small to be seen, and drawn larger
};
struct PackedSheets {
    std::vector<SheetPlace> place;  // of each sheet; empty where they do not fit
    Rect said;                      // where the row of the small ones says that they are not to scale
};
// The widths of what is written: each sheet's name, and the words before the small ones.
struct PackedWords {
    std::vector<float> name;  // empty: nothing is written, and there are no rulers
    float said = 0;
    bool second_line = false;  // below the name: who cuts
};
[[nodiscard]] PackedSheets pack_sheets(const std::vector<Sheet>& sheets, Vec2 room, const PackedWords& words);

// Returns the bytes that a sheet draws: of experts, one of them.
[[nodiscard]] double drawn_bytes(const Sheet& sheet);
// Returns true for the rectangle of experts, which shows the bytes of one.
[[nodiscard]] inline bool shows_one_expert(const Sheet& sheet) {
    return drawn_bytes(sheet) < sheet.placement.bytes_whole;
}

// An axis that cuts rows has a ruler on the left, one that cuts columns has one above: the coarsest is
// outermost.
struct SheetRuler {
    Axis axis = Axis::tp;
    bool rows = true;
    float width = 0;
};
[[nodiscard]] std::vector<SheetRuler> rulers_of(const Sheet& sheet);

}  // namespace pentamesh::ui
