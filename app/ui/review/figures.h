// What a review draws: the mesh, memory by stage, the waterfall, the timeline, the tornado. In the colours
// of the window, with figures in it wherever they fit.
#pragma once

#include "app/ui/review/sheet.h"
#include "core/decide/sensitivity.h"
#include "core/evaluate.h"
#include "core/io/presets.h"

#include <string_view>

namespace pentamesh::ui {

// A plan and what evaluate made of it.
struct Reviewed {
    const Plan& plan;
    const Evaluation& evaluation;
    const Presets& presets;
};

// Every GPU in its node, coloured by its group of that kind.
void draw_mesh_figure(ReviewSheet& sheet, Rect room, const Reviewed& of, GroupKind kind);
// The axis' name on its colour, its sentence below; returns the height. `draw` false: measures alone.
float draw_axis_words(ReviewSheet& sheet, Rect room, const Reviewed& of, GroupKind kind, bool draw = true);

// A bar a stage over as many pages as it takes, with the GPU's memory as a line.
void draw_memory_bars(ReviewSheet& sheet, const Reviewed& of);

[[nodiscard]] float waterfall_height(const ReviewSheet& sheet, const Step& step);
// `whole_s`: the time that the room's width stands for, >= the step's.
void draw_waterfall_figure(ReviewSheet& sheet, Rect room, const Step& step, double whole_s);

// Devices downwards, time to the right.
[[nodiscard]] float timeline_height(const ReviewSheet& sheet, const Timeline& timeline);
void draw_timeline_figure(ReviewSheet& sheet, Rect room, const Timeline& timeline);

// The widest of what the step depends on, a bar either way.
void draw_tornado(ReviewSheet& sheet, const Reviewed& reviewed, const Sensitivity& of, std::size_t most);

}  // namespace pentamesh::ui
