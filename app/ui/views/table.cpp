#include "app/ui/views/table.h"

#include "app/ui/views/pages.h"

#include <type_traits>

namespace pentamesh::ui {

namespace {

using Answer = std::optional<PlanEdit>;

constexpr KeyHelp kMeshKeys[] = {{"arrows", "walk the ranks"},
                                 {"[  ]", "previous, next axis of the mesh, the map"}};
constexpr KeyHelp kMapKeys[] = {{"[  ]", "previous, next axis of the mesh, the map"},
                                {"Space, left, right", "play the race of the wires, a step back, on"}};
constexpr KeyHelp kLayerKeys[] = {{"Space, P", "play or pause the layer"},
                                  {",  .", "a step of the layer back, on, where it fills the window"}};
constexpr KeyHelp kZoomKeys[] = {{"Enter, Backspace", "into a box of the zoom, out of it"}};
constexpr KeyHelp kSearchKeys[] = {{"click, Shift+click", "open a layout of the search, compare it"}};
constexpr KeyHelp kScaleKeys[] = {{"click", "make a value of the chart the plan's"}};
constexpr KeyHelp kTimelineKeys[] = {{"press on the ruler", "set the timeline's cursor"}};

constexpr std::string_view kMeshTables[] = {"axes", "groups", "all kinds", "the run"};
constexpr std::string_view kLayerTables[] = {"steps", "said, by axis"};
constexpr std::string_view kMemoryTables[] = {"stages", "what each axis saved", "ZeRO 0 to 3"};
constexpr std::string_view kTimelineTables[] = {"operations", "stages"};
constexpr std::string_view kCommTables[] = {"calls", "who to whom", "one call", "measured"};
constexpr std::string_view kStepTables[] = {"time",        "rates",    "constants", "software",
                                            "sensitivity", "measured", "workers"};
constexpr std::string_view kSearchTables[] = {"results", "rejected"};
constexpr std::string_view kScaleTables[] = {"points", "what turns"};
constexpr std::string_view kCompareTables[] = {"figures", "what differs", "why", "path"};
constexpr std::string_view kTensorsTables[] = {"parameters", "gradients", "optimizer", "activations"};

std::uint64_t lit_stage(const Hover& hover, const ViewStates&) {
    return static_cast<std::uint64_t>(hover.stage + 1) << 40U;
}

// Names the axis whose row is under the mouse; the table of the mesh names the GPU too, whose rows it marks.
std::uint64_t lit_groups_of(const Hover& hover, const ViewStates& states) {
    const bool table = states.as_data[static_cast<std::size_t>(ViewId::mesh)];
    return (hover.group ? static_cast<std::uint64_t>(*hover.group) + 1 : 0) << 56U
           ^ (table ? static_cast<std::uint64_t>(hover.rank + 1) : 0) << 20U;
}

void pick_operation(Scene& scene, const ViewRow& row) {
    if (row.part != 0) return;
    scene.selection.operation = row.index;
    scene.selection.topic = Selection::Topic::operation;
}

void pick_tensor(Scene& scene, const ViewRow& row) {
    if (row.part != 0) return;
    scene.selection.tensor = row.index;
    scene.selection.activation = -1;
    scene.selection.tensor_state = TensorState::parameters;
    scene.selection.topic = Selection::Topic::tensor;
}

// Draws a view by its own function, with its own state.
template <auto State, auto Draw>
Answer draws(Ui& ui, Rect head, Rect room, Scene& scene, ViewStates& s, std::uint64_t revision) {
    if constexpr (std::is_void_v<decltype(Draw(ui, head, room, scene, s.*State, revision))>)
        return Draw(ui, head, room, scene, s.*State, revision), Answer{};
    else
        return Draw(ui, head, room, scene, s.*State, revision);
}

constexpr int kMapPageCount = static_cast<int>(kMapPages.size());

constexpr auto kTable = std::to_array<ViewEntry>({
    {.id = ViewId::mesh,
     .name = "mesh",
     .title = "Mesh",
     .help = "Who talks to whom?",
     .pane = Pane::top,
     .key = {.key = Key::n1},
     .keys = kMeshKeys,
     .draw = [](Ui& ui, Rect head, Rect room, Scene& scene, ViewStates& s, std::uint64_t revision) -> Answer {
         return draw_mesh_words(ui, head, room, scene, s.mesh, s.shards.loads, s.compare.pinned(), revision);
     },
     .data = [](const Scene& scene, const ViewStates&, int part) { return mesh_data(scene, part); },
     .data_parts = kMeshTables,
     .run_parts = 1,
     .data_follows_plan = true,
     .draws_void = true,
     .pages = {3, [](const ViewStates& s) { return s.mesh.folds  ? 2
                                                   : s.mesh.both ? 1
                                                                 : 0; },
               [](ViewStates& s, int page) { s.mesh.both = page == 1, s.mesh.folds = page == 2; }},
     .pick_row = [](Scene& scene, const ViewRow& row) { pick_mesh_row(scene, row.part, row.cells); },
     .hover_row = [](Scene& scene, const ViewRow& row) { hover_mesh_row(scene, row.part, row.cells); },
     .marks_row = [](const Scene& scene,
                     const ViewRow& row) { return marks_mesh_row(scene, row.part, row.cells); },
     .picture_below = true,
     .lit_by = lit_groups_of,
     .moving = [](const ViewStates& s) { return moving_in_mesh(s.mesh); },
     .draw_moving = [](Ui& ui, Scene& scene, ViewStates& s) { draw_mesh_cells(ui, scene, s.mesh); }},
    {.id = ViewId::zoom,
     .name = "zoom",
     .title = "Zoom",
     .help = "What lies inside what, from the cluster down to a matrix?",
     .pane = Pane::top,
     .key = {.key = Key::n2},
     .keys = kZoomKeys,
     .draw = draws<&ViewStates::zoom, draw_zoom>,
     .data = [](const Scene& scene, const ViewStates& s, int) { return zoom_data(scene, s.zoom); }},
    {.id = ViewId::shards,
     .name = "shards",
     .title = "Shards",
     .help = "What is cut, what is copied?",
     .pane = Pane::top,
     .key = {.key = Key::n3},
     .draw = draws<&ViewStates::shards, draw_shards>,
     .data = [](const Scene& scene, const ViewStates& s, int) { return shards_data(scene, s.shards); },
     .pages = {kLoafPage + 1,
               [](const ViewStates& s) {
                   return s.shards.shows == ShardsViewState::Shows::loaf ? kLoafPage
                                                                         : static_cast<int>(s.shards.state);
               },
               [](ViewStates& s, int page) {
                   using Shows = ShardsViewState::Shows;
                   s.shards.shows = page == kLoafPage ? Shows::loaf : Shows::tensors;
                   if (page != kLoafPage) s.shards.state = static_cast<TensorState>(page);
               },
               kLoafPage}},
    {.id = ViewId::map,
     .name = "map",
     .title = "Map",
     .help = "What does each axis do for this plan, and what does it cost?",
     .pane = Pane::top,
     .key = {.key = Key::n4},
     .keys = kMapKeys,
     .draw = draws<&ViewStates::map, draw_map>,
     .data = [](const Scene& scene, const ViewStates& s, int) { return map_data(scene, s.map); },
     // A file keeps their numbers, so the page that came last has the last one.
     .pages = {kMapPageCount,
               [](const ViewStates& s) {
                   return (static_cast<int>(s.map.page) + kMapPageCount - 1) % kMapPageCount;
               },
               [](ViewStates& s, int page) {
                   s.map.page = static_cast<MapPage>((page + 1) % kMapPageCount);
                   s.map.page_chosen = true;
               }}},
    {.id = ViewId::memory,
     .name = "memory",
     .title = "Memory",
     .help = "What does each GPU hold?",
     .pane = Pane::middle,
     .key = {.key = Key::n5},
     .draw = draws<&ViewStates::memory, draw_memory>,
     .data = [](const Scene& scene, const ViewStates&, int part) { return memory_data(scene, part); },
     .data_parts = kMemoryTables,
     .data_follows_plan = true,
     .draws_void = true,
     .pages = {static_cast<int>(kMemoryPages.size()),
               [](const ViewStates& s) { return static_cast<int>(s.memory.page); },
               [](ViewStates& s, int page) { s.memory.page = static_cast<MemoryPage>(page); }},
     .lit_by = lit_stage},
    {.id = ViewId::timeline,
     .name = "timeline",
     .title = "Timeline",
     .help = "When does each stage work?",
     .pane = Pane::bottom,
     .key = {.key = Key::n6},
     .keys = kTimelineKeys,
     .draw = draws<&ViewStates::timeline, draw_timeline>,
     .data = [](const Scene& scene, const ViewStates&, int part) { return timeline_data(scene, part); },
     .data_parts = kTimelineTables,
     .data_follows_plan = true,
     .lit_by = lit_stage},
    {.id = ViewId::comm,
     .name = "comm",
     .title = "Communication",
     .help = "What do they say to each other?",
     .pane = Pane::bottom,
     .key = {.key = Key::n7},
     .draw = draws<&ViewStates::comm, draw_comm>,
     .data = [](const Scene& scene, const ViewStates&, int part) { return comm_data(scene, part); },
     .data_parts = kCommTables,
     .run_parts = 1,
     .pages = {CommViewState::kMeasured + 1, [](const ViewStates& s) { return s.comm.part; },
               [](ViewStates& s, int page) { s.comm.part = page; }},
     .pick_row = pick_operation},
    {.id = ViewId::tensors,
     .name = "tensors",
     .title = "Tensors",
     .help = "Which shape has each tensor, and which part of it is on one GPU?",
     .pane = Pane::bottom,
     .key = {.key = Key::n0},
     .draw = draws<&ViewStates::tensors, draw_tensors>,
     .data = [](const Scene& scene, const ViewStates&, int part) { return tensors_data(scene, part); },
     .data_parts = kTensorsTables,
     .data_follows_plan = true,
     .pick_row = pick_tensor},
    {.id = ViewId::step,
     .name = "step",
     .title = "Step",
     .help = "How long is a step, and where does its time go?",
     .pane = Pane::bottom,
     .key = {.key = Key::n7, .shift = true},
     .draw = draws<&ViewStates::step, draw_step>,
     .data = [](const Scene& scene, const ViewStates& s, int part) { return step_data(scene, s.step, part); },
     .data_parts = kStepTables,
     .run_parts = 2,
     .draws_void = true,
     .pages = {
         StepViewState::kMeasured + 1, [](const ViewStates& s) { return s.step.part; },
         [](ViewStates& s, int page) { s.step.part = page; }}},  // its constants can be edited all the same
    {.id = ViewId::compare,
     .name = "compare",
     .title = "Compare",
     .help = "In what do plans differ, and why is one faster?",
     .pane = Pane::top,
     .key = {.key = Key::n8},
     .draw = draws<&ViewStates::compare, draw_compare>,
     .data = [](const Scene& scene, const ViewStates& s,
                int part) { return compare_data(scene, s.compare, part); },
     .data_parts = kCompareTables},
    {.id = ViewId::search,
     .name = "search",
     .title = "Search",
     .help = "Which layout is best?",
     .pane = Pane::top,
     .key = {.key = Key::n9},
     .keys = kSearchKeys,
     .draw = [](Ui& ui, Rect head, Rect room, Scene& scene, ViewStates& s, std::uint64_t) -> Answer {
         return draw_search(ui, head, room, scene, s.search, s.compare);
     },
     .data = [](const Scene& scene, const ViewStates& s,
                int part) { return search_data(scene, s.search, part); },
     .data_parts = kSearchTables,
     .draws_void = true,  // other layouts of the same model may be possible
     .data_void = true},
    {.id = ViewId::layer,
     .name = "layer",
     .title = "Layer",
     .help = "What happens inside one layer, step by step?",
     .pane = Pane::top,
     .key = {.key = Key::n3, .shift = true},
     .keys = kLayerKeys,
     .draw = draws<&ViewStates::layer, draw_layer>,
     .data = [](const Scene& scene, const ViewStates& s,
                int part) { return layer_data(scene, s.layer, part); },
     .data_parts = kLayerTables},
    {.id = ViewId::scale,
     .name = "scale",
     .title = "Scale",
     .help = "How far does it scale, and what sets the limit?",
     .pane = Pane::top,
     .key = {.key = Key::n9, .shift = true},
     .keys = kScaleKeys,
     .draw = draws<&ViewStates::scale, draw_scale>,
     .data = [](const Scene&, const ViewStates& s, int part) { return scale_data(s.scale, part); },
     .data_parts = kScaleTables,
     .pages = {static_cast<int>(kScalePages.size()), [](const ViewStates& s) { return s.scale.page; },
               [](ViewStates& s, int page) { s.scale.page = page; }}},
});

// Returns true if the row of each id is the one at its number, complete, and its name is its own.
constexpr bool table_is_whole() {
    for (std::size_t i = 0; i < kTable.size(); ++i) {
        const ViewEntry& e = kTable[i];
        if (static_cast<std::size_t>(e.id) != i || e.draw == nullptr || e.data == nullptr) return false;
        if (e.name.empty() || e.title.empty() || e.help.empty() || e.key.key == Key::none) return false;
        if ((e.moving == nullptr) != (e.draw_moving == nullptr)) return false;
        if ((e.pages.count > 1) != (e.pages.shown != nullptr && e.pages.show != nullptr)) return false;
        for (std::size_t k = 0; k < i; ++k)
            if (kTable[k].name == e.name || kTable[k].key == e.key) return false;
    }
    return true;
}
static_assert(kTable.size() == kViewCount, "each ViewId has a row");
static_assert(table_is_whole(), "each row has an id, a name, a title, help, a key, draw and data");

constexpr auto kNames = [] {
    std::array<std::string_view, kTable.size() + 1> names{kDashboardName};
    for (std::size_t i = 0; i < kTable.size(); ++i) names[i + 1] = kTable[i].name;
    return names;
}();

}  // namespace

std::span<const ViewEntry> view_table() {
    return kTable;
}

const ViewEntry& view_of(ViewId id) {
    return kTable[static_cast<std::size_t>(id)];
}

std::optional<ViewId> view_named(std::string_view name) {
    for (const ViewEntry& e : kTable)
        if (e.name == name) return e.id;
    return std::nullopt;
}

std::vector<ViewId> views_in(Pane pane) {
    std::vector<ViewId> out;
    for (const ViewEntry& e : kTable)
        if (e.pane == pane) out.push_back(e.id);
    return out;
}

std::span<const std::string_view> view_names() {
    return kNames;
}

void begin_lesson_scene(ViewStates& states) {
    show_first_pages(states);
    states.layer.part = 1;
    states.map.style = MapStyle::modifiers;
    states.map.race = {};
    states.step.stragglers.played = {};
    states.mesh.camera = {};
    states.mesh.show_links = true;
    states.timeline.cursor_s = -1;
    states.zoom = {};
}

bool wants_tornado_table(const ViewStates& states) {
    constexpr auto i = static_cast<std::size_t>(ViewId::step);
    return states.as_data[i] && states.data_part[i] == StepViewState::kSensitivityTable;
}

bool plays_with_space(const ViewStates& states, ViewId view) {
    return view == ViewId::layer || (view == ViewId::map && states.map.page == MapPage::wires)
           || (view == ViewId::step && states.step.part == StepViewState::kStragglers);
}

void stand_still(ViewStates& states) {
    states.timeline.playing = false;
    states.layer.playing = false, states.layer.part = 1;
    states.comm.ring.played.playing = states.map.race.played.playing = states.step.stragglers.played.playing =
        false;
    if (states.zoom.begun_s >= 0) states.zoom.camera = states.zoom.to;
    states.zoom.begun_s = -1;
}

}  // namespace pentamesh::ui
