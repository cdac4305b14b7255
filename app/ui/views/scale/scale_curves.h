// The curves of the chart of how far a plan scales, and where their names have room.
#pragma once

#include "app/ui/kit/plot.h"
#include "app/ui/views/scale/scale_chart.h"

#include <string>
#include <vector>

namespace pentamesh::ui {

struct ScaleCurve {
    std::string name, note;
    Color color;
    float width = 2;
    Dash dash = Dash::solid;
    std::vector<double> s;  // seconds at each point; < 0: no curve
};
// Lists them as they are drawn, the step last.
[[nodiscard]] std::vector<ScaleCurve> curves_of(const Theme& theme, const Scale& scale);

// Finds places for names where no curve and no other name lies.
class NamePlaces {
  public:
    NamePlaces(Rect area, float gap) : area_(area), gap_(gap) {}
    void add_line(Vec2 a, Vec2 b) { lines_.push_back({a, b}); }
    void add_box(Rect box) { boxes_.push_back(box); }
    // Returns the best box of that size next to the curve, and keeps it free from then on; an empty one where
    // all would lie on something.
    [[nodiscard]] Rect beside(const std::vector<Vec2>& curve, Vec2 size);

  private:
    struct Line {
        Vec2 a, b;
    };
    [[nodiscard]] bool is_free(Rect box) const;

    Rect area_;
    float gap_;
    std::vector<Line> lines_;
    std::vector<Rect> boxes_;
};

}  // namespace pentamesh::ui
