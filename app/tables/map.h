// Tables say what each axis does for the plan, and what is true of it in any plan.
#pragma once

#include "app/tables/table.h"
#include "core/teach/map.h"
#include "core/teach/wire_race.h"

#include <array>
#include <span>
#include <string_view>

namespace pentamesh {

// Returns a table with a row for each axis, or modifier of one. `rows` are those of that plan.
[[nodiscard]] Table map_table(const Plan& plan, std::span<const MapRow> rows);

// Returns a row for each wire: its speed, who talks on it, and the step with the chattiest axis there.
[[nodiscard]] Table wires_table(const WireRace& race);

// Describes a column of the reference tables: the member of MapWords in its cells, and its title.
struct MapWordsColumn {
    std::string_view title;
    std::string_view MapWords::*words;
};
inline constexpr std::array<MapWordsColumn, 4> kMapScope{{{"works on", &MapWords::scope},
                                                          {"says", &MapWords::says},
                                                          {"how often", &MapWords::often},
                                                          {"must know of the model", &MapWords::model}}};
inline constexpr std::array<MapWordsColumn, 5> kMapMaster{{{"cuts", &MapWords::cuts},
                                                           {"saves", &MapWords::saves},
                                                           {"sits", &MapWords::sits},
                                                           {"against it", &MapWords::drawback},
                                                           {"reach for it when", &MapWords::reach}}};
// Returns the same in any plan: the columns of both.
[[nodiscard]] Table map_reference_table();

}  // namespace pentamesh
