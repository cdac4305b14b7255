// What a search found and what it turned down, as rows.
#pragma once

#include "app/tables/table.h"
#include "core/decide/search.h"

#include <span>
#include <string>

namespace pentamesh {

// A column for each field that the space varies, then the figures.
[[nodiscard]] Table results_table(const SearchReport& r);
[[nodiscard]] Table rejected_table(const SearchReport& r);
// The best so far while a search runs, and what it is set beside.
struct FoundRow {
    std::string layout;
    double step_s = 0, memory_bytes = 0;
};
[[nodiscard]] Table found_table(std::span<const FoundRow> rows);
// "tp 8 cp 1 pp 16 ...": of an example.
[[nodiscard]] std::string choice_words(const Layout& l, const Training& t);

}  // namespace pentamesh
