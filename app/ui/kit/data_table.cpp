#include "app/ui/kit/data_table.h"

#include "app/ui/kit/format.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr float kTableRow = 20;

std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    return out + "\"";
}

std::string markdown_field(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '|') out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out;
}

std::string as_csv(const DataTable& t) {
    std::string out;
    for (std::size_t i = 0; i < t.columns.size(); ++i) out += (i ? "," : "") + csv_field(t.columns[i].title);
    out += "\r\n";
    for (const auto& row : t.rows) {
        for (std::size_t i = 0; i < row.size(); ++i) out += (i ? "," : "") + csv_field(row[i]);
        out += "\r\n";
    }
    return out;
}

std::string as_markdown(const DataTable& t) {
    std::string out = "|";
    for (const auto& c : t.columns) out += " " + markdown_field(c.title) + " |";
    out += "\n|";
    for (const auto& c : t.columns) out += c.number ? " ---: |" : " --- |";
    out += "\n";
    for (const auto& row : t.rows) {
        out += "|";
        for (const auto& cell : row) out += " " + markdown_field(cell) + " |";
        out += "\n";
    }
    return out;
}

std::string as_json(const DataTable& t) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const auto& row : t.rows) {
        nlohmann::ordered_json object = nlohmann::ordered_json::object();
        for (std::size_t i = 0; i < row.size() && i < t.columns.size(); ++i) {
            const auto number =
                t.columns[i].number
                    ? nlohmann::ordered_json::parse(row[i], nullptr, /*allow_exceptions=*/false)
                    : nlohmann::ordered_json();
            if (number.is_number())
                object[t.columns[i].title] = number;
            else
                object[t.columns[i].title] = row[i];
        }
        rows.push_back(std::move(object));
    }
    return rows.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

// Letters, not bytes: continuation bytes of UTF-8 take no room.
std::size_t letters(const std::string& s) {
    return static_cast<std::size_t>(std::count_if(
        s.begin(), s.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string as_text(const DataTable& t) {
    std::vector<std::size_t> width(t.columns.size());
    for (std::size_t i = 0; i < width.size(); ++i) {
        width[i] = letters(t.columns[i].title);
        for (const auto& row : t.rows)
            if (i < row.size()) width[i] = std::max(width[i], letters(row[i]));
    }
    const auto line = [&](auto&& cell_of) {
        std::string out;
        for (std::size_t i = 0; i < width.size(); ++i) {
            const std::string cell = cell_of(i);
            const std::string pad(width[i] - std::min(width[i], letters(cell)), ' ');
            out += (i ? "  " : "") + (t.columns[i].number ? pad + cell : cell + pad);
        }
        while (!out.empty() && out.back() == ' ') out.pop_back();
        return out + "\n";
    };
    std::string out = line([&](std::size_t i) { return t.columns[i].title; });
    for (const auto& row : t.rows) out += line([&](std::size_t i) { return i < row.size() ? row[i] : ""; });
    return out;
}

// A number with thousands separators where it is a plain integer.
std::string shown(const DataTable::Column& column, const std::string& value) {
    if (!column.number || value.size() < 5 || value.find_first_not_of("0123456789") != std::string::npos)
        return value;
    return value.size() <= 18 ? thousands(std::stoll(value)) : value;
}

}  // namespace

std::string write_table(const DataTable& table, TableFormat format) {
    switch (format) {
    case TableFormat::csv: return as_csv(table);
    case TableFormat::markdown: return as_markdown(table);
    case TableFormat::json: return as_json(table);
    case TableFormat::text: break;
    }
    return as_text(table);
}

namespace {

constexpr float kLine = 16, kColumnGap = 16, kTablePad = 24, kWidestWord = 150, kLeastWords = 96,
                kWidest = 420;
constexpr std::size_t kMeasured = 300;  // of more rows, all that follow are as high as the highest of these
constexpr int kMostLines = 6;

// A title on two lines: broken at the space that leaves both shortest.
std::pair<std::string_view, std::string_view> halves(Canvas& c, std::string_view title,
                                                     const TextStyle& style) {
    std::pair<std::string_view, std::string_view> best{title, {}};
    float least = c.text_width(title, style);
    for (std::size_t at = title.find(' '); at != std::string_view::npos; at = title.find(' ', at + 1)) {
        const auto first = title.substr(0, at), second = title.substr(at + 1);
        const float w = std::max(c.text_width(first, style), c.text_width(second, style));
        if (w < least) least = w, best = {first, second};
    }
    return best;
}

float width_of_lines(Canvas& c, std::string_view text, const TextStyle& style) {
    float w = 0;
    for (;;) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        w = std::max(w, c.text_width(text.substr(0, end), style));
        if (end == text.size()) return w;
        text.remove_prefix(end + 1);
    }
}

float widest_word(Canvas& c, std::string_view text, const TextStyle& style) {
    float w = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
        w = std::max(w, c.text_width(text.substr(0, end), style));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return std::min(w, kWidestWord);
}

struct Columns {
    std::vector<float> width;
    float sum = 0;
    int head_lines = 1, most_lines = 1;
    std::vector<int> lines;  // of the first rows

    [[nodiscard]] int lines_of(std::size_t row) const { return row < lines.size() ? lines[row] : most_lines; }
    [[nodiscard]] float height_of(std::size_t row) const {
        return most_lines > 1 ? static_cast<float>(lines_of(row)) * kLine + 6 : kTableRow;
    }
};

// The last row that may stand at the top, so that the end is seen.
std::size_t last_start(const Columns& columns, std::size_t rows, float room) {
    float h = 0;
    std::size_t r = rows;
    while (r > 0 && h + columns.height_of(r - 1) <= room) h += columns.height_of(--r);
    return r;
}

// Where the natural widths do not fit: figures keep theirs, words get what is left, at least their longest.
void squeeze(Canvas& c, const DataTable& table, const TextStyle& head, const TextStyle& body, float room,
             std::size_t first, std::size_t last, Columns& out) {
    const std::size_t n = out.width.size();
    std::vector<float> least(n);
    float sum = 0, give = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const auto [upper, lower] = halves(c, table.columns[i].title, head);
        least[i] = std::max(c.text_width(upper, head), c.text_width(lower, head));
        const bool number = table.columns[i].number;
        const std::size_t from = number ? first : 0,
                          to = number ? last : std::min(table.rows.size(), kMeasured);
        for (std::size_t r = from; r < to; ++r)
            if (i < table.rows[r].size())
                least[i] =
                    std::max(least[i], number ? c.text_width(shown(table.columns[i], table.rows[r][i]), body)
                                              : widest_word(c, table.rows[r][i], body));
        if (!number) least[i] = std::max(least[i], kLeastWords);
        least[i] = std::min(least[i] + kTablePad - 4, out.width[i]);
        sum += least[i];
        give += out.width[i] - least[i];
    }
    const float share = give > 0 ? std::clamp((room - sum) / give, 0.0f, 1.0f) : 0;
    out.sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        out.width[i] = least[i] + share * (out.width[i] - least[i]);
        out.sum += out.width[i];
    }
}

