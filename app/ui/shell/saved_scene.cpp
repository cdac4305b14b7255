#include "app/ui/shell/saved_scene.h"

#include "core/base/number.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pentamesh::ui {

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

constexpr int kStepParts = static_cast<int>(StepPart::starts) + 1;

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

// Returns which of the views of a pane stands in it.
std::int64_t tab_of(const ViewStates& views, int pane) {
    const std::vector<ViewId> all = views_in(static_cast<Pane>(pane));
    return std::find(all.begin(), all.end(), views.in_pane[static_cast<std::size_t>(pane)]) - all.begin();
}

// A digit for each pane, the top one first. The base stays what it was in files that were written: no pane
// has so many views.
constexpr std::int64_t kTabBase = 9;
std::int64_t tabs_of(const ViewStates& views) {
    std::int64_t page = 0;
    for (int pane = kPaneCount; pane-- > 0;) page = page * kTabBase + tab_of(views, pane);
    return page;
}
void show_tabs(std::int64_t page, ViewStates& views) {
    for (int pane = 0; pane < kPaneCount; ++pane, page /= kTabBase) {
        const std::vector<ViewId> all = views_in(static_cast<Pane>(pane));
        const auto tab = static_cast<std::size_t>(page % kTabBase);
        if (tab < all.size()) views.in_pane[static_cast<std::size_t>(pane)] = all[tab];
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
        if (pages.show != nullptr)
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

}  // namespace pentamesh::ui
