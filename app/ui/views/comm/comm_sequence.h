// Draws what sequence parallelism sends in the place of tensor parallelism's all-reduces.
#pragma once

#include "app/ui/kit/ui.h"
#include "core/explain/sequence_parallel.h"

namespace pentamesh::ui {

// Draws the sentence and, below it, what a layer sends without and with it as two bars on one scale. It cuts
// what it takes off the top of the room, and draws nothing where the room is too low.
void draw_sequence_parallel(Ui& ui, Rect& room, const SequenceParallelBytes& bytes);
// Draws only the sentence, in one line.
void draw_sequence_parallel_line(Ui& ui, Rect& room, const SequenceParallelBytes& bytes);

}  // namespace pentamesh::ui
