// The view Map shows the axes and modifiers as the teaching table, computed for the open plan; the names that
// people use, the wires that the axes sit on, and how one chooses.
#pragma once

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/job.h"
#include "app/ui/kit/plot.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/shards/shards_sheets.h"
#include "core/teach/map.h"
#include "core/teach/wire_race.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pentamesh::ui {

enum class MapPage : std::uint8_t { compact, axes, names, wires, choose, tables };
inline constexpr std::array<std::string_view, 6> kMapPages{"compact", "axes",   "names",
                                                           "wires",   "choose", "tables"};

// The plan fills the map with these figures.
struct MapFigures {
    GroupKind data = GroupKind::dp_replicate;  // whose groups dp are: dp_shard's where nothing is replicated
    std::vector<MapRow> rows;
    std::vector<MapLevel> levels;
    std::vector<Comparison> comparison;
    std::vector<RecipeStep> recipe;
    std::vector<Combination> combinations;
};

// A gigabyte runs down every wire: a millisecond lasts a second.
struct MapRaceState {
    Playback played;
    Kept<WireRace> race{};  // by revision
};

struct MapViewState {
    MapPage page = MapPage::axes;
    bool page_chosen = false;  // by a hand or a lesson; until then a narrow window is compact
    bool opened = false;       // the card of the selected row stands next to the compact map
    std::optional<MiniLoaves> mini;
    MapStyle style = MapStyle::modifiers;
    int picked = -1;     // MapRowId of the row clicked last: tells sp from tp, which select the same axis
    std::string search;  // of the names
    std::string name;    // glossary id of the name that is shown
    ScrollState scroll, card;
    MapRaceState race;
    Kept<MapFigures, std::pair<std::uint64_t, MapStyle>> figures;  // by revision and style
};
// `revision` is that of the plan, from 1.
[[nodiscard]] std::optional<PlanEdit> draw_map(Ui& ui, Rect head_row, Rect room, Scene& scene,
                                               MapViewState& state, std::uint64_t revision);
[[nodiscard]] Table map_data(const Scene& scene, const MapViewState& state);

// Returns the table's height: at least the least, and as much as it can use.
[[nodiscard]] float map_table_height(Ui& ui, const MapViewState& state, float width, float row, float loaves);
// Returns the width of the small loaves before its rows, with what keeps them from the words; 0: no room.
[[nodiscard]] float map_loaves_width(float width);
// Returns the least height of a row in a table of this width, if words are to be read whole.
[[nodiscard]] float map_least_row(float width);
inline constexpr float kMapRowLow = 37, kMapRowHigh = 54;

// Returns the selected row: the one clicked last where it stands for the selected axis.
// Returns "8.03 GB of it": what crosses the slowest wire of a row, where most of its bytes do not; else "".
[[nodiscard]] std::string bytes_that_cross(const MapRow& row);
[[nodiscard]] int selected_row(const Scene& scene, const MapViewState& state);
[[nodiscard]] bool is_selected(const Scene& scene, const MapViewState& state, MapRowId id);
void select_row(Scene& scene, MapViewState& state, int row);
void select_row(Scene& scene, MapViewState& state, MapRowId id);  // nothing where there is no such row
// Returns the row, or null: in some styles some have none.
[[nodiscard]] const MapRow* find_row(const MapViewState& state, MapRowId id);
// Draws the mark of a row before its name: a square, of a modifier an empty one; pale where it is off.
void row_mark(Ui& ui, Vec2 at, float size, bool modifier, bool on, Color color);

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
void draw_map_names(Ui& ui, Rect room, Scene& scene, MapViewState& state);
void draw_map_tables(Ui& ui, Rect room, Scene& scene, MapViewState& state);
void draw_map_recipe(Ui& ui, Rect& room, Scene& scene, MapViewState& state);
void draw_map_comparison(Ui& ui, Rect& room, const MapViewState& state);
void draw_map_combinations(Ui& ui, Rect& room, const MapViewState& state);

}  // namespace pentamesh::ui
