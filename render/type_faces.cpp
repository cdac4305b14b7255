#include "render/type_faces.h"

#include "core/base/files.h"
#include "render/canvas.h"
#include "render/imgui_compat.h"
#include "render/picture_context.h"
#include "render/surface_state.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <ft2build.h>
#include <imgui.h>
#include <iterator>
#include <unordered_map>
#include <vector>

#include FT_FREETYPE_H

namespace pentamesh {

namespace {

constexpr std::array<float, 5> kSizes{11.5f, 12, 13, 16, 20};

// These characters can be typed: Latin-1, Greek, punctuation, arrows, operators.
constexpr std::array<ImWchar, 11> kRanges{0x0020, 0x00ff, 0x0370, 0x03ff, 0x2010, 0x2026,
                                          0x2190, 0x2194, 0x2200, 0x2265, 0};

// Dear ImGui's size is ascent plus descent, while a type size is the em.
float height_per_em(const TypeFaces& faces, Face face) {
    const FT_FaceRec_& f = *faces.freetype(face);
    return static_cast<float>(f.ascender - f.descender) / static_cast<float>(f.units_per_EM);
}

}  // namespace

void build_fonts(const FontFiles& files, float scale) {
    SurfaceState& state = surface_state();
    state.scale = scale;
    state.glyphs.reset();
    ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    begin_fonts(atlas);
    atlas.Flags |= ImFontAtlasFlags_NoMouseCursors;
    state.fonts.clear();
    for (const Face face : {Face::regular, Face::mono})
        for (const float size : kSizes) {
            const auto& path = face == Face::regular ? files.regular : files.mono;
            ImFontConfig config;
            config.OversampleH = config.OversampleV = 1;
            config.PixelSnapH = true;
            const float pixels = std::max(4.0f, std::round(size * scale * height_per_em(state.faces, face)));
            ImFont* font = atlas.AddFontFromFileTTF(path.string().c_str(), pixels, &config, kRanges.data());
            if (font == nullptr)
                throw Error(ErrorKind::io, path.string(), "", "the font could not be read; install it again");
            state.fonts.push_back({face, size, font});
        }
    ImGui::GetIO().FontDefault = font_at(Face::regular, 13);
}

ImFont* font_at(Face face, float size) {
    const bool mono = face == Face::mono;
    const FieldFont* best = nullptr;
    for (const FieldFont& f : surface_state().fonts)
        if ((f.face == Face::mono) == mono
            && (best == nullptr || std::abs(f.size - size) < std::abs(best->size - size)))
            best = &f;
    return best != nullptr ? best->font : nullptr;
}

FontFiles find_fonts(const std::filesystem::path& data_folder) {
    struct Wanted {
        const char* name;
        const char* package;
        std::filesystem::path* into;
    };
    FontFiles files;
    const std::array<Wanted, 3> wanted{{{"Inter-Regular.otf", "fonts-inter", &files.regular},
                                        {"Inter-SemiBold.otf", "fonts-inter", &files.semibold},
                                        {"JetBrainsMono-Regular.ttf", "fonts-jetbrains-mono", &files.mono}}};
    const std::array<std::filesystem::path, 6> folders{data_folder / "fonts",
                                                       "/usr/share/fonts/opentype/inter",
                                                       "/usr/share/fonts/truetype/jetbrains-mono",
                                                       "/usr/share/fonts/truetype/inter",
                                                       "/usr/share/fonts/inter-fonts",
                                                       "/Library/Fonts"};
    for (const Wanted& w : wanted) {
        for (const auto& folder : folders) {
            std::error_code ignored;
            if (!std::filesystem::is_regular_file(folder / w.name, ignored)) continue;
            *w.into = folder / w.name;
            break;
        }
        if (w.into->empty())
            throw Error(ErrorKind::io, w.name, "",
                        "this font is not installed; install the package " + std::string(w.package)
                            + " or put the file into " + (data_folder / "fonts").string());
    }
    return files;
}

}  // namespace pentamesh

#include FT_FREETYPE_H
#include FT_OUTLINE_H

