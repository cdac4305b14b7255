// Answers "the least memory within 5 % of the best time" out of a search by time.
#pragma once

#include "core/decide/search.h"

namespace pentamesh {

// Leaves of a report by Goal::tokens the layouts of the Pareto line that take at most `share` more time than
// the fastest, least memory first; the report's goal is memory then. It is exact: a layout that is within the
// share and not on the line is beaten in both by one of the line, which is within the share too.
void keep_within(SearchReport& report, double share);

}  // namespace pentamesh
