// Plans that come and go: opened, dropped, pasted, saved, asked about when the window closes.
#include "app/ui/kit/file_stem.h"
#include "app/ui/shell/link.h"
#include "app/ui/shell/saved_scene.h"
#include "app/ui/shell/shell.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/io/own_presets.h"
#include "core/io/plan_json.h"
#include "core/plan/title.h"

#include <algorithm>
#include <string>
#include <utility>

namespace pentamesh::ui {

namespace {

namespace fs = std::filesystem;

fs::path absolute_of(const fs::path& path) {
    std::error_code ignored;
    const fs::path whole = fs::absolute(path, ignored);
    return whole.empty() ? path : whole.lexically_normal();
}

std::string name_of(const Document& d) {
    return d.plan().name.empty() && !d.path().empty() ? d.path().filename().string() : title_of(d.plan());
}

// "Two nodes of four" as a file is called: two-nodes-of-four. Letters beyond ASCII stay.
std::string file_name_of(const Plan& plan) {
    std::string name = file_stem(title_of(plan));
    for (char& c : name)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return (name.empty() ? "plan" : name) + ".plan.json";
}

}  // namespace

std::string Shell::plan_text() const {
    return write_plan(without_own_presets(document_.plan(), presets_));
}

// ---- in -----------------------------------------------------------------------------------------------

void Shell::replace_plan(OpenedPlan opened, const std::string& named) {
    apply(typed_notes());
    leave_lesson();
    const std::string before = name_of(document_);
    replaced_ = true;
    document_.replace(std::move(opened), "open " + named);
    selection_ = {};
    host_names_.list.clear();  // they are of another job
    show_scene_of_plan();
    dirty_ = true;
    say("Opened " + named + "; Ctrl+Z brings " + before + " back");
}

// As it was left.
void Shell::show_scene_of_plan() {
    if (document_.plan().scene == SavedScene{}) return;
    evaluate_now();
    show_saved_scene(document_.plan().scene, evaluation_, views_, selection_, full_);
}

void Shell::open_plan(Plan plan) {
    const std::string name = title_of(plan);
    replace_plan({std::move(plan)}, name);
}

void Shell::opened_from(const fs::path& path, bool saved) {
    const fs::path file = path.empty() ? path : absolute_of(path);
    if (saved)
        document_.belongs_to(file);
    else
        document_.replace_unmodified({document_.plan(), file, false});
    if (!path.empty()) add_recent(settings_, path);
}

void Shell::edit_plan(Plan plan, std::string what) {
    apply(PlanEdit{std::move(plan), std::move(what), ""});
}

void Shell::begin_new_model() {
    apply(new_model_edit(document_.plan()));
    editor_.open_at(EditorSection::size);
}

// `path` is where it was read from; empty: from no file.
void Shell::take(Incoming in, const fs::path& path, const std::string& origin) {
    switch (in.kind) {
    case IncomingKind::lesson:
        if (path.empty())
            throw Error(ErrorKind::invalid, origin, "",
                        "this is a lesson; save it as a file that ends in .md and open that");
        open_lesson(path);
        return;
    case IncomingKind::settings: import_.open_with(std::move(in.text), origin); return;
    case IncomingKind::model: {
        leave_lesson();
        const std::string name = in.model.name;
        replace_plan({with_model_of(document_.plan(), in.model), {}, false}, "the model " + name);
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
    if (!path.empty()) add_recent(settings_, path);
}

void Shell::open_text(const std::string& text, const std::string& origin) {
    if (is_link(text)) return open_link(text);
    guarded("", [&] { take(read_incoming(text, origin, presets_), {}, origin); });
}

void Shell::load_file(const fs::path& path) {
    const fs::path file = absolute_of(path);
    if (file.extension() == ".md") {
        open_lesson(file);
        return;
    }
    const std::string text = read_file(file);
    // Runs that were measured are calibrated from, as is whatever comes while that is being done.
    if (calibrate_.open || is_measured_text(text)) {
        add_runs(file);
        return;
    }
    take(read_incoming(text, file.string(), presets_), file, file.filename().string());
}

void Shell::open_file(const fs::path& path) {
    guarded("", [&] { load_file(path); });
}

// ---- out ----------------------------------------------------------------------------------------------

void Shell::save(const fs::path& path) {
    document_.save_as(absolute_of(path), scene_as_saved(views_, selection_, full_));
    add_recent(settings_, document_.path());
    dirty_ = true;
    say(host_.in_page ? "Downloaded " + document_.path().filename().string()
                      : "Saved " + document_.path().string());
}

// Writes the plan to its file. It is asked for one where it has none, and where that cannot be written.
void Shell::save_or_ask(std::function<void()> after) {
    if (document_.path().empty()) {
        ask(DialogKind::save, proposed_file(), std::move(after));
        return;
    }
    if (document_.changed_elsewhere()) {
        ask(DialogKind::save, document_.path().string(), std::move(after),
            document_.path().string()
                + ": another program wrote this file after it was read here. Save again to replace it, or "
                  "give another name.");
        dialog_.confirmed = document_.path();
        return;
    }
    try {
        save(document_.path());
    } catch (const Error& e) {
        ask(DialogKind::save, document_.path().string(), std::move(after), e.what());
        return;
    }
    close_dialog();
    if (after) after();
}

// Where something new would be put: `name`, or a plan's own name, beside the file that was used last.
std::string Shell::proposed_file(std::string_view name) const {
    if (name.empty() && !document_.path().empty()) return document_.path().string();
    return (first_folder() / (name.empty() ? file_name_of(document_.plan()) : std::string(name))).string();
}

// ---- kept against a crash -----------------------------------------------------------------------------

void Shell::keep_unsaved() {
    if (!recovery_) return;
    recovery_->keep(own_document().unsaved());
    const std::string error = recovery_->take_error();
    if (!error.empty()) say("The plan could not be kept against a crash: " + error);
}

void Shell::autosave() {
    if (!recovery_) return;
    recovery_->keep(own_document().unsaved());
    recovery_->flush();
}

void Shell::closed() {
    if (recovery_) recovery_->finish();
}

void Shell::look_for_left_plans() {
    left_names_.clear();
    if (!recovery_) return;
    recovery_->look();
    for (const LeftPlan& left : recovery_->left()) {
        std::string name = left.file.filename().string();
        try {
            const Plan plan = parse_plan(read_file(left.file), left.file.string(), presets_);
            name = title_of(plan);
        } catch (const Error&) {
            name += " (cannot be read)";  // why is said when it is opened
        }
        left_names_.push_back(std::move(name));
    }
}

bool Shell::offer_recovery() {
    look_for_left_plans();
    if (left_names_.empty()) return false;
    welcome_ = false;
    ask(DialogKind::recover, "", nullptr);
    return true;
}

void Shell::open_left(std::size_t index) {
    const LeftPlan left = recovery_->left().at(index);
    Plan plan = parse_plan(read_file(left.file), left.file.string(), presets_);
    replace_plan({std::move(plan), {}, false}, left_names_.at(index));
    autosave();  // it is this window's before it stops being the other's
    const std::string error = recovery_->take_error();
    if (!error.empty()) throw Error(ErrorKind::io, "", "", error);
    recovery_->forget(index);
    close_dialog();
}

void Shell::forget_left(std::size_t index) {
    recovery_->forget(index);
    look_for_left_plans();
    if (left_names_.empty()) close_dialog();
}

// ---- the end ------------------------------------------------------------------------------------------

std::string Shell::close_words() const {
    std::string words =
        document_.modified() ? title_of(document_.plan()) + " was changed and not saved." : "";
    std::string others;
    for (const UnsavedPlan& p : document_.unsaved()) {
        if (p.plan.get() == &document_.plan()) continue;
        others += (others.empty() ? "" : "; ") + title_of(*p.plan);
    }
    if (!others.empty())
        words += (words.empty() ? "" : " ")
                 + ("Opened before and changed, too: " + others + ". Save asks about each.");
    return words;
}

bool Shell::may_close() {
    apply(typed_notes());
    if (quit_ || own_document().unsaved().empty()) return true;
    leave_lesson();
    ask_to_keep();
    return false;
}

// Of the open plan first; once it is saved, of the next that would be lost.
void Shell::ask_to_keep() {
    if (!document_.modified()) {
        const std::vector<UnsavedPlan> left = document_.unsaved();
        if (left.empty()
            || !document_.bring_back(left.front().file, "back to " + title_of(*left.front().plan))) {
            quit_ = true;
            return;
        }
        replaced_ = true;
        selection_ = {};
        dirty_ = true;
    }
    ask(DialogKind::close, close_words(), [this] { ask_to_keep(); });
}

}  // namespace pentamesh::ui
