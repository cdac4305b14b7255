// Each part of Compare draws one thing of A above or next to the same of B.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/compare/view.h"

#include <cstdint>
#include <span>
#include <vector>

namespace pentamesh::ui {

// All parts are handed the two plans as A and B.
struct ComparedPair {
    const Plan& a;
    const Evaluation& ea;
    const Plan& b;
    const Evaluation& eb;
    bool proposed = false;  // B is a proposal: nobody has gone the way from A to it
};

// Draws two steps as bars on one scale, the same parts joined by ribbons.
void draw_two_steps(Ui& ui, Rect room, const ComparedPair& pair);
// Draws part, A, B, B - A, and why.
// With `whole`, reasons are wrapped, not cut.
// Holds the heights of the reasons' rows. The largest differences have their whole reasons, as far as `most`
// goes; the others have one line.
struct WhyRows {
    std::vector<float> row;
    float height = 0;  // of all, with head and sum
};
inline constexpr float kEveryReason = 1e6f;
[[nodiscard]] WhyRows why_rows(Ui& ui, float width, const PlanComparison& shown, float most = kEveryReason);
void draw_why(Ui& ui, Rect room, const ComparedPair& pair, const PlanComparison& shown, const WhyRows& rows);
// Draws the cells of both, coloured by the groups of one axis, which is chosen above.
void draw_two_meshes(Ui& ui, Rect room, Scene& scene, const ComparedPair& pair);
// Draws bars of each stage, A's and B's side by side, against the GPU's memory.
void draw_two_memories(Ui& ui, Rect room, const ComparedPair& pair);
// Draws both steps on one time axis: the work of each device, then gradients, parameters and the optimizer.
void draw_two_timelines(Ui& ui, Rect room, const ComparedPair& pair);
// Draws fields and their values in A and B.
[[nodiscard]] float fields_height(const PlanComparison& shown);
void draw_fields(Ui& ui, Rect& room, const PlanComparison& shown);
// Draws edits from A to B, and the step after each.
[[nodiscard]] float path_height(const ComparePath& path);
void draw_path(Ui& ui, Rect& room, const ComparePath& path, const ComparedPair& pair);

}  // namespace pentamesh::ui
