#include "render/shown_image.h"

#include "render/gl.h"
#include "render/imgui_compat.h"
#include "render/surface_state.h"

#include <algorithm>
#include <cmath>
#include <imgui.h>

namespace pentamesh {

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

}  // namespace pentamesh
