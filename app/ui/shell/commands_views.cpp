// The commands about views: which one fills the window, what the mesh, the map and the timeline show, themes
// and sizes.
#include "app/ui/shell/shell.h"
#include "app/ui/views/timeline/timeline_controls.h"
#include "core/mesh/rank_list.h"

#include <algorithm>
#include <array>
#include <utility>

namespace pentamesh::ui {

void Shell::make_view_commands() {
    for (const ViewEntry& v : view_table())
        add({.id = "view." + std::string(v.name),
             .title = std::string(v.title) + " in the whole window",
             .menu = "View",
             .chord = v.key,
             .run = [this, id = v.id] { toggle_full(id); },
             .checked = [this, id = v.id] { return full_ == id; }});
    add({.id = "view.failure",
         .title = "Lose a node: click one in the mesh",
         .menu = "View",
         .chord = ctrl(Key::f),
         .run =
             [this] {
                 views_.mesh.failure = !views_.mesh.failure;
                 views_.mesh.lost_node = -1;
             },
         .checked = [this] { return views_.mesh.failure; }});
    add({.id = "view.blame",
         .title = "What do these ranks share?…",
         .menu = "View",
         .run =
             [this] {
                 blame_ = {.open = true};
                 if (selection_.topic == Selection::Topic::ranks) blame_.text = ranks_text(selection_.ranks);
             },
         .enabled = [this] { return evaluation_.valid; }});
    add({.id = "view.links",
         .title = "Links to the selected GPU's peers",
         .menu = "View",
         .chord = ctrl(Key::l),
         .run = [this] { views_.mesh.show_links = !views_.mesh.show_links; },
         .checked = [this] { return views_.mesh.show_links; }});
    add({.id = "view.experts",
         .title = "Ranks as the experts have them",
         .menu = "View",
         .run = [this] { selection_.show_mesh(!selection_.expert()); },
         .enabled = [this] { return evaluation_.mesh.has_experts; },
         .checked = [this] { return selection_.expert() && evaluation_.mesh.has_experts; }});
    add({.id = "view.map_rows",
         .title = "Map: FSDP and SP as rows of their own",
         .menu = "View",
         .run =
             [this] {
                 const bool rows = views_.map.style == MapStyle::own_rows;
                 views_.map.style = rows ? MapStyle::modifiers : MapStyle::own_rows;
                 views_.map.page = MapPage::axes;
                 full_ = ViewId::map;
             },
         .checked = [this] { return views_.map.style == MapStyle::own_rows; }});
}

void Shell::make_timeline_commands() {
    // The same keys play the layer where that fills the window.
    const auto of_layer = [this] { return full_view() == ViewId::layer && evaluation_.valid; };
    const auto has_timeline = [this, of_layer] {
        return of_layer() || views_.timeline.current(evaluation_, evaluated_) != nullptr;
    };
    const auto step = [this, of_layer](int by) {
        if (of_layer()) return step_layer(views_.layer, by);
        if (const auto* shown = views_.timeline.current(evaluation_, evaluated_))
            step_cursor(*shown, views_.timeline, by, selection_.stage);
    };
    add({.id = "timeline.play",
         .title = "Play or pause the timeline",
         .menu = "View",
         .chord = {.key = Key::p},
         .run =
             [this, of_layer] {
                 if (of_layer()) return play_or_pause(views_.layer);
                 views_.timeline.playing = !views_.timeline.playing;
             },
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
         .run = [this] { views_.timeline.critical = !views_.timeline.critical; },
         .checked = [this] { return views_.timeline.critical; }});
    add({.id = "timeline.two_steps",
         .title = "Two steps back to back in the timeline",
         .menu = "View",
         .run = [this] { views_.timeline.choice.steps = 3 - views_.timeline.choice.steps; },
         .checked = [this] { return views_.timeline.choice.steps > 1; }});
    add({.id = "timeline.slow_stage",
         .title = "Inject a slow stage into the timeline",
         .menu = "View",
         .run =
             [this] {
                 if (views_.timeline.choice.slow.any())
                     views_.timeline.choice.slow = {};
                 else
                     inject(views_.timeline, std::max(0, selection_.stage), 1);
             },
         .checked = [this] { return views_.timeline.choice.slow.any(); }});
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
    add({.id = "view.reduced_motion",
         .title = "Reduced motion: jumps in place of glides",
         .menu = "View",
         .run = [this] { settings_.reduced_motion = !settings_.reduced_motion; },
         .checked = [this] { return settings_.reduced_motion; }});
    add({.id = "view.larger",
         .title = "Larger",
         .menu = "View",
         .chord = ctrl(Key::equal),
         .separator = true,
         .run = [this] { own_scale() = std::min(4.0f, own_scale() * 1.125f); }});
    add({.id = "view.smaller", .title = "Smaller", .menu = "View", .chord = ctrl(Key::minus), .run = [this] {
             own_scale() = std::max(0.5f, own_scale() / 1.125f);
         }});
    add({.id = "view.normal", .title = "Normal size", .menu = "View", .chord = ctrl(Key::n0), .run = [this] {
             own_scale() = presenter_.on ? kPresentScale : 1;
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
