#include "app/ui/kit/data_table.h"

#include "app/ui/kit/format.h"
#include "core/base/number.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

namespace pentamesh::ui {

namespace {
constexpr float kThumb = 3, kGrip = 9;  // widths: what is drawn, what the mouse can take
}

ScrollArea::ScrollArea(Ui& ui, std::string_view name, Rect window, ScrollState& state, Options options)
    : room(window.inset(options.pad.x, options.pad.y)), ui_(ui), window_(window), state_(state),
      options_(options), first_area_(ui.state().areas.size()) {
    state_.at = std::round(std::max(0.0f, state_.at));
    ui.canvas().push_clip(window);
    if (state_.most > 0 && !ui.state().for_picture) {  // before the content: it takes the press
        const Hit hit = ui.area(std::string(name) + ".thumb",
                                {window.right() - kGrip, window.y, kGrip, window.h}, 0, true, false);
        ui.scrolls(name, window);
        thumb_held_ = hit.held;
        thumb_highlighted_ = hit.hovered || hit.held;
        if (hit.held)  // the middle of the thumb goes where the mouse is
            state_.at = std::clamp((ui.frame().mouse.y - window.y) / window.h * (state_.most + window.h)
                                       - window.h / 2,
                                   0.0f, state_.most);
    }
    room.y -= state_.at;
    room.h = 1e5f;
    top_ = room.y;
}

void ScrollArea::show(Rect r) {
    const float before = state_.at;
    if (r.bottom() > window_.bottom()) state_.at += r.bottom() - window_.bottom();
    if (r.y < window_.y) state_.at -= window_.y - r.y;
    if (state_.at != before) ui_.state().wants_frame = true;
}

void ScrollArea::take_keys() {
    UiState& s = ui_.state();
    const auto begin = s.areas.begin() + static_cast<std::ptrdiff_t>(std::min(first_area_, s.areas.size()));
    const auto focused = std::find_if(begin, s.areas.end(), [&](const UiState::Area& a) {
        return s.focus != 0 && a.id == s.focus && a.layer == ui_.layer();
    });
    const bool inside = focused != s.areas.end();
    if (inside && s.focus_visible && state_.focus != s.focus) show(focused->rect.inset(-4));
    state_.focus = s.focus;
    if (state_.most <= 0 || ui_.layer() != s.top_layer) return;
    const bool keyboard = inside && s.focus_visible;
    if (keyboard) s.scroll_has_focus = true;
    if (s.page_keys && (keyboard || ui_.hovers(window_))) {
        const float page = std::max(40.0f, window_.h - 40);
        if (pressed({Key::page_down}, true)) state_.at += page;
        if (pressed({Key::page_up}, true)) state_.at -= page;
    }
    if (keyboard && pressed({Key::home})) state_.at = 0;
    if (keyboard && pressed({Key::end})) state_.at = state_.most;
}

ScrollArea::~ScrollArea() {
    const float drawn_at = state_.at;
    const float content = room.y - top_ + 2 * options_.pad.y;
    state_.most = std::max(0.0f, std::ceil(content - window_.h - 0.5f));
    ui_.state().hidden = std::max(ui_.state().hidden, state_.most);
    if (options_.wheel && state_.most > 0) state_.at -= ui_.take_wheel(window_) * options_.wheel_step;
    if (options_.wheel && state_.most > 0) state_.at -= ui_.take_swipe(window_);
    if (options_.keys) take_keys();
    state_.at = std::round(std::clamp(state_.at, 0.0f, state_.most));
    if (state_.at != drawn_at) ui_.state().wants_frame = true;
    if (state_.most > 0 && !ui_.state().for_picture && !ui_.state().without_bars) {
        const float h = std::max(16.0f, window_.h * window_.h / content);
        const float y = window_.y + (window_.h - h) * state_.at / state_.most;
        const Theme& t = ui_.theme();
        ui_.canvas().rect({window_.right() - 4, y, kThumb, h}, thumb_highlighted_ ? t.secondary : t.hairline,
                          kThumb / 2);
    }
    ui_.canvas().pop_clip();
}

// All pieces shrink by one factor if there is too little room.
void divide(float length, std::span<const Size> sizes, float gap, std::span<float> out) {
    const float room = std::max(0.0f, length - gap * static_cast<float>(sizes.size() - 1));
    float fixed = 0, shares = 0;
    for (const Size& s : sizes) fixed += s.px, shares += s.share;
    const float shrunk = fixed > room ? room / fixed : 1, spare = std::max(0.0f, room - fixed);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        out[i] = sizes[i].px * shrunk;
        if (sizes[i].share > 0) out[i] += spare * sizes[i].share / shares;
    }
}

