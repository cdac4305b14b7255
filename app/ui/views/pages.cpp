#include "app/ui/views/pages.h"

#include <algorithm>
#include <vector>

namespace pentamesh::ui {
namespace {

constexpr std::string_view kMeshPages[] = {"places", "both", "fold"};
constexpr std::string_view kShardsPages[] = {"parameters", "gradients", "optimizer",  "activations",
                                             "loaf",       "dp alone",  "zero alone", "fsdp alone",
                                             "tp alone",   "cp alone",  "pp alone",   "ep alone"};
constexpr std::string_view kMapPagesSaved[] = {"axes", "names", "wires", "choose", "tables", "compact"};
constexpr std::string_view kCommPages[] = {"calls", "heat", "ring", "measured"};
constexpr std::string_view kLayerPages[] = {"plan",     "dp alone", "fsdp alone",
                                            "tp alone", "cp alone", "ep alone"};

std::span<const std::string_view> pages_of(ViewId view) {
    switch (view) {
    case ViewId::mesh: return kMeshPages;
    case ViewId::shards: return kShardsPages;
    case ViewId::map: return kMapPagesSaved;
    case ViewId::memory: return kMemoryPages;
    case ViewId::comm: return kCommPages;
    case ViewId::step: return kStepPages;
    case ViewId::layer: return kLayerPages;
    case ViewId::scale: return kScalePages;
    default: return {};
    }
}

// Pages that show only one axis.
struct AlonePage {
    std::string_view name;
    Strategy strategy;
};
constexpr AlonePage kShardsAlone[] = {{"dp alone", Strategy::ddp},    {"zero alone", Strategy::zero1},
                                      {"fsdp alone", Strategy::fsdp}, {"tp alone", Strategy::tp},
                                      {"cp alone", Strategy::cp},     {"pp alone", Strategy::pp},
                                      {"ep alone", Strategy::ep}};
struct AloneLayer {
    std::string_view name;
    AloneAxis axis;
};
constexpr AloneLayer kLayerAlone[] = {{"dp alone", AloneAxis::dp},
                                      {"fsdp alone", AloneAxis::fsdp},
                                      {"tp alone", AloneAxis::tp},
                                      {"cp alone", AloneAxis::cp_ring},
                                      {"ep alone", AloneAxis::ep}};

}  // namespace

std::span<const LessonView> lesson_views() {
    static const std::vector<LessonView> views = [] {
        std::vector<LessonView> out{{kDashboardName}};
        for (const ViewEntry& e : view_table()) out.push_back({e.name, pages_of(e.id)});
        return out;
    }();
    return views;
}

bool show_named_page(ViewStates& states, ViewId view, std::string_view page) {
    const auto named = [&](const auto& p) { return p.name == page; };
    if (view == ViewId::layer) {
        const auto at = std::find_if(std::begin(kLayerAlone), std::end(kLayerAlone), named);
        states.layer.choice.alone = at != std::end(kLayerAlone);
        if (states.layer.choice.alone) states.layer.choice.axis = at->axis;
        return states.layer.choice.alone || page == kLayerPages[0];
    }
    if (view == ViewId::shards) {
        const auto at = std::find_if(std::begin(kShardsAlone), std::end(kShardsAlone), named);
        if (at != std::end(kShardsAlone)) {
            states.shards.shows = ShardsViewState::Shows::one_axis;
            states.shards.picker.strategy = at->strategy;
            return true;
        }
    }
    const auto names = pages_of(view);
    const auto at = std::find(names.begin(), names.end(), page);
    const ViewPages& pages = view_of(view).pages;
    if (at == names.end() || at - names.begin() >= pages.count) return false;
    pages.show(states, static_cast<int>(at - names.begin()));
    return true;
}

void show_first_pages(ViewStates& states) {
    OpenPages first;
    for (const ViewEntry& e : view_table()) first.page[static_cast<std::size_t>(e.id)] = e.pages.first;
    show_open_pages(states, first);
    states.shards.isolate = -1;
    states.layer.at = LayerViewState::kTelling;  // a lesson asks what a cut makes them say
    states.memory.hidden = 0;
}

OpenPages open_pages(const ViewStates& states) {
    OpenPages out;
    for (const ViewEntry& e : view_table())
        if (e.pages.shown != nullptr) out.page[static_cast<std::size_t>(e.id)] = e.pages.shown(states);
    out.shards = states.shards.shows;
    out.strategy = states.shards.picker.strategy;
    out.layer = states.layer.choice;
    return out;
}

void show_open_pages(ViewStates& states, const OpenPages& pages) {
    for (const ViewEntry& e : view_table())
        if (e.pages.show != nullptr) e.pages.show(states, pages.page[static_cast<std::size_t>(e.id)]);
    states.shards.shows = pages.shards;
    states.shards.picker.strategy = pages.strategy;
    states.layer.choice = pages.layer;
}

}  // namespace pentamesh::ui
