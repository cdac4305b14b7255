#include "app/ui/shell/files.h"

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/panels/import_sheet.h"
#include "app/ui/shell/document.h"
#include "app/ui/shell/picture.h"
#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/io/hf_families.h"
#include "core/io/plan_json.h"
#include "core/io/presets.h"
#include "core/model/model.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/runs/run_file.h"
#include "render/page.h"
#include "render/png.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>

namespace pentamesh::ui {

namespace {

namespace fs = std::filesystem;

#if defined(_WIN32)
constexpr std::string_view kSeparators = "/\\";
#else
constexpr std::string_view kSeparators = "/";
#endif

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

bool begins_alike(std::string_view name, std::string_view leaf) {
    return name.size() >= leaf.size() && lower(name.substr(0, leaf.size())) == lower(leaf);
}

bool has_ending(std::string_view name, const std::vector<std::string>& endings) {
    return endings.empty() || std::any_of(endings.begin(), endings.end(), [&](const std::string& e) {
               return name.size() > e.size() && lower(name.substr(name.size() - e.size())) == e;
           });
}

// Returns true if a letter of several bytes goes on at this byte.
bool goes_on(std::string_view text, std::size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
}

}  // namespace

FolderList list_folder(const fs::path& folder, const std::vector<std::string>& endings, bool hidden) {
    FolderList list;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        FolderName entry{it->path().filename().string()};
        if (!hidden && entry.name.starts_with('.')) continue;
        std::error_code ignored;  // it may go away meanwhile
        entry.folder = it->is_directory(ignored);
        if (!entry.folder && (!it->is_regular_file(ignored) || !has_ending(entry.name, endings))) continue;
        if (list.names.size() == kMostListedFiles) {
            list.cut = true;
            break;
        }
        list.names.push_back(std::move(entry));
    }
    if (error) list.error = folder.string() + " cannot be read: " + error.message();
    std::sort(list.names.begin(), list.names.end(), [](const FolderName& a, const FolderName& b) {
        const std::string x = lower(a.name), y = lower(b.name);
        return std::tie(b.folder, x, a.name) < std::tie(a.folder, y, b.name);
    });
    if (folder.has_parent_path() && folder.parent_path() != folder)
        list.names.insert(list.names.begin(), {"..", true});
    return list;
}

fs::path typed_in(std::string_view typed, const fs::path& folder, const fs::path& home) {
    const bool at_home = !home.empty() && (typed == "~" || typed.starts_with("~/"));
    const fs::path path = at_home ? home.string() + std::string(typed.substr(1)) : std::string(typed);
    std::error_code ignored;
    const fs::path whole = fs::absolute(path.is_absolute() ? path : folder / path, ignored);
    return (whole.empty() ? path : whole).lexically_normal();
}

fs::path folder_of_typed(std::string_view typed, const fs::path& folder, const fs::path& home) {
    if (typed.empty()) return folder;
    const fs::path path = typed_in(typed, folder, home);
    const bool itself = typed == "~" || kSeparators.find(typed.back()) != std::string_view::npos;
    return itself && path.has_filename() ? path : path.parent_path();
}

bool lies_in(const fs::path& path, const fs::path& folder) {
    const fs::path whole = path.lexically_normal(), fence = folder.lexically_normal();
    return std::mismatch(fence.begin(), fence.end(), whole.begin(), whole.end()).first == fence.end();
}

std::string_view leaf_of_typed(std::string_view typed) {
    const std::size_t at = typed.find_last_of(kSeparators);
    return at == std::string_view::npos ? typed : typed.substr(at + 1);
}

std::string completed(std::string_view typed, const FolderList& list) {
    const std::string_view leaf = leaf_of_typed(typed);
    std::string common;
    const FolderName* only = nullptr;
    int found = 0;
    for (const FolderName& e : list.names) {
        if (!begins_alike(e.name, leaf) || (leaf.empty() && e.name == "..")) continue;
        if (found++ == 0) {
            common = e.name;
            only = &e;
            continue;
        }
        std::size_t n = 0;
        while (n < common.size() && n < e.name.size() && common[n] == e.name[n]) ++n;
        while (n > 0 && (goes_on(common, n) || goes_on(e.name, n))) --n;
        common.resize(n);
    }
    if (found == 0 || common.size() < leaf.size()) return std::string(typed);
    std::string out(typed.substr(0, typed.size() - leaf.size()));
    out += common;
    if (found == 1 && only->folder) out += '/';
    return out;
}

