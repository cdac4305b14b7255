#include "app/ui/views/table.h"

#include "app/ui/panels/inspector.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/mesh_run.h"
#include "app/ui/views/mesh/mesh_token.h"
#include "core/plan/problem.h"
#include "core/plan/stand_in.h"

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr KeyHelp kMeshKeys[] = {{"arrows", "walk the ranks"},
                                 {"[  ]", "previous, next axis of the mesh, the map"}};
constexpr KeyHelp kMapKeys[] = {{"[  ]", "previous, next axis of the mesh, the map"},
                                {"Space, left, right", "play the race of the wires, a step back, on"}};
constexpr KeyHelp kLayerKeys[] = {{"Space, P", "play or pause the layer"},
                                  {",  .", "a step of the layer back, on, where it fills the window"}};
constexpr KeyHelp kZoomKeys[] = {{"Enter, Backspace", "a column of the zoom fills the view, back"}};
constexpr KeyHelp kSearchKeys[] = {{"click, Shift+click", "open a layout of the search, compare it"}};
constexpr KeyHelp kScaleKeys[] = {{"click", "make a value of the chart the plan's"}};
constexpr KeyHelp kTimelineKeys[] = {{"press on the ruler", "set the timeline's cursor"}};

constexpr std::string_view kMeshTables[] = {"axes", "groups", "all kinds", "zoom", "token", "the run"};
constexpr int kZoomTable = 3, kTokenTable = 4, kZoomPage = 3, kTokenPage = 4;
constexpr std::string_view kLayerTables[] = {"steps", "said, by axis"};
constexpr std::string_view kMemoryPages[] = {"stages", "saved", "sheds"};
constexpr std::string_view kMemoryTables[] = {"stages", "what each axis saved", "ZeRO 0 to 3"};
constexpr std::string_view kTimelineTables[] = {"operations", "stages"};
constexpr std::string_view kCommTables[] = {"calls", "who to whom", "one call",
                                            "lanes", "one layer",   "measured"};
constexpr std::string_view kStepTables[] = {"time",     "rates",       "constants",
                                            "software", "sensitivity", "measured"};
constexpr std::string_view kSearchTables[] = {"results", "rejected"};
constexpr KeyHelp kShardsKeys[] = {{"Left, Right", "cp in tokens: a hop back, on"}};
constexpr std::string_view kScaleTables[] = {"points", "what turns"};
constexpr std::string_view kCompareTables[] = {"figures", "what differs", "why", "path", "move"};
constexpr std::string_view kShardsTables[] = {"shown", "parameters", "gradients", "optimizer", "activations"};

std::uint64_t highlighted_stage(const Hover& hover, const ViewStates&) {
    return static_cast<std::uint64_t>(hover.stage + 1) << 40U;
}

// Names the axis whose row is under the mouse; the table of the mesh and the zoom name the GPU too, whose
// rows and boxes they mark, as the rows of the page Token do, and the zoom the stage.
std::uint64_t highlighted_groups_of(const Hover& hover, const ViewStates& states) {
    const bool marks = states.mesh.zooms || states.mesh.token.shown
                       || states.as_data[static_cast<std::size_t>(ViewId::mesh)];
    return (hover.group ? static_cast<std::uint64_t>(*hover.group) + 1 : 0) << 56U
           ^ (states.mesh.zooms ? highlighted_stage(hover, states) : 0)
           ^ (marks ? static_cast<std::uint64_t>(hover.rank + 1) : 0);
}

// Returns true if a page is shown whose cells move with the mouse.
bool has_cells(const MeshViewState& mesh) {
    return !mesh.zooms && !mesh.token.shown;
}

void pick_operation(Scene& scene, const ViewRow& row) {
    if (row.part != 0) return;
    scene.selection.operation = row.index;
    scene.selection.topic = Selection::Topic::operation;
}

void pick_tensor(Scene& scene, const ViewRow& row) {
    if (row.part != 1) return;
    scene.selection.tensor = row.index;
    scene.selection.activation = -1;
    scene.selection.tensor_state = TensorState::parameters;
    scene.selection.topic = Selection::Topic::tensor;
}

// Draws a view by its own function, with its own state.
template <auto State, auto Draw>
Effects draws(Ui& ui, Rect head, Rect room, Scene& scene, ViewStates& s, std::uint64_t revision) {
    if constexpr (std::is_void_v<decltype(Draw(ui, head, room, scene, s.*State, revision))>)
        return Draw(ui, head, room, scene, s.*State, revision), Effects();
    else
        return Draw(ui, head, room, scene, s.*State, revision);
}

constexpr int kMapPageCount = static_cast<int>(kMapPages.size());

