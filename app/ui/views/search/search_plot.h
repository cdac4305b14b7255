// Draws the scatter of a search: memory against tokens/s. Layouts that fall on the same few pixels are one
// dot, so a million cost what a thousand do.
#pragma once

#include "app/ui/kit/kept.h"
#include "app/ui/kit/plot.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/search/search_found.h"

#include <optional>
#include <vector>

namespace pentamesh::ui {

struct SearchDots {
    static constexpr int kMost = 8000;
    struct Dot {
        Vec2 at;  // of its fastest layout
        int layouts = 0;
        std::size_t point = 0;  // index of that one
    };
    std::vector<Dot> dots;  // at most kMost
    int most_layouts = 0;   // of a dot
    Plot plot;
};
// The dots follow from these: the version of the found layouts, the place, the ends of the axes.
struct SearchDotsOf {
    std::uint64_t version = 0;
    Rect area;
    double memory_to = 0, tokens_from = 0, tokens_to = 0;
    bool operator==(const SearchDotsOf&) const = default;
};
using KeptDots = Kept<SearchDots, SearchDotsOf>;

// Holds the ends of the axes: all found layouts, the open plan and the GPU's memory lie within.
struct SearchAxes {
    double memory_to = 0;  // bytes, from 0
    double tokens_from = 0, tokens_to = 1;
};
[[nodiscard]] SearchAxes axes_of(const SearchFound& found, const Plan& plan, const Evaluation& e);
// `tokens` are those of a step.
void make_dots(const SearchFound& found, double tokens, const Plot& plot, SearchDots& out);

// Draws the plot; dots are coloured by their degree of `colored_by`, which the user switches between tp and
// pp. Returns the layout under the mouse.
[[nodiscard]] std::optional<LayoutChoice> draw_search_plot(Ui& ui, Rect room, const Scene& scene,
                                                           const SearchFound& found, KeptDots& kept,
                                                           Axis& colored_by, bool& clicked);
// Draws a ring around the dot of a row, in the plot as it was drawn last.
void mark_in_plot(Ui& ui, const Scene& scene, const KeptDots& dots, const SearchRow& row);

}  // namespace pentamesh::ui