void text_row(Ui& ui, Rect row, std::span<const Words> cells, float gap) {
    std::vector<Size> sizes;
    for (const Words& cell : cells) sizes.push_back(cell.size);
    std::vector<float> width(cells.size());
    divide(row.w, sizes, gap, width);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const Rect at = row.cut_left(width[i]);
        row.cut_left(gap);
        if (!cells[i].text.empty()) ui.label(at, cells[i].text, cells[i].style, cells[i].align);
    }
}

void write_left(Ui& ui, Rect& row, std::string_view text, const TextStyle& style, float gap) {
    ui.canvas().text_in(row, text, style);
    row.cut_left(std::min(row.w, ui.canvas().text_width(text, style) + gap));
}

bool write_whole(Ui& ui, Rect box, std::string_view text, const TextStyle& style, Align align) {
    if (ui.canvas().text_width(text, style) > box.w) return false;
    ui.canvas().text_in(box, text, style, align);
    return true;
}

std::string_view wording(Ui& ui, float width, std::span<const std::string> wordings, const TextStyle& style) {
    for (const std::string& words : wordings)
        if (ui.canvas().text_width(words, style) <= width) return words;
    return {};
}

std::string_view whole_parts(Ui& ui, std::string_view words, float width, const TextStyle& style) {
    while (ui.canvas().text_width(words, style) > width)
        if (const std::size_t end = words.rfind(", "); end != std::string_view::npos)
            words = words.substr(0, end);
        else
            break;
    return words;
}

void write_plate(Ui& ui, Rect box, std::string_view text, const TextStyle& style, Color ground,
                 float radius) {
    ui.canvas().rect(box, ground, radius);
    ui.canvas().text_in(box, text, style, Align::center);
}

void put_head(Ui& ui, Rect& room, float gap, std::string_view head, std::string_view right) {
    ui.section(room.cut_top(18), head, right);
    room.cut_top(gap);
}

void put_paragraph(Ui& ui, Rect& room, std::string_view text, const TextStyle& style, float line, float gap) {
    room.cut_top(ui.canvas().paragraph(room, text, style, line) + gap);
}

void row_ground(Ui& ui, Rect row, const Hit& hit, bool picked) {
    if (picked || hit.hovered) ui.canvas().rect(row, ui.theme().raised.alpha(picked ? 1.0f : 0.5f), 4);
    if (hit.focused) ui.focus_ring(row, 4);
}

Rect dialog_box(Ui& ui, Vec2 most, float margin) {
    const Vec2 screen = ui.frame().size;
    const float w = std::min(most.x, screen.x - margin), h = std::min(most.y, screen.y - margin);
    return {(screen.x - w) / 2, (screen.y - h) / 2, w, h};
}

