#include "app/tables/table.h"

#include "core/base/json_reader.h"
#include "core/base/number.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

namespace pentamesh {
namespace {

using Row = Table::Row;

const std::string& key_of(const Table::Column& c) {
    return c.key.empty() ? c.title : c.key;
}

std::string replaced(std::string_view text, char from, std::string_view to) {
    std::string out;
    for (const char c : text)
        if (c == from)
            out += to;
        else
            out += c;
    return out;
}

// A text that a spreadsheet would take for a formula begins with a quote there (OWASP, CSV injection).
std::string csv_words(const std::string& text) {
    const bool formula =
        !text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos;
    return formula && !parse_double(text) ? "'" + text : text;
}

std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    return "\"" + replaced(text, '"', "\"\"") + "\"";
}

std::string as_csv(const Table& t) {
    std::string out;
    for (std::size_t i = 0; i < t.columns.size(); ++i)
        out += (i ? "," : "") + csv_field(key_of(t.columns[i]));
    out += "\r\n";
    for (const Row& row : t.rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string text = row[i].text();
            out += (i ? "," : "") + csv_field(row[i].is_number() ? text : csv_words(text));
        }
        out += "\r\n";
    }
    return out;
}

std::string as_markdown(const Table& t) {
    const auto field = [](const std::string& text) {
        return replaced(replaced(markdown_text(text), '|', "\\|"), '\n', " ");
    };
    std::string out = "|";
    for (const auto& c : t.columns) out += " " + field(c.title) + " |";
    out += "\n|";
    for (const auto& c : t.columns) out += c.shown == Shown::words ? " --- |" : " ---: |";
    out += "\n";
    for (const Row& row : t.rows) {
        out += "|";
        for (const Cell& cell : row) out += " " + field(cell.text()) + " |";
        out += "\n";
    }
    return out;
}

std::string as_html(const Table& t) {
    std::string out = "<table>\n";
    const auto line = [&](const std::string& tag, auto&& text_of) {
        out += "<tr>";
        for (std::size_t i = 0; i < t.columns.size(); ++i)
            out += "<" + tag + (t.columns[i].shown == Shown::words ? ">" : " class=\"number\">")
                   + html_text(text_of(i)) + "</" + tag + ">";
        out += "</tr>\n";
    };
    line("th", [&](std::size_t i) { return t.columns[i].title; });
    for (const Row& row : t.rows)
        line("td", [&](std::size_t i) { return i < row.size() ? row[i].text() : std::string(); });
    return out + "</table>\n";
}

Table picked(const Table& table, const std::vector<std::size_t>& from) {
    Table out;
    out.left_out = table.left_out;
    for (const std::size_t i : from) out.columns.push_back(table.columns[i]);
    for (const Row& row : table.rows) {
        Row& to = out.rows.emplace_back();
        for (const std::size_t i : from) to.push_back(i < row.size() ? row[i] : Cell());
    }
    return out;
}

}  // namespace

Cell::Cell(double number) : value_(number) {
    if (!std::isfinite(number))
        value_ = std::isnan(number) ? std::string("not known") : exact_text(number);
    else if (number == std::floor(number) && std::abs(number) < 1e15)
        value_ = std::llround(number);
}

double Cell::number() const {
    const double* x = std::get_if<double>(&value_);
    return x ? *x : static_cast<double>(whole());
}

std::string Cell::text() const {
    if (!is_number()) return std::get<std::string>(value_);
    return is_whole() ? std::to_string(whole()) : exact_text(number());
}

nlohmann::ordered_json json_rows(const Table& t) {
    const auto value_of = [](Shown shown, const Cell& exact) -> nlohmann::ordered_json {
        if (shown == Shown::words || !exact.is_number()) return exact.text();
        const bool real = shown == Shown::seconds || shown == Shown::share || shown == Shown::figure;
        if (exact.is_whole() && !real) return exact.whole();
        return exact.number();
    };
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const Row& row : t.rows) {
        nlohmann::ordered_json& object = rows.emplace_back(nlohmann::ordered_json::object());
        for (std::size_t i = 0; i < row.size() && i < t.columns.size(); ++i)
            object[key_of(t.columns[i])] = value_of(t.columns[i].shown, row[i]);
    }
    return rows;
}

