// Writes tables on pages: columns are as wide as their words need, cells are wrapped, the head is on every
// page.
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/review/sheet.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace pentamesh::ui {

namespace {

constexpr std::size_t kShortTable = 12;  // rows of a table that is not parted from its heading, or within
constexpr float kMostWord = 0.34f;       // of the page's width: a longer word is broken

TextStyle cell_style(const ReviewSheet& sheet, float size) {
    return {Face::regular, size, sheet.theme().text, 0};
}

std::size_t most_lines(const std::vector<std::vector<std::string_view>>& lines) {
    std::size_t most = 1;
    for (const auto& cell : lines) most = std::max(most, cell.size());
    return most;
}

Table::Row titles_of(const Table& t) {
    Table::Row out;
    for (const Table::Column& c : t.columns) out.emplace_back(c.title);
    return out;
}

struct ColumnWidths {
    float least = 0, natural = 0;
};

// Shares the width beyond the least widths by what each column lacks; no column gets more than it needs.
std::vector<float> shared_widths(const std::vector<ColumnWidths>& columns, float width) {
    std::vector<float> out;
    float spare = width;
    for (const ColumnWidths& c : columns) {
        out.push_back(c.least);
        spare -= c.least;
    }
    float lacking = 0;
    for (const ColumnWidths& c : columns) lacking += c.natural - c.least;
    if (lacking <= 0 || spare <= 0) return out;
    if (lacking <= spare) {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = columns[i].natural;
        return out;
    }
    // Narrow columns come first: each gets at most an equal share of the width for the columns that are left.
    std::vector<std::size_t> order(columns.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return columns[a].natural - columns[a].least < columns[b].natural - columns[b].least;
    });
    std::size_t rest = order.size();
    for (const std::size_t i : order) {
        const float more =
            std::min(columns[i].natural - columns[i].least, spare / static_cast<float>(rest--));
        out[i] += more;
        spare -= more;
    }
    return out;
}

}  // namespace

Table printed(const Table& exact) {
    Table t = worded(exact);
    for (Table::Column& c : t.columns) c.title = typeset(c.title);
    for (Table::Row& row : t.rows)
        for (Cell& cell : row) cell = typeset(cell.words());
    return t;
}

ReviewSheet::Lines ReviewSheet::lines_of(const Part& part, const Table::Row& cells,
                                         const TextStyle& style) const {
    Lines out;
    for (std::size_t i = 0; i < part.column.size(); ++i)
        out.push_back(canvas_.wrapped(part.w[i] + 0.5f, cells[part.column[i]].words(), style));
    return out;
}

float ReviewSheet::height_of(std::size_t lines, float pad) const {
    return static_cast<float>(lines) * paper_.line() + pad;
}

// The first column is in every part, so that a row can be identified.
std::vector<ReviewSheet::Part> ReviewSheet::parts_with(const Table& t, float width, float size, float gap,
                                                       float pad) const {
    const TextStyle title{Face::semibold, size, theme_.secondary, 0},
        cell{Face::regular, size, theme_.text, 0};
    std::vector<ColumnWidths> columns;
    for (std::size_t i = 0; i < t.columns.size(); ++i) {
        ColumnWidths c;
        const bool words = t.columns[i].shown == Shown::words;
        for (const auto& row : t.rows) {
            c.natural = std::max(c.natural, canvas_.text_width(row[i].words(), cell));
            if (words) c.least = std::max(c.least, longest_word(canvas_, row[i].words(), cell));
        }
        // A figure is not broken, unless it is a sentence.
        if (!words) c.least = c.natural;
        c.least = std::min(c.least, width * kMostWord);
        c.least =
            std::max(c.least, std::min(longest_word(canvas_, t.columns[i].title, title), width * kMostWord));
        // A title of two lines is no reason for a wide column.
        c.natural = std::max({c.natural, c.least, canvas_.text_width(t.columns[i].title, title) * 0.62f});
        c.least = std::ceil(c.least) + 1, c.natural = std::ceil(c.natural) + 1;
        columns.push_back(c);
    }
    std::vector<Part> parts;
    for (std::size_t next = 0; next < columns.size();) {
        Part part;
        part.size = size, part.pad = pad;
        std::vector<ColumnWidths> taken;
        float used = 0;
        const auto take_column = [&](std::size_t i) {
            part.column.push_back(i);
            taken.push_back(columns[i]);
            used += columns[i].least + (part.column.size() > 1 ? gap : 0);
        };
        if (!parts.empty()) take_column(0);
        const std::size_t before = part.column.size();
        while (next < columns.size()
               && (part.column.size() == before || used + gap + columns[next].least <= width))
            take_column(next++);
        part.w = shared_widths(taken, width - gap * static_cast<float>(taken.size() - 1));
        float x = 0;
        for (const float w : part.w) {
            part.x.push_back(x);
            x += w + gap;
        }
        parts.push_back(std::move(part));
    }
    return parts;
}

