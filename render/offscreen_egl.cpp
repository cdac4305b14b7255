// A framebuffer of our own in a context without any surface (EGL_MESA_platform_surfaceless, or the default
// device).
#include "render/frame.h"
#include "render/imgui_compat.h"

#include "core/base/error.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <imgui.h>

#ifdef PENTAMESH_HAVE_EGL
#include <EGL/egl.h>
#include <EGL/eglext.h>
#endif
#ifndef GLFW_INCLUDE_NONE
#define GLFW_INCLUDE_NONE
#endif
#include <GLFW/glfw3.h>
#include <glad/gl.h>

namespace pentamesh {

namespace {

[[noreturn]] void fail_egl(const std::string& what) {
    throw Error(ErrorKind::io, "", "", "no picture can be drawn without a display: " + what);
}

// Of this thread: a software renderer's other threads are its own business.
double cpu_seconds() {
#ifdef CLOCK_THREAD_CPUTIME_ID
    timespec now{};
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0)
        return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
#endif
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

#ifdef PENTAMESH_HAVE_EGL

// One display for the whole process, never terminated: that would end every other context on it.
EGLDisplay egl_display() {
    static const EGLDisplay shared = [] {
        EGLDisplay display = EGL_NO_DISPLAY;
        const auto get_platform_display =
            reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(eglGetProcAddress("eglGetPlatformDisplayEXT"));
        if (get_platform_display != nullptr)
            display = get_platform_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
        if (display == EGL_NO_DISPLAY || eglInitialize(display, nullptr, nullptr) == EGL_FALSE) {
            display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
            if (display == EGL_NO_DISPLAY || eglInitialize(display, nullptr, nullptr) == EGL_FALSE)
                fail_egl(
                    "EGL has no display that works; install a driver (Debian: libegl1 and libgl1-mesa-dri)");
        }
        return display;
    }();
    return shared;
}

struct EglContext {
    EGLDisplay display = egl_display();
    EGLContext context = EGL_NO_CONTEXT;

    EglContext() {
        if (eglBindAPI(EGL_OPENGL_API) == EGL_FALSE) fail_egl("this EGL has no desktop OpenGL");
        const std::array<EGLint, 5> wanted{EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_SURFACE_TYPE, 0,
                                           EGL_NONE};
        EGLConfig config = nullptr;
        EGLint found = 0;
        eglChooseConfig(display, wanted.data(), &config, 1, &found);
        const std::array<EGLint, 7> version{EGL_CONTEXT_MAJOR_VERSION,
                                            3,
                                            EGL_CONTEXT_MINOR_VERSION,
                                            3,
                                            EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                            EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                            EGL_NONE};
        context = eglCreateContext(display, found > 0 ? config : nullptr, EGL_NO_CONTEXT, version.data());
        if (context == EGL_NO_CONTEXT) fail_egl("the driver has no OpenGL 3.3 core context");
    }
    ~EglContext() { eglDestroyContext(display, context); }
    EglContext(const EglContext&) = delete;
    EglContext& operator=(const EglContext&) = delete;
    void release() const { eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT); }
    void make_current() const {
        if (eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context) == EGL_FALSE)
            fail_egl("the driver refuses a context without a surface (EGL_KHR_surfaceless_context)");
    }
};

#else

struct EglContext {
    EglContext() { fail_egl("this build has no EGL; pictures need a Linux build with libegl-dev"); }
    void make_current() const {}
    void release() const {}
};

#endif

// While it lives, the picture's contexts are current; afterwards whatever was before, so that a window can
// draw a picture in the middle of its own frame. A thread has one OpenGL context, be it GLFW's or EGL's.
class Borrowed {
  public:
    explicit Borrowed(const EglContext& egl)
        : egl_(&egl), window_(glfwGetCurrentContext()), imgui_(ImGui::GetCurrentContext()) {
        if (window_ != nullptr) glfwMakeContextCurrent(nullptr);
        egl_->make_current();
    }
    ~Borrowed() {
        egl_->release();
        if (window_ != nullptr) glfwMakeContextCurrent(window_);
        ImGui::SetCurrentContext(imgui_);
    }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;

  private:
    const EglContext* egl_;
    GLFWwindow* window_;
    ImGuiContext* imgui_;
};

}  // namespace

struct Offscreen::Impl {
    EglContext egl;
    std::unique_ptr<FrameContext> frame;
    Vec2 size;
    float scale = 1;
    int width = 0, height = 0;
    GLuint framebuffer = 0, color = 0;
    double last_time_s = -1;
    bool lazy = false, submitted = true;
    Cost cost;

