// The view Map shows the axes and modifiers as the teaching table, computed for the open plan; the names that
// people use, the wires that the axes sit on, and how one chooses.
#pragma once

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/kept.h"
#include "app/ui/kit/player.h"
#include "app/ui/kit/scroll.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/shards/loaf_solid.h"
#include "core/teach/map.h"
#include "core/teach/wire_race.h"

#include <array>
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

}  // namespace pentamesh::ui
