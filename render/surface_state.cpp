#include "render/surface_state.h"

#include "core/base/files.h"
#include "render/imgui_compat.h"
#include "render/picture_context.h"
#include "render/surface.h"
#include "render/text_edit.h"
#include "render/type_faces.h"

#include <algorithm>
#include <backends/imgui_impl_opengl3.h>
#include <cmath>
#include <cstring>
#include <ctime>
#include <imgui.h>
#include <limits>

namespace pentamesh {

SurfaceState& surface_state() {
    return *static_cast<SurfaceState*>(ImGui::GetIO().UserData);
}

FrameContext::FrameContext(FontFiles fonts, float scale)
    : fonts_(std::move(fonts)), context_(ImGui::CreateContext()), state_(fonts_) {
    make_current();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.LogFilename = nullptr;
    io.UserData = &state_;
    io.ConfigInputTextCursorBlink = false;  // a still window draws nothing
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
    ImGuiStyle& style = ImGui::GetStyle();
    style.WindowPadding = style.FramePadding = {0, 0};
    style.WindowBorderSize = style.WindowRounding = style.FrameBorderSize = 0;
    style.WindowMinSize = {1, 1};
    style.AntiAliasedLinesUseTex = true;
    if (!ImGui_ImplOpenGL3_Init(kOpenGlEs ? "#version 300 es" : "#version 330 core"))
        throw Error(ErrorKind::io, "", "", "OpenGL is there but Dear ImGui could not start on it");
    build_fonts(fonts_, scale);
    compile_cell_shader(state_);
}

FrameContext::~FrameContext() {
    make_current();
    destroy_cell_shader(state_);
    destroy_kept(state_.layer);
    destroy_shown(state_.shown);
    state_.glyphs.reset();
    ImGui_ImplOpenGL3_Shutdown();
    ImGui::DestroyContext(context_);
}

void FrameContext::make_current() const {
    ImGui::SetCurrentContext(context_);
}

void FrameContext::set_scale(float scale) {
    if (scale == state_.scale) return;
    make_current();
    build_fonts(fonts_, scale);
    refresh_font_texture();
    state_.layer.width = 0;  // parts drawn for another scale are useless
}

FrameInfo FrameContext::begin(double time_s) {
    make_current();
    state_.grids.clear();
    state_.text_runs.clear();
    state_.ground = {0, 0, 0, 255};
    state_.glyphs.start_frame(state_.scale);
    const ImVec2 pixels = ImGui::GetIO().DisplaySize;
    state_.layer.open = 0;
    state_.layer.shown.clear();
    resize_kept(state_.layer, static_cast<int>(pixels.x), static_cast<int>(pixels.y));
    ImGui_ImplOpenGL3_NewFrame();
    hold_quick_keys();
    ImGui::NewFrame();
    begin_typed_ahead();
    const ImGuiIO& io = ImGui::GetIO();
    FrameInfo info;
    info.scale = state_.scale;
    info.size = {io.DisplaySize.x / info.scale, io.DisplaySize.y / info.scale};
    info.time_s = time_s;
    if (ImGui::IsMousePosValid()) info.mouse = {io.MousePos.x / info.scale, io.MousePos.y / info.scale};
    for (int i = 0; i < 3; ++i) {
        const auto at = static_cast<std::size_t>(i);
        info.down[at] = io.MouseDown[i];
        info.clicked[at] = ImGui::IsMouseClicked(i);
        info.released[at] = ImGui::IsMouseReleased(i);
    }
    info.double_clicked = ImGui::IsMouseDoubleClicked(0);
    info.wheel = io.MouseWheel;
    info.ctrl = io.KeyCtrl;
    info.shift = io.KeyShift;
    info.alt = io.KeyAlt;
    info.typed = io.KeyCtrl || io.KeyShift || io.KeyAlt || !state_.key_presses.empty()
                 || !io.InputQueueCharacters.empty() || any_key_down();
    begin_frame_window(info);
    return info;
}

void FrameContext::draw(const FrameInfo& info, const std::function<void(const FrameInfo&)>& draw) {
    try {
        draw(info);
    } catch (...) {
        make_current();
        end();
        state_.layer.generation += 1;  // half-drawn parts are not shown
        throw;
    }
}

void FrameContext::end() {
    end_frame_window();
    put_kept(state_.layer);
    ImGui::Render();
    state_.key_presses.clear();
    vertices_ = ImGui::GetDrawData()->TotalVtxCount;
}

void FrameContext::submit(int width, int height) {
    make_current();
    draw_kept(state_.layer);
    glViewport(0, 0, width, height);
    glDisable(GL_SCISSOR_TEST);
    const auto part = [](std::uint8_t c) { return static_cast<float>(c) / 255; };
    const Color ground = state_.ground;
    glClearColor(part(ground.r), part(ground.g), part(ground.b), 1);
    glClear(GL_COLOR_BUFFER_BIT);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

namespace {

// These are the same whole pixels that a clip of this rectangle ends at.
struct PixelRect {
    ImVec2 low, high;
};
PixelRect pixels(Rect r, float scale) {
    return {{std::round(r.x * scale), std::round(r.y * scale)},
            {std::round(r.right() * scale), std::round(r.bottom() * scale)}};
}

std::uint64_t mixed(std::uint64_t h, const void* data, std::size_t bytes) {
    const auto* at = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; ++i) h = (h ^ at[i]) * 1099511628211ULL;
    return h;
}

}  // namespace

void resize_kept(KeptLayer& layer, int width, int height) {
    if (layer.width == width && layer.height == height) return;
    layer.width = width, layer.height = height;
    layer.generation += 1;
    layer.allocated = false;
}

namespace {
void allocate(KeptLayer& layer) {
    layer.allocated = true;
    if (layer.framebuffer == 0) {
        glGenFramebuffers(1, &layer.framebuffer);
        glGenTextures(1, &layer.texture);
    }
    GLint before = 0;
    glGetIntegerv(GL_FRAMEBUFFER_BINDING, &before);
    glBindTexture(GL_TEXTURE_2D, layer.texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, layer.width, layer.height, 0, GL_RGBA, GL_UNSIGNED_BYTE,
                 nullptr);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glBindFramebuffer(GL_FRAMEBUFFER, layer.framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, layer.texture, 0);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) layer.used = false;
    glBindFramebuffer(GL_FRAMEBUFFER, static_cast<GLuint>(before));
}
}  // namespace