constexpr auto kTable = std::to_array<ViewEntry>({
    {.id = ViewId::map,
     .name = "map",
     .title = "Map",
     .help = "What does each axis do for this plan, and what does it cost?",
     .pane = Pane::top,
     .key = {.key = Key::n1},
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
               }},
     .leaves_out_wires = [](const ViewStates& s) { return s.map.page == MapPage::wires; }},
    {.id = ViewId::mesh,
     .name = "mesh",
     .title = "Mesh",
     .help = "Who talks to whom?",
     .pane = Pane::top,
     .key = {.key = Key::n2},
     .keys = kMeshKeys,
     .draw = [](Ui& ui, Rect head, Rect room, Scene& scene, ViewStates& s,
                std::uint64_t revision) -> Effects {
         if (s.mesh.zooms) {
             draw_page_switch(ui, head, room, scene, s.mesh);
             if (scene.evaluation.valid)
                 draw_zoom(ui, head, room, scene, s.zoom, revision);
             else
                 draw_void(ui, room, scene);
             return {};
         }
         if (s.mesh.token.shown) return draw_token(ui, head, room, scene, s.mesh, s.shards.loads, revision);
         return draw_mesh_words(ui, head, room, scene, s.mesh, s.shards.loads, s.compare.pinned(), revision);
     },
     .data =
         [](const Scene& scene, const ViewStates& s, int part) {
             return part == kZoomTable    ? zoom_data(scene, s.zoom)
                    : part == kTokenTable ? token_data(scene, s.shards.loads)
                                          : mesh_data(scene, part);
         },
     .data_parts = kMeshTables,
     .run_parts = 1,
     .data_follows_plan = true,
     .data_changes = 1U << kZoomTable | 1U << kTokenTable,
     .draws_void = true,
     .pages = {kTokenPage + 1,
               [](const ViewStates& s) {
                   return s.mesh.token.shown ? kTokenPage
                          : s.mesh.zooms     ? kZoomPage
                          : s.mesh.folds     ? 2
                          : s.mesh.both      ? 1
                                             : 0;
               },
               [](ViewStates& s, int page) {
                   s.mesh.both = page == 1, s.mesh.folds = page == 2, s.mesh.zooms = page == kZoomPage;
                   s.mesh.token = {.shown = page == kTokenPage, .costs = s.mesh.token.costs};
               }},
     .pick_row =
         [](Scene& scene, const ViewRow& row) {
             if (row.part == kTokenTable) return pick_token_row(scene, row.cells);
             pick_mesh_row(scene, row.part, row.cells);
         },
     .hover_row =
         [](Scene& scene, const ViewRow& row) {
             if (row.part == kTokenTable) return hover_token_row(scene, row.cells);
             hover_mesh_row(scene, row.part, row.cells);
         },
     .marks_row = [](const Scene& scene,
                     const ViewRow& row) { return marks_mesh_row(scene, row.part, row.cells); },
     .picture_below = true,
     .highlighted_by = highlighted_groups_of,
     .moving = [](const ViewStates& s) { return has_cells(s.mesh) ? moving_in_mesh(s.mesh) : Rect{}; },
     .draw_moving =
         [](Ui& ui, Scene& scene, ViewStates& s) {
             return has_cells(s.mesh) ? draw_mesh_cells(ui, scene, s.mesh) : void();
         }},
    {.id = ViewId::shards,
     .name = "shards",
     .title = "Shards",
     .help = "What is cut, what is copied?",
     .pane = Pane::top,
     .key = {.key = Key::n3},
     .keys = kShardsKeys,
     .draw = draws<&ViewStates::shards, draw_shards>,
     .data = [](const Scene& scene, const ViewStates& s,
                int part) { return part > 0 ? tensors_data(scene, part - 1) : shards_data(scene, s.shards); },
     .data_parts = kShardsTables,
     .pages = {kTensorsPage + 1,
               [](const ViewStates& s) {
                   using Shows = ShardsViewState::Shows;
                   return s.shards.shows == Shows::loaf   ? kLoafPage
                          : s.shards.shows == Shows::list ? kTensorsPage
                                                          : static_cast<int>(s.shards.state);
               },
               [](ViewStates& s, int page) {
                   using Shows = ShardsViewState::Shows;
                   s.shards.shows = page == kLoafPage      ? Shows::loaf
                                    : page == kTensorsPage ? Shows::list
                                                           : Shows::tensors;
                   if (page < kLoafPage) s.shards.state = static_cast<TensorState>(page);
               },
               kLoafPage},
     .pick_row = pick_tensor,
     .leaves_out_figures =
         [](const ViewStates& s) { return s.shards.shows == ShardsViewState::Shows::loaf; }},
    {.id = ViewId::memory,
     .name = "memory",
     .title = "Memory",
     .help = "What does each GPU hold?",
     .pane = Pane::middle,
     .key = {.key = Key::n4},
     .draw = draws<&ViewStates::memory, draw_memory>,
     .data = [](const Scene& scene, const ViewStates&, int part) { return memory_data(scene, part); },
     .data_parts = kMemoryTables,
     .data_follows_plan = true,
     .draws_void = true,
     .pages = {static_cast<int>(std::size(kMemoryPages)),
               [](const ViewStates& s) { return static_cast<int>(s.memory.page); },
               [](ViewStates& s, int page) { s.memory.page = static_cast<MemoryPage>(page); }},
     .highlighted_by = highlighted_stage},
    {.id = ViewId::timeline,
     .name = "timeline",
     .title = "Timeline",
     .help = "When does each stage work?",
     .pane = Pane::bottom,
     .key = {.key = Key::n5},
     .keys = kTimelineKeys,
     .draw = draws<&ViewStates::timeline, draw_timeline>,
     .data = [](const Scene& scene, const ViewStates&, int part) { return timeline_data(scene, part); },
     .data_parts = kTimelineTables,
     .data_follows_plan = true,
     .highlighted_by = highlighted_stage},
    {.id = ViewId::comm,
     .name = "comm",
     .title = "Communication",
     .help = "What do they say to each other?",
     .pane = Pane::bottom,
     .key = {.key = Key::n6},
     .draw = draws<&ViewStates::comm, draw_comm>,
     .data = [](const Scene& scene, const ViewStates&, int part) { return comm_data(scene, part); },
     .data_parts = kCommTables,
     .run_parts = 1,
     .pages = {CommViewState::kParts, [](const ViewStates& s) { return s.comm.part; },
               [](ViewStates& s, int page) { s.comm.part = page; }},
     .pick_row = pick_operation},
    {.id = ViewId::step,
     .name = "step",
     .title = "Step",
     .help = "How long is a step, and where does its time go?",
     .pane = Pane::bottom,
     .key = {.key = Key::n7},
     .draw = draws<&ViewStates::step, draw_step>,
     .data = [](const Scene& scene, const ViewStates& s, int part) { return step_data(scene, s.step, part); },
     .data_parts = kStepTables,
     .run_parts = 1,
     .draws_void = true,
     .pages = {
         StepViewState::kMeasured + 1, [](const ViewStates& s) { return s.step.part; },
         [](ViewStates& s, int page) { s.step.part = page; }}},  // its constants can be edited all the same
    {.id = ViewId::layer,
     .name = "layer",
     .title = "Layer",
     .help = "What happens inside one layer, step by step?",
     .pane = Pane::top,
     .key = {.key = Key::n8},
     .keys = kLayerKeys,
     .draw = draws<&ViewStates::layer, draw_layer>,
     .data = [](const Scene& scene, const ViewStates& s,
                int part) { return layer_data(scene, s.layer, part); },
     .data_parts = kLayerTables,
     .leaves_out_messages = [](const ViewStates& s) { return shows_matrices(s.layer.choice); }},
    {.id = ViewId::search,
     .name = "search",
     .title = "Search",
     .help = "Which layout is best?",
     .pane = Pane::top,
     .key = {.key = Key::n9},
     .keys = kSearchKeys,
     .draw = [](Ui& ui, Rect head, Rect room, Scene& scene, ViewStates& s, std::uint64_t) -> Effects {
         return draw_search(ui, head, room, scene, s.search, s.compare);
     },
     .data = [](const Scene& scene, const ViewStates& s,
                int part) { return search_data(scene, s.search, part); },
     .data_parts = kSearchTables,
     .draws_void = true,  // other layouts of the same model may be possible
     .data_void = true},
    {.id = ViewId::compare,
     .name = "compare",
     .title = "Compare",
     .help = "In what do plans differ, and why is one faster?",
     .pane = Pane::top,
     .key = {.key = Key::n0},
     .draw = draws<&ViewStates::compare, draw_compare>,
     .data = [](const Scene& scene, const ViewStates& s,
                int part) { return compare_data(scene, s.compare, part); },
     .data_parts = kCompareTables,
     .pages = {static_cast<int>(kComparePages.size()), [](const ViewStates& s) { return s.compare.page; },
               [](ViewStates& s, int page) { s.compare.page = page; }}},
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

