#include "app/ui/review/sheet.h"

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "render/page.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr std::array<std::string_view, kPaperCount> kPaperNames{"16:9", "a4", "letter"};

Paper sheet_of_paper(Vec2 size) {
    Paper p;
    p.size = size;
    p.margin = 52;
    p.title = 22, p.head = 15, p.body = 12.5f, p.small = 11;
    return p;
}

}  // namespace

std::string_view name_of(PaperKind kind) {
    return kPaperNames[static_cast<std::size_t>(kind)];
}

std::optional<PaperKind> paper_named(std::string_view name) {
    for (int i = 0; i < kPaperCount; ++i)
        if (kPaperNames[static_cast<std::size_t>(i)] == name) return static_cast<PaperKind>(i);
    return std::nullopt;
}

Paper paper_of(PaperKind kind) {
    switch (kind) {
    case PaperKind::a4: return sheet_of_paper({793.7f, 1122.5f});  // 210 x 297 mm
    case PaperKind::letter: return sheet_of_paper({816, 1056});
    case PaperKind::slide: break;
    }
    return slide_of({1280, 720});
}

Paper slide_of(Vec2 size) {
    const float k = size.x / 1280;
    Paper p;
    p.size = size;
    p.margin = 40 * k;
    p.wide = true;
    p.title = 28 * k, p.head = 21 * k, p.body = p.small = 18.67f * k;
    return p;
}

Paper for_reading(Paper slide) {
    const float k = slide.size.x / 1280;
    slide.title = 26 * k, slide.head = 17 * k, slide.body = slide.small = 14.4f * k;
    return slide;
}

ReviewSheet::ReviewSheet(SheetTarget target, const Paper& paper, const Theme& theme, std::string plan_title,
                         std::string foot, std::string banner)
    : target_(std::move(target)), paper_(paper), theme_(theme), plan_title_(std::move(plan_title)),
      foot_(std::move(foot)), banner_(std::move(banner)), canvas_(nullptr, 1) {}

void ReviewSheet::label(Rect box, std::string_view words, const TextStyle& style, Align align) {
    if (canvas_.text_in(box, words, style, align)) ++cut_;
}

void put_piece(Page& page, std::string_view name) {
    if (name.empty())
        page.end_piece();
    else
        page.begin_piece(name);
}

void ReviewSheet::begin_piece(std::string_view name) {
    pieces_.emplace_back(name);
    if (target_.piece) target_.piece(name);
}

void ReviewSheet::end_piece() {
    pieces_.pop_back();
    if (target_.piece) target_.piece("");
}

void ReviewSheet::begin(std::string section, std::string under) {
    section_ = std::move(section);
    under_ = std::move(under);
    heading_.clear();
    columns_ = 1;
    turn(false);
    mark(SheetMark::Kind::section, section_, {0, 0, paper_.size.x, 1});
}

void ReviewSheet::section(std::string name, float behind) {
    const float least = paper_.wide ? 0.5f : 0.3f;  // of a page
    if (columns_ > 1) columns(1);
    const TextStyle style{Face::semibold, paper_.title * 0.9f, theme_.text, 0};
    const float line = style.size * 1.3f, above = paper_.line() * 1.2f;
    const bool joins = (!paper_.wide || paper_.flows) && !paper_.one_a_page && page_ > 0
                       && room_.h >= std::max(above + line + behind, least * whole_);
    if (!joins) return begin(std::move(name));
    section_ = std::move(name);
    under_.clear();
    heading_.clear();
    room_.cut_top(above * 0.6f);
    canvas_.line({room_.x, room_.y}, {room_.right(), room_.y}, theme_.hairline);
    room_.cut_top(above * 0.4f);
    mark(SheetMark::Kind::section, section_, {room_.x, room_.y, room_.w, line});
    const Piece piece(*this, "H1");
    room_.cut_top(canvas_.paragraph(room_, section_, style, line));
    room_.cut_top(paper_.line() * 0.3f);
}

