// "Show as data" shows the same content as a table, to read.
#pragma once

#include "app/tables/table.h"
#include "app/ui/kit/ui.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace pentamesh::ui {

struct TableState {
    float scroll = 0;  // rows
    float across = 0;  // pixels, where the columns are wider than the room
    int hovered_row = -1;
};
// Draws the rows that fit and scrolls. Where room is short, words wrap to up to three lines; figures and
// their titles are never cut: columns that still do not fit are reached sideways (Shift and the wheel, or the
// bar below). `faint` has an entry for each row, not 0 where its words are faint; empty means that no row is
// faint. Returns the row clicked, or -1.
int draw_table(Ui& ui, std::string_view name, Rect room, const Table& table, TableState& state,
               int selected = -1, std::span<const std::uint8_t> faint = {});

}  // namespace pentamesh::ui
