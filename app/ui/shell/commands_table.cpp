// The commands of the bar's menus, in their order; those about views are in commands_views.cpp, those about
// lessons where lessons are.
#include "app/ui/shell/commands.h"
#include "app/ui/shell/shell.h"
#include "app/ui/views/frame.h"
#include "core/base/files.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/plan/changes.h"
#include "core/plan/names.h"
#include "core/plan/order_presets.h"

#include <array>
#include <cctype>
#include <utility>

namespace pentamesh::ui {

void Shell::make_commands() {
    make_file_commands();
    make_edit_commands();
    make_layout_commands();
    make_view_commands();
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
    add(in_menu("File", "file.save_as", "Save as…", ctrl(Key::s, true),
                [this] { window_.ask(DialogKind::save, window_.proposed_file(), nullptr); }));
    const auto add_review = [this](const char* id, const char* title, const char* menu, bool separator) {
        add({.id = id,
             .title = title,
             .menu = menu,
             .separator = separator,
             .run = [this] { dialogs_.ask_review(); },
             .enabled = [this] { return window_.host.save_review && !window_.hidden_answer.hides(); }});
    };
    add_review("file.review", "Export review…", "File", false);
    add_review("export.review", "Export review for a meeting…", "Export", true);
    sheets_.add_calibrate_command(commands_);
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
         .run = [this] { window_.document.undo(), window_.toast.clear(); },
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
        [this] { return window_.document.plan().layout.pp > 1; }));
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

// Adds the orders of the frameworks and the schedules, as in the plan panel's menus.
void Shell::make_layout_commands() {
    for (const OrderPreset& o : order_presets()) {
        std::string id = "order.to.", axes;
        for (const char c : o.name)
            id += c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
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
                     window_.edit_plan(with_schedule(window_.document.plan(), c.schedule, c.chunks.chunks),
                                       name);
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
    const auto tells_nothing = [this] { return !window_.hidden_answer.hides(); };
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
            [this] { return window_.host.set_clipboard && !window_.hidden_answer.hides(); }));
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
    add(in_menu("Help", "help.menus", "To the menus", {Key::f10}, [this] {
        window_.state.focus = id_of("menu.File");
        window_.state.focus_visible = true;
    }));
    add(in_menu("Help", "help.palette", "Search commands", ctrl(Key::p), [this] { menus_.search(""); }));
    add(in_menu("Help", "help.welcome", "Welcome", {}, [this] { welcome_ = true; }));
    add(in_menu("Help", "help.about", "About Pentamesh", {},
                [this] { window_.ask(DialogKind::about, "", nullptr); }));
}

const Command* pressed_command(const std::vector<Command>& commands) {
    for (const Command& c : commands)
        if (c.chord.key != Key::none && c.can_run() && pressed(c.chord, c.repeats)) return &c;
    return nullptr;
}

}  // namespace pentamesh::ui
