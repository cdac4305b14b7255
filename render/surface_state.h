// One Dear ImGui context owns this: fonts and glyphs, the cell shader, and the grids of the current frame.
// io.UserData points to it; nothing here is global.
#pragma once

#include "render/canvas.h"
#include "render/glyph_cache.h"
#include "render/surface.h"
#include "render/type_faces.h"
#include "render/typed_ahead.h"

#include <cstdint>
#include <deque>
#include <imgui.h>
#include <memory>

namespace pentamesh {

// This is a font of a text field.
struct FieldFont {
    Face face = Face::regular;
    float size = 0;
    ImFont* font = nullptr;
};

// This key went down since the last frame, in the platform's codes. Keys that are held are not meant: a quick
// key is up again before the frame begins.
struct KeyPress {
    int native = 0;  // by its position on the keyboard
    int label = 0;   // by what is printed on it
    bool ctrl = false, shift = false, alt = false;
};

// Kept parts are drawn on this texture (kept_layer.h).
struct KeptLayer {
    bool used = false;  // true only where every frame is submitted
    unsigned framebuffer = 0, texture = 0;
    int width = 0, height = 0;
    bool allocated = false;
    std::uint64_t generation = 1;
    std::vector<std::unique_ptr<ImDrawList>> lists;  // reused; this frame uses the first `open`
    std::size_t open = 0;
    std::vector<ImVec4> shown;  // parts shown in this frame: low and high corner in pixels
};
void resize_kept(KeptLayer& layer, int width, int height);  // before a frame is built
// Ends a frame: puts the parts that it shows behind everything else.
void put_kept(KeptLayer& layer);
// These need a current OpenGL context. draw_kept draws new parts on the texture, before the frame's own lists
// are submitted.
void draw_kept(KeptLayer& layer);
void destroy_kept(KeptLayer& layer);

// show_image (shown_image.h) draws with this texture.
struct ShownImage {
    unsigned texture = 0;
    std::uint64_t key = 0;
};
void destroy_shown(ShownImage& shown);  // needs a current OpenGL context

struct SurfaceState {
    explicit SurfaceState(const FontFiles& files) : faces(files), glyphs(faces) {}
    float scale = 1;
    TypeFaces faces;
    GlyphCache glyphs;
    std::vector<FieldFont> fonts;
    bool reports_key_presses = false;  // the platform adds each to key_presses
    std::vector<KeyPress> key_presses;
    std::vector<int> keys_held_for_frame;  // by hold_quick_keys
    TypedAhead typed_ahead;
    std::deque<CellGrid> grids;  // of this frame; a deque keeps addresses
    KeptLayer layer;
    ShownImage shown;
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

// These two handle the cell shader. They need a current OpenGL context; compile is called once, before the
// first frame. Throws Error (kind io) with the driver's words where it does not compile.
void compile_cell_shader(SurfaceState& state);
void destroy_cell_shader(SurfaceState& state);
// Draws a grid at this place of the list, in one call, within the clip that holds there.
void queue_cells(ImDrawList& list, const CellGrid& grid);

}  // namespace pentamesh
