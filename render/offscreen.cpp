// Frames are drawn in a framebuffer of our own, in a context that needs no display (picture_context.h).
#include "core/base/error.h"
#include "render/frame.h"
#include "render/gl.h"
#include "render/imgui_compat.h"
#include "render/picture_context.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <imgui.h>

namespace pentamesh {

namespace {

// Returns the time of this thread; a software renderer's other threads are not counted.
double cpu_seconds() {
#ifdef CLOCK_THREAD_CPUTIME_ID
    timespec now{};
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0)
        return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
#endif
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

}  // namespace

struct Offscreen::Impl {
    PictureContext context;
    std::unique_ptr<FrameContext> frame;
    Vec2 size;
    float scale = 1;
    int width = 0, height = 0;
    GLuint framebuffer = 0, color = 0;
    double last_time_s = -1;
    bool lazy = false, submitted = true;
    Cost cost;

    explicit Impl(Vec2 s, float k, const FontFiles& fonts) : size(s), scale(k) {
        const BorrowedContext current(context);
        glGenFramebuffers(1, &framebuffer);
        glGenTextures(1, &color);
        allocate();
        frame = std::make_unique<FrameContext>(fonts, scale);
        frame->keep_parts(true);
        prepare_synthetic_keys();
    }
    ~Impl() {
        try {
            const BorrowedContext current(context);
            frame.reset();
            glDeleteFramebuffers(1, &framebuffer);
            glDeleteTextures(1, &color);
        } catch (...) {
            // The context can no longer be entered: its content is lost with it.
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
            fail_picture("the framebuffer could not be made");
    }
};

Offscreen::Offscreen(Vec2 size, float scale, const FontFiles& fonts)
    : impl_(std::make_unique<Impl>(size, scale, fonts)) {}
Offscreen::~Offscreen() = default;

void Offscreen::resize(Vec2 size, float scale) {
    if (size == impl_->size && scale == impl_->scale) return;
    const BorrowedContext current(impl_->context);
    impl_->size = size;
    impl_->scale = scale;
    impl_->allocate();
    impl_->frame->set_scale(scale);
}

void Offscreen::frame(const SyntheticInput& input, double time_s,
                      const std::function<void(const FrameInfo&)>& draw) {
    const BorrowedContext current(impl_->context);
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
    const BorrowedContext current(impl_->context);
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
    const BorrowedContext current(impl_->context);
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