int first_match(const FolderList& list, std::string_view leaf) {
    if (leaf.empty()) return -1;
    for (std::size_t i = 0; i < list.names.size(); ++i)
        if (begins_alike(list.names[i].name, leaf)) return static_cast<int>(i);
    return -1;
}

namespace {

namespace fs = std::filesystem;

constexpr float kNameRow = 24, kFieldHeight = 30, kRecentWidth = 230;

std::string with_separator(const fs::path& folder) {
    std::string text = folder.string();
    if (!text.empty() && text.back() != '/' && text.back() != '\\') text += '/';
    return text;
}

struct Asking {
    Ui& ui;
    PathField& f;
    std::string& typed;
    const fs::path& home;
    bool& fresh;
    PathPicked picked{};

    // The field takes its new text once it has been left.
    void go_to(const fs::path& folder) {
        leave_text_field();
        f.go_to(folder, typed);
        fresh = true;
    }

    void enter(const FolderName& n) {
        const fs::path to = (f.folder / n.name).lexically_normal();
        if (n.folder) return go_to(to.has_filename() ? to : to.parent_path());
        leave_text_field();
        typed = to.string();
        picked.go = true;
    }

    void path_row(Rect row) {
        const std::function<std::string(const std::string&)> complete = [&](const std::string& text) {
            f.follow(text, home);
            f.look(text);
            return completed(text, f.list);
        };
        bool changed = false;
        const bool entered = ui.text_field("dialog.path", row, typed, "path of a file; Tab completes it",
                                           std::exchange(fresh, false), &changed, &complete);
        if (changed) f.follow(typed, home);
        f.look(typed);
        if (!entered) return;
        if (f.cursor >= 0 && f.cursor < static_cast<int>(f.list.names.size()))
            return enter(f.list.names[static_cast<std::size_t>(f.cursor)]);
        std::error_code ignored;
        const fs::path path = typed_in(typed, f.base, home);
        if (!typed.empty() && !f.folders && fs::is_directory(path, ignored))
            go_to(path.has_filename() ? path : path.parent_path());
        else
            picked.go = true;
    }

    bool move_cursor() {
        const int n = static_cast<int>(f.list.names.size()), before = f.cursor;
        if (n == 0) return false;
        if (pressed({Key::down}, true)) f.cursor = std::min(n - 1, f.cursor + 1);
        if (pressed({Key::up}, true)) f.cursor = f.cursor < 0 ? n - 1 : std::max(0, f.cursor - 1);
        return f.cursor != before;
    }

    void name_row(Rect row, std::size_t i, bool matches) {
        const FolderName& n = f.list.names[i];
        const Hit hit = ui.area("dialog.file", row, i, true, false);
        const bool chosen = static_cast<int>(i) == f.cursor;
        row_ground(ui, row, hit, chosen || matches);
        if (chosen) ui.canvas().frame(row, ui.theme().text, 1, 4);
        ui.label(row.inset(8, 0), n.name + (n.folder ? "/" : ""), ui.style());
        if (hit.double_clicked) {
            ui.state().active = 0;  // its release means nothing in the folder that comes
            enter(n);
        } else if (hit.clicked) {
            f.cursor = static_cast<int>(i);
            if (!n.folder) typed = (f.folder / n.name).string();
        }
    }

    void names(Rect room) {
        const bool moved = move_cursor();
        ui.label(room.cut_top(22).inset(8, 0), f.folder.string(), ui.small());
        TextStyle style = ui.small();
        if (!f.list.error.empty()) style.color = ui.theme().bad;
        if (const std::string& why = f.list.error; !why.empty()) {
            ui.canvas().paragraph(room.inset(8, 4), why, style, 18);
            return;
        }
        ScrollArea area(ui, "dialog.files", room, f.scroll, {.wheel_step = 3 * kNameRow});
        const int match = f.cursor < 0 ? first_match(f.list, leaf_of_typed(typed)) : -1;
        for (std::size_t i = 0; i < f.list.names.size(); ++i) {
            Rect row = area.room.cut_top(kNameRow);
            row.w -= 10;  // of the thumb
            const bool matches = static_cast<int>(i) == match;
            if (static_cast<int>(i) == f.cursor && moved) area.show(row);
            if (matches && std::exchange(f.shown_match, match) != match) area.show(row);
            if (!area.sees(row)) continue;
            name_row(row, i, matches);
            if (f.listed.first.empty()) return;  // another folder was gone to
        }
        const bool empty = std::none_of(f.list.names.begin(), f.list.names.end(),
                                        [](const FolderName& n) { return n.name != ".."; });
        if (empty || f.list.cut)
            ui.canvas().text_in(area.room.cut_top(kNameRow).inset(8, 0),
                                empty ? "nothing that serves is here" : "and more: type the name", style);
    }