float ReviewSheet::row_height(const Part& part, const Table::Row& cells) const {
    return height_of(most_lines(lines_of(part, cells, cell_style(*this, part.size))), part.pad);
}

float ReviewSheet::head_height(const Table& t, const Part& part) const {
    return height_of(most_lines(lines_of(part, titles_of(t), {Face::semibold, part.size, {}, 0})), part.pad);
}

int ReviewSheet::turns_of(const Table& t, const Part& part, float taken) const {
    const float head = head_height(t, part);
    float room = room_.h - taken - head;
    int turns = 0;
    for (const Table::Row& cells : t.rows) {
        const float h = row_height(part, cells);
        if (h > room) room = whole_ - head, ++turns;
        room -= h;
    }
    return turns;
}

// Before a table is cut in two, and where it then takes a page less, its columns move closer together, then
// get the page's small type, then its rows move closer. Many columns have that type at once: their words need
// the room.
std::vector<ReviewSheet::Part> ReviewSheet::parts_of(const Table& t, float width,
                                                     std::optional<float> paged) const {
    constexpr std::size_t kMany = 8;
    constexpr float kWide = 0.9f, kClose = 0.6f;  // between columns, of the type's size
    const float apart = paper_.body * 0.35f, near = paper_.body * 0.12f;  // between rows
    const float size = t.columns.size() > kMany ? paper_.small : paper_.body;
    std::vector<Part> best;
    int least = 0;
    const std::array<std::array<float, 3>, 4> tried{{{size, kWide, apart},
                                                     {size, kClose, apart},
                                                     {paper_.small, kClose, apart},
                                                     {paper_.small, kClose, near}}};
    for (const auto& [type, gap, pad] : tried) {
        std::vector<Part> parts = parts_with(t, width, type, type * gap, pad);
        if (parts.size() > 1) continue;
        const int turns = paged ? turns_of(t, parts.front(), *paged) : 0;
        if (!best.empty() && turns >= least) continue;
        best = std::move(parts), least = turns;
    }
    return best.empty() ? parts_with(t, width, size, size * kWide, apart) : best;
}

void ReviewSheet::draw_cells(const Table& t, const Part& part, Rect row, const Lines& lines,
                             const TextStyle& style, std::size_t first, std::size_t count) {
    for (std::size_t i = 0; i < part.column.size(); ++i) {
        const bool right = t.columns[part.column[i]].shown != Shown::words;
        const Piece piece(*this, style.face == Face::semibold ? "TH" : "TD");
        for (std::size_t k = first; k < std::min(first + count, lines[i].size()); ++k)
            label({row.x + part.x[i], row.y + static_cast<float>(k - first) * paper_.line(), part.w[i] + 1,
                   paper_.line()},
                  lines[i][k], style, right ? Align::right : Align::left);
    }
}

