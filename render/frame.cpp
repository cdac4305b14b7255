#include "render/frame.h"

#include "core/base/error.h"
#include "render/fonts.h"
#include "render/gl.h"
#include "render/imgui_compat.h"
#include "render/text_edit.h"

#include <backends/imgui_impl_opengl3.h>
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

}  // namespace pentamesh
