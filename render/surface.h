// Where frames go: a window (GLFW), or a framebuffer of our own without any display (EGL). Both own a Dear
// ImGui context, fonts at the right sharpness, and the cell shader.
#pragma once

#include "render/canvas.h"
#include "render/input.h"

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

// One piece of text as it was drawn: top-left of its line box in logical pixels.
struct TextRun {
    Vec2 at;
    std::string text;
};

struct FontFiles {
    std::filesystem::path regular, semibold, mono;
};
// Inter-Regular.otf, Inter-SemiBold.otf, JetBrainsMono-Regular.ttf: data_folder/fonts first, then the
// system's. Error naming the missing file and the package that has it.
[[nodiscard]] FontFiles find_fonts(const std::filesystem::path& data_folder);

// Draws without a display. Construct once, draw many frames; frames are a function of the input alone.
class Offscreen {
  public:
    // Size in logical pixels. Error (kind io) saying so where there is no EGL or no OpenGL 3.3.
    Offscreen(Vec2 size, float scale, const FontFiles& fonts);
    ~Offscreen();
    Offscreen(const Offscreen&) = delete;
    Offscreen& operator=(const Offscreen&) = delete;
    void resize(Vec2 size, float scale);
    // One frame: feeds input, calls `draw` between NewFrame and Render, draws into the framebuffer.
    void frame(const SyntheticInput& input, double time_s, const std::function<void(const FrameInfo&)>& draw);
    [[nodiscard]] Image read() const;
    // Waits until what was submitted is drawn, as a window does between two refreshes of the monitor.
    void finish() const;
    // From the next frame on, a frame is drawn only when it is read: for a test that mostly asks where things
    // are.
    void draw_when_read(bool lazy);
    // From the next frame on, the text within the clip is recorded: what a person can read of the frame.
    void record_text(bool on);
    [[nodiscard]] const std::vector<TextRun>& text_runs() const;  // of the last frame, in drawing order
    // CPU seconds of the last frame: building (the draw callback) and submitting; vertices submitted.
    struct Cost {
        double build_s = 0, submit_s = 0;
        int vertices = 0;
    };
    [[nodiscard]] Cost last_cost() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// One frame of Dear ImGui's own demo window in that surface, and its cost: the yardstick for ours. The first
// lays out.
Offscreen::Cost draw_demo(Offscreen& surface, double time_s);

struct WindowEvents {
    std::vector<std::filesystem::path> dropped;  // files
    bool close_requested = false;
    bool had_input = false;  // or input is kept for the next frame: draw again
};

class Window {
  public:
    // Error (kind io) with the reason where no window can be opened (no display).
    Window(const std::string& title, Vec2 size, const FontFiles& fonts);
    ~Window();
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;
    // Waits for input (at most `wait_s`; 0: polls; infinity: until something happens). False: nothing came.
    bool wait(double wait_s);
    // Draws one frame of what came. `user_scale` multiplies the monitor's content scale. Minimised: draws
    // nothing.
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
    // A screen that the window does not stand on.
    [[nodiscard]] bool has_second_screen() const;
    [[nodiscard]] void* native() const;  // GLFW's window, for a second one beside it

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// A Canvas over the whole frame, behind Dear ImGui's own windows (`front` false) or before them.
[[nodiscard]] Canvas frame_canvas(const FrameInfo& info, Page* page = nullptr, bool front = false);
// What lies behind everything in this frame; black where nothing is said.
void fill_frame(const FrameInfo& info, Page* page, Color ground);

}  // namespace pentamesh
