#include "app/ui/panels/signs.h"

#include <array>

namespace pentamesh::ui {

void draw_sign(Canvas& canvas, Vec2 center, Sign sign, Color color, float radius) {
    const float r = radius;
    switch (sign) {
    case Sign::disc: canvas.circle(center, r, color); break;
    case Sign::square: canvas.rect({center.x - r, center.y - r, 2 * r, 2 * r}, color, 2); break;
    case Sign::triangle: {
        const std::array<Vec2, 3> corners{center + Vec2{0, -1.15f * r}, center + Vec2{1.2f * r, r},
                                          center + Vec2{-1.2f * r, r}};
        canvas.polygon(corners, color);
        break;
    }
    }
}

Color color_of(const Theme& theme, std::optional<MemoryFit> fit) {
    return fit == MemoryFit::yes ? theme.good : fit == MemoryFit::if_small ? theme.amber : theme.bad;
}

void draw_fit(Canvas& canvas, const Theme& theme, Vec2 center, std::optional<MemoryFit> fit, float radius) {
    const Sign sign = fit == MemoryFit::yes        ? Sign::disc
                      : fit == MemoryFit::if_small ? Sign::triangle
                                                   : Sign::square;
    draw_sign(canvas, center, sign, color_of(theme, fit), radius);
}

void draw_severity(Ui& ui, Vec2 at, Severity severity) {
    const Vec2 center = at + Vec2{5, 9};
    switch (severity) {
    case Severity::error: return draw_sign(ui.canvas(), center, Sign::square, ui.theme().bad, 5);
    case Severity::warning: return draw_sign(ui.canvas(), center, Sign::triangle, ui.theme().amber, 5);
    case Severity::info: return draw_sign(ui.canvas(), center, Sign::disc, ui.theme().secondary, 3.5f);
    }
}

}  // namespace pentamesh::ui