    void recent_files(Rect room, const std::vector<std::string>& labels) {
        ui.section(room.cut_top(22).inset(8, 0), "RECENT");
        ScrollArea area(ui, "dialog.places", room, f.recent_scroll);
        for (std::size_t i = 0; i < labels.size(); ++i) {
            Rect row = area.room.cut_top(kNameRow);
            row.w -= 10;
            const Hit hit = ui.area("dialog.place", row, i);
            row_ground(ui, row, hit);
            ui.label(row.inset(8, 0), labels[i], ui.style(13, Tone::secondary));
            if (hit.clicked) picked.recent = static_cast<int>(i);
        }
    }
};

}  // namespace

void PathField::begin(fs::path at, std::string& typed, const fs::path& home) {
    folder = base = std::move(at);
    cursor = -1;
    scroll = recent_scroll = {};
    read_again();
    if (typed.empty()) go_to(folder, typed);  // so that it can be read where
    follow(typed, home);
}

void PathField::go_to(fs::path to, std::string& typed) {
    if (!lies_in(to, fence)) return;
    const std::string leaf(leaf_of_typed(typed));
    folder = base = std::move(to);
    typed = saves ? (folder / leaf).string() : with_separator(folder);
    cursor = -1;
    scroll = {};
    read_again();
}

void PathField::follow(std::string_view typed, const fs::path& home) {
    cursor = -1;
    const fs::path to = folder_of_typed(typed, base, home);
    std::error_code ignored;
    if (to == folder || to.empty() || !lies_in(to, fence) || !fs::is_directory(to, ignored)) return;
    folder = to;
    scroll = {};
}

void PathField::look(std::string_view typed) {
    const std::pair now(folder, leaf_of_typed(typed).starts_with('.'));
    if (listed == now && !folder.empty()) return;
    list = list_folder(folder, endings, now.second);
    listed = now;
    cursor = std::min(cursor, static_cast<int>(list.names.size()) - 1);
}

PathPicked draw_path_field(Ui& ui, Rect room, PathField& field, std::string& typed,
                           const std::vector<std::string>& recent, const fs::path& home, bool& fresh) {
    Asking a{ui, field, typed, home, fresh};
    a.path_row(room.cut_top(kFieldHeight));
    room.cut_top(10);
    if (room.w > 520 && !recent.empty()) {
        a.recent_files(room.cut_left(kRecentWidth), recent);
        room.cut_left(16);
    }
    a.names(room);
    return a.picked;
}

namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::size_t kHeadOfPage = 512;  // an SVG file's root stands in it

bool is_picture(std::string_view text) {
    return text.starts_with("\x89PNG");
}
bool is_page(std::string_view text) {
    if (text.starts_with("%PDF")) return true;
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || text[first] != '<') return false;
    const std::string_view head = text.substr(first, kHeadOfPage);
    return head.find("<svg") != std::string_view::npos
           || head.find(":svg ") != std::string_view::npos                  // with the name of a namespace
           || head.find("content=\"Pentamesh ") != std::string_view::npos;  // a review of ours
}
// A lesson begins with its head between two lines of dashes.
bool is_lesson(std::string_view text) {
    return text.starts_with("---\n") || text.starts_with("---\r\n");
}

// A plan says so, or has a plan's parts; the model in it may be a whole Hugging Face config.
bool is_plan(const nlohmann::json& value) {
    return value.is_object() && (value.contains("format") || value.contains("cluster"));
}

bool is_model(const nlohmann::json& value) {
    return !is_plan(value) && is_hf_config(value);
}

// Returns true for settings of a framework that are neither a plan nor a config.json.
bool is_settings(const std::string& text) {
    if (!is_settings_text(text)) return false;
    const std::optional<nlohmann::json> value = try_parse_json(text);
    return !value || (!is_plan(*value) && !is_model(*value));
}

// A config without a file has no name of its own: "llama 70.6 B".
std::string name_of_pasted(const Model& model, const nlohmann::json& config) {
    const auto type = config.find("model_type");
    return (type != config.end() && type->is_string() ? type->get<std::string>() : std::string("model")) + " "
           + count_text(static_cast<double>(count_parameters(model).total));
}

}  // namespace

