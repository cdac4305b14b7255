// The difference of a figure to that of the pinned plan A, as it stands behind the figure.
#pragma once

#include "app/ui/kit/ui.h"

#include <string>

namespace pentamesh::ui {

// 0 where both are the same but for the rounding of sums.
[[nodiscard]] double difference(double now, double was);
// "−0.48 s", "+13.2 GiB"; empty: none, or one that the text does not show.
[[nodiscard]] std::string difference_text(double by, std::string (*text)(double));
// A difference of two shares: "4.98 points" of 0.0498.
[[nodiscard]] std::string points_text(double share);
// Green: better than A; red: worse.
[[nodiscard]] Color color_of_difference(const Theme& theme, double by, bool less_is_better);
// `row` begins where the figure's own room ended; the words are cut off it.
// Nothing where less than `keep` would be left of the row.
void draw_difference(Ui& ui, Rect& row, double by, bool less_is_better, std::string (*text)(double),
                     float keep);

}  // namespace pentamesh::ui
