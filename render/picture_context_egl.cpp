// This context has no surface (EGL_MESA_platform_surfaceless, or the default device).
#include "core/base/files.h"
#include "render/picture_context.h"

#include <array>
#include <imgui.h>

#ifdef PENTAMESH_HAVE_EGL
#include <EGL/egl.h>
#include <EGL/eglext.h>
#endif
#ifndef GLFW_INCLUDE_NONE
#define GLFW_INCLUDE_NONE
#endif
#include <GLFW/glfw3.h>

namespace pentamesh {

void fail_picture(const std::string& why) {
    throw Error(ErrorKind::io, "", "", "no picture can be drawn without a display: " + why);
}

#ifdef PENTAMESH_HAVE_EGL

namespace {

// The whole process has one display, never terminated: that would end every other context on it.
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
                fail_picture(
                    "EGL has no display that works; install a driver (Debian: libegl1 and libgl1-mesa-dri)");
        }
        return display;
    }();
    return shared;
}

}  // namespace

struct PictureContext::Impl {
    EGLDisplay display = egl_display();
    EGLContext context = EGL_NO_CONTEXT;

    Impl() {
        if (eglBindAPI(EGL_OPENGL_API) == EGL_FALSE) fail_picture("this EGL has no desktop OpenGL");
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
        if (context == EGL_NO_CONTEXT) fail_picture("the driver has no OpenGL 3.3 core context");
    }
    ~Impl() { eglDestroyContext(display, context); }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    void release() const { eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT); }
    void make_current() const {
        if (eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context) == EGL_FALSE)
            fail_picture("the driver refuses a context without a surface (EGL_KHR_surfaceless_context)");
    }
};

#else

struct PictureContext::Impl {
    Impl() { fail_picture("this build has no EGL; pictures need a Linux build with libegl-dev"); }
    void make_current() const {}
    void release() const {}
};

#endif

PictureContext::PictureContext() : impl_(std::make_unique<Impl>()) {
#ifdef PENTAMESH_HAVE_EGL
    const BorrowedContext current(*this);
    if (gladLoadGL(eglGetProcAddress) == 0) fail_picture("OpenGL's functions could not be loaded");
#endif
}
PictureContext::~PictureContext() = default;

// A thread has one OpenGL context, of GLFW or of EGL.
BorrowedContext::BorrowedContext(const PictureContext& context)
    : context_(&context), window_(glfwGetCurrentContext()), imgui_(ImGui::GetCurrentContext()) {
    if (window_ != nullptr) glfwMakeContextCurrent(nullptr);
    context_->impl_->make_current();
}
BorrowedContext::~BorrowedContext() {
    context_->impl_->release();
    if (window_ != nullptr) glfwMakeContextCurrent(static_cast<GLFWwindow*>(window_));
    ImGui::SetCurrentContext(imgui_);
}

}  // namespace pentamesh
