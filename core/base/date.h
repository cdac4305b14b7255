// Says which day it is.
#pragma once

#include <string>

namespace pentamesh {

// Returns "26 November 2026": today where the user is, or the day (UTC) of SOURCE_DATE_EPOCH
// (reproducible-builds.org) where that is set.
[[nodiscard]] std::string today_in_words();

}  // namespace pentamesh
