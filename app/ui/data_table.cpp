#include "app/ui/data_table.h"

#include "app/ui/format.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace pentamesh::ui {

namespace {

constexpr float kRow = 20;

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

// Into `room`: words give way first, since half a word is read and half a number is not.
void squeeze(const DataTable& table, std::vector<float>& width, float sum, float room) {
    constexpr float kLeastWords = 84;
    if (sum <= room || sum <= 0) return;
    float spare = 0;
    for (std::size_t i = 0; i < width.size(); ++i)
        if (!table.columns[i].number) spare += std::max(0.0f, width[i] - kLeastWords);
    const float share = spare > 0 ? std::min(1.0f, (sum - room) / spare) : 0;
    float left = 0;
    for (std::size_t i = 0; i < width.size(); ++i) {
        if (!table.columns[i].number) width[i] -= share * std::max(0.0f, width[i] - kLeastWords);
        left += width[i];
    }
    if (left > room)
        for (float& w : width) w *= room / left;
}

}  // namespace

int draw_table(Ui& ui, std::string_view name, Rect room, const DataTable& table, TableState& state,
               int selected) {
    Canvas& c = ui.canvas();
    const TextStyle head = ui.small(Tone::secondary), body = ui.small(Tone::text);
    // Width of a column: its title and what the visible rows hold, stretched or squeezed to the room.
    const auto n = table.columns.size();
    std::vector<float> width(n);
    const auto visible = static_cast<std::size_t>(std::max(0.0f, (room.h - 24) / kRow)) + 2;
    const auto first = static_cast<std::size_t>(std::max(0.0f, state.scroll));
    float sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        width[i] = c.text_width(table.columns[i].title, head);
        for (std::size_t r = first; r < std::min(table.rows.size(), first + visible); ++r)
            if (i < table.rows[r].size())
                width[i] = std::max(width[i], c.text_width(shown(table.columns[i], table.rows[r][i]), body));
        width[i] = std::min(width[i], 420.0f) + 24;
        sum += width[i];
    }
    squeeze(table, width, sum, room.w);

    const auto draw_row = [&](Rect row, const TextStyle& style, auto&& cell_of) {
        float x = row.x;
        for (std::size_t i = 0; i < n; ++i) {
            const Rect cell{x, row.y, width[i] - 16, row.h};
            const std::string text = cell_of(i);
            if (c.text_in(cell, text, style, table.columns[i].number ? Align::right : Align::left)
                && ui.hovers(cell))
                ui.tooltip(text);
            x += width[i];
        }
    };
    draw_row(room.cut_top(22), head, [&](std::size_t i) { return table.columns[i].title; });
    c.line({room.x, room.y}, {room.right(), room.y}, ui.theme().hairline);
    room.cut_top(2);

    const auto rows = static_cast<float>(table.rows.size());
    const float fits = std::floor(room.h / kRow);
    if (ui.hovers(room) && ui.frame().wheel != 0) state.scroll -= ui.frame().wheel * 3;
    state.scroll = std::clamp(std::floor(state.scroll), 0.0f,
                              std::max(0.0f, rows - fits + (table.left_out > 0 ? 1 : 0)));
    int clicked = -1;
    c.push_clip(room);
    const auto start = static_cast<std::size_t>(state.scroll);
    for (std::size_t r = start; r < table.rows.size(); ++r) {
        const Rect row{room.x, room.y + static_cast<float>(r - start) * kRow, room.w, kRow};
        if (row.y >= room.bottom()) break;
        const Hit hit = ui.area(name, row, r, true, false);
        if (static_cast<int>(r) == selected)
            c.rect(row, ui.theme().raised, 3);
        else if (hit.hovered)
            c.rect(row, ui.theme().raised.alpha(0.5f), 3);
        if (hit.hovered) state.hovered_row = static_cast<int>(r);
        draw_row(row, body, [&](std::size_t i) {
            return i < table.rows[r].size() ? shown(table.columns[i], table.rows[r][i]) : std::string();
        });
        if (hit.clicked) clicked = static_cast<int>(r);
    }
    if (table.left_out > 0) {
        const float y = room.y + (rows - state.scroll) * kRow;
        if (y < room.bottom())
            c.text({room.x, y + 2}, "… and " + thousands(static_cast<std::int64_t>(table.left_out)) + " more",
                   ui.small(Tone::secondary));
    }
    c.pop_clip();
    if (rows > fits && fits > 0) {  // where we are
        const float h = std::max(16.0f, room.h * fits / rows),
                    y = room.y + (room.h - h) * state.scroll / (rows - fits);
        c.rect({room.right() - 3, y, 3, h}, ui.theme().hairline, 1.5f);
    }
    return clicked;
}

}  // namespace pentamesh::ui