namespace {

constexpr float kTableRow = 20;

// Returns a cell as it is shown: whole numbers with separators, others in six digits.
std::string shown(const Table::Column& column, const Cell& exact) {
    if (column.shown == Shown::words || column.shown == Shown::plain || !exact.is_number())
        return exact.text();
    if (!exact.is_whole()) return general_text(exact.number(), 6);
    return std::abs(exact.number()) < 9e15 ? thousands(exact.whole()) : exact.text();
}

// Bytes, seconds and shares are exact: the title names their unit.
std::string title_of(const Table::Column& column) {
    switch (column.shown) {
    case Shown::memory:
    case Shown::traffic: return column.title + " (bytes)";
    case Shown::seconds: return column.title + " (s)";
    default: return column.title;
    }
}

bool is_number(const Table::Column& column) {
    return column.shown != Shown::words;
}

constexpr float kLine = 16, kColumnGap = 16, kTablePad = 24, kWidestWord = 150, kLeastWords = 96,
                kWidest = 420, kLeastDrawn = 120;
constexpr std::size_t kMeasured = 300;  // of more rows, all that follow are as high as the highest of these
constexpr int kMostLines = 6;

// Returns a title on two lines: broken at the space that leaves both shortest.
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

// Returns the widest of a column's cells: figures of the visible rows, words of the first ones.
template <typename Width>
float widest_cell(const Table& table, std::size_t column, std::size_t first, std::size_t last, Width width) {
    if (!is_number(table.columns[column])) first = 0, last = std::min(table.rows.size(), kMeasured);
    float w = 0;
    for (std::size_t r = first; r < last; ++r)
        if (column < table.rows[r].size()) w = std::max(w, width(table.rows[r][column]));
    return w;
}

struct Columns {
    std::vector<float> width;
    float sum = 0;
    int head_lines = 1, most_lines = 1;
    std::vector<int> lines;  // of the first rows

    [[nodiscard]] int lines_of(std::size_t row) const { return row < lines.size() ? lines[row] : most_lines; }
    [[nodiscard]] float height_of(std::size_t row) const {
        return std::max(most_lines > 1 ? static_cast<float>(lines_of(row)) * kLine + 6 : kTableRow, least);
    }
    float least = 0;  // height of a row
};

float head_height(const Columns& columns) {
    return columns.head_lines > 1 ? 36 : 22;
}

// Returns the last row that may be the first one shown, so that the end is seen.
std::size_t last_start(const Columns& columns, std::size_t rows, float room) {
    float h = 0;
    std::size_t r = rows;
    while (r > 0 && h + columns.height_of(r - 1) <= room) h += columns.height_of(--r);
    return r;
}

constexpr float kMoreLine = 20;  // "… and 12 more rows"

float rows_height(const Columns& columns, std::size_t first, std::size_t last) {
    float h = 0;
    for (std::size_t r = first; r < last; ++r) h += columns.height_of(r);
    return h;
}
// Returns the height that this room lacks for all rows, and for the line that counts rows that are left out.
float hidden_height(const Columns& columns, const Table& table, float room) {
    const float all = rows_height(columns, 0, table.rows.size()) + (table.left_out > 0 ? kMoreLine : 0.0f);
    return std::max(0.0f, std::ceil(all - room));
}
// Returns the end of the rows from `first` that fit whole, above a line that says how many do not.
std::size_t whole_rows(const Columns& columns, const Table& table, std::size_t first, float room) {
    if (rows_height(columns, first, table.rows.size()) <= room + 0.5f) return table.rows.size();
    std::size_t r = first;
    for (float h = kMoreLine; r < table.rows.size() && h + columns.height_of(r) <= room; ++r)
        h += columns.height_of(r);
    return r;
}

// Returns how wide the spaces before a text are, and the text behind them: all of its lines begin there.
std::pair<float, std::string_view> without_indent(Canvas& c, std::string_view text, const TextStyle& style) {
    const std::size_t n = std::min(text.find_first_not_of(' '), text.size());
    return {c.text_width(text.substr(0, n), style), text.substr(n)};
}

// Runs where the natural widths do not fit: figures keep theirs, words get the rest, at least their longest
// word.
void squeeze(Canvas& c, const Table& table, const TextStyle& head, const TextStyle& body, float room,
             std::size_t first, std::size_t last, Columns& out) {
    const std::size_t n = out.width.size();
    std::vector<float> least(n);
    float sum = 0, give = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::string title = title_of(table.columns[i]);
        const auto [upper, lower] = halves(c, title, head);
        least[i] = std::max(c.text_width(upper, head), c.text_width(lower, head));
        const bool number = is_number(table.columns[i]);
        least[i] = std::max(least[i], widest_cell(table, i, first, last, [&](const Cell& cell) {
                                return number ? c.text_width(shown(table.columns[i], cell), body)
                                              : std::min(longest_word(c, cell.text(), body), kWidestWord);
                            }));
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

Columns columns_of(Canvas& c, const Table& table, const TextStyle& head, const TextStyle& body, float room,
                   std::size_t first, std::size_t last, int drawn_column) {
    Columns out;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        float w = c.text_width(title_of(table.columns[i]), head);
        if (static_cast<int>(i) == drawn_column) w = std::max(w, kLeastDrawn);
        w = std::max(w, widest_cell(table, i, first, last, [&](const Cell& cell) {
                         return width_of_lines(c, shown(table.columns[i], cell), body);
                     }));
        out.width.push_back(std::min(w, kWidest) + kTablePad);
        out.sum += out.width.back();
    }
    if (out.sum > room) squeeze(c, table, head, body, room, first, last, out);
    if (drawn_column >= 0 && out.sum < room) {
        out.width[static_cast<std::size_t>(drawn_column)] += room - out.sum;
        out.sum = room;
    }
    out.lines.assign(std::min(table.rows.size(), kMeasured), 1);
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const float w = out.width[i] - kColumnGap;
        if (c.text_width(title_of(table.columns[i]), head) > w + 0.5f) out.head_lines = 2;
        if (is_number(table.columns[i])) continue;
        for (std::size_t r = 0; r < out.lines.size(); ++r) {
            if (i >= table.rows[r].size()) continue;
            const std::string text = table.rows[r][i].text();
            if (text.find('\n') == std::string::npos && c.text_width(text, body) <= w) continue;
            const auto [indent, words] = without_indent(c, text, body);
            const int lines =
                static_cast<int>(std::lround(c.paragraph_height(w - indent, words, body, kLine) / kLine));
            if (lines > kMostLines) continue;  // on hover
            out.lines[r] = std::max(out.lines[r], lines);
            out.most_lines = std::max(out.most_lines, out.lines[r]);
        }
    }
    return out;
}

