// The view Layer shows the way through one layer, step by step: the block as a graph, forward above and
// backward below; each tensor with its cuts on the ranks of a group side by side; the tensors kept, the
// communication, the program.
#pragma once

#include "app/ui/kit/scroll.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/layer/layer_shown.h"

namespace pentamesh::ui {

struct LayerViewState {
    LayerChoice choice;
    static constexpr int kFirst = -1, kTelling = -2;  // kTelling: where the first summands are added up
    int at = kFirst;                                  // step
    float part = 1;                                   // of the step at hand that is done
    bool playing = false;
    bool program_shown = false;  // in a narrow room, in the place of the ranks
    double played_at = 0;
    ScrollState program;
    int program_at = -1;  // the step that the program was scrolled to
    KeptLayer shown;
};
void draw_layer(Ui& ui, Rect head_row, Rect room, Scene& scene, LayerViewState& state,
                std::uint64_t revision);
// `part` is one of the tables that app/ui/views/table.cpp names.
[[nodiscard]] Table layer_data(const Scene& scene, const LayerViewState& state, int part);

// Goes to the next step, or back.
void step_layer(LayerViewState& state, int by);
void play_or_pause(LayerViewState& state);

}  // namespace pentamesh::ui
