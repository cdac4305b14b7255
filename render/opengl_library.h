#pragma once

namespace pentamesh {

// Keeps the OpenGL library loaded for the rest of the process, where the program is linked with one. From
// 1.92.2 on Dear ImGui's OpenGL backend closes it with every context (ocornut/imgui pull request 8792), while
// other contexts go on drawing through it. Returns false if there is no library to hold.
bool hold_opengl_library();

}  // namespace pentamesh
