// What belongs to one Dear ImGui context of ours: fonts, the cell shader, and the grids of the frame that is
// drawn. Hung into io.UserData, so nothing here is global.
#pragma once

#include "render/canvas.h"

#include <array>
#include <deque>

struct ImDrawList;
struct ImFont;

namespace pentamesh {

inline constexpr std::array<float, 9> kFontSizes{11, 11.5f, 12, 13, 14, 16, 18, 20, 28};
inline constexpr int kFaceCount = 3;

struct SurfaceState {
    float scale = 1;
    std::array<std::array<ImFont*, kFontSizes.size()>, kFaceCount> font{};
    std::deque<CellGrid> grids;  // of this frame; a deque keeps addresses
    unsigned cell_program = 0, cell_vertex_array = 0;
    struct Uniforms {
        int display = -1, origin = -1, cell = -1, first_step = -1, levels = -1, level = -1, pitch = -1,
            digits = -1, digit = -1, palette = -1, palette_size = -1, lit = -1, ground = -1, dim = -1;
    } uniform;
};
[[nodiscard]] SurfaceState& surface_state();  // of the current ImGui context

// The cell shader. Need a current OpenGL context; compile is called once, before the first frame.
void compile_cell_shader(SurfaceState& state);
void destroy_cell_shader(SurfaceState& state);
// Draws a grid at this place of the list, in one instanced call, within the clip that holds there.
void queue_cells(ImDrawList& list, const CellGrid& grid);

}  // namespace pentamesh
