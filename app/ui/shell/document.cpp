#include "app/ui/shell/document.h"

#include "core/base/files.h"
#include "core/base/number.h"
#include "core/base/threads.h"
#include "core/io/plan_json.h"
#include "core/plan/names.h"
#include "core/plan/stand_in.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

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
        if (s.modified() && !is_stand_in(*s.plan)) out.push_back({s.file->id, s.file->path, s.plan});
    };
    look(now_);
    for (std::size_t i = undo_.size(); i-- > 0;) look(undo_[i].state);
    for (std::size_t i = redo_.size(); i-- > 0;) look(redo_[i].state);
    return out;
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".plan.json", kLock = ".lock", kHalfWritten = ".new-";
constexpr std::chrono::milliseconds kBetweenWrites{500};

// No two windows have one name: a process may get the number of one that is gone.
std::string new_name() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::to_string(process_id()) + "-"
           + std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// "4711-1700000000.2.plan.json" is a plan of the window 4711-1700000000.
std::string window_of(const fs::path& file) {
    const std::string name = file.filename().string();
    return name.substr(0, name.find('.'));
}

}  // namespace

std::string age_text(std::filesystem::file_time_type time) {
    using std::chrono::minutes;
    const auto age = std::filesystem::file_time_type::clock::now() - time;
    const auto n = std::max<std::int64_t>(0, std::chrono::duration_cast<minutes>(age).count());
    const auto text = [](std::int64_t count, const char* unit) {
        return std::to_string(count) + " " + unit + (count == 1 ? " ago" : "s ago");
    };
    if (n < 1) return "less than a minute ago";
    if (n < 120) return text(n, "minute");
    return n < 2880 ? text(n / 60, "hour") : text(n / 1440, "day");
}

Recovery::Recovery(fs::path folder, Write write)
    : folder_(std::move(folder)), write_text_(write ? std::move(write) : Write(write_plan)),
      window_(new_name()) {}

Recovery::~Recovery() {
    stop();
}

fs::path Recovery::file_of(const std::string& window, std::uint64_t file) const {
    return folder_ / (window + "." + std::to_string(file) + std::string(kEnding));
}

fs::path Recovery::lock_of(const std::string& window) const {
    return folder_ / (window + std::string(kLock));
}

// ---- writing ------------------------------------------------------------------------------------------

void Recovery::keep(const std::vector<UnsavedPlan>& plans) {
    Kept wanted;
    for (const UnsavedPlan& p : plans) wanted.emplace(p.file, p.plan);
    const std::scoped_lock lock(mutex_);
    if (wanted == wanted_) return;
    wanted_ = std::move(wanted);
    if constexpr (!kHasThreads) {
        error_ = written_down(wanted_, written_);
        return;
    }
    if (!writer_.joinable()) writer_ = std::thread([this] { write_loop(); });
    changed_.notify_all();
}

void Recovery::flush() {
    std::unique_lock lock(mutex_);
    if (!writer_.joinable()) return;
    hurry_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return written_ == wanted_ || !error_.empty(); });
    hurry_ = false;
}

std::string Recovery::take_error() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(error_, {});
}

void Recovery::write_loop() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [&] { return stop_ || written_ != wanted_; });
        if (stop_) return;
        const Kept wanted = wanted_;
        Kept written = written_;
        lock.unlock();
        std::string error = written_down(wanted, written);
        lock.lock();
        written_ = std::move(written);
        error_ = std::move(error);
        changed_.notify_all();
        changed_.wait_for(lock, kBetweenWrites, [&] { return stop_ || hurry_; });
    }
}

std::string Recovery::written_down(const Kept& wanted, Kept& written) {
    try {
        write(wanted, written);
        return {};
    } catch (const std::exception& e) {
        return e.what();
    }
}

// New ones first: what is kept is never less than it was.
void Recovery::write(const Kept& wanted, Kept& written) {
    take_lock();
    for (const auto& [file, plan] : wanted) {
        const auto at = written.find(file);
        if (at != written.end() && at->second == plan) continue;
        write_file(file_of(window_, file), write_text_(*plan));
        written[file] = plan;
    }
    std::error_code ignored;
    std::erase_if(written, [&](const auto& kept) {
        if (wanted.contains(kept.first)) return false;
        fs::remove(file_of(window_, kept.first), ignored);
        return true;
    });
}