float ReviewSheet::table_head(const Table& t, const Part& part, Rect room, bool draw) {
    const TextStyle style{Face::semibold, part.size, theme_.secondary, 0};
    const Table::Row titles = titles_of(t);
    const Lines lines = lines_of(part, titles, style);  // they are parts of the titles
    const std::size_t n = most_lines(lines);
    const float h = height_of(n, part.pad);
    if (!draw) return h;
    const Piece row(*this, "TR");
    // Titles are aligned to the line below them.
    for (std::size_t i = 0; i < part.column.size(); ++i) {
        Part one{{part.column[i]}, {part.x[i]}, {part.w[i]}, part.size, part.pad};
        const float down = static_cast<float>(n - lines[i].size()) * paper_.line();
        draw_cells(t, one, {room.x, room.y + down, room.w, h}, {lines[i]}, style, 0, n);
    }
    canvas_.line({room.x, room.y + h - 1}, {room.x + part.x.back() + part.w.back(), room.y + h - 1},
                 theme_.secondary);
    return h;
}

void ReviewSheet::draw_part(const Table& t, const Part& part) {
    const Piece table(*this, "Table");
    const float head_h = head_height(t, part);
    need(std::min(whole_, head_h + row_height(part, t.rows.front())
                              + (t.rows.size() > 1 ? row_height(part, t.rows[1]) : 0)));
    room_.cut_top(table_head(t, part, room_, true));
    for (std::size_t r = 0; r < t.rows.size(); ++r) {
        const Lines lines = lines_of(part, t.rows[r], cell_style(*this, part.size));
        const std::size_t all = most_lines(lines);
        for (std::size_t first = 0; first < all;) {
            if (room_.h < height_of(all - first, part.pad) && room_.h < whole_ - head_h - 1) {
                turn(true);
                room_.cut_top(table_head(t, part, room_, true));
            }
            // A row higher than a page continues on the next one.
            const auto fit = static_cast<std::size_t>(std::max(1.0f, (room_.h - part.pad) / paper_.line()));
            const std::size_t count = std::min(all - first, fit);
            const float h = height_of(count, part.pad);
            const Piece row(*this, "TR");
            draw_cells(t, part, {room_.x, room_.y + part.pad / 2, room_.w, h}, lines,
                       cell_style(*this, part.size), first, count);
            room_.cut_top(h);
            first += count;
        }
        if (r + 1 < t.rows.size())
            canvas_.line({room_.x, room_.y}, {room_.x + part.x.back() + part.w.back(), room_.y},
                         theme_.hairline);
    }
}

float ReviewSheet::table_start(const Table& exact) const {
    const Table t = printed(exact);
    if (t.rows.empty()) return 0;
    const float above = paper_.head * 1.35f + paper_.line() * 1.25f;  // a heading and a line of words
    const Part part = parts_of(t, room_.w, above).front();
    float h = head_height(t, part);
    const std::size_t rows = t.rows.size() <= kShortTable ? t.rows.size() : 2;
    for (std::size_t r = 0; r < rows; ++r) h += row_height(part, t.rows[r]);
    return h + 1;
}

void ReviewSheet::table(const Table& exact) {
    const Table t = printed(exact);
    if (t.rows.empty()) return;
    for (const Part& part : parts_of(t, room_.w, 0.0f)) {
        draw_part(t, part);
        gap(0.6f);
    }
    if (t.left_out > 0) words("and " + std::to_string(t.left_out) + " more rows, not listed", faint());
}

float ReviewSheet::table_in(Rect room, const Table& exact, bool draw) {
    const Table t = printed(exact);
    const float top = room.y;
    std::optional<Piece> table;
    if (draw) table.emplace(*this, "Table");
    for (const Part& part : parts_of(t, room.w, std::nullopt)) {
        room.cut_top(table_head(t, part, room, draw));
        for (const Table::Row& cells : t.rows) {
            const Lines lines = lines_of(part, cells, cell_style(*this, part.size));
            const std::size_t n = most_lines(lines);
            const Rect row = room.cut_top(height_of(n, part.pad));
            if (!draw) continue;
            const Piece of_row(*this, "TR");
            draw_cells(t, part, {row.x, row.y + part.pad / 2, row.w, row.h}, lines,
                       cell_style(*this, part.size), 0, n);
            canvas_.line({row.x, row.bottom()}, {row.x + part.x.back() + part.w.back(), row.bottom()},
                         theme_.hairline);
        }
    }
    return room.y - top;
}

}  // namespace pentamesh::ui
