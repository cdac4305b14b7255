// Maps seconds to pixels and back.
#pragma once

#include "render/canvas.h"

namespace pentamesh::ui {

struct TimeScale {
    double from_s = 0, to_s = 1;
    Rect plot;
    [[nodiscard]] float x(double time_s) const {
        return plot.x + static_cast<float>((time_s - from_s) / (to_s - from_s) * static_cast<double>(plot.w));
    }
    [[nodiscard]] double time(float px) const {
        return from_s + static_cast<double>((px - plot.x) / plot.w) * (to_s - from_s);
    }
};

}  // namespace pentamesh::ui
