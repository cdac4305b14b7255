// The commands about views: which one fills the window, what the mesh, the map and the timeline show, themes
// and sizes.
#include "app/ui/shell/shell.h"
#include "app/ui/views/timeline/timeline_controls.h"

#include <algorithm>
#include <array>
#include <utility>

namespace pentamesh::ui {

namespace {

struct ViewKey {
    ViewId view;
    Chord chord;
};
constexpr std::array<ViewKey, 9> kViewKeys{{{ViewId::mesh, {.key = Key::n1}},
                                            {ViewId::zoom, {.key = Key::n2}},
                                            {ViewId::shards, {.key = Key::n3}},
                                            {ViewId::map, {.key = Key::n4}},
                                            {ViewId::memory, {.key = Key::n5}},
                                            {ViewId::timeline, {.key = Key::n6}},
                                            {ViewId::comm, {.key = Key::n7}},
                                            {ViewId::tensors, {.key = Key::n0}},
                                            {ViewId::step, {.key = Key::n7, .shift = true}}}};

}  // namespace

bool Shell::has_view(ViewId view) const {
    return std::any_of(kViewKeys.begin(), kViewKeys.end(), [&](const ViewKey& k) { return k.view == view; });
}

void Shell::make_view_commands() {
    for (const ViewKey& k : kViewKeys)
        add({.id = "view." + std::string(picture_name(k.view)),
             .title = std::string(title_of(k.view)) + " in the whole window",
             .menu = "View",
             .chord = k.chord,
             .run = [this, v = k.view] { toggle_full(v); },
             .checked = [this, v = k.view] { return full_ == v; }});
    add({.id = "view.failure",
         .title = "Lose a node: click one in the mesh",
         .menu = "View",
         .chord = ctrl(Key::f),
         .run =
             [this] {
                 mesh_.failure = !mesh_.failure;
                 mesh_.lost_node = -1;
             },
         .checked = [this] { return mesh_.failure; }});
    add({.id = "view.links",
         .title = "Links to the selected GPU's peers",
         .menu = "View",
         .chord = ctrl(Key::l),
         .run = [this] { mesh_.show_links = !mesh_.show_links; },
         .checked = [this] { return mesh_.show_links; }});
    add({.id = "view.experts",
         .title = "Ranks as the experts have them",
         .menu = "View",
         .run =
             [this] {
                 selection_.expert = !selection_.expert;
                 selection_.axis = selection_.expert ? GroupKind::ep : GroupKind::tp;
             },
         .enabled = [this] { return evaluation_.mesh.has_experts; },
         .checked = [this] { return selection_.expert && evaluation_.mesh.has_experts; }});
    add({.id = "view.map_rows",
         .title = "Map: FSDP and SP as rows of their own",
         .menu = "View",
         .run =
             [this] {
                 const bool rows = map_.style == MapStyle::own_rows;
                 map_.style = rows ? MapStyle::modifiers : MapStyle::own_rows;
                 map_.page = MapPage::axes;
                 full_ = ViewId::map;
             },
         .checked = [this] { return map_.style == MapStyle::own_rows; }});
}

void Shell::make_timeline_commands() {
    const auto has_timeline = [this] { return timeline_.current(evaluation_, evaluated_) != nullptr; };
    const auto step = [this](int by) {
        if (const auto* shown = timeline_.current(evaluation_, evaluated_))
            step_cursor(*shown, timeline_, by, selection_.stage);
    };
    add({.id = "timeline.play",
         .title = "Play or pause the timeline",
         .menu = "View",
         .chord = {.key = Key::p},
         .run = [this] { timeline_.playing = !timeline_.playing; },
         .enabled = has_timeline});
    add({.id = "timeline.step",
         .title = "Timeline: next start or end",
         .chord = {.key = Key::period},
         .run = [step] { step(1); },
         .enabled = has_timeline});
    add({.id = "timeline.step_back",
         .title = "Timeline: last start or end",
         .chord = {.key = Key::comma},
         .run = [step] { step(-1); },
         .enabled = has_timeline});
    add({.id = "timeline.critical_path",
         .title = "Critical path of the timeline",
         .menu = "View",
         .run = [this] { timeline_.critical = !timeline_.critical; },
         .checked = [this] { return timeline_.critical; }});
    add({.id = "timeline.two_steps",
         .title = "Two steps back to back in the timeline",
         .menu = "View",
         .run = [this] { timeline_.choice.steps = 3 - timeline_.choice.steps; },
         .checked = [this] { return timeline_.choice.steps > 1; }});
    add({.id = "timeline.slow_stage",
         .title = "Inject a slow stage into the timeline",
         .menu = "View",
         .run =
             [this] {
                 if (timeline_.choice.slow.any())
                     timeline_.choice.slow = {};
                 else
                     inject(timeline_, std::max(0, selection_.stage), 1);
             },
         .checked = [this] { return timeline_.choice.slow.any(); }});
}

void Shell::make_look_commands() {
    for (int i = 0; i < kThemeCount; ++i) {
        const auto id = static_cast<ThemeId>(i);
        add({.id = "theme." + std::string(name_of(id)),
             .title = "Theme: " + std::string(name_of(id)),
             .menu = "View",
             .separator = i == 0,
             .run = [this, id] { settings_.theme = id; },
             .checked = [this, id] { return settings_.theme == id; }});
    }
    add({.id = "view.larger",
         .title = "Larger",
         .menu = "View",
         .chord = ctrl(Key::equal),
         .separator = true,
         .run = [this] { settings_.scale = std::min(4.0f, settings_.scale * 1.125f); }});
    add({.id = "view.smaller", .title = "Smaller", .menu = "View", .chord = ctrl(Key::minus), .run = [this] {
             settings_.scale = std::max(0.5f, settings_.scale / 1.125f);
         }});
    add({.id = "view.normal", .title = "Normal size", .menu = "View", .chord = ctrl(Key::n0), .run = [this] {
             settings_.scale = 1;
         }});
    add({.id = "view.fullscreen",
         .title = "Full screen",
         .menu = "View",
         .chord = {.key = Key::f11},
         .run =
             [this] {
                 fullscreen_ = !fullscreen_;
                 host_.set_fullscreen(fullscreen_);
             },
         .enabled = [this] { return static_cast<bool>(host_.set_fullscreen); }});
}

}  // namespace pentamesh::ui
