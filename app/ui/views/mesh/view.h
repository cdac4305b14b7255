// The view Mesh shows who talks to whom. A view is a function over (toolkit, room, scene, its own small
// state) that draws; it computes nothing about parallelism.
#pragma once

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/job.h"
#include "app/ui/kit/menu.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/mesh_draw.h"
#include "app/ui/views/mesh/mesh_figure.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh::ui {

struct HangShown;       // mesh_run.h
struct ExpertLoads;     // app/ui/views/shards/view.h
struct KeptPlan;        // app/ui/views/compare/view.h
struct KeptTokenCosts;  // mesh_token.h

// The places of the cells follow from these, and the words below them.
struct MeshLayoutOf {
    Vec2 room;
    MeshInBoxes boxes;
    float scale = 1;
    Mesh mesh;              // whose periods the rows have
    std::int64_t gpus = 0;  // of the cluster, which may have others than ranks
    bool shards_parameters = false, groups = false;
    std::string_view domain{};  // what a fast domain is called
    bool operator==(const MeshLayoutOf&) const = default;
};

// The rungs of a large cluster stand here; no node: it has no rungs.
struct MeshLadder {
    Rect node, strip, pod, cluster;  // the pod is empty where the cluster has none
    Rect node_costs, strip_costs, pod_costs, changes;
    float tile = 0;  // height of a node in the strip
    [[nodiscard]] bool shown() const { return node.w > 0; }
};

// The page on which one token goes to its experts (mesh_token.h).
struct TokenPage {
    bool shown = false;
    bool hidden = false;          // no way was drawn in the last frame: a question asks for GPUs
    double grows_since_s = -1;    // the ways grow from then on; < 0: they stand
    std::uint64_t copies_of = 0;  // rows of GPUs that keep the same experts are drawn for this revision
    std::shared_ptr<const KeptTokenCosts> costs;
};

enum class MeshMenu : std::uint8_t { none, more, figures, orders };  // which is open (mesh_menu.h)

struct MeshViewState {
    MeshCamera camera;
    bool panning = false;
    Vec2 pan_start;
    bool show_links = true;
    bool both = false;   // a stage is drawn as the dense mesh and as the experts' has it
    bool folds = false;  // the ranks are drawn as a ribbon that the factors fold
    bool zooms = false;  // the page Zoom is shown (app/ui/views/zoom/)
    TokenPage token;
    bool listing = false;  // a list of the experts' loads is typed
    std::string load_list;
    bool failure = false;  // a click picks a node that is lost
    std::int64_t lost_node = -1;
    bool goes_to = false, goes_to_fresh = false;  // ranks are typed; the field is drawn for the first time
    std::string go_to;                            // what is typed
    MeshMenu menu = MeshMenu::none;
    Rect menu_anchor;
    MenuState menu_state;
    int figure = 0;                    // that the cells show, a place in mesh_figures(); 0: the groups
    std::optional<FigureRange> range;  // of its values; nullopt: all
    ShownFigure shown_figure;
    bool shows_run = true;  // where a run hangs: who is to blame, instead of the groups
    ScrollState run_list;
    std::shared_ptr<const HangShown> hang;  // of the run and the plan as last drawn
    std::int64_t run_rank = -1;             // the rank that was selected when the list was drawn last
    // A lesson sets these: ranks outlined; one that a question is about; cells without colours that would
    // answer it.
    std::vector<std::int64_t> outlined;
    std::int64_t asked = -1;
    bool plain = false;
    // A second order of the axes is drawn over the same cells, next to the plan's own: -1 for no second
    // order, else an order preset.
    int second = -1;
    KeptOtherPlan other;
    Rect field, cells, second_cells;  // where they stand; empty: not at all
    Rect enlarged;                    // the period that is drawn larger above, among the cells
    Rect still;                       // the cells and what stands around them, which no mouse changes
    MeshLadder ladder;
    Kept<MeshLayout, MeshLayoutOf> layout, pod_layout;
};
// Draws the parts that stay while the mouse moves over the cells: switches and words. Finds the places of the
// rest.
// `loads` are those of the experts that a person drew or listed. Returns an edit of what follows from them.
// `pinned`: A, which the fold is compared with; null: none.
[[nodiscard]] std::optional<PlanEdit> draw_mesh_words(Ui& ui, Rect head_row, Rect room, Scene& scene,
                                                      MeshViewState& state, ExpertLoads& loads,
                                                      const KeptPlan* pinned, std::uint64_t revision);
// Draws the switch of the view's pages by itself, for the page Zoom, with room for its controls, and for the
// page of one token, where nothing else stands in its row (`single`).
void draw_page_switch(Ui& ui, Rect& head_row, Rect& room, Scene& scene, MeshViewState& state,
                      bool single = false);
// Draws the rest over them: the cells, and the field for a rank.
void draw_mesh_cells(Ui& ui, Scene& scene, MeshViewState& state);
// Returns the rectangle where the mouse changes at most what is drawn over the cells; empty where there are
// none.
[[nodiscard]] Rect moving_in_mesh(const MeshViewState& state);
// `part` is one of the tables that app/ui/views/table.cpp names.
[[nodiscard]] Table mesh_data(const Scene& scene, int part);
// A row of these tables stands for the groups of an axis, or for one of them. Under the mouse its GPUs
// are coloured in the mesh; a click selects them.
void hover_mesh_row(Scene& scene, int part, const Table::Row& row);
void pick_mesh_row(Scene& scene, int part, const Table::Row& row);
// Returns true if it has the GPU that is under the mouse, or was selected; a row of an axis, if that one is
// coloured.
[[nodiscard]] bool marks_mesh_row(const Scene& scene, int part, const Table::Row& row);

}  // namespace pentamesh::ui
