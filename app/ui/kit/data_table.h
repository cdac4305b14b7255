// A scroll area is a window onto taller content. The wheel and its thumb scroll it; Page Up and Page Down do
// where the mouse or the keyboard focus is inside, Home and End where the focus is. It follows the focus.
#pragma once

#include "app/tables/table.h"
#include "app/ui/kit/ui.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace pentamesh::ui {

struct ScrollState {
    float at = 0;    // logical pixels above the window's top edge
    float most = 0;  // largest `at`, as of the last frame
    Id focus = 0;    // the focused area when last drawn
};

// Clips to `window` while it lives. Draw downwards from `room`'s top and take the used height off it
// (cut_top): so the area learns the height of its content.
class ScrollArea {
  public:
    struct Options {
        float wheel_step = 40;  // logical pixels per notch
        Vec2 pad{};             // between the window's edges and the content
        bool keys = true;       // false: the owner of the area uses these keys
        bool wheel = true;      // false: the wheel means something else now
    };
    ScrollArea(Ui& ui, std::string_view name, Rect window, ScrollState& state, Options options);
    ScrollArea(Ui& ui, std::string_view name, Rect window, ScrollState& state)
        : ScrollArea(ui, name, window, state, Options{}) {}
    ~ScrollArea();
    ScrollArea(const ScrollArea&) = delete;
    ScrollArea& operator=(const ScrollArea&) = delete;

    Rect room;
    // Scrolls until `r`, a place of the content, is seen.
    void show(Rect r);
    [[nodiscard]] bool sees(Rect r) const { return r.bottom() > window_.y && r.y < window_.bottom(); }

  private:
    void take_keys();

    Ui& ui_;
    Rect window_;
    ScrollState& state_;
    Options options_;
    float top_;
    std::size_t first_area_;
    bool thumb_held_ = false, thumb_highlighted_ = false;
};

// Rows and columns: a view says how large each piece is, so that its code reads as it looks.
//   const auto [name, bar, figure] = columns(row, {em(8), share(), px(84)}, 12);
//   text_row(ui, row, {{"stage 3", share()}, {"66.1 GiB", px(84), ui.small(), Align::right}});

// Holds the size of a piece: pixels, or a share of the room that the others leave.
struct Size {
    float px = 0, share = 0;
};
[[nodiscard]] constexpr Size px(float pixels) {
    return {pixels, 0};
}
[[nodiscard]] constexpr Size em(float letters) {  // of the type of rows
    return {12 * letters, 0};
}
[[nodiscard]] constexpr Size share(float part = 1) {
    return {0, part};
}

// Cuts a length into pieces; returns the length of each. No piece is shorter than 0.
void divide(float length, std::span<const Size> sizes, float gap, std::span<float> out);

// Cuts a rectangle along a length into pieces, each by `cut` (Rect::cut_left, Rect::cut_top).
template <std::size_t N>
[[nodiscard]] std::array<Rect, N> pieces(Rect room, float length, Rect (Rect::*cut)(float),
                                         const std::array<Size, N>& sizes, float gap) {
    std::array<float, N> each{};
    divide(length, sizes, gap, each);
    std::array<Rect, N> out;
    for (std::size_t i = 0; i < N; ++i) {
        out[i] = (room.*cut)(each[i]);
        (room.*cut)(gap);
    }
    return out;
}
// Cuts a rectangle into columns, from the left, with a gap between each two.
template <std::size_t N>
[[nodiscard]] std::array<Rect, N> columns(Rect room, const std::array<Size, N>& sizes, float gap = 0) {
    return pieces(room, room.w, &Rect::cut_left, sizes, gap);
}
template <std::size_t N>
[[nodiscard]] std::array<Rect, N> columns(Rect room, const Size (&sizes)[N], float gap = 0) {
    return columns(room, std::to_array(sizes), gap);
}
// Cuts a rectangle into rows, from the top.
template <std::size_t N>
[[nodiscard]] std::array<Rect, N> rows(Rect room, const Size (&sizes)[N], float gap = 0) {
    return pieces(room, room.h, &Rect::cut_top, std::to_array(sizes), gap);
}