void Recovery::take_lock() {
    if (lock_) return;
    std::error_code error;
    fs::create_directories(folder_, error);
    lock_ = FileLock::take(lock_of(window_), true);
    if (!lock_) throw Error(ErrorKind::io, lock_of(window_).string(), "", "cannot be locked");
}

void Recovery::stop() {
    {
        const std::scoped_lock lock(mutex_);
        stop_ = true;
        changed_.notify_all();
    }
    if (writer_.joinable()) writer_.join();
}

void Recovery::finish() {
    stop();
    std::error_code ignored;
    for (const auto& [file, plan] : written_) fs::remove(file_of(window_, file), ignored);
    written_.clear();
    wanted_.clear();
    if (lock_) fs::remove(lock_of(window_), ignored);
    lock_.reset();
}

// ---- what others left ---------------------------------------------------------------------------------

// While the lock is ours no other process offers what the window left.
void Recovery::claim(const std::string& window) {
    if (window.empty() || window == window_ || claimed_.contains(window)) return;
    if (auto lock = FileLock::take(lock_of(window), true)) claimed_.emplace(window, std::move(*lock));
}

void Recovery::look() {
    left_.clear();
    std::error_code error;
    std::set<std::string> with_plans;
    std::vector<fs::path> files;
    for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error))
        if (it->is_regular_file(error)) files.push_back(it->path());  // a pipe would be waited for
    for (const fs::path& file : files) claim(window_of(file));
    for (const fs::path& file : files) {
        const std::string window = window_of(file), name = file.filename().string();
        if (!claimed_.contains(window)) continue;
        if (name.find(kHalfWritten) != std::string::npos) fs::remove(file, error);
        if (!name.ends_with(kEnding)) continue;
        with_plans.insert(window);
        left_.push_back({file, window, fs::file_size(file, error), fs::last_write_time(file, error)});
    }
    std::erase_if(claimed_, [&](const auto& c) {  // a window that left nothing
        if (with_plans.contains(c.first)) return false;
        fs::remove(lock_of(c.first), error);
        return true;
    });
    std::sort(left_.begin(), left_.end(), [](const LeftPlan& a, const LeftPlan& b) {
        return a.written != b.written ? a.written > b.written : a.file < b.file;
    });
}

void Recovery::forget(std::size_t index) {
    std::error_code error;
    if (!fs::remove(left_[index].file, error) && error)
        throw Error(ErrorKind::io, left_[index].file.string(), "", "cannot be deleted: " + error.message());
    look();
}