constexpr NamedPage kNamedPages[] = {
    {.name = "zoom",
     .title = "Mesh: zoom",
     .help = "Where is one tensor's piece?",
     .view = ViewId::mesh,
     .page = kZoomPage,
     .key = {.key = Key::n2, .shift = true},
     .keys = kZoomKeys},
    {.name = "tensors",
     .title = "Shards: list of tensors",
     .help = "Which shape has each tensor, and which part of it is on one GPU?",
     .view = ViewId::shards,
     .page = kTensorsPage,
     .key = {.key = Key::n3, .shift = true}}};

constexpr auto kNames = [] {
    std::array<std::string_view, kTable.size() + std::size(kNamedPages) + 1> names{kDashboardName};
    std::size_t n = 1;
    for (const ViewEntry& e : kTable) names[n++] = e.name;
    for (const NamedPage& p : kNamedPages) names[n++] = p.name;
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
    for (const NamedPage& p : kNamedPages)
        if (p.name == name) return p.view;
    return std::nullopt;
}

std::span<const NamedPage> named_pages() {
    return kNamedPages;
}

bool is_shown(const ViewStates& states, const NamedPage& page) {
    return view_of(page.view).pages.shown(states) == page.page;
}

bool leave_named_page(ViewStates& states, ViewId view) {
    for (const NamedPage& p : kNamedPages)
        if (p.view == view && is_shown(states, p)) {
            view_of(view).pages.show(states, view_of(view).pages.first);
            return true;
        }
    return false;
}

