// Draws one pipeline stage twice: as the line of ranks that the dense layers have, and below it wrapped for
// the experts as a line of text is.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/mesh_layout.h"

#include <cstdint>
#include <string>

namespace pentamesh::ui {

struct ShownLoads;  // mesh_experts.h

struct ExpertFold {
    std::int64_t first_rank = 0, line = 0;  // the stage's ranks; a line of 0: it cannot be drawn so
    std::int64_t row = 0, rows = 0;         // ranks of a row, which hold all experts once; rows are copies
    std::int64_t domain = 1, stage = -1;    // -1: there is one stage
    std::int64_t shown = 4;  // of more rows the first, the second if this is 4, how many more, and the last
};
// The stage of a rank. Nothing where a stage's ranks do not neighbour, or a row is no whole number of nodes.
[[nodiscard]] ExpertFold fold_of(const Scene& scene, std::int64_t rank);
// "The same 128 GPUs of a stage serve two meshes: ...".
[[nodiscard]] std::string fold_words(const ExpertFold& fold);
[[nodiscard]] float fold_height(const ExpertFold& fold);
void draw_fold(Ui& ui, Rect room, const Scene& scene, const ExpertFold& fold, const ShownLoads& loads);
// Draws the fold through the rows of the cluster, where a row is a stage.
void draw_fold_lines(Canvas& canvas, const Theme& theme, const MeshLayout& layout, const CellGrid& grid,
                     const ExpertFold& fold);

}  // namespace pentamesh::ui
