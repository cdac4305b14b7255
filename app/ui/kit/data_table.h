// "Show as data": the same content as a table, to read, and to copy as CSV, Markdown or JSON.
#pragma once

#include "app/ui/kit/ui.h"

#include <string>
#include <vector>

namespace pentamesh::ui {

struct DataTable {
    struct Column {
        std::string title;
        bool number = false;  // right aligned; written without quotes in JSON
    };
    std::vector<Column> columns;
    std::vector<std::vector<std::string>> rows;  // plain values, no thousands separators where `number`
    std::size_t left_out = 0;                    // rows not listed because there are too many
};

enum class TableFormat : std::uint8_t { text, csv, markdown, json };
// RFC 4180 CSV, GitHub Markdown, a JSON array of objects, or aligned text.
[[nodiscard]] std::string write_table(const DataTable& table, TableFormat format);

struct TableState {
    float scroll = 0;  // rows
    float across = 0;  // pixels, where the columns are wider than the room
    int hovered_row = -1;
};
// Draws what fits and scrolls. Where room is short, words wrap to up to three lines; figures and their titles
// are never cut: columns that still do not fit are reached sideways (Shift and the wheel, or the bar below).
// Returns the row clicked, -1: none.
int draw_table(Ui& ui, std::string_view name, Rect room, const DataTable& table, TableState& state,
               int selected = -1);

}  // namespace pentamesh::ui
