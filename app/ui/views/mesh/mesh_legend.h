// Says what each mark of the mesh stands for: an entry an axis, with its line, where its groups lie and what
// they cost.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/mesh_axes.h"

#include <cstdint>

namespace pentamesh::ui {

// As many rows as the entries need, one row of shorter ones, or a line each without figures in it but the
// share.
enum class Legend : std::uint8_t { rows, row, lines };
inline constexpr float kLegendEntry = 48, kLegendLine = 20;  // their heights

// Returns the height that the entries take in this width; 0 where there is no axis. `one_row`: they stand
// side by side however short they are.
[[nodiscard]] float legend_height(Ui& ui, float width, const Scene& scene, Legend form);
void draw_legend(Ui& ui, Rect room, const Scene& scene, Legend form);
// Draws one entry: of an axis, its bar on the scale of `most_s` seconds.
void draw_legend_entry(Ui& ui, Rect room, const Scene& scene, const MeshAxis& axis, double most_s);

}  // namespace pentamesh::ui
