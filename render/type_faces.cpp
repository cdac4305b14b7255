#include "render/type_faces.h"

#include "core/base/error.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <ft2build.h>
#include <iterator>
#include <unordered_map>

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

}  // namespace pentamesh