void draw_kept(KeptLayer& layer) {
    if (layer.open == 0) return;
    GLint before = 0;
    glGetIntegerv(GL_FRAMEBUFFER_BINDING, &before);
    glBindFramebuffer(GL_FRAMEBUFFER, layer.framebuffer);
    std::vector<ImDrawList*> lists;
    for (std::size_t i = 0; i < layer.open; ++i) lists.push_back(layer.lists[i].get());
    draw_lists(lists);
    layer.open = 0;
    glBindFramebuffer(GL_FRAMEBUFFER, static_cast<GLuint>(before));
}

void put_kept(KeptLayer& layer) {
    if (layer.shown.empty()) return;
    const auto w = static_cast<float>(layer.width), h = static_cast<float>(layer.height);
    ImDrawList& list = *ImGui::GetBackgroundDrawList();
    // Nothing lies below, so nothing is blended. A quad, since a driver in software blits on this thread but
    // draws on its own.
    list.AddCallback([](const ImDrawList*, const ImDrawCmd*) { glDisable(GL_BLEND); }, nullptr);
    push_texture(list, layer.texture);
    const auto n = static_cast<int>(layer.shown.size());
    list.PrimReserve(6 * n, 4 * n);
    for (const ImVec4& at : layer.shown)  // OpenGL counts rows from the bottom
        list.PrimRectUV({at.x, at.y}, {at.z, at.w}, {at.x / w, 1 - at.y / h}, {at.z / w, 1 - at.w / h},
                        IM_COL32_WHITE);
    pop_texture(list);
    list.AddCallback([](const ImDrawList*, const ImDrawCmd*) { glEnable(GL_BLEND); }, nullptr);
    layer.shown.clear();
}