namespace {

using Topic = Selection::Topic;
constexpr std::string_view kExperts = "expert mesh";

// ---- the selection, in words ----------------------------------------------------------------------------

// A number of the selection, and what it is called.
struct Counted {
    std::string_view word;
    Topic topic;
    std::int64_t value;
};

std::array<Counted, 6> numbers_of(const Selection& s) {
    return {{{"rank", Topic::rank, s.rank},
             {"operation", Topic::operation, s.operation},
             {"block", Topic::op, s.op},
             {"tensor", Topic::tensor, s.activation < 0 ? s.tensor : -1},
             {"activation", Topic::tensor, s.activation},
             {"stage", Topic::none, s.stage}}};
}

// One item of the words: "stage 2", or what stands behind its first word.
struct Item {
    std::string_view key, value;
    [[nodiscard]] std::int64_t number() const { return parse_whole(value).value_or(-1); }
};

std::vector<Item> items_of(std::string_view words) {
    std::vector<Item> items;
    while (!words.empty()) {
        const std::string_view item = words.substr(0, words.find(", "));
        words.remove_prefix(std::min(words.size(), item.size() + 2));
        const std::size_t space = std::min(item.find(' '), item.size());
        items.push_back({item.substr(0, space), item.substr(std::min(item.size(), space + 1))});
    }
    return items;
}

template <typename E>
std::optional<int> index_named(std::string_view name, int count) {
    for (int i = 0; i < count; ++i)
        if (name_of(static_cast<E>(i)) == name) return i;
    return std::nullopt;
}

constexpr int kStepParts = static_cast<int>(StepPart::offload) + 1;

// Sets what the item says; none where the plan has no such thing.
void select_item(const Item& item, const Evaluation& e, Selection& s, Topic& topic) {
    const std::int64_t n = item.number();
    const auto take = [&](auto& into, std::int64_t below, Topic of) {
        if (n < 0 || n >= below) return;
        into = static_cast<std::decay_t<decltype(into)>>(n);
        topic = of;
    };
    constexpr std::int64_t kAny = 100000;  // an index beyond what a model has selects nothing when it is used
    if (item.key == "rank") take(s.rank, e.mesh.world, Topic::rank);
    if (item.key == "stage") take(s.stage, static_cast<std::int64_t>(e.memory.stage.size()), topic);
    if (item.key == "operation")
        take(s.operation, static_cast<std::int64_t>(e.comm.operations.size()), Topic::operation);
    if (item.key == "block") take(s.op, static_cast<std::int64_t>(e.timeline.order.ops.size()), Topic::op);
    if (item.key == "tensor") take(s.tensor, kAny, Topic::tensor);
    if (item.key == "activation") take(s.activation, kAny, Topic::tensor);
    if (item.key == "of")
        if (const auto i = index_named<TensorState>(item.value, kTensorStateCount))
            s.tensor_state = static_cast<TensorState>(*i);
    if (item.key == "memory") {
        topic = Topic::memory;
        s.memory_category = index_named<MemoryCategory>(item.value, kMemoryCategoryCount).value_or(-1);
    }
    if (item.key == "step")
        if (const auto i = index_named<StepPart>(item.value, kStepParts))
            s.step_part = *i, topic = Topic::step;
}

// ---- pages ----------------------------------------------------------------------------------------------

// A view or, where a page is named, that page of it, which was a view of its own once.
struct SavedTab {
    ViewId view = ViewId::mesh;
    std::string_view page{};
};
// In the order of files that were written: a new one goes to the end.
constexpr std::array<SavedTab, 8> kTopTabs{{{ViewId::mesh},
                                            {ViewId::mesh, "zoom"},
                                            {ViewId::shards},
                                            {ViewId::map},
                                            {ViewId::compare},
                                            {ViewId::search},
                                            {ViewId::layer},
                                            {ViewId::scale}}};
constexpr std::array<SavedTab, 1> kMiddleTabs{{{ViewId::memory}}};
constexpr std::array<SavedTab, 4> kBottomTabs{
    {{ViewId::timeline}, {ViewId::comm}, {ViewId::shards, "tensors"}, {ViewId::step}}};
constexpr std::array<std::span<const SavedTab>, kPaneCount> kSavedTabs{kTopTabs, kMiddleTabs, kBottomTabs};

// Returns which of the tabs of a pane stands in it; the page where it is shown.
std::int64_t tab_of(const ViewStates& views, std::size_t pane) {
    std::int64_t tab = 0;
    for (std::size_t i = 0; i < kSavedTabs[pane].size(); ++i) {
        const SavedTab& t = kSavedTabs[pane][i];
        const auto page = std::ranges::find(named_pages(), t.page, &NamedPage::name);
        if (t.view == views.in_pane[pane] && (t.page.empty() || is_shown(views, *page)))
            tab = static_cast<std::int64_t>(i);
    }
    return tab;
}

// A digit for each pane, the top one first. The base stays what it was in files that were written: no pane
// has so many views.
constexpr std::int64_t kTabBase = 9;
std::int64_t tabs_of(const ViewStates& views) {
    std::int64_t page = 0;
    for (std::size_t pane = kPaneCount; pane-- > 0;) page = page * kTabBase + tab_of(views, pane);
    return page;
}
void show_tabs(std::int64_t page, ViewStates& views) {
    for (std::size_t pane = 0; pane < kPaneCount; ++pane, page /= kTabBase) {
        const auto tab = static_cast<std::size_t>(page % kTabBase);
        if (tab >= kSavedTabs[pane].size()) continue;
        const SavedTab& t = kSavedTabs[pane][tab];
        if (!t.page.empty())
            static_cast<void>(show_named_view(views, t.page));
        else
            static_cast<void>(leave_named_page(views, t.view));
        views.in_pane[static_cast<std::size_t>(view_of(t.view).pane)] = t.view;
    }
}

}  // namespace