std::vector<std::string> incoming_endings() {
    return {".json", ".png", ".svg",  ".pdf", ".html", ".md", ".sh",
            ".yaml", ".yml", ".toml", ".py",  ".txt",  ".log"};
}

namespace {

// Returns the plans' texts in a picture or a page; no text: it is neither.
std::vector<std::string> plan_texts_inside(const std::string& text, const std::string& name) {
    std::vector<std::string> inside;
    if (is_picture(text)) {
        for (std::string key = "pentamesh.plan"; auto plan = read_png_text(text, key);
             key = "pentamesh.plan." + std::to_string(inside.size() + 1))
            inside.push_back(std::move(*plan));
    } else if (is_page(text)) {
        inside = read_all_embedded(text);
    } else {
        return {};
    }
    if (inside.empty())
        throw Error(ErrorKind::invalid, name, "",
                    is_picture(text) ? "this picture has no plan inside; only Pentamesh's own do"
                                     : "this page has no plan inside; only Pentamesh's own do");
    return inside;
}

}  // namespace

std::string plan_text_inside(const std::string& text, const std::string& name) {
    const std::vector<std::string> inside = plan_texts_inside(text, name);
    return inside.empty() ? text : inside.front();
}

Incoming read_incoming(const std::string& text, const std::string& name, const Presets& presets) {
    Incoming in;
    if (is_lesson(text)) {
        in.kind = IncomingKind::lesson;
        return in;
    }
    if (const std::string words = runs::run_file_words(text); !words.empty())
        throw Error(ErrorKind::invalid, name, "", words);
    const bool wrapped = is_picture(text) || is_page(text);
    if (!wrapped && is_settings(text)) {
        in.kind = IncomingKind::settings;
        in.text = text;
        return in;
    }
    const std::vector<std::string> inside = plan_texts_inside(text, name);
    const nlohmann::json value = parse_json(inside.empty() ? text : inside.front(), name);
    if (!wrapped && is_model(value)) {
        in.kind = IncomingKind::model;
        in.names_software = false;
        Source ignored;
        in.model = model_from_json(value, {name, ""}, presets, ignored);
        if (in.model.name.empty() || in.model.name == name) in.model.name = name_of_pasted(in.model, value);
        return in;
    }
    in.kind = wrapped ? IncomingKind::plan_inside : IncomingKind::plan;
    in.plan = plan_from_json(value, name, presets);
    in.names_software = value.contains(nlohmann::json::json_pointer("/training/software"));
    for (std::size_t i = 1; i < inside.size(); ++i)
        in.others.push_back(plan_from_json(parse_json(inside[i], name), name, presets));
    return in;
}

bool is_model_text(const std::string& text) {
    if (is_picture(text) || is_page(text)) return false;
    const std::optional<nlohmann::json> value = try_parse_json(text);
    return value && is_model(*value);
}

Plan with_model_of(const Plan& plan, const Model& model) {
    return with_true_title(plan, with_model(plan, model, ""));
}

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
    window_.host_names.list.clear();          // they are of another job
    window_.views.timeline.choice.slow = {};  // so is a stage that was slowed by hand
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
    names_software_ = in.names_software;
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
    if (is_run_place(file)) return runs_.add(file);
    take(read_incoming(read_file(file), file.string(), window_.presets), file, file.filename().string());
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
    if (window_.lacks_plan("save")) return;
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
        if (!link.view) return;
        if (link.page.empty() || !show_named_page(window_.views, *link.view, link.page))
            static_cast<void>(show_named_view(window_.views, link.page));
        window_.show_full(*link.view);
    });
}

void Files::add_link_commands(std::vector<Command>& commands) {
    const auto copy = [this] {
        Link link;
        const bool ships = desk_.lesson().open
                           && std::any_of(desk_.lessons().begin(), desk_.lessons().end(), [&](const auto& e) {
                                  return !e.own && e.file == desk_.lesson().file;
                              });
        if (ships) {
            link.lesson = desk_.lesson().file.stem().string();
            link.step = desk_.lesson().step + 1;
        } else if (window_.lacks_plan("link to")) {
            return;
        } else {
            link.plan = nlohmann::ordered_json::parse(plan_text()).dump();
            link.view = window_.full;
            for (const NamedPage& p : named_pages())
                if (link.view == p.view && is_shown(window_.views, p)) link.page = p.name;
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