void draw_title(Ui& ui, Rect cell, const Table::Column& column, const TextStyle& style) {
    const Align align = is_number(column) ? Align::right : Align::left;
    Canvas& c = ui.canvas();
    const std::string title = title_of(column);
    std::pair<std::string_view, std::string_view> lines{title, {}};
    if (c.text_width(title, style) > cell.w + 0.5f) lines = halves(c, title, style);
    Rect last = cell.cut_bottom(kLine + 4);
    if (!lines.second.empty())
        c.text_in({cell.x, last.y - kLine + 4, cell.w, kLine}, lines.first, style, align);
    if (c.text_in(last, lines.second.empty() ? lines.first : lines.second, style, align) && ui.hovers(last))
        ui.tooltip(title);
}

void draw_cell(Ui& ui, Rect cell, std::string_view text, bool number, int lines, const TextStyle& style) {
    Canvas& c = ui.canvas();
    const Rect first{cell.x, cell.y, cell.w, lines > 1 ? kLine : cell.h};
    if (!number && lines > 1) {
        const auto [indent, words] = without_indent(c, text, style);
        if (c.paragraph_height(cell.w - indent, words, style, kLine)
            <= static_cast<float>(lines) * kLine + 1) {
            c.paragraph({cell.x + indent, cell.y, cell.w - indent, cell.h}, words, style, kLine);
            return;
        }
    }
    if (c.text_in(first, text, style, number ? Align::right : Align::left) && ui.hovers(cell))
        ui.tooltip(std::string(text));
}

