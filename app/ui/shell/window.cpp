#include "app/ui/shell/window.h"

#include "app/ui/kit/format.h"
#include "app/ui/lesson/lesson_session.h"
#include "app/ui/panels/plan_panel.h"
#include "app/ui/shell/decider.h"
#include "app/ui/shell/dialogs.h"
#include "app/ui/shell/files.h"
#include "app/ui/shell/menu_bar.h"
#include "app/ui/shell/sheets.h"
#include "app/ui/views/search/search_found.h"
#include "core/advice/advice.h"
#include "core/base/files.h"
#include "core/io/presets.h"
#include "core/pipeline/follow.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/plan/stand_in.h"
#include "core/sharding/sharding.h"
#include "core/teach/hand_in.h"
#include "core/teach/translation.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace pentamesh::ui {

namespace {

// Returns the device whose order has the op of that number.
std::ptrdiff_t device_of(const Order& order, std::ptrdiff_t op) {
    const auto above = std::upper_bound(order.begin.begin(), order.begin.end(), static_cast<std::size_t>(op));
    return above - order.begin.begin() - 1;
}

std::vector<Placement> tensors_of(const Plan& plan, const Evaluation& e, bool activations) {
    if (e.mesh.world <= 0) return {};
    return activations ? list_placements(plan, e.mesh, TensorState::activations, Moment::computing)
                       : list_placements(plan, e.mesh, TensorState::parameters, Moment::at_rest);
}

std::string name_at(const std::vector<Placement>& all, int index) {
    const auto i = static_cast<std::size_t>(index);
    return index >= 0 && i < all.size() ? std::string(name_of(all[i].id)) : std::string();
}

int place_of_name(const std::vector<Placement>& all, const std::string& name) {
    const auto same =
        std::find_if(all.begin(), all.end(), [&](const Placement& p) { return name_of(p.id) == name; });
    return same == all.end() ? -1 : static_cast<int>(same - all.begin());
}

}  // namespace

SelectedThings::Call SelectedThings::call_of(const Operation& o) {
    return {o.group, o.phase, o.recomputed, o.what};
}

void SelectedThings::note(const Plan& plan, const Evaluation& e, const Selection& s) {
    const auto& calls = e.comm.operations;
    if (s.operation != operation_) {
        operation_ = s.operation;
        if (s.operation >= 0 && s.operation < static_cast<int>(calls.size()))
            call_ = call_of(calls[static_cast<std::size_t>(s.operation)]);
    }
    const Order& order = e.timeline.order;
    if (s.op != op_) {
        op_ = s.op;
        if (s.op >= 0 && s.op < static_cast<std::ptrdiff_t>(order.ops.size()))
            block_ = {device_of(order, s.op), order.ops[static_cast<std::size_t>(s.op)]};
    }
    if (s.tensor == tensor_ && s.activation == activation_) return;
    tensor_ = s.tensor, activation_ = s.activation;
    const bool activation = s.activation >= 0;
    if (!activation && s.tensor < 0) return;
    tensor_name_ = name_at(tensors_of(plan, e, activation), activation ? s.activation : s.tensor);
}

void SelectedThings::find(const Plan& plan, const Evaluation& e, Selection& s) const {
    const auto& calls = e.comm.operations;
    if (s.operation >= 0 && s.operation == operation_) {
        const auto same =
            std::find_if(calls.begin(), calls.end(), [&](const Operation& o) { return call_of(o) == call_; });
        s.operation = same == calls.end() ? -1 : static_cast<int>(same - calls.begin());
    } else if (s.operation >= static_cast<int>(calls.size())) {
        s.operation = -1;
    }
    const Order& order = e.timeline.order;
    if (s.op >= 0 && s.op == op_) {
        s.op = -1;
        if (block_.device + 1 < static_cast<std::ptrdiff_t>(order.begin.size())) {
            const auto device = static_cast<std::size_t>(block_.device);
            const auto first = order.ops.begin() + static_cast<std::ptrdiff_t>(order.begin[device]),
                       last = order.ops.begin() + static_cast<std::ptrdiff_t>(order.begin[device + 1]);
            const auto same = std::find(first, last, block_.op);
            if (same != last) s.op = same - order.ops.begin();
        }
    } else if (s.op >= static_cast<std::ptrdiff_t>(order.ops.size())) {
        s.op = -1;
    }
    const bool activation = s.activation >= 0;
    if ((activation || s.tensor >= 0) && s.tensor == tensor_ && s.activation == activation_)
        (activation ? s.activation : s.tensor) = place_of_name(tensors_of(plan, e, activation), tensor_name_);
}

namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
    std::error_code ignored;
    return !path.empty() && fs::is_directory(path, ignored);
}

// "Two nodes of four" as a file is called: two-nodes-of-four. Letters beyond ASCII stay.
std::string file_name_of(const Plan& plan) {
    std::string name = file_stem(title_of(plan));
    for (char& c : name)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return (name.empty() ? "plan" : name) + ".plan.json";
}

}  // namespace

