// Edits layers per stage by hand: a bar for each chunk of the pipeline with its layers, its time and its
// stage's memory, in a sheet over the window.
#pragma once

#include "app/ui/kit/kept.h"
#include "app/ui/kit/scroll.h"
#include "app/ui/scene/scene.h"
#include "core/step/stage_load.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh::ui {

// Holds the figures for any split of this plan's layers. `load` has no layers where the plan has other
// errors.
struct StageFigures {
    StageLoad load;
    std::vector<std::int64_t> now, even;  // layers of each chunk
    std::vector<int> device;              // of each chunk: the stage whose GPUs run it
    std::vector<int> chunk;               // the chunk's number among those of its device
    double balanced_s = 0;                // the busiest stage's, balanced; 0: that takes long to find
};

struct StageEditorState {
    bool open = false;
    bool fresh = false;           // opened in this frame
    bool neighbour_gives = true;  // false: what does not add up waits here until it does
    std::vector<std::int64_t> draft;
    std::uint64_t draft_of = 0;  // revision
    ScrollState scroll;
    int editing = -1;  // chunk whose number is typed
    std::string edit_text;
    bool edit_fresh = false;
    int refused = -1;  // chunk whose last number was refused, and why
    std::string refusal;
    int dragged = -1;                   // chunk
    std::vector<std::int64_t> drag_of;  // the draft when the drag began
    double scale = 1;                   // logical pixels of the bars per second
    Kept<StageFigures> figures;         // by revision

    void open_now() {
        *this = {};
        open = fresh = true;
    }
};
[[nodiscard]] std::optional<PlanEdit> draw_stage_editor(Ui& ui, const Scene& scene, StageEditorState& state,
                                                        std::uint64_t revision);

}  // namespace pentamesh::ui
