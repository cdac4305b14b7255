// The parts of the view Layer: the graph of steps with the play head; the program with its tallies; the
// tensors of a step on the ranks of a group.
#pragma once

#include "app/ui/views/layer/view.h"

namespace pentamesh::ui {

// Two rows of boxes; a click sets the play head.
// What the section of a pass is headed by: its time, and what comes once a step instead of for each
// micro-batch.
[[nodiscard]] std::string pass_words(double time_s, const LayerList& list, bool forward);
void draw_graph(Ui& ui, Rect room, LayerViewState& state);
inline constexpr float kGraphHeight = 128;
// The slider with back, play, forward.
void draw_play_head(Ui& ui, Rect room, LayerViewState& state);
inline constexpr float kHeadHeight = 46;
// Program, what is kept, what was said.
void draw_side(Ui& ui, Rect room, const Scene& scene, LayerViewState& state);
// Tensors in and out, a row a rank; collectives move pieces between the rows.
void draw_ranks(Ui& ui, Rect room, Scene& scene, LayerViewState& state);

// The colour of a step: its axis', its pass', or none.
[[nodiscard]] Color color_of_step(const Theme& theme, const LayerStep& step);
// "all-gather over tp"
[[nodiscard]] std::string collective_words(const LayerStep& step);

}  // namespace pentamesh::ui
