#include "render/glyph_cache.h"

#include "render/alpha_texture.h"
#include "render/gl.h"
#include "render/patterns.h"

#include <cmath>

namespace pentamesh {

namespace {
constexpr std::size_t kMostPages = 2;  // at the start of a frame; a zoom through many sizes fills pages
}

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
