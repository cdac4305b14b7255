// What a search found and what it turned down, as rows.
#pragma once

#include "app/tables/table.h"
#include "core/decide/search.h"

namespace pentamesh {

// A column for each field that the space varies, then the figures.
[[nodiscard]] Table results_table(const SearchReport& r);
[[nodiscard]] Table rejected_table(const SearchReport& r);
// "tp 8 cp 1 pp 16 ...": of an example.
[[nodiscard]] std::string choice_words(const Layout& l, const Training& t);

}  // namespace pentamesh
