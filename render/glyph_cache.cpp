#include "render/glyph_cache.h"

#include "render/gl.h"
#include "render/patterns.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
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

// Returns OpenGL's name of a new texture that is transparent everywhere: white, one byte a pixel as its
// opacity.
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

// Writes opacities, rows top down, to a part of the texture.
void put_alpha(unsigned texture, int x, int y, int width, int height, const std::uint8_t* alpha) {
    glBindTexture(GL_TEXTURE_2D, texture);
    pack_tightly();
    const std::size_t count = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    glTexSubImage2D(GL_TEXTURE_2D, 0, x, y, width, height, kForm, GL_UNSIGNED_BYTE,
                    texels(alpha, count).data());
}

constexpr std::size_t kMostPages = 2;  // at the start of a frame; a zoom through many sizes fills pages
}  // namespace

GlyphCache::~GlyphCache() {
    reset();
}

void GlyphCache::reset() {
    for (const Page& p : pages_) glDeleteTextures(1, &p.texture);
    pages_.clear();
    slots_.clear();
}

void GlyphCache::start_frame(float scale) {
    if (pages_.size() > kMostPages) reset();
    if (pages_.empty()) add_first_page(scale);
}

GlyphSlot GlyphCache::get(const GlyphRef& glyph, float em, int sub) {
    const auto size = static_cast<std::uint64_t>(std::lround(em * 64));
    const std::uint64_t key = size << 32U | static_cast<std::uint64_t>(glyph.index) << 8U
                              | static_cast<std::uint64_t>(glyph.face) << 4U | static_cast<unsigned>(sub);
    const auto [at, fresh] = slots_.try_emplace(key);
    if (fresh) at->second = make(glyph, em, sub);
    return at->second;
}

GlyphSlot GlyphCache::make(const GlyphRef& glyph, float em, int sub) {
    faces_->rasterise(glyph, em, static_cast<float>(sub) / 4, bitmap_);
    if (bitmap_.width <= 0 || bitmap_.height <= 0) return {};
    GlyphSlot slot = put(bitmap_.width, bitmap_.height, bitmap_.alpha.data());
    slot.left = static_cast<std::int16_t>(bitmap_.left);
    slot.top = static_cast<std::int16_t>(bitmap_.top);
    return slot;
}

GlyphSlot GlyphCache::put(int width, int height, const std::uint8_t* alpha) {
    GlyphSlot slot;
    // The slot has a clear texel on each side, so that no neighbour bleeds in.
    if (width + 2 > kPageSide || height + 2 > kPageSide) return slot;
    while (!place(pages_.back(), width + 2, height + 2, slot)) add_page();
    slot.page = static_cast<std::int16_t>(pages_.size() - 1);
    slot.width = static_cast<std::uint16_t>(width);
    slot.height = static_cast<std::uint16_t>(height);
    put_alpha(pages_.back().texture, slot.x, slot.y, width, height, alpha);
    return slot;
}

bool GlyphCache::place(Page& page, int width, int height, GlyphSlot& slot) {
    const int rounded = (height + 3) / 4 * 4;
    Shelf* shelf = nullptr;
    for (Shelf& s : page.shelves)
        if (s.height == rounded && s.x + width <= kPageSide) shelf = &s;
    if (shelf == nullptr) {
        if (page.used + rounded > kPageSide) return false;
        shelf = &page.shelves.emplace_back(Shelf{page.used, rounded, 0});
        page.used += rounded;
    }
    slot.x = static_cast<std::uint16_t>(shelf->x + 1);
    slot.y = static_cast<std::uint16_t>(shelf->y + 1);
    shelf->x += width;
    return true;
}

void GlyphCache::add_page() {
    Page page;
    page.texture = make_alpha_texture(kPageSide);
    pages_.push_back(std::move(page));
}

void GlyphCache::add_first_page(float scale) {
    add_page();
    constexpr float kTexel = 1.0f / kPageSide;
    const std::array<std::uint8_t, 4> opaque{255, 255, 255, 255};
    const GlyphSlot white = put(2, 2, opaque.data());
    white_ = Vec2{static_cast<float>(white.x + 1), static_cast<float>(white.y + 1)} * kTexel;

    constexpr int kWide = kWidestLine + 2, kRows = kWidestLine + 1;
    std::vector<std::uint8_t> alpha(static_cast<std::size_t>(kWide) * kRows);
    const auto left = [](int n) { return (kWide - n) / 2; };  // this many clear texels come before row n's
                                                              // white ones
    for (int n = 0; n < kRows; ++n) std::fill_n(alpha.begin() + n * kWide + left(n), n, std::uint8_t{255});
    const GlyphSlot rows = put(kWide, kRows, alpha.data());
    for (int n = 0; n < kRows; ++n) {
        const auto x = static_cast<float>(rows.x + left(n)), y = static_cast<float>(rows.y + n) + 0.5f;
        lines_[n] = {(x - 1) * kTexel, y * kTexel, (x + static_cast<float>(n) + 1) * kTexel, y * kTexel};
    }
    const int side = pattern_span(scale) + pattern_side(scale);
    for (const Pattern p : {Pattern::hatched, Pattern::cross_hatched, Pattern::dotted})
        patterns_[static_cast<std::size_t>(p)] = put(side, side, pattern_picture(p, scale).data());
}

}  // namespace pentamesh