void ReviewSheet::begin_bare() {
    canvas_ = target_.turn(section_);
    ++page_;
    const Rect page{0, 0, paper_.size.x, paper_.size.y};
    canvas_.rect(page, theme_.panel);
    room_ = page.inset(paper_.margin);
    whole_ = room_.h;
}

void ReviewSheet::turn(bool continued) {
    if (columns_ > 1 && column_ + 1 < columns_) return next_column();
    turn_page(continued);
    if (columns_ == 1) return;
    body_ = room_;
    column_ = -1;
    deepest_ = body_.y;
    next_column();
}

void ReviewSheet::next_column() {
    const auto n = static_cast<float>(columns_);
    const float apart = paper_.body * 1.6f, w = (body_.w - apart * (n - 1)) / n;
    if (column_ >= 0) deepest_ = std::max(deepest_, room_.y);
    ++column_;
    room_ = {body_.x + static_cast<float>(column_) * (w + apart), body_.y, w, body_.h};
}

void ReviewSheet::columns(int count) {
    if (columns_ > 1) {
        const float end = std::max(deepest_, room_.y);
        room_ = {body_.x, end, body_.w, std::max(0.0f, body_.bottom() - end)};
    }
    columns_ = count;
    if (count == 1) return;
    body_ = room_;
    column_ = -1;
    deepest_ = body_.y;
    next_column();
}

void ReviewSheet::narrow(float share) {
    room_.w = (paper_.size.x - 2 * paper_.margin) * share;
}

Rect ReviewSheet::beside() const {
    const float left = room_.right() + paper_.margin * 0.6f;
    return {left, room_.y, paper_.size.x - paper_.margin * 0.4f - left, room_.h};
}

void ReviewSheet::entry(std::string_view plain_head, std::string_view plain_text, std::string_view to) {
    const std::string head = typeset(plain_head), text = typeset(plain_text);
    const auto lines =
        canvas_.wrapped(room_.w, head, strong()).size() + canvas_.wrapped(room_.w, text, faint()).size();
    need(std::min(whole_, paper_.line() * static_cast<float>(lines)));
    const int page = page_;
    const Rect from = room_;
    words(head, strong());
    words(text, faint());
    if (!to.empty() && page == page_ && from.x == room_.x)
        link({from.x, from.y, from.w, room_.y - from.y}, to);
    gap(0.25f);
}

void ReviewSheet::note_spare(std::vector<float>& spare) const {
    if (page_ <= 0 || grew_on_ != page_ || columns_ > 1) return;
    spare.resize(std::max(spare.size(), static_cast<std::size_t>(page_)));
    spare[static_cast<std::size_t>(page_) - 1] = std::max(0.0f, room_.h - 2);
}

std::vector<float> ReviewSheet::spare() const {
    std::vector<float> out = spare_;
    note_spare(out);
    return out;
}

Rect ReviewSheet::take_grown(float height, float most) {
    need(std::min(height, whole_));
    const auto page = static_cast<std::size_t>(std::max(0, page_ - 1));
    if (grew_on_ != page_) grown_ = 0;
    grew_on_ = page_;
    if (target_.spare == nullptr || page >= target_.spare->size()) return take(height);
    const float more =
        std::max(0.0f, std::min({most - height, (*target_.spare)[page] - grown_, room_.h - height}));
    grown_ += more;
    return take(height + more);
}

