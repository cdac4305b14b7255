// The real window is made by GLFW. Dear ImGui's coordinates are made physical pixels on every platform.
#include "render/frame.h"
#include "render/imgui_compat.h"
#include "render/key_queue.h"
#include "render/screens_glfw.h"
#include "render/typed_ahead.h"

#include "core/base/error.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <imgui.h>
#include <limits>
#include <utility>

#ifndef GLFW_INCLUDE_NONE
#define GLFW_INCLUDE_NONE
#endif
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <glad/gl.h>

namespace pentamesh {

namespace {

std::string& last_glfw_error() {
    static std::string text;
    return text;
}
void keep_error(int, const char* text) {
    last_glfw_error() = text;
}

[[noreturn]] void fail_glfw(const std::string& what) {
    const std::string& reason = last_glfw_error();
    throw Error(ErrorKind::io, "", "",
                "no window can be opened: " + what + (reason.empty() ? "" : " (" + reason + ")"));
}

struct Glfw {
    Glfw() {
        glfwSetErrorCallback(keep_error);
        if (glfwInit() == GLFW_FALSE)
            fail_glfw("no display was found; set DISPLAY, or draw pictures with `pentamesh screenshot`");
    }
    ~Glfw() { glfwTerminate(); }
    Glfw(const Glfw&) = delete;
    Glfw& operator=(const Glfw&) = delete;
};

// Returns a size no larger than the screen, for any window manager. GLFW scales the size by the monitor's
// factor except on macOS, whose coordinates are scaled already.
Vec2 fitted_to_screen(Vec2 size) {
    GLFWmonitor* const monitor = glfwGetPrimaryMonitor();
    if (monitor == nullptr) return size;
    int x = 0, y = 0, width = 0, height = 0;
    glfwGetMonitorWorkarea(monitor, &x, &y, &width, &height);
    float scale = 1, unused = 1;
#ifndef __APPLE__
    glfwGetMonitorContentScale(monitor, &scale, &unused);
#endif
    if (width <= 0 || height <= 0 || !(scale > 0)) return size;
    return {std::min(size.x, static_cast<float>(width) / scale),
            std::min(size.y, static_cast<float>(height) / scale)};
}

}  // namespace

struct Window::Impl {
    Glfw glfw;
    GLFWwindow* window = nullptr;
    std::unique_ptr<FrameContext> frame;
    KeyQueue keys;
    std::vector<std::filesystem::path> dropped;
    std::atomic<bool> woken = false;
    bool had_input = true;  // since the last frame; also where the system asks for a redraw
    struct Place {
        int x = 0, y = 0, w = 0, h = 0;
    } windowed;