Columns columns_of(Canvas& c, const DataTable& table, const TextStyle& head, const TextStyle& body,
                   float room, std::size_t first, std::size_t last) {
    Columns out;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        float w = c.text_width(table.columns[i].title, head);
        const bool number = table.columns[i].number;
        const std::size_t from = number ? first : 0,
                          to = number ? last : std::min(table.rows.size(), kMeasured);
        for (std::size_t r = from; r < to; ++r)
            if (i < table.rows[r].size())
                w = std::max(w, width_of_lines(c, shown(table.columns[i], table.rows[r][i]), body));
        out.width.push_back(std::min(w, kWidest) + kTablePad);
        out.sum += out.width.back();
    }
    if (out.sum > room) squeeze(c, table, head, body, room, first, last, out);
    out.lines.assign(std::min(table.rows.size(), kMeasured), 1);
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const float w = out.width[i] - kColumnGap;
        if (c.text_width(table.columns[i].title, head) > w + 0.5f) out.head_lines = 2;
        if (table.columns[i].number) continue;
        for (std::size_t r = 0; r < out.lines.size(); ++r) {
            if (i >= table.rows[r].size()) continue;
            const std::string& text = table.rows[r][i];
            if (text.find('\n') == std::string::npos && c.text_width(text, body) <= w) continue;
            const int lines = static_cast<int>(std::lround(c.paragraph_height(w, text, body, kLine) / kLine));
            if (lines > kMostLines) continue;  // on hover
            out.lines[r] = std::max(out.lines[r], lines);
            out.most_lines = std::max(out.most_lines, out.lines[r]);
        }
    }
    return out;
}

void draw_title(Ui& ui, Rect cell, const DataTable::Column& column, const TextStyle& style) {
    const Align align = column.number ? Align::right : Align::left;
    Canvas& c = ui.canvas();
    std::pair<std::string_view, std::string_view> lines{column.title, {}};
    if (c.text_width(column.title, style) > cell.w + 0.5f) lines = halves(c, column.title, style);
    Rect last = cell.cut_bottom(kLine + 4);
    if (!lines.second.empty())
        c.text_in({cell.x, last.y - kLine + 4, cell.w, kLine}, lines.first, style, align);
    if (c.text_in(last, lines.second.empty() ? lines.first : lines.second, style, align) && ui.hovers(last))
        ui.tooltip(column.title);
}

void draw_cell(Ui& ui, Rect cell, std::string_view text, bool number, int lines, const TextStyle& style) {
    Canvas& c = ui.canvas();
    const Rect first{cell.x, cell.y, cell.w, lines > 1 ? kLine : cell.h};
    if (!number && lines > 1) {
        const float h = c.paragraph_height(cell.w, text, style, kLine);
        if (h <= static_cast<float>(lines) * kLine + 1) {
            c.paragraph(cell, text, style, kLine);
            return;
        }
    }
    if (c.text_in(first, text, style, number ? Align::right : Align::left) && ui.hovers(cell))
        ui.tooltip(std::string(text));
}