namespace pentamesh {

namespace {

constexpr std::size_t kDirect = 0x400;  // characters with a table entry: Latin and Greek

std::vector<unsigned char> read_all(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Returns a character that looks the same and that more fonts have.
char32_t common_form(char32_t c) {
    switch (c) {
    case 0x22c5: return 0x00b7;  // dot operator: middle dot
    case 0x2009:
    case 0x202f: return ' ';  // thin spaces
    default: return c;
    }
}

// These numbers of a font file are big-endian; beyond its end there are zeros.
struct FontBytes {
    const std::vector<unsigned char>& bytes;

    [[nodiscard]] std::uint32_t number(std::size_t at, std::size_t size) const {
        std::uint32_t v = 0;
        for (std::size_t i = 0; i < size; ++i) v = v << 8U | (at + i < bytes.size() ? bytes[at + i] : 0U);
        return v;
    }
    [[nodiscard]] std::uint32_t u16(std::size_t at) const { return number(at, 2); }
    [[nodiscard]] std::uint32_t u32(std::size_t at) const { return number(at, 4); }
};

// Returns a glyph's place in an OpenType coverage table, -1 if it is not in it.
std::int64_t place_in_coverage(const FontBytes& font, std::size_t coverage, std::uint32_t glyph) {
    const std::uint32_t count = font.u16(coverage + 2);
    if (font.u16(coverage) == 1) {
        for (std::uint32_t i = 0; i < count; ++i)
            if (font.u16(coverage + 4 + std::size_t{2} * i) == glyph) return i;
        return -1;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::size_t range = coverage + 4 + std::size_t{6} * i;  // first, last, place of the first
        if (glyph >= font.u16(range) && glyph <= font.u16(range + 2))
            return font.u16(range + 4) + glyph - font.u16(range);
    }
    return -1;
}

// Returns the form of a digit that is as wide as every other digit, by the font's feature "tnum"
// (OpenType 1.9, GSUB: single substitution); the glyph itself where the font has none. Its width is the
// font's own, so a PDF file states it as it is drawn: a narrow digit that is moved to the middle of a wide
// column reads as "1 28" there.
std::uint32_t tabular_form(const FontBytes& font, std::uint32_t glyph) {
    constexpr std::uint32_t kGsub = 0x47535542, kTnum = 0x746e756d, kSingle = 1, kExtension = 7;
    std::size_t gsub = 0;
    for (std::uint32_t i = 0; i < font.u16(4); ++i) {
        const std::size_t entry = 12 + std::size_t{16} * i;
        if (font.u32(entry) == kGsub) gsub = font.u32(entry + 8);
    }
    if (gsub == 0) return glyph;
    const std::size_t features = gsub + font.u16(gsub + 6), lookups = gsub + font.u16(gsub + 8);
    for (std::uint32_t f = 0; f < font.u16(features); ++f) {
        const std::size_t record = features + 2 + std::size_t{6} * f;
        if (font.u32(record) != kTnum) continue;
        const std::size_t feature = features + font.u16(record + 4);
        for (std::uint32_t l = 0; l < font.u16(feature + 2); ++l) {
            const std::uint32_t index = font.u16(feature + 4 + std::size_t{2} * l);
            const std::size_t lookup = lookups + font.u16(lookups + 2 + std::size_t{2} * index);
            for (std::uint32_t s = 0; s < font.u16(lookup + 4); ++s) {
                std::size_t table = lookup + font.u16(lookup + 6 + std::size_t{2} * s);
                std::uint32_t type = font.u16(lookup);
                if (type == kExtension) type = font.u16(table + 2), table += font.u32(table + 4);
                if (type != kSingle) continue;
                const std::int64_t place = place_in_coverage(font, table + font.u16(table + 2), glyph);
                if (place < 0) continue;
                if (font.u16(table) == 1) return (glyph + font.u16(table + 4)) & 0xffffU;
                return font.u16(table + 6 + 2 * static_cast<std::size_t>(place));
            }
        }
    }
    return glyph;
}

}  // namespace

struct TypeFaces::Impl {
    FT_Library library = nullptr;
    std::array<std::vector<unsigned char>, kFaceCount> bytes;  // read whole: paths need no conversion
    std::array<FT_Face, kFaceCount> face{};
    std::array<std::vector<GlyphRef>, kFaceCount> direct;
    mutable std::array<std::unordered_map<char32_t, GlyphRef>, kFaceCount> other;

    ~Impl() {
        for (FT_Face f : face) FT_Done_Face(f);
        FT_Done_FreeType(library);
    }

    [[nodiscard]] float advance_em(FT_Face f, FT_UInt index) const {
        if (FT_Load_Glyph(f, index, FT_LOAD_NO_SCALE) != 0) return 0;
        return static_cast<float>(f->glyph->advance.x) / static_cast<float>(f->units_per_EM);
    }

