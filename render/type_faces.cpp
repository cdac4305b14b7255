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

// Changes the font's table of widths (OpenType "hmtx"): a PDF file states a glyph's width from it, and a
// reader of its text relies on that. A narrow digit in the middle of a wide column must be as wide as that,
// or "128" is read as "1 28".
void widen(std::vector<unsigned char>& font, FT_UInt glyph, std::uint32_t units) {
    const auto number = [&](std::size_t at, std::size_t bytes) {
        std::size_t v = 0;
        for (std::size_t i = 0; i < bytes; ++i) v = v << 8U | (at + i < font.size() ? font[at + i] : 0U);
        return v;
    };
    constexpr std::size_t kHead = 12, kEntry = 16, kHmtx = 0x686d7478, kHhea = 0x68686561, kWidths = 34;
    std::size_t hmtx = 0, widths = 0;
    for (std::size_t i = 0; i < number(4, 2); ++i) {
        const std::size_t entry = kHead + i * kEntry;
        if (number(entry, 4) == kHmtx) hmtx = number(entry + 8, 4);
        if (number(entry, 4) == kHhea) widths = number(number(entry + 8, 4) + kWidths, 2);
    }
    const std::size_t at = hmtx + std::size_t{4} * glyph;
    if (hmtx == 0 || glyph >= widths || at + 2 > font.size()) return;
    font[at] = static_cast<unsigned char>(units >> 8U & 255U);
    font[at + 1] = static_cast<unsigned char>(units & 255U);
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
            if (const FT_UInt index = FT_Get_Char_Index(ft, c)) return {f, index, advance_em(ft, index), 0};
        }
        return {wanted, 0, advance_em(face[static_cast<std::size_t>(wanted)], 0), 0};
    }

    // All digits are made as wide as the widest, so that figures stand still while they change.
    static void make_tabular(std::vector<GlyphRef>& table) {
        float widest = 0;
        for (char32_t c = '0'; c <= '9'; ++c) widest = std::max(widest, table[c].advance);
        for (char32_t c = '0'; c <= '9'; ++c) {
            table[c].shift = (widest - table[c].advance) / 2;
            table[c].advance = widest;
        }
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
        Impl::make_tabular(table);
        for (char32_t c = '0'; c <= '9'; ++c)
            if (table[c].face == static_cast<Face>(i))
                widen(impl_->bytes[i], table[c].index,
                      static_cast<std::uint32_t>(
                          std::lround(table[c].advance * static_cast<float>(impl_->face[i]->units_per_EM))));
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
