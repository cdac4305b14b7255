// Rows and columns: a view says how large each piece is, so that its code reads as it looks.
//   const auto [name, bar, figure] = columns(row, {em(8), share(), px(84)}, 12);
//   text_row(ui, row, {{"stage 3", share()}, {"66.1 GiB", px(84), ui.small(), Align::right}});
#pragma once

#include "app/ui/kit/ui.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace pentamesh::ui {

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

}  // namespace pentamesh::ui
