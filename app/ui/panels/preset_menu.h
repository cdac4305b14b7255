// Lists the presets from which a model, a cluster or a GPU is picked: one's own first, then those that ship.
#pragma once

#include "app/ui/kit/menu.h"
#include "app/ui/scene/scene.h"
#include "core/io/presets.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

struct PresetMenu {
    std::vector<MenuItem> items;               // the presets, then what the caller adds
    std::vector<const Presets::Entry*> entry;  // of each preset
    [[nodiscard]] bool is_preset(std::size_t item) const { return item < entry.size(); }
};
// `current` is the id that the plan names; it may be empty. An own preset that is broken says why and cannot
// be picked.
[[nodiscard]] PresetMenu preset_menu(const Presets& presets, PresetKind kind, std::string_view current);
[[nodiscard]] bool has_own_presets(const Presets& presets);

// Returns "model", "GPU", "cluster", "plan".
[[nodiscard]] std::string_view word_of(PresetKind kind);
// Returns a preset's name, or its id where it cannot be read.
[[nodiscard]] std::string name_of_preset(const Presets& presets, PresetKind kind, std::string_view id);

}  // namespace pentamesh::ui
