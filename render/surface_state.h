// What belongs to one Dear ImGui context of ours: faces and their glyphs, the cell shader, and
// the grids of the frame that is drawn. Hung into io.UserData, so nothing here is global.
#pragma once

#include "render/canvas.h"
#include "render/glyph_cache.h"
#include "render/surface.h"
#include "render/type_faces.h"

#include <deque>
#include <imgui.h>
#include <memory>

namespace pentamesh {

// A font of a text field.
struct FieldFont {
    Face face = Face::regular;
    float size = 0;
    ImFont* font = nullptr;
};

// A key that went down since the last frame, in the platform's numbers. Kept apart from what is held, since
// a quick key is up again before the frame begins.
struct KeyStroke {
    int native = 0;  // by its place
    int label = 0;   // by what stands on it
    bool ctrl = false, shift = false, alt = false;
};

// kept_layer.h
struct KeptLayer {
    bool used = false;  // by a surface that draws each of its frames
    unsigned framebuffer = 0, texture = 0;
    int width = 0, height = 0;
    bool allocated = false;
    std::uint64_t generation = 1;
    std::vector<std::unique_ptr<ImDrawList>> lists;  // the first `open` of them: of this frame
    std::size_t open = 0;
    std::vector<ImVec4> shown;  // of this frame: pixels, low and high corner
};
void fit_layer(KeptLayer& layer, int width, int height);  // before a frame is built
// Need a current OpenGL context. Before the frame's own lists are submitted: draw_layer draws on the layer,
// show_kept copies what this frame shows of it to the framebuffer that is bound.
void draw_layer(KeptLayer& layer);
void show_kept(const KeptLayer& layer);
void destroy_layer(KeptLayer& layer);

struct SurfaceState {
    explicit SurfaceState(const FontFiles& files) : faces(files), glyphs(faces) {}
    float scale = 1;
    TypeFaces faces;
    GlyphCache glyphs;
    std::vector<FieldFont> fonts;
    bool has_strokes = false;  // the platform tells of each
    std::vector<KeyStroke> strokes;
    std::vector<int> lent_keys;  // held down for a frame (press_struck_keys)
    std::deque<CellGrid> grids;  // of this frame; a deque keeps addresses
    KeptLayer layer;
    Color ground;  // of this frame
    bool records_text = false;
    std::vector<TextRun> text_runs;  // of this frame, where they are recorded
    unsigned cell_program = 0, cell_vertex_array = 0;
    struct Uniforms {
        int display = -1, origin = -1, cell = -1, run = -1, levels = -1, level = -1, pitch = -1, digits = -1,
            digit = -1, palette = -1, palette_size = -1, lit = -1, ground = -1, dim = -1;
    } uniform;
};
[[nodiscard]] SurfaceState& surface_state();  // of the current ImGui context; there must be one

// The cell shader. Need a current OpenGL context; compile is called once, before the first frame. Error (kind
// io) with the driver's words where it does not compile.
void compile_cell_shader(SurfaceState& state);
void destroy_cell_shader(SurfaceState& state);
// Draws a grid at this place of the list, in one call, within the clip that holds there.
void queue_cells(ImDrawList& list, const CellGrid& grid);

}  // namespace pentamesh
