#include "app/ui/shell/files.h"

#include "app/ui/shell/link.h"
#include "app/ui/shell/saved_scene.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/io/own_presets.h"
#include "core/io/plan_json.h"
#include "core/plan/title.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace pentamesh::ui {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLastOpen = "last_open.json";

bool is_there(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

fs::path absolute_of(const fs::path& path) {
    std::error_code ignored;
    const fs::path whole = fs::absolute(path, ignored);
    return whole.empty() ? path : whole.lexically_normal();
}

std::string name_of(const Document& d) {
    return d.plan().name.empty() && !d.path().empty() ? d.path().filename().string() : title_of(d.plan());
}

}  // namespace

std::string Files::plan_text() const {
    return write_plan(without_own_presets(window_.document.plan(), window_.presets));
}

Files::Files(Window& window, LessonDesk& desk, Sheets& sheets, RunDesk& runs)
    : window_(window), desk_(desk), sheets_(sheets), runs_(runs) {
    if (window.host.config_folder.empty()) return;
    // A preset of the user's own may be gone when the plan is looked for.
    const auto text = [&presets = window.presets](const Plan& p) {
        return write_plan(without_own_presets(p, presets));
    };
    recovery_ = std::make_unique<Recovery>(window.host.config_folder / "unsaved", text);
}

// ---- in -----------------------------------------------------------------------------------------------

void Files::replace_plan(OpenedPlan opened, const std::string& named) {
    window_.end_peek();
    window_.apply(sheets_.typed_notes());
    desk_.leave();
    const std::string before = name_of(window_.document);
    window_.document.replace(std::move(opened), "open " + named);
    window_.selection = {};
    window_.host_names.list.clear();  // they are of another job
    show_scene_of_plan();
    window_.dirty = true;
    window_.say("Opened " + named + "; Ctrl+Z brings " + before + " back");
}

// Evaluates the plan and shows the scene that it keeps.
void Files::show_scene_of_plan() {
    window_.evaluate();
    if (window_.document.plan().scene == SavedScene{}) {
        window_.selection = selection_at_first(window_.evaluation);
        return;
    }
    show_saved_scene(window_.document.plan().scene, window_.evaluation, window_.views, window_.selection,
                     window_.full);
}

void Files::opened_from(const fs::path& path, bool saved) {
    const fs::path file = path.empty() ? path : absolute_of(path);
    if (saved)
        window_.document.belongs_to(file);
    else
        window_.document.replace_unmodified({window_.document.plan(), file, false});
    if (!path.empty()) add_recent(window_.settings, path);
}

// `path` is where it was read from; empty: from no file.
void Files::take(Incoming in, const fs::path& path, const std::string& origin) {
    switch (in.kind) {
    case IncomingKind::lesson:
        if (path.empty())
            throw Error(ErrorKind::invalid, origin, "",
                        "this is a lesson; save it as a file that ends in .md and open that");
        desk_.open(path);
        return;
    case IncomingKind::settings: {
        const bool steps = !path.empty() && runs::read_run_log(in.text).steps > 0;
        sheets_.import(std::move(in.text), origin, steps ? path : fs::path());
        return;
    }
    case IncomingKind::model: {
        desk_.leave();
        const std::string name = in.model.name;
        replace_plan({with_model_of(window_.document.plan(), in.model), {}, false}, "the model " + name);
        break;
    }
    case IncomingKind::plan_inside:
        // The first is on top; undo goes to what it is compared with.
        std::reverse(in.others.begin(), in.others.end());
        for (Plan& other : in.others) replace_plan({std::move(other)}, origin);
        replace_plan({std::move(in.plan)}, origin);
        break;
    case IncomingKind::plan: replace_plan({std::move(in.plan), path, !path.empty()}, origin); break;
    }
    if (!path.empty()) add_recent(window_.settings, path);
}

