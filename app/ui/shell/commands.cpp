// The commands of the bar's menus, in their order, and those about views; those about lessons are where
// lessons are.
#include "app/ui/shell/commands.h"

#include "app/ui/shell/menu_bar.h"
#include "app/ui/shell/shell.h"
#include "app/ui/views/mesh/mesh_figure.h"
#include "app/ui/views/mesh/mesh_menu.h"
#include "app/ui/views/table.h"
#include "app/ui/views/timeline/timeline_parts.h"
#include "core/base/files.h"
#include "core/base/text.h"
#include "core/mesh/places.h"
#include "core/pipeline/follow.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/plan/stand_in.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

namespace pentamesh::ui {

void Shell::make_commands() {
    make_file_commands();
    make_edit_commands();
    make_layout_commands();
    make_view_commands();
    make_page_commands();
    make_mesh_commands();
    make_timeline_commands();
    make_look_commands();
    sheets_.add_flags_commands(commands_);
    make_export_commands();
    sheets_.add_interop_commands(commands_);
    desk_.add_commands(commands_);
    make_side_commands();
    desk_.add_presenter_commands(commands_);
    make_help_commands();
}

void Shell::make_file_commands() {
    add(in_menu("File", "file.new", "New: one GPU", ctrl(Key::n),
                [this] { open_plan(window_.presets.plan("single-gpu")); }));
    add(in_menu("File", "file.open", "Open…", ctrl(Key::o),
                [this] { window_.ask(DialogKind::open, "", nullptr); }));
    add(in_menu("File", "file.preset", "Open a preset…", {},
                [this] { window_.ask(DialogKind::gallery, "", nullptr); }));
    add(in_menu("File", "file.save", "Save", ctrl(Key::s), [this] { files_.save_or_ask(); }));
    add(in_menu("File", "file.save_as", "Save as…", ctrl(Key::s, true), [this] {
        if (!window_.lacks_plan("save")) window_.ask(DialogKind::save, window_.proposed_file(), nullptr);
    }));
    const auto add_review = [this](const char* id, const char* title, const char* menu, bool separator) {
        add({.id = id,
             .title = title,
             .menu = menu,
             .separator = separator,
             .searched = !separator,
             .run = [this] { dialogs_.ask_review(); },
             .enabled =
                 [this] {
                     return window_.host.save_review && !window_.hidden_answer.open
                            && !is_stand_in(window_.document.plan());
                 }});
    };
    add_review("file.review", "Export review…", "File", false);
    add_review("export.review", "Export review for a meeting…", "Export", true);
    runs_.add_commands(commands_);
    for (const Presets::Entry& e : window_.presets.list(PresetKind::plan))
        add({.id = "preset." + e.id,
             .title = "Open preset: " + e.name + (e.broken.empty() ? "" : " (broken)"),
             .run = [this, id = e.id] { open_plan(window_.presets.plan(id)); }});
    make_recent_commands();
    add({.id = "file.recover",
         .title = "Unsaved plans of a window that is gone…",
         .run =
             [this] {
                 if (!offer_recovery()) window_.say("No window left a plan that was not saved");
             },
         .enabled = [this] { return files_.remembers(); }});
    if (window_.host.in_page) return;
    add({.id = "file.quit",
         .title = "Quit",
         .menu = "File",
         .chord = ctrl(Key::q),
         .separator = true,
         .run = [this] {
             if (may_close()) window_.quit = true;
         }});
}

void Shell::make_recent_commands() {
    for (std::size_t i = 0; i < kRecentListed; ++i) {
        const auto file = [this, i] {
            return i < window_.settings.recent.size() ? std::filesystem::path(window_.settings.recent[i])
                                                      : std::filesystem::path();
        };
        add({.id = "recent." + std::to_string(i),
             .title = "Recent file " + std::to_string(i + 1),
             .menu = "File",
             .separator = i == 0,
             .run = [this, file] { files_.open_recent(file()); },
             .enabled = [file] { return !file().empty(); },
             .label = [this, i] { return files_.recent_label(i); }});
    }
    add({.id = "recent.drop",
         .title = "Drop the files that are gone",
         .menu = "File",
         .run = [this] { files_.drop_missing(); },
         .label = [this] { return files_.has_missing() ? "Drop the files that are gone" : ""; }});
}

void Shell::make_edit_commands() {
    add({.id = "edit.undo",
         .title = "Undo",
         .menu = "Edit",
         .chord = ctrl(Key::z),
         .repeats = true,
         .run = [this] { window_.undo(); },
         .enabled = [this] { return window_.document.can_undo(); }});
    add({.id = "edit.redo",
         .title = "Redo",
         .menu = "Edit",
         .chord = ctrl(Key::z, true),
         .repeats = true,
         .run = [this] { window_.document.redo(), window_.toast.clear(); },
         .enabled = [this] { return window_.document.can_redo(); }});
    add({.id = "edit.fields",
         .title = "Every field of the plan…",
         .menu = "Edit",
         .chord = ctrl(Key::e, true),
         .separator = true,
         .run = [this] { sheets_.open_fields(FieldTopic::size); }});
    add(in_menu("Edit", "edit.model", "Edit the model…", {},
                [this] { sheets_.open_fields(FieldTopic::size); }));
    add(in_menu("Edit", "edit.new_model", "New model…", {}, [this] { sheets_.begin_new_model(); }));
    add(in_menu("Edit", "edit.cluster", "Edit the cluster…", {},
                [this] { sheets_.open_fields(FieldTopic::fabric); }));
    add(in_menu("Edit", "edit.presets", "Presets of your own…", {}, [this] { dialogs_.ask_own_presets(); }));
    add(in_menu(
        "Edit", "edit.stages", "Layers of each stage…", {}, [this] { sheets_.open_stages(); },
        [this] { return window_.document.plan().layout.pp > 1 && is_known(window_.document.plan().model); }));
    add(in_menu("Edit", "edit.title", "Rename the plan…", {}, [this] { menus_.edit_title(); }));
    add(in_menu("Edit", "edit.notes", "Notes of the plan…", {}, [this] { sheets_.open_notes(); }));
    decider_.add_commands(commands_);
    add({.id = "edit.copy",
         .title = "Copy the plan",
         .menu = "Edit",
         .chord = ctrl(Key::c),
         .separator = true,
         .run =
             [this] {
                 if (window_.lacks_plan("copy")) return;
                 window_.host.set_clipboard(files_.plan_text());
                 window_.say("Copied the plan as JSON");
             },
         .enabled = [this] { return static_cast<bool>(window_.host.set_clipboard); }});
    files_.add_link_commands(commands_);
    add(in_menu(
        "Edit", "edit.paste", "Paste a plan, link, config or settings", ctrl(Key::v),
        [this] { open_text(window_.host.clipboard(), "the clipboard"); },
        [this] { return static_cast<bool>(window_.host.clipboard); }));
}

namespace {

// Returns a name as a part of an id: small letters, with dashes for spaces.
std::string as_id(std::string_view name) {
    std::string out;
    for (const char c : name)
        out += c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

}  // namespace

// Adds the orders of the frameworks and the schedules, as in the plan panel's menus.
void Shell::make_layout_commands() {
    for (const OrderPreset& o : order_presets()) {
        std::string id = "order.to." + as_id(o.name), axes;
        for (const Axis a : o.order) axes += (axes.empty() ? "" : " · ") + std::string(name_of(a));
        add({.id = std::move(id),
             .title = "Order of " + std::string(o.name) + ": " + axes,
             .run =
                 [this, &o] {
                     window_.edit_plan(with_order(window_.document.plan(), o.order),
                                       "order of " + std::string(o.name));
                 },
             .checked = [this, &o] { return window_.document.plan().layout.order == o.order; }});
    }
    for (const ScheduleChoice& c : schedule_choices()) {
        const std::string name = with_chunks(c.schedule, c.chunks.chunks);
        add({.id = "schedule." + std::string(name_of(c.schedule)) + "." + std::to_string(c.chunks.chunks),
             .title = "Schedule " + name + ": " + std::string(c.chunks.detail),
             .run =
                 [this, c, name] {
                     window_.edit_plan(
                         with_schedule_and_rest(window_.document.plan(), c.schedule, c.chunks.chunks), name);
                 },
             .checked = [this, c] { return c.is_of(window_.document.plan().layout); }});
    }
}

// Returns the view that fills the window; else the uppermost that is shown as a table; else the uppermost.
ViewId Shell::tabled_view() const {
    if (window_.full) return *window_.full;
    for (const ViewId id : window_.views.in_pane)
        if (window_.views.as_data[static_cast<std::size_t>(id)]) return id;
    return window_.views.in_pane.front();
}

Table Shell::shown_table() {
    Hover none;
    return data_of(scene_of(none), tabled_view(), window_.views);
}

// Saves the table of the view as it would be shown as data, in the form that the file's ending names.
void Shell::save_table(const std::filesystem::path& path) {
    const std::string ending = path.extension().string();
    const TableFormat format = ending == ".md"     ? TableFormat::markdown
                               : ending == ".json" ? TableFormat::json
                               : ending == ".html" ? TableFormat::html
                               : ending == ".txt"  ? TableFormat::text
                                                   : TableFormat::csv;
    const std::string table = write_table(shown_table(), format);
    const std::string title(view_of(tabled_view()).title);
    write_file(path, format == TableFormat::html ? "<!doctype html>\n<meta charset=\"utf-8\">\n<title>"
                                                       + html_text(title) + "</title>\n" + table
                                                 : table);
}

void Shell::copy_table(TableFormat format) {
    if (!window_.host.set_clipboard) return;
    window_.host.set_clipboard(write_table(shown_table(), format));
    window_.say("Copied the data of " + std::string(view_of(tabled_view()).title));
}

void Shell::make_export_commands() {
    add(in_menu(
        "Export", "export.picture", "Picture of this view…", ctrl(Key::e),
        [this] { window_.ask(DialogKind::picture, "", nullptr); },
        [this] { return static_cast<bool>(window_.host.save_picture); }));
    add(in_menu(
        "Export", "export.copy_picture", "Copy the picture of this view", {},
        [this] { dialogs_.copy_picture(); },
        [this] { return static_cast<bool>(window_.host.save_picture); }));
    // A table can hold the answer to an open question: it is not offered while that is hidden.
    const auto tells_nothing = [this] { return !window_.hidden_answer.open; };
    add({.id = "export.table",
         .title = "This table…",
         .menu = "Export",
         .separator = true,
         .run =
             [this] {
                 const std::string name(view_of(tabled_view()).name);
                 window_.ask(DialogKind::table, window_.proposed_file(name + ".csv"), nullptr);
             },
         .enabled = tells_nothing});
    struct Format {
        TableFormat format;
        const char *id, *title;
    };
    static constexpr std::array<Format, 4> kFormats{
        {{TableFormat::csv, "export.csv", "Copy data as CSV"},
         {TableFormat::markdown, "export.markdown", "Copy data as Markdown"},
         {TableFormat::json, "export.json", "Copy data as JSON"},
         {TableFormat::text, "export.text", "Copy data as text"}}};
    for (const Format& f : kFormats)
        add(in_menu(
            "Export", f.id, f.title, {}, [this, format = f.format] { copy_table(format); },
            [this] { return window_.host.set_clipboard && !window_.hidden_answer.open; }));
}

void Shell::make_help_commands() {
    add(in_menu("Help", "help.keys", "Keys", {Key::f1}, [this] {
        axis_card_.asked.reset();
        if (const auto* named = named_axis(window_.state)) axis_card_.asked = *named;  // its card opens
        axis_card_.asked_at = window_.state.mouse;
        if (!axis_card_.asked) menus_.switch_keys();
    }));
    add(in_menu("Help", "help.glossary", "Glossary", ctrl(Key::g), [this] {
        glossary_state_.open = glossary_state_.fresh = true;
        glossary_state_.search.clear();
    }));
    for (const GlossaryEntry& e : window_.glossary.entries)
        add({.id = "word." + e.id, .title = "Word: " + e.term, .run = [this, id = e.id, term = e.term] {
                 glossary_state_.open = glossary_state_.fresh = true;
                 glossary_state_.search = term;
                 glossary_state_.picked = id;
             }});
    add(in_menu("Help", "help.menus", "To the menus", {Key::f10}, [this] {
        window_.state.focus = id_of("menu.File");
        window_.state.focus_visible = true;
    }));
    add(in_menu("Help", "help.palette", "Search commands", ctrl(Key::p), [this] { menus_.search(""); }));
    add(in_menu("Help", "help.welcome", "Welcome", {}, [this] { welcome_ = true; }));
    add(in_menu("Help", "help.about", "About Pentamesh", {},
                [this] { window_.ask(DialogKind::about, "", nullptr); }));
}

void put_in_group(std::vector<Command>& commands, std::size_t first, std::string_view group) {
    for (std::size_t i = first; i < commands.size(); ++i) commands[i].group = group;
}

const Command* pressed_command(const std::vector<Command>& commands) {
    for (const Command& c : commands)
        if (c.chord.key != Key::none && c.can_run() && pressed(c.chord, c.repeats)) return &c;
    return nullptr;
}

// The commands about views: which one fills the window, what the mesh, the map and the timeline show, themes
// and sizes.

void Shell::make_view_commands() {
    add({.id = "view.panels",
         .title = "Panels next to the view",
         .menu = "View",
         .chord = {.key = Key::backslash},
         .run = [this] { panels_shown() = !panels_shown(); },
         .enabled = [this] { return !desk_.lesson().open && !desk_.presenter().on && !one_pane(); },
         .checked = [this] { return panels_shown(); }});
    std::size_t first = commands_.size();
    for (const ViewEntry& v : view_table())
        add(in_menu(
            "View", "view." + std::string(v.name), std::string(v.title) + " in the whole window", v.key,
            [this, id = v.id] {
                // The key of a view leads back from its named page too.
                const bool left = leave_named_page(window_.views, id);
                if (left && window_.full == id)
                    window_.show_full(id);
                else
                    window_.toggle_full(id);
            },
            nullptr, [this, id = v.id] { return window_.full == id; }));
    for (const NamedPage& p : named_pages()) {
        const auto shown = [this, &p] { return window_.full == p.view && is_shown(window_.views, p); };
        add(in_menu(
            "View", "view." + std::string(p.name), std::string(p.title) + " in the whole window", p.key,
            [this, &p, shown] {
                if (shown()) return window_.show_full(std::nullopt);
                static_cast<void>(show_named_view(window_.views, p.name));
                window_.show_full(p.view);
            },
            nullptr, shown));
    }
    put_in_group(commands_, first, "In the whole window");
    first = commands_.size();
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
        [this] {
            return window_.evaluation.valid
                   || (is_stand_in(window_.document.plan()) && window_.real_run && window_.real_run->hang);
        }));
    add(switch_of("View", "view.links", "Links to the selected GPU's peers", ctrl(Key::l),
                  window_.views.mesh.show_links));
    add(in_menu(
        "View", "view.experts", "Ranks as the experts have them", {},
        [this] { window_.selection.show_mesh(!window_.selection.expert()); },
        [this] { return window_.evaluation.mesh.has_experts; },
        [this] { return window_.selection.expert() && window_.evaluation.mesh.has_experts; }));
    put_in_group(commands_, first, "Mesh");
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

// Adds each page of each view by its name, and the switch between a view's picture and its table.
void Shell::make_page_commands() {
    for (const LessonView& view : lesson_views()) {
        for (const std::string_view page : view.pages) {
            const auto is_named = [&](const NamedPage& p) { return p.name == page; };
            if (std::ranges::any_of(named_pages(), is_named)) continue;  // it has a command of its own
            std::string title =
                std::string(view_of(*view_named(view.name)).title) + ", page " + std::string(page);
            Command c{.id = "page." + std::string(view.name) + "." + as_id(page), .title = title};
            c.run = [this, name = view.name, page] { static_cast<void>(show_named(name, page)); };
            if (view.name == "step" && page == kStepPages[StepViewState::kMeasured])
                c.label = [this, title] { return window_.real_run ? title : std::string(); };
            add(std::move(c));
        }
    }
    const auto as_data = [this]() -> bool& {
        return window_.views.as_data[static_cast<std::size_t>(tabled_view())];
    };
    add({.id = "view.data",
         .title = "Show as data",
         .run =
             [this, as_data] {
                 bool& shown = as_data();
                 shown = !shown;
                 window_.dirty = window_.state.redraw_all = true;
             },
         .enabled = [this] { return !window_.hidden_answer.open; },
         .checked = [as_data] { return as_data(); },
         .label =
             [this, as_data] {
                 return (as_data() ? "Show as a picture: " : "Show as data: ")
                        + std::string(view_of(tabled_view()).title);
             }});
}

void Shell::show_mesh() {
    static_cast<void>(leave_named_page(window_.views, ViewId::mesh));
    window_.views.as_data[static_cast<std::size_t>(ViewId::mesh)] = false;
    window_.views.in_pane[static_cast<std::size_t>(Pane::top)] = window_.alone_view = ViewId::mesh;
    if (window_.full) window_.show_full(ViewId::mesh);
    window_.dirty = window_.state.redraw_all = true;
}

// Adds by name all that the menu of the mesh has.
void Shell::make_mesh_commands() {
    MeshViewState& mesh = window_.views.mesh;
    const auto opens = [this, &mesh](MeshMenu menu) {
        return [this, &mesh, menu] {
            show_mesh();
            open_mesh_menu(mesh, menu, window_.state.rect_of("mesh.more").value_or(mesh.menu_anchor));
        };
    };
    const auto tells_nothing = [this] { return !window_.hidden_answer.open; };
    add(in_menu("View", "mesh.go_to", "Go to ranks of the mesh…", {}, [this, &mesh] {
        show_mesh();
        begin_going_to_ranks(mesh);
    }));
    add(in_menu("View", "mesh.figures", "Colour of the mesh…", {}, opens(MeshMenu::figures), tells_nothing));
    add(in_menu("View", "mesh.orders", "Compare the mesh with another order…", {}, opens(MeshMenu::orders)));
    const auto figures = mesh_figures();
    for (std::size_t i = 0; i < figures.size(); ++i) {
        const MeshFigure& f = figures[i];
        std::string title = "Colour the mesh by " + std::string(f.title);
        add({.id = "mesh.color." + std::string(f.name),
             .title = title,
             .run =
                 [this, &mesh, i] {
                     show_mesh();
                     choose_figure(mesh, static_cast<int>(i));
                 },
             .enabled = tells_nothing,
             .checked = [&mesh, i] { return mesh.figure == static_cast<int>(i); },
             .label =
                 [this, &f, title] {
                     Hover none;
                     return offers_figure(scene_of(none), f) ? title : std::string();
                 }});
    }
    const auto orders = order_presets();
    for (int i = -1; i < static_cast<int>(orders.size()); ++i)
        add({.id = i < 0 ? "mesh.second.none"
                         : "mesh.second." + as_id(orders[static_cast<std::size_t>(i)].name),
             .title = i < 0 ? "Compare the mesh with no other order"
                            : "Compare the mesh with the order of "
                                  + std::string(orders[static_cast<std::size_t>(i)].name),
             .run =
                 [this, &mesh, i] {
                     show_mesh();
                     choose_second_order(mesh, i);
                 },
             .checked = [&mesh, i] { return mesh.second == i; }});
}

void Shell::make_timeline_commands() {
    // The same keys play the layer when it fills the window.
    const auto of_layer = [this] {
        return full_view() == ViewId::layer && window_.evaluation.valid
               && !shows_matrices(window_.views.layer.choice);
    };
    const auto has_timeline = [this, of_layer] {
        return of_layer() || window_.views.timeline.current(window_.evaluation, window_.evaluated) != nullptr;
    };
    const auto step = [this, of_layer](int by) {
        if (of_layer()) return step_layer(window_.views.layer, by);
        if (const auto* shown = window_.views.timeline.current(window_.evaluation, window_.evaluated))
            step_cursor(*shown, window_.views.timeline, by, window_.selection.stage);
    };
    const std::size_t first = commands_.size();
    add(in_menu(
        "View", "timeline.play", "Play or pause the timeline", {Key::p},
        [this, of_layer] {
            if (of_layer()) return play_or_pause(window_.views.layer);
            window_.views.timeline.playing = !window_.views.timeline.playing;
        },
        has_timeline));
    add({.id = "timeline.step",
         .title = "Timeline: next start or end",
         .group = "Timeline",
         .chord = {.key = Key::period},
         .run = [step] { step(1); },
         .enabled = has_timeline});
    add({.id = "timeline.step_back",
         .title = "Timeline: last start or end",
         .group = "Timeline",
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
    put_in_group(commands_, first, "Timeline");
}

float& Shell::own_scale() {
    return desk_.presenter().on ? window_.settings.present : window_.settings.scale;
}

void Shell::make_look_commands() {
    const std::size_t first = commands_.size();
    for (int i = 0; i < kThemeCount; ++i) {
        const auto id = static_cast<ThemeId>(i);
        add({.id = "theme." + std::string(name_of(id)),
             .title = "Theme: " + std::string(name_of(id)),
             .menu = "View",
             .separator = i == 0,
             .run = [this, id] { window_.settings.theme = id; },
             .checked = [this, id] { return window_.settings.theme == id; }});
    }
    put_in_group(commands_, first, "Theme");
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