std::optional<ViewId> show_named_view(ViewStates& states, std::string_view name) {
    for (const NamedPage& p : kNamedPages)
        if (p.name == name) view_of(p.view).pages.show(states, p.page);
    return view_named(name);
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
    choose_figure(states.mesh, 0);
    states.zoom = {};
}

bool wants_tornado_table(const ViewStates& states) {
    constexpr auto i = static_cast<std::size_t>(ViewId::step);
    return states.as_data[i] && states.data_part[i] == StepViewState::kSensitivityTable;
}

bool plays_with_space(const ViewStates& states, ViewId view) {
    return (view == ViewId::layer && !shows_matrices(states.layer.choice))
           || (view == ViewId::map && states.map.page == MapPage::wires)
           || (view == ViewId::step && states.step.part == StepViewState::kStragglers);
}

void stand_still(ViewStates& states) {
    states.timeline.playing = false;
    states.layer.playing = false, states.layer.part = 1;
    states.comm.ring.played.playing = states.map.race.played.playing = states.step.stragglers.played.playing =
        false;
    states.mesh.menu = MeshMenu::none, states.mesh.goes_to = false;
    states.zoom.begun_s = -1;
}

namespace {

constexpr std::string_view kMeshPages[] = {"places", "both", "fold", "zoom", "token"};
constexpr std::string_view kShardsPages[] = {
    "parameters", "gradients",  "optimizer", "activations", "loaf",     "tensors", "dp alone",
    "zero alone", "fsdp alone", "tp alone",  "cp alone",    "pp alone", "ep alone"};
constexpr std::string_view kMapPagesSaved[] = {"axes", "names", "wires", "choose", "tables", "compact"};
constexpr std::string_view kCommPages[] = {"calls", "heat", "ring", "measured", "lanes", "layer"};
constexpr std::string_view kLayerPages[] = {"plan",     "dp alone", "fsdp alone", "tp alone",
                                            "tp steps", "cp alone", "ep alone"};

std::span<const std::string_view> pages_of(ViewId view) {
    switch (view) {
    case ViewId::mesh: return kMeshPages;
    case ViewId::shards: return kShardsPages;
    case ViewId::map: return kMapPagesSaved;
    case ViewId::memory: return kMemoryPages;
    case ViewId::comm: return kCommPages;
    case ViewId::step: return kStepPages;
    case ViewId::layer: return kLayerPages;
    case ViewId::compare: return kComparePages;
    case ViewId::scale: return kScalePages;
    default: return {};
    }
}

// Pages that show only one axis.
struct AlonePage {
    std::string_view name;
    Strategy strategy;
};
constexpr AlonePage kShardsAlone[] = {{"dp alone", Strategy::ddp},    {"zero alone", Strategy::zero1},
                                      {"fsdp alone", Strategy::fsdp}, {"tp alone", Strategy::tp},
                                      {"cp alone", Strategy::cp},     {"pp alone", Strategy::pp},
                                      {"ep alone", Strategy::ep}};
struct AloneLayer {
    std::string_view name;
    AloneAxis axis;
    LayerPart part = LayerPart::both;  // the one that the axis is about
    bool steps = false;
};
constexpr AloneLayer kLayerAlone[] = {{"dp alone", AloneAxis::dp},
                                      {"fsdp alone", AloneAxis::fsdp},
                                      {"tp alone", AloneAxis::tp},
                                      {"tp steps", AloneAxis::tp, LayerPart::both, true},
                                      {"cp alone", AloneAxis::cp_ring, LayerPart::attention},
                                      {"ep alone", AloneAxis::ep, LayerPart::mlp}};

}  // namespace

