#include "app/ui/shell/document.h"

#include "core/base/files.h"
#include "core/io/plan_json.h"

#include <algorithm>
#include <optional>

namespace pentamesh::ui {

namespace {

constexpr std::size_t kMostSteps = 1000;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;

// Texts and lists are what makes one plan larger than another.
std::size_t bytes_of_plan(const Plan& p) {
    std::size_t bytes = sizeof(Plan) + p.name.capacity() + p.notes.capacity() + p.model.name.capacity()
                        + p.layout.stage_layers.capacity() * sizeof(p.layout.stage_layers[0])
                        + p.cluster.tiers.capacity() * sizeof(Tier);
    const AuthorWords& w = p.review;
    for (const std::string* said : {&w.decision, &w.alternatives, &w.owner, &w.risks, &w.open_questions})
        bytes += said->capacity();
    for (const Source* s : {&p.model_source, &p.cluster_source})
        for (const std::string& o : s->overrides) bytes += sizeof(std::string) + o.capacity();
    return bytes;
}

}  // namespace

Document::Document(Plan plan) : now_(state_of({std::move(plan)})) {}

Document::State Document::state_of(OpenedPlan opened) {
    State state;
    state.plan = std::make_shared<const Plan>(std::move(opened.plan));
    const Stamp stamp = stamp_of(opened.path);
    state.file = std::make_shared<File>(
        File{++files_, std::move(opened.path), opened.kept ? state.plan : nullptr, stamp});
    return state;
}

Document::Stamp Document::stamp_of(const std::filesystem::path& path) {
    std::error_code error;
    if (path.empty() || !std::filesystem::is_regular_file(path, error)) return {};
    const auto time = std::filesystem::last_write_time(path, error);
    if (error) return {};
    const std::uintmax_t bytes = std::filesystem::file_size(path, error);
    return error ? Stamp{} : Stamp{time, bytes};
}

bool Document::changed_elsewhere() const {
    const Stamp now = stamp_of(path());
    return !(now == Stamp{}) && !(now == now_.file->stamp);
}

std::size_t Document::history_bytes() const {
    std::size_t bytes = 0;
    for (const auto* steps : {&undo_, &redo_})
        for (const Step& s : *steps) bytes += bytes_of_plan(*s.state.plan);
    return bytes;
}

bool Document::State::modified() const {
    if (file->saved == nullptr) return true;
    if (plan == file->saved) return false;
    if (plan->scene == file->saved->scene) return !(*plan == *file->saved);
    Plan same_scene = *plan;
    same_scene.scene = file->saved->scene;
    return !(same_scene == *file->saved);
}

void Document::push_undo(std::string what) {
    redo_.clear();
    undo_.push_back({now_, std::move(what)});
    std::size_t first = undo_.size(), bytes = 0;
    while (first > 0 && undo_.size() - first < kMostSteps) {
        bytes += bytes_of_plan(*undo_[first - 1].state.plan);
        if (bytes > kMostBytes && first < undo_.size()) break;  // the last step is always kept
        --first;
    }
    undo_.erase(undo_.begin(), undo_.begin() + static_cast<std::ptrdiff_t>(first));
}

bool Document::merges(std::string_view merge_key) const {
    return !merge_key.empty() && merge_key == merge_key_ && !undo_.empty();
}

void Document::edit(Plan plan, std::string what, std::string merge_key) {
    if (plan == *now_.plan) return;
    const bool merges = this->merges(merge_key);
    if (merges)
        redo_.clear(), undo_.back().what = std::move(what);
    else
        push_undo(std::move(what));
    now_.plan = std::make_shared<const Plan>(std::move(plan));
    merge_key_ = std::move(merge_key);
    ++revision_;
}

void Document::replace(OpenedPlan opened, std::string what) {
    push_undo(std::move(what));
    replace_unmodified(std::move(opened));
}

void Document::replace_unmodified(OpenedPlan opened) {
    now_ = state_of(std::move(opened));
    redo_.clear();
    merge_key_.clear();
    ++revision_;
}

bool Document::bring_back(std::uint64_t file, std::string what) {
    const auto of_file = [&](const Step& s) { return s.state.file->id == file; };
    auto at = std::find_if(undo_.rbegin(), undo_.rend(), of_file);
    std::optional<State> found;
    if (at != undo_.rend()) found = at->state;
    if (at = std::find_if(redo_.rbegin(), redo_.rend(), of_file); !found && at != redo_.rend())
        found = at->state;
    if (!found) return false;
    push_undo(std::move(what));
    now_ = std::move(*found);
    merge_key_.clear();
    ++revision_;
    return true;
}

void Document::looked_at(Plan plan, std::string what) {
    redo_.push_back({state_of({std::move(plan)}), std::move(what)});
    merge_key_.clear();
}

bool Document::exchange(std::vector<Step>& from, std::vector<Step>& to) {
    if (from.empty()) return false;
    Step step = std::move(from.back());
    from.pop_back();
    to.push_back({std::move(now_), step.what});
    now_ = std::move(step.state);
    merge_key_.clear();
    ++revision_;
    return true;
}

bool Document::undo() {
    return exchange(undo_, redo_);
}
bool Document::redo() {
    return exchange(redo_, undo_);
}

void Document::rewrite(const std::function<Plan(const Plan&)>& change) {
    const auto take = [&](State& s) {
        Plan plan = change(*s.plan);
        if (!(plan == *s.plan)) s.plan = std::make_shared<const Plan>(std::move(plan));
    };
    take(now_);
    for (auto* steps : {&undo_, &redo_})
        for (Step& s : *steps) take(s.state);
    merge_key_.clear();
    ++revision_;
}

void Document::belongs_to(const std::filesystem::path& path) {
    now_.file->path = path;
    now_.file->saved = now_.plan;
    now_.file->stamp = stamp_of(path);
    // Another opening of the same file, further back: what it was saved as is no longer on the disk.
    for (auto* steps : {&undo_, &redo_})
        for (Step& s : *steps)
            if (s.state.file->path == path)
                s.state.file->saved = now_.plan, s.state.file->stamp = now_.file->stamp;
}

void Document::save_as(const std::filesystem::path& path, const SavedScene& scene) {
    Plan written = *now_.plan;
    written.scene = scene;
    write_file(path, write_plan(written));
    belongs_to(path);
}

std::vector<UnsavedPlan> Document::unsaved() const {
    std::vector<UnsavedPlan> out;
    std::vector<std::uint64_t> seen;
    // The state of a file that is nearest to now is what somebody would look for.
    const auto look = [&](const State& s) {
        if (std::find(seen.begin(), seen.end(), s.file->id) != seen.end()) return;
        seen.push_back(s.file->id);
        if (s.modified()) out.push_back({s.file->id, s.file->path, s.plan});
    };
    look(now_);
    for (std::size_t i = undo_.size(); i-- > 0;) look(undo_[i].state);
    for (std::size_t i = redo_.size(); i-- > 0;) look(redo_[i].state);
    return out;
}

}  // namespace pentamesh::ui
