#include "app/cli/document.h"

#include <algorithm>
#include <cctype>

namespace pentamesh::cli {
namespace {

// Characters, not bytes, so that columns stay straight with "µs" in them.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

bool is_number(const std::string& cell) {
    return cell.empty() || cell == "-" || std::isdigit(static_cast<unsigned char>(cell[0])) != 0
           || (cell[0] == '-' && cell.size() > 1 && std::isdigit(static_cast<unsigned char>(cell[1])) != 0);
}

std::vector<bool> right_columns(const Table& table) {
    std::vector<bool> right(table.head.size(), !table.rows.empty());
    for (const auto& row : table.rows)
        for (std::size_t c = 0; c < row.size(); ++c) right[c] = right[c] && is_number(row[c]);
    return right;
}

std::string replaced(std::string_view text, char from, const std::string& to) {
    std::string out;
    for (const char c : text) out += c == from ? to : std::string(1, c);
    return out;
}

void append_row(const std::vector<std::string>& row, const std::vector<std::size_t>& widths,
                const std::vector<bool>& right, std::string& out) {
    std::string line = "  ";
    for (std::size_t c = 0; c < row.size(); ++c) {
        const std::string gap(widths[c] - width_of(row[c]), ' ');
        line += (c == 0 ? "" : "  ") + (right[c] ? gap + row[c] : row[c] + gap);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
}

std::string escaped(const std::string& text) {
    return replaced(replaced(replaced(text, '&', "&amp;"), '<', "&lt;"), '>', "&gt;");
}

constexpr const char* kStyle = R"(<style>
:root { color-scheme: light dark; }
body { font: 15px/1.5 Inter, system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid color-mix(in srgb, currentColor 18%, transparent); vertical-align: top; }
th { font-weight: 600; } .number { text-align: right; }
</style>)";

}  // namespace

std::string to_text(const Document& document) {
    std::string out = document.title.empty() ? "" : document.title + "\n";
    for (const Section& s : document.sections) {
        if (!s.title.empty()) out += (out.empty() ? "" : "\n") + s.title + "\n";
        for (const std::string& line : s.lines) out += "  " + line + "\n";
        if (s.table.rows.empty()) continue;
        std::vector<std::size_t> widths;
        for (const std::string& h : s.table.head) widths.push_back(width_of(h));
        for (const auto& row : s.table.rows)
            for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width_of(row[c]));
        const std::vector<bool> right = right_columns(s.table);
        append_row(s.table.head, widths, right, out);
        for (const auto& row : s.table.rows) append_row(row, widths, right, out);
    }
    return out;
}

std::string to_markdown(const Document& document) {
    const auto row_of = [](const std::vector<std::string>& cells) {
        std::string row = "|";
        for (const std::string& cell : cells) row += " " + replaced(cell, '|', "\\|") + " |";
        return row + "\n";
    };
    std::string out = document.title.empty() ? "" : "# " + document.title + "\n";
    for (const Section& s : document.sections) {
        if (!s.title.empty()) out += (out.empty() ? "## " : "\n## ") + s.title + "\n";
        for (const std::string& line : s.lines) out += "\n" + line + "\n";
        if (s.table.rows.empty()) continue;
        out += "\n" + row_of(s.table.head) + "|";
        for (const bool right : right_columns(s.table)) out += right ? "---:|" : "---|";
        out += "\n";
        for (const auto& row : s.table.rows) out += row_of(row);
    }
    return out;
}

std::string to_html(const Document& document) {
    std::string out = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>"
                      + escaped(document.title) + "</title>\n" + kStyle + "\n<h1>" + escaped(document.title)
                      + "</h1>\n";
    for (const Section& s : document.sections) {
        if (!s.title.empty()) out += "<h2>" + escaped(s.title) + "</h2>\n";
        for (const std::string& line : s.lines) out += "<p>" + escaped(line) + "</p>\n";
        if (s.table.rows.empty()) continue;
        const std::vector<bool> right = right_columns(s.table);
        const auto row_of = [&](const std::vector<std::string>& cells, const std::string& tag) {
            std::string row = "<tr>";
            for (std::size_t c = 0; c < cells.size(); ++c)
                row += "<" + tag + (right[c] ? " class=\"number\">" : ">") + escaped(cells[c]) + "</" + tag
                       + ">";
            return row + "</tr>\n";
        };
        out += "<table>\n" + row_of(s.table.head, "th");
        for (const auto& row : s.table.rows) out += row_of(row, "td");
        out += "</table>\n";
    }
    return out + "</html>\n";
}

}  // namespace pentamesh::cli
