// The commands of the bar's menus, in their order; those about views are in commands_views.cpp, those about
// lessons where lessons are.
#include "app/ui/shell/shell.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/plan/changes.h"
#include "core/plan/names.h"
#include "core/plan/order_presets.h"

#include <array>
#include <cctype>
#include <utility>

namespace pentamesh::ui {

void Shell::add(Command command) {
    commands_.push_back(std::move(command));
}

void Shell::make_commands() {
    make_file_commands();
    make_edit_commands();
    make_layout_commands();
    make_view_commands();
    make_timeline_commands();
    make_look_commands();
    make_flags_commands();
    make_export_commands();
    make_interop_commands();
    make_lesson_commands();
    make_help_commands();
}

void Shell::make_file_commands() {
    add({.id = "file.new", .title = "New: one GPU", .menu = "File", .chord = ctrl(Key::n), .run = [this] {
             open_plan(presets_.plan("single-gpu"));
         }});
    add({.id = "file.open", .title = "Open…", .menu = "File", .chord = ctrl(Key::o), .run = [this] {
             ask(DialogKind::open, "", nullptr);
         }});
    add({.id = "file.preset", .title = "Open a preset…", .menu = "File", .run = [this] {
             palette_ = true;
             palette_state_ = {.filter = "Open preset"};
         }});
    add({.id = "file.save", .title = "Save", .menu = "File", .chord = ctrl(Key::s), .run = [this] {
             save_or_ask();
         }});
    add({.id = "file.save_as",
         .title = "Save as…",
         .menu = "File",
         .chord = ctrl(Key::s, true),
         .run = [this] { ask(DialogKind::save, proposed_file(), nullptr); }});
    make_review_commands();
    make_calibrate_commands();
    for (const Presets::Entry& e : presets_.list(PresetKind::plan))
        add({.id = "preset." + e.id,
             .title = "Open preset: " + e.name + (e.broken.empty() ? "" : " (broken)"),
             .run = [this, id = e.id] { open_plan(presets_.plan(id)); }});
    for (std::size_t i = 0; i < kRecentListed; ++i) {
        const auto file = [this, i] {
            return i < settings_.recent.size() ? std::filesystem::path(settings_.recent[i])
                                               : std::filesystem::path();
        };
        add({.id = "recent." + std::to_string(i),
             .title = "Recent file " + std::to_string(i + 1),
             .menu = "File",
             .separator = i == 0,
             .run = [this, file] { open_recent(file()); },
             .enabled = [file] { return !file().empty(); },
             .label = [this, i] { return recent_label(i); }});
    }
    add({.id = "recent.drop",
         .title = "Drop the files that are gone",
         .menu = "File",
         .run = [this] { drop_missing_files(); },
         .label = [this] { return has_missing_files() ? "Drop the files that are gone" : ""; }});
    add({.id = "file.recover",
         .title = "Unsaved plans of a window that is gone…",
         .run =
             [this] {
                 if (!offer_recovery()) say("No window left a plan that was not saved");
             },
         .enabled = [this] { return recovery_ != nullptr; }});
    if (host_.in_page) return;
    add({.id = "file.quit",
         .title = "Quit",
         .menu = "File",
         .chord = ctrl(Key::q),
         .separator = true,
         .run = [this] {
             if (may_close()) quit_ = true;
         }});
}

void Shell::make_edit_commands() {
    add({.id = "edit.undo",
         .title = "Undo",
         .menu = "Edit",
         .chord = ctrl(Key::z),
         .repeats = true,
         .run = [this] { document_.undo(), toast_.clear(); },
         .enabled = [this] { return document_.can_undo(); }});
    add({.id = "edit.redo",
         .title = "Redo",
         .menu = "Edit",
         .chord = ctrl(Key::z, true),
         .repeats = true,
         .run = [this] { document_.redo(), toast_.clear(); },
         .enabled = [this] { return document_.can_redo(); }});
    add({.id = "edit.fields",
         .title = "Every field of the plan…",
         .menu = "Edit",
         .chord = ctrl(Key::e, true),
         .separator = true,
         .run = [this] { editor_.open_at(EditorSection::size); }});
    add({.id = "edit.model", .title = "Edit the model…", .menu = "Edit", .run = [this] {
             editor_.open_at(EditorSection::size);
         }});
    add({.id = "edit.new_model", .title = "New model…", .menu = "Edit", .run = [this] {
             begin_new_model();
         }});
    add({.id = "edit.cluster", .title = "Edit the cluster…", .menu = "Edit", .run = [this] {
             editor_.open_at(EditorSection::fabric);
         }});
    add({.id = "edit.presets", .title = "Presets of your own…", .menu = "Edit", .run = [this] {
             ask_own_presets();
         }});
    add({.id = "edit.stages",
         .title = "Layers of each stage…",
         .menu = "Edit",
         .run = [this] { stages_.open_now(); },
         .enabled = [this] { return document_.plan().layout.pp > 1; }});
    add({.id = "edit.title", .title = "Rename the plan…", .menu = "Edit", .run = [this] { edit_title(); }});
    make_notes_commands();
    make_decide_commands();
    add({.id = "edit.copy",
         .title = "Copy the plan",
         .menu = "Edit",
         .chord = ctrl(Key::c),
         .separator = true,
         .run =
             [this] {
                 host_.set_clipboard(plan_text());
                 say("Copied the plan as JSON");
             },
         .enabled = [this] { return static_cast<bool>(host_.set_clipboard); }});
    make_link_commands();
    add({.id = "edit.paste",
         .title = "Paste a plan, link, config or settings",
         .menu = "Edit",
         .chord = ctrl(Key::v),
         .run = [this] { open_text(host_.clipboard(), "the clipboard"); },
         .enabled = [this] { return static_cast<bool>(host_.clipboard); }});
}

// The orders of the frameworks and the schedules, as in the plan panel's menus.
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
                     edit_plan(with_order(document_.plan(), o.order), "order of " + std::string(o.name));
                 },
             .checked = [this, &o] { return document_.plan().layout.order == o.order; }});
    }
    for (const ScheduleChoice& c : schedule_choices()) {
        const std::string name = with_chunks(c.schedule, c.chunks.chunks);
        add({.id = "schedule." + std::string(name_of(c.schedule)) + "." + std::to_string(c.chunks.chunks),
             .title = "Schedule " + name + ": " + std::string(c.chunks.detail),
             .run = [this, c,
                     name] { edit_plan(with_schedule(document_.plan(), c.schedule, c.chunks.chunks), name); },
             .checked = [this, c] { return c.is_of(document_.plan().layout); }});
    }
}

void Shell::make_help_commands() {
    add({.id = "help.keys", .title = "Keys", .menu = "Help", .chord = {.key = Key::f1}, .run = [this] {
             keys_ = !keys_;
         }});
    add({.id = "help.glossary", .title = "Glossary", .menu = "Help", .chord = ctrl(Key::g), .run = [this] {
             glossary_state_.open = glossary_state_.fresh = true;
             glossary_state_.search.clear();
         }});
    add({.id = "help.menus",
         .title = "To the menus",
         .menu = "Help",
         .chord = {.key = Key::f10},
         .run = [this] {
             state_.focus = id_of("menu.File");
             state_.focus_visible = true;
         }});
    add({.id = "help.palette",
         .title = "Search commands",
         .menu = "Help",
         .chord = ctrl(Key::p),
         .run = [this] {
             palette_ = true;
             palette_state_ = {};
         }});
    add({.id = "help.welcome", .title = "Welcome", .menu = "Help", .run = [this] { welcome_ = true; }});
    add({.id = "help.about", .title = "About Pentamesh", .menu = "Help", .run = [this] {
             ask(DialogKind::about, "", nullptr);
         }});
}

}  // namespace pentamesh::ui