std::string html_text(const std::string& given) {
    std::string text = as_utf8(given);
    // XML has no characters of control but these, and neither U+FFFE nor U+FFFF.
    std::erase_if(text, [](char c) { return static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t'; });
    for (const std::string_view none : {"\xef\xbf\xbe", "\xef\xbf\xbf"})
        for (std::size_t at = text.find(none); at != std::string::npos; at = text.find(none, at))
            text.replace(at, none.size(), "\xef\xbf\xbd");
    return replaced(replaced(replaced(text, '&', "&amp;"), '<', "&lt;"), '>', "&gt;");
}

std::string markdown_text(std::string_view words) {
    std::string out;
    for (const char c : words) {
        if (c == '*' || c == '<' || c == '>' || c == '`' || c == '[' || c == ']' || c == '\\') out += '\\';
        out += c;
    }
    return out;
}

std::string html_attribute(const std::string& text) {
    return replaced(html_text(text), '"', "&quot;");
}

std::string write_table(const Table& table, TableFormat format) {
    switch (format) {
    case TableFormat::csv: return as_csv(table);
    case TableFormat::markdown: return as_markdown(table);
    case TableFormat::json:
        return json_rows(table).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    case TableFormat::html: return as_html(table);
    case TableFormat::text: break;
    }
    return write_text(table, 0);
}

std::string cell_words(const Table::Column& column, const Cell& exact) {
    if (!exact.is_number()) return exact.text();
    const double x = exact.number();
    switch (column.shown) {
    case Shown::count: return std::abs(x) < 9e18 ? whole_text(x) : exact.text();
    case Shown::memory: return memory_text(x, Zeros::kept);
    case Shown::traffic: return bytes_text(x, Zeros::kept);
    case Shown::seconds: return time_text(x, Zeros::kept);
    case Shown::share: return percent_text(x, Zeros::kept);
    case Shown::figure: return three_digits(x);
    case Shown::words:
    case Shown::plain: break;
    }
    return exact.text();
}

Table worded(Table table) {
    for (Row& row : table.rows)
        for (std::size_t i = 0; i < row.size() && i < table.columns.size(); ++i)
            row[i] = cell_words(table.columns[i], row[i]);
    return table;
}

Table columns_of(const Table& table, std::initializer_list<std::string_view> keys) {
    std::vector<std::size_t> from;
    for (const std::string_view key : keys)
        for (std::size_t i = 0; i < table.columns.size(); ++i)
            if (key_of(table.columns[i]) == key) from.push_back(i);
    return picked(table, from);
}

Table without(const Table& table, std::initializer_list<std::string_view> keys) {
    std::vector<std::size_t> from;
    for (std::size_t i = 0; i < table.columns.size(); ++i)
        if (std::find(keys.begin(), keys.end(), key_of(table.columns[i])) == keys.end()) from.push_back(i);
    return picked(table, from);
}

Cell whole_cell(double value) {
    return std::isfinite(value) && std::abs(value) < 9e18 ? Cell(std::llround(value)) : Cell(value);
}

namespace {

using Row = Table::Row;

// Returns the number of letters, not of bytes: continuation bytes of UTF-8 take no room.
std::size_t letters(std::string_view s) {
    return static_cast<std::size_t>(std::count_if(
        s.begin(), s.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

// Breaks a text into lines of so many letters; a longer word has a line of its own.
std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
    if (letters(text) <= width) return {text};
    std::vector<std::string> lines;
    for (const std::string_view word : split_words(text, " ")) {
        if (!lines.empty() && letters(lines.back()) + 1 + letters(word) <= width)
            lines.back() += " " + std::string(word);
        else
            lines.emplace_back(word);
    }
    return lines;
}

// Holds the letters that each column takes.
struct TextWidths {
    std::vector<std::size_t> all, least;  // `least`: of the longest word, where the column has words

    explicit TextWidths(const Table& t) : all(t.columns.size()), least(t.columns.size()) {
        const auto add = [&](std::size_t i, const std::string& text) {
            all[i] = std::max(all[i], letters(text));
            if (t.columns[i].shown == Shown::words)
                for (const std::string_view word : split_words(text, " "))
                    least[i] = std::max(least[i], letters(word));
        };
        for (std::size_t i = 0; i < all.size(); ++i) {
            add(i, t.columns[i].title);
            for (const Row& row : t.rows)
                if (i < row.size()) add(i, row[i].text());
            if (t.columns[i].shown != Shown::words) least[i] = all[i];
        }
    }
    // Takes letters from the widest column that can give some, until the line fits.
    void fit(std::size_t width) {
        std::size_t line = 2 * (all.size() - 1);
        for (const std::size_t w : all) line += w;
        while (line > width) {
            std::size_t widest = all.size();
            for (std::size_t i = 0; i < all.size(); ++i)
                if (all[i] > least[i] && (widest == all.size() || all[i] > all[widest])) widest = i;
            if (widest == all.size()) return;
            --all[widest], --line;
        }
    }
};

}  // namespace

std::string write_text(const Table& t, std::size_t limit) {
    TextWidths widths(t);
    if (limit > 0 && !t.columns.empty()) widths.fit(limit);
    const std::vector<std::size_t>& width = widths.all;
    std::string out;
    const auto line = [&](auto&& text_of) {
        std::vector<std::vector<std::string>> cells;
        std::size_t high = 1;
        for (std::size_t i = 0; i < width.size(); ++i) {
            cells.push_back(wrapped(text_of(i), width[i]));
            high = std::max(high, cells.back().size());
        }
        for (std::size_t n = 0; n < high; ++n) {
            std::string words;
            for (std::size_t i = 0; i < width.size(); ++i) {
                const std::string text = n < cells[i].size() ? cells[i][n] : "";
                const std::string pad(width[i] - std::min(width[i], letters(text)), ' ');
                words += (i ? "  " : "") + (t.columns[i].shown == Shown::words ? text + pad : pad + text);
            }
            words.erase(words.find_last_not_of(' ') + 1);
            out += words + "\n";
        }
    };
    line([&](std::size_t i) { return t.columns[i].title; });
    for (const Row& row : t.rows)
        line([&](std::size_t i) { return i < row.size() ? row[i].text() : std::string(); });
    return out;
}

}  // namespace pentamesh
