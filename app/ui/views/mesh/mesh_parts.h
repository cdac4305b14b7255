// The mesh view draws these parts around its cells and into them: the switch of axes, the legend, what each
// GPU is and does now; of a large cluster enlarged parts; of a model with experts the fold of a stage.
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
#include <string_view>
#include <vector>

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
enum class Cards : std::uint8_t { all, lit, ranks };
void draw_cards(Ui& ui, const MeshPlace& m, const Scene& scene, const CellGrid& colored, Cards which);

// As many rows as the entries need, one row of shorter ones, or a line each without figures in it but the
// share.
enum class Legend : std::uint8_t { rows, row, lines };
inline constexpr float kLegendEntry = 48, kLegendLine = 20;  // their heights

// Returns the height that the entries take in this width; 0 where there is no axis. `one_row`: they stand
// side by side however short they are.
[[nodiscard]] float legend_height(Ui& ui, float width, const Scene& scene, Legend form);
void draw_legend(Ui& ui, Rect room, const Scene& scene, Legend form);
// Draws one entry: of an axis, its bar on the scale of `most_s` seconds.
void draw_legend_entry(Ui& ui, Rect room, const Scene& scene, const MeshAxis& axis, double most_s);

// Draws the switches in `row`: of what is drawn, and of the axis.
void axis_switch(Ui& ui, Rect row, Scene& scene, MeshViewState& state);
// Returns true if the switch offers the axis, in its own mesh.
[[nodiscard]] bool can_choose(const Scene& scene, GroupKind kind);
// Returns the width of axis_switch.
[[nodiscard]] float switch_width(Ui& ui, const Scene& scene);
// Chooses the next or the previous axis where the brackets are pressed.
void next_axis(Scene& scene);

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

