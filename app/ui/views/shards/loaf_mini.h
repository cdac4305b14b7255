// Small loaves, one for each row of the map: a small model's step, cut by that axis only, over two GPUs.
#pragma once

#include "app/ui/views/shards/loaf_solid.h"
#include "core/io/presets.h"
#include "core/teach/map.h"

#include <array>

namespace pentamesh::ui {

using MiniLoaves = std::array<Loaf, kMapRowCount>;  // by MapRowId; without slices where a preset is missing
[[nodiscard]] MiniLoaves mini_loaves(const Presets& presets);
// Draws the slices in the middle of `room`, in the colour of the axis. `on`: else they are pale.
void draw_mini(Canvas& canvas, const Theme& theme, Rect room, const Loaf& loaf, Color color, bool on);

}  // namespace pentamesh::ui