Window::Window(const Presets& shipped, Plan plan, Host asked)
    : presets(shipped), document(std::move(plan)), host(std::move(asked)) {
    guarded("The glossary", [this] {
        const fs::path file = presets.root().parent_path() / "assets" / "glossary.json";
        glossary = load_glossary(read_file(file), file.string());
        const fs::path own = lesson_folders(presets, host.lessons_folder).own_glossary();
        if (!own.empty()) glossary = with_own_texts(glossary, read_file(own), own.string());
    });
}

Scene Window::scene(Hover& next) {
    std::optional<InjectedStage> injected = views.timeline.injected(document.plan(), evaluation, evaluated);
    return {.plan = document.plan(),
            .evaluation = evaluation,
            .presets = presets,
            .selection = selection,
            .hover = hover,
            .next_hover = next,
            .time_cursor_s = views.timeline.cursor_s,
            .shown_timeline = views.timeline.current(evaluation, evaluated),
            .glossary = &glossary,
            .run = real_run.get(),
            .asked = hidden_answer.open,
            .in_lesson = set_aside.has_value(),
            .axes = axes,
            .injected = std::move(injected)};
}

Screen Window::screen() const {
    return {views, selection, settings, full, document.revision(), hidden_answer, task, real_run, axes};
}

void Window::show(const Screen& screen) {
    views = screen.views;
    if (views.search.found && views.search.found->running) {  // by another window: it has what is there
        auto found = std::make_shared<SearchFound>(*views.search.found);
        found->running = false;
        views.search.found = std::move(found);
    }
    selection = screen.selection;
    settings = screen.settings;
    full = screen.full;
    hidden_answer = screen.hidden_answer;
    task = screen.task;
    real_run = screen.run;
    axes = screen.axes;
    document.continue_after(screen.revision);  // what the views keep is made anew
    replaced = true;
    evaluate();
}

namespace {

// A plan whose model or cluster is not known has its layout and no figure: every view then says that.
void keep_layout(Evaluation& e, bool knows_model) {
    Evaluation layout;
    layout.mesh = e.mesh;
    layout.groups = e.groups;
    if (knows_model) layout.parameters = e.parameters;
    e = std::move(layout);
}

}  // namespace

void Window::evaluate() {
    const double begun = host.now_s ? host.now_s() : 0;
    assess(document.plan(), evaluation);
    if (is_stand_in(document.plan())) keep_layout(evaluation, is_known(document.plan().model));
    if (task) keep_to_task(*task, evaluation.problems);
    evaluate_s = host.now_s ? host.now_s() - begun : -1;
    evaluated = document.revision();
    if (evaluation.valid && lost_selection_ && selection == lost_selection_->left)
        selection = lost_selection_->whole;
    const Selection before = selection;
    if (selection.rank >= evaluation.mesh.world) selection.rank = -1;
    if (!selection.ranks.empty() && selection.ranks.back() >= evaluation.mesh.world)
        selection = selection.cleared();
    if (selection.stage >= static_cast<int>(evaluation.memory.stage.size())) selection.stage = -1;
    selected.find(document.plan(), evaluation, selection);
    // A selection that an impossible plan does not have comes back in the next possible one.
    if (evaluation.valid) {
        lost_selection_.reset();
        selected.note(document.plan(), evaluation, selection);
    } else if (!lost_selection_) {
        lost_selection_ = {before, selection};
    }
}

void Window::apply(std::optional<PlanEdit> edit) {
    if (!edit || peeks) return;
    edit->plan = with_true_words(document.plan(), std::move(edit->plan), presets);
    std::string said = lost_words_text(document.plan(), edit->plan);
    if (!said.empty()) said += "; Ctrl+Z undoes that";
    if (const std::string stays = words_of_edit(document.plan(), edit->plan); !stays.empty())
        said += (said.empty() ? "" : ". ") + stays;
    // A model of one's own that no file has is kept, as a replaced plan is.
    if (edit->other_model && document.modified() && is_own_model(document.plan())
        && is_known(document.plan().model)) {
        const std::string name = title_of(edit->plan);
        return replace_plan({std::move(edit->plan), {}, false}, name);
    }
    // The meshes show the groups of the axis that was touched.
    const std::optional<Axis> touched = edit->touched;
    if (touched && factor_in_force(edit->plan, *touched) > 1) {
        if (selection.all_axes) shown_by_edit = group_of(*touched);
        selection.choose(group_of(*touched));
    }
    const std::uint64_t revision = document.revision();
    PlanEdited how{edit->what, touched, !edit->merge_key.empty(), document.merges(edit->merge_key)};
    document.edit(std::move(edit->plan), std::move(edit->what), std::move(edit->merge_key));
    if (document.revision() != revision) edited = std::move(how), ++edits;
    // The plan of a lesson's step is nobody's own: its title and notes are missed by none.
    if (!said.empty() && !set_aside) say(std::move(said));
    dirty = true;
}