std::span<const LessonView> lesson_views() {
    static const std::vector<LessonView> views = [] {
        std::vector<LessonView> out{{kDashboardName}};
        for (const ViewEntry& e : view_table()) out.push_back({e.name, pages_of(e.id)});
        for (const NamedPage& p : kNamedPages) out.push_back({p.name});
        return out;
    }();
    return views;
}

bool show_named_page(ViewStates& states, ViewId view, std::string_view page) {
    const auto named = [&](const auto& p) { return p.name == page; };
    if (view == ViewId::layer) {
        const auto at = std::find_if(std::begin(kLayerAlone), std::end(kLayerAlone), named);
        states.layer.choice.alone = at != std::end(kLayerAlone);
        if (states.layer.choice.alone) {
            states.layer.choice.axis = at->axis, states.layer.choice.steps = at->steps;
            states.layer.choice.part = at->part;
        }
        return states.layer.choice.alone || page == kLayerPages[0];
    }
    if (view == ViewId::shards) {
        const auto at = std::find_if(std::begin(kShardsAlone), std::end(kShardsAlone), named);
        if (at != std::end(kShardsAlone)) {
            states.shards.shows = ShardsViewState::Shows::one_axis;
            states.shards.picker.strategy = at->strategy;
            states.shards.picker.as_tokens = at->strategy == Strategy::cp;
            return true;
        }
    }
    const auto names = pages_of(view);
    const auto at = std::find(names.begin(), names.end(), page);
    const ViewPages& pages = view_of(view).pages;
    if (at == names.end() || at - names.begin() >= pages.count) return false;
    pages.show(states, static_cast<int>(at - names.begin()));
    return true;
}

void show_first_pages(ViewStates& states) {
    OpenPages first;
    for (const ViewEntry& e : view_table()) first.page[static_cast<std::size_t>(e.id)] = e.pages.first;
    show_open_pages(states, first);
    states.shards.isolate = -1;
    states.layer.at = LayerViewState::kTelling;  // a lesson asks what a cut makes them say
}

OpenPages open_pages(const ViewStates& states) {
    OpenPages out;
    for (const ViewEntry& e : view_table())
        if (e.pages.shown != nullptr) out.page[static_cast<std::size_t>(e.id)] = e.pages.shown(states);
    out.shards = states.shards.shows;
    out.strategy = states.shards.picker.strategy;
    out.cp_as_tokens = states.shards.picker.as_tokens;
    out.layer = states.layer.choice;
    const TimelineViewState& t = states.timeline;
    out.timeline = t.choice, out.second_schedule = t.second, out.critical = t.critical;
    out.from_s = t.from_s, out.to_s = t.to_s, out.cursor_s = t.cursor_s;
    out.hidden_memory = states.memory.hidden;
    return out;
}

void show_open_pages(ViewStates& states, const OpenPages& pages) {
    for (const ViewEntry& e : view_table())
        if (e.pages.show != nullptr) e.pages.show(states, pages.page[static_cast<std::size_t>(e.id)]);
    states.shards.shows = pages.shards;
    states.shards.picker.strategy = pages.strategy;
    states.shards.picker.as_tokens = pages.cp_as_tokens;
    states.shards.tokens.rank = states.shards.tokens.round = -1;
    states.layer.choice = pages.layer;
    TimelineViewState& t = states.timeline;
    t.choice = pages.timeline, t.second = pages.second_schedule, t.critical = pages.critical;
    t.from_s = pages.from_s, t.to_s = pages.to_s, t.cursor_s = pages.cursor_s;
    states.memory.hidden = pages.hidden_memory;
}

namespace {

constexpr float kTabGap = 16, kMoreWidth = 20;

struct Tabs {
    std::vector<ViewId> shown;
    std::optional<ViewId> next;  // the first that has no room
};

// Lists the siblings in their order. Where the row has no room for all, the current one comes first and those
// after it follow, as in a ring.
Tabs tabs_in(Ui& ui, float room, ViewId current, bool every) {
    Tabs out;
    for (const Pane pane : {Pane::top, Pane::middle, Pane::bottom})
        if (every || pane == view_of(current).pane)
            for (const ViewId v : views_in(pane)) out.shown.push_back(v);
    const auto width = [&](ViewId v) {
        const TextStyle s = v == current ? ui.title() : ui.style(13);
        return ui.canvas().text_width(view_of(v).title, s) + kTabGap;
    };
    float sum = 0;
    for (const ViewId v : out.shown) sum += width(v);
    if (sum - kTabGap <= room) return out;
    std::rotate(out.shown.begin(), std::find(out.shown.begin(), out.shown.end(), current), out.shown.end());
    float used = width(current) + kMoreWidth;
    std::size_t n = 1;
    while (n < out.shown.size() && used + width(out.shown[n]) <= room) used += width(out.shown[n++]);
    out.next = out.shown[n % out.shown.size()];
    out.shown.resize(n);
    return out;
}

}  // namespace