    explicit Impl(Vec2 s, float k, const FontFiles& fonts) : size(s), scale(k) {
        const Borrowed current(egl);
#ifdef PENTAMESH_HAVE_EGL
        if (gladLoadGL(eglGetProcAddress) == 0) fail_egl("OpenGL's functions could not be loaded");
#endif
        glGenFramebuffers(1, &framebuffer);
        glGenTextures(1, &color);
        allocate();
        frame = std::make_unique<FrameContext>(fonts, scale);
        frame->keep_parts(true);
        prepare_synthetic_keys();
    }
    ~Impl() {
        try {
            const Borrowed current(egl);
            frame.reset();
            glDeleteFramebuffers(1, &framebuffer);
            glDeleteTextures(1, &color);
        } catch (...) {
            // The context can no longer be entered: what was in it goes with it.
            static_cast<void>(frame.release());
        }
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    void allocate() {
        width = std::max(1, static_cast<int>(std::lround(size.x * scale)));
        height = std::max(1, static_cast<int>(std::lround(size.y * scale)));
        GLint most = 0;
        glGetIntegerv(GL_MAX_TEXTURE_SIZE, &most);
        if (width > most || height > most)
            throw Error(ErrorKind::usage, "", "",
                        "a picture of " + std::to_string(width) + " x " + std::to_string(height)
                            + " pixels is too large; at most " + std::to_string(most) + " a side");
        glBindTexture(GL_TEXTURE_2D, color);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
        glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, color, 0);
        if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
            fail_egl("the framebuffer could not be made");
    }
};

Offscreen::Offscreen(Vec2 size, float scale, const FontFiles& fonts)
    : impl_(std::make_unique<Impl>(size, scale, fonts)) {}
Offscreen::~Offscreen() = default;

void Offscreen::resize(Vec2 size, float scale) {
    if (size == impl_->size && scale == impl_->scale) return;
    const Borrowed current(impl_->egl);
    impl_->size = size;
    impl_->scale = scale;
    impl_->allocate();
    impl_->frame->set_scale(scale);
}

void Offscreen::frame(const SyntheticInput& input, double time_s,
                      const std::function<void(const FrameInfo&)>& draw) {
    const Borrowed current(impl_->egl);
    impl_->frame->make_current();
    glBindFramebuffer(GL_FRAMEBUFFER, impl_->framebuffer);
    const double since = impl_->last_time_s < 0 ? 1.0 / 60 : time_s - impl_->last_time_s;
    impl_->last_time_s = time_s;
    const double begun = cpu_seconds();
    feed_input(input, impl_->size, impl_->scale, since);
    const FrameInfo info = impl_->frame->begin(time_s);
    impl_->frame->draw(info, draw);
    const double built = cpu_seconds();
    impl_->frame->end();
    impl_->submitted = !impl_->lazy;
    if (impl_->submitted) impl_->frame->submit(impl_->width, impl_->height);
    impl_->cost = {built - begun, cpu_seconds() - built, impl_->frame->vertices()};
}

void Offscreen::draw_when_read(bool lazy) {
    impl_->lazy = lazy;
    impl_->frame->keep_parts(!lazy);
}

void Offscreen::record_text(bool on) {
    impl_->frame->record_text(on);
}

const std::vector<TextRun>& Offscreen::text_runs() const {
    return impl_->frame->text_runs();
}

Image Offscreen::read() const {
    const Borrowed current(impl_->egl);
    glBindFramebuffer(GL_FRAMEBUFFER, impl_->framebuffer);
    if (!impl_->submitted) {
        impl_->frame->submit(impl_->width, impl_->height);
        impl_->submitted = true;
    }
    Image image{impl_->width, impl_->height, {}};
    const auto row = static_cast<std::size_t>(image.width) * 4;
    image.pixels.resize(row * static_cast<std::size_t>(image.height));
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, image.width, image.height, GL_RGBA, GL_UNSIGNED_BYTE, image.pixels.data());
    for (int y = 0; y < image.height / 2; ++y) {  // OpenGL counts rows from the bottom
        const auto top = image.pixels.begin() + static_cast<std::ptrdiff_t>(row) * y;
        const auto bottom = image.pixels.begin() + static_cast<std::ptrdiff_t>(row) * (image.height - 1 - y);
        std::swap_ranges(top, top + static_cast<std::ptrdiff_t>(row), bottom);
    }
    for (std::size_t i = 3; i < image.pixels.size(); i += 4) image.pixels[i] = 255;
    return image;
}

void Offscreen::finish() const {
    const Borrowed current(impl_->egl);
    glFinish();
}

Offscreen::Cost Offscreen::last_cost() const {
    return impl_->cost;
}

Offscreen::Cost draw_demo(Offscreen& surface, double time_s) {
    surface.frame({}, time_s, [](const FrameInfo&) { ImGui::ShowDemoWindow(); });
    return surface.last_cost();
}

}  // namespace pentamesh
