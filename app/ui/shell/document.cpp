#include "app/ui/shell/document.h"

#include "core/base/files.h"
#include "core/io/plan_json.h"

namespace pentamesh::ui {

namespace {
constexpr std::size_t kHistoryLimit = 1000;
}

void Document::edit(Plan plan, std::string what, std::string merge_key) {
    if (plan == plan_) return;
    const bool merges = !merge_key.empty() && merge_key == merge_key_ && !undo_.empty();
    if (!merges) undo_.push_back({std::move(plan_), std::move(what)});
    if (undo_.size() > kHistoryLimit) undo_.erase(undo_.begin());
    plan_ = std::move(plan);
    redo_.clear();
    merge_key_ = std::move(merge_key);
    ++revision_;
}

bool Document::exchange(std::vector<Step>& from, std::vector<Step>& to) {
    if (from.empty()) return false;
    Step step = std::move(from.back());
    from.pop_back();
    to.push_back({std::move(plan_), step.what});
    plan_ = std::move(step.plan);
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

void Document::open(Plan plan, std::filesystem::path path) {
    plan_ = std::move(plan);
    saved_ = plan_;
    path_ = std::move(path);
    undo_.clear();
    redo_.clear();
    merge_key_.clear();
    ++revision_;
}

void Document::open_unsaved(Plan plan, std::filesystem::path path) {
    open(std::move(plan), std::move(path));
    saved_ = Plan{};
}

void Document::save_as(const std::filesystem::path& path) {
    write_file(path, write_plan(plan_));
    path_ = path;
    saved_ = plan_;
}

}  // namespace pentamesh::ui