// Draws a bar to drag where the table is wider than its room.
void across_bar(Ui& ui, std::string_view name, Rect bar, float sum, float& across) {
    const float w = bar.w * bar.w / sum;
    const Rect knob{bar.x + across * bar.w / sum, bar.y + 2, w, 4};
    const Hit hit = ui.area(std::string(name) + ".across", bar, 0, true, false);
    ui.canvas().rect(knob, hit.hovered || hit.held ? ui.theme().secondary : ui.theme().hairline, 2);
    if (hit.held) across = (ui.frame().mouse.x - bar.x - w / 2) * sum / bar.w;
}

// Returns words for the rows below the last one shown; empty where no rows follow.
std::string rest_words(const Table& table, std::size_t end) {
    const std::size_t rest = table.rows.size() - end + table.left_out;
    if (rest == 0) return {};
    return and_more(rest, end == table.rows.size() ? "" : rest == 1 ? " row" : " rows");
}

// Draws a mark at the right that says which of the rows are shown. `last` is the largest scroll.
void mark_place(Ui& ui, Rect room, float rows, float last, float scroll) {
    if (ui.state().for_picture || ui.state().without_bars) return;
    const float h = std::max(16.0f, room.h * (rows - last) / std::max(1.0f, rows)),
                y = room.y + (room.h - h) * scroll / last;
    ui.canvas().rect({room.right() - 3, y, 3, h}, ui.theme().hairline, 1.5f);
}

}  // namespace

float longest_word(const Canvas& canvas, std::string_view text, const TextStyle& style) {
    float most = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
        most = std::max(most, canvas.text_width(text.substr(0, end), style));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return most;
}

float table_height(Ui& ui, float width, const Table& table) {
    const Columns columns = columns_of(ui.canvas(), table, ui.small(), ui.small(Tone::text), width, 0,
                                       std::min(table.rows.size(), kMeasured), -1);
    return head_height(columns) + 2 + rows_height(columns, 0, table.rows.size());
}

namespace {

// Draws the cells of one row. The first column, which names the row, does not scroll where it leaves room for
// another.
class TableRow {
  public:
    TableRow(Canvas& canvas, const Columns& columns, float across, float room)
        : canvas_(canvas), columns_(columns), across_(across),
          pinned_(!columns.width.empty() && columns.sum > room + 1 && columns.width[0] < room * 0.45f
                      ? columns.width[0]
                      : 0) {}

    // Calls `draw(column, cell)` for each cell.
    template <typename Draw>
    void cells(Rect row, Draw draw) const {
        float x = row.x - across_;
        {
            const Canvas::Clip clip = canvas_.clip({row.x + pinned_, row.y, row.w - pinned_, row.h});
            for (std::size_t i = 0; i < columns_.width.size(); ++i) {
                if (i > 0 || pinned_ <= 0) draw(i, Rect{x, row.y, columns_.width[i] - kColumnGap, row.h});
                x += columns_.width[i];
            }
        }
        if (pinned_ > 0) draw(0, Rect{row.x, row.y, columns_.width[0] - kColumnGap, row.h});
    }

