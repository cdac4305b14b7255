// This table has one row for each view of the window. The shell, pictures, commands, the key sheet, lessons
// and tests walk it: a new view is a folder, an id, a state and a row (docs/code.md, "Adding a view").
#pragma once

#include "app/ui/kit/job.h"
#include "app/ui/views/comm/view.h"
#include "app/ui/views/compare/view.h"
#include "app/ui/views/layer/view.h"
#include "app/ui/views/map/view.h"
#include "app/ui/views/memory/view.h"
#include "app/ui/views/mesh/view.h"
#include "app/ui/views/scale/view.h"
#include "app/ui/views/search/view.h"
#include "app/ui/views/shards/view.h"
#include "app/ui/views/step/view.h"
#include "app/ui/views/timeline/view.h"
#include "app/ui/views/zoom/view.h"
#include "core/teach/lesson.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pentamesh::ui {

enum class ViewId : std::uint8_t {
    map,
    mesh,
    shards,
    memory,
    timeline,
    comm,
    step,
    layer,
    search,
    compare,
    scale
};
inline constexpr int kViewCount = 11;

// The dashboard has one place for the views of each pane, which share it by turns.
enum class Pane : std::uint8_t { top, middle, bottom };
inline constexpr int kPaneCount = 3;

// All views remember this. It is a value: a picture is drawn from a copy of it.
struct ViewStates {
    MapViewState map;
    MeshViewState mesh;
    ZoomViewState zoom;  // a page of Mesh
    ShardsViewState shards;
    MemoryViewState memory;
    TimelineViewState timeline;
    CommViewState comm;
    StepViewState step;
    LayerViewState layer;
    SearchViewState search;
    CompareViewState compare;
    ScaleViewState scale;
    std::array<ViewId, kPaneCount> in_pane{ViewId::mesh, ViewId::memory, ViewId::timeline};
    std::array<bool, kViewCount> as_data{};       // the table is shown instead of the picture
    std::array<bool, kViewCount> with_picture{};  // the picture stands below its table
    std::array<int, kViewCount> data_part{};      // the index in ViewEntry::data_parts
    std::array<TableState, kViewCount> tables{};
    std::array<Kept<Table, std::pair<std::uint64_t, int>>, kViewCount> kept_tables{};  // by revision and part
};

struct KeyHelp {
    std::string_view keys, what;
};

// A view has pages, from 0: a saved file names the one that is shown.
struct ViewPages {
    int count = 1;
    int (*shown)(const ViewStates& states) = nullptr;  // null: it has one
    void (*show)(ViewStates& states, int page) = nullptr;
    int first = 0;  // the one that a view begins with
};

// A row of one of a view's tables.
struct ViewRow {
    int part = 0, index = 0;
    const Table::Row& cells;
};

struct ViewEntry {
    ViewId id;
    std::string_view name;   // in file names, the command line, lessons, ids of commands and areas
    std::string_view title;  // on the screen
    std::string_view help;   // the question that it answers
    Pane pane;
    Chord key;                        // shows it in the whole window
    std::span<const KeyHelp> keys{};  // the keys that it answers while it has the keyboard
    Effects (*draw)(Ui& ui, Rect head_row, Rect room, Scene& scene, ViewStates& states,
                    std::uint64_t revision);
    // Returns one of the tables below for "Show as data".
    Table (*data)(const Scene& scene, const ViewStates& states, int part);
    std::span<const std::string_view> data_parts = {};  // its tables' names; none: it has one
    std::size_t run_parts = 0;       // the last of them are of a real run: there are none without one
    bool data_follows_plan = false;  // the tables follow only from the evaluation, not from the selection,
    unsigned data_changes = 0;       // but for these: a bit for each
    bool draws_void = false;         // draws a plan with errors itself; else the reason stands in its place
    bool data_void = false;          // its tables say something of a plan with errors too
    // The rest is null where a view has no such thing.
    ViewPages pages = {};
    void (*pick_row)(Scene& scene, const ViewRow& row) = nullptr;   // a row of a table was clicked
    void (*hover_row)(Scene& scene, const ViewRow& row) = nullptr;  // the mouse is over it
    bool (*marks_row)(const Scene& scene, const ViewRow& row) = nullptr;
    bool picture_below = false;  // its picture stands below its table, where both have room
    std::uint64_t (*highlighted_by)(const Hover& hover,
                                    const ViewStates& states) = nullptr;  // what it highlights
    // As it is shown now, it leaves out itself what a question asks about messages, about wires, or about
    // what other plans hold (HiddenAnswer::of_messages, of_wires, of_other_plans).
    bool (*leaves_out_messages)(const ViewStates& states) = nullptr;
    bool (*leaves_out_wires)(const ViewStates& states) = nullptr;
    bool (*leaves_out_figures)(const ViewStates& states) = nullptr;
    Rect (*moving)(const ViewStates& states) = nullptr;       // the place where the mouse changes it in each
                                                              // frame
    void (*draw_moving)(Ui&, Scene&, ViewStates&) = nullptr;  // the text there
};
[[nodiscard]] std::span<const ViewEntry> view_table();
[[nodiscard]] const ViewEntry& view_of(ViewId id);
// Names a view, or a page that has a name of its own (named_pages).
[[nodiscard]] std::optional<ViewId> view_named(std::string_view name);
// Returns the views that share a pane, in the order of their tabs.
[[nodiscard]] std::vector<ViewId> views_in(Pane pane);
inline constexpr std::string_view kDashboardName = "dashboard";  // no view has this name
// Returns it, the name of each view and of each named page: a lesson may show these.
[[nodiscard]] std::span<const std::string_view> view_names();

