// One table serves all its readers: the window's "show as data", CSV, Markdown, JSON, HTML and the command
// line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
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

// Holds a cell: words, or an exact number. Columns say how a number is read.
class Cell {
  public:
    Cell() = default;
    Cell(std::string words) : value_(std::move(words)) {}
    Cell(std::string_view words) : value_(std::string(words)) {}
    Cell(const char* words) : value_(std::string(words)) {}
    Cell(double number);  // one that is not finite is words
    template <typename T, typename = std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>>
    Cell(T number) : value_(static_cast<std::int64_t>(number)) {}

    [[nodiscard]] bool is_number() const { return value_.index() > 0; }
    [[nodiscard]] bool is_whole() const { return value_.index() == 1; }
    // Returns the exact number; 0 for words.
    [[nodiscard]] double number() const;
    [[nodiscard]] std::int64_t whole() const { return is_whole() ? std::get<1>(value_) : 0; }
    // Returns the words; none of a number.
    [[nodiscard]] std::string_view words() const {
        const auto* words = std::get_if<std::string>(&value_);
        return words ? std::string_view(*words) : std::string_view();
    }
    // Returns the words, or the exact number: "5000", "0.125".
    [[nodiscard]] std::string text() const;
    [[nodiscard]] friend bool operator==(const Cell& a, const Cell& b) { return a.value_ == b.value_; }

  private:
    std::variant<std::string, std::int64_t, double> value_;  // a whole number is an integer
};

struct Table {
    struct Column {
        std::string title;
        Shown shown = Shown::words;
        std::string key = {};  // of JSON and CSV; empty: the title
    };
    using Row = std::vector<Cell>;
    std::vector<Column> columns;
    std::vector<Row> rows;
    std::size_t left_out = 0;  // rows not listed because there are too many
};

enum class TableFormat : std::uint8_t { text, csv, markdown, json, html };
// Writes aligned text, RFC 4180 CSV, GitHub Markdown, a JSON array of objects, or an HTML <table>. CSV and
// JSON have the keys and the exact values; JSON's are numbers, where a column has numbers.
[[nodiscard]] std::string write_table(const Table& table, TableFormat format);

// Returns an array of objects by key. Counts and bytes are integers, seconds and shares floating point.
[[nodiscard]] nlohmann::ordered_json json_rows(const Table& table);

// Returns a cell as people read it: "28.1 GB". Words stay as they are.
[[nodiscard]] std::string cell_words(const Table::Column& column, const Cell& exact);
// Returns the table with all cells as people read them.
[[nodiscard]] Table worded(Table table);
// Returns the columns with these keys, in this order. Missing keys are left out.
[[nodiscard]] Table columns_of(const Table& table, std::initializer_list<std::string_view> keys);

// Returns all columns but those.
[[nodiscard]] Table without(const Table& table, std::initializer_list<std::string_view> keys);

// Rounds to the nearest whole number: bytes and calls.
[[nodiscard]] Cell whole_cell(double value);

// Returns the text with "&", "<" and ">" as HTML says them.
[[nodiscard]] std::string html_text(const std::string& given);
// Does the same for a text between double quotes.
[[nodiscard]] std::string html_attribute(const std::string& text);

// Writes aligned text whose words wrap where a line would have more than `limit` letters, as far as that
// goes: neither a number nor a word is cut. 0: no limit.
[[nodiscard]] std::string write_text(const Table& t, std::size_t limit);

// Writes words of a plan or a file into Markdown.

// Returns a sentence in which no letter is a mark of Markdown.
[[nodiscard]] std::string markdown_text(std::string_view words);

}  // namespace pentamesh