// Holds a cell of a row of text.
struct Words {
    std::string text;
    Size size;
    TextStyle style{};
    Align align = Align::left;
};
[[nodiscard]] inline Words space(float pixels) {
    return {{}, px(pixels)};
}
// Writes cells next to each other. One that is cut has its whole text in a tooltip.
void text_row(Ui& ui, Rect row, std::span<const Words> cells, float gap = 0);
inline void text_row(Ui& ui, Rect row, std::initializer_list<Words> cells, float gap = 0) {
    text_row(ui, row, std::span(cells.begin(), cells.size()), gap);
}

// Writes at the left end of a row, and takes the text's width and the gap off it.
void write_left(Ui& ui, Rect& row, std::string_view text, const TextStyle& style, float gap = 6);

// Writes in a box only where the box has room for all of it; returns whether it has.
bool write_whole(Ui& ui, Rect box, std::string_view text, const TextStyle& style, Align align = Align::left);
// Returns the first of several wordings that has room; empty where none has.
[[nodiscard]] std::string_view wording(Ui& ui, float width, std::span<const std::string> wordings,
                                       const TextStyle& style);
// Returns as many of the parts between commas as have room in a line, at least the first.
[[nodiscard]] std::string_view whole_parts(Ui& ui, std::string_view words, float width,
                                           const TextStyle& style);
// Writes on a ground of its own, so that it is read over what lies below.
void write_plate(Ui& ui, Rect box, std::string_view text, const TextStyle& style, Color ground,
                 float radius = 3);
// Returns the place of the i-th of boxes of one size that stand in rows of so many columns.
[[nodiscard]] inline Rect box_in_rows(Vec2 from, std::size_t i, std::size_t columns, Vec2 size, Vec2 gap) {
    const std::size_t column = i % columns, row = i / columns;
    return {from.x + static_cast<float>(column) * (size.x + gap.x),
            from.y + static_cast<float>(row) * (size.y + gap.y), size.x, size.y};
}
// Draws segments that choose one value of an enum.
template <typename Choice>
void choose(Ui& ui, std::string_view name, Rect r, std::span<const std::string_view> labels, Choice& chosen) {
    chosen = static_cast<Choice>(ui.segments(name, r, labels, static_cast<int>(chosen)));
}

// Draws a stepper that goes through choices, numbered from -1 (none of them) to count - 1.
inline void step_choice(Ui& ui, std::string_view name, Rect box, std::string_view label, int count, int& at) {
    const Ui::Step step = ui.stepper(name, box, label, at >= 0, at + 1 < count, at >= 0, false);
    if (step.by != 0 || step.edit_requested)
        at = std::clamp(at + (step.by != 0 ? step.by : 1), -1, count - 1);
}

// A number that is stepped, or typed in its place. What is typed and not taken is said below it.