std::string selection_words(const Selection& s) {
    std::string about, others;
    const auto add = [&](bool first, std::string item) {
        std::string& to = first ? about : others;
        to += (to.empty() ? "" : ", ") + std::move(item);
    };
    for (const Counted& c : numbers_of(s)) {
        if (c.value < 0) continue;
        const bool first = c.topic == s.topic && s.topic != Topic::none;
        add(first, std::string(c.word) + " " + std::to_string(c.value));
        if (c.word == "tensor") add(first, "of " + std::string(name_of(s.tensor_state)));
    }
    if (s.topic == Topic::memory)
        about = "memory "
                + std::string(
                    s.memory_category < 0 ? "all" : name_of(static_cast<MemoryCategory>(s.memory_category)));
    if (s.topic == Topic::step) about = "step " + std::string(name_of(static_cast<StepPart>(s.step_part)));
    if (s.expert() && s.pp_of_experts) add(false, std::string(kExperts));
    // The first item is what the inspector speaks of: "nothing" keeps its place.
    if (about.empty()) return others.empty() ? "" : "nothing, " + others;
    return about + (others.empty() ? "" : ", " + others);
}

Selection selection_named(std::string_view words, const Evaluation& e) {
    Selection s;
    Topic topic = Topic::none;
    bool first = true;
    for (const Item& item : items_of(words)) {
        Topic of = Topic::none;
        select_item(item, e, s, of);
        if (first) topic = of;
        first = false;
        if (item.key == "expert") s.pp_of_experts = true;
    }
    s.topic = topic;
    return s;
}

// Stands in a file for an axis if the mesh highlights the groups of all axes.
constexpr std::string_view kAllAxes = "all", kAllOfExperts = "all of the experts";

SavedScene scene_as_saved(const ViewStates& views, const Selection& selection, std::optional<ViewId> full) {
    SavedScene scene;
    scene.view = full ? view_of(*full).name : kDashboardName;
    scene.axis =
        selection.all_axes ? selection.expert() ? kAllOfExperts : kAllAxes : name_of(selection.group);
    scene.selection = selection_words(selection);
    scene.cursor = std::max(0.0, views.timeline.cursor_s);
    const ViewPages pages = full ? view_of(*full).pages : ViewPages{};
    scene.page = !full ? tabs_of(views) : pages.shown != nullptr ? pages.shown(views) : 0;
    return scene;
}

Selection selection_at_first(const Evaluation& e) {
    Selection out;
    if (!e.step || !e.mesh.has_experts) return out;
    const auto& waits = e.step->exposed_comm_s;
    GroupKind longest = GroupKind::tp;
    for (const GroupKind kind : all_of<GroupKind>())
        if (waits[kind] > waits[longest]) longest = kind;
    out.show_mesh(is_expert(longest));
    return out;
}

void show_saved_scene(const SavedScene& scene, const Evaluation& e, ViewStates& views, Selection& selection,
                      std::optional<ViewId>& full) {
    const auto view = view_named(scene.view);
    if (view) {
        full = *view;
        const ViewPages& pages = view_of(*view).pages;
        const bool is_page = view_of(*view).name != scene.view;
        if (is_page)
            static_cast<void>(show_named_view(views, scene.view));
        else if (pages.show != nullptr)
            pages.show(views, static_cast<int>(std::clamp<std::int64_t>(scene.page, 0, pages.count - 1)));
    } else if (scene.view == kDashboardName) {
        full.reset();
        show_tabs(scene.page, views);
    }
    const Selection before = selection;
    selection = selection_named(scene.selection, e);
    selection.group = axis_named(scene.axis).value_or(before.group);
    selection.all_axes = !axis_named(scene.axis);
    if (scene.axis == kAllAxes || scene.axis == kAllOfExperts)
        selection.show_mesh(scene.axis == kAllOfExperts);
    views.timeline.playing = false;
    views.timeline.cursor_s = scene.cursor > 0 && std::isfinite(scene.cursor) ? scene.cursor : -1;
}

namespace {
constexpr std::size_t kMostRecent = 12;
std::filesystem::path file_in(const std::filesystem::path& folder) {
    return folder / "settings.json";
}
}  // namespace