void destroy_kept(KeptLayer& layer) {
    layer.lists.clear();
    glDeleteFramebuffers(1, &layer.framebuffer);
    glDeleteTextures(1, &layer.texture);
    layer.framebuffer = layer.texture = 0;
}

std::uint64_t kept_generation() {
    KeptLayer& layer = surface_state().layer;
    if (layer.used && !layer.allocated) allocate(layer);
    return layer.used ? layer.generation : 0;
}

Canvas kept_canvas(const FrameInfo& info, Rect r, Color ground) {
    KeptLayer& layer = surface_state().layer;
    if (layer.open == layer.lists.size())
        layer.lists.push_back(std::make_unique<ImDrawList>(ImGui::GetDrawListSharedData()));
    ImDrawList& list = *layer.lists[layer.open++];
    const PixelRect at = pixels(r, info.scale);
    start_list(list, at.low.x, at.low.y, at.high.x, at.high.y);
    Canvas canvas(&list, info.scale);
    canvas.rect(r, ground);
    return canvas;
}

void show_kept(const FrameInfo& info, Rect r) {
    const PixelRect at = pixels(r, info.scale);
    surface_state().layer.shown.emplace_back(at.low.x, at.low.y, at.high.x, at.high.y);
}

DrawMark drawn_so_far(const Canvas& canvas) {
    return {canvas.list()->VtxBuffer.Size, surface_state().grids.size()};
}

std::uint64_t drawn_since(const Canvas& canvas, const DrawMark& mark) {
    const auto& vertices = canvas.list()->VtxBuffer;
    std::uint64_t h = 1469598103934665603ULL;
    if (vertices.Size > mark.vertices)
        h = mixed(h, vertices.Data + mark.vertices,
                  static_cast<std::size_t>(vertices.Size - mark.vertices) * sizeof(ImDrawVert));
    const auto& grids = surface_state().grids;
    for (std::size_t i = mark.grids; i < grids.size(); ++i) h = mixed(h, &grids[i], sizeof(CellGrid));
    return h;
}

namespace {

void upload(ShownImage& shown, const Image& image, std::uint64_t key) {
    if (shown.texture == 0) glGenTextures(1, &shown.texture);
    GLint before = 0;
    glGetIntegerv(GL_TEXTURE_BINDING_2D, &before);
    glBindTexture(GL_TEXTURE_2D, shown.texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, image.width, image.height, 0, GL_RGBA, GL_UNSIGNED_BYTE,
                 image.pixels.data());
    glGenerateMipmap(GL_TEXTURE_2D);  // it is mostly shown smaller
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glBindTexture(GL_TEXTURE_2D, static_cast<GLuint>(before));
    shown.key = key;
}

}  // namespace

Rect show_image(Canvas& canvas, Rect r, const Image& image, std::uint64_t key) {
    if (canvas.list() == nullptr || image.width < 1 || image.height < 1 || r.empty()) return {};
    const auto w = static_cast<float>(image.width), h = static_cast<float>(image.height);
    const float k = std::min(r.w / w, r.h / h);
    const Rect at{r.x + (r.w - w * k) / 2, r.y, w * k, h * k};
    ShownImage& shown = surface_state().shown;
    if (shown.key != key) upload(shown, image, key);
    const float scale = canvas.scale();
    ImDrawList& list = *canvas.list();
    push_texture(list, shown.texture);
    list.PrimReserve(6, 4);
    list.PrimRectUV({std::round(at.x * scale), std::round(at.y * scale)},
                    {std::round(at.right() * scale), std::round(at.bottom() * scale)}, {0, 0}, {1, 1},
                    IM_COL32_WHITE);
    pop_texture(list);
    return at;
}

void destroy_shown(ShownImage& shown) {
    glDeleteTextures(1, &shown.texture);
    shown = {};
}

// Frames are drawn in a framebuffer of our own, in a context that needs no display (picture_context.h).

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