  private:
    Canvas& canvas_;
    const Columns& columns_;
    float across_, pinned_;
};

void draw_row_ground(Ui& ui, Rect row, bool selected, bool hovered, bool marked) {
    Canvas& c = ui.canvas();
    const Color ground = ui.theme().raised;
    if (selected || marked)
        c.rect(row, ground, 3);
    else if (hovered)
        c.rect(row, ground.alpha(0.5f), 3);
    if (marked) c.frame(row, ui.theme().secondary, 1, 3);
}

TextStyle style_of_row(Ui& ui, const RowLooks& looks, std::size_t row) {
    TextStyle style = ui.small(Tone::text);
    switch (row < looks.tone.size() ? looks.tone[row] : RowTone::plain) {
    case RowTone::plain: break;
    case RowTone::faint: style.color = style.color.alpha(0.45f); break;
    case RowTone::heading: style.face = Face::semibold; break;
    }
    return style;
}

// Scrolls by the wheel and by a swipe; returns the largest scroll. It may go one row further where a line
// below counts rows that are left out.
float scroll_rows(Ui& ui, std::string_view name, Rect room, const Table& table, const Columns& columns,
                  bool wheel, TableState& state) {
    const float last = static_cast<float>(last_start(columns, table.rows.size(), room.h))
                       + (table.left_out > 0 ? 1.0f : 0.0f);
    if (last > 0 && wheel) state.scroll -= ui.take_wheel(room) * 3;
    if (last > 0 && !ui.state().for_picture) {
        ui.scrolls(name, room);
        state.scroll -= ui.take_swipe(room, kTableRow) / kTableRow;
    }
    state.scroll = std::clamp(std::floor(state.scroll), 0.0f, last);
    return last;
}

// Draws the rows from the scroll on; returns the one that was clicked, or -1.
int draw_rows(Ui& ui, std::string_view name, Rect room, const Table& table, const Columns& columns,
              const TableRow& cells, TableState& state, int selected, const RowLooks& looks) {
    Canvas& c = ui.canvas();
    int clicked = -1;
    state.hovered = -1;
    const auto start = static_cast<std::size_t>(state.scroll);
    // A picture shows only whole rows, and says how many more there are.
    const std::size_t end =
        ui.state().for_picture ? whole_rows(columns, table, start, room.h) : table.rows.size();
    const Canvas::Clip clip = c.clip(room);
    Rect row{room.x, room.y, room.w, 0};
    for (std::size_t r = start; r < end && row.bottom() < room.bottom(); ++r) {
        row = {row.x, row.bottom(), row.w, columns.height_of(r)};
        const Hit hit = ui.area(name, row, r, true, false);
        draw_row_ground(ui, row, static_cast<int>(r) == selected, hit.hovered,
                        looks.marked && looks.marked(r));
        const TextStyle style = style_of_row(ui, looks, r);
        cells.cells(row, [&](std::size_t i, Rect cell) {
            if (i >= table.rows[r].size()) return;
            if (looks.paint && looks.paint(cell, r, i)) return;
            const Rect inner = columns.most_lines > 1 ? cell.inset(0, 3) : cell;
            draw_cell(ui, inner, shown(table.columns[i], table.rows[r][i]), is_number(table.columns[i]),
                      columns.most_lines > 1 ? std::max(2, columns.lines_of(r)) : 1, style);
        });
        if (hit.hovered) state.hovered = static_cast<int>(r);
        if (hit.clicked) clicked = static_cast<int>(r);
    }
    const std::string rest = rest_words(table, end);
    if (!rest.empty() && (end < table.rows.size() || row.bottom() < room.bottom()))
        c.text({room.x, row.bottom() + 2}, rest, ui.small(Tone::secondary));
    return clicked;
}

}  // namespace

int draw_table(Ui& ui, std::string_view name, Rect room, const Table& table, TableState& state, int selected,
               const RowLooks& looks) {
    Canvas& c = ui.canvas();
    const TextStyle head = ui.small(Tone::secondary), body = ui.small(Tone::text);
    // A column's width fits its title, the figures of the visible rows, and the words of the first ones.
    const auto visible = static_cast<std::size_t>(std::max(0.0f, (room.h - 24) / kTableRow)) + 2;
    const auto first = std::min(static_cast<std::size_t>(std::max(0.0f, state.scroll)), table.rows.size());
    Columns columns = columns_of(c, table, head, body, room.w, first,
                                 std::min(table.rows.size(), first + visible), looks.drawn_column);
    columns.least = looks.least_row;
    const bool sideways = columns.sum > room.w + 1 && !columns.width.empty();
    if (sideways && !ui.state().for_picture) {
        across_bar(ui, name, room.cut_bottom(8), columns.sum, state.across);
        if (ui.frame().shift) state.across -= ui.take_wheel(room) * 60;
    }
    state.across = held_between(state.across, 0.0f, columns.sum - room.w);
    const TableRow cells(c, columns, state.across, room.w);
    cells.cells(room.cut_top(head_height(columns)),
                [&](std::size_t i, Rect cell) { draw_title(ui, cell, table.columns[i], head); });
    c.line({room.x, room.y}, {room.right(), room.y}, ui.theme().hairline);
    room.cut_top(2);
    const float last = scroll_rows(ui, name, room, table, columns, !(sideways && ui.frame().shift), state);
    ui.state().hidden = std::max(ui.state().hidden, hidden_height(columns, table, room.h));
    const int clicked = draw_rows(ui, name, room, table, columns, cells, state, selected, looks);
    if (last > 0) mark_place(ui, room, static_cast<float>(table.rows.size()), last, state.scroll);
    return clicked;
}