void Files::open_text(const std::string& text, const std::string& origin) {
    if (is_link(text)) return open_link(text);
    window_.guarded("", [&] { take(read_incoming(text, origin, window_.presets), {}, origin); });
}

void Files::load(const fs::path& path) {
    const fs::path file = absolute_of(path);
    if (file.extension() == ".md") {
        desk_.open(file);
        return;
    }
    if (!sheets_.calibrates() && is_run_place(file)) return runs_.add(file);
    const std::string text = read_file(file);
    // Tables of runs are added to the sheet of calibration; so is every file while that sheet is open.
    if (sheets_.calibrates() || is_measured_text(text)) {
        sheets_.add_runs(file);
        return;
    }
    take(read_incoming(text, file.string(), window_.presets), file, file.filename().string());
}

void Files::open(const fs::path& path) {
    window_.guarded("", [&] { load(path); });
}

// ---- out ----------------------------------------------------------------------------------------------

void Files::save(const fs::path& path) {
    window_.document.save_as(absolute_of(path),
                             scene_as_saved(window_.views, window_.selection, window_.full));
    add_recent(window_.settings, window_.document.path());
    window_.dirty = true;
    window_.say(window_.host.in_page ? "Downloaded " + window_.document.path().filename().string()
                                     : "Saved " + window_.document.path().string());
}

// Writes the plan to its file. Asks for a file where it has none, or where it cannot be written.
void Files::save_or_ask(std::function<void()> after) {
    if (window_.document.path().empty()) {
        window_.ask(DialogKind::save, window_.proposed_file(), std::move(after));
        return;
    }
    if (window_.document.changed_elsewhere()) {
        window_.ask(
            DialogKind::save, window_.document.path().string(), std::move(after),
            window_.document.path().string()
                + ": another program wrote this file after it was read here. Save again to replace it, or "
                  "give another name.");
        return;
    }
    try {
        save(window_.document.path());
    } catch (const Error& e) {
        window_.ask(DialogKind::save, window_.document.path().string(), std::move(after), e.what());
        return;
    }
    window_.close_dialog();
    if (after) after();
}

// ---- recent files --------------------------------------------------------------------------------------

// Returns the file's name, and where it lies if another has the same name; "": there is no such one.
std::string Files::recent_label(std::size_t index) const {
    if (index >= window_.settings.recent.size()) return {};
    const fs::path file = window_.settings.recent[index];
    std::string label = file.filename().string();
    const auto same =
        std::count_if(window_.settings.recent.begin(), window_.settings.recent.end(),
                      [&](const std::string& r) { return fs::path(r).filename() == file.filename(); });
    if (same > 1) label += ", in " + file.parent_path().filename().string();
    return label + (is_there(file) ? "" : " (gone)");
}

bool Files::has_missing() const {
    return std::any_of(window_.settings.recent.begin(), window_.settings.recent.end(),
                       [](const std::string& r) { return !is_there(r); });
}

void Files::open_recent(const fs::path& file) {
    if (is_there(file)) {
        open(file);
        return;
    }
    window_.ask(DialogKind::missing, file.string() + " was moved or deleted. Drop it from the recent files?",
                [this, text = file.string()] { std::erase(window_.settings.recent, text); });
}

void Files::drop_missing() {
    const std::size_t before = window_.settings.recent.size();
    std::erase_if(window_.settings.recent, [](const std::string& r) { return !is_there(r); });
    const std::size_t dropped = before - window_.settings.recent.size();
    window_.say("Dropped " + std::to_string(dropped) + (dropped == 1 ? " file that is" : " files that are")
                + " gone");
}

// ---- kept against a crash -----------------------------------------------------------------------------

void Files::keep_unsaved() {
    if (!recovery_) return;
    recovery_->keep(window_.own_document().unsaved());
    const std::string error = recovery_->take_error();
    if (!error.empty()) window_.say("The plan could not be kept against a crash: " + error);
}

