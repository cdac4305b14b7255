#include "render/kept_layer.h"

#include "render/gl.h"
#include "render/imgui_compat.h"
#include "render/surface_state.h"

#include <cmath>
#include <cstring>
#include <imgui.h>

namespace pentamesh {

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

}  // namespace pentamesh