    [[nodiscard]] GlyphRef find(Face wanted, char32_t c) const {
        c = common_form(c);
        if (c < 0x20 || c == 0x7f) c = ' ';
        for (const Face f : {wanted, Face::regular, Face::mono}) {
            const FT_Face ft = face[static_cast<std::size_t>(f)];
            if (const FT_UInt index = FT_Get_Char_Index(ft, c)) return {f, index, advance_em(ft, index)};
        }
        return {wanted, 0, advance_em(face[static_cast<std::size_t>(wanted)], 0)};
    }
};

TypeFaces::TypeFaces(const FontFiles& files) : impl_(std::make_unique<Impl>()) {
    if (FT_Init_FreeType(&impl_->library) != 0)
        throw Error(ErrorKind::io, "", "", "FreeType could not start");
    const std::array<const std::filesystem::path*, kFaceCount> paths{&files.regular, &files.semibold,
                                                                     &files.mono};
    for (std::size_t i = 0; i < paths.size(); ++i) {
        auto& bytes = impl_->bytes[i];
        bytes = read_all(*paths[i]);
        if (FT_New_Memory_Face(impl_->library, bytes.data(), static_cast<FT_Long>(bytes.size()), 0,
                               &impl_->face[i])
                != 0
            || FT_IS_SCALABLE(impl_->face[i]) == 0)
            throw Error(ErrorKind::io, paths[i]->string(), "",
                        "the font could not be read; install it again");
    }
    for (std::size_t i = 0; i < paths.size(); ++i) {
        auto& table = impl_->direct[i];
        table.reserve(kDirect);
        for (char32_t c = 0; c < kDirect; ++c) table.push_back(impl_->find(static_cast<Face>(i), c));
        // Digits are as wide as each other, so that figures stand still while they change.
        for (char32_t c = '0'; c <= '9'; ++c) {
            GlyphRef& digit = table[c];
            const auto f = static_cast<std::size_t>(digit.face);
            digit.index = tabular_form({impl_->bytes[f]}, digit.index);
            digit.advance = impl_->advance_em(impl_->face[f], digit.index);
        }
    }
}

TypeFaces::~TypeFaces() = default;

GlyphRef TypeFaces::glyph(Face face, char32_t character) const {
    const auto i = static_cast<std::size_t>(face);
    if (character < kDirect) return impl_->direct[i][character];
    const auto [at, fresh] = impl_->other[i].try_emplace(character);
    if (fresh) at->second = impl_->find(face, character);
    return at->second;
}

float TypeFaces::baseline_below_middle() const {
    const FT_Face f = impl_->face[0];
    return static_cast<float>(f->ascender + f->descender) / 2 / static_cast<float>(f->units_per_EM);
}

void TypeFaces::rasterise(const GlyphRef& glyph, float em, float sub_x, GlyphBitmap& out) const {
    out.width = out.height = 0;
    out.alpha.clear();
    const FT_Face f = impl_->face[static_cast<std::size_t>(glyph.face)];
    if (FT_Set_Char_Size(f, 0, std::lround(em * 64), 72, 72) != 0) return;
    // Light hinting moves outlines up and down only: stems are sharp, widths stay what they are.
    if (FT_Load_Glyph(f, glyph.index, FT_LOAD_TARGET_LIGHT | FT_LOAD_NO_BITMAP) != 0) return;
    FT_Outline_Translate(&f->glyph->outline, std::lround(sub_x * 64), 0);
    if (FT_Render_Glyph(f->glyph, FT_RENDER_MODE_NORMAL) != 0) return;
    const FT_Bitmap& b = f->glyph->bitmap;
    out.left = f->glyph->bitmap_left;
    out.top = f->glyph->bitmap_top;
    out.width = static_cast<int>(b.width);
    out.height = static_cast<int>(b.rows);
    for (int y = 0; y < out.height; ++y) {
        const unsigned char* row = b.buffer + static_cast<std::ptrdiff_t>(y) * b.pitch;
        out.alpha.insert(out.alpha.end(), row, row + out.width);
    }
}

FT_FaceRec_* TypeFaces::freetype(Face face) const {
    return impl_->face[static_cast<std::size_t>(face)];
}

char32_t take_character(std::string_view& rest) {
    constexpr char32_t kWrong = 0xfffd;
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(rest[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) {
        rest.remove_prefix(1);
        return first;
    }
    const std::size_t n = first >= 0xf0 && first < 0xf5 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 1;
    char32_t c = first & (0x7fU >> n);
    bool good = n > 1 && first < 0xf5 && n <= rest.size();
    for (std::size_t i = 1; good && i < n; ++i) {
        good = (byte(i) & 0xc0U) == 0x80U;
        c = c << 6U | (byte(i) & 0x3fU);
    }
    constexpr std::array<char32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
    good = good && c >= kLeast[n] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
    rest.remove_prefix(good ? n : 1);
    return good ? c : kWrong;
}

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
    for (const Pattern p : {Pattern::hatched, Pattern::cross_hatched, Pattern::dotted, Pattern::sparse}) {
        const int side = pattern_span(p, scale) + pattern_side(p, scale);
        patterns_[static_cast<std::size_t>(p)] = put(side, side, pattern_picture(p, scale).data());
    }
}

}  // namespace pentamesh
