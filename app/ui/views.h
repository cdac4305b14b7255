// Every view of the window: a function over (toolkit, room, scene, its own small state) that draws and
// returns an edit of the plan or none. A view computes nothing about parallelism.
#pragma once

#include "app/ui/data_table.h"
#include "app/ui/menu.h"
#include "app/ui/mesh_layout.h"
#include "app/ui/scene.h"
#include "app/ui/ui.h"
#include "core/timeline_blocks.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pentamesh::ui {

// ---- the head that every view has ---------------------------------------------------------------------
// Title, its siblings as tabs, and "show as data" at the right end. Cuts its row off `room`.
struct ViewHead {
    std::optional<ViewId> switch_to;  // a sibling was clicked
    bool full = false;                // the title was double-clicked: fill the window, or back
    bool as_data = false;             // the table is wanted instead of the picture
    Rect row;                         // what is left of the row for the view's own switches
};
ViewHead view_head(Ui& ui, Rect& room, ViewId current, std::span<const ViewId> siblings, bool& as_data);
[[nodiscard]] std::string_view title_of(ViewId view);
// The name that `screenshot --view` and picture files use: "mesh", "comm" ...
[[nodiscard]] std::string_view picture_name(ViewId view);

// ---- Mesh: who talks to whom --------------------------------------------------------------------------
struct MeshViewState {
    MeshCamera camera;
    bool panning = false;
    Vec2 pan_start;
    bool show_links = true;
    bool failure = false;  // a click picks a node that is lost
    std::int64_t lost_node = -1;
    std::string go_to;  // typed rank
    // A second order of the axes over the same cells, beside the plan's own: -1 none, else an order preset.
    int second = -1;
    std::uint64_t second_of = 0;
    Plan second_plan;
    Evaluation second_evaluation;
    // The layout is kept while what it came from stands.
    MeshLayout layout;
    Vec2 layout_room;
    std::int64_t layout_gpus = 0, layout_domain = 0, layout_pod = 0;
};
void draw_mesh(Ui& ui, Rect head_row, Rect room, Scene& scene, MeshViewState& state, std::uint64_t revision);
[[nodiscard]] DataTable mesh_data(const Scene& scene);

// ---- Memory: what each GPU holds ----------------------------------------------------------------------
struct MemoryViewState {
    std::uint32_t hidden = 0;  // categories switched off, by bit
    bool saved = false;        // the waterfall "what each axis saved" instead of the stages
};
void draw_memory(Ui& ui, Rect head_row, Rect room, Scene& scene, MemoryViewState& state);
[[nodiscard]] DataTable memory_data(const Scene& scene);

// ---- Timeline: when each stage works ------------------------------------------------------------------
struct TimelineViewState {
    double from_s = 0, to_s = 0;  // what is seen; to <= from: everything
    double cursor_s = -1;
    bool playing = false;
    bool critical = false;
    double played_at = 0;
    bool panning = false;
    double pan_from_s = 0;
    float scroll = 0;  // rows
    // What is made from the evaluation and kept while it stands.
    std::uint64_t critical_of = 0, index_of = 0, second_of = 0;
    std::vector<std::size_t> critical_path;
    WorkIndex index;
    // A second schedule over the same costs, on the same time axis: -1 none, else a Schedule.
    int second = -1;
    Evaluation second_evaluation;
    WorkIndex second_index;
    std::vector<Block> blocks;  // of the row that is drawn
};
void draw_timeline(Ui& ui, Rect head_row, Rect room, Scene& scene, TimelineViewState& state,
                   std::uint64_t revision);
[[nodiscard]] DataTable timeline_data(const Scene& scene);

// ---- Communication: what they say to each other -------------------------------------------------------
struct CommViewState {
    TableState table;
};
void draw_comm(Ui& ui, Rect head_row, Rect room, Scene& scene, CommViewState& state);
[[nodiscard]] DataTable comm_data(const Scene& scene);

// ---- Tensors: every tensor's shape and cut ------------------------------------------------------------
struct TensorsViewState {
    TableState table;
};
void draw_tensors(Ui& ui, Rect head_row, Rect room, Scene& scene, TensorsViewState& state);
[[nodiscard]] DataTable tensors_data(const Scene& scene);

// ---- the panels ---------------------------------------------------------------------------------------
struct PlanPanelState {
    float scroll = 0;
    int dragged_chip = -1;  // Axis
    std::string
        menu;  // the open menu: "model", "cluster", "schedule", "order", "batch", "precision"; empty: none
    Rect menu_anchor;
    MenuState menu_state;
    std::string editing;  // the number that is being typed: "tp", "gpus" ...; empty: none
    std::string edit_text;
    bool edit_fresh = false;
};
// The name of a framework whose default this order is, "custom" where none.
[[nodiscard]] std::string order_name(const std::array<Axis, kAxisCount>& order);
[[nodiscard]] std::optional<PlanEdit> draw_plan_panel(Ui& ui, Rect panel, Scene& scene,
                                                      PlanPanelState& state);
// The panel's menus, drawn after everything else.
[[nodiscard]] std::optional<PlanEdit> draw_plan_menus(Ui& ui, Scene& scene, PlanPanelState& state);

struct InspectorState {
    float scroll = 0;
};
[[nodiscard]] std::optional<PlanEdit> draw_inspector(Ui& ui, Rect panel, Scene& scene, InspectorState& state);

void draw_status(Ui& ui, Rect room, const Scene& scene, double evaluate_s);

}  // namespace pentamesh::ui
