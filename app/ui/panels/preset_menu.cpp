#include "app/ui/panels/preset_menu.h"

#include <algorithm>
#include <array>

namespace pentamesh::ui {

PresetMenu preset_menu(const Presets& presets, PresetKind kind, std::string_view current) {
    PresetMenu menu;
    for (const Presets::Entry& e : presets.list(kind)) menu.entry.push_back(&e);
    const auto shipped = std::stable_partition(menu.entry.begin(), menu.entry.end(),
                                               [](const Presets::Entry* e) { return e->own; });
    for (auto at = menu.entry.begin(); at != menu.entry.end(); ++at) {
        const Presets::Entry& e = **at;
        MenuItem item{.label = e.name, .right = e.id};
        if (e.own) item.right = "your own · " + e.id;
        if (e.own && !e.broken.empty()) {
            item.detail = "cannot be used: Presets of your own, below, says why";
            item.enabled = false;
        }
        item.checked = !current.empty() && e.id == current && item.enabled;
        item.separator = at == shipped && at != menu.entry.begin();
        menu.items.push_back(std::move(item));
    }
    return menu;
}

bool has_own_presets(const Presets& presets) {
    for (const PresetKind kind : {PresetKind::model, PresetKind::gpu, PresetKind::cluster}) {
        const auto& all = presets.list(kind);
        if (std::any_of(all.begin(), all.end(), [](const Presets::Entry& e) { return e.own; })) return true;
    }
    return false;
}

std::string_view word_of(PresetKind kind) {
    static constexpr std::array<std::string_view, 4> kWords{"GPU", "cluster", "model", "plan"};
    return kWords[static_cast<std::size_t>(kind)];
}

std::string name_of_preset(const Presets& presets, PresetKind kind, std::string_view id) {
    for (const Presets::Entry& e : presets.list(kind))
        if (e.id == id && e.broken.empty()) return e.name;
    return std::string(id);
}

}  // namespace pentamesh::ui