NumberEdit number_box(Ui& ui, Rect r, const NumberBox& box, TypedNumbers& numbers) {
    NumberEdit out;
    if (numbers.editing != box.key) {
        const Ui::Step step =
            ui.stepper(box.name, r, box.shown, box.can_down, box.can_up, box.on, true, box.scrubs);
        out.by = step.by, out.drags = step.drags;
        const bool begins = step.edit_requested && box.can_type;
        if (begins || (step.by != 0 && numbers.refused == box.key)) numbers.forget_refusal();
        if (!begins) return out;
        numbers.editing = box.key;
        numbers.text = numbers.before = box.typed;
        numbers.fresh = true;
        return out;
    }
    const bool fresh = std::exchange(numbers.fresh, false);
    const std::string field = box.field.empty() ? "edit." + std::string(box.key) : box.field;
    const Ui::Typing typing = ui.typed_value(field, r, numbers.text, fresh);
    if (typing == Ui::Typing::goes_on) return out;
    numbers.editing.clear();
    // The text from before may be rounded: it is no other number.
    if (typing == Ui::Typing::dropped || numbers.text == numbers.before) return out;
    std::string text = numbers.text;
    if (const std::size_t sign = text.find(box.sign); !box.sign.empty() && sign != std::string::npos)
        text.resize(sign);
    const Quantity typed = parse_quantity(text, box.dimension, box.unit);
    const std::string why = typed.value ? box.refuse(*typed.value) : "";
    if (!typed.value)
        numbers.refuse(box.key, typed.refusal + ".");
    else if (!why.empty())
        numbers.refuse(box.key, "\"" + numbers.text + "\" " + why);
    else
        out.typed = typed.value;
    return out;
}

void number_message(Ui& ui, Rect& room, std::string_view key, const TypedNumbers& numbers) {
    if (numbers.refused != key) return;
    room.cut_top(2);
    put_paragraph(ui, room, numbers.refusal, ui.small().in(ui.theme().bad), 16, 2);
}

namespace {

std::vector<std::weak_ptr<WorkSlice>>& all_slices() {
    thread_local std::vector<std::weak_ptr<WorkSlice>> slices;
    return slices;
}

}  // namespace

SliceWorker::SliceWorker(WorkSlice slice) : slice_(std::make_shared<WorkSlice>(std::move(slice))) {
    all_slices().push_back(slice_);
}
SliceWorker::~SliceWorker() = default;

bool run_slices(double seconds) {
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + std::chrono::duration<double>(seconds);
    bool more = true;
    while (more) {
        more = false;
        std::erase_if(all_slices(), [](const std::weak_ptr<WorkSlice>& s) { return s.expired(); });
        for (const std::weak_ptr<WorkSlice>& s :
             std::vector(all_slices()))  // a slice may end or begin others
            if (const std::shared_ptr<WorkSlice> slice = s.lock()) more = (*slice)() || more;
        if (Clock::now() >= until) break;
    }
    return more;
}

}  // namespace pentamesh::ui
