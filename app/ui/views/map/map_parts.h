// The map is put together from these blocks.
#pragma once

#include "app/ui/views/map/view.h"

namespace pentamesh::ui {

// Returns the table's height: at least the least, and as much as it can use.
[[nodiscard]] float map_table_height(Ui& ui, const MapViewState& state, float width, float row, float loaves);
// Returns the width of the small loaves before its rows, with what keeps them from the words; 0: no room.
[[nodiscard]] float map_loaves_width(float width);
// Returns the least height of a row in a table of this width, if words are to be read whole.
[[nodiscard]] float map_least_row(float width);
inline constexpr float kMapRowLow = 37, kMapRowHigh = 54;

// Returns the selected row: the one clicked last where it stands for the selected axis.
[[nodiscard]] int selected_row(const Scene& scene, const MapViewState& state);
void select_row(Scene& scene, MapViewState& state, int row);

// A row that names an axis has the axis' card where its name stands; those of modifiers have none.
void name_row(Ui& ui, const MapRow& row, Rect name, std::string action);

[[nodiscard]] Color color_of_row(const Theme& theme, MapRowId id, const MapViewState& state);
// Draws "fine", "costly", "off" as a mark, so that colour is never the only sign.
void verdict_mark(Ui& ui, Vec2 at, Verdict verdict);  // centred there

// Draws the small loaf that shows what a row cuts, in the middle of `room`'s height.
void draw_map_loaf(Ui& ui, Rect room, const Scene& scene, MapViewState& state, const MapRow& row);
void draw_map_table(Ui& ui, Rect room, Scene& scene, MapViewState& state, float loaves);
void draw_map_card(Ui& ui, Rect window, Scene& scene, MapViewState& state);
// Returns the height that the card takes.
[[nodiscard]] float map_card_height(Ui& ui, float width, const Scene& scene, const MapViewState& state);
// Draws the axes on one screen; a click on a row opens its card.
void draw_map_compact(Ui& ui, Rect room, Scene& scene, MapViewState& state);
void draw_map_wires(Ui& ui, Rect room, Scene& scene, MapViewState& state);
// A click on another order makes it the plan's. `space`: it was pressed to play or pause.
[[nodiscard]] std::optional<PlanEdit> draw_map_race(Ui& ui, Rect room, Scene& scene, MapViewState& state,
                                                    std::uint64_t revision, bool space);
// Draws how often each axis fills its wire in a step: a tick is a message.
void draw_map_ticks(Ui& ui, Rect room, const Scene& scene, const WireRace& race);
// Draws the same step with an axis on other wires.
[[nodiscard]] std::optional<PlanEdit> draw_map_orders(Ui& ui, Rect room, const Scene& scene,
                                                      const WireRace& race);
void draw_map_names(Ui& ui, Rect room, Scene& scene, MapViewState& state);
void draw_map_tables(Ui& ui, Rect room, Scene& scene, MapViewState& state);
void draw_map_recipe(Ui& ui, Rect& room, Scene& scene, MapViewState& state);
void draw_map_comparison(Ui& ui, Rect& room, const MapViewState& state);
void draw_map_combinations(Ui& ui, Rect& room, const MapViewState& state);

}  // namespace pentamesh::ui
