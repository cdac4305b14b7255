#include "app/ui/panels/marked_text.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

namespace {

constexpr float kTextRow = 18, kMarkWidth = 16;

// Returns the line with tabs as four blanks: a tab has no width of its own.
std::string shown_line(std::string_view line) {
    std::string out;
    for (const char c : line)
        if (c == '\t')
            out += "    ";
        else if (c != '\r')
            out += c;
    return out;
}

void draw_line_marks(Ui& ui, Rect box, std::uint8_t marks) {
    for (const LineMark mark : all_of<LineMark>()) {
        if (((marks >> static_cast<unsigned>(mark)) & 1) == 0) continue;
        TextStyle s = ui.mono();
        s.color = color_of(ui.theme(), mark);
        ui.canvas().text_in(box.cut_left(kMarkWidth), sign_of(mark), s, Align::center);
    }
}

}  // namespace

std::string_view sign_of(LineMark mark) {
    static constexpr EnumArray<LineMark, std::string_view> kSigns{"→", "·", "!", "?"};
    return kSigns[mark];
}

Color color_of(const Theme& theme, LineMark mark) {
    return mark == LineMark::mapped ? theme.good : mark == LineMark::ignored ? theme.secondary : theme.amber;
}

std::string_view words_of(LineMark mark) {
    static constexpr EnumArray<LineMark, std::string_view> kWords{"mapped", "ignored", "cannot hold",
                                                                  "not known"};
    return kWords[mark];
}

void MarkedText::set_text(std::string_view text) {
    lines = split_lines(text);
    marks.clear();
}

void MarkedText::mark(int line, LineMark mark) {
    if (line < 1 || static_cast<std::size_t>(line) > lines.size()) return;
    marks.resize(lines.size());
    marks[static_cast<std::size_t>(line) - 1] |= static_cast<std::uint8_t>(1U << static_cast<unsigned>(mark));
}

void draw_marked_text(Ui& ui, std::string_view name, Rect room, const MarkedText& text,
                      MarkedTextState& state) {
    Canvas& c = ui.canvas();
    c.rect(room, ui.theme().panel, 6);
    c.frame(room, ui.theme().hairline, 1, 6);
    state.hovered = 0;
    ScrollArea area(ui, name, room.inset(1, 1), state.scroll, {.wheel_step = 3 * kTextRow, .pad = {8, 6}});
    const bool marked = !text.marks.empty();
    const float numbers =
        c.text_width(std::to_string(std::max<std::size_t>(text.lines.size(), 10)), ui.mono()) + 10;
    const auto n = text.lines.size();
    const Rect all = area.room.cut_top(static_cast<float>(n) * kTextRow);
    const auto row_of = [&](std::size_t i) {
        return Rect{all.x, all.y + static_cast<float>(i) * kTextRow, all.w - 8, kTextRow};
    };
    if (state.show > 0 && static_cast<std::size_t>(state.show) <= n)
        area.show(row_of(static_cast<std::size_t>(state.show) - 1));
    state.show = 0;
    // Only the visible rows are drawn: a log has many thousands.
    const auto first = static_cast<std::size_t>(std::max(0.0f, std::floor((room.y - all.y) / kTextRow)));
    const auto last =
        std::min(n, static_cast<std::size_t>(std::max(0.0f, std::ceil((room.bottom() - all.y) / kTextRow))));
    for (std::size_t i = first; i < last; ++i) {
        Rect row = row_of(i);
        const bool hovered = ui.hovers(row) && room.contains(ui.frame().mouse);
        if (hovered) state.hovered = static_cast<int>(i) + 1;
        if (hovered || state.lit == static_cast<int>(i) + 1)
            c.rect({row.x - 4, row.y, row.w + 8, row.h}, ui.theme().raised, 3);
        c.text_in(row.cut_left(numbers), std::to_string(i + 1), ui.mono(Tone::faint));
        if (marked) draw_line_marks(ui, row.cut_left(kMarkWidth * kEnumCount<LineMark> + 2), text.marks[i]);
        const bool plain = marked && text.marks[i] == 0;
        ui.label(row, shown_line(text.lines[i]), ui.mono(plain ? Tone::secondary : Tone::text));
    }
}

}  // namespace pentamesh::ui
