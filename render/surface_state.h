// One Dear ImGui context owns this: fonts and glyphs, the cell shader, and the grids of the current frame.
// io.UserData points to it; nothing here is global.
#pragma once

#include "render/canvas.h"
#include "render/input.h"
#include "render/surface.h"
#include "render/type_faces.h"

#include <array>
#include <cstdint>
#include <deque>
#include <imgui.h>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace pentamesh {

// Canvases draw with these textures. The first has a white texel, lines of each width and the patterns; all
// of them have glyphs, rasterised when a text first needs them, at each size and quarter of a pixel.

struct GlyphSlot {
    std::int16_t left = 0, top = 0;  // as in GlyphBitmap
    std::uint16_t width = 0, height = 0;
    std::uint16_t x = 0, y = 0;  // on its page
    std::int16_t page = -1;      // -1: nothing to draw
};

// It needs a current OpenGL context whenever it is used.
class GlyphCache {
  public:
    explicit GlyphCache(const TypeFaces& faces) : faces_(&faces) {}
    ~GlyphCache();
    GlyphCache(const GlyphCache&) = delete;
    GlyphCache& operator=(const GlyphCache&) = delete;

    // Deletes all pages. Nothing that was drawn with them may be submitted afterwards.
    void reset();
    // Makes the first page for this scale if it is missing; resets before if there are too many pages.
    void start_frame(float scale);
    // `sub` is the quarter of a pixel, 0 to 3.
    [[nodiscard]] GlyphSlot get(const GlyphRef& glyph, float em, int sub);
    // Returns the picture of a pattern (pattern_picture), which lies on page 0.
    [[nodiscard]] GlyphSlot pattern(Pattern pattern) const {
        return patterns_[static_cast<std::size_t>(pattern)];
    }
    // Returns OpenGL's name of a page's texture, kPageSide pixels a side.
    [[nodiscard]] unsigned texture(int page) const { return pages_[page].texture; }
    static constexpr int kPageSide = 2048;
    // Lines of 0 to kWidestLine whole pixels lie on page 0, as Dear ImGui bakes them: row n has n white
    // texels and a clear one on each side. These are the texture coordinates of the row's two ends.
    static constexpr int kWidestLine = IM_DRAWLIST_TEX_LINES_WIDTH_MAX;
    using LineRows = std::array<ImVec4, kWidestLine + 1>;
    [[nodiscard]] const LineRows& line_rows() const { return lines_; }
    // Returns the texture coordinates of the middle of the white texels.
    [[nodiscard]] Vec2 white() const { return white_; }

  private:
    struct Shelf {
        int y = 0, height = 0, x = 0;
    };
    struct Page {
        unsigned texture = 0;
        int used = 0;
        std::vector<Shelf> shelves;
    };
    [[nodiscard]] GlyphSlot make(const GlyphRef& glyph, float em, int sub);
    [[nodiscard]] static bool place(Page& page, int width, int height, GlyphSlot& slot);
    void add_page();
    void add_first_page(float scale);
    // Uploads opacities (rows top down) to a part of the last page.
    GlyphSlot put(int width, int height, const std::uint8_t* alpha);

    const TypeFaces* faces_;
    std::unordered_map<std::uint64_t, GlyphSlot> slots_;
    std::vector<Page> pages_;
    std::array<GlyphSlot, kPatterns> patterns_{};  // by Pattern
    LineRows lines_{};
    Vec2 white_;
    GlyphBitmap bitmap_;
};

// These are Dear ImGui's own fonts, which only text fields use: a few sizes of each face, of which the
// nearest is taken. The text of a Canvas comes from GlyphCache.

// Rebuilds the atlas of the current context for a scale. Throws Error where a file cannot be read.
void build_fonts(const FontFiles& files, float scale);
[[nodiscard]] ImFont* font_at(Face face, float size);

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

// Kept parts are drawn on this texture.
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

// show_image draws with this texture.
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
            digit = -1, palette = -1, palette_size = -1, highlighted = -1, ground = -1, dim = -1;
    } uniform;
    std::optional<CellGrid> cells_set;  // the grid that the program's uniforms are of, at this scale
    float cells_scale = 0;
};
[[nodiscard]] SurfaceState& surface_state();  // of the current ImGui context; there must be one

// These two handle the cell shader. They need a current OpenGL context; compile is called once, before the
// first frame. Throws Error (kind io) with the driver's words where it does not compile.
void compile_cell_shader(SurfaceState& state);
void destroy_cell_shader(SurfaceState& state);
// Draws a grid at this place of the list, in one call, within the clip that holds there.
void queue_cells(ImDrawList& list, const CellGrid& grid);

// The window and the offscreen surface share this: a Dear ImGui context with our settings, and a frame in it.

// Owns a context, its fonts and the cell shader. It needs a current OpenGL context from construction to
// destruction.
class FrameContext {
  public:
    FrameContext(FontFiles fonts, float scale);
    ~FrameContext();
    FrameContext(const FrameContext&) = delete;
    FrameContext& operator=(const FrameContext&) = delete;
    void make_current() const;
    // The platform calls add_key_press for each key that goes down before a frame.
    void expect_key_presses() { state_.reports_key_presses = true; }
    void add_key_press(const KeyPress& press) { state_.key_presses.push_back(press); }
    // Rebuilds the fonts if the scale has changed.
    void set_scale(float scale);
    // Begins a frame, after the platform has filled io. The info handed to `draw` is made from io.
    [[nodiscard]] FrameInfo begin(double time_s);
    // Draws between begin and end. Where `draw` throws, the frame ends without being shown and the exception
    // goes on: the next frame begins as after any other.
    void draw(const FrameInfo& info, const std::function<void(const FrameInfo&)>& draw);
    // Ends the frame: all that it draws is known then.
    void end();
    // Draws it on the framebuffer that is bound, that many pixels large. It comes before the next begin.
    void submit(int width, int height);
    // Parts of the window may be kept from frame to frame only if every frame is submitted: `keep` says so.
    void keep_parts(bool keep) { state_.layer.used = keep; }
    void record_text(bool on) { state_.records_text = on; }
    [[nodiscard]] const std::vector<TextRun>& text_runs() const { return state_.text_runs; }
    [[nodiscard]] int vertices() const { return vertices_; }

  private:
    FontFiles fonts_;
    ImGuiContext* context_ = nullptr;
    SurfaceState state_;
    int vertices_ = 0;
};

}  // namespace pentamesh
