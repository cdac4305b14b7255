// Its input is kept here and handed to Dear ImGui once a frame: the backend for GLFW is the first window's.
#include "render/frame.h"
#include "render/imgui_compat.h"
#include "render/screens_glfw.h"
#include "render/second_window.h"

#include "core/base/error.h"

#include <algorithm>
#include <cmath>
#include <imgui.h>
#include <utility>

#ifndef GLFW_INCLUDE_NONE
#define GLFW_INCLUDE_NONE
#endif
#include <GLFW/glfw3.h>
#include <glad/gl.h>

namespace pentamesh {

struct SecondWindow::Impl {
    GLFWwindow* window = nullptr;
    std::unique_ptr<FrameContext> frame;
    SyntheticInput input;
    bool had_input = true, keys_were_down = false;
    double last_time_s = -1;

    Impl(GLFWwindow* first, const std::string& title, const FontFiles& fonts) {
        GLFWmonitor* const screen = screen_beside(first);
        if (screen == nullptr) throw Error(ErrorKind::io, "", "", "there is one screen");
        int x = 0, y = 0, w = 0, h = 0;
        glfwGetMonitorWorkarea(screen, &x, &y, &w, &h);
        glfwWindowHint(GLFW_FOCUS_ON_SHOW, GLFW_FALSE);  // a remote's keys go where they went
        glfwWindowHint(GLFW_FOCUSED, GLFW_FALSE);
        glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
        glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_FALSE);  // its size is in the screen's own measure
        window = glfwCreateWindow(std::max(480, w * 4 / 5), std::max(320, h * 4 / 5), title.c_str(), nullptr,
                                  nullptr);
        for (const int hint : {GLFW_FOCUS_ON_SHOW, GLFW_FOCUSED, GLFW_VISIBLE, GLFW_SCALE_TO_MONITOR})
            glfwWindowHint(hint, GLFW_TRUE);
        if (window == nullptr) throw Error(ErrorKind::io, "", "", "a second window cannot be opened");
        glfwSetWindowUserPointer(window, this);
        glfwSetWindowSizeLimits(window, 480, 320, GLFW_DONT_CARE, GLFW_DONT_CARE);
        glfwSetWindowPos(window, x + w / 10, y + h / 10);
        listen();
        glfwShowWindow(window);
        GLFWwindow* const before = glfwGetCurrentContext();
        ImGuiContext* const context = ImGui::GetCurrentContext();
        glfwMakeContextCurrent(window);
        glfwSwapInterval(0);  // the first window waits for its screen; two waits would halve its pace
        try {
            frame = std::make_unique<FrameContext>(fonts, scale_of_window(window));
        } catch (...) {
            glfwMakeContextCurrent(before);
            ImGui::SetCurrentContext(context);
            glfwDestroyWindow(window);
            throw;
        }
        frame->keep_parts(false);
        prepare_synthetic_keys();
        glfwMakeContextCurrent(before);
        ImGui::SetCurrentContext(context);
    }
    ~Impl() {
        GLFWwindow* const before = glfwGetCurrentContext();
        ImGuiContext* const context = ImGui::GetCurrentContext();
        glfwMakeContextCurrent(window);
        frame.reset();
        glfwMakeContextCurrent(before);
        ImGui::SetCurrentContext(context);
        glfwDestroyWindow(window);
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    static Impl& of(GLFWwindow* w) {
        auto& self = *static_cast<Impl*>(glfwGetWindowUserPointer(w));
        self.had_input = true;
        return self;
    }

    void listen() const {
        glfwSetKeyCallback(window, [](GLFWwindow* w, int key, int scancode, int action, int mods) {
            SyntheticInput& in = of(w).input;
            in.ctrl = (mods & GLFW_MOD_CONTROL) != 0;
            in.shift = (mods & GLFW_MOD_SHIFT) != 0;
            in.alt = (mods & GLFW_MOD_ALT) != 0;
            const Key ours = key_of_glfw(key, scancode);
            if (action == GLFW_PRESS && ours != Key::none) in.keys_down.push_back(ours);
        });
        glfwSetMouseButtonCallback(window, [](GLFWwindow* w, int button, int action, int) {
            if (button == GLFW_MOUSE_BUTTON_LEFT) of(w).input.down[0] = action == GLFW_PRESS;
        });
        glfwSetScrollCallback(
            window, [](GLFWwindow* w, double, double by) { of(w).input.wheel += static_cast<float>(by); });
        glfwSetCursorPosCallback(window, [](GLFWwindow* w, double, double) { of(w); });
        glfwSetCursorEnterCallback(window, [](GLFWwindow* w, int) { of(w); });
        glfwSetWindowFocusCallback(window, [](GLFWwindow* w, int) { of(w); });
        glfwSetWindowRefreshCallback(window, [](GLFWwindow* w) { of(w); });
        glfwSetFramebufferSizeCallback(window, [](GLFWwindow* w, int, int) { of(w); });
    }

    // Returns the place of the mouse in logical pixels, outside where it is over another window.
    [[nodiscard]] Vec2 mouse(int width, float scale) const {
        if (glfwGetWindowAttrib(window, GLFW_HOVERED) == GLFW_FALSE && !input.down[0]) return {-1, -1};
        double x = 0, y = 0;
        glfwGetCursorPos(window, &x, &y);
        int w = 0, h = 0;
        glfwGetWindowSize(window, &w, &h);
        const double k = w > 0 ? static_cast<double>(width) / w / static_cast<double>(scale) : 1;
        return {static_cast<float>(x * k), static_cast<float>(y * k)};
    }
};

SecondWindow::SecondWindow(const Window& beside, const std::string& title, const FontFiles& fonts)
    : impl_(std::make_unique<Impl>(static_cast<GLFWwindow*>(beside.native()), title, fonts)) {}
SecondWindow::~SecondWindow() = default;

bool SecondWindow::has_input() const {
    return impl_->had_input || glfwWindowShouldClose(impl_->window) == GLFW_TRUE;
}

WindowEvents SecondWindow::frame(float user_scale, const std::function<void(const FrameInfo&)>& draw) {
    WindowEvents events;
    events.had_input = std::exchange(impl_->had_input, false);
    events.close_requested = glfwWindowShouldClose(impl_->window) == GLFW_TRUE;
    int width = 0, height = 0;
    glfwGetFramebufferSize(impl_->window, &width, &height);
    if (width <= 0 || height <= 0) return events;  // minimised
    GLFWwindow* const before = glfwGetCurrentContext();
    ImGuiContext* const context_before = ImGui::GetCurrentContext();
    glfwMakeContextCurrent(impl_->window);
    FrameContext& context = *impl_->frame;
    context.make_current();
    const float scale = drawn_scale(impl_->window, user_scale);
    context.set_scale(scale);
    const double now = glfwGetTime();
    SyntheticInput input = impl_->input;
    input.mouse = impl_->mouse(width, scale);
    const double since = impl_->last_time_s < 0 ? 1.0 / 60 : now - impl_->last_time_s;
    impl_->last_time_s = now;
    feed_input(input, {static_cast<float>(width) / scale, static_cast<float>(height) / scale}, scale, since);
    // A key is down for one frame, and up in the next, which has_input asks for.
    impl_->had_input = impl_->had_input || !impl_->input.keys_down.empty();
    impl_->input.keys_down.clear();
    impl_->input.wheel = 0;
    show_frame(impl_->window, context, now, width, height, draw);
    glfwMakeContextCurrent(before);
    ImGui::SetCurrentContext(context_before);
    events.had_input = events.had_input || impl_->had_input;
    return events;
}

}  // namespace pentamesh