// A page with a name, a command and a key of its own: links, files and lessons open it as they open a view.
struct NamedPage {
    std::string_view name, title, help;
    ViewId view;
    int page = 0;  // of the view
    Chord key;
    std::span<const KeyHelp> keys{};
};
[[nodiscard]] std::span<const NamedPage> named_pages();
[[nodiscard]] bool is_shown(const ViewStates& states, const NamedPage& page);
// Shows the first page of a view if a named one is shown. Returns true if it was.
bool leave_named_page(ViewStates& states, ViewId view);
// Returns the view of that name. Shows the page, if the name is one of a page.
std::optional<ViewId> show_named_view(ViewStates& states, std::string_view name);

// Begins a lesson's step: all that it does not set is as at first.
void begin_lesson_scene(ViewStates& states);
// Returns true if Step is shown as data, with the table of how much each choice matters.
[[nodiscard]] bool wants_tornado_table(const ViewStates& states);
// Returns true if the view plays something with Space as it is shown now.
[[nodiscard]] bool plays_with_space(const ViewStates& states, ViewId view);
// Stops all that plays or flies, as a picture shows it.
void stand_still(ViewStates& states);

// The pages of each view by name: a lesson's step names one, and every step begins with the first of all.

// Returns the views that a lesson may name, with the names of their pages, the first page first.
[[nodiscard]] std::span<const LessonView> lesson_views();
// Returns false if the view has no page of that name.
bool show_named_page(ViewStates& states, ViewId view, std::string_view page);
// Shows the first page of every view.
void show_first_pages(ViewStates& states);

// Which pages were open, and what was set in the views apart from the plan: a slow stage, hidden parts.
struct OpenPages {
    std::array<int, kViewCount> page{};
    ShardsViewState::Shows shards = ShardsViewState::Shows::loaf;
    Strategy strategy = Strategy::ddp;
    bool cp_as_tokens = false;
    LayerChoice layer;
    TimelineChoice timeline{};
    int second_schedule = -1;
    double from_s = 0, to_s = 0, cursor_s = -1;
    bool critical = false;
    std::uint32_t hidden_memory = 0;
};
[[nodiscard]] OpenPages open_pages(const ViewStates& states);
void show_open_pages(ViewStates& states, const OpenPages& pages);

// Draws the frame of a view: its title, its siblings, the switch between picture and table.

// Draws title, its siblings as tabs, and links at the right end: "show as data", and the ways back from a
// whole window. Cuts its row off `room`.
struct ViewHead {
    std::optional<ViewId> switch_to;  // a sibling was clicked
    bool full = false;                // fill the window, or back to the dashboard
    bool panels = false;              // the panels are wanted next to it
    Rect row;                         // the rest of the row, for the view's own switches
};
struct HeadLinks {
    bool every = false;  // the tabs are all views, not only those of the same pane
    bool dashboard = false, panels = false;
    bool bare = false;   // only the view's own title, for a room that looks on
    bool quiet = false;  // links show while the mouse is over their row
};
ViewHead view_head(Ui& ui, Rect& room, ViewId current, bool& as_data, HeadLinks links);

// Returns the view's content as a table; of a plan with errors, only the reason.
[[nodiscard]] Table data_of(const Scene& scene, ViewId view, const ViewStates& states);

// Returns true if a view is of the plan only, and the plan is not known (core/plan/stand_in.h): it asks for
// the plan in place of figures. Who hangs and what was measured is said without a plan.
[[nodiscard]] bool wants_plan(const Scene& scene, ViewId view, const ViewStates& states);
// Asks for the plan of the run. Returns the row below the words, for the ways to give it; empty where it has
// no room.
Rect draw_plan_wanted(Ui& ui, Rect room);

// Draws the view's picture, or its table where that is shown. Parts that move with the mouse are drawn after
// it.
Effects draw_view_body(Ui& ui, Rect head_row, Rect room, Scene& scene, ViewId view, ViewStates& states,
                       std::uint64_t revision);
void draw_view_moving(Ui& ui, Scene& scene, ViewId view, ViewStates& states);
// Returns the rectangle where the mouse changes draw_view_moving's drawing; empty where it changes nothing.
[[nodiscard]] Rect moving_in_view(ViewId view, const ViewStates& states);

// Returns true if the view is not drawn while a question is open.
[[nodiscard]] bool is_covered(const HiddenAnswer& hidden, ViewId view, const ViewStates& states);
// Says in the place of what would give a lesson's answer away that it does.
void draw_cover(Ui& ui, Rect room);

// Holds what stands around a view on a sheet by itself; empty: nothing does.
struct ViewSheet {
    std::string title, caption;
    bool covered = false, figures_covered = false;  // of a lesson's question that is open
    bool memory_said = false;                       // but its words say what the GPU holds
};
// Draws all of a view under its title, without controls, with the line of figures below it: for a picture.
void draw_view_sheet(Ui& ui, Scene& scene, ViewId view, ViewStates& states, std::uint64_t revision,
                     const ViewSheet& around);

}  // namespace pentamesh::ui