Settings load_settings(const std::filesystem::path& folder, std::string& warning) {
    Settings s;
    std::error_code ignored;
    if (!std::filesystem::exists(file_in(folder), ignored)) return s;
    try {
        const auto json = nlohmann::json::parse(read_file(file_in(folder).string()));
        for (int i = 0; i < kThemeCount; ++i)
            if (json.value("theme", "") == name_of(static_cast<ThemeId>(i)))
                s.theme = static_cast<ThemeId>(i);
        const auto number = [&](const char* key, float& into, float low, float high) {
            if (json.contains(key) && json[key].is_number())
                into = std::clamp(json[key].get<float>(), low, high);
        };
        number("scale", s.scale, 0.5f, 4);
        number("present", s.present, 0.5f, 4);
        const auto width = [&](const char* key, float& into) {
            number(key, into, 0, 600);
            if (into > 0) into = std::max(into, 200.0f);
        };
        width("left", s.left);
        width("right", s.right);
        number("memory", s.memory, 0.08f, 0.6f);
        number("timeline", s.timeline, 0.08f, 0.7f);
        const auto flag = [&](const char* key, bool& into) {
            if (json.contains(key) && json[key].is_boolean()) into = json[key];
        };
        flag("welcomed", s.welcomed);
        flag("zoom_flown", s.zoom_flown);
        if (json.contains("hints") && json["hints"].is_number_integer())
            s.hints = std::clamp(json["hints"].get<int>(), 0, 99);
        flag("panels", s.panels);
        flag("panels_in_full", s.panels_in_full);
        flag("reduced_motion", s.reduced_motion);
        if (json.contains("flags") && json["flags"].is_string()) s.flags = json["flags"];
        const auto titles = [&](const char* key, std::vector<std::string>& into) {
            if (!json.contains(key) || !json[key].is_array()) return;
            for (const auto& id : json[key])
                if (id.is_string() && into.size() < 1000
                    && std::find(into.begin(), into.end(), id.get<std::string>()) == into.end())
                    into.push_back(id);
        };
        titles("tasks_done", s.tasks_done);
        titles("tasks_helped", s.tasks_helped);
        if (json.contains("lessons")) s.lessons = progress_from_json(json["lessons"]);
        if (const auto at = json.find("lesson_software"); at != json.end() && at->is_string())
            if (parse_name<Software>(at->get<std::string>())) s.lesson_software = *at;
        if (json.contains("learner") && json["learner"].is_string()) s.learner = json["learner"];
        if (json.contains("link_base") && json["link_base"].is_string()) s.link_base = json["link_base"];
        if (json.contains("recent") && json["recent"].is_array())
            for (const auto& r : json["recent"])
                if (r.is_string() && s.recent.size() < kMostRecent
                    && std::find(s.recent.begin(), s.recent.end(), r.get<std::string>()) == s.recent.end()
                    && std::filesystem::path(r.get<std::string>()).is_absolute())
                    s.recent.push_back(r.get<std::string>());
    } catch (const std::exception& e) {
        warning = "settings could not be read and were set aside: " + std::string(e.what());
        std::filesystem::rename(file_in(folder), folder / "settings.broken.json", ignored);
        return {};
    }
    return s;
}

void save_settings(const std::filesystem::path& folder, const Settings& s) {
    const nlohmann::ordered_json json{{"theme", name_of(s.theme)},
                                      {"scale", s.scale},
                                      {"left", s.left},
                                      {"right", s.right},
                                      {"memory", s.memory},
                                      {"timeline", s.timeline},
                                      {"recent", s.recent},
                                      {"welcomed", s.welcomed},
                                      {"zoom_flown", s.zoom_flown},
                                      {"hints", s.hints},
                                      {"panels", s.panels},
                                      {"panels_in_full", s.panels_in_full},
                                      {"reduced_motion", s.reduced_motion},
                                      {"present", s.present},
                                      {"flags", s.flags},
                                      {"link_base", s.link_base},
                                      {"tasks_done", s.tasks_done},
                                      {"tasks_helped", s.tasks_helped},
                                      {"lessons", progress_to_json(s.lessons)},
                                      {"lesson_software", s.lesson_software},
                                      {"learner", s.learner}};
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
    write_file(file_in(folder).string(),
               json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void add_recent(Settings& settings, const std::filesystem::path& path) {
    std::error_code error;
    std::filesystem::path whole = std::filesystem::weakly_canonical(path, error);
    if (error || !whole.is_absolute()) whole = std::filesystem::absolute(path, error).lexically_normal();
    const std::string text = whole.string();
    std::erase(settings.recent, text);
    settings.recent.insert(settings.recent.begin(), text);
    if (settings.recent.size() > kMostRecent) settings.recent.resize(kMostRecent);
}

}  // namespace pentamesh::ui
