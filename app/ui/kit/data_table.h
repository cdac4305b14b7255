// "Show as data" shows the same content as a table, to read.
#pragma once

#include "app/tables/table.h"
#include "app/ui/kit/ui.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace pentamesh::ui {

// Returns the width of the longest word: a column of words is not made narrower.
[[nodiscard]] float longest_word(const Canvas& canvas, std::string_view text, const TextStyle& style);

struct TableState {
    float scroll = 0;  // rows
    float across = 0;  // pixels, where the columns are wider than the room
    int hovered = -1;  // the row under the mouse
};
// Says how a row's words look.
enum class RowTone : std::uint8_t { plain, faint, heading };
struct RowLooks {
    std::span<const RowTone> tone = {};  // by row; empty: all are plain
    // Called for each cell before its text; returns true if it drew the cell, so that no text is written.
    std::function<bool(Rect cell, std::size_t row, std::size_t column)> paint = {};
    int drawn_column = -1;  // a column that is painted: it takes the width that the others leave
    std::function<bool(std::size_t row)> marked = {};  // rows with a frame around them
};
// Returns how high the whole table is in this width.
[[nodiscard]] float table_height(Ui& ui, float width, const Table& table);
// Draws the rows that fit and scrolls. Where room is short, words wrap to up to three lines; figures and
// their titles are never cut: columns that still do not fit are reached sideways (Shift and the wheel, or the
// bar below). Returns the row clicked, or -1.
int draw_table(Ui& ui, std::string_view name, Rect room, const Table& table, TableState& state,
               int selected = -1, const RowLooks& looks = {});

}  // namespace pentamesh::ui