void ReviewSheet::turn_page(bool continued) {
    note_spare(spare_);
    const std::vector<std::string> open = std::exchange(pieces_, {});
    for (std::size_t i = 0; i < open.size() && target_.piece; ++i) target_.piece("");
    canvas_ = target_.turn(section_);
    ++page_;
    Rect page{origin_.x, origin_.y, paper_.size.x, paper_.size.y};
    canvas_.rect(page, theme_.panel);
    page = page.inset(paper_.margin);
    const float line = paper_.line();
    Rect foot = page.cut_bottom(line);
    foot.y += paper_.margin * 0.35f;
    page.cut_bottom(line * 0.4f);
    canvas_.line({foot.x, foot.y - 3}, {foot.right(), foot.y - 3}, theme_.hairline);
    const TextStyle small{Face::regular, paper_.small, theme_.secondary, 0};
    const std::string number =
        std::to_string(page_) + (target_.pages > 0 ? " of " + std::to_string(target_.pages) : "");
    label(foot, number, small, Align::right);
    label(foot, foot_, small);

    const TextStyle title{Face::semibold, paper_.title, theme_.text, 0};
    const float h = paper_.title * 1.3f;
    std::string words = heading_.empty() ? section_ : heading_;
    if (continued && words.ends_with('.')) words.pop_back();
    if (continued) words += ", continued";
    const bool part = !heading_.empty() && section_ != plan_title_;
    const std::string under = (part ? section_ + "  ·  " : "") + (under_.empty() ? plan_title_ : under_);
    {
        const Piece piece(*this, continued ? "P" : "H1");
        canvas_.paragraph(page, words, title, h);
    }
    page.cut_top(canvas_.paragraph_height(page.w, words, title, h));
    if (words != under) page.cut_top(canvas_.paragraph(page, under, faint(), line));
    page.cut_top(line * 0.4f);
    if (!banner_.empty()) {
        const float pad = paper_.body * 0.6f;
        const float tall = canvas_.paragraph_height(page.w - 2 * pad - 6, banner_, strong(), line);
        const Rect box = page.cut_top(tall + 2 * pad);
        canvas_.rect(box, mix(theme_.panel, theme_.bad, 0.12f));
        canvas_.rect({box.x, box.y, 6, box.h}, theme_.bad);
        canvas_.paragraph({box.x + pad + 6, box.y + pad, box.w - 2 * pad - 6, tall}, banner_, strong(), line);
        page.cut_top(line * 0.6f);
    }
    room_ = page;
    whole_ = page.h;
    for (const std::string& name : open) begin_piece(name);
}

void ReviewSheet::need(float height) {
    if (room_.h < height && room_.h < whole_) turn(true);
}

Rect ReviewSheet::take(float height) {
    need(height);
    return room_.cut_top(height);
}

void ReviewSheet::gap(float lines) {
    room_.cut_top(std::min(room_.h, paper_.line() * lines));
}

void ReviewSheet::head(std::string_view words, float behind) {
    if (paper_.one_a_page && columns_ == 1 && room_.h < whole_) {
        heading_ = words;
        turn_page(false);
        mark(SheetMark::Kind::heading, words, {room_.x, 0, room_.w, 1});
        return;
    }
    if (paper_.one_a_page) heading_ = words;
    const TextStyle style{Face::semibold, paper_.head, theme_.text, 0};
    const float line = paper_.head * 1.35f;
    const float h = canvas_.paragraph_height(room_.w, words, style, line) + paper_.line() * 0.25f;
    need(h + std::min(behind, whole_ - h));
    mark(SheetMark::Kind::heading, words, {room_.x, room_.y, room_.w, h});
    const Piece piece(*this, "H2");
    canvas_.paragraph(room_, words, style, line);
    room_.cut_top(h);
}

float ReviewSheet::words_height(std::string_view words, float width) const {
    return canvas_.paragraph_height(width, words, plain(), paper_.line());
}

void ReviewSheet::words(std::string_view words, const TextStyle& style) {
    const Piece piece(*this, "P");
    for (const std::string_view line : canvas_.wrapped(room_.w, words, style))
        label(take(paper_.line()), line, style);
}

// Writes tables on pages: columns are as wide as their words need, cells are wrapped, the head is on every
// page.

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
    if (t.left_out > 0) words(and_more(t.left_out, " rows, not listed"), faint());
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