ViewHead view_head(Ui& ui, Rect& room, ViewId current, bool& as_data, HeadLinks links) {
    ViewHead head;
    Rect row = room.cut_top(24);
    const bool shows_links = !links.quiet || ui.hovers(row);
    room.cut_top(4);
    Canvas& c = ui.canvas();
    const Tabs tabs = links.bare ? Tabs{{current}, {}} : tabs_in(ui, row.w, current, links.every);
    for (const ViewId v : tabs.shown) {
        const ViewEntry& entry = view_of(v);
        const bool own = v == current;
        TextStyle s = own ? ui.title() : ui.style(13, Tone::secondary);
        const float w = c.text_width(entry.title, s);
        const Rect tab = row.cut_left(w + kTabGap);
        const Rect box{tab.x - 4, tab.y, w + 8, tab.h};
        const Hit hit = ui.area("view." + std::string(entry.name), box);
        if (hit.hovered) {
            s.color = ui.theme().text;
            ui.tooltip(std::string(entry.title) + "\n" + std::string(entry.help) + "  ("
                       + chord_text(entry.key) + ")");
        }
        c.text_in({tab.x, tab.y, w + 2, tab.h}, entry.title, s);
        if (hit.focused) ui.focus_ring(box, 4);
        if (own && hit.double_clicked) head.full = true;
        if (!own && hit.clicked) head.switch_to = v;
    }
    if (tabs.next) {
        const Rect more = row.cut_left(kMoreWidth);
        const Hit hit = ui.area("view.next", more);
        if (hit.hovered) ui.tooltip("More views here; the next is " + std::string(view_of(*tabs.next).title));
        c.text_in(more, "›", ui.style(13, hit.hovered ? Tone::text : Tone::secondary), Align::center);
        if (hit.focused) ui.focus_ring(more, 4);
        if (hit.clicked) head.switch_to = tabs.next;
    }
    const auto link = [&](std::string_view name, std::string_view label, std::string_view card) {
        const float w = c.text_width(label, ui.small()) + 2;
        if (row.w <= w + 60) return false;
        const Rect place = row.cut_right(w);
        row.cut_right(16);
        const Hit hit = ui.area(name, place, static_cast<std::uint64_t>(current));
        if (shows_links || hit.focused)
            c.text_in(place, label, ui.small(hit.hovered ? Tone::text : Tone::secondary), Align::right);
        if (hit.hovered && !card.empty()) ui.tooltip(std::string(card));
        if (hit.focused) ui.focus_ring(place, 3);
        return hit.clicked;
    };
    if (links.bare) {
        head.row = row;
        return head;
    }
    if (links.dashboard && link("view.dashboard", "dashboard", "Back to all panes  (Esc)")) head.full = true;
    if (links.panels && link("view.panels", "panels", "The plan and the figures next to it  (\\)"))
        head.panels = true;
    if (link("view.data", as_data ? "show as picture" : "show as data", {})) as_data = !as_data;
    head.row = row;
    return head;
}

Table data_of(const Scene& scene, ViewId view, const ViewStates& states) {
    if (scene.evaluation.valid || view_of(view).data_void)
        return view_of(view).data(scene, states, states.data_part[static_cast<std::size_t>(view)]);
    const ViewEntry& entry = view_of(view);
    const std::size_t part = static_cast<std::size_t>(states.data_part[static_cast<std::size_t>(view)]);
    if (is_stand_in(scene.plan) && scene.run != nullptr && part + entry.run_parts >= entry.data_parts.size())
        return entry.data(scene, states, static_cast<int>(part));
    Table none;
    none.columns = {{"no figures, because"}};
    none.rows = {
        {is_stand_in(scene.plan) ? "the run's plan is not known" : first_error(scene.evaluation.problems)}};
    return none;
}

bool wants_plan(const Scene& scene, ViewId view, const ViewStates& states) {
    if (!is_stand_in(scene.plan) || states.as_data[static_cast<std::size_t>(view)]) return false;
    switch (view) {
    case ViewId::mesh: return !has_hang(scene) || states.mesh.zooms || states.mesh.token.shown;
    case ViewId::step: return !has_measured(scene);
    case ViewId::comm: return !has_run(scene);
    default: return true;
    }
}

