// One call of a collective on one group, step by step, with the real chunks.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "core/explain/collective_steps.h"

#include <vector>

namespace pentamesh::ui {

struct CommRingState {
    bool playing = false;
    double at = 0;  // steps done, with the part of the running one
    double played_at = 0;
    // Kept while the evaluation and the operation stand.
    std::uint64_t made_of = 0;
    int operation = -1;
    std::vector<CollectivePhase> phases;
};
void draw_ring(Ui& ui, Rect room, Scene& scene, CommRingState& state, std::uint64_t revision);

}  // namespace pentamesh::ui
