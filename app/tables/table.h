// One table serves all its readers: the window's "show as data", CSV, Markdown, JSON, HTML and the command
// line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// Says what a column's cells are: words, or an exact number and how people read it.
enum class Shown : std::uint8_t {
    words,
    plain,    // 5000
    count,    // 5,000
    memory,   // bytes, binary: 71.2 GiB
    traffic,  // bytes, decimal: 28.1 GB
    seconds,  // 12.3 ms
    share,    // a fraction: 12.3 %
    figure    // three digits: 0.0123
};

struct Table {
    struct Column {
        std::string title;
        Shown shown = Shown::words;
        std::string key = {};  // of JSON and CSV; empty: the title
    };
    std::vector<Column> columns;
    std::vector<std::vector<std::string>>
        rows;                  // exact values, without separators or units where they are numbers
    std::size_t left_out = 0;  // rows not listed because there are too many
};

enum class TableFormat : std::uint8_t { text, csv, markdown, json, html };
// Writes aligned text, RFC 4180 CSV, GitHub Markdown, a JSON array of objects, or an HTML <table>. CSV and
// JSON have the keys and the exact values; JSON's are numbers, where a column has numbers.
[[nodiscard]] std::string write_table(const Table& table, TableFormat format);

// Returns an exact value as people read it: "28.1 GB". Other text stays as it is.
[[nodiscard]] std::string cell_words(const Table::Column& column, const std::string& exact);
// Returns the table with all cells as people read them.
[[nodiscard]] Table worded(Table table);
// Returns the columns with these keys, in this order. Missing keys are left out.
[[nodiscard]] Table columns_of(const Table& table, std::initializer_list<std::string_view> keys);

// Returns all columns but those.
[[nodiscard]] Table without(const Table& table, std::initializer_list<std::string_view> keys);

// Returns an exact cell: "5000", "0.125", no "-0".
[[nodiscard]] std::string cell(double value);
[[nodiscard]] std::string cell(std::int64_t value);
// Rounds to the nearest whole number: bytes and calls.
[[nodiscard]] std::string whole_cell(double value);

// Returns the text with "&", "<" and ">" as HTML says them.
[[nodiscard]] std::string html_text(const std::string& text);

}  // namespace pentamesh
