// OpenGL 3.3 core comes by glad's pointers, or OpenGL ES 3 (WebGL 2) is used: the calls are the same except
// where render/ asks kOpenGlEs.
#pragma once

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