void Files::autosave() {
    if (!recovery_) return;
    recovery_->keep(window_.own_document().unsaved());
    recovery_->flush();
}

void Files::closed() {
    if (!recovery_) return;
    recovery_->finish();
    window_.guarded("", [&] { remember_open(); });
}

// Discarded edits do not come back: a file is read as it is on the disk, and of a plan without one,
// edits are not remembered.
void Files::remember_open() const {
    const Document& d = window_.own_document();
    nlohmann::ordered_json last;
    if (!d.path().empty())
        last["file"] = d.path().string();
    else if (!d.modified())
        last["plan"] =
            nlohmann::ordered_json::parse(write_plan(without_own_presets(d.plan(), window_.presets)));
    fs::create_directories(window_.host.config_folder);
    // A name that is no UTF-8 is not found again, and harms nothing else.
    write_file((window_.host.config_folder / kLastOpen).string(),
               last.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

void Files::reopen() {
    const fs::path last = window_.host.config_folder / kLastOpen;
    if (window_.host.config_folder.empty() || !is_there(last)) return;
    try {
        const auto json = nlohmann::ordered_json::parse(read_file(last.string()));
        const std::string file = json.value("file", "");
        const bool known = !file.empty() && is_there(file);
        if (!known && !json.contains("plan")) return;
        const std::string text = known ? read_file(file) : json["plan"].dump();
        Incoming in = read_incoming(text, known ? file : last.string(), window_.presets);
        if (in.kind != IncomingKind::plan) return;
        window_.document.replace_unmodified({std::move(in.plan), known ? fs::path(file) : fs::path(), true});
    } catch (const std::exception&) {  // the first plan stays
        return;
    }
    show_scene_of_plan();
    window_.dirty = true;
}

void Files::look_for_left_plans() {
    left_names_.clear();
    if (!recovery_) return;
    recovery_->look();
    for (const LeftPlan& left : recovery_->left()) {
        std::string name = left.file.filename().string();
        try {
            const Plan plan = parse_plan(read_file(left.file), left.file.string(), window_.presets);
            name = title_of(plan);
        } catch (const Error&) {
            name += " (cannot be read)";  // why is said when it is opened
        }
        left_names_.push_back(std::move(name));
    }
}

bool Files::offer_recovery() {
    look_for_left_plans();
    if (left_names_.empty()) return false;
    window_.ask(DialogKind::recover, "", nullptr);
    return true;
}

void Files::open_left(std::size_t index) {
    const LeftPlan left = recovery_->left().at(index);
    Plan plan = parse_plan(read_file(left.file), left.file.string(), window_.presets);
    replace_plan({std::move(plan), {}, false}, left_names_.at(index));
    autosave();  // it is this window's before it stops being the other's
    const std::string error = recovery_->take_error();
    if (!error.empty()) throw Error(ErrorKind::io, "", "", error);
    recovery_->forget(index);
    window_.close_dialog();
}

void Files::forget_left(std::size_t index) {
    recovery_->forget(index);
    look_for_left_plans();
    if (left_names_.empty()) window_.close_dialog();
}

// ---- the end ------------------------------------------------------------------------------------------

std::string Files::close_words() const {
    std::string words =
        window_.document.modified() ? title_of(window_.document.plan()) + " was changed and not saved." : "";
    std::string others;
    for (const UnsavedPlan& p : window_.document.unsaved()) {
        if (p.plan.get() == &window_.document.plan()) continue;
        others += (others.empty() ? "" : "; ") + title_of(*p.plan);
    }
    if (!others.empty())
        words += (words.empty() ? "" : " ")
                 + ("Opened before and changed, too: " + others + ". Save asks about each.");
    return words;
}

bool Files::may_close() {
    window_.apply(sheets_.typed_notes());
    if (window_.quit || window_.own_document().unsaved().empty()) return true;
    desk_.leave();
    ask_to_keep();
    return false;
}

// Asks about the open plan first; once it is saved, about the next that would be lost.
void Files::ask_to_keep() {
    if (!window_.document.modified()) {
        const std::vector<UnsavedPlan> left = window_.document.unsaved();
        if (left.empty()
            || !window_.document.bring_back(left.front().file, "back to " + title_of(*left.front().plan))) {
            window_.quit = true;
            return;
        }
        window_.selection = {};
        window_.dirty = true;
    }
    window_.ask(DialogKind::close, close_words(), [this] { ask_to_keep(); });
}

// ---- links ----------------------------------------------------------------------------------------------
namespace {

// Without a base of one's own, and outside of a page: the file that scripts/web builds.
constexpr const char* kPage = "pentamesh.html";

bool is_address(std::string_view text) {
    return text.size() < kLongestLink && text.find_first_of(" \n\t#<>\"") == std::string_view::npos
           && (text.starts_with("https://") || text.starts_with("http://") || text.starts_with("file://"));
}

}  // namespace

void Files::open_link(const std::string& text) {
    window_.guarded("", [&] {
        const Link link = read_link(text);
        const auto at =
            std::find_if(desk_.lessons().begin(), desk_.lessons().end(), [&](const LessonEntry& e) {
                return e.id == link.lesson || e.id.starts_with(link.lesson + "-");
            });
        if (!link.lesson.empty() && at == desk_.lessons().end())
            throw Error(ErrorKind::invalid, "the link", "", "there is no lesson " + link.lesson);
        if (!link.plan.empty()) take(read_incoming(link.plan, "the link", window_.presets), {}, "the link");
        if (!link.lesson.empty()) {
            desk_.open(at->file);
            const std::size_t steps = desk_.lesson().lesson.steps.size();
            if (link.step > 0 && steps > 0) go_to_step(desk_.lesson(), std::min(link.step, steps) - 1);
        }
        if (link.view) window_.show_full(*link.view);
    });
}

void Files::add_link_commands(std::vector<Command>& commands) {
    const auto copy = [this] {
        Link link;
        const bool ships = desk_.lesson().open
                           && std::any_of(desk_.lessons().begin(), desk_.lessons().end(),
                                          [&](const auto& e) { return e.file == desk_.lesson().file; });
        if (ships) {
            link.lesson = desk_.lesson().file.stem().string();
            link.step = desk_.lesson().step + 1;
        } else {
            link.plan = nlohmann::ordered_json::parse(plan_text()).dump();
            link.view = window_.full;
        }
        const std::string& own = window_.settings.link_base;
        const std::string& here = window_.host.page_address;
        const std::string base = !own.empty() ? own : !here.empty() ? here : kPage;
        const std::string text = base + write_link(link);
        window_.host.set_clipboard(text);
        if (text.size() > kLongestLink)
            window_.say("Copied a link of " + std::to_string(text.size())
                        + " characters, longer than some programs take: Save as… makes a file to hand on");
        else
            window_.say(base == kPage
                            ? "Copied the link. It begins with pentamesh.html; the menu Edit changes that"
                            : "Copied the link");
    };
    commands.push_back(in_menu("Edit", "edit.copy_link", "Copy link", {}, copy,
                               [this] { return static_cast<bool>(window_.host.set_clipboard); }));
    commands.push_back(
        {.id = "edit.link_base",
         .title = "Links begin with the copied address",
         .menu = "Edit",
         .run =
             [this] {
                 std::string text = window_.host.clipboard();
                 text = text.substr(0, text.find('#'));
                 if (!is_address(text)) {
                     window_.say(
                         "Copy the page's address first (https://…/pentamesh.html); links will begin with "
                         "it");
                     return;
                 }
                 window_.settings.link_base = text;
                 window_.say("Links begin with " + text);
             },
         .enabled = [this] { return static_cast<bool>(window_.host.clipboard); }});
}

}  // namespace pentamesh::ui
