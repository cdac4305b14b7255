#include "render/screens_glfw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#ifndef GLFW_INCLUDE_NONE
#define GLFW_INCLUDE_NONE
#endif
#include <GLFW/glfw3.h>
#include <glad/gl.h>

namespace pentamesh {

namespace {

std::span<GLFWmonitor* const> all_screens() {
    int count = 0;
    GLFWmonitor** const screens = glfwGetMonitors(&count);
    return {screens, screens == nullptr ? 0 : static_cast<std::size_t>(count)};
}

// Returns the number of pixels that both cover along one side.
int shared_length(int a, int a_size, int b, int b_size) {
    return std::max(0, std::min(a + a_size, b + b_size) - std::max(a, b));
}

}  // namespace

GLFWmonitor* screen_under(GLFWwindow* window) {
    if (GLFWmonitor* const full = glfwGetWindowMonitor(window)) return full;
    int x = 0, y = 0, w = 0, h = 0;
    glfwGetWindowPos(window, &x, &y);
    glfwGetWindowSize(window, &w, &h);
    GLFWmonitor* best = glfwGetPrimaryMonitor();
    double most = 0;
    for (GLFWmonitor* const screen : all_screens()) {
        int sx = 0, sy = 0;
        glfwGetMonitorPos(screen, &sx, &sy);
        const GLFWvidmode* const mode = glfwGetVideoMode(screen);
        if (mode == nullptr) continue;
        const double area =
            static_cast<double>(shared_length(x, w, sx, mode->width)) * shared_length(y, h, sy, mode->height);
        if (area > most) most = area, best = screen;
    }
    return best;
}

GLFWmonitor* screen_beside(GLFWwindow* window) {
    const GLFWmonitor* const own = screen_under(window);
    for (GLFWmonitor* const screen : all_screens())
        if (screen != own) return screen;
    return nullptr;
}

float scale_of_window(GLFWwindow* window) {
    float x = 1, y = 1;
    glfwGetWindowContentScale(window, &x, &y);
    return std::isfinite(x) && x > 0 ? x : 1;
}

float drawn_scale(GLFWwindow* window, float user_scale) {
    const float scale = std::clamp(scale_of_window(window) * user_scale, 0.5f, 6.0f);
    return std::round(scale * 16) / 16;
}

void show_frame(GLFWwindow* window, FrameContext& context, double now_s, int width, int height,
                const std::function<void(const FrameInfo&)>& draw) {
    FrameInfo info = context.begin(now_s);
    info.focused = glfwGetWindowAttrib(window, GLFW_FOCUSED) == GLFW_TRUE;
    context.draw(info, draw);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    context.end();
    context.submit(width, height);
    glfwSwapBuffers(window);
}

int labelled_key(int key, int scancode) {
    if (key >= GLFW_KEY_KP_0 && key <= GLFW_KEY_KP_EQUAL) return key;
    const char* name = glfwGetKeyName(key, scancode);
    if (name == nullptr || name[0] == 0 || name[1] != 0) return key;
    const char c = name[0];
    if (c >= 'a' && c <= 'z') return GLFW_KEY_A + (c - 'a');
    if (c >= 'A' && c <= 'Z') return GLFW_KEY_A + (c - 'A');
    // GLFW's numbers of these are their ASCII.
    return (c >= '0' && c <= '9') || std::string_view("+,-./;=[]").find(c) != std::string_view::npos ? c
                                                                                                     : key;
}

Key key_of_glfw(int key, int scancode) {
    const int label = labelled_key(key, scancode);
    const auto in_row = [&](int first, Key ours, int count) {
        return label >= first && label < first + count
                   ? static_cast<Key>(static_cast<int>(ours) + label - first)
                   : Key::none;
    };
    if (const Key k = in_row(GLFW_KEY_A, Key::a, 26); k != Key::none) return k;
    if (const Key k = in_row(GLFW_KEY_0, Key::n0, 10); k != Key::none) return k;
    if (const Key k = in_row(GLFW_KEY_F1, Key::f1, 12); k != Key::none) return k;
    static constexpr std::array<std::pair<int, Key>, 17> kOthers{{{GLFW_KEY_LEFT, Key::left},
                                                                  {GLFW_KEY_RIGHT, Key::right},
                                                                  {GLFW_KEY_UP, Key::up},
                                                                  {GLFW_KEY_DOWN, Key::down},
                                                                  {GLFW_KEY_HOME, Key::home},
                                                                  {GLFW_KEY_END, Key::end},
                                                                  {GLFW_KEY_PAGE_UP, Key::page_up},
                                                                  {GLFW_KEY_PAGE_DOWN, Key::page_down},
                                                                  {GLFW_KEY_ENTER, Key::enter},
                                                                  {GLFW_KEY_KP_ENTER, Key::enter},
                                                                  {GLFW_KEY_ESCAPE, Key::escape},
                                                                  {GLFW_KEY_TAB, Key::tab},
                                                                  {GLFW_KEY_SPACE, Key::space},
                                                                  {GLFW_KEY_MINUS, Key::minus},
                                                                  {GLFW_KEY_EQUAL, Key::equal},
                                                                  {GLFW_KEY_KP_SUBTRACT, Key::minus},
                                                                  {GLFW_KEY_KP_ADD, Key::equal}}};
    for (const auto& [theirs, ours] : kOthers)
        if (theirs == label) return ours;
    return Key::none;
}

}  // namespace pentamesh
