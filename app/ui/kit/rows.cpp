#include "app/ui/kit/rows.h"

#include <algorithm>
#include <vector>

namespace pentamesh::ui {

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

}  // namespace pentamesh::ui
