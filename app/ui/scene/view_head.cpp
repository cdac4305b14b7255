#include "app/ui/scene/view_head.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

Rect head_place(Rect& head_row, Rect& room, float width) {
    if (head_row.w < width && room.h > 90) {
        head_row = room.cut_top(24);
        room.cut_top(6);
    }
    const Rect place = head_row.cut_left(std::min(head_row.w, width));
    head_row.cut_left(std::min(head_row.w, 16.0f));
    return place;
}

float segments_width(Ui& ui, std::span<const std::string_view> labels, float least, int selected) {
    const bool words = ui.state().for_picture;
    float sum = 0, widest = 0;
    const bool one = words && selected >= 0 && selected < static_cast<int>(labels.size());
    for (const auto label : one ? labels.subspan(static_cast<std::size_t>(selected), 1) : labels) {
        const float w = ui.canvas().text_width(label, ui.style(words ? 13 : 12, Tone::text, Face::semibold))
                        + (one ? 2.0f : 20.0f);
        sum += w;
        widest = std::max(widest, w);
    }
    return std::ceil(words ? widest : std::max(least, sum));
}

Rect head_words(Rect head_row, Rect& room, float width) {
    if (head_row.w >= width || room.h <= 110) return head_row;
    const Rect row = room.cut_top(20);
    room.cut_top(4);
    return row;
}

void head_sentence(Ui& ui, Rect head_row, Rect& room, std::string_view words, float least_height) {
    Canvas& c = ui.canvas();
    const TextStyle style = ui.style(13, Tone::secondary);
    if (c.text_width(words, style) > head_row.w && room.h > least_height)
        room.cut_top(c.paragraph(room, words, style, 18) + 6);
    else
        ui.label(head_row, words, style);
}

}  // namespace pentamesh::ui