Rect draw_plan_wanted(Ui& ui, Rect room) {
    Canvas& c = ui.canvas();
    constexpr std::string_view
        kWhat = "Give the run's plan",
        kWhy = "The run does not say its model and its cluster: open its plan, or paste the "
               "script that started it. The run stays open.";
    constexpr float kRow = 26, kLine = 18;
    const float w = std::min(520.0f, room.w - 16);
    if (w < 100 || room.h < 24) return {};
    const TextStyle faint = ui.style(13, Tone::secondary);
    const float words = c.paragraph_height(w, kWhy, faint, kLine), all = 24 + words + 8 + kRow;
    Rect box{room.center().x - w / 2, std::max(room.y, room.center().y - all / 2), w, std::min(all, room.h)};
    const Canvas::Clip clip = c.clip(room);
    c.text_in(box.cut_top(24), kWhat, ui.title());
    if (box.h >= words + kRow + 8) c.paragraph(box.cut_top(words + 8), kWhy, faint, kLine);
    return box.h >= kRow ? box.cut_top(kRow) : Rect{};
}

namespace {

// Cuts the place of the picture off that of its table, where both have room.
Rect cut_picture(Ui& ui, Rect& room, const Table& table) {
    constexpr float kLeastPicture = 230, kGap = 12;
    const float most = room.h - kLeastPicture - kGap;
    if (ui.state().for_picture || most < 160) return {};
    const float whole = table_height(ui, room.w, table);
    return room.cut_bottom(room.h - kGap - (whole <= most ? whole : most * 0.5f));
}

// Draws one of the view's tables, and the choice of which; below it the picture, where the two mark each
// other's parts.
Effects draw_data(Ui& ui, Rect head_row, Rect room, Scene& scene, ViewId view, ViewStates& states,
                  std::uint64_t revision) {
    const auto i = static_cast<std::size_t>(view);
    const ViewEntry& entry = view_of(view);
    int& part = states.data_part[i];
    const auto parts = entry.data_parts.first(entry.data_parts.size() - (scene.run ? 0 : entry.run_parts));
    if (part >= std::max(1, static_cast<int>(parts.size()))) part = 0;
    if (!parts.empty() && (scene.evaluation.valid || entry.data_void || is_stand_in(scene.plan))) {
        const Rect place = head_place(head_row, room, segments_width(ui, parts));
        const int picked = ui.segments("data.part", place, parts, part);
        if (picked != part) part = picked, states.tables[i] = {};
    }
    const auto make = [&] { return data_of(scene, view, states); };
    const bool follows = entry.data_follows_plan && (entry.data_changes >> part & 1U) == 0;
    const Table changing = follows ? Table{} : make();
    const Table& table = follows ? states.kept_tables[i].get({revision, part}, make) : changing;
    const bool valid = scene.evaluation.valid;
    const Rect below = entry.picture_below && valid ? cut_picture(ui, room, table) : Rect{};
    const auto row_of = [&](int index) {
        return ViewRow{part, index, table.rows[static_cast<std::size_t>(index)]};
    };
    RowLooks looks;
    if (valid && entry.marks_row != nullptr)
        looks.marked = [&](std::size_t r) { return entry.marks_row(scene, row_of(static_cast<int>(r))); };
    TableState& state = states.tables[i];
    const int row = draw_table(ui, "data." + std::string(entry.name), room, table, state, -1, looks);
    if (valid && entry.hover_row != nullptr && state.hovered >= 0)
        entry.hover_row(scene, row_of(state.hovered));
    if (row >= 0 && valid && entry.pick_row != nullptr) entry.pick_row(scene, row_of(row));
    states.with_picture[i] = below.h > 0;
    if (!states.with_picture[i]) return {};
    Rect picture = below;
    const Rect switches = picture.cut_top(24);
    picture.cut_top(4);
    return entry.draw(ui, switches, picture, scene, states, revision);
}

// Returns true if the picture of a view is drawn.
bool shows_picture(ViewId view, const ViewStates& states) {
    const auto i = static_cast<std::size_t>(view);
    return !states.as_data[i] || states.with_picture[i];
}

}  // namespace