inline constexpr float kAroundPods = 6;  // for their frames
// Returns the room between pods and those words, for the lines that join pods: a low view has none to spare.
[[nodiscard]] constexpr float under_pods(float height) {
    return height > 200 ? 8.0f : 0.0f;
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

// The nodes that the innermost axes make until the first of them leaves the fast domain, about one rank.
struct Period {
    std::int64_t first_node = 0, nodes = 0;  // 0 nodes: there is no such period
    std::int64_t count = 1;                  // of them in the cluster
    GroupKind axis = GroupKind::pp;          // the one that leaves the domain
    std::string noun;                        // "replica", "stage", "cp group"
};
[[nodiscard]] Period period_of(const Scene& scene, std::int64_t rank);
// Returns all nodes of the rank's replica, or of its data-parallel rank, where they are neighbours; else
// period_of.
[[nodiscard]] Period replica_of(const Scene& scene, std::int64_t rank);

inline constexpr float kStripTile = 58;  // the largest height of a node in it
// Returns the height of a strip with nodes of this height, and of its title, which a low one lacks.
[[nodiscard]] constexpr float title_height(float tile) {
    return tile < 40 ? 0.0f : 20.0f;
}
[[nodiscard]] constexpr float strip_height(float tile) {
    return title_height(tile) + tile + 36;
}
// Returns where its nodes stand.
[[nodiscard]] Rect strip_ground(Rect room, float tile, const Period& period);
// `type` is the size of its words.
void draw_strip(Canvas& canvas, const Theme& theme, float type, Rect room, float tile, const Scene& scene,
                const Period& period);
// Draws a node with its GPUs: a tile where the groups of `tile` are closed in it. `rank` is marked.
void draw_node(Canvas& canvas, const Theme& theme, Rect r, const Scene& scene, std::int64_t rank,
               const MeshAxis* tile, Color color, std::int64_t node);
// Returns the cells in such a node, of its GPUs in the order of their ranks.
[[nodiscard]] CellGrid node_grid(Rect r, std::int64_t domain);
// Returns which node of the strip is under a point, -1: none, and where the node is drawn; empty: not at all.
[[nodiscard]] std::int64_t strip_node_at(Rect room, float tile, const Period& p, Vec2 point);
[[nodiscard]] Rect strip_node(Rect room, float tile, const Period& period, std::int64_t node);
// Returns where the nodes of a period stand among the cells of a mesh.
[[nodiscard]] Rect period_rect(const Period& period, const MeshLayout& layout, const CellGrid& grid,
                               float zoom);
// Joins two edges that face each other: a to b, and c to d, in this order round.
void draw_beam(Canvas& canvas, const Theme& theme, Vec2 a, Vec2 b, Vec2 c, Vec2 d);
// Joins what is enlarged to where it is.
void draw_beam(Canvas& canvas, const Theme& theme, Rect large, Rect small);

inline constexpr std::int64_t kLadderFrom = 32768;  // GPUs

// Finds where the rungs of the chosen rank stand; none where the room is too small or the layout has no
// period inside a pod.
[[nodiscard]] MeshLadder ladder_in(Ui& ui, Rect room, const Scene& scene);
// Draws all rungs but the cluster.
void draw_ladder(Ui& ui, const Scene& scene, MeshViewState& state);
// A click on a rung picks the GPU or the node under it; the mouse over it highlights its groups.
void press_ladder(Ui& ui, Scene& scene, MeshViewState& state);

struct ShownLoads;  // mesh_experts.h

struct ExpertFold {
    std::int64_t first_rank = 0, line = 0;  // the stage's ranks; a line of 0: it cannot be drawn so
    std::int64_t row = 0, rows = 0;         // ranks of a row, which hold all experts once; rows are copies
    std::int64_t domain = 1, stage = -1;    // -1: there is one stage
    std::int64_t shown = 4;  // of more rows the first, the second if this is 4, how many more, and the last
};
// The stage of a rank. Nothing where a stage's ranks do not neighbour, or a row is no whole number of nodes.
[[nodiscard]] ExpertFold fold_of(const Scene& scene, std::int64_t rank);
// "The same 128 GPUs of a stage serve two meshes: ...".
[[nodiscard]] std::string fold_words(const ExpertFold& fold);
[[nodiscard]] float fold_height(const ExpertFold& fold);
void draw_fold(Ui& ui, Rect room, const Scene& scene, const ExpertFold& fold, const ShownLoads& loads);
// Draws the fold through the rows of the cluster, where a row is a stage.
void draw_fold_lines(Canvas& canvas, const Theme& theme, const MeshLayout& layout, const CellGrid& grid,
                     const ExpertFold& fold);

// The plan knows one number of how uneven routing is: the busiest ep rank's load over the mean
// (training.router_imbalance). The loads of the others are assumed from it, or a person listed them.
enum class LoadForm : std::uint8_t { even, skewed, list };
struct ShownLoads {
    LoadForm form = LoadForm::even;
    std::vector<double> load;  // by expert, of the mean expert's; empty: none is known
    double exponent = 0;       // of a skewed one
};
[[nodiscard]] ShownLoads shown_loads(const Scene& scene, const ExpertLoads& drawn);

// Returns the exponent a for which the busiest of `ranks` has `imbalance` times the mean load where the k-th
// busiest has k^-a of the busiest's; nullopt where no a > 0 is: one rank cannot have more than all tokens.
[[nodiscard]] std::optional<double> skew_exponent(std::int64_t ranks, double imbalance);
// Reads "1, 0.5 2 ...": a number for each expert, or for each ep rank, which its experts then share. Returns
// what is wrong with it, or nothing, with the loads by expert in `out`.
[[nodiscard]] std::string read_loads(std::string_view text, std::int64_t experts, std::int64_t ranks,
                                     std::vector<double>& out);

inline constexpr float kLoadRow = 30;
// Draws the switch and the sentence that says which loads are drawn. Returns an edit of the plan's number.
[[nodiscard]] std::optional<PlanEdit> draw_load_row(Ui& ui, Rect row, const Scene& scene,
                                                    MeshViewState& state, ExpertLoads& drawn);
// Empties the cells of a node as far as their experts have fewer tokens than the busiest. `first_rank` is the
// node's first, `r` its frame.
void draw_node_loads(Canvas& canvas, const Theme& theme, Rect r, const Scene& scene, const ShownLoads& loads,
                     std::int64_t first_rank);

// Draws to which nodes and experts a layer sends one token; nothing where the room is too small for it, or
// where ep stays inside a node.
void draw_token_way(Ui& ui, Rect room, const Scene& scene, const ExpertFold& fold);

struct KeptPlan;

// `before`, null or a possible plan with as many ranks, stands at the left, and each piece that lay elsewhere
// there says where. Without it the experts' fold stands next to that of the dense layers.
void draw_ribbon(Ui& ui, Rect room, const Scene& scene, const KeptPlan* before);

// One fold of the ranks.
struct RibbonSide {
    const Plan& plan;
    const Evaluation& evaluation;
    bool experts = false;              // the experts' mesh
    const KeptPlan* before = nullptr;  // A, where the pieces lay before; null: it is not compared
    std::string title;
    bool open = true;  // it is the open plan: after an edit its pieces move

    [[nodiscard]] const EnumArray<Axis, Factor>& factors(const Mesh& mesh) const {
        return experts ? mesh.expert : mesh.dense;
    }
};

[[nodiscard]] float wire_width(double bytes);
// Draws the pieces of all ranks where these are few, else a group of each axis.
void draw_pieces(Ui& ui, Rect room, const Scene& scene, const RibbonSide& side, const MeshAxes& axes);

}  // namespace pentamesh::ui