// Where the table stands sideways: a bar that is dragged.
void across_bar(Ui& ui, std::string_view name, Rect bar, float sum, float& across) {
    const float w = bar.w * bar.w / sum;
    const Rect knob{bar.x + across * bar.w / sum, bar.y + 2, w, 4};
    const Hit hit = ui.area(std::string(name) + ".across", bar, 0, true, false);
    ui.canvas().rect(knob, hit.hovered || hit.held ? ui.theme().secondary : ui.theme().hairline, 2);
    if (hit.held) across = (ui.frame().mouse.x - bar.x - w / 2) * sum / bar.w;
}

}  // namespace

int draw_table(Ui& ui, std::string_view name, Rect room, const DataTable& table, TableState& state,
               int selected) {
    Canvas& c = ui.canvas();
    const TextStyle head = ui.small(Tone::secondary), body = ui.small(Tone::text);
    // Width of a column: its title, the figures of the visible rows, the words of the first ones.
    const auto visible = static_cast<std::size_t>(std::max(0.0f, (room.h - 24) / kTableRow)) + 2;
    const auto first = std::min(static_cast<std::size_t>(std::max(0.0f, state.scroll)), table.rows.size());
    const Columns columns =
        columns_of(c, table, head, body, room.w, first, std::min(table.rows.size(), first + visible));

    const bool sideways = columns.sum > room.w + 1 && !columns.width.empty();
    if (sideways) {
        across_bar(ui, name, room.cut_bottom(8), columns.sum, state.across);
        if (ui.hovers(room) && ui.frame().shift) state.across -= ui.frame().wheel * 60;
    }
    state.across = std::clamp(state.across, 0.0f, std::max(0.0f, columns.sum - room.w));
    // The first column, which names the row, stays where it leaves room for another.
    const float pinned = sideways && columns.width[0] < room.w * 0.45f ? columns.width[0] : 0;
    const auto cells = [&](Rect row, auto&& draw) {
        float x = row.x - state.across;
        c.push_clip({row.x + pinned, row.y, row.w - pinned, row.h});
        for (std::size_t i = 0; i < columns.width.size(); ++i) {
            if (i > 0 || pinned <= 0) draw(i, Rect{x, row.y, columns.width[i] - kColumnGap, row.h});
            x += columns.width[i];
        }
        c.pop_clip();
        if (pinned > 0) draw(0, Rect{row.x, row.y, columns.width[0] - kColumnGap, row.h});
    };
    cells(room.cut_top(columns.head_lines > 1 ? 36.0f : 22.0f),
          [&](std::size_t i, Rect cell) { draw_title(ui, cell, table.columns[i], head); });
    c.line({room.x, room.y}, {room.right(), room.y}, ui.theme().hairline);
    room.cut_top(2);

    const auto rows = static_cast<float>(table.rows.size());
    // One further where a line below says what is left out.
    const float last = static_cast<float>(last_start(columns, table.rows.size(), room.h))
                       + (table.left_out > 0 ? 1.0f : 0.0f);
    if (ui.hovers(room) && ui.frame().wheel != 0 && !(sideways && ui.frame().shift))
        state.scroll -= ui.frame().wheel * 3;
    state.scroll = std::clamp(std::floor(state.scroll), 0.0f, last);
    int clicked = -1;
    c.push_clip(room);
    const auto start = static_cast<std::size_t>(state.scroll);
    Rect row{room.x, room.y, room.w, 0};
    for (std::size_t r = start; r < table.rows.size() && row.bottom() < room.bottom(); ++r) {
        row = {row.x, row.bottom(), row.w, columns.height_of(r)};
        const Hit hit = ui.area(name, row, r, true, false);
        if (static_cast<int>(r) == selected)
            c.rect(row, ui.theme().raised, 3);
        else if (hit.hovered)
            c.rect(row, ui.theme().raised.alpha(0.5f), 3);
        if (hit.hovered) state.hovered_row = static_cast<int>(r);
        cells(row, [&](std::size_t i, Rect cell) {
            if (i >= table.rows[r].size()) return;
            const Rect inner = columns.most_lines > 1 ? cell.inset(0, 3) : cell;
            draw_cell(ui, inner, shown(table.columns[i], table.rows[r][i]), table.columns[i].number,
                      columns.most_lines > 1 ? std::max(2, columns.lines_of(r)) : 1, body);
        });
        if (hit.clicked) clicked = static_cast<int>(r);
    }
    if (table.left_out > 0) {
        if (row.bottom() < room.bottom())
            c.text({room.x, row.bottom() + 2},
                   "… and " + thousands(static_cast<std::int64_t>(table.left_out)) + " more",
                   ui.small(Tone::secondary));
    }
    c.pop_clip();
    if (last > 0) {  // where we are
        const float h = std::max(16.0f, room.h * (rows - last) / std::max(1.0f, rows)),
                    y = room.y + (room.h - h) * state.scroll / last;
        c.rect({room.right() - 3, y, 3, h}, ui.theme().hairline, 1.5f);
    }
    return clicked;
}

}  // namespace pentamesh::ui