Effects draw_view_body(Ui& ui, Rect head_row, Rect room, Scene& scene, ViewId view, ViewStates& states,
                       std::uint64_t revision) {
    const auto i = static_cast<std::size_t>(view);
    const ViewEntry& entry = view_of(view);
    if (wants_plan(scene, view, states)) {
        static_cast<void>(draw_plan_wanted(ui, room));
        return {};
    }
    if (is_stand_in(scene.plan) && !states.as_data[i]) {
        if (view == ViewId::mesh) return entry.draw(ui, head_row, room, scene, states, revision);
        if (view == ViewId::comm)
            draw_measured_calls(ui, room, scene, states.comm);
        else
            draw_measured(ui, room, scene, states.step);
        return {};
    }
    if (!states.as_data[i] && !scene.evaluation.valid && !entry.draws_void) {
        draw_void(ui, room, scene);
        return {};
    }
    if (!states.as_data[i]) return entry.draw(ui, head_row, room, scene, states, revision);
    return draw_data(ui, head_row, room, scene, view, states, revision);
}

Rect moving_in_view(ViewId view, const ViewStates& states) {
    const ViewEntry& entry = view_of(view);
    const bool has = entry.moving != nullptr && shows_picture(view, states);
    return has ? entry.moving(states) : Rect{};
}

void draw_view_moving(Ui& ui, Scene& scene, ViewId view, ViewStates& states) {
    const ViewEntry& entry = view_of(view);
    if (entry.draw_moving != nullptr && shows_picture(view, states) && !wants_plan(scene, view, states))
        entry.draw_moving(ui, scene, states);
}

bool is_covered(const HiddenAnswer& hidden, ViewId view, const ViewStates& states) {
    const ViewEntry& entry = view_of(view);
    if (!hidden.covers(entry.name)) return false;
    if (states.as_data[static_cast<std::size_t>(view)]) return true;
    const auto leaves_out = [&](bool asked, bool (*leaves)(const ViewStates&)) {
        return asked && leaves != nullptr && leaves(states);
    };
    return !leaves_out(hidden.of_messages, entry.leaves_out_messages)
           && !leaves_out(hidden.of_wires, entry.leaves_out_wires)
           && !leaves_out(hidden.of_other_plans, entry.leaves_out_figures);
}

void draw_cover(Ui& ui, Rect room) {
    Canvas& c = ui.canvas();
    const bool narrow = room.w < 300;  // the panel of the plan
    const float w = std::min(420.0f, room.w - 32), h = narrow ? 128.0f : 96.0f;
    if (w < 120) return;
    const Rect plate{room.center().x - w / 2, room.center().y - h / 2, w, h};
    c.rect(plate, ui.theme().panel, 8);
    c.frame(plate, ui.theme().hairline, 1, 8, Dash::dashed);
    Rect text = plate.inset(20, 18);
    constexpr std::string_view kWhat = "The answer stands here",
                               kWhen = "It is shown as soon as you have said what you think.";
    const TextStyle faint = ui.style(13, Tone::secondary);
    c.text_in(text.cut_top(24), kWhat, ui.title(), narrow ? Align::left : Align::center);
    text.cut_top(4);
    if (narrow)
        c.paragraph(text, kWhen, faint, 20);
    else
        c.text_in(text.cut_top(20), kWhen, faint, Align::center);
}

namespace {

void draw_titled_view(Ui& ui, Rect room, Scene& scene, ViewId view, ViewStates& states,
                      std::uint64_t revision) {
    Canvas& c = ui.canvas();
    const Canvas::Clip clip = c.clip(room.inset(-2));
    Rect head = room.cut_top(24);
    room.cut_top(4);
    const std::string_view title = view_of(view).title;
    const float w = c.text_width(title, ui.title());
    c.text_in(head, title, ui.title());
    head.cut_left(w + 16);
    (void)draw_view_body(ui, head, room, scene, view, states, revision);
    draw_view_moving(ui, scene, view, states);
}

}  // namespace

void draw_view_sheet(Ui& ui, Scene& scene, ViewId view, ViewStates& states, std::uint64_t revision,
                     const ViewSheet& around) {
    const Vec2 size = ui.frame().size;
    Canvas& c = ui.canvas();
    c.rect({0, 0, size.x, size.y}, ui.theme().window);
    Rect room = Rect{0, 0, size.x, size.y}.inset(24, 18);
    if (!around.title.empty()) {
        const TextStyle style{Face::semibold, 16, ui.theme().text, 0};
        room.cut_top(c.paragraph(room, around.title, style, 24));  // a long one goes on below
    }
    if (!around.caption.empty()) room.cut_top(c.paragraph(room, around.caption, ui.small(), 18) + 8);
    const Rect status = room.cut_bottom(24);
    if (around.covered)
        draw_cover(ui, room);
    else
        draw_titled_view(ui, room, scene, view, states, revision);
    draw_status(ui, {status.x - 16, status.y, status.w + 32, status.h}, scene, -1, nullptr,
                around.figures_covered, true, around.memory_said);
}

}  // namespace pentamesh::ui
