// In a page pictures are drawn in the window's own context, on framebuffers other than its canvas.
#include "core/base/files.h"
#include "render/imgui_compat.h"
#include "render/page_input.h"
#include "render/picture_context.h"
#include "render/surface.h"
#include "render/surface_state.h"

#include <algorithm>
#include <cmath>
#include <emscripten/emscripten.h>
#include <emscripten/html5.h>
#include <imgui.h>
#include <utility>

namespace pentamesh {

void fail_picture(const std::string& why) {
    throw Error(ErrorKind::io, "", "", "no picture can be drawn here: " + why);
}

struct PictureContext::Impl {};

PictureContext::PictureContext() : impl_(std::make_unique<Impl>()) {
    if (emscripten_webgl_get_current_context() == 0)
        fail_picture("this is the program for Node, which has no WebGL; open the page, or use the program");
}
PictureContext::~PictureContext() = default;

BorrowedContext::BorrowedContext(const PictureContext& context)
    : context_(&context), window_(nullptr), imgui_(ImGui::GetCurrentContext()) {}
BorrowedContext::~BorrowedContext() {
    ImGui::SetCurrentContext(imgui_);
}

}  // namespace pentamesh

// In a page the window is the page's canvas, with WebGL 2. The page's script (app/web/page.js) hands over the
// browser's reports, by the functions named page_*; calls to the page have the same prefix
// (app/web/library.js).

extern "C" {
void page_set_title(const char* title);
void page_copy_text(const char* text);
void page_set_fullscreen(int on);
int page_is_fullscreen();
void page_wants_text(int on);  // a field of text has the keyboard
}

namespace pentamesh {

namespace {

struct PageCanvas {
    int width = 0, height = 0;  // pixels
    float scale = 1;            // pixels per pixel of the page
    bool changed = true, focused = true;
    PageInput input;
    std::vector<std::filesystem::path> dropped;
    std::string clipboard;
};

// A page has one canvas.
PageCanvas& canvas_of_page() {
    static PageCanvas canvas;
    return canvas;
}

constexpr const char* kCanvas = "#canvas";

}  // namespace

struct Window::Impl {
    EMSCRIPTEN_WEBGL_CONTEXT_HANDLE context = 0;
    std::unique_ptr<FrameContext> frame;
    PageCanvas& canvas = canvas_of_page();
    double last_time_s = 0;
    bool woken = false, typing = false;

    explicit Impl(const FontFiles& fonts) {
        EmscriptenWebGLContextAttributes wanted;
        emscripten_webgl_init_context_attributes(&wanted);
        wanted.majorVersion = 2;
        wanted.alpha = wanted.depth = wanted.stencil = wanted.antialias = EM_FALSE;
        context = emscripten_webgl_create_context(kCanvas, &wanted);
        if (context <= 0)
            throw Error(ErrorKind::io, "", "", "no window can be opened: this browser has no WebGL 2");
        emscripten_webgl_make_context_current(context);
        frame = std::make_unique<FrameContext>(fonts, canvas.scale);
        frame->keep_parts(true);
        prepare_synthetic_keys();
    }
};

Window::Window(const std::string& title, Vec2 /*size*/, const FontFiles& fonts)
    : impl_(std::make_unique<Impl>(fonts)) {
    set_title(title);
}
Window::~Window() = default;

bool Window::wait(double /*wait_s*/) {
    PageCanvas& canvas = impl_->canvas;
    const bool woken = std::exchange(impl_->woken, false), changed = std::exchange(canvas.changed, false);
    return woken || changed || canvas.input.waiting() || !canvas.dropped.empty();
}

WindowEvents Window::frame(float user_scale, const std::function<void(const FrameInfo&)>& draw) {
    PageCanvas& canvas = impl_->canvas;
    WindowEvents events;
    events.dropped.swap(canvas.dropped);
    events.had_input = canvas.input.waiting();
    if (canvas.width <= 0 || canvas.height <= 0) return events;
    FrameContext& context = *impl_->frame;
    context.make_current();
    const float wanted = std::clamp(canvas.scale * user_scale, 0.5f, 6.0f);
    const float scale = std::round(wanted * 16) / 16;
    context.set_scale(scale);
    emscripten_set_canvas_element_size(kCanvas, canvas.width, canvas.height);
    const double now_s = emscripten_get_now() / 1000;
    const Vec2 size = Vec2{static_cast<float>(canvas.width), static_cast<float>(canvas.height)} * (1 / scale);
    feed_input(canvas.input.take(scale), size, scale, now_s - impl_->last_time_s);
    impl_->last_time_s = now_s;
    FrameInfo info = context.begin(now_s);
    info.focused = canvas.focused;
    context.draw(info, draw);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    context.end();
    context.submit(canvas.width, canvas.height);
    if (text_field_active() != impl_->typing) page_wants_text((impl_->typing = text_field_active()) ? 1 : 0);
    events.had_input = events.had_input || canvas.input.waiting() || input_kept_back();
    return events;
}

void Window::set_title(const std::string& title) {
    page_set_title(title.c_str());
}
std::string Window::clipboard() const {
    return impl_->canvas.clipboard;
}
void Window::set_clipboard(const std::string& text) {
    impl_->canvas.clipboard = text;
    page_copy_text(text.c_str());
}
void Window::set_fullscreen(bool on) {
    if (on != fullscreen()) page_set_fullscreen(on ? 1 : 0);
}
bool Window::fullscreen() const {
    return page_is_fullscreen() != 0;
}
float Window::content_scale() const {
    return impl_->canvas.scale;
}
void Window::cancel_close() {}
void Window::wake() {
    impl_->woken = true;
}
void* Window::native() const {
    return nullptr;
}
bool Window::has_second_screen() const {
    return false;
}
void Window::record_text(bool on) {
    impl_->frame->record_text(on);
}

const std::vector<TextRun>& Window::text_runs() const {
    return impl_->frame->text_runs();
}

Image Window::read() const {
    return {};  // nobody reads a page's window: pictures are drawn in another framebuffer
}

// ---- a page has one window ----------------------------------------------------------------------------

struct SecondWindow::Impl {};
SecondWindow::SecondWindow(const Window&, const std::string&, const FontFiles&) {
    throw Error(ErrorKind::io, "", "", "a page has one window");
}
SecondWindow::~SecondWindow() = default;
WindowEvents SecondWindow::frame(float, const std::function<void(const FrameInfo&)>&) {
    return {};
}
bool SecondWindow::has_input() const {
    return false;
}

namespace {

PageEvent event_of(PageEvent::Kind kind, int modifiers) {
    PageEvent e;
    e.kind = kind;
    e.ctrl = (modifiers & 1) != 0, e.shift = (modifiers & 2) != 0, e.alt = (modifiers & 4) != 0;
    return e;
}

}  // namespace
}  // namespace pentamesh

