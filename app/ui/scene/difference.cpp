#include "app/ui/scene/difference.h"

#include "app/ui/kit/format.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

double difference(double now, double was) {
    constexpr double kRounding = 1e-9;
    return std::abs(now - was) <= kRounding * std::max(std::abs(now), std::abs(was)) ? 0 : now - was;
}

std::string difference_text(double by, std::string (*text)(double)) {
    if (by == 0) return "";
    return (by < 0 ? "−" : "+") + text(std::abs(by));
}

std::string points_text(double share) {
    return significant(share * 100) + " points";
}

Color color_of_difference(const Theme& theme, double by, bool less_is_better) {
    return (by < 0) == less_is_better ? theme.good : theme.bad;
}

void draw_difference(Ui& ui, Rect& row, double by, bool less_is_better, std::string (*text)(double),
                     float keep) {
    constexpr float kBack = 14, kAfter = 18;  // over the gap that the figure left behind it
    const std::string words = difference_text(by, text);
    if (words.empty()) return;
    TextStyle s = ui.style(12);
    s.color = color_of_difference(ui.theme(), by, less_is_better);
    const float w = ui.canvas().text_width(words, s) + 1;
    if (w - kBack + kAfter > row.w - keep) return;
    ui.canvas().text_in({row.x - kBack, row.y, w, row.h}, words, s);
    row.cut_left(w - kBack + kAfter);
}

}  // namespace pentamesh::ui
