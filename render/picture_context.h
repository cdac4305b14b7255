// OpenGL 3.3 core comes by glad's pointers, or OpenGL ES 3 (WebGL 2) is used: the calls are the same except
// where render/ asks kOpenGlEs.
#pragma once

#include <memory>
#include <string>

#if defined(__EMSCRIPTEN__)
#include <GLES3/gl3.h>
#else
#include <glad/gl.h>
#endif

namespace pentamesh {

#if defined(__EMSCRIPTEN__)
inline constexpr bool kOpenGlEs = true;
#define PENTAMESH_SHADER_HEAD "#version 300 es\nprecision highp float;\nprecision highp int;\n"
#else
inline constexpr bool kOpenGlEs = false;
#define PENTAMESH_SHADER_HEAD "#version 330 core\n"
#endif

}  // namespace pentamesh

// Pictures are drawn without a display in an OpenGL context of their own (EGL), or in a browser in the
// window's.

struct ImGuiContext;

namespace pentamesh {

// Throws Error of kind io: no picture can be drawn, and why.
[[noreturn]] void fail_picture(const std::string& why);

class PictureContext {
  public:
    // Throws Error (kind io) where no context can be made.
    PictureContext();
    ~PictureContext();
    PictureContext(const PictureContext&) = delete;
    PictureContext& operator=(const PictureContext&) = delete;

  private:
    friend class BorrowedContext;
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// While it lives, the picture's context is current; afterwards the earlier one is again, so that a window can
// draw a picture in the middle of its own frame.
class BorrowedContext {
  public:
    explicit BorrowedContext(const PictureContext& context);
    ~BorrowedContext();
    BorrowedContext(const BorrowedContext&) = delete;
    BorrowedContext& operator=(const BorrowedContext&) = delete;

  private:
    const PictureContext* context_;
    void* window_;
    ImGuiContext* imgui_;
};

}  // namespace pentamesh
