// Shows what some ranks share: as a block of the inspector, and in the panel in which a list of ranks is
// typed (core/explain/blame.h).
#pragma once

#include "app/ui/kit/scroll.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/host_names.h"
#include "app/ui/scene/scene.h"

#include <string>

namespace pentamesh::ui {

// Describes scene.selection.ranks, downwards in `room`.
void draw_blame(Ui& ui, Rect& room, const Scene& scene);

struct BlamePanelState {
    bool open = false, fresh = true;
    std::string text{}, error{};
    ScrollState scroll{};
};
// Draws the panel while it is open. Enter selects the ranks that were typed: they are highlighted in the
// mesh.
void draw_blame_panel(Ui& ui, Scene& scene, BlamePanelState& state, HostNames& hosts);

// Selects the ranks of a list. Returns what is wrong with it; empty where nothing is.
[[nodiscard]] std::string select_ranks(Scene& scene, const std::string& list);

}  // namespace pentamesh::ui
