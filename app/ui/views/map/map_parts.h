// The blocks that the map is put together from.
#pragma once

#include "app/ui/views/map/view.h"

namespace pentamesh::ui {

// The table's height at the least, and as high as it makes use of.
[[nodiscard]] float map_table_height(const MapViewState& state, float row);
// How high a row is at the least in a table of this width, where words are to be read whole.
[[nodiscard]] float map_least_row(float width);
inline constexpr float kMapRowLow = 37, kMapRowHigh = 54;

// The row that is selected: what was clicked last where it stands for the selected axis.
[[nodiscard]] int selected_row(const Scene& scene, const MapViewState& state);
void select_row(Scene& scene, MapViewState& state, int row);

[[nodiscard]] Color color_of_row(const Theme& theme, MapRowId id);
// "fine", "costly", "off" as a mark, never by colour alone.
void verdict_mark(Ui& ui, Vec2 at, Verdict verdict);  // centred there

void draw_map_table(Ui& ui, Rect room, Scene& scene, MapViewState& state);
void draw_map_card(Ui& ui, Rect room, Scene& scene, MapViewState& state);
void draw_map_wires(Ui& ui, Rect room, Scene& scene, MapViewState& state);
void draw_map_names(Ui& ui, Rect room, Scene& scene, MapViewState& state);
void draw_map_tables(Ui& ui, Rect room, Scene& scene, MapViewState& state);
void draw_map_recipe(Ui& ui, Rect& room, Scene& scene, MapViewState& state);
void draw_map_comparison(Ui& ui, Rect& room, const MapViewState& state);
void draw_map_combinations(Ui& ui, Rect& room, const MapViewState& state);

}  // namespace pentamesh::ui