    Impl(const std::string& title, Vec2 size, const FontFiles& fonts) {
        glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
        glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
        glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
        glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
        glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
        glfwWindowHintString(GLFW_X11_CLASS_NAME, "pentamesh");
        glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "pentamesh");
        size = fitted_to_screen(size);
        window = glfwCreateWindow(static_cast<int>(size.x), static_cast<int>(size.y), title.c_str(), nullptr,
                                  nullptr);
        if (window == nullptr) fail_glfw("the driver has no OpenGL 3.3");
        glfwSetWindowUserPointer(window, this);
        glfwSetWindowSizeLimits(window, 480, 320, GLFW_DONT_CARE, GLFW_DONT_CARE);
        glfwSetDropCallback(window, [](GLFWwindow* w, int n, const char** paths) {
            auto& self = *static_cast<Impl*>(glfwGetWindowUserPointer(w));
            for (int i = 0; i < n; ++i) self.dropped.emplace_back(reinterpret_cast<const char8_t*>(paths[i]));
        });
        // Dear ImGui's backend, started below, calls these after its own handling.
        glfwSetWindowRefreshCallback(window, [](GLFWwindow* w) { note_input(w); });
        glfwSetWindowFocusCallback(window, [](GLFWwindow* w, int) { note_input(w); });
        glfwSetFramebufferSizeCallback(window, [](GLFWwindow* w, int, int) { note_input(w); });
        glfwSetCursorEnterCallback(window, [](GLFWwindow* w, int) { note_input(w); });
        glfwSetCursorPosCallback(window, [](GLFWwindow* w, double, double) { note_input(w); });
        glfwSetMouseButtonCallback(window, [](GLFWwindow* w, int, int, int) { note_input(w); });
        glfwSetScrollCallback(window, [](GLFWwindow* w, double, double) { note_input(w); });
        glfwMakeContextCurrent(window);
        if (gladLoadGL(glfwGetProcAddress) == 0) fail_glfw("OpenGL's functions could not be loaded");
        glfwSwapInterval(1);
        frame = std::make_unique<FrameContext>(fonts, scale_of_window(window));
        frame->keep_parts(true);
        frame->expect_key_presses();
        ImGui_ImplGlfw_InitForOpenGL(window, true);
        // These replace the backend's own callbacks: the backend gets the events frame by frame.
        glfwSetKeyCallback(window, [](GLFWwindow* w, int key, int scancode, int action, int mods) {
            note_input(w);
            of(w).keys.add({.key = key, .scancode = scancode, .action = action, .modifiers = mods});
        });
        glfwSetCharCallback(window, [](GLFWwindow* w, unsigned character) {
            note_input(w);
            of(w).keys.add({.letter = true, .character = character});
        });
    }
    ~Impl() {
        frame->make_current();
        ImGui_ImplGlfw_Shutdown();
        frame.reset();
        glfwDestroyWindow(window);
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    static Impl& of(GLFWwindow* w) { return *static_cast<Impl*>(glfwGetWindowUserPointer(w)); }
    static void note_input(GLFWwindow* w) { of(w).had_input = true; }

    void give_keys() {
        for (const KeyQueue::Event& e : keys.next_frame(text_expected())) {
            if (e.letter) {
                ImGui_ImplGlfw_CharCallback(window, e.character);
                continue;
            }
            if (e.action == GLFW_PRESS)
                frame->add_key_press(
                    {e.key, labelled_key(e.key, e.scancode), (e.modifiers & GLFW_MOD_CONTROL) != 0,
                     (e.modifiers & GLFW_MOD_SHIFT) != 0, (e.modifiers & GLFW_MOD_ALT) != 0});
            ImGui_ImplGlfw_KeyCallback(window, e.key, e.scancode, e.action, e.modifiers);
        }
    }

    // The backend reports window coordinates, which differ from pixels where the platform scales (macOS).
    void use_pixels(int width, int height) const {
        ImGuiIO& io = ImGui::GetIO();
        const float k = io.DisplaySize.x > 0 ? static_cast<float>(width) / io.DisplaySize.x : 1;
        if (k != 1 && ImGui::IsMousePosValid(&io.MousePos)) {
            io.MousePos.x *= k;
            io.MousePos.y *= k;
        }
        io.DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
        io.DisplayFramebufferScale = {1, 1};
    }
};

Window::Window(const std::string& title, Vec2 size, const FontFiles& fonts)
    : impl_(std::make_unique<Impl>(title, size, fonts)) {}
Window::~Window() = default;

bool Window::wait(double wait_s) {
    if (wait_s <= 0 || !impl_->keys.empty())
        glfwPollEvents();
    else if (wait_s == std::numeric_limits<double>::infinity())
        glfwWaitEvents();
    else
        glfwWaitEventsTimeout(wait_s);
    const bool woken = impl_->woken.exchange(false);
    return woken || impl_->had_input || !impl_->keys.empty() || !impl_->dropped.empty()
           || glfwWindowShouldClose(impl_->window) == GLFW_TRUE;
}

WindowEvents Window::frame(float user_scale, const std::function<void(const FrameInfo&)>& draw) {
    WindowEvents events;
    events.dropped.swap(impl_->dropped);
    events.had_input = std::exchange(impl_->had_input, false);
    events.close_requested = glfwWindowShouldClose(impl_->window) == GLFW_TRUE;
    int width = 0, height = 0;
    glfwGetFramebufferSize(impl_->window, &width, &height);
    if (width <= 0 || height <= 0) return events;  // minimised
    glfwMakeContextCurrent(impl_->window);         // a picture drawn meanwhile has a context of its own
    FrameContext& context = *impl_->frame;
    context.make_current();
    context.set_scale(drawn_scale(impl_->window, user_scale));
    impl_->give_keys();
    ImGui_ImplGlfw_NewFrame();
    impl_->use_pixels(width, height);
    show_frame(impl_->window, context, glfwGetTime(), width, height, draw);
    events.had_input = events.had_input || input_kept_back() || !impl_->keys.empty();
    return events;
}

void Window::set_title(const std::string& title) {
    glfwSetWindowTitle(impl_->window, title.c_str());
}
std::string Window::clipboard() const {
    const char* text = glfwGetClipboardString(impl_->window);
    return text != nullptr ? text : "";
}
void Window::set_clipboard(const std::string& text) {
    glfwSetClipboardString(impl_->window, text.c_str());
}

void Window::set_fullscreen(bool on) {
    auto& w = impl_->windowed;
    if (on == fullscreen()) return;
    if (!on) {
        glfwSetWindowMonitor(impl_->window, nullptr, w.x, w.y, std::max(640, w.w), std::max(480, w.h),
                             GLFW_DONT_CARE);
        return;
    }
    GLFWmonitor* monitor = screen_under(impl_->window);
    const GLFWvidmode* mode = monitor != nullptr ? glfwGetVideoMode(monitor) : nullptr;
    if (mode == nullptr) return;
    glfwGetWindowPos(impl_->window, &w.x, &w.y);
    glfwGetWindowSize(impl_->window, &w.w, &w.h);
    glfwSetWindowMonitor(impl_->window, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
}
bool Window::fullscreen() const {
    return glfwGetWindowMonitor(impl_->window) != nullptr;
}
float Window::content_scale() const {
    return scale_of_window(impl_->window);
}
void Window::cancel_close() {
    glfwSetWindowShouldClose(impl_->window, GLFW_FALSE);
}
void Window::wake() {
    impl_->woken = true;
    glfwPostEmptyEvent();
}
void* Window::native() const {
    return impl_->window;
}
bool Window::has_second_screen() const {
    return screen_beside(impl_->window) != nullptr;
}

void Window::record_text(bool on) {
    impl_->frame->record_text(on);
}

const std::vector<TextRun>& Window::text_runs() const {
    return impl_->frame->text_runs();
}

Image Window::read() const {
    int width = 0, height = 0;
    glfwGetFramebufferSize(impl_->window, &width, &height);
    Image image{
        width, height,
        std::vector<std::uint8_t>(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 4)};
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, image.pixels.data());
    const auto row = static_cast<std::ptrdiff_t>(width) * 4;
    for (int y = 0; y < height / 2; ++y)
        std::swap_ranges(image.pixels.begin() + row * y, image.pixels.begin() + row * (y + 1),
                         image.pixels.begin() + row * (height - 1 - y));
    return image;
}

}  // namespace pentamesh
