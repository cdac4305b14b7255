// Glad gives OpenGL's names to its own pointers. This file does without glad, so that the names are the
// library's.
#include "render/opengl_library.h"

#ifdef PENTAMESH_HAVE_LIBOPENGL
extern "C" void glFinish();
#endif

namespace pentamesh {

#ifdef PENTAMESH_HAVE_LIBOPENGL
// A program that refers to a function of a library has it loaded as long as it runs.
bool hold_opengl_library() {
    void (*const volatile held)() = &glFinish;
    return held != nullptr;
}
#else
bool hold_opengl_library() {
    return false;
}
#endif

}  // namespace pentamesh