// ---- what the browser reports -------------------------------------------------------------------------
// `modifiers`: 1 control (or command), 2 shift, 4 alt. Positions in pixels of the canvas.

extern "C" {

EMSCRIPTEN_KEEPALIVE void page_resized(int width, int height, double scale) {
    auto& canvas = pentamesh::canvas_of_page();
    canvas.width = width, canvas.height = height, canvas.scale = static_cast<float>(scale);
    canvas.changed = true;
}
// `buttons` as the browser counts them: 1 left, 2 right, 4 middle.
EMSCRIPTEN_KEEPALIVE void page_pointer(double x, double y, int buttons, int modifiers) {
    auto e = pentamesh::event_of(pentamesh::PageEvent::Kind::pointer, modifiers);
    e.at = {static_cast<float>(x), static_cast<float>(y)};
    e.down = {(buttons & 1) != 0, (buttons & 2) != 0, (buttons & 4) != 0};
    pentamesh::canvas_of_page().input.add(std::move(e));
}
EMSCRIPTEN_KEEPALIVE void page_wheel(double notches, int modifiers) {
    auto e = pentamesh::event_of(pentamesh::PageEvent::Kind::wheel, modifiers);
    e.wheel = static_cast<float>(notches);
    pentamesh::canvas_of_page().input.add(std::move(e));
}
EMSCRIPTEN_KEEPALIVE void page_key(const char* printed, const char* place, int down, int modifiers) {
    auto e = pentamesh::event_of(pentamesh::PageEvent::Kind::key, modifiers);
    e.key = pentamesh::key_of_page(printed, place);
    e.key_down = down != 0;
    pentamesh::canvas_of_page().input.add(std::move(e));
}
EMSCRIPTEN_KEEPALIVE void page_text(const char* text) {
    pentamesh::PageEvent e;
    e.kind = pentamesh::PageEvent::Kind::text;
    e.text = text;
    pentamesh::canvas_of_page().input.add(std::move(e));
}
EMSCRIPTEN_KEEPALIVE void page_focus(int focused) {
    auto& canvas = pentamesh::canvas_of_page();
    canvas.focused = focused != 0;
    canvas.changed = true;
    if (focused == 0) canvas.input.add({});  // keys and buttons are up
}
EMSCRIPTEN_KEEPALIVE void page_dropped(const char* path) {
    pentamesh::canvas_of_page().dropped.emplace_back(path);
}
EMSCRIPTEN_KEEPALIVE void page_clipboard(const char* text) {
    pentamesh::canvas_of_page().clipboard = text;
}

}  // extern "C"
