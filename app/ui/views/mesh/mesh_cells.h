// The cells show who talks to whom: the switch of axes, the legend, cards and captions, what each GPU is and
// does now, and the camera over them.
#pragma once

#include "app/ui/kit/theme.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/mesh_draw.h"
#include "app/ui/views/mesh/mesh_layout.h"
#include "app/ui/views/mesh/view.h"

#include <cstdint>
#include <optional>
#include <string>

namespace pentamesh::ui {

// Returns true if a cursor is set, and the stages are few enough for a colour each (CellGrid's palette).
[[nodiscard]] bool shows_activity(const Scene& scene);
// Colours by stage, in one draw for any number of GPUs.
void color_by_activity(const Theme& theme, const Scene& scene, CellGrid& grid);
// Writes "At 3.21 s 224 of 256 GPUs work: 96 forward, 128 backward, 32 idle.", each with its colour.
void activity_caption(Ui& ui, Rect row, const Scene& scene);
// Returns "now: backward of micro-batch 12", "now: idle"; empty where no cursor is set.
[[nodiscard]] std::string activity_text(const Scene& scene, std::int64_t rank);

// Makes the stage under the mouse in another view stand out: the cells of all others are dimmed.
void dim_other_stages(Canvas& canvas, const Theme& theme, const Scene& scene, const CellGrid& grid);

// Draws what `room` has place for, and returns the rest of it, which is for the cells.
// `edit` is set where a control among it changes the plan.
[[nodiscard]] Rect draw_around(Ui& ui, Rect room, const Scene& scene, MeshViewState& state,
                               ExpertLoads& loads, std::optional<PlanEdit>& edit);

// In every cell, in those of highlighted groups, or only ranks. Cells too small for a rank stay empty.
enum class Cards : std::uint8_t { all, highlighted, ranks };
void draw_cards(Ui& ui, const MeshPlace& m, const Scene& scene, const CellGrid& colored, Cards which);

// Writes under the cells what a row and a box are, and what the strip in a card is.
void write_cell_words(Ui& ui, Rect row, const Scene& scene, const CellGrid& grid, const std::string& all);

// As many rows as the entries need, one row of shorter ones, or a line each without figures in it but the
// share.
enum class Legend : std::uint8_t { rows, row, lines };
inline constexpr float kLegendEntry = 48, kLegendLine = 20;  // their heights

// Returns the height that the entries take in this width; 0 where there is no axis. Of each, its name and its
// wire are whole: they stand in as many rows as that takes.
[[nodiscard]] float legend_height(Ui& ui, float width, const Scene& scene, Legend form);
void draw_legend(Ui& ui, Rect room, const Scene& scene, Legend form);
// Draws one entry: of an axis, its bar on the scale of `most_s` seconds.
void draw_legend_entry(Ui& ui, Rect room, const Scene& scene, const MeshAxis& axis, double most_s);

// Draws the switches in `row`: of what is drawn, and of the axis.
// `axes` is a row of their own; empty: they stand behind the meshes.
void axis_switch(Ui& ui, Rect row, Rect axes, Scene& scene, MeshViewState& state);
// Returns true if the switch offers the axis, in its own mesh.
[[nodiscard]] bool can_choose(const Scene& scene, GroupKind kind);
// Returns the width of axis_switch.
[[nodiscard]] float switch_width(Ui& ui, const Scene& scene);
// Returns the same without combinations of axes.
[[nodiscard]] float least_switch_width(Ui& ui, const Scene& scene);
// Chooses the next or the previous axis where the brackets are pressed. The cells then show groups.
void next_axis(Scene& scene, MeshViewState& state);

// While the mouse is over the row of an axis, the mesh shows its groups as if the axis were chosen.
class ShownAxis {
  public:
    explicit ShownAxis(Scene& scene) : selection_(scene.selection), chosen_(scene.selection.cleared()) {
        const auto kind = scene.hover.group;
        if (kind && scene.evaluation.groups[*kind].degree > 1) selection_.choose(*kind);
    }
    ~ShownAxis() {
        selection_.group = chosen_.group, selection_.all_axes = chosen_.all_axes;
        selection_.pp_of_experts = chosen_.pp_of_experts;
    }
    ShownAxis(const ShownAxis&) = delete;
    ShownAxis& operator=(const ShownAxis&) = delete;

  private:
    Selection& selection_;
    Selection chosen_;
};

inline constexpr float kRowWords = 22;  // height of the words below the cells

inline constexpr float kAroundPods = 6;     // for their frames
inline constexpr float kBracketWords = 26;  // height of the lines that join pods, and of what they say
// Returns the room between pods and those words, for the lines that join pods: a low view has none to spare.
[[nodiscard]] constexpr float under_pods(float height) {
    return height > 300 ? kBracketWords : height > 200 ? 8.0f : 0.0f;
}

// The places of the cells in `cells`, with room for the words below; made when something that they follow
// from changes.
const MeshLayout& layout_for(MeshViewState& state, Rect cells, const Scene& scene, float scale);
// Returns the camera moved so that the mesh stays in the area.
[[nodiscard]] MeshCamera held(MeshCamera camera, Rect area, const MeshLayout& layout);
// The wheel zooms about the cursor, a drag pans, Home and a double-click on nothing fit.
void move_camera(Ui& ui, Rect area, const MeshLayout& layout, MeshViewState& state, const Hit& hit,
                 bool over_cell, const ViewKeys& keys);

// Holds "2,048 groups of 8, all inside NVLink." and "reduce-scatter + all-gather, 4 per layer, 235 MB a step
// per GPU of stage 3".
struct MeshCaption {
    std::string bold, plain;
};
[[nodiscard]] MeshCaption mesh_caption(const Scene& scene);

// Says how many groups of each axis lose a member with the node, and how many GPUs wait.
[[nodiscard]] MeshCaption failure_caption(const Scene& scene, std::int64_t node);
// Frames the selected rank.
void draw_selected(Canvas& canvas, const Theme& theme, const Scene& scene, const CellGrid& grid);
// Frames the ranks of a list that was typed.
void draw_ranks(Canvas& c, const Theme& theme, const Selection& selection, const CellGrid& grid);
[[nodiscard]] std::string rank_tooltip(const Scene& scene, std::int64_t rank);

}  // namespace pentamesh::ui
