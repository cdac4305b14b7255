// Frames go to a window (GLFW), or to a framebuffer of our own without any display (EGL). Both own a Dear
// ImGui context, fonts at the right sharpness, and the cell shader.
#pragma once

#include "render/canvas.h"
#include "render/input.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pentamesh {

struct Image {  // RGBA, 8 bits, straight alpha, rows top down
    int width = 0, height = 0;
    std::vector<std::uint8_t> pixels;
};

struct FrameInfo {
    Vec2 size;        // logical pixels
    float scale = 1;  // physical pixels per logical pixel
    double time_s = 0;
    Vec2 mouse{-1, -1};             // logical pixels
    std::array<bool, 3> down{};     // left, right, middle
    std::array<bool, 3> clicked{};  // went down in this frame
    std::array<bool, 3> released{};
    bool double_clicked = false;  // left
    float wheel = 0;
    bool ctrl = false, shift = false, alt = false;
    bool focused = true;
    bool typed = false;  // a key is down, or a character came
};

// One piece of text as it was drawn: `at` is the top-left of its line box in logical pixels.
struct TextRun {
    Vec2 at;
    std::string text;
};

struct FontFiles {
    std::filesystem::path regular, semibold, mono;
};
// Finds Inter-Regular.otf, Inter-SemiBold.otf and JetBrainsMono-Regular.ttf: in data_folder/fonts first, then
// in the system's folders. Throws Error naming the missing file and the package that has it.
[[nodiscard]] FontFiles find_fonts(const std::filesystem::path& data_folder);

// Draws without a display. It is constructed once and draws many frames; a frame depends only on the input.
class Offscreen {
  public:
    // The size is in logical pixels. Throws Error (kind io) saying so where there is no EGL or no OpenGL 3.3.
    Offscreen(Vec2 size, float scale, const FontFiles& fonts);
    ~Offscreen();
    Offscreen(const Offscreen&) = delete;
    Offscreen& operator=(const Offscreen&) = delete;
    void resize(Vec2 size, float scale);
    // Makes one frame: feeds input, calls `draw` between NewFrame and Render, draws into the framebuffer.
    void frame(const SyntheticInput& input, double time_s, const std::function<void(const FrameInfo&)>& draw);
    [[nodiscard]] Image read() const;
    // Waits until the submitted frames are drawn, as a window does between two refreshes of the monitor.
    void finish() const;
    // From the next frame on, a frame is drawn only when it is read: for a test that mostly asks where things
    // are.
    void draw_when_read(bool lazy);
    // From the next frame on, the text within the clip is recorded: a person can read it in the frame.
    void record_text(bool on);
    [[nodiscard]] const std::vector<TextRun>& text_runs() const;  // of the last frame, in drawing order
    // Holds the CPU seconds of the last frame, building (the draw callback) and submitting, and the vertices
    // submitted.
    struct Cost {
        double build_s = 0, submit_s = 0;
        int vertices = 0;
    };
    [[nodiscard]] Cost last_cost() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// Draws one frame of Dear ImGui's own demo window in that surface and returns its cost, to compare ours with.
// The first frame lays out.
Offscreen::Cost draw_demo(Offscreen& surface, double time_s);

struct WindowEvents {
    std::vector<std::filesystem::path> dropped;  // files
    bool close_requested = false;
    bool had_input = false;  // there was input, or some is kept for the next frame: draw again
};

class Window {
  public:
    // Throws Error (kind io) with the reason where no window can be opened (no display).
    Window(const std::string& title, Vec2 size, const FontFiles& fonts);
    ~Window();
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;
    // Waits for input (at most `wait_s`; 0 polls; infinity waits until something happens). Returns false if
    // nothing came.
    bool wait(double wait_s);
    // Draws one frame of the input that came. `user_scale` multiplies the monitor's content scale. A
    // minimised window draws nothing.
    WindowEvents frame(float user_scale, const std::function<void(const FrameInfo&)>& draw);
    void set_title(const std::string& title);
    [[nodiscard]] std::string clipboard() const;
    void set_clipboard(const std::string& text);
    void set_fullscreen(bool on);
    [[nodiscard]] bool fullscreen() const;
    [[nodiscard]] float content_scale() const;
    void cancel_close();
    void wake();  // from any thread: the next wait returns at once
    [[nodiscard]] Image read() const;
    void record_text(bool on);
    [[nodiscard]] const std::vector<TextRun>& text_runs() const;  // of the last frame, in drawing order
    // Returns true if there is a screen that the window does not stand on.
    [[nodiscard]] bool has_second_screen() const;
    [[nodiscard]] void* native() const;  // GLFW's window, from which a second one is made

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// A second window stands on a screen of its own. It is plain, with the keys and the left mouse button,
// without text fields.
class SecondWindow {
  public:
    // Fills most of the screen that `beside` does not stand on. Throws Error (kind io) where there is no
    // other screen, or the window cannot be opened. `beside` outlives it.
    SecondWindow(const Window& beside, const std::string& title, const FontFiles& fonts);
    ~SecondWindow();
    SecondWindow(const SecondWindow&) = delete;
    SecondWindow& operator=(const SecondWindow&) = delete;
    // Draws one frame of the input since the last one; the other window's frame waits for both.
    WindowEvents frame(float user_scale, const std::function<void(const FrameInfo&)>& draw);

    [[nodiscard]] bool has_input() const;  // since the last frame

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// Returns a Canvas over the whole frame, behind Dear ImGui's own windows (`front` false) or before them.
[[nodiscard]] Canvas frame_canvas(const FrameInfo& info, Page* page = nullptr, bool front = false);
// Sets the colour behind everything in this frame; it is black where no call is made.
void fill_frame(const FrameInfo& info, Page* page, Color ground);

// Parts of the window that do not change are drawn once on a texture as large as the window, then copied from
// it.

// Returns the texture's generation in the current surface: it grows when the content is lost (new size or
// scale). It is 0 where there is no texture, since the surface does not draw every frame or the driver has
// none. Makes the texture if it is missing, which needs a current OpenGL context.
[[nodiscard]] std::uint64_t kept_generation();
// Returns a canvas that draws part `r` of the window on the texture, over `ground`.
[[nodiscard]] Canvas kept_canvas(const FrameInfo& info, Rect r, Color ground);
// Shows part `r` of the texture in this frame, behind everything that the frame draws.
void show_kept(const FrameInfo& info, Rect r);

// Says how much a canvas has drawn so far: with drawn_since it compares a part's drawing in two frames.
struct DrawMark {
    int vertices = 0;
    std::size_t grids = 0;
};
[[nodiscard]] DrawMark drawn_so_far(const Canvas& canvas);
// Returns a hash of everything drawn after the mark.
[[nodiscard]] std::uint64_t drawn_since(const Canvas& canvas, const DrawMark& mark);

// Shows an image in the window: a picture's preview. It is drawn only on the screen, not on pages.

// Shows the image within `r`, as large as that has room for, at the top of its middle; returns its rectangle.
// One image is kept in the surface's texture by its `key` (not 0) until another key is shown. It needs a
// current OpenGL context.
Rect show_image(Canvas& canvas, Rect r, const Image& image, std::uint64_t key);

}  // namespace pentamesh
