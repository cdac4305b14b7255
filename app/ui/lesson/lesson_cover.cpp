#include "app/ui/lesson/lesson_cover.h"

#include <algorithm>

namespace pentamesh::ui {

Rewording words_under(const Veil& veil, Veil::Place place) {
    if (!veil.hides()) return {};
    return [veil, place](std::string_view text) { return veil.words(text, place); };
}

void draw_cover(Ui& ui, Rect room) {
    Canvas& c = ui.canvas();
    const float w = std::min(420.0f, room.w - 32), h = 96;
    if (w < 120) return;
    const Rect plate{room.center().x - w / 2, room.center().y - h / 2, w, h};
    c.rect(plate, ui.theme().panel, 8);
    c.frame(plate, ui.theme().hairline, 1, 8, Dash::dashed);
    Rect text = plate.inset(20, 18);
    c.text_in(text.cut_top(24), "The picture is the answer", ui.title(), Align::center);
    text.cut_top(4);
    c.text_in(text.cut_top(20), "It is drawn as soon as you have said what you think.",
              ui.style(13, Tone::secondary), Align::center);
}

}  // namespace pentamesh::ui
