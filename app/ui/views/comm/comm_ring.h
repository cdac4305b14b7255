// Shows one call of a collective on one group, step by step, with the real chunks.
#pragma once

#include "app/ui/kit/kept.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "core/explain/collective_steps.h"

#include <utility>
#include <vector>

namespace pentamesh::ui {

struct CommRingState {
    bool playing = false;
    double at = 0;  // steps done, with the part of the running one
    double played_at = 0;
    Kept<std::vector<CollectivePhase>, std::pair<std::uint64_t, int>> phases;  // by revision and operation
};
void draw_ring(Ui& ui, Rect room, Scene& scene, CommRingState& state, std::uint64_t revision);

}  // namespace pentamesh::ui
