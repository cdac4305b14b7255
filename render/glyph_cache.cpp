#include "render/glyph_cache.h"

#include "render/alpha_texture.h"
#include "render/imgui_compat.h"
#include "render/patterns.h"
#include "render/surface_state.h"

#include <cmath>
#include <glad/gl.h>

namespace pentamesh {

namespace {
constexpr int kMostPages = 6;  // at the start of a frame; a zoom through many sizes fills pages
}

GlyphCache::~GlyphCache() {
    reset();
}

void GlyphCache::reset() {
    for (const Page& p : pages_)
        if (p.texture != 0) glDeleteTextures(1, &p.texture);
    pages_.clear();
    slots_.clear();
    patterns_ = {};
}

void GlyphCache::start_frame() {
    if (pages_.size() > kMostPages) reset();
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
    GlyphSlot slot;
    // A pixel of nothing on each side, so that no neighbour bleeds in.
    const int width = bitmap_.width + 2, height = bitmap_.height + 2;
    if (bitmap_.width <= 0 || bitmap_.height <= 0 || width > kOwnPage || height > kOwnPage) return slot;
    if (pages_.empty()) first_page(surface_state().scale);
    while (!place(pages_.back(), width, height, slot)) add_page();
    slot.page = static_cast<std::int16_t>(pages_.size() - 1);
    slot.left = static_cast<std::int16_t>(bitmap_.left);
    slot.top = static_cast<std::int16_t>(bitmap_.top);
    slot.width = static_cast<std::uint16_t>(bitmap_.width);
    slot.height = static_cast<std::uint16_t>(bitmap_.height);
    if (slot.page == 0) {
        upload_to_atlas(slot.x, slot.y, bitmap_.width, bitmap_.height, bitmap_.alpha.data());
    } else {
        glBindTexture(GL_TEXTURE_2D, pages_.back().texture);
        glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
        glTexSubImage2D(GL_TEXTURE_2D, 0, slot.x, slot.y, bitmap_.width, bitmap_.height, GL_RED,
                        GL_UNSIGNED_BYTE, bitmap_.alpha.data());
    }
    return slot;
}

bool GlyphCache::place(Page& page, int width, int height, GlyphSlot& slot) const {
    const int rounded = (height + 3) / 4 * 4;
    Shelf* shelf = nullptr;
    for (Shelf& s : page.shelves)
        if (s.height == rounded && s.x + width <= page.width) shelf = &s;
    if (shelf == nullptr) {
        if (width > page.width || page.used + rounded > page.height) return false;
        shelf = &page.shelves.emplace_back(Shelf{page.used, rounded, 0});
        page.used += rounded;
    }
    slot.x = static_cast<std::uint16_t>(shelf->x + 1);
    slot.y = static_cast<std::uint16_t>(shelf->y + 1);
    shelf->x += width;
    return true;
}

GlyphSlot GlyphCache::pattern(Pattern pattern, float scale) {
    if (pages_.empty()) first_page(scale);
    return patterns_[static_cast<std::size_t>(pattern)];
}

void GlyphCache::first_page(float scale) {
    const AtlasRegion region = atlas_region();
    Page page{0, region.width, region.height, 0, {}};
    const int n = pattern_span(scale) + pattern_side(scale);
    for (const Pattern p : {Pattern::hatched, Pattern::cross_hatched, Pattern::dotted}) {
        GlyphSlot slot;
        if (!place(page, n + 2, n + 2, slot)) continue;  // a region too small for them: nothing is hatched
        slot.page = 0;
        slot.width = slot.height = static_cast<std::uint16_t>(n);
        upload_to_atlas(slot.x, slot.y, n, n, pattern_picture(p, scale).data());
        patterns_[static_cast<std::size_t>(p)] = slot;
    }
    pages_.push_back(std::move(page));
}

void GlyphCache::add_page() {
    Page page{0, kOwnPage, kOwnPage, 0, {}};
    glGenTextures(1, &page.texture);
    glBindTexture(GL_TEXTURE_2D, page.texture);
    const std::vector<std::uint8_t> nothing(static_cast<std::size_t>(kOwnPage) * kOwnPage);
    set_alpha_texture(kOwnPage, kOwnPage, nothing.data());
    pages_.push_back(std::move(page));
}

}  // namespace pentamesh
