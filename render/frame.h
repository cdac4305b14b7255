// The window and the offscreen surface share this: a Dear ImGui context with our settings, and a frame in it.
#pragma once

#include "render/surface.h"
#include "render/surface_state.h"

#include <memory>

struct ImGuiContext;

namespace pentamesh {

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
