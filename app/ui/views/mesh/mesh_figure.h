// The cells show a figure of their GPU in place of its groups: what the plan has for its stage, or what a run
// measured on its rank.
#pragma once

#include "app/ui/kit/job.h"
#include "app/ui/kit/theme.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "core/mesh/mesh.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace pentamesh::ui {

struct MeshPlace;      // mesh_draw.h
struct MeshCaption;    // mesh_cells.h
struct MeshViewState;  // view.h

// `difference`: what a run measured, less what the plan has.
enum class FigureOf : std::uint8_t { groups, plan, run, difference };
// `total`: an axis' communication with what is hidden.
enum class FigureKind : std::uint8_t { memory, step, compute, idle, waits, total };

struct MeshFigure {
    std::string_view name;   // on the command line and in the ids of commands
    std::string_view title;  // "memory used"
    FigureOf of = FigureOf::groups;
    FigureKind kind = FigureKind::memory;
    std::optional<runs::RunPart> axis{};  // of `waits` and `total`; nullopt: all of them
};
// The first are the groups, which are no figure. MeshViewState::figure is a place in this list.
[[nodiscard]] std::span<const MeshFigure> mesh_figures();
[[nodiscard]] std::optional<int> figure_named(std::string_view name);
// Returns true if the plan, or the open run, can have such a figure: it is then offered.
[[nodiscard]] bool offers_figure(const Scene& scene, const MeshFigure& figure);
// Returns "42.9 GiB", "3.09 s", "+0.49 s".
[[nodiscard]] std::string figure_text(const MeshFigure& figure, double value);

// Values of one figure on all ranks: seconds or bytes.
struct FigureValues {
    const MeshFigure* figure = nullptr;                    // null: it is not known yet
    std::vector<double> by_stage;                          // of a plan
    std::vector<std::pair<std::int64_t, double>> by_rank;  // of a run, by rank; the others have no file
    double low = 0, high = 0;                              // the ends over all ranks that have a value
    [[nodiscard]] bool known() const { return !by_stage.empty() || !by_rank.empty(); }
    // Returns true if a person reads the same figure at both ends.
    [[nodiscard]] bool same() const {
        return known() && figure_text(*figure, low) == figure_text(*figure, high);
    }
    // Returns the value of a rank; nullopt where it has no file.
    [[nodiscard]] std::optional<double> of(const Mesh& mesh, std::int64_t rank) const;
};
[[nodiscard]] FigureValues figure_values(const Scene& scene, const MeshFigure& figure);

// The ends over the ranks [begin, end), and how many of them have a value.
struct FigureEnds {
    double low = 0, high = 0;
    std::int64_t known = 0;
};
// It takes a time that does not grow with the ranks of a plan.
[[nodiscard]] FigureEnds ends_of(const FigureValues& values, const Mesh& mesh, std::int64_t begin,
                                 std::int64_t end);

// Only values in it have a colour.
struct FigureRange {
    double low = 0, high = 0;
    bool operator==(const FigureRange&) const = default;
};

// Cells next to each other with one shade: `count` of them, each of `step` ranks.
struct FigureRun {
    std::int64_t first = 0, count = 0;  // the first rank, cells
    int shade = 0;                      // kPaleShade: pale
};
inline constexpr int kFigureShades = 48, kPaleShade = -1;
// Returns the shade of a value between the ends; that of a value outside the range is kPaleShade.
[[nodiscard]] int shade_of(const FigureValues& values, const std::optional<FigureRange>& range, double value);
// Returns the shades of all cells that have a value, where a cell is `step` ranks and has that of its
// largest.
[[nodiscard]] std::vector<FigureRun> figure_runs(const FigureValues& values, const Mesh& mesh,
                                                 const std::optional<FigureRange>& range, std::int64_t step);
// Returns true if the cells of a plan's figure repeat by stage: one draw then colours all.
[[nodiscard]] bool repeats_by_stage(const FigureValues& values, const Mesh& mesh, std::int64_t step);

// Returns the colour of a shade: from near the ground to far from it, so that a grey print has the same
// order.
[[nodiscard]] Color color_of_shade(const Theme& theme, const MeshFigure& figure, int shade);

// The chosen figure as it was worked out last.
struct ShownFigure {
    using Of = std::tuple<std::uint64_t, int, const RealRun*>;  // revision, figure, run
    Kept<FigureValues, Of> values;
    Kept<std::vector<FigureRun>, std::tuple<Of, std::optional<FigureRange>, std::int64_t>> runs;
};
// Returns true if the cells show a figure: one is chosen, and no lesson hides what it would tell.
[[nodiscard]] bool shows_figure(const Scene& scene, const MeshViewState& state);
// Works out the values of the chosen figure. A range in which no GPU lies any more is dropped.
void update_figure(const Scene& scene, MeshViewState& state, std::uint64_t revision);
// Chooses a figure, by its place in mesh_figures(), on the page that has single cells, without a second
// order.
void choose_figure(MeshViewState& state, int figure);

// Draws the cells, and in them their rank and value where they have room.
void draw_figure_cells(Ui& ui, const MeshPlace& m, const Scene& scene, MeshViewState& state);
// Says who has the most and who the least.
[[nodiscard]] MeshCaption figure_caption(const Scene& scene, const FigureValues& values, bool nodes);
// Returns what a card adds for the GPU under the mouse: its value; of a cell that is a node, the ends of the
// node, and those of its pod.
[[nodiscard]] std::string figure_tooltip(const Scene& scene, const FigureValues& values, std::int64_t rank,
                                         bool nodes);
[[nodiscard]] float figure_legend_height(float width);
// Draws the scale with its ends. A drag on it sets the range; a double click shows all.
void draw_figure_legend(Ui& ui, Rect room, const Scene& scene, MeshViewState& state);

}  // namespace pentamesh::ui