bool Window::lacks_plan(std::string_view to_do) {
    const std::string words = not_known_words(document.plan());
    if (words.empty()) return false;
    say("There is no plan to " + std::string(to_do) + ": " + words);
    return true;
}

void Window::undo() {
    document.undo(), toast.clear();
    if (std::exchange(shown_by_edit, std::nullopt) == selection.group) selection.all_axes = true;
}

void Window::peek() {
    const std::string last = document.undo_text();
    if (peeks || !document.undo()) return;
    before_peek_ = selection;
    peeks = replaced = dirty = true;
    say("The plan before \"" + last + "\", until Space is released");
}

void Window::end_peek() {
    if (!peeks) return;
    document.redo();
    toast.clear();
    peeks = false;
    replaced = dirty = true;
    evaluate();
    selection = before_peek_;
}

void Window::ask(DialogKind kind, std::string text, std::function<void()> after, std::string error) const {
    if (parts.dialogs != nullptr)
        parts.dialogs->ask(kind, std::move(text), std::move(after), std::move(error));
}

void Window::close_dialog() const {
    if (parts.dialogs != nullptr) parts.dialogs->close();
}

void Window::replace_plan(OpenedPlan opened, const std::string& named) const {
    if (parts.files != nullptr) parts.files->replace_plan(std::move(opened), named);
}

void Window::search_commands(std::string words) const {
    if (parts.menus != nullptr) parts.menus->search(std::move(words));
}

void Window::import_settings(const std::filesystem::path& log) const {
    if (parts.sheets != nullptr) parts.sheets->import(log_text(log), log.filename().string());
}

void Window::open_run(const std::filesystem::path& file) const {
    if (parts.runs != nullptr) parts.runs->add(file);
}

bool Window::has_chosen_plan() const {
    if (host.plan_chosen) return true;
    Plan first = presets.plan(kFirstPlan);
    first.scene = document.plan().scene;
    return !(first == document.plan());
}

void Window::say(std::string text, double for_s) {
    toast = std::move(text);
    toast_until_s = now_s + for_s;
}

void Window::show_full(std::optional<ViewId> view) {
    full = view;
    alone = SidePane::view;
    dirty = state.redraw_all = true;
}

void Window::toggle_full(ViewId view) {
    show_full(full == view ? std::nullopt : std::optional(view));
}

void Window::later(std::string what, std::function<void()> run) {
    queue_.push_back({std::move(what), std::move(run)});
    dirty = true;
}

void Window::run_queue() {
    end_peek();
    for (const Queued& q : std::exchange(queue_, {})) {
        guarded(q.what, q.run);
        dirty = true;
    }
}

bool Window::guarded(std::string_view what, const std::function<void()>& act) {
    try {
        act();
        return true;
    } catch (const std::exception& e) {
        say((what.empty() ? "" : std::string(what) + ": ") + e.what());
        dirty = true;
        return false;
    }
}

bool Window::draw_guarded(Ui& ui, std::string_view what, Rect room, const std::function<void()>& draw) {
    const Ui::Mark begun = ui.mark();
    std::string reason;
    try {
        draw();
        return true;
    } catch (const std::exception& e) {
        reason = e.what();
    }
    ui.unwind(begun);
    const std::string text = std::string(what) + " could not be drawn: " + reason;
    if (room.w > 0) ui.canvas().paragraph(room.inset(16, 48), text, ui.style(13, Tone::secondary), 20);
    if (toast != text) say(text);
    return false;
}

void Window::edit_plan(Plan plan, std::string what) {
    apply(PlanEdit{std::move(plan), std::move(what), ""});
}

// Returns the plan's own file if `name` is empty and there is one; else a path in the first folder.
std::string Window::proposed_file(std::string_view name) const {
    if (name.empty() && !document.path().empty()) return document.path().string();
    return (first_folder() / (name.empty() ? file_name_of(document.plan()) : std::string(name))).string();
}

// Returns the first of these that is a folder: the plan's, the last file's, the home; else the current one.
fs::path Window::first_folder() const {
    std::error_code ignored;
    fs::path folder = document.path().parent_path();
    if (!is_folder(folder) && !settings.recent.empty()) folder = fs::path(settings.recent[0]).parent_path();
    if (!is_folder(folder)) folder = host.home;
    return is_folder(folder) ? folder : fs::current_path(ignored);
}

// Open plans that stood over a preset that changed or went keep what they meant, in every state.
void Window::own_presets_changed() {
    const auto same = [this](const Plan& plan) { return with_same_meaning(plan, presets); };
    document.rewrite(same);
    if (set_aside) set_aside->rewrite(same);
    dirty = true;
}

void Window::show_side(SidePane pane, bool in_lesson) {
    (in_lesson ? side : alone) = pane;
    seek_marked = pane == SidePane::plan;
    dirty = true;
}

}  // namespace pentamesh::ui
