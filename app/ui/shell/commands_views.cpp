// The commands about views: which one fills the window, what the mesh, the map and the timeline show, themes
// and sizes.
#include "app/ui/shell/shell.h"
#include "app/ui/views/timeline/timeline_parts.h"
#include "core/mesh/rank_list.h"

#include <algorithm>

namespace pentamesh::ui {

void Shell::make_view_commands() {
    for (const ViewEntry& v : view_table())
        add(in_menu(
            "View", "view." + std::string(v.name), std::string(v.title) + " in the whole window", v.key,
            [this, id = v.id] { window_.toggle_full(id); }, nullptr,
            [this, id = v.id] { return window_.full == id; }));
    add(in_menu(
        "View", "view.failure", "Lose a node: click one in the mesh", ctrl(Key::f),
        [this] {
            window_.views.mesh.failure = !window_.views.mesh.failure;
            window_.views.mesh.lost_node = -1;
        },
        nullptr, [this] { return window_.views.mesh.failure; }));
    add(in_menu(
        "View", "view.blame", "What do these ranks share?…", {},
        [this] {
            sheets_.open_blame(window_.selection.topic == Selection::Topic::ranks
                                   ? ranks_text(window_.selection.ranks)
                                   : std::string());
        },
        [this] { return window_.evaluation.valid; }));
    add(switch_of("View", "view.links", "Links to the selected GPU's peers", ctrl(Key::l),
                  window_.views.mesh.show_links));
    add(in_menu(
        "View", "view.experts", "Ranks as the experts have them", {},
        [this] { window_.selection.show_mesh(!window_.selection.expert()); },
        [this] { return window_.evaluation.mesh.has_experts; },
        [this] { return window_.selection.expert() && window_.evaluation.mesh.has_experts; }));
    add(in_menu(
        "View", "view.map_rows", "Map: FSDP and SP as rows of their own", {},
        [this] {
            const bool rows = window_.views.map.style == MapStyle::own_rows;
            window_.views.map.style = rows ? MapStyle::modifiers : MapStyle::own_rows;
            window_.views.map.page = MapPage::axes;
            window_.views.map.page_chosen = true;
            window_.full = ViewId::map;
        },
        nullptr, [this] { return window_.views.map.style == MapStyle::own_rows; }));
}

void Shell::make_timeline_commands() {
    // The same keys play the layer when it fills the window.
    const auto of_layer = [this] { return full_view() == ViewId::layer && window_.evaluation.valid; };
    const auto has_timeline = [this, of_layer] {
        return of_layer() || window_.views.timeline.current(window_.evaluation, window_.evaluated) != nullptr;
    };
    const auto step = [this, of_layer](int by) {
        if (of_layer()) return step_layer(window_.views.layer, by);
        if (const auto* shown = window_.views.timeline.current(window_.evaluation, window_.evaluated))
            step_cursor(*shown, window_.views.timeline, by, window_.selection.stage);
    };
    add(in_menu(
        "View", "timeline.play", "Play or pause the timeline", {Key::p},
        [this, of_layer] {
            if (of_layer()) return play_or_pause(window_.views.layer);
            window_.views.timeline.playing = !window_.views.timeline.playing;
        },
        has_timeline));
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
    add(switch_of("View", "timeline.critical_path", "Critical path of the timeline", {},
                  window_.views.timeline.critical));
    add(in_menu(
        "View", "timeline.two_steps", "Two steps back to back in the timeline", {},
        [this] { window_.views.timeline.choice.steps = 3 - window_.views.timeline.choice.steps; }, nullptr,
        [this] { return window_.views.timeline.choice.steps > 1; }));
    add(in_menu(
        "View", "timeline.slow_stage", "Inject a slow stage into the timeline", {},
        [this] {
            if (window_.views.timeline.choice.slow.any())
                window_.views.timeline.choice.slow = {};
            else
                inject(window_.views.timeline, std::max(0, window_.selection.stage), 1);
        },
        nullptr, [this] { return window_.views.timeline.choice.slow.any(); }));
}

float& Shell::own_scale() {
    return desk_.presenter().on ? window_.settings.present : window_.settings.scale;
}

void Shell::make_look_commands() {
    for (int i = 0; i < kThemeCount; ++i) {
        const auto id = static_cast<ThemeId>(i);
        add({.id = "theme." + std::string(name_of(id)),
             .title = "Theme: " + std::string(name_of(id)),
             .menu = "View",
             .separator = i == 0,
             .run = [this, id] { window_.settings.theme = id; },
             .checked = [this, id] { return window_.settings.theme == id; }});
    }
    add(switch_of("View", "view.reduced_motion", "Reduced motion: jumps in place of glides", {},
                  window_.settings.reduced_motion));
    add({.id = "view.larger",
         .title = "Larger",
         .menu = "View",
         .chord = ctrl(Key::equal),
         .separator = true,
         .run = [this] { own_scale() = std::min(4.0f, own_scale() * 1.125f); }});
    add(in_menu("View", "view.smaller", "Smaller", ctrl(Key::minus),
                [this] { own_scale() = std::max(0.5f, own_scale() / 1.125f); }));
    add(in_menu("View", "view.normal", "Normal size", ctrl(Key::n0),
                [this] { own_scale() = desk_.presenter().on ? kPresentScale : 1; }));
    add(in_menu(
        "View", "view.fullscreen", "Full screen", {Key::f11},
        [this] {
            window_.fullscreen = !window_.fullscreen;
            window_.host.set_fullscreen(window_.fullscreen);
        },
        [this] { return static_cast<bool>(window_.host.set_fullscreen); }));
}

}  // namespace pentamesh::ui
