// Signs in front of verdicts and problems, so that colour is never the only sign.
#pragma once

#include "app/ui/kit/ui.h"
#include "core/memory/memory.h"
#include "core/plan/problem.h"

#include <cstdint>
#include <optional>

namespace pentamesh::ui {

enum class Sign : std::uint8_t { disc, triangle, square };

void draw_sign(Canvas& canvas, Vec2 center, Sign sign, Color color, float radius);
// Returns the colour of a verdict; nullopt is an impossible plan's.
[[nodiscard]] Color color_of(const Theme& theme, std::optional<MemoryFit> fit);
// Draws the sign in front of a verdict, in its colour.
void draw_fit(Canvas& canvas, const Theme& theme, Vec2 center, std::optional<MemoryFit> fit, float radius);
// Draws a red square for an error, an amber triangle for a warning and a grey dot for a notice. `at` is the
// top left of a line of 18 pixels.
void draw_severity(Ui& ui, Vec2 at, Severity severity);

}  // namespace pentamesh::ui
