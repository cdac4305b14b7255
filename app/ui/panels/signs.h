// Signs in front of verdicts and problems, so that colour is never the only sign.
#pragma once

#include "app/ui/kit/ui.h"
#include "core/plan/problem.h"

namespace pentamesh::ui {

enum class Sign : std::uint8_t { disc, triangle, square };

void draw_sign(Canvas& canvas, Vec2 center, Sign sign, Color color, float radius);
// Draws a red square for an error, an amber triangle for a warning and a grey dot for a notice. `at` is the
// top left of a line of 18 pixels.
void draw_severity(Ui& ui, Vec2 at, Severity severity);

}  // namespace pentamesh::ui
