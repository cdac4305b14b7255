#include "render/alpha_texture.h"

#include "render/gl.h"

#include <array>
#include <cstddef>
#include <vector>

namespace pentamesh {

namespace {

#if defined(__EMSCRIPTEN__)
// WebGL has no swizzle, so that white needs a byte for itself.
constexpr GLint kInside = GL_LUMINANCE_ALPHA;
constexpr GLenum kForm = GL_LUMINANCE_ALPHA;
constexpr std::uint8_t kWhite = 255;

std::vector<std::uint8_t> texels(const std::uint8_t* alpha, std::size_t count) {
    std::vector<std::uint8_t> out(2 * count, kWhite);
    for (std::size_t i = 0; i < count; ++i) out[2 * i + 1] = alpha[i];
    return out;
}
void use_as_opacity() {}
#else
constexpr GLint kInside = GL_R8;
constexpr GLenum kForm = GL_RED;

std::vector<std::uint8_t> texels(const std::uint8_t* alpha, std::size_t count) {
    return {alpha, alpha + count};
}
void use_as_opacity() {
    const std::array<GLint, 4> white{GL_ONE, GL_ONE, GL_ONE, GL_RED};
    glTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_SWIZZLE_RGBA, white.data());
}
#endif

void pack_tightly() {
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
}

}  // namespace

unsigned make_alpha_texture(int side) {
    GLuint texture = 0;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    const std::size_t count = static_cast<std::size_t>(side) * static_cast<std::size_t>(side);
    const std::vector<std::uint8_t> clear(count);
    pack_tightly();
    glTexImage2D(GL_TEXTURE_2D, 0, kInside, side, side, 0, kForm, GL_UNSIGNED_BYTE,
                 texels(clear.data(), count).data());
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    use_as_opacity();
    return texture;
}

void put_alpha(unsigned texture, int x, int y, int width, int height, const std::uint8_t* alpha) {
    glBindTexture(GL_TEXTURE_2D, texture);
    pack_tightly();
    const std::size_t count = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    glTexSubImage2D(GL_TEXTURE_2D, 0, x, y, width, height, kForm, GL_UNSIGNED_BYTE,
                    texels(alpha, count).data());
}

}  // namespace pentamesh
