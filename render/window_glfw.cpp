#include "core/base/files.h"
#include "render/imgui_compat.h"
#include "render/input.h"
#include "render/surface.h"
#include "render/surface_state.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <imgui.h>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#ifndef GLFW_INCLUDE_NONE
#define GLFW_INCLUDE_NONE
#endif
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <glad/gl.h>

namespace pentamesh {

// The windows below ask GLFW here: which screens there are, and which character a key has. GLFW must be
// started.

namespace {

// Returns the screen that shows most of a window; the first one where none does; null without any.
[[nodiscard]] GLFWmonitor* screen_under(GLFWwindow* window);
// Returns the first screen that is not that one; null where there is no other.
[[nodiscard]] GLFWmonitor* screen_beside(GLFWwindow* window);
// Returns the factor by which the system enlarges the window's content; 1 where it gives none.
[[nodiscard]] float scale_of_window(GLFWwindow* window);
// Returns that factor times the user's own, within bounds, in sixteenths.
[[nodiscard]] float drawn_scale(GLFWwindow* window, float user_scale);
// Draws a frame of a window's context, after its input was fed, and shows it.
void show_frame(GLFWwindow* window, FrameContext& context, double now_s, int width, int height,
                const std::function<void(const FrameInfo&)>& draw);
// GLFW names a key by its place on an American keyboard. A chord means the character on the key: letters and
// punctuation by the layout, digits too where it has them without Shift. Returns one of GLFW's numbers.
[[nodiscard]] int labelled_key(int key, int scancode);
// Returns the same as our key; Key::none where we have no such key.
[[nodiscard]] Key key_of_glfw(int key, int scancode);

std::span<GLFWmonitor* const> all_screens() {
    int count = 0;
    GLFWmonitor** const screens = glfwGetMonitors(&count);
    return {screens, screens == nullptr ? 0 : static_cast<std::size_t>(count)};
}

// Returns the number of pixels that both cover along one side.
int shared_length(int a, int a_size, int b, int b_size) {
    return std::max(0, std::min(a + a_size, b + b_size) - std::max(a, b));
}

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

}  // namespace

}  // namespace pentamesh

// Its input is kept here and handed to Dear ImGui once a frame: the backend for GLFW is the first window's.

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

// The real window is made by GLFW. Dear ImGui's coordinates are made physical pixels on every platform.

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
    std::array<bool, 3> held{};      // buttons of the mouse, as frames know them
    std::optional<Vec2> clicked_at;  // in this frame a button went down or up here, in window coordinates
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
        glfwSetMouseButtonCallback(window, [](GLFWwindow* w, int button, int action, int mods) {
            note_input(w);
            double x = 0, y = 0;
            glfwGetCursorPos(w, &x, &y);
            of(w).keys.add({.action = action,
                            .modifiers = mods,
                            .button = button,
                            .mouse = {static_cast<float>(x), static_cast<float>(y)}});
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
        clicked_at.reset();
        for (const KeyQueue::Event& e : keys.next_frame(text_expected())) {
            if (e.button >= 0) {
                if (static_cast<std::size_t>(e.button) >= held.size()) continue;
                held[static_cast<std::size_t>(e.button)] = e.action == GLFW_PRESS;
                clicked_at = e.mouse;
                continue;
            }
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

    // A click waits for the keys that were typed before it; the backend's own answer would not.
    void give_buttons() const {
        double x = 0, y = 0;
        glfwGetCursorPos(window, &x, &y);
        set_buttons(held, clicked_at, {static_cast<float>(x), static_cast<float>(y)});
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
    impl_->give_buttons();
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
