#include "app/ui/kit/player.h"

#include <array>

namespace pentamesh::ui {

bool player_button(Ui& ui, std::string_view name, Rect r, PlayerMark mark, std::string_view what) {
    const Hit hit = ui.area(name, r);
    Canvas& c = ui.canvas();
    if (hit.hovered) {
        c.rect(r, ui.theme().raised, 6);
        ui.tooltip(std::string(what));
    }
    const Color ink = hit.hovered ? ui.theme().text : ui.theme().secondary;
    const Vec2 m = r.center();
    const auto triangle = [&](float x, float to) {
        const std::array<Vec2, 3> p{Vec2{x, m.y - 5}, Vec2{x, m.y + 5}, Vec2{to, m.y}};
        const std::array<Vec2, 3> q{p[0], p[2], p[1]};
        c.polygon(to > x ? q : p, ink);
    };
    switch (mark) {
    case PlayerMark::play: triangle(m.x - 3.5f, m.x + 5); break;
    case PlayerMark::pause:
        c.rect({m.x - 4.5f, m.y - 5, 3, 10}, ink);
        c.rect({m.x + 1.5f, m.y - 5, 3, 10}, ink);
        break;
    case PlayerMark::back:
        triangle(m.x + 4, m.x - 3);
        c.rect({m.x - 5.5f, m.y - 5, 2, 10}, ink);
        break;
    case PlayerMark::forward:
        triangle(m.x - 4, m.x + 3);
        c.rect({m.x + 3.5f, m.y - 5, 2, 10}, ink);
        break;
    }
    if (hit.focused) ui.focus_ring(r, 6);
    return hit.clicked;
}

}  // namespace pentamesh::ui
