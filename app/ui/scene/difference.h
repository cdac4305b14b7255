// Writes the difference of a figure to that of the pinned plan A, after the figure.
#pragma once

#include "app/ui/kit/ui.h"

#include <string>

namespace pentamesh::ui {

// Returns 0 where both are the same except for the rounding of sums.
[[nodiscard]] double difference(double now, double was);
// Returns "−0.48 s", "+13.2 GiB"; empty without a difference, or where the text does not show it.
[[nodiscard]] std::string difference_text(double by, std::string (*text)(double));
// Returns a difference of two shares: "4.98 points" for 0.0498.
[[nodiscard]] std::string points_text(double share);
// Returns green for better than A, red for worse.
[[nodiscard]] Color color_of_difference(const Theme& theme, double by, bool less_is_better);
// `row` begins where the figure's own room ended; the words are cut off it.
// Nothing is drawn where less than `keep` would be left of the row.
void draw_difference(Ui& ui, Rect& row, double by, bool less_is_better, std::string (*text)(double),
                     float keep);

}  // namespace pentamesh::ui
