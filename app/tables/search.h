// Tables list the layouts that a search found and those that it turned down.
#pragma once

#include "app/tables/table.h"
#include "core/decide/search.h"

#include <span>
#include <string>

namespace pentamesh {

// Returns a table with a column for each field that the space varies, then the figures.
[[nodiscard]] Table results_table(const SearchReport& r);
[[nodiscard]] Table rejected_table(const SearchReport& r);
// Holds the best layout so far while a search runs, or a layout to compare it with.
struct FoundRow {
    std::string layout;
    double step_s = 0, memory_bytes = 0;
};
[[nodiscard]] Table found_table(std::span<const FoundRow> rows);
// Returns "tp 8 cp 1 pp 16 ...", for an example.
[[nodiscard]] std::string choice_words(const Layout& l, const Training& t);

}  // namespace pentamesh