// Holds what is typed of the numbers that share this, one at a time, and which was refused last.
struct TypedNumbers {
    std::string editing;           // key of the number that is typed; empty: none
    std::string text, before;      // as it is, as it was
    bool fresh = false;            // its field is drawn for the first time
    std::string refused, refusal;  // the number that was refused, until the next edit, and a sentence: why
    [[nodiscard]] bool types() const { return !editing.empty(); }
    void refuse(std::string_view key, std::string why) { refused = key, refusal = std::move(why); }
    void forget_refusal() { refused.clear(), refusal.clear(); }
};
struct NumberBox {
    std::string_view name{};       // of the control
    std::string_view key = name;   // in TypedNumbers
    std::string field{};           // the name of its text field; empty: "edit.KEY"
    std::string shown{}, typed{};  // as it stands in its box; as one begins to type it
    bool can_down = true, can_up = true, on = true, can_type = true, scrubs = false;
    Dimension dimension = Dimension::count;
    std::string unit{};       // of a number that is typed without one
    std::string_view sign{};  // may follow the number, as "×"
    // Returns why a number is not taken, which follows the typed text and a space; empty: it is taken.
    std::function<std::string(double)> refuse{};
};
// Says what the user did: steps by -1 or 1, or types another number.
struct NumberEdit {
    int by = 0;
    bool drags = false;  // the steps of one drag
    std::optional<double> typed{};
};
[[nodiscard]] NumberEdit number_box(Ui& ui, Rect r, const NumberBox& box, TypedNumbers& numbers);
// Says why the number was refused last, at the top of `room`, and takes the height off it.
void number_message(Ui& ui, Rect& room, std::string_view key, const TypedNumbers& numbers);

// Draws the head of a section at the top of `room`, and takes it and the gap below it off.
void put_head(Ui& ui, Rect& room, float gap, std::string_view head, std::string_view right = {});
// Writes a paragraph at the top of `room`, and takes its height and the gap below it off.
void put_paragraph(Ui& ui, Rect& room, std::string_view text, const TextStyle& style, float line,
                   float gap = 0);

// Draws what lies under a row's cells: raised where it is picked, half so under the mouse, and the
// keyboard's ring.
void row_ground(Ui& ui, Rect row, const Hit& hit, bool picked = false);

// Returns the box of a dialog: in the middle of the window, as large as it has room for.
[[nodiscard]] Rect dialog_box(Ui& ui, Vec2 most, float margin = 32);

// "Show as data" shows the same content as a table, to read.

// Returns the width of the longest word: a column of words is not made narrower.
[[nodiscard]] float longest_word(const Canvas& canvas, std::string_view text, const TextStyle& style);

struct TableState {
    float scroll = 0;  // rows
    float across = 0;  // pixels, where the columns are wider than the room
    int hovered = -1;  // the row under the mouse
};
// Says how a row's words look.
enum class RowTone : std::uint8_t { plain, faint, heading };
struct RowLooks {
    std::span<const RowTone> tone = {};  // by row; empty: all are plain
    // Called for each cell before its text; returns true if it drew the cell, so that no text is written.
    std::function<bool(Rect cell, std::size_t row, std::size_t column)> paint = {};
    int drawn_column = -1;  // a column that is painted: it takes the width that the others leave
    float least_row = 0;    // height that a row has at least
    std::function<bool(std::size_t row)> marked = {};  // rows with a frame around them
};
// Returns how high the whole table is in this width.
[[nodiscard]] float table_height(Ui& ui, float width, const Table& table);
// Draws the rows that fit and scrolls. Where room is short, words wrap to up to three lines; figures and
// their titles are never cut: columns that still do not fit are reached sideways (Shift and the wheel, or the
// bar below). Returns the row clicked, or -1.
int draw_table(Ui& ui, std::string_view name, Rect room, const Table& table, TableState& state,
               int selected = -1, const RowLooks& looks = {});

// Work runs in slices where there are no threads (core/base/threads.h): the loop of the window gives it time
// between two frames. The list of workers belongs to the thread that made them: run_slices serves only those
// of the thread that calls it.

// Does a little, some milliseconds; returns true if there is more to do now.
using WorkSlice = std::function<bool()>;

// Takes part in run_slices as long as it lives.
class SliceWorker {
  public:
    explicit SliceWorker(WorkSlice slice);
    ~SliceWorker();
    SliceWorker(const SliceWorker&) = delete;
    SliceWorker& operator=(const SliceWorker&) = delete;

  private:
    std::shared_ptr<WorkSlice> slice_;
};

// Gives all of them slices in turn, until all work is done or that many seconds have passed. Returns true if
// there is more to do.
bool run_slices(double seconds);

}  // namespace pentamesh::ui
