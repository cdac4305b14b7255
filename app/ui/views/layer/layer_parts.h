// The view Layer has these parts: the graph of steps with the play head; the program with its tallies; the
// tensors of a step on the ranks of a group.
#pragma once

#include "app/ui/views/layer/view.h"

namespace pentamesh::ui {

// draw_graph draws two rows of boxes; a click sets the play head.
// pass_words heads the section of a pass: its time, and calls made once a step instead of for each
// micro-batch.
[[nodiscard]] std::string pass_words(double time_s, const LayerList& list, bool forward);
void draw_graph(Ui& ui, Rect room, LayerViewState& state);
inline constexpr float kGraphHeight = 128;
// Draws the slider with back, play, forward.
void draw_play_head(Ui& ui, Rect room, LayerViewState& state);
inline constexpr float kHeadHeight = 46;
// Draws the program, the tensors kept, the communication so far.
void draw_side(Ui& ui, Rect room, const Scene& scene, LayerViewState& state);
// Draws tensors in and out, a row a rank; collectives move pieces between the rows.
void draw_ranks(Ui& ui, Rect room, Scene& scene, LayerViewState& state);

// Returns the colour of a step: its axis', its pass', or a neutral one.
[[nodiscard]] Color color_of_step(const Theme& theme, const LayerStep& step);
// Returns "all-gather over tp".
[[nodiscard]] std::string collective_words(const LayerStep& step);

}  // namespace pentamesh::ui
